// The small pictures beside a plane: the line of the score, the wedge of the proof, errors on points held out.

import { boxOf, linePath } from "../engine/contour.js"
import { judge, makeField } from "../engine/field.js"
import { KEEPS } from "../engine/keep.js"
import { brief, show } from "../engine/sentence.js"
import { fitLogistic, fitSvm } from "../engine/rivals.js"
import { clamp, dot } from "../engine/vector.js"
import { mark, words } from "../ui/light.js"
import { html, patch, path, same, set, svg } from "../ui/node.js"
import { frameOf, makeView, ticks } from "../ui/view.js"
import { axes, legend, makeWedge, swatch } from "../ui/wedge.js"

const REACH = 9

function follow(node, render) {
	new ResizeObserver(render).observe(node)
	return { node, render }
}

// Where the score of the first row was, and where one push brings it.
export function makeScoreLine({ store }) {
	const [picture, sum] = [svg("svg", { role: "img" }), html("p.sum")]
	const node = html("div.extra.scoreline", picture, sum)
	return follow(node, () => {
		const { trace, state } = store
		const [before, q] = [trace.scores[0], trace.qs[0]]
		const pushed = state.step > 0 && trace.taus[0] > 0
		const after = before + trace.problem.y[0] * q
		const width = Math.max(200, node.clientWidth)
		const half = width / 2
		const x = (v) => half + (clamp(v, -REACH, REACH) / REACH) * (half - 30)
		const text = (kind, px, y, said) => ["text", { class: kind, x: clamp(px, 4, width - 4), y }, said]
		const close = pushed && Math.abs(x(after) - x(before)) < 74
		patch(picture, [
			["rect", { class: "half class0", y: 26, width: half, height: 22 }],
			["rect", { class: "half class1", x: half, y: 26, width: half, height: 22 }],
			path("zero", `M${half} 20V54`),
			path("leap", pushed ? `M${x(before)} 37H${x(after)}` : ""),
			["circle", { class: "was", "data-light": "score row-0", cx: x(before), cy: 37, r: 6 }],
			["circle", { class: "is", "data-light": "score row-0", cx: x(after), cy: 37, r: pushed ? 8 : 0 }],
			text("middle", half, 68, "0"),
			text("left", 0, 68, "guess: orange"),
			text("right", width, 68, "guess: blue"),
			text("middle", x(before), 17, close ? "" : brief(before)),
			text("name middle", x(after), 17, pushed ? brief(after) : ""),
		])
		const said = pushed ? `The score moved from ${brief(before)} to ${brief(after)}.` : `The score is ${brief(before)}.`
		set(picture, { viewBox: `0 0 ${width} 72`, "aria-label": said })
		const squares = trace.problem.X[0].map((v) => `${mark("x", `${show(Math.abs(v))}²`)} + `).join("")
		const moved = `The push moves the ${mark("score", "score")} by ${mark("x", "‖x‖²")} + 1 = ${squares}1 = ${show(q)}`
		sum.replaceChildren(...words(moved, 0))
	})
}

const makeChart = (kind, head) => {
	const chart = svg("svg.chart", { role: "img" })
	const node = html(`div.extra.${kind}`, head, chart)
	return { chart, node, size: () => [Math.max(200, node.clientWidth), Math.max(70, chart.clientHeight)] }
}

export function makeRace({ store }) {
	const { chart, node, size } = makeChart("race", html("p.legend", legend()))
	const wedge = makeWedge(chart)
	const seen = {}
	return follow(node, () => {
		const { trace, state } = store
		const lines = store.ledger(trace)
		const { learner } = trace
		if (!same(seen, trace, ...size()))
			wedge.draw(trace, lines, store.margin(learner), store.bound(learner), true, ...size())
		wedge.follow(lines, trace.updatesAt(state.step))
	})
}

