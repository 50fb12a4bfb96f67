// The best margin: the distance from 0 to the convex hull of the rows z_i = y_i x_i (x extended by 1 with an offset;
// with more classes, one z for every wrong class). The nearest point is the best direction and the proof at once:
//   min_i w·z_i / ‖w‖  <=  gamma  <=  ‖w‖.

import { gram } from "./kernel.js"
import { dot } from "./vector.js"

const { abs, max, min, sqrt } = Math

function units({ X, y, classes }) {
	if (classes === 2) return X.map((_, row) => ({ row, wrong: -1 }))
	const all = Array.from({ length: classes }, (_, k) => k)
	return X.flatMap((_, row) => all.filter((k) => k !== y[row]).map((wrong) => ({ row, wrong })))
}

function signedRow({ X, y, classes }, intercept, { row, wrong }) {
	const x = intercept ? [...X[row], 1] : X[row]
	if (classes === 2) return x.map((v) => y[row] * v)
	const z = new Array(classes * x.length).fill(0)
	x.forEach((v, j) => {
		z[y[row] * x.length + j] = v
		z[wrong * x.length + j] = -v
	})
	return z
}

// From all w·z: low <= gamma <= high, R2, the largest squared norm of a z, and dots(row, wrong), u·z for the best
// direction u = w/‖w‖. Low is 0 if no margin was found; less than `least` is rounding.
function summary({ classes, y }, wz, high, R2, least) {
	const u = high > 0 ? 1 / high : 0
	const place = (row, wrong) => (classes === 2 ? row : row * (classes - 1) + wrong - (wrong > y[row]))
	const low = u * wz.reduce((a, b) => min(a, b))
	return { low: low > least ? low : 0, high, R2, dots: (row, wrong) => u * wz[place(row, wrong)] }
}

// Weights of sum 1, maybe negative, whose mixture of the rows in `support` is nearest to 0.
function affine(Z, support) {
	const m = support.length + 1
	const A = Array.from({ length: m }, (_, r) =>
		Array.from({ length: m + 1 }, (_, c) => {
			if (c === m) return r === 0 ? 1 : 0
			if (r === 0 || c === 0) return r === c ? 0 : 1
			return dot(Z[support[r - 1]], Z[support[c - 1]])
		}),
	)
	for (let c = 0; c < m; c++) {
		let pivot = c
		for (let r = c + 1; r < m; r++) if (abs(A[r][c]) > abs(A[pivot][c])) pivot = r
		if (A[pivot][c] === 0) return null
		;[A[c], A[pivot]] = [A[pivot], A[c]]
		for (let r = 0; r < m; r++) {
			if (r === c || A[r][c] === 0) continue
			const factor = A[r][c] / A[c][c]
			for (let j = c; j <= m; j++) A[r][j] -= factor * A[c][j]
		}
	}
	return A.slice(1).map((row, j) => row[m] / row[j + 1])
}

// Wolfe's method (1976): exact up to rounding after finitely many steps.
function nearest(Z) {
	const sizes = Z.map((z) => dot(z, z))
	const size = max(...sizes)
	let support = [sizes.indexOf(min(...sizes))]
	let weights = [1]
	let point = Z[support[0]]
	for (let turn = 0; turn < 500; turn++) {
		const products = Z.map((z) => dot(point, z))
		const least = min(...products)
		const worst = products.indexOf(least)
		if (least >= dot(point, point) - 1e-14 * size || support.includes(worst)) break
		support = [...support, worst]
		weights = [...weights, 0]
		for (;;) {
			const next = affine(Z, support)
			if (next === null) {
				support = support.slice(0, -1)
				weights = weights.slice(0, -1)
				break
			}
			if (next.every((v) => v > 1e-13)) {
				weights = next
				break
			}
			let part = 1
			next.forEach((v, j) => {
				if (v <= 1e-13) part = min(part, weights[j] / (weights[j] - v || 1e-300))
			})
			const moved = weights.map((v, j) => v + part * (next[j] - v))
			const stay = moved.map((v, j) => v > 1e-13 && !(next[j] <= 1e-13 && v <= 1e-12))
			support = support.filter((_, j) => stay[j])
			weights = moved.filter((_, j) => stay[j])
			const total = weights.reduce((a, b) => a + b, 0)
			weights = weights.map((v) => v / total)
			if (support.length === 1) break
		}
		point = Z[0].map((_, d) => support.reduce((sum, s, j) => sum + weights[j] * Z[s][d], 0))
	}
	return { point, support, weights, size }
}

export function bestMargin(problem, learner) {
	if (problem.X.length === 0) return null
	if (learner.kernel !== "linear") return kernelMargin(problem, learner)
	const rows = units(problem).map((unit) => ({ ...unit, z: signedRow(problem, learner.intercept, unit) }))
	const Z = rows.map((r) => r.z)
	const { point, support, weights, size } = nearest(Z)
	const products = Z.map((z) => dot(point, z))
	return { ...summary(problem, products, sqrt(dot(point, point)), size, 0), point, support, weights, rows }
}

// Mitchell, Demyanov and Malozemov's method (1974): weight moves from the row furthest out to the one furthest back.
function kernelMargin(problem, learner) {
	const { X, y, classes } = problem
	const table = gram(X, learner)
	const all = units(problem)
	const n = all.length
	const at = (i, j) => {
		const [a, b] = [all[i], all[j]]
		const [p, q] = [y[a.row], y[b.row]]
		const sign = classes === 2 ? p * q : (p === q) - (p === b.wrong) - (a.wrong === q) + (a.wrong === b.wrong)
		return sign * table[a.row * X.length + b.row]
	}
	const sizes = all.map((_, i) => at(i, i))
	const R2 = max(...sizes)
	let squared = min(...sizes)
	const first = sizes.indexOf(squared)
	const weights = new Float64Array(n)
	weights[first] = 1
	const dots = Float64Array.from(all, (_, i) => at(first, i))
	for (let turn = 0; turn < 6000; turn++) {
		let back = 0
		let out = -1
		for (let i = 0; i < n; i++) {
			if (dots[i] < dots[back]) back = i
			if (weights[i] > 0 && (out < 0 || dots[i] > dots[out])) out = i
		}
		const gap = dots[out] - dots[back]
		const curve = sizes[out] + sizes[back] - 2 * at(out, back)
		if (squared <= 0 || squared - dots[back] <= 1e-6 * squared || gap <= 0 || curve <= 0) break
		const move = min(weights[out], gap / curve)
		weights[out] -= move
		if (weights[out] < 1e-15) weights[out] = 0
		weights[back] += move
		squared += move * move * curve - 2 * move * gap
		for (let i = 0; i < n; i++) dots[i] += move * (at(back, i) - at(out, i))
	}
	return summary(problem, dots, sqrt(max(0, squared)), R2, 1e-4 * sqrt(R2))
}
