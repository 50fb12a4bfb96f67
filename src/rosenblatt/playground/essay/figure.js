// A live figure of the essay: a store, its plane, the few controls it needs, and what is said below it.

import { nextMistake } from "../engine/learn.js"
import { classOf } from "../engine/problem.js"
import { readLink } from "../engine/state.js"
import { light, startLight } from "../ui/light.js"
import { html, set } from "../ui/node.js"
import { makePlayer } from "../ui/player.js"
import { makeStage } from "../ui/stage.js"
import { BY_HAND, Store } from "../ui/store.js"

export const KINDS = ["■ orange", "● blue", "▲ green"]
export const kindOf = (trace, row) => KINDS[classOf(trace.problem, row)]

// The step in plain words.
export function tellStep({ store }) {
	const { trace } = store
	const step = Math.min(store.state.step, trace.length)
	if (step === 0) return "Nothing learned yet."
	const row = trace.rows[step - 1]
	const kind = kindOf(trace, row)
	if (step === trace.length && trace.converged)
		return `A whole round without a mistake: done, after ${trace.mistakeCounts.at(-1)}.`
	if (!trace.mistakes[step - 1]) return `Point ${row + 1} is ${kind}. Right: nothing changes.`
	return `Point ${row + 1} is ${kind}. Wrong: the line moves.`
}

export function makeFigure({ link, hands = {}, tell = tellStep, controls = ["play"], about, kind = 1 }) {
	const store = new Store(readLink(link))
	const name = `${about} N and P pick points, arrow keys move them, Enter acts.`
	const board = html("div.board", {
		tabindex: 0,
		role: "application",
		"aria-roledescription": "figure",
		"aria-label": name,
	})
	const said = html("p.said")
	const row = html("div.controls")
	const node = html("div.figure", board, row, said)
	const figure = {
		store,
		board,
		node,
		controls: row,
		said,
		tool: { choice: kind },
		views: [],
		button,
		slider,
		restart,
		watch: null,
	}
	const player = makePlayer(store, label)
	const own = {}
	for (const key of Object.keys(hands))
		own[key] = typeof hands[key] === "function" ? (v) => hands[key](figure, v) : hands[key]
	figure.stage = makeStage(store, figure.tool, board, { add: false, ...own })
	figure.stage.picked = (row) => light(node, row < 0 ? [] : [`row-${row}`])
	figure.player = player

	function button(text, onclick, attributes = {}) {
		const made = html("button", { onclick, ...attributes }, text)
		row.append(made)
		return made
	}

	function slider(text, limits, oninput) {
		const input = html("input", { type: "range", ...limits, oninput: () => oninput(Number(input.value)) })
		row.append(html("label.slide", html("span", text), input))
		return input
	}

	function restart() {
		player.pause()
		store.set({ step: 0 })
		player.start()
	}

	const ways = {
		play: () => (figure.play = button("Play", () => player.toggle(), { class: "accent" })),
		next: () =>
			button("Next mistake", () => {
				player.pause()
				const { trace } = store
				const next = nextMistake(trace, store.state.step)
				// From the row before, so that the step is told.
				store.set({ step: store.state.step >= trace.length ? 0 : next - 1 })
				store.pace = BY_HAND
				store.set({ step: store.state.step + 1 })
			}),
	}
	for (const way of controls) ways[way]()

	function label() {
		if (!figure.play) return
		const { step } = store.state
		const name = store.playing ? "Pause" : step >= store.derived.last ? "Play again" : "Play"
		if (figure.play.textContent !== name) figure.play.textContent = name
		set(figure.play, { "aria-label": `${name}: ${about.split(".")[0].toLowerCase()}` })
	}

	const words = {
		calm: true,
		render() {
			label()
			const text = tell(figure)
			if (said.textContent !== text) said.textContent = text
			for (const view of figure.views) view.render(store.state, store.derived)
			figure.watch?.()
		},
	}
	store.views = [figure.stage, words]
	startLight(node)
	return figure
}
