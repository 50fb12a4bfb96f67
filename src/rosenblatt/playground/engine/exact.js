// Exact arithmetic on floats, which are integers times a power of two.

// The floats as integers over one common power of two: scaling by it is exact. BigInt throws where it is not enough.
function integers(values) {
	let scale = 1
	while (!values.every((v) => Number.isInteger(v * scale)) && scale < 2 ** 990) scale *= 2
	return values.map((v) => BigInt(v * scale))
}

export function signOfDot(w, z) {
	const [a, b] = [integers(w), integers(z)]
	const total = a.reduce((sum, v, j) => sum + v * b[j], 0n)
	return total > 0n ? 1 : total < 0n ? -1 : 0
}

// Integers without their common factor, the first that is not 0 positive.
function reduced(list) {
	let factor = list.find((v) => v) < 0n ? -1n : 1n
	const common = list.reduce((a, b) => {
		while (b) [a, b] = [b, a % b]
		return a < 0n ? -a : a
	}, 0n)
	factor *= common || 1n
	return list.map((v) => v / factor)
}

export function dependence(columns) {
	const flat = integers(columns.flat())
	const height = columns[0].length
	const M = columns[0].map((_, r) => columns.map((_, c) => flat[c * height + r]))
	const pivots = []
	for (let c = 0; c < columns.length && pivots.length < height; c++) {
		const rank = pivots.length
		const pivot = M.findIndex((row, r) => r >= rank && row[c] !== 0n)
		if (pivot < 0) continue
		;[M[rank], M[pivot]] = [M[pivot], M[rank]]
		for (let r = 0; r < height; r++) {
			if (r === rank || M[r][c] === 0n) continue
			const [a, b] = [M[rank][c], M[r][c]]
			M[r] = reduced(M[r].map((v, j) => v * a - M[rank][j] * b))
		}
		pivots.push(c)
	}
	if (pivots.length !== columns.length - 1) return null
	const free = columns.findIndex((_, c) => !pivots.includes(c))
	const scale = pivots.reduce((product, c, r) => product * M[r][c], 1n)
	return reduced(
		columns.map((_, c) => (c === free ? scale : (-M[pivots.indexOf(c)][free] * scale) / M[pivots.indexOf(c)][c])),
	)
}
