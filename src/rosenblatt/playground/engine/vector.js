// Sums run from left to right, as in textbook.py, so that every float is the same.

export function dot(w, x) {
	let total = 0
	for (let j = 0; j < x.length; j++) total += w[j] * x[j]
	return total
}

export const plus = (w, tau, x) => w.map((w_j, j) => w_j + tau * x[j])

// The class other than `right` with the highest score; the first one if several tie.
export function highestWrong(scores, right) {
	let best = -1
	for (let k = 0; k < scores.length; k++) if (k !== right && !(scores[k] <= scores[best])) best = k
	return best
}

export const highest = (scores) => highestWrong(scores, -1)

export const clamp = (v, least, most) => Math.min(Math.max(v, least), most)
