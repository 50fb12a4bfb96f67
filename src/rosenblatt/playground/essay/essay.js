// The essay: screens built when they come near, figures that move while they are seen.

import { writeLink } from "../engine/state.js"
import { announce, html } from "../ui/node.js"
import { isStill } from "../ui/player.js"
import { makeFigure } from "./figure.js"
import { LIFTS, makeLift } from "./lift.js"
import { SCREENS } from "./screens.js"

const rich = (text) => text.split("*").map((part, j) => (j % 2 ? html("em", part) : part))

// The figure in three dimensions has no plane; its store is only what the lab would open.
function makeSolid(screen) {
	const figure = makeFigure({ ...screen, controls: [] })
	const lift = makeLift()
	figure.lift = lift
	figure.board.replaceWith(lift.board)
	figure.store.views = []
	const choices = Object.keys(LIFTS).map((name) =>
		figure.button(name === "xor" ? "XOR" : "Circles", () => {
			lift.choose(name)
			show()
		}),
	)
	const flip = figure.button("", () => (lift.raised < 1 ? lift.lift() : lift.flatten()), { class: "accent" })
	function show() {
		for (const [j, name] of Object.keys(LIFTS).entries()) choices[j].setAttribute("aria-pressed", name === lift.name)
		flip.textContent = lift.raised < 1 ? "Lift" : "Flatten"
		const found = lift.converged ? `The perceptron found the sheet after ${lift.mistakes} mistakes.` : ""
		figure.said.textContent = `Height: ${LIFTS[lift.name]}. ${found}`
		figure.watch?.()
	}
	lift.changed = show
	show()
	figure.player = { start: () => lift.raised < 1 && lift.lift(), pause() {} }
	return figure
}

function makeTask({ say, done, praise }) {
	const text = html("span", say)
	const node = html("p.task", html("strong", "Try"), text)
	const watch = (figure) => {
		if (node.classList.contains("done") || !done(figure)) return
		node.classList.add("done")
		node.firstChild.textContent = "✓"
		text.textContent = praise(figure)
		announce(text.textContent)
	}
	return { node, watch }
}

export function makeEssay(root, reached) {
	const screens = new Map()
	let current = SCREENS[0].id

	function makeScreen(screen, j) {
		const title = html("h2", { id: `title-${screen.id}`, tabindex: -1 }, screen.title)
		const head = html("div.opening", html("p.where", `${j + 1} of ${SCREENS.length}`), title)
		const words = html("div.words", ...screen.text.map((part) => html("p", rich(part))))
		const place = html("div.figure")
		const names = { id: `screen-${screen.id}`, "data-screen": screen.id, "aria-labelledby": title.id }
		const section = html("section.screen", names, head, words, place)
		const entry = { screen, section, words, place, title, figure: null, begun: false }
		screens.set(screen.id, entry)
		return section
	}

	function build(entry) {
		if (entry.figure) return
		const { screen, words } = entry
		const figure = screen.solid ? makeSolid(screen) : makeFigure(screen)
		entry.figure = figure
		entry.place.replaceWith(figure.node)
		if (screen.extra) {
			figure.view = screen.extra(figure)
			figure.views.push(figure.view)
			figure.node.insertBefore(figure.view.node, figure.controls)
			figure.node.classList.add("paired")
		}
		screen.setup?.(figure)
		if (screen.ask) words.append(screen.ask(figure))
		const task = makeTask(screen.task)
		words.append(task.node)
		const { store } = figure
		let count = store.state.points.length
		figure.watch = () => {
			if (screen.add && store.state.points.length !== count) {
				count = store.state.points.length
				return screen.add(figure)
			}
			task.watch(figure)
		}
		const lab = html("a.tolab", { href: "#" }, j(screen) ? "Open this figure in the lab" : "Take it to the lab")
		lab.onclick = () => (lab.href = writeLink({ ...store.state, speed: "story" }))
		words.append(lab)
		if (screen.first && isStill()) store.set({ step: screen.first })
		store.show()
	}

	const j = (screen) => screen.id !== "yours"

	// A figure begins by itself when it is first seen, and rests when it is not.
	function see(entry, seen) {
		if (!seen) return entry.figure?.player.pause()
		build(entry)
		const { figure, screen } = entry
		current = screen.id
		reached(screen.id)
		for (const dot of dots.children) dot.toggleAttribute("aria-current", dot.dataset.to === current)
		if (entry.begun || isStill() || screen.still) return
		entry.begun = true
		if (screen.first) figure.store.set({ step: screen.first })
		else if (screen.controls?.length !== 0) figure.player.start()
	}

	const dots = html("nav.dots", { "aria-label": "Screens of the story" })
	for (const screen of SCREENS)
		dots.append(
			html("a", { href: `#scene=${screen.id}`, "data-to": screen.id, "aria-label": screen.title, title: screen.title }),
		)
	root.append(...SCREENS.map(makeScreen), dots)
	const near = new IntersectionObserver(
		(list) => list.forEach((e) => e.isIntersecting && build(screens.get(e.target.dataset.screen))),
		{ rootMargin: "80% 0%" },
	)
	const inside = new IntersectionObserver(
		(list) => list.forEach((e) => see(screens.get(e.target.dataset.screen), e.isIntersecting)),
		{ rootMargin: "-45% 0%" },
	)
	for (const { section } of screens.values()) {
		near.observe(section)
		inside.observe(section)
	}

	// `name` is the id of a screen or its number from 1.
	function open(name, focus = true) {
		const entry = screens.get(name) ?? [...screens.values()][Number(name) - 1]
		if (!entry) return false
		build(entry)
		entry.section.scrollIntoView({ behavior: "instant", block: "start" })
		if (focus) entry.title.focus({ preventScroll: true })
		return true
	}

	function rest() {
		for (const { figure } of screens.values()) figure?.player.pause()
	}

	return {
		open,
		rest,
		screens,
		get current() {
			return current
		},
	}
}
