// The textbook's code of the learner, with the lines that this step ran.

import { find, html, same, set } from "./node.js"

// Each line: when it runs ("start", "row", "update"), and its text.
const LOOP = ["row", "for x, y in rows:"]

function linesOf({ rule, kernel, C, beta, eta0, tie, intercept }, classes) {
	const isPA = rule.startsWith("PA")
	if (kernel !== "linear")
		return [
			["start", "alpha = [0] * len(X)"],
			["row", "for i, (x, y) in enumerate(rows):"],
			["row", "    score = sum(a * z * k(v, x) for a, v, z in zip(alpha, X, Y))"],
			["row", isPA ? "    if y * score < 1:" : "    if y * score <= 0:"],
			["update", isPA ? "        alpha[i] += tau" : "        alpha[i] += 1"],
		]
	const tau = isPA ? "tau" : eta0
	if (classes > 2)
		return [
			["start", "W = [[0.0] * d for _ in classes]"],
			LOOP,
			["row", "    scores = [dot(w, x) for w in W]"],
			["row", "    wrong = highest_wrong(scores, y)"],
			["row", `    if scores[y] - scores[wrong] ${isPA ? "< 1" : `<= ${rule === "margin" ? beta : 0}`}:`],
			["update", `        W[y] = plus(W[y], ${tau}, x)`],
			["update", `        W[wrong] = plus(W[wrong], -${tau}, x)`],
		]
	const [score, step] = [intercept ? "dot(w, x) + b" : "dot(w, x)", isPA ? "tau * y" : eta0 === 1 ? "y" : `${eta0} * y`]
	const start = ["start", intercept ? "w, b = [0.0] * d, 0.0" : "w = [0.0] * d"]
	const move = [["update", `        w = plus(w, ${step}, x)`]]
	if (intercept) move.push(["update", `        b = b + ${step}`])
	const margin = intercept ? `y * (${score})` : `y * ${score}`
	if (isPA)
		return [
			start,
			LOOP,
			["row", `    loss = max(0.0, 1.0 - ${margin})`],
			["row", "    if loss > 0:"],
			["update", `        q = dot(x, x)${intercept ? " + 1" : ""}`],
			[
				"update",
				`        tau = ${{ PA: "loss / q", "PA-I": `min(${C}, loss / q)` }[rule] ?? `loss / (q + 1 / (2 * ${C}))`}`,
			],
			...move,
		]
	const isTie = tie === "positive" && rule !== "margin"
	const wrong = isTie ? `(${score} >= 0) != (y == 1)` : `${margin} <= ${rule === "margin" ? beta : 0}`
	return [start, LOOP, ["row", `    if ${wrong}:`], ...move]
}

export function makeCode(store) {
	const view = { calm: true, render }
	const [button, lines] = [find("code"), find("lines")]
	button.onclick = () => {
		lines.hidden = !lines.hidden
		set(button, { "aria-expanded": !lines.hidden })
		store.show()
	}

	function render({ step }) {
		if (lines.hidden) return
		const { trace, learner } = store
		const s = Math.min(step, trace.length) - 1
		if (same(view, trace, s)) return
		const runs = s < 0 ? ["start"] : trace.taus[s] ? ["row", "update"] : ["row"]
		const spans = linesOf(learner, trace.problem.classes).map(([when, text]) => {
			const isRun = runs.includes(when)
			return html(isRun ? "span.runs" : "span", `${isRun ? "▸" : " "} ${text}\n`)
		})
		lines.replaceChildren(...spans)
	}

	return view
}
