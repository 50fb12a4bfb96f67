// Dark or light: the system's choice until the reader makes one. Without storage it lasts a visit.

import { announce } from "./node.js"

export function startTheme(button) {
	const dark = matchMedia("(prefers-color-scheme: dark)")
	const { dataset } = document.documentElement
	const isDark = () => (dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark"
	const name = () => button.setAttribute("aria-label", isDark() ? "Light theme" : "Dark theme")
	try {
		if (localStorage.theme) dataset.theme = localStorage.theme
	} catch {}
	dark.onchange = name
	button.onclick = () => {
		dataset.theme = isDark() ? "light" : "dark"
		name()
		announce(`${dataset.theme} theme`)
		try {
			localStorage.theme = dataset.theme
		} catch {}
	}
	name()
}
