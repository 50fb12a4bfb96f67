// Kernels, and the table of their values.

import { dot } from "./vector.js"

export const KERNELS = ["linear", "poly", "rbf"]

export function kernelOf({ kernel, degree, coef0, gamma }) {
	if (kernel === "poly") return (x, z) => (coef0 + gamma * dot(x, z)) ** degree
	return (x, z) => Math.exp(-gamma * ((x[0] - z[0]) ** 2 + (x[1] - z[1]) ** 2))
}

const tables = new WeakMap()

// All K(x_i, x_j), kept as long as the points live: they are replaced, never changed in place.
export function gram(X, learner) {
	const { kernel, degree, coef0, gamma } = learner
	const key = [kernel, degree, coef0, gamma].join(" ")
	if (!tables.has(X)) tables.set(X, new Map())
	const known = tables.get(X)
	if (!known.has(key)) {
		if (known.size >= 4) known.clear()
		const value = kernelOf(learner)
		known.set(key, Float64Array.from(X.flatMap((x) => X.map((z) => value(x, z)))))
	}
	return known.get(key)
}
