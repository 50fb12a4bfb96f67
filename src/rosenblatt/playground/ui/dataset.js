// The panel of points, and the verdict on them.

import { holdOut, LIMITS, makePreset, PRESETS } from "../engine/presets.js"
import { makeRandom } from "../engine/random.js"
import { show } from "../engine/sentence.js"
import { presetState } from "../engine/state.js"
import { MOST_CLASSES } from "../engine/table.js"
import { mark, words } from "./light.js"
import { announce, check, field, find, html, picture, same, set, svg, tipped } from "./node.js"
import { shapePath } from "./shape.js"
import { frameOf, makeView } from "./view.js"

const TITLES = {
	n: ["Points", "How many points there are."],
	margin: ["Gap", "How far the points stay away from the best line, on either side."],
	noise: ["Noise", "How far the classes run into one another."],
	held: ["Held out", "The share of points only judged by, not learned from: the small ones."],
	seed: ["Random seed", "Another number draws other points of the same kind."],
}

const ABOUT = {
	and: "1 where both switches are on.",
	or: "1 where any switch is on.",
	xor: "1 where exactly one is on: no line can do it.",
	blobs: "Two clouds, and a gap.",
	moons: "Two crescents: a line cannot, a curve can.",
	circles: "One class around the other.",
	three: "Three clouds, an arrow for each.",
	noise: "Two clouds that overlap: no line is right.",
	drift: "A stream: the true line turns, and old points fade.",
}

const symbol = (c, size, x, y) => svg(`path.point.class${c}`, { d: shapePath(c, size, x, y) })

function thumbnail(name) {
	const { points } = makePreset(name, { n: 44 })
	const { toScreen } = makeView(frameOf(points), 56, 38)
	return picture("0 0 56 38", ...points.map((p) => symbol(p.c, points.length > 10 ? 1.7 : 3.6, ...toScreen(p.x, p.y))))
}

function mix(parts) {
	const total = parts.reduce((sum, p) => sum + Number(p.lambda), 0)
	return parts.map((p) => `${show(Number(p.lambda) / total)}·${mark(`row-${p.row}`, `row ${p.row + 1}`)}`).join(" + ")
}

// Why no weights can do it; with an offset, two mixtures of rows are one point.
function reason(parts, points, meet) {
	if (!meet) return `Σ λ·y·x = 0 with λ = ${mix(parts)}, so no weights give all of them a positive margin.`
	const sides = [0, 1].map((c) => mix(parts.filter((p) => points[p.row].c === c)))
	return `${sides.join(" = ")}, one point that would be on both sides.`
}

