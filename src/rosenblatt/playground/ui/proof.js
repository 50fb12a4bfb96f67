// The proof at work: w·u grows at least like k·γ, ‖w‖ at most like √k·R, until there is no room for a mistake.

import { epochAt, mistakesAt, updatesAt } from "../engine/learn.js"
import { plural, show } from "../engine/sentence.js"
import { openBook } from "./book.js"
import { find, html, same, set, svg } from "./node.js"
import { ticks } from "./view.js"

const [LEFT, RIGHT, TOP, BOTTOM] = [36, 12, 10, 24]

const path = (places) => `M${places.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`
const word = (kind, x, y, said) => svg(`text.${kind}`, { x, y }, said)

export function makeProof(store) {
	const chart = find("chart")
	const proof = { calm: true, render }
	let box, courses

	function render({ step, whole }) {
		const { trace } = store
		const bound = store.bound(trace.learner)
		const most = bound === null ? null : Math.floor(bound + 1e-9)
		const [mistakes, updates] = [mistakesAt(trace, step), updatesAt(trace, step)]
		const limit = most === null ? "" : ` of at most ${show(most)}`
		const said = ` mistake${mistakes === 1 ? "" : "s"}${limit} · ${plural(updates, "update")}`
		find("tally").replaceChildren(html("strong", show(mistakes)), said)
		find("meter").hidden = most === null
		find("meter").firstChild.style.width = `${Math.min(100, (100 * mistakes) / Math.max(1, most))}%`
		const lines = store.ledger(trace)
		const shows = lines?.length > 1
		for (const id of ["axis", "ledger-open"]) find(id).hidden = !shows
		find("none").textContent = shows ? "" : why(trace)
		if (!shows) return drawEpochs(trace, epochAt(trace, step))
		find("axis").textContent = whole ? "Zoom to the run" : "Up to the bound"
		if (!same(proof, trace, whole)) draw(trace, lines, bound, whole)
		follow(lines, updates)
	}

	function why({ problem, learner }) {
		if (problem.X.length === 0) return "No points yet."
		if (learner.start) return "The proof starts from zero weights, so with an own start nothing is promised."
		if (store.margin(learner).low > 0) return "No update yet."
		return learner.kernel === "linear"
			? "No separating weights exist, so no bound: the mistakes never have to end."
			: "No margin was found, so nothing is promised."
	}

	function axes(last, top, levels) {
		const width = Math.max(220, find("proof").clientWidth - 22)
		const height = Math.max(120, chart.clientHeight)
		const floor = height - BOTTOM
		const x = (k) => LEFT + (k / last) * (width - LEFT - RIGHT)
		const y = (v) => floor - (v / top) * (floor - TOP)
		const rules = levels(height).flatMap((v) => [
			svg("path.rule", { d: `M${LEFT} ${y(v)}H${width - RIGHT}` }),
			word("right", LEFT - 5, y(v) + 4, show(v)),
		])
		return { width, height, floor, x, y, rules }
	}

	function put(said, nodes) {
		const { width, height, rules } = box
		set(chart, { viewBox: `0 0 ${width} ${height}`, "aria-label": said })
		chart.replaceChildren(...rules, ...nodes)
	}

	function drawEpochs(trace, now) {
		if (same(proof, trace, now, "epochs")) return
		const counts = trace.epochMistakes
		const count = counts.length
		const top = Math.max(1, ...counts)
		box = axes(Math.max(count, 8), top * 1.1, () => ticks(0, top, 4).filter(Number.isInteger))
		const { x, y, floor, height } = box
		const width = Math.max(0.6, (x(1) - x(0)) * 0.8)
		const bar = (v, e) =>
			svg(`rect.bar${e + 1 === now ? ".now" : ""}`, { x: x(e), width, y: y(v), height: floor - y(v) })
		const ends = [...new Set([1, count])].filter((e) => e <= count)
		put(`Mistakes in each of ${count} epochs, ${counts.at(-1) ?? 0} in the last.`, [
			...counts.map(bar),
			...ends.map((e) => word("middle", x(e - 0.6), height - 8, e)),
			word("left", LEFT, 11, "mistakes an epoch"),
		])
	}

	function draw(trace, lines, bound, whole) {
		const { rule, eta0 } = trace.learner
		const { low, R2 } = store.margin(trace.learner)
		const simple = rule === "perceptron"
		const run = lines.length - 1
		const last = whole && simple ? Math.max(run, bound * 1.06) : Math.max(run * 1.12, 2)
		const upper = (k) => (simple ? Math.sqrt(k * R2) * eta0 : lines[k].upper)
		const lower = (k) => (simple ? k * low * eta0 : lines[k].lower)
		const top = simple ? Math.max(upper(last), lower(last)) * 1.04 : upper(run) * 1.08
		box = axes(last, top, (height) => ticks(0, top, height / 45))
		const { x, y, floor, width, height } = box
		const samples = simple ? Array.from({ length: 61 }, (_, i) => (last * (i * i)) / 3600) : lines.map((l) => l.k)
		const curve = (of, ks = samples) => ks.map((k) => [x(k), y(of(k))])
		const inside = simple ? samples.filter((k) => k <= bound) : samples
		const wedge = [...curve(upper, inside), ...curve(lower, inside).reverse()]
		const meets = simple && bound <= last
		const [upName, lowName] = simple ? ["√k·R", "k·γ"] : ["limit of ‖w‖", "γ·Στ"]
		const at = simple ? last * 0.62 : run
		courses = ["norm", "along"].map((name) => [
			svg(`path.${name}`),
			svg(`circle.${name}`, { r: 3.5 }),
			svg(`text.${name}`, name === "norm" ? "‖w‖" : "w·u"),
		])
		const course = (key) => path(lines.map((l) => [x(l.k), y(l[key])]))
		const nodes = [
			...ticks(0, last, width / 70).map((k) => word("middle", x(k), height - 8, show(k))),
			svg("path.wedge", { d: `${path(wedge)}Z` }),
			svg("path.norm.limit", { d: path(curve(upper)) }),
			svg("path.along.limit", { d: path(curve(lower)) }),
			svg("path.norm.future", { d: course("norm") }),
			svg("path.along.future", { d: course("wu") }),
			...courses.flat(),
			word("norm.right", x(at) - 4, y(upper(at)) - 7, upName),
			word(simple ? "along" : "along.right", x(at) + 6, y(lower(at)) + 15, lowName),
			word("right", meets ? x(bound) - 50 : width - RIGHT, floor - 6, "k updates →"),
		]
		if (meets)
			nodes.push(
				svg("path.bound", { d: `M${x(bound)} ${TOP}V${floor}` }),
				svg("circle.meet", { cx: x(bound), cy: y(lower(bound)), r: 4 }),
				word("name.right", x(bound) - 6, floor - 6, "R²/γ²"),
			)
		const end = meets ? `; they meet at ${show(bound)} mistakes` : ""
		put(`The proof: ‖w‖ stays below ${upName}, w·u above ${lowName}${end}.`, nodes)
	}

	function follow(lines, k) {
		const { x, y } = box
		const apart = Math.abs(y(lines[k].norm) - y(lines[k].wu)) > 14 || k === 0
		const visibility = x(k) - x(0) > 24 ? "visible" : "hidden"
		courses.forEach(([line, dot, name], j) => {
			const key = j ? "wu" : "norm"
			const [px, py] = [x(k), y(lines[k][key])]
			set(line, { d: path(lines.slice(0, k + 1).map((l) => [x(l.k), y(l[key])])) })
			set(dot, { cx: px, cy: py })
			set(name, { x: px + 6, y: py + (apart ? 4 : j ? 12 : -4), visibility })
		})
	}

	find("axis").onclick = () => store.set({ whole: !store.state.whole })
	find("ledger-open").onclick = () => openBook(store)
	new ResizeObserver(() => {
		proof.shown = null
		render(store.state)
	}).observe(find("proof"))
	return proof
}
