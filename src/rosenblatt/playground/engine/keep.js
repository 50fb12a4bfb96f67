// Which weights are the answer at step t: last, average, vote or pocket.

import { pocketAt, updatesAt } from "./learn.js"
import { highest } from "./vector.js"

export const KEEPS = ["last", "average", "vote", "pocket"]

// Every weight vector up to step t, named by its update, with the number of examples it survived.
export function livedAt(trace, t) {
	const end = Math.min(t, trace.length)
	const births = [1, ...trace.updateSteps.slice(0, updatesAt(trace, end)), end + 1]
	return births.slice(1).map((next, update) => ({ update, count: next - births[update] }))
}

export function voteAt(trace, t) {
	const lived = livedAt(trace, t).map(({ update, count }) => [...trace.space.snapshots[update][0], count])
	return (x, y) => {
		let total = 0
		for (const [w1, w2, b, count] of lived) total += w1 * x + w2 * y + b >= 0 ? count : -count
		return total
	}
}

// Linear weights, a row a class (one for two classes), the offset last. A vote has none.
export function weightsAt(trace, t, keep) {
	const end = Math.min(t, trace.length)
	const { snapshots, totals } = trace.space
	if (keep === "average" && end > 0) return totals[end - 1].map((row) => row.map((v) => v / end))
	return snapshots[(keep === "pocket" ? pocketAt : updatesAt)(trace, t)]
}

// Kernel weights of rows, signed: score_k(x) = sum_i A[k][i] K(x_i, x).
export function rowWeightsAt(trace, t, keep) {
	const A = trace.space.A.map((row) => new Float64Array(row.length))
	const updates = (keep === "pocket" ? pocketAt : updatesAt)(trace, t)
	for (const { row, parts } of trace.space.moves.slice(0, updates)) for (const [k, by] of parts) A[k][row] += by
	return A
}

export function predict(scores) {
	return scores.length === 1 ? (scores[0] >= 0 ? 1 : 0) : highest(scores)
}
