// The weight vector, and the push that moved it, to the scale of the grid. Where that does not fit, they are drawn in an
// inset, and its scale is printed.

import { clamp } from "../engine/vector.js"
import { patch, path } from "./node.js"

const HEAD = 10
const mix = (a, b, s) => a.map((v, j) => v + s * (b[j] - v))
const ease = (v) => 1 - (1 - clamp(v, 0, 1)) ** 3

// The parts of a story told in the time from 0 to 1: first the vector travels to the tip of w, then w swings. Without
// arrows the line need not wait for them.
export const phases = (s, arrows = true) => ({
	travel: ease((s - 0.2) / 0.35),
	swing: arrows ? ease((s - 0.55) / 0.45) : ease((s - 0.25) / 0.45),
})

function arrow(name, light, [x0, y0], [x1, y1], label, sides, away = 12) {
	const length = Math.hypot(x1 - x0, y1 - y0)
	if (length < 1.5) return []
	const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length]
	const head = Math.min(HEAD, length * 0.6)
	const [bx, by] = [x1 - ux * head, y1 - uy * head]
	const [nx, ny] = [-uy * head * 0.5, ux * head * 0.5]
	const about = { "data-light": light }
	const nodes = [
		path(`shaft ${name}`, `M${x0} ${y0}L${bx} ${by}`, about),
		path(`tip ${name}`, `M${x1} ${y1}L${bx + nx} ${by + ny}L${bx - nx} ${by - ny}Z`, about),
	]
	if (label && length > 14) {
		const push = name.startsWith("push")
		const [x, y] = push ? [(x0 + x1) / 2 - uy * 15, (y0 + y1) / 2 + ux * 15] : [x1 + ux * away, y1 + uy * away]
		const place = { x: clamp(x, 12, sides[0] - 12), y: clamp(y, 12, sides[1] - 12) + 4 }
		nodes.push(["text", { class: `tag ${name}`, ...about, ...place }, label])
	}
	return nodes
}

// Where the arrows are drawn: at the origin of the plane, or in the emptiest place.
function frameFor(trace, view, snapshots) {
	const { width, height, sx, sy, toScreen } = view
	let longest = 0
	const reach = snapshots.map((W) => (longest = Math.max(longest, ...W.map(([w1, w2]) => Math.hypot(w1, w2)))))
	const origin = toScreen(0, 0)
	const fits = ([w1, w2]) => {
		const [x, y] = [origin[0] + w1 * sx, origin[1] - w2 * sy]
		return x > 16 && y > 16 && x < width - 16 && y < height - 24
	}
	const inside = snapshots.every((W) => W.every(fits))
	if (sx === sy && longest * sx > 12 && inside) return { origin, scale: sx, inset: null }
	const size = clamp(0.34 * Math.min(width, height), 92, 170)
	const [right, low] = [width - size - 6, height - size - 26]
	const places = [right, 6, right / 2].flatMap((x) => [24, low, low / 2].map((y) => [x, y]))
	const crowd = ([x, y]) =>
		trace.problem.X.filter((row) => {
			const [px, py] = toScreen(...row)
			return px > x - 8 && px < x + size + 8 && py > y - 8 && py < y + size + 8
		}).length
	const [x, y] = places.reduce((best, place) => (crowd(place) < crowd(best) ? place : best))
	return { origin: [x + size / 2, y + size / 2 - 6], inset: { x, y, size }, reach }
}

// A round scale at which the longest w so far fits into the box, and how it is printed.
function fit({ size }, unit, longest) {
	const rough = (longest * unit) / (0.4 * size) || 1
	const power = 10 ** Math.floor(Math.log10(rough))
	const down = [1, 2, 3, 4, 5, 6, 8, 10].map((m) => m * power).find((v) => v >= rough * 0.999)
	const said = down >= 1 ? `w, 1 : ${down}` : `w, ${Number((1 / down).toPrecision(2))} : 1`
	return { scale: unit / down, said }
}

export function makeArrows(layer) {
	const arrows = { draw, grip: null }
	let of, frame

	// `s` is how far the story of this step has been told.
	function draw(trace, t, view, handle, s = 1) {
		arrows.grip = null
		if (!trace.linear) return patch(layer, [])
		const held = handle && trace.learner.start
		if (of?.trace !== trace || of.view !== view || of.held !== held) {
			of = { trace, view, held }
			frame = frameFor(trace, view, held ? trace.space.snapshots.slice(0, 1) : trace.space.snapshots)
		}
		const { origin, inset, reach } = frame
		const { scale, said } = inset ? fit(inset, Math.sqrt(view.sx * view.sy), reach[trace.updatesAt(t)]) : frame
		const sides = [view.width, view.height]
		const { travel, swing } = phases(s)
		const tip = ([w1, w2], from = origin, by = scale) => [from[0] + w1 * by, from[1] - w2 * by]
		const now = trace.weightsAt(t)
		const before = trace.weightsAt(Math.max(0, t - 1))
		const joint = now.length > 1
		const nodes = []
		// A box would cover what a small picture shows.
		if (inset && !held && Math.min(...sides) < 300) return patch(layer, [])
		if (inset && [...now, ...before].some(([w1, w2]) => w1 || w2)) {
			const { x, y, size } = inset
			nodes.push(["rect", { class: "inset", x, y, width: size, height: size, rx: 6 }])
			nodes.push(["text", { class: "scale", x: x + size / 2, y: y + size - 7 }, said])
		}
		if (!inset || nodes.length) nodes.push(["circle", { class: "origin", cx: origin[0], cy: origin[1], r: 2.5 }])
		now.forEach((w, k) => {
			const kind = joint ? ` class${k}` : ""
			if (before[k] !== w) {
				const row = trace.rows[t - 1]
				const x = trace.problem.X[row]
				const by = trace.taus[t - 1] * (trace.problem.y[row] === (joint ? k : 1) ? 1 : -1)
				// At first it is the arrow of the point itself; on its way it becomes what is added.
				const start = mix(view.toScreen(0, 0), tip(before[k]), travel)
				const end = mix(view.toScreen(...x), tip(before[k].map((v, j) => v + by * (x[j] ?? 0))), travel)
				if (s === 1 || swing > 0) nodes.push(...arrow(`old${kind}`, "", origin, tip(before[k]), "", sides))
				if (s === 1 && !inset) nodes.push(path("trail", `M${origin}L${view.toScreen(...x)}`))
				if (s > 0.15)
					nodes.push(...arrow(`push${kind}`, `x row-${row}`, start, end, travel < 1 ? "" : by > 0 ? "+x" : "−x", sides))
			}
			nodes.push(
				...arrow(`weight${kind}`, "w", origin, tip(mix(before[k], w, swing)), joint ? "" : "w", sides, held ? 20 : 12),
			)
		})
		if (held && !joint) {
			const [cx, cy] = tip(now[0])
			nodes.push(["circle", { class: "grip", cx, cy, r: 9 }])
			arrows.grip = { cx, cy, toWeights: (px, py) => [(px - origin[0]) / scale, (origin[1] - py) / scale] }
		}
		patch(layer, nodes)
	}

	return arrows
}
