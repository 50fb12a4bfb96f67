// The controls of time.

import { plural, sayStep } from "../engine/sentence.js"
import { SPEEDS } from "../engine/state.js"
import { clamp } from "../engine/vector.js"
import { announce, find, html, picture, set, svg, tell } from "./node.js"
import { makePlayer } from "./player.js"
import { makeTimeline } from "./timeline.js"

export function makeTransport(store) {
	const speed = find("speed")
	const { pause, toggle } = makePlayer(store, draw)
	const timeline = makeTimeline(store, pause)

	function draw() {
		const [name, icon] = store.playing ? ["Pause", "M7 5h4v14H7zM14 5h4v14h-4z"] : ["Play", "M7 4l13 8-13 8z"]
		set(play, { "aria-label": name, "data-tip": `${name} (Space).` })
		set(play.querySelector("path"), { d: icon })
	}

	function go(step) {
		pause()
		const to = clamp(step, 0, store.derived.last)
		if (to === store.state.step) return
		store.set({ step: to })
		announce(sayStep(store.trace, to))
	}

	const move = (by) => go(store.state.step + by)
	const toMistake = () => go(store.trace.nextMistake(store.state.step))

	function toEnd() {
		const { length, converged, epochMistakes, learner } = store.trace
		const mistakes = plural(store.trace.mistakesAt(length), "mistake")
		const never = store.margin(learner)?.certificate?.verdict === "not separable"
		const why = never ? "No line can do it, so it would go on for ever." : "More epochs may do it."
		pause()
		store.set({ step: length })
		if (converged) announce(`Converged at step ${length} after ${mistakes}.`)
		else if (length) tell(`Not converged: ${plural(epochMistakes.length, "epoch")} and ${mistakes}. ${why}`)
	}

	function render(state, derived) {
		timeline.render(state, derived)
		if (store.resting) return
		speed.value = state.speed
		const said = (step, epoch) => `step ${step} / ${derived.last} · epoch ${epoch}`
		find("where").textContent = said(state.step, store.trace.epochAt(state.step))
		// As wide as it will ever be, so that nothing beside it moves.
		find("where").style.minWidth = `${said(derived.last, store.trace.epochMistakes.length).length}ch`
	}

	const glyph = (d) => picture("0 0 24 24", svg("path", { d }))
	const button = (id, name, key, icon, onclick) =>
		html("button.icon", { id, "aria-label": name, "data-tip": `${name} (${key}).`, onclick }, glyph(icon))
	const play = button("play", "Play", "Space", "", toggle)
	play.classList.add("accent", "big")
	find("keys").prepend(
		button("first", "To the start", "Home", "M6 5v14M19 5L9 12l10 7z", () => go(0)),
		button("back", "One step back", "←", "M17 5L7 12l10 7z", () => move(-1)),
		play,
		button("step", "One step", "→", "M7 5l10 7-10 7z", () => move(1)),
		button("mistake", "To the next mistake", "M", "M4 6l7 6-7 6zM14 8l6 8M20 8l-6 8", toMistake),
		button("end", "To the end", "End", "M5 5l10 7-10 7zM19 5v14", toEnd),
	)
	speed.append(...SPEEDS.map((v) => html("option", { value: v }, v === "story" ? "as a story" : `${v} steps/s`)))
	speed.onchange = () => store.set({ speed: SPEEDS.find((v) => String(v) === speed.value) })
	draw()
	return { render, pause }
}