// Errors of the four answers on the points held out, after every step.
export function makeExam({ store }) {
	const title = html("p.legend")
	const { chart, node, size } = makeChart("exam", title)
	const view = follow(node, render)
	let run
	function render() {
		const { trace, derived, learner } = store
		const { tests } = derived
		if (run !== trace) {
			run = trace
			const field = makeField(trace, tests.X)
			const steps = trace.rows.map((_, s) => s + 1)
			const wrong = (keep) => (t) => judge(field, { problem: tests, learner: { ...learner, keep } }, t).wrong.length
			view.errors = Object.fromEntries(KEEPS.map((keep) => [keep, steps.map(wrong(keep))]))
		}
		const step = clamp(store.state.step, 1, trace.length)
		const [width, height] = size()
		const top = Math.max(...view.errors.last) * 1.05
		const counts = ticks(0, trace.length, width / 90)
		const { x, y, rules, floor } = axes(width, height, trace.length, top, ticks(0, top, height / 50), counts)
		const chosen = (keep) => (keep === learner.keep ? " chosen" : "")
		const line = (keep) => {
			const places = view.errors[keep].slice(0, step).map((v, j) => `${x(j + 1).toFixed(1)} ${y(v).toFixed(1)}`)
			return svg("path", { class: `exam-${keep}${chosen(keep)}`, "data-light": keep, d: `M${places.join("L")}` })
		}
		const count = (keep) => swatch(`exam-${keep}${chosen(keep)}`, keep, `${keep} ${view.errors[keep][step - 1]} `)
		const said = `Wrong of ${tests.X.length} new points, by rows seen: `
		title.replaceChildren(html("span", said), ...KEEPS.map(count))
		set(chart, { viewBox: `0 0 ${width} ${height}`, "aria-label": title.textContent })
		chart.replaceChildren(...rules, ...KEEPS.map(line), svg("path.bound", { d: `M${x(step)} 8V${floor}` }))
	}
	return view
}

// The same points: the line of the perceptron at this step, of logistic regression, and of the SVM.
export function makeRivals({ store }) {
	const title = html("p.legend")
	const { chart, node, size } = makeChart("rivals", title)
	const view = follow(node, render)
	let points
	function render() {
		const { trace, state } = store
		const { X, y } = trace.problem
		if (points !== state.points) {
			points = state.points
			view.lines = { logistic: fitLogistic(X, y), svm: fitSvm(X, y) }
		}
		const lines = { perceptron: trace.weightsAt(state.step)[0], ...view.lines }
		const wrong = (w) => X.filter((x, i) => y[i] * dot(w, [...x, 1]) <= 0).length
		const [width, height] = size()
		const { toScreen, sx, sy } = makeView(frameOf(state.points), width, height)
		const [ox, oy] = toScreen(0, 0)
		const onScreen = ([a, b, c]) => [a / sx, -b / sy, c - (a * ox) / sx + (b * oy) / sy]
		const mark = ({ x, y, c }) => {
			const [px, py] = toScreen(x, y)
			return c ? `M${px - 3} ${py}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0` : `M${px - 3} ${py - 3}h6v6h-6z`
		}
		const box = boxOf(0, 0, width, height)
		patch(chart, [
			...[0, 1].map((c) =>
				path(
					`point class${c}`,
					state.points
						.filter((p) => p.c === c)
						.map(mark)
						.join(""),
				),
			),
			...Object.entries(lines).map(([name, w]) => path(`line rival-${name}`, linePath(onScreen(w), box))),
		])
		const names = { perceptron: "perceptron", logistic: "logistic regression", svm: "SVM" }
		const told = Object.entries(names).map(([name, said]) => [name, `${said}, wrong on ${wrong(lines[name])} `])
		title.replaceChildren(...told.map(([name, said]) => swatch(`rival-${name}`, name, said)))
		set(chart, { viewBox: `0 0 ${width} ${height}`, "aria-label": title.textContent })
	}
	return view
}