export function makeDataset(store, tool) {
	const dataset = { calm: true, render }
	const order = new WeakMap()
	let [shuffles, preset, inputs, named, placed] = [0, null, [], null, 0]

	// A stream is gone over once. XOR opens on its proof.
	function choose(name) {
		const { epochs, data } = store.state
		const once = name === "drift" ? 1 : data?.preset === "drift" ? 100 : epochs
		store.set({ ...presetState(name), epochs: once, step: 0, proof: name === "xor" }, true)
		announce(`${PRESETS[name].title}: ${store.state.points.length} points.`)
	}

	const tiles = Object.entries(PRESETS).map(([name, { title }]) =>
		html(
			"button.tile",
			{ "data-preset": name, ...tipped(ABOUT[name]), onclick: () => choose(name) },
			thumbnail(name),
			title,
		),
	)
	const shadeTip = "The larger the score, the deeper the color."
	const shading = check("shade", "Shade by score", false, (on) => store.set({ shade: on }), shadeTip)
	find("presets").append(...tiles)
	find("toolbar").append(shading)
	find("undo").onclick = store.undo
	find("redo").onclick = store.redo
	find("shuffle").onclick = () => {
		store.set({ points: makeRandom(++shuffles).shuffled(store.state.points), data: null }, true)
		announce("The rows are in another order.")
	}
	find("clear").onclick = () => {
		const names = store.state.names.length === 2 ? store.state.names : ["-1", "+1"]
		store.set({ points: [], held: [], of: 0, data: null, names, step: 0, axes: null }, true)
		announce("All points removed.")
	}

	// The points of one's own, in the order they came in.
	function everything({ points, held }) {
		const all = [...points, ...held]
		for (const p of all) if (!order.has(p)) order.set(p, placed++)
		return all.sort((p, q) => order.get(p) - order.get(q))
	}

	function render({ data, names, points, held, proof, of, shade }, { problem }) {
		for (const tile of tiles) set(tile, { "aria-pressed": data?.preset === tile.dataset.preset })
		find("undo").disabled = store.past.length === 0
		find("redo").disabled = store.future.length === 0
		const all = points.length + held.length
		renderSliders(data ?? { preset: all > 3 ? "own" : "", options: all > 3 ? { held: held.length / all } : {} })
		if (names !== named) renderTools(names)
		shading.querySelector("input").checked = shade
		if (!same(dataset, problem, store.learner, proof)) renderVerdict(names, points, proof, store.learner, of)
	}

	function renderSliders({ preset: name, options }) {
		if (name !== preset) {
			preset = name
			inputs = Object.keys(options).map(slider)
			find("sliders").replaceChildren(
				...inputs.map((input) => field(TITLES[input.name][0], input, TITLES[input.name][1], html("output"))),
			)
		}
		for (const input of inputs) {
			input.value = options[input.name]
			const share = input.name === "held"
			input.nextSibling.textContent = share ? `${Math.round(100 * options.held)} %` : show(options[input.name])
		}
	}

	function slider(name) {
		const [min, max, step] = LIMITS[name]
		// One undo for a whole pull of the slider.
		const remember = (e) => (e.type === "pointerdown" || e.key.startsWith("Arrow")) && store.remember()
		const oninput = (e) => {
			const { data } = store.state
			if (!data) return store.set({ ...holdOut(everything(store.state), Number(e.target.value)), step: 0 })
			store.set({ ...presetState(data.preset, { ...data.options, [name]: Number(e.target.value) }), step: 0 })
		}
		const limits = { type: "range", name, "aria-label": TITLES[name][0], min, max, step }
		return html("input", { ...limits, oninput, onpointerdown: remember, onkeydown: remember })
	}

	function renderTools(names) {
		named = names
		if (tool.choice >= names.length) tool.choice = 0
		const radio = (value, ...inside) => {
			const act = { checked: tool.choice === value, onchange: () => (tool.choice = value) }
			return html("label.tool", html("input", { type: "radio", name: "tool", value, ...act }), html("span", inside))
		}
		const classes = names.map((name, c) => radio(c, picture("-9 -9 18 18", symbol(c, 6)), name))
		const add = html(
			"button",
			{ "aria-label": "Add a class", ...tipped("One more class, six at most."), onclick: addClass },
			"+",
		)
		find("tools").replaceChildren(...classes, radio("erase", "Erase"), names.length < MOST_CLASSES ? add : "")
	}

	function addClass() {
		const { names } = store.state
		const name = [..."ABCDEF"].find((n, j) => j >= names.length && !names.includes(n)) ?? `class ${names.length + 1}`
		tool.choice = names.length
		store.set({ names: [...names, name], data: null }, true)
		announce(`Class ${name} added: click in the plane to give it points.`)
	}

	function renderVerdict(names, points, proof, learner, of) {
		const margin = store.margin(learner)
		const lift = learner.kernel !== "linear"
		const verdict = !margin ? "" : lift ? (margin.low > 0 ? "separable" : "undecided") : margin.certificate.verdict
		const shown = of ? `, for the ${points.length} rows learned from of ${of}` : ""
		let [head, said, more] = ["", "No points yet.", ""]
		if (verdict === "separable") {
			const most = store.most(learner)
			const figures = {
				"best margin γ": show(margin.low),
				"radius R": show(Math.sqrt(margin.R2)),
				"most mistakes R²/γ²": most === null ? "no bound" : show(most),
			}
			;[head, said] = lift ? ["Separable in the kernel's space.", ""] : ["Separable.", ` Checked exactly${shown}.`]
			more = html(
				"dl",
				Object.entries(figures).flatMap(([k, v]) => [html("dt", k), html("dd", v)]),
			)
		} else if (verdict === "not separable") {
			const plain = names.length === 2 && learner.intercept
			head = learner.intercept ? "Not separable." : "Not separable through the origin."
			said = ` Exact proof${of ? ", so neither are all rows" : ""}: ${reason(margin.certificate.parts, points, plain)}`
			if (plain)
				more = check("proof", "Show why", proof, (on) => store.set({ proof: on }), "Draws the proof on the points.")
		} else if (lift && margin) said = "No margin was found in the kernel's space."
		else if (margin) said = "Too close to call: rounding hides the answer."
		find("verdict").dataset.verdict = verdict
		find("verdict").replaceChildren(html("p", html("strong", head), words(said)), more)
	}

	return dataset
}
