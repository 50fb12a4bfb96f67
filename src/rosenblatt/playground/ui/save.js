// What can be taken away: the picture, the trace, the Python lines, the link.

import { writeScript } from "../engine/script.js"
import { writeLink } from "../engine/state.js"
import { writeTrace } from "../engine/table.js"
import { find, html, svg, tell } from "./node.js"

const PAINT =
	"fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-dasharray stroke-linecap stroke-linejoin " +
	"opacity visibility font-family font-size font-weight font-style text-anchor paint-order"

function give(name, type, content) {
	const href = URL.createObjectURL(new Blob([content], { type }))
	html("a", { href, download: name }).click()
	setTimeout(() => URL.revokeObjectURL(href), 1000)
}

// A copy that carries its colours with it, since the style sheet stays behind.
function painted(node) {
	const copy = node.cloneNode(true)
	const originals = node.querySelectorAll("*")
	copy.querySelectorAll("*").forEach((part, i) => {
		const style = getComputedStyle(originals[i])
		for (const name of PAINT.split(" ")) part.setAttribute(name, style.getPropertyValue(name))
		part.removeAttribute("class")
	})
	return copy.children
}

function drawing({ view, planes }) {
	const { width, height } = view
	const columns = planes.length > 1 ? 2 : 1
	const all = [columns * width + (columns - 1) * 12, Math.ceil(planes.length / columns) * (height + 26)]
	const { color, backgroundColor, fontFamily } = getComputedStyle(document.body)
	const root = svg(
		"svg",
		{ xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${all.join(" ")}`, width: all[0], height: all[1] },
		svg("rect", { width: all[0], height: all[1], fill: backgroundColor }),
	)
	planes.forEach((plane, j) => {
		const [x, y] = [(j % columns) * (width + 12), Math.floor(j / columns) * (height + 26)]
		const font = { "font-family": fontFamily, "font-size": 14, "font-weight": 600 }
		const title = `${plane.title.textContent}: ${plane.count.textContent}`
		root.append(
			svg("text", { x: x + 8, y: y + 17, fill: color, ...font }, title),
			svg("svg", { x, y: y + 24, width, height }, ...plane.sheets.map((sheet) => [...painted(sheet)])),
		)
	})
	return { text: new XMLSerializer().serializeToString(root), size: all }
}

async function asPng({ text, size }) {
	const image = new Image()
	image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }))
	await image.decode()
	const canvas = html("canvas", { width: size[0] * 2, height: size[1] * 2 })
	canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height)
	URL.revokeObjectURL(image.src)
	return new Promise((done) => canvas.toBlob(done))
}

async function copy(text, done) {
	try {
		await navigator.clipboard.writeText(text)
		tell(done)
	} catch {
		tell("The browser does not let this page copy: take the link from the address bar.", "error")
	}
}

function showScript(text) {
	find("script-text").textContent = text
	find("script-copy").onclick = () => copy(text, "The lines are copied.")
	find("script-save").onclick = () => give("perceptron.py", "text/x-python", text)
	find("script").showModal()
}

export function startSave(store, stage) {
	const menu = find("save")
	const ways = {
		svg: () => give("perceptron.svg", "image/svg+xml", drawing(stage).text),
		png: async () => give("perceptron.png", "image/png", await asPng(drawing(stage))),
		csv: () => give("trace.csv", "text/csv", writeTrace(store.trace)),
		py: () => showScript(writeScript(store.derived.traces)),
	}
	menu.addEventListener("click", ({ target: { dataset } }) => {
		if (!dataset.save) return
		menu.open = false
		const { points, names } = store.state
		const missing = names.find((_, c) => !points.some((p) => p.c === c))
		if (dataset.save === "csv" && !points.length) tell("There are no points yet, so there is no trace.", "error")
		else if (dataset.save === "py" && missing !== undefined)
			tell(`Class ${missing} has no points yet: Python learns only classes that it has seen.`, "error")
		else ways[dataset.save]()
	})
	menu.addEventListener("keydown", (e) => {
		if (e.key !== "Escape") return
		menu.open = false
		menu.firstElementChild.focus()
	})
	document.addEventListener("pointerdown", (e) => !menu.contains(e.target) && (menu.open = false))
	find("link-copy").onclick = () => {
		const link = new URL(writeLink(store.state), location.href.split(/[?#]/)[0]).href
		history.replaceState(null, "", link)
		copy(link, "The link is copied: it holds the points, the learners and the step.")
	}
}
