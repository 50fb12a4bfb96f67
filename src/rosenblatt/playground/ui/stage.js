// The planes, and what hands do in them, by pointer or by keys.

import { MOST_POINTS } from "../engine/table.js"
import { show } from "../engine/sentence.js"
import { clamp } from "../engine/vector.js"
import { announce, patch, path, tell } from "./node.js"
import { makePlane } from "./plane.js"
import { shapePath } from "./shape.js"
import { frameOf, makeView, snap } from "./view.js"

const NEAR = 14
// Arrow keys move a cursor or a point only where keys brought the reader into the plane, else they step.
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }

// `hands` may say what a click on a row or on an empty place does instead, and whether rows can be moved. With `arrows`
// the frame has room for w; where they are false they are not drawn.
export function makeStage(store, tool, board, hands = {}) {
	const stage = { planes: [], view: null, render, pick }
	const { planes } = stage
	let [frame, problem, edited, held, cursor, picked, keyed, tests] = [null, null, false, null, null, -1, false]

	function reframe(state) {
		const tips = hands.arrows && !edited ? store.trace.space.snapshots.flat().map(([x, y]) => ({ x, y })) : []
		const points = [...state.points, ...state.held, ...tips]
		const inside = ({ x, y }) => x >= frame.x0 && x <= frame.x1 && y >= frame.y0 && y <= frame.y1
		const next = edited && points.every(inside) ? frame : frameOf(points)
		if (JSON.stringify(next) !== JSON.stringify(frame)) stage.view = null
		;[frame, edited] = [next, false]
	}

	function arrange(count) {
		const box = board.getBoundingClientRect()
		if (box.width < 50) return
		const head = planes[0].node.firstChild.offsetHeight
		const fixed = getComputedStyle(board).getPropertyValue("--fixed") === "1"
		const layouts = (count > 1 && box.width > 520 ? [2, 1] : [1]).map((columns) => {
			const rows = Math.ceil(count / columns)
			const width = Math.floor((box.width - 8 * (columns - 1)) / columns) - 2
			const height = fixed ? (box.height - 8 * (rows - 1)) / rows - head - 2 : Math.min(width * 0.86, innerHeight * 0.7)
			return { columns, view: makeView(frame, width, Math.max(140, Math.floor(height))) }
		})
		const { columns, view } = fixed && layouts[1]?.view.sx > layouts[0].view.sx ? layouts[1] : layouts[0]
		board.style.gridTemplateColumns = `repeat(${columns}, 1fr)`
		stage.view = view
	}

	function render() {
		const { state, derived } = store
		const count = state.learners.length
		if (planes.length !== count) stage.view = null
		while (planes.length > count) planes.pop().node.remove()
		while (planes.length < count)
			board.append(planes[planes.push(makePlane(planes.length, hands.arrows !== false)) - 1].node)
		if (derived.problem !== problem || derived.tests !== tests) {
			;[problem, tests] = [derived.problem, derived.tests]
			reframe(state)
			if (picked >= state.points.length) picked = -1
		}
		if (!stage.view) arrange(count)
		if (!stage.view) return
		planes.forEach((plane, j) => {
			plane.node.classList.toggle("active", count > 1 && j === state.active)
			plane.render(store, stage.view)
		})
		stage.stretch = frame.stretch
		drawCursor()
	}

	function offset(plane, event) {
		const box = plane.picture.getBoundingClientRect()
		return [event.clientX - box.left, event.clientY - box.top]
	}

	function locate(event) {
		const plane = planes.find((p) => p.node.contains(event.target))
		if (!plane) return null
		const [px, py] = offset(plane, event)
		const row = plane.rowAt(px, py, event.pointerType === "touch" ? NEAR * 1.6 : NEAR)
		return { plane, px, py, row, head: py < 0 }
	}

	function place(px, py) {
		const { width, height, grain, toPlane } = stage.view
		const [x, y] = toPlane(clamp(px, 0, width), clamp(py, 0, height))
		return { x: snap(x, grain), y: snap(y, grain) }
	}

	function change(points, remember = true) {
		edited = true
		store.set({ points, data: null }, remember)
	}

	function moveRow(row, to, remember) {
		change(
			store.state.points.map((p, i) => (i === row ? { ...p, ...to } : p)),
			remember,
		)
	}

	function add(point, c) {
		if (hands.add === false) return
		const { points, names } = store.state
		if (points.length >= MOST_POINTS) return tell(`${MOST_POINTS} points are the most this page shows.`, "error")
		change([...points, { ...point, c }])
		announce(`Added a point of class ${names[c]} at ${show(point.x)}, ${show(point.y)}.`)
	}

	function remove(row) {
		if (hands.add === false) return
		change(store.state.points.filter((_, i) => i !== row))
		picked = -1
		announce(`Removed row ${row + 1}.`)
	}

	function pick(row) {
		const { points, names } = store.state
		const { x, y, c } = points[row]
		;[picked, cursor] = [row, { x, y }]
		drawCursor()
		stage.picked?.(row)
		announce(`Row ${row + 1}, class ${names[c]}, at ${show(x)}, ${show(y)}.`)
	}

	function down(event) {
		const at = event.button === 0 && locate(event)
		keyed = false
		if (!at) return
		const active = planes.indexOf(at.plane)
		if (active !== store.state.active) store.set({ active })
		if (at.head) return
		let { grip } = at.plane.arrows
		if (grip && Math.hypot(grip.cx - at.px, grip.cy - at.py) > NEAR) grip = null
		held = { ...at, grip, moved: false, erase: tool.choice === "erase" }
		board.setPointerCapture(event.pointerId)
		if (grip) store.remember()
	}

	function drag(event) {
		if (!held || held.erase) return
		const [px, py] = offset(held.plane, event)
		if (!held.moved && Math.hypot(px - held.px, py - held.py) < 4) return
		if (held.grip) {
			const start = [...held.grip.toWeights(px, py).map((v) => snap(v, 0.01)), store.learner.start[2]]
			store.set({ learners: store.changed({ start }) })
		} else if (held.row >= 0 && hands.move !== false) moveRow(held.row, place(px, py), !held.moved)
		else return
		held.moved = true
	}

	function up(event) {
		const { row, erase, moved, grip, px, py } = held ?? { moved: true }
		held = null
		if (moved || grip) return
		if (row >= 0) (erase ? remove : (hands.tap ?? pick))(row)
		else if (!erase) add(place(px, py), (tool.choice + event.shiftKey) % store.state.names.length)
	}

	function erase(event) {
		const at = locate(event)
		if (!at || at.head) return
		event.preventDefault()
		held = null
		if (at.row >= 0) remove(at.row)
	}

	function key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey) return
		const count = store.state.points.length
		const name = event.key.length === 1 ? event.key.toLowerCase() : event.key
		if (MOVES[name] && keyed) moveCursor(MOVES[name], stage.view.grain * (event.shiftKey ? 1 : 10))
		else if (name === "Enter" && picked >= 0 && hands.tap) hands.tap(picked)
		else if (name === "Enter" && cursor && tool.choice !== "erase") {
			picked = -1
			add(cursor, tool.choice)
		} else if (name === "n" && count) pick((picked + 1) % count)
		else if (name === "p" && count) pick((Math.max(picked, 0) - 1 + count) % count)
		else if ((name === "Delete" || name === "Backspace") && picked >= 0) remove(picked)
		else if (name === "Escape" && cursor) hideCursor()
		else return
		keyed = true
		event.preventDefault()
		event.stopPropagation()
	}

	function moveCursor([dx, dy], step) {
		const { width, height, toScreen } = stage.view
		const { x, y } = cursor ?? place(width / 2, height / 2)
		cursor = place(...toScreen(x + dx * step, y + dy * step))
		if (picked >= 0 && hands.move !== false) moveRow(picked, cursor)
		else announce(`${show(cursor.x)}, ${show(cursor.y)}`)
		drawCursor()
	}

	function hideCursor() {
		;[cursor, picked] = [null, -1]
		drawCursor()
		stage.picked?.(-1)
	}

	function drawCursor() {
		const nodes = []
		if (cursor) {
			const [x, y] = stage.view.toScreen(cursor.x, cursor.y)
			const { choice } = tool
			const cross = `M${x - 14} ${y}h10m8 0h10M${x} ${y - 14}v10m0 8v10`
			nodes.push(path("aim", picked >= 0 ? shapePath(1, 15, x, y) : cross))
			if (picked < 0 && choice !== "erase") nodes.push(path(`point class${choice}`, shapePath(choice, 4, x, y)))
		}
		for (const plane of planes) patch(plane.layers.cursor, nodes)
	}

	const acts = {
		pointerdown: down,
		pointermove: drag,
		pointerup: up,
		contextmenu: erase,
		keydown: key,
		blur: hideCursor,
		focus: () => (keyed = board.matches(":focus-visible")),
		pointercancel: () => (held = null),
	}
	for (const [kind, act] of Object.entries(acts)) board.addEventListener(kind, act)
	new ResizeObserver(() => {
		stage.view = null
		render()
	}).observe(board)
	return stage
}
