// What an answer looks like: regions, boundary, margin band, shades of the score.

import { boxOf, clip, contour, jumpCut, lead, linearRegions, linePath, polygonPath } from "../engine/contour.js"
import { makeField } from "../engine/field.js"
import { target } from "../engine/rule.js"
import { patch, path } from "./node.js"

const MOST_VOTERS = 1500
const SHADES = [0.2, 0.4, 0.6, 0.8]

export function makeRegions(layers, picture) {
	let view, box, trace, t, verdict, hurried, shade, field, grid

	function put({ regions = [], shades = [], band = "", edges = "", ghost = "", raw = "", boundary = "" }) {
		patch(layers.regions, [...regions.map((d, k) => path(`region class${k}`, d)), ...shades])
		patch(layers.band, [path("band-fill", band), path("band-edge", edges)])
		patch(layers.lines, [path("ghost", ghost), path("raw", raw), path("boundary", boundary, { "data-light": "w" })])
	}

	function onScreen([a, b, c]) {
		const { sx, sy, toScreen } = view
		const [ox, oy] = toScreen(0, 0)
		return [a / sx, -b / sy, c - (a / sx) * ox + (b / sy) * oy]
	}

	const lineAt = (time) => linePath(onScreen(trace.weightsAt(time)[0]), box)

	// The larger the score, the deeper the color, in steps up to the largest score of a row.
	const shadeOf = (c, d) => path(`shade class${c}`, d)

	function drawStraight(W) {
		const { learner } = trace
		const binary = W.length === 1
		picture.classList.toggle("joint", !binary)
		if (W.flat().every((v) => v === 0)) return put({})
		const screen = W.map((w) => onScreen(w))
		const drawn = { regions: linearRegions(screen, box) }
		if (!binary) return put(drawn)
		drawn.boundary = linePath(screen[0], box)
		const [a, b, c] = screen[0]
		if (shade)
			drawn.shades = SHADES.flatMap((share) => [
				shadeOf(1, polygonPath(clip(box, [a, b, c - share * verdict.most]))),
				shadeOf(0, polygonPath(clip(box, [-a, -b, -c - share * verdict.most]))),
			])
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
		if (hurried || trace.updatesAt(t) > MOST_VOTERS) return undefined
		const votes = trace.voteAt(t)
		return jumpCut((px, py) => votes(...view.toPlane(px, py)) >= 0)
	}

	function drawCurved() {
		const { linear, learner } = trace
		const { keep } = learner
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
		const above = (sign, least) =>
			contour(
				grid,
				scores[0].map((v) => sign * v - least),
			)
		if (shade)
			drawn.shades = SHADES.flatMap((share) => [
				shadeOf(1, above(1, share * verdict.most).region),
				shadeOf(0, above(-1, share * verdict.most).region),
			])
		if (linear) drawn.raw = lineAt(t)
		else if (keep !== "vote" && !verdict.wrong.length)
			drawn.edges = above(1, verdict.least).edge + above(1, -verdict.least).edge
		put(drawn)
	}

	// `weights` may be on their way; what is not straight jumps.
	function draw(weights) {
		if (trace.straight) drawStraight(weights)
		else drawCurved()
	}

	function show(next) {
		if (next.trace !== trace || next.view !== view) field = null
		;({ view, trace, t, verdict, hurried, shade } = next)
		box = boxOf(-4, -4, view.width + 8, view.height + 8)
	}

	return { show, draw }
}
