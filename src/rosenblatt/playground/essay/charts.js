// The small pictures beside a plane: the line of the score, the wedge of the proof, errors on points held out.

import { judge, makeField } from "../engine/field.js"
import { KEEPS } from "../engine/keep.js"
import { updatesAt } from "../engine/learn.js"
import { show } from "../engine/sentence.js"
import { html, patch, same, set, svg } from "../ui/node.js"
import { ticks } from "../ui/view.js"
import { axes, legend, makeWedge } from "../ui/wedge.js"

const onResize = (node, draw) => new ResizeObserver(draw).observe(node)

// Where the score of the first row was, and where one push brings it.
export function makeScoreLine({ store }) {
	const picture = svg("svg", { role: "img" })
	const sum = html("p.sum")
	const node = html("div.extra.scoreline", picture, sum)
	const render = () => {
		const { trace } = store
		const [before, q, y] = [trace.scores[0], trace.qs[0], trace.problem.y[0]]
		const pushed = store.state.step > 0 && trace.taus[0] > 0
		const after = before + y * q
		const width = Math.max(200, node.clientWidth)
		const reach = 9
		const x = (v) => width / 2 + (Math.min(Math.max(v, -reach), reach) / reach) * (width / 2 - 30)
		const text = (kind, v, py, said) => [
			"text",
			{ class: kind, x: Math.min(Math.max(x(v), 34), width - 34), y: py },
			said,
		]
		const close = pushed && Math.abs(x(after) - x(before)) < 74
		patch(picture, [
			["rect", { class: "half class0", x: 0, y: 26, width: width / 2, height: 22 }],
			["rect", { class: "half class1", x: width / 2, y: 26, width: width / 2, height: 22 }],
			["path", { class: "zero", d: `M${width / 2} 20V54` }],
			text("middle", 0, 68, "0"),
			["text", { class: "left", x: 4, y: 68 }, "guess: orange"],
			["text", { class: "right", x: width - 4, y: 68 }, "guess: blue"],
			["path", { class: "leap", d: pushed ? `M${x(before)} 37H${x(after)}` : "" }],
			["circle", { class: "was", cx: x(before), cy: 37, r: 6 }],
			["circle", { class: "is class1", cx: x(after), cy: 37, r: pushed ? 8 : 0 }],
			text("middle", before, close && after > before ? 17 : 17, close ? "" : show(Math.round(before * 100) / 100)),
			text("name middle", after, 17, pushed ? show(Math.round(after * 100) / 100) : ""),
		])
		set(picture, {
			viewBox: `0 0 ${width} 72`,
			"aria-label": pushed
				? `The score moved from ${show(before)} to ${show(after)}.`
				: `The score is ${show(before)}.`,
		})
		const [x1, x2] = trace.problem.X[0]
		sum.textContent = `The push moves the score by ‖x‖² + 1 = ${show(Math.abs(x1))}² + ${show(Math.abs(x2))}² + 1 = ${show(q)}`
	}
	onResize(node, render)
	return { node, render }
}

export function makeRace({ store }) {
	const chart = svg("svg.chart", { role: "img" })
	const node = html("div.extra.race", html("p.legend", legend()), chart)
	const wedge = makeWedge(chart)
	const view = { node, render }
	function render() {
		const { trace } = store
		const lines = store.ledger(trace)
		if (!lines || node.clientWidth < 50) return
		const size = [Math.max(200, node.clientWidth), Math.max(70, chart.clientHeight)]
		if (!same(view, trace, ...size))
			wedge.draw(trace, lines, store.margin(trace.learner), store.bound(trace.learner), true, ...size)
		wedge.follow(lines, updatesAt(trace, store.state.step))
	}
	onResize(node, render)
	return view
}

// Errors on the points held out, of the four answers, after every step.
export function examine(trace, tests, every = 1) {
	const field = makeField(trace, tests.X)
	const errors = Object.fromEntries(KEEPS.map((keep) => [keep, []]))
	for (let t = 1; t <= trace.length; t += every)
		for (const keep of KEEPS)
			errors[keep].push(judge(field, { problem: tests, learner: { ...trace.learner, keep } }, t).wrong.length)
	return errors
}

export function makeExam({ store }) {
	const chart = svg("svg.chart", { role: "img" })
	const title = html("p.legend")
	const node = html("div.extra.exam", title, chart)
	const view = { node, render, errors: null }
	let of
	function render() {
		const { trace, derived } = store
		if (of !== trace.space.totals) {
			of = trace.space.totals
			view.errors = examine(trace, derived.tests)
		}
		const { keep } = store.learner
		const step = Math.max(1, Math.min(store.state.step, trace.length))
		const [width, height] = [Math.max(200, node.clientWidth), Math.max(70, chart.clientHeight)]
		const top = Math.max(...view.errors.last) * 1.05
		const { x, y, rules, floor } = axes(width, height, trace.length, top, ticks(0, top, height / 50))
		const line = (name) => {
			const part = view.errors[name].slice(0, step)
			const d = `M${part.map((v, j) => `${x(j + 1).toFixed(1)} ${y(v).toFixed(1)}`).join("L")}`
			return svg(`path.exam-${name}${name === keep ? ".chosen" : ""}`, { d })
		}
		title.replaceChildren(
			html("span", `Wrong of ${derived.tests.X.length} new points: `),
			...KEEPS.map((name) =>
				html(
					name === keep ? "strong" : "span",
					{ class: `swatch exam-${name}` },
					html("i"),
					`${name} ${view.errors[name][step - 1]}`,
				),
			),
		)
		set(chart, { viewBox: `0 0 ${width} ${height}`, "aria-label": title.textContent })
		chart.replaceChildren(...rules, ...KEEPS.map(line), svg("path.bound", { d: `M${x(step)} 8V${floor}` }))
	}
	onResize(node, render)
	return view
}
