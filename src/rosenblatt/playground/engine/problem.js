// Points of the plane with classes. Two are -1/+1 inside (the second is +1), more are 0..K-1.

export function makeProblem(points, names) {
	const classes = names.length
	return {
		X: points.map((p) => [p.x, p.y]),
		y: points.map((p) => (classes === 2 ? (p.c === 1 ? 1 : -1) : p.c)),
		kinds: points.map((p) => p.c),
		classes,
		names,
	}
}
