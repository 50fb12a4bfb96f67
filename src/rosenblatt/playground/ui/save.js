// What can be taken away: pictures, a film, the trace, the Python lines, the link.

import { writeScript } from "../engine/script.js"
import { writeLink } from "../engine/state.js"
import { writeTrace } from "../engine/table.js"
import { find, html, tell } from "./node.js"
import { asGif, asPng, asWebm, drawing, makeFrames } from "./picture.js"

function give(name, type, content) {
	const href = URL.createObjectURL(new Blob([content], { type }))
	html("a", { href, download: name }).click()
	setTimeout(() => URL.revokeObjectURL(href), 1000)
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

export function startSave(store, stage, transport) {
	const menu = find("sheet")
	const film = async (kind, make) => {
		transport.pause()
		tell("The film is being made …")
		try {
			give(`perceptron.${kind.slice(6)}`, kind, await make(await makeFrames(store, stage)))
			tell("The film is made: a frame for every update.")
		} catch (error) {
			tell(`This browser cannot make the film: ${error.message}. Take the GIF instead.`, "error")
		}
	}
	const ways = {
		svg: () => give("perceptron.svg", "image/svg+xml", drawing(stage).text),
		png: async () => give("perceptron.png", "image/png", await asPng(drawing(stage))),
		gif: () => film("image/gif", asGif),
		webm: () => film("video/webm", asWebm),
		csv: () => give("trace.csv", "text/csv", writeTrace(store.trace)),
		py: () => showScript(writeScript(store.derived.traces)),
	}
	menu.addEventListener("click", ({ target: { dataset } }) => {
		if (!dataset.save) return
		menu.hidePopover()
		const { points, names } = store.state
		const missing = names.find((_, c) => !points.some((p) => p.c === c))
		if (["csv", "gif", "webm"].includes(dataset.save) && !points.length)
			tell(`There are no points yet, so there is no ${dataset.save === "csv" ? "trace" : "film"}.`, "error")
		else if (dataset.save === "py" && missing !== undefined)
			tell(`Class ${missing} has no points yet: Python learns only classes that it has seen.`, "error")
		else ways[dataset.save]()
	})
	find("link-copy").onclick = () => {
		const link = new URL(writeLink(store.state), location.href.split(/[?#]/)[0]).href
		history.replaceState(null, "", link)
		copy(link, "The link is copied: it holds the points, the learners and the step.")
	}
}
