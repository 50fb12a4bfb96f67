// The planes as one picture that stands by itself: SVG, PNG, or a film of the whole run.

import { encodeGif, makePalette } from "../engine/gif.js"
import { encodeWebm } from "../engine/webm.js"
import { html, svg } from "./node.js"

const PAINT =
	"fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-dasharray " +
	"opacity visibility font-family font-size font-weight font-style text-anchor paint-order"
const MOST_FRAMES = 60
const FILM_WIDTH = 640

// A copy that carries its colors with it, since the style sheet stays behind.
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

export function drawing({ view, planes }) {
	const { width, height } = view
	const columns = planes.length > 1 ? 2 : 1
	// The name and the count in two lines: one would be cut where planes are narrow.
	const head = 44
	const all = [columns * width + (columns - 1) * 12, Math.ceil(planes.length / columns) * (height + head)]
	const { color, backgroundColor, fontFamily } = getComputedStyle(document.body)
	const root = svg(
		"svg",
		{ xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${all.join(" ")}`, width: all[0], height: all[1] },
		svg("rect", { width: all[0], height: all[1], fill: backgroundColor }),
	)
	planes.forEach((plane, j) => {
		const [x, y] = [(j % columns) * (width + 12), Math.floor(j / columns) * (height + head)]
		const font = { fill: color, "font-family": fontFamily, "font-size": 14 }
		root.append(
			svg("text", { x: x + 8, y: y + 17, ...font, "font-weight": 600 }, plane.title.textContent),
			svg("text", { x: x + 8, y: y + 35, ...font }, plane.count.textContent),
			svg("svg", { x, y: y + head - 2, width, height }, ...plane.sheets.map((sheet) => [...painted(sheet)])),
		)
	})
	return { text: new XMLSerializer().serializeToString(root), size: all }
}

async function paint({ text, size }, scale) {
	const image = new Image()
	image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }))
	await image.decode()
	const canvas = html("canvas", { width: Math.round(size[0] * scale), height: Math.round(size[1] * scale) })
	canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height)
	URL.revokeObjectURL(image.src)
	return canvas
}

export async function asPng(picture) {
	const canvas = await paint(picture, 2)
	return new Promise((done) => canvas.toBlob(done))
}

// A frame for every update, or as many as fit, evenly taken. The first mistakes stay longest, as in the story.
export async function makeFrames(store, stage) {
	const [{ step }, pace] = [store.state, store.pace]
	const { updateSteps, length } = store.trace
	const every = Math.ceil(updateSteps.length / MOST_FRAMES)
	const steps = [...new Set([0, ...updateSteps.filter((_, j) => j % every === 0), length])]
	const frames = []
	store.pace = 0
	for (const [j, now] of steps.entries()) {
		store.set({ step: now })
		const picture = drawing(stage)
		const canvas = await paint(picture, Math.min(1, FILM_WIDTH / picture.size[0]))
		frames.push({ canvas, seconds: now === length ? 2.5 : Math.max(0.12, 1.1 * 0.84 ** j) })
	}
	store.set({ step })
	store.pace = pace
	return frames
}

export function asGif(frames) {
	const { width, height } = frames[0].canvas
	const images = frames.map(({ canvas }) => canvas.getContext("2d").getImageData(0, 0, width, height).data)
	const palette = makePalette([images[0], images[images.length >> 1], images.at(-1)])
	const made = images.map((data, j) => ({ pixels: palette.pixels(data), delay: Math.round(100 * frames[j].seconds) }))
	return encodeGif(width, height, palette, made)
}

// The last frame is given twice, so that every player shows it as long as it should. An error comes out of `flush`.
export async function asWebm(frames) {
	const [width, height] = ["width", "height"].map((side) => frames[0].canvas[side] & ~1)
	const made = []
	const output = (chunk) => {
		const bytes = new Uint8Array(chunk.byteLength)
		chunk.copyTo(bytes)
		made.push({ bytes, at: chunk.timestamp / 1000, key: chunk.type === "key" })
	}
	const encoder = new VideoEncoder({ output, error() {} })
	encoder.configure({ codec: "vp8", width, height, bitrate: 4e6 })
	let at = 0
	for (const [j, { canvas, seconds }] of [...frames, frames.at(-1)].entries()) {
		if (j === frames.length) at -= 50
		const frame = new VideoFrame(canvas, { timestamp: 1000 * at, visibleRect: { x: 0, y: 0, width, height } })
		encoder.encode(frame)
		frame.close()
		at += Math.round(1000 * seconds)
	}
	await encoder.flush()
	return encodeWebm(width, height, made, made.at(-1).at + 50)
}
