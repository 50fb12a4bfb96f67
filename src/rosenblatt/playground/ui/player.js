// Time that runs by itself. As a story, right rows pass quickly and mistakes linger, the first ones longest.

import { BY_HAND } from "./store.js"

export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches

function storyTime({ trace, state }, step) {
	const told = state.learners.length < 2 ? trace.taus[step - 1] : trace.mistakes[step - 1]
	const before = trace.mistakesAt(step) - 1
	return told ? Math.max(60, 1500 * 0.84 ** before) : Math.max(3, 45 * 0.93 ** before)
}

export function makePlayer(store, changed) {
	let frame = 0

	function wait(step) {
		const { speed } = store.state
		if (step === 0) return 350
		return speed === "story" ? storyTime(store, step) : 1000 / speed
	}

	// Time is owed by the clock: a slow frame does not slow the run.
	function start() {
		if (store.derived.last === 0 || store.playing) return
		if (store.state.step >= store.derived.last) store.set({ step: 0 })
		let [before, owed, due] = [performance.now(), 0, wait(store.state.step)]
		if (store.state.step > 0) due = Math.min(due, 200)
		const tick = (now) => {
			const { last } = store.derived
			let { step } = store.state
			// A frame may carry a time just before the click that started it, or long after a tab was hidden.
			owed += Math.min(250, Math.max(0, now - before))
			before = now
			while (owed >= due && step < last) {
				owed -= due
				step += 1
				due = wait(step)
			}
			frame = requestAnimationFrame(tick)
			store.pace = due
			if (step !== store.state.step) store.set({ step })
			if (step >= last) pause()
		}
		frame = requestAnimationFrame(tick)
		store.playing = true
		changed()
	}

	function pause() {
		if (!store.playing) return
		cancelAnimationFrame(frame)
		store.playing = false
		store.pace = BY_HAND
		changed()
		store.show()
	}

	return { start, pause, toggle: () => (store.playing ? pause() : start()) }
}
