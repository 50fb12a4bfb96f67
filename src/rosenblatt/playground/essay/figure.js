// A live figure of the essay: a store, its plane, the few controls it needs, and what is said below it.

import { plural } from "../engine/sentence.js"
import { readLink } from "../engine/state.js"
import { light, mark, startLight, words } from "../ui/light.js"
import { announce, html, set } from "../ui/node.js"
import { makePlayer } from "../ui/player.js"
import { makeStage } from "../ui/stage.js"
import { Store } from "../ui/store.js"
import { kindOf, tint } from "./kinds.js"

export const sayPoint = (row) => mark(`row-${row}`, `Point ${row + 1}`)

export const mistakes = ({ store }) => plural(store.trace.mistakesAt(Infinity), "mistake")
export const soFar = ({ trace, state }) => plural(trace.mistakesAt(state.step), "mistake")
export const isMoved = ({ store }) => store.state.data === null
export const isOver = ({ store: { trace, state } }) => trace.converged && state.step >= trace.length

// The step in plain words.
export function tellStep({ store: { trace, state } }) {
	const s = Math.min(state.step, trace.length) - 1
	if (s < 0) return "Nothing learned yet."
	if (s + 1 === trace.length && trace.converged)
		return `A whole round is right: done, after ${plural(trace.mistakeCounts[s], "mistake")}.`
	const moves = trace.problem.classes > 2 ? "borders move" : "line moves"
	const end = trace.mistakes[s] ? `Wrong: the ${moves}.` : "Right: nothing changes."
	return `${sayPoint(trace.rows[s])} is ${kindOf(trace, trace.rows[s])}. ${end}`
}

export function makeFigure({ link, hands = {}, tell = tellStep, controls = ["play"], about }) {
	const store = new Store(readLink(link))
	const name = `${about} N and P pick points, arrow keys move them, Enter acts.`
	const board = html("div.board", { tabindex: 0, role: "application", "aria-label": name })
	const [said, row] = [html("p.said"), html("div.controls")]
	const node = html("div.figure", board, row, said)
	const player = makePlayer(store, label)
	const figure = {
		store,
		board,
		node,
		controls: row,
		said,
		tool: { choice: 1 },
		views: [],
		player,
		button,
		slider,
		tellAgain,
	}
	const tap = hands.tap && ((row) => hands.tap(figure, row))
	figure.stage = makeStage(store, figure.tool, board, { add: false, arrows: false, ...hands, tap })
	figure.stage.picked = (row) => light(node, row < 0 ? [] : [`row-${row}`])

	function button(text, onclick, attributes) {
		const made = html("button", { onclick, ...attributes }, tint(text))
		row.append(made)
		return made
	}

	function slider(text, name, [min, max, step, value], act) {
		const limits = { type: "range", min, max, step, value, "aria-label": name }
		const input = html("input", { ...limits, oninput: () => act(Number(input.value)) })
		row.append(html("label.slide", html("span", text), input))
		return input
	}

	// From the row before, so that the step is told as a story.
	function tellAgain(step = 1) {
		player.pause()
		store.set({ step: step - 1 })
		store.set({ step })
		announce(said.textContent)
	}

	const next = () => tellAgain(store.trace.nextMistake(store.state.step % store.trace.length))
	for (const way of controls)
		if (way === "play") figure.play = button("Play", player.toggle, { class: "accent" })
		else if (way === "next") button("Next mistake", next)
		else button(way, () => tellAgain(), { class: "accent" })

	function label() {
		if (!figure.play) return
		const name = store.playing ? "Pause" : store.state.step < store.derived.last ? "Play" : "Play again"
		if (figure.play.textContent === name) return
		figure.play.textContent = name
		set(figure.play, { "aria-label": `${name}: ${about.toLowerCase()}` })
	}

	function say(text) {
		const parts = words(text, store.trace.rows[store.state.step - 1])
		said.replaceChildren(...parts.flatMap((part) => (part.tagName ? part : tint(part))))
	}

	function render() {
		label()
		const text = tell(figure)
		if (figure.told !== text) say(text)
		figure.told = text
		for (const view of figure.views) view.render()
		figure.watch?.()
	}
	store.views = [figure.stage, { calm: true, render }]
	startLight(node)
	return figure
}
