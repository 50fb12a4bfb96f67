// The convergence proof as numbers, from zero weights, with u the best direction and gamma its margin:
//   lower   w·u  >= gamma · sum of tau           (k·gamma for the perceptron with eta0 = 1)
//   upper   ‖w‖² <= sum of tau²·R² + 2·tau·max(0, margin)   (k·R²)
// Since w·u <= ‖w‖, the two meet at the mistake bound.

import { target } from "./rule.js"

const applies = (learner, margin) => margin?.low > 0 && !learner.start

export function mistakeBound(learner, margin) {
	if (!applies(learner, margin)) return null
	const { R2, low } = margin
	const { rule, C, eta0 } = learner
	const size = {
		perceptron: R2,
		margin: R2 + (2 * target(learner)) / eta0,
		PA: R2,
		"PA-I": Math.max(R2, 1 / C),
		"PA-II": R2 + 1 / (2 * C),
	}[rule]
	return size / (low * low)
}

// A line an update; `high` is the proof's own upper side of gamma. Null where the proof does not apply.
export function ledger(trace, margin) {
	if (!applies(trace.learner, margin)) return null
	let [wu, squared, taus, limit] = [0, 0, 0, 0]
	const lines = trace.updateSteps.map((step, j) => {
		const s = step - 1
		const [row, tau, m, q] = [trace.rows[s], trace.taus[s], trace.margins[s], trace.qs[s]]
		wu += tau * margin.dots(row, trace.wrongs[s])
		squared += 2 * tau * m + tau * tau * q
		taus += tau
		limit += tau * tau * margin.R2 + 2 * tau * Math.max(0, m)
		const norm = Math.sqrt(Math.max(0, squared))
		const [lower, upper] = [margin.low * taus, Math.sqrt(limit)]
		return { k: j + 1, row, wu, lower, norm, upper, cos: norm > 0 ? wu / norm : 0, high: norm / taus }
	})
	return [{ k: 0, row: -1, wu: 0, lower: 0, norm: 0, upper: 0, cos: 0, high: Infinity }, ...lines]
}

export function holds(lines) {
	return lines.every(({ wu, lower, norm, upper }) => {
		const slack = 1e-9 * (1 + upper)
		return wu >= lower - slack && wu <= norm + slack && norm <= upper + slack
	})
}
