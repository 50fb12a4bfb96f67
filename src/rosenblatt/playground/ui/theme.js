// Dark or light: the system's choice until the reader makes one. Without storage it lasts a visit.

import { announce } from "./node.js"

export function startTheme(button) {
	const dark = matchMedia("(prefers-color-scheme: dark)")
	const { dataset } = document.documentElement
	const isDark = () => (dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark"
	const name = () => button.setAttribute("aria-label", isDark() ? "Light theme" : "Dark theme")
	const attempt = (act) => {
		try {
			return act()
		} catch {
			return null
		}
	}
	const kept = attempt(() => localStorage.getItem("theme"))
	if (kept) dataset.theme = kept
	dark.onchange = name
	button.onclick = () => {
		dataset.theme = isDark() ? "light" : "dark"
		attempt(() => localStorage.setItem("theme", dataset.theme))
		name()
		announce(`${dataset.theme} theme`)
	}
	name()
}
