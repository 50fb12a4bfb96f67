// Logistic regression and the linear SVM on points of two classes: the weights (w1, w2, b) that minimize
// ½‖w‖² + C · sum of losses. The SVM shrinks b too, as LIBLINEAR does.

import { dot } from "./vector.js"

const ROUNDS = 60
const PASSES = 3000

// Newton's method: each step solves a system of three equations.
export function fitLogistic(X, y, C = 1) {
	const rows = X.map((x) => [...x, 1])
	let w = [0, 0, 0]
	for (let round = 0; round < ROUNDS; round++) {
		const gradient = [w[0], w[1], 0]
		const hessian = [
			[1, 0, 0],
			[0, 1, 0],
			[0, 0, 0],
		]
		rows.forEach((x, i) => {
			const p = 1 / (1 + Math.exp(-y[i] * dot(w, x)))
			for (let j = 0; j < 3; j++) {
				gradient[j] -= C * (1 - p) * y[i] * x[j]
				for (let k = 0; k < 3; k++) hessian[j][k] += C * p * (1 - p) * x[j] * x[k]
			}
		})
		const step = solve(hessian, gradient)
		w = w.map((v, j) => v - step[j])
		if (Math.max(...step.map(Math.abs)) < 1e-10) break
	}
	return w
}

// Cramer's rule for three unknowns.
function solve(A, v) {
	const det = ([a, b, c]) =>
		a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])
	const whole = det(A) || 1
	return [0, 1, 2].map((j) => det(A.map((row, i) => row.map((a, k) => (k === j ? v[i] : a)))) / whole)
}

// Dual coordinate descent: one row at a time, its multiplier stays between 0 and C.
export function fitSvm(X, y, C = 1) {
	const rows = X.map((x) => [...x, 1])
	const lengths = rows.map((x) => dot(x, x))
	const alphas = rows.map(() => 0)
	const w = [0, 0, 0]
	for (let pass = 0; pass < PASSES; pass++) {
		let moved = 0
		rows.forEach((x, i) => {
			const wanted = Math.min(C, Math.max(0, alphas[i] + (1 - y[i] * dot(w, x)) / lengths[i]))
			const by = wanted - alphas[i]
			for (let j = 0; j < 3; j++) w[j] += by * y[i] * x[j]
			alphas[i] = wanted
			moved = Math.max(moved, Math.abs(by))
		})
		if (moved < 1e-9 * C) break
	}
	return w
}
