// The arithmetic of the step, in a sentence with numbers.

import { describe } from "../engine/sentence.js"
import { find, html, same } from "./node.js"

const BADGES = { start: "start", mistake: "✗ mistake", close: "update", right: "✓ right" }

export function makeExplain(store) {
	const view = { calm: true, render }

	function render({ step }) {
		const { trace } = store
		const s = Math.min(step, trace.length) - 1
		if (same(view, trace, s)) return
		const { head, sums, verdict, change } = describe(trace, s + 1)
		const kind = s < 0 ? "start" : trace.mistakes[s] ? "mistake" : trace.taus[s] ? "close" : "right"
		find("badge").textContent = BADGES[kind]
		find("badge").dataset.kind = kind
		find("said").replaceChildren(
			html("p", head),
			...sums.map((text) => html("p.sum", text)),
			html("p", html("strong", verdict), `${verdict && ", "}${change}`),
		)
	}

	return view
}
