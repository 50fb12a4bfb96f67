// What belongs together lights up together: a number in a sentence, its point, its tick, its line in the ledger, its
// arrow. Elements say what they show in data-light, as words: row-3, x, w, score.

import { html } from "./node.js"

// Marked words travel through a sentence between control characters. `kind` is row, x, w, score, or a row by its number.
export const mark = (kind, text) => `\u0001${kind}\u0002${text}\u0001`

// The sentence as nodes; its words light up what they are about. `row` is the row of this step.
export function words(text, row) {
	return text.split("\u0001").map((part) => {
		const [kind, said] = part.split("\u0002")
		if (said === undefined) return part
		const about = /^(w|row-.*)$/.test(kind) ? kind : `${kind} row-${row}`
		return html("b.word", { tabindex: 0, "data-light": about }, said)
	})
}

export function light(root, words) {
	for (const node of root.querySelectorAll(".lit")) node.classList.remove("lit")
	for (const word of words)
		for (const node of root.querySelectorAll(`[data-light~="${word}"]`)) node.classList.add("lit")
}

export function startLight(root) {
	const wordsOf = (event) => event.target.closest?.("[data-light]")?.dataset.light.split(" ") ?? []
	for (const kind of ["pointerover", "focusin"]) root.addEventListener(kind, (event) => light(root, wordsOf(event)))
	for (const kind of ["pointerleave", "focusout"]) root.addEventListener(kind, () => light(root, []))
}
