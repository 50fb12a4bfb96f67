// The arithmetic of the step, in a sentence whose numbers light up with what they belong to.

import { describe } from "../engine/sentence.js"
import { mark, words } from "./light.js"
import { find, html, same } from "./node.js"

const BADGES = { start: "start", mistake: "✗ mistake", close: "update", right: "✓ right" }

export function makeExplain(store) {
	const view = { calm: true, render }

	function render({ step }) {
		const { trace } = store
		const s = Math.min(step, trace.length) - 1
		if (same(view, trace, s)) return
		const { head, sums, verdict, change } = describe(trace, s + 1, mark)
		const kind = s < 0 ? "start" : trace.mistakes[s] ? "mistake" : trace.taus[s] ? "close" : "right"
		const row = trace.rows[s] ?? -1
		find("badge").textContent = BADGES[kind]
		find("badge").dataset.kind = kind
		find("said").replaceChildren(
			html("p", words(head, row)),
			...sums.map((text) => html("p.sum", words(text, row))),
			html("p", html("strong", verdict), `${verdict && ", "}`, words(change, row)),
		)
	}

	return view
}
