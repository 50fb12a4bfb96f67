// Points lifted into a third dimension, where one flat sheet divides what no line could. The sheet is the perceptron's
// own answer to rows of three features: x, y and what lifts them.

import { contour } from "../engine/contour.js"
import { learn, PLAIN } from "../engine/learn.js"
import { makePreset } from "../engine/presets.js"
import { classOf } from "../engine/problem.js"
import { clamp } from "../engine/vector.js"
import { announce, html, patch, set, svg } from "../ui/node.js"
import { isStill } from "../ui/player.js"
import { shapePath } from "../ui/shape.js"

const { abs, cos, hypot, max, PI, sin } = Math
const GRID = 24
const EDGE = 0.1

const signs = (points) => points.map((p) => ({ ...p, x: 2 * p.x - 1, y: 2 * p.y - 1 }))
const SETS = {
	xor: {
		title: "XOR",
		size: 1.35,
		points: () => signs(makePreset("xor").points),
		lift: (x, y) => x * y,
		up: (z) => z * 0.75,
	},
	circles: {
		title: "Circles",
		size: 2.5,
		points: () => makePreset("circles", { n: 44, noise: 0.1, seed: 2 }).points,
		lift: (x, y) => x * x + y * y,
		up: (z) => (z - 2.4) * 0.34,
	},
}
export const LIFTS = { xor: "z = x·y", circles: "z = x² + y²" }

