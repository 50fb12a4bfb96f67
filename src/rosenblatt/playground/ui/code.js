// The textbook's code of the learner, with the lines that this step ran.

import { find, html, same, set } from "./node.js"

// Each line: when it runs ("start", "row", "update"), and its text. `dot`, `plus` and `highest_wrong` are the textbook's.
function linesOf({ rule, kernel, C, beta, eta0, tie, intercept, start }, classes) {
	const [isPA, isJoint, isDual] = [rule.startsWith("PA"), classes > 2, kernel !== "linear"]
	const hasOffset = !isDual && (intercept || (start && !isJoint))
	const taus = { PA: "loss / q", "PA-I": `min(${C}, loss / q)`, "PA-II": `loss / (q + 1 / (2 * ${C}))` }
	const square = isDual ? "k(x, x)" : `dot(x, x)${intercept ? " + 1" : ""}`
	const t = isPA ? "tau" : eta0
	const step = t === 1 ? "y" : `${t} * y`
	const isTie = tie === "positive" && !isJoint && rule === "perceptron"
	const isWrong = isTie ? "(score >= 0) != (y == 1)" : `margin <= ${rule === "margin" ? beta : 0}`
	const isNear = isDual || intercept ? "margin < 1" : "margin < 1 and any(x)"
	const [first, each, moves] = [[], [], []]
	if (isPA) moves.push("loss = 1 - margin", `q = ${isJoint ? `2 * (${square})` : square}`, `tau = ${taus[rule]}`)
	if (isJoint && isDual) {
		first.push("A = [[0.0] * len(X) for _ in classes]")
		each.push("scores = [sum(a * k(v, x) for a, v in zip(alpha, X)) for alpha in A]")
		moves.push(`A[y][i] += ${t}`, `A[wrong][i] -= ${t}`)
	} else if (isJoint) {
		first.push("W = [[0.0] * d for _ in classes]")
		each.push(`scores = [dot(w, x)${hasOffset ? " + b for w, b in zip(W, B)" : " for w in W"}]`)
		moves.push(`W[y] = plus(W[y], ${t}, x)`, `W[wrong] = plus(W[wrong], -${t}, x)`)
		if (hasOffset) first.push("B = [0.0 for _ in classes]")
		if (hasOffset) moves.push(`B[y] += ${t}`, `B[wrong] -= ${t}`)
	} else if (isDual) {
		first.push("alpha = [0.0] * len(X)")
		each.push("score = sum(a * z * k(v, x) for a, v, z in zip(alpha, X, Y))")
		moves.push(`alpha[i] += ${t}`)
	} else {
		first.push(start ? `w = [${start[0]}, ${start[1]}]` : "w = [0.0] * d")
		if (hasOffset) first.push(`b = ${start ? start[2] : "0.0"}`)
		each.push(`score = dot(w, x)${hasOffset ? " + b" : ""}`)
		moves.push(`w = plus(w, ${step}, x)`)
		if (intercept) moves.push(`b = b + ${step}`)
	}
	if (isJoint) each.push("wrong = highest_wrong(scores, y)", "margin = scores[y] - scores[wrong]")
	else if (!isTie) each.push("margin = y * score")
	each.push(`if ${isPA ? isNear : isWrong}:`)
	return [
		...first.map((text) => ["start", text]),
		["row", isDual ? "for i, (x, y) in enumerate(zip(X, Y)):" : "for x, y in zip(X, Y):"],
		...each.map((text) => ["row", `    ${text}`]),
		...moves.map((text) => ["update", `        ${text}`]),
	]
}

export function makeCode(store) {
	const view = { calm: true, render }
	const [button, lines] = [find("code"), find("lines")]
	button.onclick = () => store.set({ code: !store.state.code })

	function render({ step, code }) {
		lines.hidden = !code
		set(button, { "aria-expanded": code })
		if (!code) return
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
