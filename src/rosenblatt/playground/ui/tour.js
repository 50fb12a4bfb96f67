// The guided tour: each scene is a link that is opened in place.

import { readLink } from "../engine/state.js"
import { announce, find, html, same, set } from "./node.js"
import { SCENES } from "./scenes.js"

const rich = (text) => text.split("*").map((part, j) => (j % 2 ? html("em", part) : part))

export function makeTour(store, transport) {
	const [root, button] = [find("tour"), find("tour-open")]
	const tour = { calm: true, render }

	function open(scene) {
		if (scene > SCENES.length) return close()
		const { link, title } = SCENES[scene - 1]
		transport.pause()
		store.set({ ...readLink(link), scene }, true)
		root.querySelector("h2").focus()
		announce(`Scene ${scene} of ${SCENES.length}: ${title}`)
	}

	function close() {
		store.set({ scene: 0 })
		button.focus()
		announce("The tour is closed.")
	}

	function render({ scene }) {
		if (same(tour, scene)) return
		root.hidden = scene === 0
		document.body.classList.toggle("touring", scene > 0)
		set(button, { "aria-pressed": scene > 0 })
		if (!scene) return
		const { title, text, task } = SCENES[scene - 1]
		const step = (id, name, onclick, more) => html("button", { id: `tour-${id}`, onclick, ...more }, name)
		const dot = (s, j) => {
			const current = j + 1 === scene ? "step" : null
			const names = { "aria-label": `Scene ${j + 1}: ${s.title}`, "aria-current": current }
			return html("button.dot", { ...names, onclick: () => open(j + 1) })
		}
		root.replaceChildren(
			html("p.where", `Scene ${scene} of ${SCENES.length}`),
			html("h2", { id: "tour-title", tabindex: -1 }, title),
			...text.map((part) => html("p", rich(part))),
			html("p.task", html("strong", "Try: "), task),
			html(
				"div.row",
				step("back", "Back", () => open(scene - 1), { disabled: scene === 1 }),
				step("next", scene < SCENES.length ? "Next" : "Finish", () => open(scene + 1), { class: "accent" }),
				step("close", "Close", close),
			),
			html("div.dots", SCENES.map(dot)),
		)
		root.scrollTop = 0
	}

	button.onclick = () => (store.state.scene ? close() : open(1))
	root.addEventListener("keydown", (e) => e.key === "Escape" && close())
	return tour
}
