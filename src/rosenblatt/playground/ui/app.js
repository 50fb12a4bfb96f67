// Which of the two is shown: the story, or the lab. A link of the lab opens the lab; #scene=NAME a screen of the story,
// and values of a link behind it, as in #scene=race&margin=0.9, change its figure.

import { makeEssay } from "../essay/essay.js"
import { readLink, startState, writeLink } from "../engine/state.js"
import { makeLab } from "./lab.js"
import { announce, find, set, tell } from "./node.js"
import { startTheme } from "./theme.js"
import { startTips } from "./tips.js"

const search = new URLSearchParams(location.search)
const embed = search.get("embed")
const { body } = document
let [essay, lab, timer, opened] = [null, null, 0, ""]

function fromLink(hash) {
	try {
		return readLink(hash)
	} catch (error) {
		tell(`This link is broken: ${error.message} Showing the start instead.`, "error")
		return null
	}
}

// The address follows what is shown, a little later, without a step in the browser's history.
function follow(link) {
	const from = location.hash
	clearTimeout(timer)
	// If the reader has gone elsewhere by then, the address is theirs.
	timer = setTimeout(() => {
		if (location.hash !== from) return
		opened = link
		history.replaceState(null, "", link)
	}, 200)
}

function show(name) {
	clearTimeout(timer)
	body.dataset.view = name
	find("essay").hidden = name !== "essay"
	find("app").hidden = name !== "lab"
	for (const way of ["essay", "lab"]) set(find(`to-${way}`), { "aria-current": way === name ? "page" : "false" })
}

function openLab(link = "") {
	essay?.rest()
	const state = link ? (fromLink(link) ?? (lab ? null : startState())) : null
	show("lab")
	if (!lab) lab = makeLab(state, (text) => body.dataset.view === "lab" && follow(text))
	else if (state && link !== writeLink(lab.store.state)) lab.store.set(state, true)
	else lab.store.show()
	scrollTo(0, 0)
}

function openEssay(name, change) {
	lab?.rest()
	show("essay")
	essay ??= makeEssay(find("essay"), (id, change) => body.dataset.view === "essay" && follow(`#scene=${id}${change}`))
	if (!name) return scrollTo(0, 0)
	let id
	try {
		id = essay.open(name, change)
	} catch (error) {
		tell(`This link is broken: ${error.message} Showing the screen as it is.`, "error")
		id = essay.open(name)
	}
	if (!id) tell(`The story has no screen "${name}".`, "error")
	else if (embed !== null) for (const { section } of essay.screens.values()) section.hidden = section.id !== id
}

function route() {
	const { hash } = location
	if (hash === opened && hash) return
	opened = hash
	const scene = /^#scene=([^&]*)(.*)/.exec(hash)
	if (scene) openEssay(scene[1], scene[2])
	else if (hash === "#main") find("main").focus()
	else if (hash.length > 1) openLab(hash)
	else if (search.has("csv") || embed === "") openLab()
	else openEssay(embed ?? "")
}

find("to-lab").onclick = () => {
	find("to-lab").href = writeLink(lab?.store.state ?? startState())
	announce("The lab.")
}
find("to-essay").onclick = () => {
	find("to-essay").href = `#scene=${essay?.current ?? "learn"}`
	announce("The story.")
}
find("present").onclick = ({ target }) => {
	const on = body.classList.toggle("present")
	document.documentElement.classList.toggle("present", on)
	set(target, { "aria-pressed": on })
	target.textContent = on ? "End presentation" : "Present"
	announce(on ? "Presentation: large type, panels hidden." : "All panels are shown.")
	if (body.dataset.view === "essay") essay.open(essay.current)
}
find("help-open").onclick = () => find("help").showModal()
startTheme(find("theme"))
startTips()
body.classList.toggle("embed", embed !== null)
addEventListener("hashchange", route)
// With a remote control in hand: from screen to screen, unless a control or a figure wants the key.
addEventListener("keydown", (event) => {
	const { key, target } = event
	const by = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[key]
	if (body.dataset.view !== "essay" || !target.matches("body, h2, main, #present")) return
	if (key === "f") find("present").click()
	if (!by) return
	event.preventDefault()
	essay.open(1 + by + [...essay.screens.keys()].indexOf(essay.current))
})
route()

// Data that came with the page: ?csv=FILE&x=COLUMN&y=COLUMN&label=COLUMN.
const { csv, ...wanted } = Object.fromEntries(search)
if (csv && location.hash === "") {
	try {
		const answer = await fetch(csv)
		if (!answer.ok) throw new Error(`the server answered ${answer.status}.`)
		lab.upload.take(csv, await answer.text(), wanted)
	} catch (error) {
		tell(`${csv} could not be read: ${error.message}`, "error")
	}
}
