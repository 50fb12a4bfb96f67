// One learner's picture of the plane, and the story of its step: the mistaken point flashes, its vector travels to the
// tip of w, w swings, the line follows, and the score counts from wrong to right.

import { judge, makeField } from "../engine/field.js"
import { plural, show } from "../engine/sentence.js"
import { clamp } from "../engine/vector.js"
import { makeArrows, phases } from "./arrows.js"
import { learnerName } from "./names.js"
import { html, patch, path, set, svg, word } from "./node.js"
import { isStill } from "./player.js"
import { makeRegions } from "./regions.js"
import { shapePath } from "./shape.js"
import { snap, ticks } from "./view.js"

const NONE = { wrong: [], least: Infinity, most: 0, blank: true }
// Faster than this, a step is shown and not told.
const TOLD = 250
// Of points held out.
const SMALL = 0.55

// Without `arrows` neither w nor its push is drawn.
export function makePlane(index, hasArrows) {
	const layers = {}
	const title = html("strong")
	const count = html("span.count")
	const [ring, cross] = [svg("circle"), svg("path")]
	const halo = svg("g", ring, cross)
	const score = svg("text.score.tag", { "data-light": "score" })
	// Three sheets, so that the browser does not paint all points again when something moves. For the same reason wrong
	// rows are drawn over their points, which stay as they are. No point has a transform: each would be a layer's work.
	const names = ["regions grid band proof lines", "held points", "wrongs sums arrows marks cursor"]
	const layer = (name) => (layers[name] = svg(`g.${name}`))
	const sheets = names.map((list) => svg("svg", { "aria-hidden": "true" }, list.split(" ").map(layer)))
	const picture = html("div.plane", { role: "img" }, sheets)
	const node = html("figure.card", html("figcaption", title, " ", count), picture)
	const arrows = makeArrows(layers.arrows)
	const regions = makeRegions(layers, picture)
	layers.marks.append(halo, score)
	let view, trace, problem, tests, t, verdict, judging, examining, summed, frame, handle
	let size, places, classes, shapes, smalls

	function render(store, nextView) {
		const { state, derived } = store
		const [before, reframed, was] = [trace, nextView !== view, t]
		trace = derived.traces[index]
		if (reframed) reframe(nextView, state.axes)
		if (reframed || trace.problem !== problem || derived.tests !== tests) placePoints(trace.problem, derived.tests)
		if (reframed || trace !== before || derived.tests !== examining?.tests) {
			summed = null
			judging = places.length ? makeField(trace, problem.X) : null
			examining = { tests, field: tests.X.length ? makeField(trace, tests.X) : null }
		}
		t = Math.min(state.step, trace.length)
		verdict = judging ? judge(judging, trace, t) : NONE
		const exam = examining.field && judge(examining.field, { problem: tests, learner: trace.learner }, t)
		if (!store.resting) captions(exam)
		mark(state.data?.preset === "drift", exam)
		markSums()
		drawProof(state.proof ? store.margin(trace.learner) : null)
		regions.show({ view, trace, t, verdict, hurried: store.hurried, shade: state.shade })
		handle = state.step === 0 && state.active === index
		const told = trace === before && t === was + 1 && trace.taus[t - 1] && store.pace >= TOLD && !isStill()
		if (told) tell(store.pace * 0.85)
		else if (trace !== before || t !== was || reframed || !frame) tellAt(1)
	}

	function tell(length) {
		const begin = performance.now()
		const next = (now) => {
			tellAt(Math.min(1, Math.max(0, now - begin) / length))
			if (now - begin < length) frame = requestAnimationFrame(next)
		}
		cancelAnimationFrame(frame)
		next(begin)
	}

	function tellAt(s) {
		if (s === 1) {
			cancelAnimationFrame(frame)
			frame = 0
		}
		const { keep } = trace.learner
		const { swing } = phases(s, hasArrows)
		// What is not straight does not slide: it jumps when the story is told.
		if (trace.straight) {
			const goal = trace.weightsAt(t, keep)
			const from = swing < 1 ? trace.weightsAt(t - 1, keep) : goal
			regions.draw(swing < 1 ? goal.map((w, k) => w.map((v, j) => from[k][j] + swing * (v - from[k][j]))) : goal)
		} else if (s === 1) regions.draw()
		if (hasArrows) arrows.draw(trace, t, view, handle, s)
		markStep(s, swing)
	}

	function captions(exam) {
		const name = learnerName(trace.learner)
		const wrong = verdict.blank ? "no line yet" : `${verdict.wrong.length} wrong`
		const narrow = view.width < 420
		const share = exam && `${exam.wrong.length} of ${tests.X.length}`
		const held = !share || verdict.blank ? "" : narrow ? ` · held ${share}` : ` · held out: ${share} wrong`
		const mistakes = plural(trace.mistakesAt(t), "mistake")
		const done = trace.converged && t === trace.length
		const end = !done ? "" : narrow ? " ✓" : " · converged"
		title.textContent = name
		count.textContent = `${narrow && held ? "" : `${mistakes} · `}${wrong}${held}${end}`
		count.classList.toggle("done", done)
		set(picture, { "aria-label": `${name}: ${problem.X.length} points, step ${t}, ${mistakes}, ${wrong}${held}` })
	}

	function reframe(next, axes) {
		const { width, height, toPlane, toScreen } = next
		view = next
		picture.style.height = `${height}px`
		for (const sheet of sheets) set(sheet, { viewBox: `0 0 ${width} ${height}`, width, height })
		const [x0, y1] = toPlane(0, 0)
		const [x1, y0] = toPlane(width, height)
		const line = (v, d) => svg(v ? "path" : "path.axis", { d })
		const nodes = []
		for (const x of ticks(x0, x1, width / 80)) {
			const [px] = toScreen(x, 0)
			nodes.push(line(x, `M${px} 0V${height}`))
			if (px > 34 && px < width - 20) nodes.push(word("middle", px, height - 6, show(x)))
		}
		for (const y of ticks(y0, y1, height / 80)) {
			const [, py] = toScreen(0, y)
			nodes.push(line(y, `M0 ${py}H${width}`))
			if (py > (axes ? 34 : 14) && py < height - 26) nodes.push(word("left", 5, py + 5, show(y)))
		}
		if (axes) nodes.push(word("name.right", width - 6, height - 26, axes[0]), word("name", 6, 16, axes[1]))
		layers.grid.replaceChildren(...nodes)
	}

	function placePoints(next, nextTests) {
		;[problem, tests] = [next, nextTests]
		const { X } = problem
		const { width, height, toScreen } = view
		const scale = clamp(Math.sqrt(Math.min(width, height) / 420), 0.8, 1.6)
		size = (X.length > 200 ? 4.5 : X.length > 60 ? 5.8 : 7.5) * scale
		const spot = (x) => toScreen(...x).map((v) => snap(v, 0.1))
		places = X.map(spot)
		classes = X.map((_, i) => problem.kinds[i])
		shapes = classes.map((c, i) => shapePath(c, size, ...places[i]))
		smalls = tests.X.map((x, i) => shapePath(tests.kinds[i], size * SMALL, ...spot(x)))
		const point = (d, i) => path(`point class${classes[i]}`, d, { "data-row": i, "data-light": `row-${i}` })
		patch(layers.points, shapes.map(point))
		const small = (d, i) => path(`point class${tests.kinds[i]}`, d)
		patch(layers.held, smalls.map(small))
	}

	function rowAt(px, py, reach) {
		const away = places.map(([x, y]) => Math.hypot(x - px, y - py))
		const least = Math.min(...away)
		return least <= reach ? away.indexOf(least) : -1
	}

	// Wrong rows are hollow. In a stream, old rows fade, whether right or wrong.
	function mark(fades, exam) {
		const n = classes.length
		const now = trace.rows[t - 1] ?? 0
		const ageOf = (i) => {
			const age = fades ? ((now - i + n) % n) / n : 0
			return age > 1 / 3 ? " older" : age > 1 / 8 ? " aged" : ""
		}
		const wrongs = new Map(problem.names.map((_, c) => [`class${c}`, ""]))
		const hollow = (key, d) => wrongs.set(key, (wrongs.get(key) ?? "") + d)
		if (!verdict.blank) {
			for (const i of verdict.wrong) hollow(`class${classes[i]}${ageOf(i)}`, shapes[i])
			for (const i of exam?.wrong ?? []) hollow(`class${tests.kinds[i]}`, smalls[i])
		}
		const shown = [...wrongs].map(([key, d]) => path(`wrong ${key}`, d))
		patch(layers.wrongs, shown)
		if (fades)
			[...layers.points.children].forEach((point, i) => set(point, { class: `point class${classes[i]}${ageOf(i)}` }))
	}

	// The ring is the row of this step; while a mistake is told it flashes, and its score counts.
	function markStep(s, swing) {
		const step = t - 1
		const row = trace.rows[step]
		const place = places[row]
		set(halo, { visibility: place ? "visible" : "hidden", class: trace.mistakes[step] ? "halo mistake" : "halo" })
		if (place) {
			const r = (size + 4.5) * (s < 0.3 ? 1 + Math.sin((s / 0.3) * Math.PI) * 0.7 : 1)
			set(ring, { cx: place[0], cy: place[1], r })
			set(cross, { d: `M${place[0] + r * 0.75} ${place[1] - r * 0.75}l7-7m0 7l-7-7` })
		}
		const shown = place && trace.taus[step] && problem.names.length === 2
		set(score, { visibility: shown ? "visible" : "hidden" })
		if (!shown) return
		const [from, by] = [trace.scores[step], problem.y[row] * trace.taus[step] * trace.qs[step]]
		const value = from + by * swing
		const below = place[1] < 48
		score.textContent = `score ${show(Math.round(value * 100) / 100)}`
		set(score, {
			x: Math.min(Math.max(place[0], 42), view.width - 42),
			y: place[1] + (below ? 32 : -26),
			class: `score tag ${value * problem.y[row] > 0 ? "fine" : "off"}`,
		})
	}

	// Rows in a kernel's sum have a dot, the larger the more they count.
	function markSums() {
		const updates = trace.linear ? 0 : trace.updatesAt(t)
		if (updates === summed) return
		summed = updates
		const sums = summed ? trace.rowWeightsAt(t) : []
		let dots = ""
		places.forEach((place, i) => {
			const weight = Math.max(0, ...sums.map((row) => Math.abs(row[i])))
			if (weight)
				dots += shapePath(1, snap(Math.min(size * 0.62, size * (0.24 + 0.1 * Math.sqrt(weight))), 0.1), ...place)
		})
		patch(layers.sums, [path("speaker", dots)])
	}

	// Why no line can do it: the rows of the certificate, joined within each class, meet in one point.
	function drawProof(margin) {
		const shown = margin?.certificate?.verdict === "not separable" && problem.classes === 2
		if (!shown) return patch(layers.proof, [])
		const parts = (c) => margin.certificate.parts.filter((p) => classes[p.row] === c)
		const hull = (c) => {
			const rows = parts(c).map((p) => places[p.row])
			// A single trapped row is ringed, since a hull of one point cannot be seen.
			const d = rows.length === 1 ? shapePath(1, size + 6, ...rows[0]) : `M${rows.map((p) => p.join(" ")).join("L")}Z`
			return path(`hull class${c}`, rows.length ? d : "")
		}
		const total = parts(1).reduce((sum, p) => sum + Number(p.lambda), 0)
		const [mx, my] = [0, 1].map((j) =>
			parts(1).reduce((sum, p) => sum + (Number(p.lambda) / total) * places[p.row][j], 0),
		)
		const cross = Number.isFinite(mx) ? `M${mx - 7} ${my - 7}l14 14M${mx + 7} ${my - 7}l-14 14` : ""
		patch(layers.proof, [hull(0), hull(1), path("meeting", cross)])
	}

	return { node, picture, sheets, layers, arrows, render, title, count, rowAt, placeOf: (row) => places?.[row] }
}
