// The proof as a picture: ‖w‖ below its ceiling √k·R, w·u above its floor k·γ, until the two meet.

import { show } from "../engine/sentence.js"
import { html, set, svg, word } from "./node.js"
import { ticks } from "./view.js"

const [LEFT, RIGHT, TOP, BOTTOM] = [40, 14, 10, 26]

const path = (places) => `M${places.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`

// `name` says at 0 what is counted across.
export function axes(width, height, last, top, levels, counts = [], name = "") {
	const floor = height - BOTTOM
	const x = (k) => LEFT + (k / last) * (width - LEFT - RIGHT)
	const y = (v) => floor - (v / top) * (floor - TOP)
	const rules = levels.flatMap((v) => [
		svg("path.rule", { d: `M${LEFT} ${y(v)}H${width - RIGHT}` }),
		word("right", LEFT - 6, y(v) + 4, show(v)),
	])
	const zero = name && word("left", x(0), height - 8, `${name} = 0`)
	rules.push(...counts.map((k) => (k || !zero ? word("middle", x(k), height - 8, show(k)) : zero)))
	return { width, height, floor, x, y, rules }
}

export const swatch = (name, about, said) =>
	html("span", { class: `swatch ${name}`, "data-light": about }, html("i"), said)

// What the lines are, in words beside the picture: labels inside it would collide.
export function legend(simple = true) {
	const [high, low] = simple ? ["its ceiling √k·R", "its floor k·γ"] : ["its ceiling", "its floor γ·Στ"]
	return [
		swatch("norm", "w", "length ‖w‖"),
		swatch("norm limit", "high", high),
		swatch("along", "along", "progress w·u"),
		swatch("along limit", "low", low),
	]
}

export function makeWedge(chart) {
	let box, courses

	function draw(trace, lines, { low, R2 }, bound, whole, width, height) {
		const { rule, eta0 } = trace.learner
		const simple = rule === "perceptron"
		const run = lines.length - 1
		const last = whole && simple ? Math.max(run, bound * 1.08) : Math.max(run * 1.12, 2)
		const upper = (k) => (simple ? Math.sqrt(k * R2) * eta0 : lines[k].upper)
		const lower = (k) => (simple ? k * low * eta0 : lines[k].lower)
		const top = simple ? Math.max(upper(last), lower(last)) * 1.04 : upper(run) * 1.08
		const meets = simple && bound <= last
		// The name of the bound needs the right end of the axis.
		const clear = (k) => !meets || (k / last) * (width - LEFT - RIGHT) < width - LEFT - Math.max(120, width * 0.3)
		box = axes(width, height, last, top, ticks(0, top, height / 55), ticks(0, last, width / 80).filter(clear), "k")
		const { x, y, floor } = box
		const samples = simple ? Array.from({ length: 61 }, (_, i) => (last * (i * i)) / 3600) : lines.map((l) => l.k)
		const curve = (of, ks = samples) => ks.map((k) => [x(k), y(of(k))])
		const inside = simple ? samples.filter((k) => k <= bound) : samples
		const wedge = [...curve(upper, inside), ...curve(lower, inside).reverse()]
		courses = ["norm", "along"].map((name) => [
			svg(`path.${name}`, { "data-light": name === "norm" ? "w" : name }),
			svg(`circle.${name}`, { r: 4 }),
		])
		const course = (key) => path(lines.map((l) => [x(l.k), y(l[key])]))
		const nodes = [
			...box.rules,
			svg("path.wedge", { d: `${path(wedge)}Z` }),
			svg("path.norm.limit", { "data-light": "high", d: path(curve(upper)) }),
			svg("path.along.limit", { "data-light": "low", d: path(curve(lower)) }),
			svg("path.norm.future", { d: course("norm") }),
			svg("path.along.future", { d: course("wu") }),
			...courses.flat(),
		]
		if (meets)
			nodes.push(
				svg("path.bound", { d: `M${x(bound)} ${TOP}V${floor}` }),
				svg("circle.meet", { cx: x(bound), cy: y(lower(bound)), r: 5 }),
				word("name.right", width - 4, height - 8, `R²/γ² = ${show(Math.floor(bound + 1e-9))}`),
			)
		const end = meets ? `; they meet at ${show(bound)} mistakes` : ""
		set(chart, {
			viewBox: `0 0 ${width} ${height}`,
			"aria-label": `The proof: ‖w‖ stays below its ceiling, w·u above its floor${end}.`,
		})
		chart.replaceChildren(...nodes)
	}

	function follow(lines, k) {
		const { x, y } = box
		courses.forEach(([line, dot], j) => {
			const key = j ? "wu" : "norm"
			set(line, { d: path(lines.slice(0, k + 1).map((l) => [x(l.k), y(l[key])])) })
			set(dot, { cx: x(k), cy: y(lines[k][key]) })
		})
	}

	return { draw, follow }
}