export function makeLift() {
	const layers = ["floor", "drops", "far", "sheet", "near"].map((name) => svg(`g.${name}`))
	const picture = svg("svg", { "aria-hidden": "true" }, layers)
	const board = html("div.board.solid", {
		tabindex: 0,
		role: "application",
		"aria-roledescription": "figure in three dimensions",
		"aria-label": "Points lifted into space, and the sheet between them. Arrow keys turn it.",
	})
	board.append(picture)
	const view = {
		board,
		choose,
		lift,
		flatten,
		render,
		name: "",
		raised: 0,
		edgeOn: false,
		changed: () => {},
		turned: false,
	}
	let [across, up, frame, data, grip] = [0.5, 0.35, 0, null, null]

	function choose(name) {
		const { points, lift: raise } = SETS[name]
		const X = points().map((p) => [p.x, p.y, raise(p.x, p.y)])
		const problem = { X, y: points().map((p) => (p.c ? 1 : -1)), classes: 2, names: ["0", "1"] }
		const trace = learn(problem, PLAIN, 500)
		data = { ...SETS[name], problem, trace, w: trace.space.snapshots.at(-1)[0] }
		view.name = name
		view.mistakes = trace.mistakeCounts.at(-1)
		view.converged = trace.converged
		render()
	}

	// The height of the sheet above a place of the floor.
	const sheetAt = (x, y) => -(data.w[0] * x + data.w[1] * y + data.w[3]) / data.w[2]

	function render() {
		const [width, height] = [max(200, board.clientWidth), max(180, board.clientHeight)]
		const unit = 0.3 * Math.min(width, height * 1.2)
		const { size, up: rise, problem, w } = data
		const place = (x, y, z) => {
			const [a, b, c] = [x / size, y / size, rise(z) * view.raised]
			const back = a * sin(across) + b * cos(across)
			return [
				width / 2 + unit * (a * cos(across) - b * sin(across)),
				height * 0.47 - unit * (c * cos(up) + back * sin(up)),
			]
		}
		const look = [-sin(across) * cos(up), -cos(across) * cos(up), sin(up)]
		const slope = rise(1) - rise(0)
		const normal = [w[0] * size, w[1] * size, w[2] / slope]
		const facing = normal.reduce((sum, v, j) => sum + v * look[j], 0) / hypot(...normal)
		const side = facing >= 0 ? 1 : -1
		const bottom = (-1.05 - rise(0)) / slope
		const ground = (x, y) => place(x, y, view.raised ? bottom : 0)
		const corners = [
			[-size, -size],
			[size, -size],
			[size, size],
			[-size, size],
		]
		const shape = (points) => `M${points.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L")}Z`
		const mark = (i) => {
			const [x, y] = place(...problem.X[i])
			const c = classOf(problem, i)
			return ["path", { class: `point class${c}`, d: shapePath(c, problem.X.length > 10 ? 6 : 9, x, y) }]
		}
		const shown = view.raised === 1
		const isNear = (i) =>
			shown && side * (w[0] * problem.X[i][0] + w[1] * problem.X[i][1] + w[2] * problem.X[i][2] + w[3]) > 0
		const rows = problem.X.map((_, i) => i)
		const drops = problem.X.map((x) => `M${ground(x[0], x[1]).join(" ")}L${place(...x).join(" ")}`).join("")
		view.edgeOn = shown && abs(facing) < EDGE
		set(picture, { viewBox: `0 0 ${width} ${height}`, width, height })
		patch(layers[0], [
			["path", { class: "ground", d: shape(corners.map(([x, y]) => ground(x, y))) }],
			["path", { class: "curve", d: shown ? floorCurve(ground) : "" }],
		])
		patch(layers[1], [["path", { d: view.raised ? drops : "" }]])
		patch(layers[2], rows.filter((i) => !isNear(i)).map(mark))
		const sheet = corners.map(([x, y]) => place(x, y, sheetAt(x, y)))
		patch(layers[3], [["path", { class: "flat", d: shown ? shape(sheet) : "" }]])
		patch(layers[4], rows.filter(isNear).map(mark))
		view.changed()
	}

	// Seen from above, the sheet cuts the lifted floor in a curve: the boundary in the plane.
	function floorCurve(ground) {
		const { size, lift: raise, w } = data
		const cell = (2 * size) / GRID
		const values = Array.from({ length: (GRID + 1) ** 2 }, (_, s) => {
			const [x, y] = [(s % (GRID + 1)) * cell - size, Math.floor(s / (GRID + 1)) * cell - size]
			return w[0] * x + w[1] * y + w[2] * raise(x, y) + w[3]
		})
		const { edge } = contour({ columns: GRID + 1, rows: GRID + 1, size: 100 }, values)
		return edge.replace(/(-?[\d.]+) (-?[\d.]+)/g, (_, x, y) =>
			ground((x / 100) * cell - size, (y / 100) * cell - size).join(" "),
		)
	}

	function move(goal, length = 1600) {
		cancelAnimationFrame(frame)
		const from = [view.raised, across, up]
		const begin = performance.now()
		const next = (now) => {
			const s = isStill() ? 1 : clamp((now - begin) / length, 0, 1)
			const ease = s * s * (3 - 2 * s)
			;[view.raised, across, up] = from.map((v, j) => (s === 1 ? goal[j] : v + ease * (goal[j] - v)))
			render()
			if (s < 1) frame = requestAnimationFrame(next)
		}
		next(begin)
	}

	function lift() {
		move([1, 0.55, 0.42])
	}

	function flatten() {
		move([0, 0, PI / 2])
	}

	function turn(dx, dy) {
		if (view.raised !== 1) return
		across += dx
		up = clamp(up + dy, -PI / 3, PI / 2)
		view.turned = true
		render()
	}

	board.addEventListener("pointerdown", (e) => {
		grip = [e.clientX, e.clientY]
		board.setPointerCapture(e.pointerId)
	})
	board.addEventListener("pointermove", (e) => {
		if (!grip) return
		turn((e.clientX - grip[0]) * -0.01, (e.clientY - grip[1]) * 0.01)
		grip = [e.clientX, e.clientY]
	})
	for (const kind of ["pointerup", "pointercancel"]) board.addEventListener(kind, () => (grip = null))
	const KEYS = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, -0.06], ArrowDown: [0, 0.06] }
	board.addEventListener("keydown", (e) => {
		if (!KEYS[e.key]) return
		turn(...KEYS[e.key])
		announce(view.edgeOn ? "You look along the sheet." : "Turned.")
		e.preventDefault()
	})
	;[view.raised, across, up] = isStill() ? [1, 0.55, 0.42] : [0, 0, PI / 2]
	choose("circles")
	new ResizeObserver(render).observe(board)
	return view
}
