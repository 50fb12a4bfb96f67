// What belongs together lights up together: a number in a sentence, its point, its tick, its line in the ledger, its
// arrow. Elements say what they show in data-light, as words: row-3, x, w, score.

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
