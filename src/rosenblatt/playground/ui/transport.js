// The controls of time.

import { epochAt, mistakesAt, nextMistake } from "../engine/learn.js"
import { sayStep } from "../engine/sentence.js"
import { SPEEDS } from "../engine/state.js"
import { clamp } from "../engine/vector.js"
import { announce, find, html, picture, set, svg } from "./node.js"
import { makeTimeline } from "./timeline.js"

export function makeTransport(store) {
	const speed = find("speed")
	const timeline = makeTimeline(store, pause)
	let frame = 0

	function draw() {
		const [name, icon] = store.playing ? ["Pause", "M7 5h4v14H7zM14 5h4v14h-4z"] : ["Play", "M7 4l13 8-13 8z"]
		set(play, { "aria-label": name, title: `${name} (Space)` })
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
	const toMistake = () => go(nextMistake(store.trace, store.state.step))

	function toEnd() {
		const { length, converged, epochMistakes } = store.trace
		const mistakes = mistakesAt(store.trace, length)
		pause()
		store.set({ step: length })
		announce(
			converged
				? `Converged at step ${length} after ${mistakes} mistakes.`
				: `Not converged after ${epochMistakes.length} epochs and ${mistakes} mistakes.`,
		)
	}

	// Steps are owed by the clock and taken once a frame: a slow frame does not slow the run.
	function start() {
		if (store.derived.last === 0) return
		if (store.state.step >= store.derived.last) store.set({ step: 0 })
		let [before, owed] = [performance.now(), 0]
		const tick = (now) => {
			// A frame may carry a time just before the click that started it.
			owed += (Math.max(0, now - before) / 1000) * store.state.speed
			before = now
			const whole = Math.floor(owed)
			owed -= whole
			frame = requestAnimationFrame(tick)
			if (whole) store.set({ step: Math.min(store.derived.last, store.state.step + whole) })
			if (store.state.step >= store.derived.last) pause()
		}
		frame = requestAnimationFrame(tick)
		store.playing = true
		draw()
	}

	function pause() {
		if (!store.playing) return
		cancelAnimationFrame(frame)
		store.playing = false
		draw()
		store.show()
	}

	function render(state, derived) {
		timeline.render(state, derived)
		if (store.resting) return
		speed.value = state.speed
		find("where").textContent = `step ${state.step} / ${derived.last} · epoch ${epochAt(store.trace, state.step)}`
	}

	const glyph = (d) => picture("0 0 24 24", svg("path", { d }))
	const button = (id, name, key, icon, onclick) =>
		html("button.icon", { id, "aria-label": name, title: `${name} (${key})`, onclick }, glyph(icon))
	const play = button("play", "Play", "Space", "", () => (store.playing ? pause() : start()))
	play.classList.add("accent", "big")
	find("keys").prepend(
		button("first", "To the start", "Home", "M6 5v14M19 5L9 12l10 7z", () => go(0)),
		button("back", "One step back", "←", "M17 5L7 12l10 7z", () => move(-1)),
		play,
		button("step", "One step", "→", "M7 5l10 7-10 7z", () => move(1)),
		button("mistake", "To the next mistake", "M", "M4 6l7 6-7 6zM14 8l6 8M20 8l-6 8", toMistake),
		button("end", "To convergence", "End", "M5 5l10 7-10 7zM19 5v14", toEnd),
	)
	speed.append(...SPEEDS.map((v) => html("option", { value: v }, `${v}/s`)))
	speed.onchange = () => store.set({ speed: Number(speed.value) })
	draw()
	return { render, pause }
}
