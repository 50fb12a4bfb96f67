// One learner's picture of the plane.

import { boxOf, clip, contour, jumpCut, lead, linearRegions, linePath, polygonPath } from "../engine/contour.js"
import { judge, makeField } from "../engine/field.js"
import { rowWeightsAt, voteAt, weightsAt } from "../engine/keep.js"
import { mistakesAt, updatesAt } from "../engine/learn.js"
import { classOf } from "../engine/problem.js"
import { target } from "../engine/rule.js"
import { plural, show } from "../engine/sentence.js"
import { makeArrows } from "./arrows.js"
import { html, patch, set, svg } from "./node.js"
import { shapePath } from "./shape.js"
import { snap, ticks } from "./view.js"

const NAMES = { poly: "polynomial kernel", rbf: "RBF kernel", margin: "margin perceptron" }
const KEEPS = { last: "", average: "averaged ", vote: "voted ", pocket: "pocket " }
const TWEEN = 160
const MOST_VOTERS = 1500

export function learnerName({ rule, keep, kernel }) {
	const name = KEEPS[keep] + (NAMES[kernel] ?? NAMES[rule] ?? rule)
	return name[0].toUpperCase() + name.slice(1)
}

export function makePlane(index) {
	const layers = {}
	const title = html("strong")
	const count = html("span.count")
	const halo = svg("g", svg("circle", { r: 12 }), svg("path", { d: "M9-9l7-7M16-9l-7-7" }))
	// Three sheets, so that the browser does not paint all points again when something moves. For the same reason wrong
	// rows are drawn over their points, which stay as they are.
	const names = ["regions grid band proof lines", "points", "wrongs rings marks arrows cursor"]
	const layer = (name) => (layers[name] = svg(`g.${name}`))
	const sheets = names.map((list) => svg("svg", { "aria-hidden": "true" }, list.split(" ").map(layer)))
	const picture = html("div.plane", { role: "img" }, sheets)
	const node = html("figure.card", html("figcaption", title, count), picture)
	const arrows = makeArrows(layers.arrows)
	layers.marks.append(halo)
	let view,
		box,
		trace,
		problem,
		t,
		hurried,
		verdict,
		judging,
		field,
		grid,
		ringed,
		size,
		places,
		classes,
		weights,
		frame

	function render(store, nextView) {
		const { state, derived } = store
		const [before, reframed] = [trace, nextView !== view]
		trace = derived.traces[index]
		const { learner } = trace
		if (reframed) reframe(nextView, state.axes)
		if (reframed || trace.problem !== problem) placePoints(trace.problem)
		if (reframed || trace !== before) {
			field = ringed = null
			judging = places.length ? makeField(trace, problem.X) : null
		}
		const now = Math.min(state.step, trace.length)
		const jump = trace !== before || Math.abs(now - t) !== 1 || state.speed > 5
		;[t, hurried] = [now, store.hurried]
		verdict = judging ? judge(judging, trace, t) : { wrong: [], least: Infinity }
		if (!store.resting) captions()
		if (state.data?.preset === "drift") fade()
		mark()
		markRings()
		drawProof(state.proof ? store.margin(learner) : null)
		arrows.draw(trace, t, view, state.step === 0 && state.active === index)
		move(jump)
	}

	function captions() {
		const name = learnerName(trace.learner)
		const wrong = verdict.wrong.length
		const mistakes = plural(mistakesAt(trace, t), "mistake")
		const done = trace.converged && t === trace.length
		const end = !done ? "" : view.width < 420 ? " ✓" : " · converged"
		title.textContent = name
		count.textContent = `${mistakes} · ${wrong} wrong${end}`
		count.classList.toggle("done", done)
		const said = `${name}: ${problem.X.length} points, step ${t}, ${mistakes} so far, ${wrong} rows wrong now`
		set(picture, { "aria-label": said })
	}

	function reframe(next, axes) {
		const { width, height, toPlane, toScreen } = next
		;[view, box] = [next, boxOf(-4, -4, width + 8, height + 8)]
		picture.style.height = `${height}px`
		for (const sheet of sheets) set(sheet, { viewBox: `0 0 ${width} ${height}`, width, height })
		const [x0, y1] = toPlane(0, 0)
		const [x1, y0] = toPlane(width, height)
		const line = (v, d) => svg(v ? "path" : "path.axis", { d })
		const text = (kind, x, y, said) => svg(`text.${kind}`, { x, y }, said)
		const nodes = []
		for (const x of ticks(x0, x1, width / 60)) {
			const [px] = toScreen(x, 0)
			nodes.push(line(x, `M${px} 0V${height}`))
			if (px > 16 && px < width - 16) nodes.push(text("middle", px, height - 5, show(x)))
		}
		for (const y of ticks(y0, y1, height / 60)) {
			const [, py] = toScreen(0, y)
			nodes.push(line(y, `M0 ${py}H${width}`))
			if (py > 10 && py < height - 18) nodes.push(text("left", 5, py + 4, show(y)))
		}
		if (axes) nodes.push(text("name.right", width - 6, height - 18, axes[0]), text("name", 6, 14, axes[1]))
		layers.grid.replaceChildren(...nodes)
	}

	function placePoints(next) {
		problem = next
		const { X } = problem
		const { width, toScreen } = view
		size = (X.length > 200 ? 4.5 : X.length > 60 ? 5.8 : 7) * (width < 360 ? 0.8 : 1)
		places = X.map((x) => toScreen(...x).map((v) => snap(v, 0.1)))
		classes = X.map((_, i) => classOf(problem, i))
		const point = (c, i) => {
			const transform = `translate(${places[i].join(" ")})`
			return ["path", { "data-row": i, class: `point class${c}`, d: shapePath(c, size), transform }]
		}
		patch(layers.points, classes.map(point))
	}

	function rowAt(px, py, reach) {
		const away = places.map(([x, y]) => Math.hypot(x - px, y - py))
		const least = Math.min(...away)
		return least <= reach ? away.indexOf(least) : -1
	}

	function fade() {
		const n = classes.length
		const now = trace.rows[t - 1] ?? 0
		;[...layers.points.children].forEach((mark, i) => {
			const age = ((now - i + n) % n) / n
			set(mark, { class: `point class${classes[i]}${age > 1 / 3 ? " older" : age > 1 / 8 ? " aged" : ""}` })
		})
	}

	function mark() {
		const wrongs = problem.names.map(() => "")
		for (const i of verdict.wrong) wrongs[classes[i]] += shapePath(classes[i], size, ...places[i])
		patch(
			layers.wrongs,
			wrongs.map((d, c) => ["path", { class: `wrong class${c}`, d }]),
		)
		const place = places[trace.rows[t - 1]]
		set(halo, { visibility: place ? "visible" : "hidden", class: trace.mistakes[t - 1] ? "halo mistake" : "halo" })
		if (place) set(halo, { transform: `translate(${place.join(" ")})` })
	}

	// Rows in a kernel's sum have a ring, the wider the more they count.
	function markRings() {
		const updates = trace.learner.kernel === "linear" ? 0 : updatesAt(trace, t)
		if (updates === ringed) return
		ringed = updates
		const sums = ringed ? rowWeightsAt(trace, t, "last") : []
		const rings = ["", "", "", "", ""]
		places.forEach((place, i) => {
			const weight = Math.max(0, ...sums.map((row) => Math.abs(row[i])))
			if (weight) rings[Math.min(4, Math.round(Math.sqrt(weight)))] += shapePath(1, size + 2.5, ...place)
		})
		patch(
			layers.rings,
			rings.map((d, j) => ["path", { d, "stroke-width": j + 1 }]),
		)
	}

	// Why no line can do it: the rows of the certificate, joined within each class, meet.
	function drawProof(margin) {
		const shown = margin?.certificate?.verdict === "not separable" && problem.classes === 2
		const hull = (c) => {
			const rows = margin.certificate.parts.map((p) => p.row).filter((row) => classes[row] === c)
			const d = rows.map((i, j) => `${j ? "L" : "M"}${places[i].join(" ")}`).join("")
			return ["path", { class: `hull class${c}`, d: d && `${d}Z` }]
		}
		patch(layers.proof, shown ? [hull(0), hull(1)] : [])
	}

	function move(jump) {
		const { learner } = trace
		cancelAnimationFrame(frame)
		if (learner.kernel !== "linear" || learner.keep === "vote") {
			weights = null
			return drawCurved()
		}
		const goal = weightsAt(trace, t, learner.keep)
		const still = jump || matchMedia("(prefers-reduced-motion: reduce)").matches
		const from = !still && weights?.length === goal.length ? weights : goal
		const begin = performance.now()
		const slide = (now) => {
			const s = from === goal ? 1 : Math.min(1, Math.max(0, (now - begin) / TWEEN))
			const ease = 1 - (1 - s) ** 3
			weights = s === 1 ? goal : goal.map((w, k) => w.map((v, j) => from[k][j] + ease * (v - from[k][j])))
			drawStraight(weights)
			if (s < 1) frame = requestAnimationFrame(slide)
		}
		slide(begin)
	}

	function put({ regions = [], band = "", edges = "", ghost = "", raw = "", boundary = "" }) {
		const path = (name, d) => ["path", { class: name, d }]
		patch(
			layers.regions,
			regions.map((d, k) => path(`region class${k}`, d)),
		)
		patch(layers.band, [path("band-fill", band), path("band-edge", edges)])
		patch(layers.lines, [path("ghost", ghost), path("raw", raw), path("boundary", boundary)])
	}

	function onScreen([a, b, c]) {
		const { sx, sy, toScreen } = view
		const [ox, oy] = toScreen(0, 0)
		return [a / sx, -b / sy, c - (a / sx) * ox + (b / sy) * oy]
	}

	function lineAt(t) {
		return linePath(onScreen(weightsAt(trace, t, "last")[0]), box)
	}

	function drawStraight(W) {
		const { learner } = trace
		const binary = W.length === 1
		picture.classList.toggle("joint", !binary)
		if (W.flat().every((v) => v === 0)) return put({})
		const screen = W.map((w) => onScreen(w))
		const regions = linearRegions(screen, box)
		if (!binary) return put({ regions })
		const drawn = { regions, boundary: linePath(screen[0], box) }
		const [a, b, c] = screen[0]
		const wide = target(learner) || (verdict.wrong.length ? 0 : verdict.least)
		if (learner.keep !== "last") drawn.raw = lineAt(t)
		else if (trace.taus[t - 1]) drawn.ghost = lineAt(t - 1)
		if (wide > 0 && wide < Infinity) {
			drawn.band = polygonPath(clip(clip(box, [a, b, c + wide]), [-a, -b, wide - c]))
			drawn.edges = linePath([a, b, c + wide], box) + linePath([a, b, c - wide], box)
		}
		put(drawn)
	}

	function makeGrid() {
		const { width, height, toPlane } = view
		const size = width < 420 ? 8 : 10
		const [columns, rows] = [width, height].map((length) => Math.ceil(length / size) + 1)
		const site = (_, s) => toPlane((s % columns) * size, Math.floor(s / columns) * size)
		grid = { columns, rows, size }
		field = makeField(trace, Array.from({ length: columns * rows }, site))
	}

	// Votes jump, so their boundary is searched for, unless it moves too fast or has very many voters.
	function voteCut() {
		if (hurried || updatesAt(trace, t) > MOST_VOTERS) return undefined
		const votes = voteAt(trace, t)
		return jumpCut((px, py) => votes(...view.toPlane(px, py)) >= 0)
	}

	function drawCurved() {
		const { kernel, keep } = trace.learner
		const linear = kernel === "linear"
		picture.classList.remove("joint")
		if (!field) makeGrid()
		const scores = field.scoresAt(t, keep)
		if (t === 0 || scores.every((s) => s.every((v) => v === 0))) return put({})
		const even = (values) => (linear ? values : values.map((v, s) => v / (field.reach[s] || 1)))
		if (scores.length > 1) {
			const parts = scores.map((_, k) => contour(grid, even(lead(scores, k))))
			return put({ regions: parts.map((p) => p.region), boundary: parts.map((p) => p.edge).join("") })
		}
		const { region, edge } = contour(grid, even(scores[0]), linear ? voteCut() : undefined)
		// The negative side is the rest of the picture: the region is left out of the box.
		const drawn = { regions: [polygonPath(box) + region, region], boundary: edge }
		if (linear) drawn.raw = lineAt(t)
		else if (keep !== "vote" && !verdict.wrong.length) {
			const level = (least) =>
				contour(
					grid,
					scores[0].map((v) => v - least),
				).edge
			drawn.edges = level(verdict.least) + level(-verdict.least)
		}
		put(drawn)
	}

	return { node, picture, sheets, layers, arrows, render, title, count, rowAt }
}
