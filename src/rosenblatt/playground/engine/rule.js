// How far to step: w += tau·y·x. `q` is the squared norm of what is added.

export const RULES = ["perceptron", "margin", "PA", "PA-I", "PA-II"]

export function tau({ rule, eta0, beta, C }, margin, q, mistake) {
	if (q === 0) return 0
	if (rule === "perceptron") return mistake ? eta0 : 0
	if (rule === "margin") return mistake || (beta > 0 && margin <= beta) ? eta0 : 0
	const loss = Math.max(0, 1 - margin)
	if (rule === "PA") return loss / q
	if (rule === "PA-I") return Math.min(C, loss / q)
	return loss / (q + 1 / (2 * C))
}

export function target(learner) {
	return { perceptron: 0, margin: learner.beta }[learner.rule] ?? 1
}

// Is the answer wrong? A tie is wrong, but tie "positive" reads a score of 0 as +1.
export function isMistake(margin, score, label, classes, tie) {
	if (classes === 2 && tie === "positive") return score >= 0 !== (label === 1)
	return margin <= 0
}
