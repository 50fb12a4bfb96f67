// The weight vector, and the push that moved it. What would leave the picture is cut at its edge and drawn dashed.

import { weightsAt } from "../engine/keep.js"
import { patch } from "./node.js"

const HEAD = 9
const EDGE = 5

const within = (v, pad, most) => Math.min(Math.max(v, pad), most - pad)

function inside(p, q, sides) {
	let [from, to] = [0, 1]
	sides.forEach((side, j) => {
		const way = q[j] - p[j]
		const [enter, leave] = [EDGE - p[j], side - EDGE - p[j]].map((v) => v / way).sort((a, b) => a - b)
		if (way) [from, to] = [Math.max(from, enter), Math.min(to, leave)]
	})
	return from < to ? [from, to] : [0, 0]
}

function arrow(name, start, goal, sides, label) {
	const part = inside(start, goal, sides)
	const [[x0, y0], [x1, y1]] = part.map((s) => start.map((v, j) => v + s * (goal[j] - v)))
	const length = Math.hypot(x1 - x0, y1 - y0)
	if (length < 1.5) return []
	const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length]
	const head = Math.min(HEAD, length * 0.6)
	const [bx, by] = [x1 - ux * head, y1 - uy * head]
	const [nx, ny] = [-uy * head * 0.5, ux * head * 0.5]
	const cut = part[1] < 1
	const nodes = [
		["path", { class: `shaft ${name}${cut ? " cut" : ""}`, d: `M${x0} ${y0}L${bx} ${by}` }],
		["path", { class: `tip ${name}`, d: `M${x1} ${y1}L${bx + nx} ${by + ny}L${bx - nx} ${by - ny}Z` }],
	]
	if (label && length > 14) {
		const push = name.startsWith("push")
		const off = push ? 14 : -14
		const [x, y] = push || cut ? [(x0 + x1) / 2 - uy * off, (y0 + y1) / 2 + ux * off] : [x1 + ux * 11, y1 + uy * 11]
		nodes.push(["text", { class: `tag ${name}`, x: within(x, 12, sides[0]), y: within(y, 12, sides[1]) + 4 }, label])
	}
	return nodes
}

export function makeArrows(layer) {
	const arrows = { draw, grip: null }
	let of, unit

	// A unit of w is drawn as in the plane where that fits, else so that the longest of the run does.
	function scale(trace, view) {
		if (of?.trace !== trace || of.view !== view) {
			of = { trace, view }
			const lengths = trace.space.snapshots.flat().map(([w1, w2]) => Math.hypot(w1 * view.sx, w2 * view.sy))
			const longest = lengths.reduce((a, b) => Math.max(a, b), 0)
			const fit = longest > 0 ? (0.36 * Math.min(view.width, view.height)) / longest : 1
			unit = fit >= 0.8 && fit <= 3 ? 1 : fit
		}
		return unit
	}

	function draw(trace, t, view, handle) {
		arrows.grip = null
		if (trace.learner.kernel !== "linear") return patch(layer, [])
		const sides = [view.width, view.height]
		const [sx, sy] = [view.sx, view.sy].map((s) => s * scale(trace, view))
		let [ox, oy] = view.toScreen(0, 0)
		if (ox < 0 || oy < 0 || ox > view.width || oy > view.height) [ox, oy] = sides.map((side) => side / 2)
		const tip = ([w1, w2]) => [ox + w1 * sx, oy - w2 * sy]
		const now = weightsAt(trace, t, "last")
		const before = weightsAt(trace, Math.max(0, t - 1), "last")
		const joint = now.length > 1
		const nodes = [["circle", { class: "origin", cx: ox, cy: oy, r: 2.5 }]]
		now.forEach((w, k) => {
			const kind = joint ? ` class${k}` : ""
			if (before[k] !== w) {
				const up = trace.problem.y[trace.rows[t - 1]] === (joint ? k : 1)
				nodes.push(...arrow(`old${kind}`, [ox, oy], tip(before[k]), sides))
				nodes.push(...arrow(`push${kind}`, tip(before[k]), tip(w), sides, up ? "+x" : "−x"))
			}
			nodes.push(...arrow(`weight${kind}`, [ox, oy], tip(w), sides, joint ? "" : "w"))
		})
		if (handle && !joint && trace.learner.start) {
			const [cx, cy] = tip(now[0]).map((v, j) => within(v, 10, sides[j]))
			nodes.push(["circle", { class: "grip", cx, cy, r: 9 }])
			arrows.grip = { cx, cy, toWeights: (px, py) => [(px - ox) / sx, (oy - py) / sy] }
		}
		patch(layer, nodes)
	}

	return arrows
}
