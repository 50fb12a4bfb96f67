// A verdict on separability that anyone can check:
//   separable       weights w with w·z > 0 for every row z = y·x
//   not separable   whole numbers lambda > 0 with sum lambda_i z_i = 0 (Gordan): then no w can have all w·z_i > 0
// "undecided" is said where rounding hid the answer, never guessed.

import { dependence, signOfDot } from "./exact.js"

export function certify(margin) {
	try {
		return prove(margin)
	} catch {
		return { verdict: "undecided" }
	}
}

function prove({ rows, low, point, support }) {
	const Z = rows.map((r) => r.z)
	const lambda = dependence(support.map((s) => Z[s])) ?? []
	const parts = lambda.map((v, j) => ({ ...rows[support[j]], index: support[j], lambda: v })).filter((p) => p.lambda)
	const found = [{ verdict: "not separable", parts }]
	if (low > 0) found.unshift({ verdict: "separable", w: point })
	return found.find((certificate) => check(certificate, Z)) ?? { verdict: "undecided" }
}

export function check({ verdict, w, parts = [] }, Z) {
	if (verdict === "separable") return Z.every((z) => signOfDot(w, z) > 0)
	const found = parts.every((p) => p.lambda > 0n) && parts.length && dependence(parts.map((p) => Z[p.index]))
	return Boolean(found) && parts.every((p, j) => p.lambda * found[0] === parts[0].lambda * found[j])
}
