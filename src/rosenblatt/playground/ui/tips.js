// One sentence about whatever has data-tip, on hover and on focus, and for screen readers as its description.

import { find, set } from "./node.js"

export function startTips() {
	const tip = find("tip")
	const hide = () => (tip.hidden = true)
	const show = (event) => {
		const node = event.target.closest?.("[data-tip]")
		if (!node) return hide()
		tip.textContent = node.dataset.tip
		tip.hidden = false
		const box = node.getBoundingClientRect()
		const { offsetWidth: width, offsetHeight: height } = tip
		const below = box.bottom + height + 8 < innerHeight
		tip.style.left = `${Math.max(4, Math.min(box.left, innerWidth - width - 8))}px`
		tip.style.top = `${below ? box.bottom + 4 : box.top - height - 4}px`
	}
	for (const node of document.querySelectorAll("[data-tip]")) set(node, { "aria-description": node.dataset.tip })
	for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, show)
	for (const kind of ["focusout", "scroll", "pointerdown"]) document.addEventListener(kind, hide, true)
	document.addEventListener("keydown", (e) => e.key === "Escape" && hide())
}
