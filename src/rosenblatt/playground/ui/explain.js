// The arithmetic of the step, in a sentence whose numbers light up with what they belong to.

import { describe } from "../engine/sentence.js"
import { find, html, same } from "./node.js"

const BADGES = { start: "start", mistake: "✗ mistake", close: "update", right: "✓ right" }

// Marked words travel through the sentence between control characters.
const mark = (kind, text) => `\u0001${kind}\u0002${text}\u0001`

function words(text, row) {
	return text.split("\u0001").map((part) => {
		const [kind, said] = part.split("\u0002")
		if (said === undefined) return part
		return html(
			"b.word",
			{ tabindex: 0, "data-light": kind === "w" || kind === "score" ? kind : `${kind} row-${row}` },
			said,
		)
	})
}

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
