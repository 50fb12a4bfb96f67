// The ledger as a table: the proof, one line per update. It lies beside the plane, so that both can be seen.

import { holds } from "../engine/ledger.js"
import { show } from "../engine/sentence.js"
import { find, html } from "./node.js"

const MOST_LINES = 400

export function openBook(store) {
	const { trace } = store
	const lines = store.ledger(trace)
	const margin = store.margin(trace.learner)
	const [low, high] = trace.learner.rule === "perceptron" ? ["k·γ", "√k·R"] : ["γ·Στ", "limit"]
	const heads = ["update k", "row", low, "w·u", "‖w‖", high, "cos θ", "γ ≤"]
	const more = lines.length - 1 > MOST_LINES ? ` The first ${MOST_LINES} of ${lines.length - 1} lines are shown.` : ""
	find("ledger-said").textContent = holds(lines)
		? `Every line holds: each number is at most the one to its right, from ${low} to ${high}.${more}`
		: "A line does not hold: rounding, or an error."
	find("ledger-margin").textContent =
		`Best margin γ = ${show(margin.low)}, R = ${show(Math.sqrt(margin.R2))}. The last column is what the run proves about γ.`
	const line = (l) =>
		html(
			"tr",
			{ "data-light": `row-${l.row}`, tabindex: 0 },
			html("th", { scope: "row" }, l.k),
			[l.row + 1, l.lower, l.wu, l.norm, l.upper, l.cos, l.high].map((v) => html("td", show(v))),
		)
	find("ledger-table").replaceChildren(
		html(
			"thead",
			html(
				"tr",
				heads.map((text) => html("th", { scope: "col" }, text)),
			),
		),
		html("tbody", lines.slice(1, MOST_LINES + 1).map(line)),
	)
	find("ledger").show()
	find("ledger").onkeydown = (e) => e.key === "Escape" && find("ledger").close()
}
