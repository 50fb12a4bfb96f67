// From the plane to the screen and back, in one unit, unless the data's columns differ too much in scale.

// The points with some room, and the origin where it is near, since the arrows start there.

const { floor, log10, max, min } = Math
export function frameOf(points) {
	const range = (values) => (values.length ? [min(...values), max(...values)] : [-2, 2])
	const sides = [range(points.map((p) => p.x)), range(points.map((p) => p.y))]
	const [wide, tall] = sides.map(([from, to]) => to - from)
	const span = max(wide, tall) || max(...sides.flat().map(Math.abs)) || 1
	const stretch = max(wide, tall) > 4 * min(wide, tall) && min(wide, tall) > 0
	const [[x0, x1], [y0, y1]] = sides.map(([from, to]) => {
		const pad = 0.14 * (stretch ? to - from : span)
		if (!stretch && from > 0 && from < span) from = 0
		if (!stretch && to < 0 && -to < span) to = 0
		return [from - pad, to + pad]
	})
	return { x0, x1, y0, y1, stretch }
}

export function makeView({ x0, x1, y0, y1, stretch }, width, height) {
	let sx = width / (x1 - x0)
	let sy = height / (y1 - y0)
	if (!stretch) sx = sy = min(sx, sy)
	const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2]
	const toScreen = (x, y) => [width / 2 + (x - cx) * sx, height / 2 - (y - cy) * sy]
	const toPlane = (px, py) => [cx + (px - width / 2) / sx, cy - (py - height / 2) / sy]
	const grain = 10 ** floor(log10(120 / max(sx, sy)) - 1)
	return { width, height, sx, sy, toScreen, toPlane, grain }
}

// About `count` ticks between two values, at 1, 2 or 5 times a power of ten.
export function ticks(from, to, count) {
	const rough = (to - from) / max(1, count)
	const power = 10 ** floor(log10(rough))
	const step = power * ([1, 2, 5].find((m) => m * power >= rough) ?? 10)
	const list = []
	for (let k = Math.ceil(from / step); k * step <= to + 1e-9 * step; k++) list.push(snap(k * step, step))
	return list
}

export function snap(value, step) {
	return Number((Math.round(value / step) * step).toPrecision(12)) || 0
}
