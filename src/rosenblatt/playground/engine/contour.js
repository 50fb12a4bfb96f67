// Regions of the plane as paths. Where an edge changes sign is found by `cut`: on a straight line, unless the caller
// knows better.

const f = (v) => Math.round(v * 10) / 10

export const boxOf = (x, y, width, height) => [
	[x, y],
	[x + width, y],
	[x + width, y + height],
	[x, y + height],
]

function straight(p, q, vp, vq) {
	const s = vp / (vp - vq)
	return [p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])]
}

// Split a polygon by values at its corners: the part where they are >= 0, and where they change sign.
function split(corners, values, cut = straight) {
	const part = []
	const places = []
	corners.forEach((p, i) => {
		const j = (i + 1) % corners.length
		if (values[i] >= 0) part.push(p)
		if (values[i] >= 0 === values[j] >= 0) return
		const place = cut(p, corners[j], values[i], values[j])
		part.push(place)
		places.push(place)
	})
	return { part, places }
}

const splitBy = ([a, b, c], polygon) =>
	split(
		polygon,
		polygon.map(([x, y]) => a * x + b * y + c),
	)

export const clip = (polygon, line) => splitBy(line, polygon).part

export const linePath = (line, polygon) => segments(splitBy(line, polygon).places)

function segments(places) {
	let path = ""
	for (let i = 0; i + 1 < places.length; i += 2)
		path += `M${f(places[i][0])} ${f(places[i][1])}L${f(places[i + 1][0])} ${f(places[i + 1][1])}`
	return path
}

export function polygonPath(polygon) {
	return polygon.length < 3 ? "" : `M${polygon.map(([x, y]) => `${f(x)} ${f(y)}`).join("L")}Z`
}

// Where each class is the answer; the weights of two classes are opposite.
export function linearRegions(W, polygon) {
	const all = W.length > 1 ? W : [W[0].map((v) => -v), W[0]]
	const ahead = (w) => (part, other) =>
		clip(
			part,
			w.map((v, j) => v - other[j]),
		)
	return all.map((w) => polygonPath(all.filter((other) => other !== w).reduce(ahead(w), polygon)))
}

// Marching squares over places `size` apart: the region where the values are >= 0, and its edge.
export function contour({ columns, rows, size }, values, cut) {
	let [region, edge] = ["", ""]
	for (let r = 0; r + 1 < rows; r++) {
		let from = -1
		for (let c = 0; c < columns; c++) {
			const [x, y, i] = [c * size, r * size, r * columns + c]
			const four = [values[i], values[i + 1], values[i + columns + 1], values[i + columns]]
			const inside = c + 1 < columns ? (four[0] >= 0) + (four[1] >= 0) + (four[2] >= 0) + (four[3] >= 0) : 0
			if (inside === 4 && from < 0) from = x
			if (inside === 4) continue
			if (from >= 0) region += `M${from} ${y}H${x}V${y + size}H${from}Z`
			from = -1
			if (inside === 0) continue
			const { part, places } = split(boxOf(x, y, size, size), four, cut)
			region += polygonPath(part)
			edge += segments(places)
		}
	}
	return { region, edge }
}

// A cut for values that jump, like votes: halve the edge, from the same end for both its cells.
export const jumpCut = (isAbove) => (p, q) => {
	let [near, far] = p[0] < q[0] || p[1] < q[1] ? [p, q] : [q, p]
	const side = isAbove(...near)
	for (let turn = 0; turn < 6; turn++) {
		const middle = [(near[0] + far[0]) / 2, (near[1] + far[1]) / 2]
		if (isAbove(...middle) === side) near = middle
		else far = middle
	}
	return far
}

// How far class k leads the best other one: >= 0 where it is the answer.
export function lead(scores, k) {
	const others = scores.filter((_, j) => j !== k)
	return scores[k].map((v, s) => v - Math.max(...others.map((other) => other[s])))
}
