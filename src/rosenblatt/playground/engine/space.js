// Where the weights live. Both spaces answer the same questions, so that one loop learns in either:
//   scores(i)  q(i)  step(i, label, wrong, tau)  tally()  wrongRows()
// Linear: a weight a feature, and the offset last. Dual: a weight a row, for kernels.

import { gram } from "./kernel.js"
import { isMistake } from "./rule.js"
import { dot, highestWrong, plus } from "./vector.js"

// w·x first, then + b, as in textbook.py.
export const scoresOf = (W, x) => W.map((w) => dot(w, x) + w[x.length])

export const marginOf = (scores, label) =>
	scores.length === 1 ? label * scores[0] : scores[label] - scores[highestWrong(scores, label)]

export const eachRow = ({ classes }, make) => Array.from({ length: classes === 2 ? 1 : classes }, make)

// Which weight rows move, by how much: the only one, else the right one up and the highest wrong one down.
const parts = (label, wrong, tau) =>
	wrong < 0
		? [[0, tau * label]]
		: [
				[label, tau],
				[wrong, -tau],
			]

function countWrong({ X, y, classes }, tie, scoresAt) {
	const isWrong = (scores, label) => isMistake(marginOf(scores, label), scores[0], label, classes, tie)
	return X.filter((_, i) => isWrong(scoresAt(i), y[i])).length
}

export function makeLinear(problem, { tie, intercept, start }) {
	const { X, classes } = problem
	const offset = Number(intercept)
	const zeros = new Array((X[0]?.length ?? 2) + 1).fill(0)
	let W = eachRow(problem, () => (classes === 2 && start ? start : zeros))
	let total = W.map(() => zeros)
	const snapshots = [W]
	const totals = []
	const scores = (i) => scoresOf(W, X[i])
	return {
		snapshots,
		totals,
		scores,
		q: (i) => dot(X[i], X[i]) + offset,
		step(i, label, wrong, tau) {
			W = [...W]
			for (const [k, by] of parts(label, wrong, tau)) W[k] = plus(W[k], by, [...X[i], offset])
			snapshots.push(W)
		},
		tally() {
			total = total.map((t, k) => plus(t, 1, W[k]))
			totals.push(total)
		},
		wrongRows: () => countWrong(problem, tie, scores),
	}
}

export function makeDual(problem, learner) {
	const n = problem.X.length
	const table = gram(problem.X, learner)
	const A = eachRow(problem, () => new Float64Array(n))
	// The scores of all rows, kept to count wrong rows cheaply.
	const all = A.map(() => new Float64Array(n))
	const moves = []
	return {
		A,
		moves,
		// Added in the order of textbook.py's kernel_score.
		scores: (i) => A.map((alpha) => alpha.reduce((sum, a, j) => (a === 0 ? sum : sum + a * table[j * n + i]), 0)),
		q: (i) => table[i * n + i],
		step(i, label, wrong, tau) {
			moves.push({ row: i, parts: parts(label, wrong, tau), tau })
			for (const [k, by] of parts(label, wrong, tau)) {
				A[k][i] += by
				for (let j = 0; j < n; j++) all[k][j] += by * table[i * n + j]
			}
		},
		tally() {},
		wrongRows: () => countWrong(problem, learner.tie, (i) => all.map((scores) => scores[i])),
	}
}
