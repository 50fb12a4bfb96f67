// Points lifted into a third dimension, where one flat sheet divides what no line could. The sheet is the perceptron's
// own answer to rows of three features: x, y and their height.

import { contour } from "../engine/contour.js"
import { learn, PLAIN } from "../engine/learn.js"
import { makePreset } from "../engine/presets.js"
import { clamp, dot } from "../engine/vector.js"
import { announce, html, patch, path, set, svg } from "../ui/node.js"
import { isStill } from "../ui/player.js"
import { shapePath } from "../ui/shape.js"

const { abs, cos, floor, hypot, max, min, PI, sin } = Math
const GRID = 24
const EDGE = 0.1
const KEYS = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, -0.06], ArrowDown: [0, 0.06] }
// Lifted or flat, the angle around, the angle above the floor.
const [RAISED, FLAT] = [
	[1, 0.55, 0.42],
	[0, 0, PI / 2],
]

// `raise` is the height of a place, `up` how it is drawn.
export const SETS = {
	xor: {
		title: "XOR",
		said: "z = x·y",
		size: 1.35,
		rows: () => makePreset("xor").points.map((p) => [2 * p.x - 1, 2 * p.y - 1, p.c]),
		raise: (x, y) => x * y,
		up: (z) => z * 0.75,
	},
	circles: {
		title: "Circles",
		said: "z = x² + y²",
		size: 2.5,
		rows: () => makePreset("circles", { n: 44, noise: 0.1, seed: 2 }).points.map((p) => [p.x, p.y, p.c]),
		raise: (x, y) => x * x + y * y,
		up: (z) => (z - 2.4) * 0.34,
	},
}

export function makeLift(changed) {
	const layers = ["floor", "drops", "far", "sheet", "near"].map((name) => svg(`g.${name}`))
	const picture = svg("svg", { "aria-hidden": "true" }, layers)
	const name = "Points lifted into space, and the sheet between them. Arrow keys turn it."
	const board = html("div.board.solid", { tabindex: 0, role: "application", "aria-label": name }, picture)
	const view = { board, choose, lift: () => move(RAISED), flatten: () => move(FLAT), turned: false }
	let [raised, across, up] = isStill() ? RAISED : FLAT
	let frame, grip, X, classes, w

	function choose(name) {
		const { rows, raise } = SETS[name]
		X = rows().map(([x, y]) => [x, y, raise(x, y)])
		classes = rows().map(([, , c]) => c)
		const trace = learn({ X, y: classes.map((c) => 2 * c - 1), classes: 2, names: ["0", "1"] }, PLAIN, 500)
		w = trace.space.snapshots.at(-1)[0]
		Object.assign(view, { name, mistakes: trace.mistakeCounts.at(-1) })
		render()
	}

	function render() {
		const [width, height] = [max(200, board.clientWidth), max(180, board.clientHeight)]
		const unit = 0.28 * min(width, height * 1.2)
		const { size, up: rise, raise } = SETS[view.name]
		const place = (x, y, z) => {
			const [a, b] = [x / size, y / size]
			const back = a * sin(across) + b * cos(across)
			const spot = [a * cos(across) - b * sin(across), -rise(z) * raised * cos(up) - back * sin(up)]
			return [width / 2 + unit * spot[0], height * 0.45 + unit * spot[1]].map((v) => v.toFixed(1))
		}
		const shown = raised === 1
		const slope = rise(1) - rise(0)
		const ground = (x, y) => place(x, y, (-1.05 - rise(0)) / slope)
		// How far the sheet is turned towards the eye: 0 is edge on.
		const normal = [w[0] * size, w[1] * size, w[2] / slope]
		const facing = dot(normal, [-sin(across) * cos(up), -cos(across) * cos(up), sin(up)]) / hypot(...normal)
		const isNear = (i) => shown && (dot(w, X[i]) + w[3]) * facing > 0
		const points = (wanted) => {
			const rows = [...X.keys()].filter((i) => isNear(i) === wanted)
			const d = (i) => shapePath(classes[i], X.length > 10 ? 6 : 9, ...place(...X[i]).map(Number))
			return rows.map((i) => path(`point class${classes[i]}`, d(i)))
		}
		const square = (of) => {
			const sides = [-size, size]
			return `M${[...sides.map((x) => of(x, -size)), ...sides.map((x) => of(-x, size))].join("L")}Z`
		}
		const sheet = (x, y) => place(x, y, -(w[0] * x + w[1] * y + w[3]) / w[2])
		const drops = X.map((x) => `M${ground(x[0], x[1])}L${place(...x)}`).join("")
		// From above, the sheet cuts the lifted floor in a curve: the boundary in the plane.
		const at = (k) => (k / GRID) * 2 * size - size
		const values = Array.from({ length: (GRID + 1) ** 2 }, (_, s) => {
			const [x, y] = [at(s % (GRID + 1)), at(floor(s / (GRID + 1)))]
			return dot(w, [x, y, raise(x, y)]) + w[3]
		})
		const { edge } = contour({ columns: GRID + 1, rows: GRID + 1, size: 100 }, values)
		const curve = edge.replace(/(-?[\d.]+) (-?[\d.]+)/g, (_, x, y) => ground(at(x / 100), at(y / 100)))
		set(picture, { viewBox: `0 0 ${width} ${height}`, width, height })
		patch(layers[0], [path("ground", square(ground)), path("curve", shown ? curve : "")])
		patch(layers[1], [path("drop", raised ? drops : "")])
		patch(layers[2], points(false))
		patch(layers[3], [path("flat", shown ? square(sheet) : "")])
		patch(layers[4], points(true))
		view.raised = raised
		view.edgeOn = shown && abs(facing) < EDGE
		changed(view)
	}

	function move(goal) {
		cancelAnimationFrame(frame)
		const [from, begin] = [[raised, across, up], performance.now()]
		const next = (now) => {
			const s = isStill() ? 1 : clamp((now - begin) / 1600, 0, 1)
			const ease = s * s * (3 - 2 * s)
			;[raised, across, up] = s === 1 ? goal : from.map((v, j) => v + ease * (goal[j] - v))
			render()
			if (s < 1) frame = requestAnimationFrame(next)
		}
		next(begin)
	}

	function turn(dx, dy) {
		if (raised !== 1) return
		across += dx
		up = clamp(up + dy, -PI / 3, PI / 2)
		view.turned = true
		render()
	}

	board.onpointerdown = (e) => {
		grip = [e.clientX, e.clientY]
		board.setPointerCapture(e.pointerId)
	}
	board.onpointermove = (e) => {
		if (grip) turn((e.clientX - grip[0]) * -0.01, (e.clientY - grip[1]) * 0.01)
		if (grip) grip = [e.clientX, e.clientY]
	}
	board.onpointerup = board.onpointercancel = () => (grip = null)
	board.onkeydown = (e) => {
		if (!KEYS[e.key]) return
		turn(...KEYS[e.key])
		announce(view.edgeOn ? "You look along the sheet." : "Turned.")
		e.preventDefault()
	}
	choose("circles")
	new ResizeObserver(render).observe(board)
	return view
}
