// Keys of the whole page. Controls keep their own.

import { find } from "./node.js"

const BUTTONS = {
	" ": "play",
	ArrowRight: "step",
	ArrowLeft: "back",
	Home: "first",
	End: "end",
	m: "mistake",
	f: "present",
	"?": "help-open",
}

export function startKeys(store, tool) {
	document.addEventListener("keydown", (event) => {
		const { target } = event
		if (event.altKey || document.querySelector("dialog:modal") || document.body.dataset.view !== "lab") return
		const name = event.key.length === 1 ? event.key.toLowerCase() : event.key
		if (event.ctrlKey || event.metaKey) {
			if (!"zy".includes(name) || target.matches("input[type=number]")) return
			if (name === "y" || event.shiftKey) store.redo()
			else store.undo()
		} else {
			const own = target.matches("input:not([type=checkbox]), select")
			if (own && (/^(Arrow|Home|End)/.test(name) || name.length === 1)) return
			if (name === " " && target.matches("button, summary, input, a, dialog *")) return
			const choice = name === "e" ? "erase" : name - 1
			const radio = document.querySelector(`#tools input[value="${choice}"]`)
			if (name in BUTTONS) find(BUTTONS[name]).click()
			else if (radio) {
				tool.choice = choice
				radio.checked = true
			} else return
		}
		event.preventDefault()
	})
}
