// The essay: screens built when they come near, figures that move while they are seen.

import { mergeLinks, readLink, writeLink } from "../engine/state.js"
import { announce, html, set } from "../ui/node.js"
import { isStill } from "../ui/player.js"
import { BASICS } from "./basics.js"
import { BEYOND } from "./beyond.js"
import { makeFigure } from "./figure.js"
import { tint } from "./kinds.js"
import { makeLift, SETS } from "./lift.js"

const SCREENS = [...BASICS, ...BEYOND]

// Text between * is stressed.
const rich = (text) => text.split("*").flatMap((part, j) => (j % 2 ? html("em", part) : tint(part)))

// The figure in three dimensions has no plane; its store is only what the lab would open.
function makeSolid(screen) {
	const figure = makeFigure({ ...screen, controls: [] })
	const choices = Object.entries(SETS).map(([name, { title }]) => figure.button(title, () => figure.lift.choose(name)))
	const flip = figure.button("Lift", () => (figure.lift.raised < 1 ? figure.lift.lift() : figure.lift.flatten()), {
		class: "accent",
	})
	figure.lift = makeLift(({ name, raised, mistakes }) => {
		const { title, said } = SETS[name]
		for (const choice of choices) set(choice, { "aria-pressed": choice.textContent === title })
		flip.textContent = raised < 1 ? "Lift" : "Flatten"
		figure.said.textContent = `Height: ${said}. The perceptron found the sheet after ${mistakes} mistakes.`
		figure.watch?.()
	})
	figure.board.replaceWith(figure.lift.board)
	figure.store.views = []
	figure.player = { start: () => figure.lift.raised < 1 && figure.lift.lift(), pause() {} }
	return figure
}

// A task notices when it is done.
function makeTask({ say, done, praise }) {
	const [sign, text] = [html("strong", "Try"), html("span", say)]
	const node = html("p.task", sign, text)
	const watch = (figure) => {
		if (node.classList.contains("done") || !done(figure)) return
		node.classList.add("done")
		sign.textContent = "✓"
		text.textContent = praise(figure)
		announce(text.textContent)
	}
	return { node, watch }
}

export function makeEssay(root, reached) {
	const screens = new Map()
	const essay = { open, rest, screens, current: SCREENS[0].id }
	const dot = ({ id, title }) => html("a", { href: `#scene=${id}`, "data-to": id, "aria-label": title, title })
	const dots = html("nav.dots", { "aria-label": "Screens of the story" }, SCREENS.map(dot))

	function makeScreen(screen, j) {
		const { id, text } = screen
		const title = html("h2", { id: `title-${id}`, tabindex: -1 }, screen.title)
		const head = html("div.opening", html("p.where", `${j + 1} of ${SCREENS.length}`), title)
		const [words, place] = [html("div.words", ...text.map((part) => html("p", rich(part)))), html("div.figure")]
		const names = { id: `screen-${id}`, "data-screen": id, "aria-labelledby": title.id }
		const section = html("section.screen", names, head, words, place)
		const to = SCREENS[j + 1]
		const next = to && html("a", { href: `#scene=${to.id}`, "aria-label": `Next: ${to.title}` }, "Next ↓")
		screens.set(id, { screen, section, words, place, title, next, figure: null, begun: false, change: "" })
		return section
	}

	function build(entry) {
		if (entry.figure) return
		const { screen, words, place, next } = entry
		const figure = screen.solid ? makeSolid(screen) : makeFigure(screen)
		const { store } = figure
		entry.figure = figure
		place.replaceWith(figure.node)
		if (screen.extra) {
			figure.view = screen.extra(figure)
			figure.views.push(figure.view)
			figure.node.insertBefore(figure.view.node, figure.controls)
			figure.node.classList.add("paired")
		}
		screen.setup?.(figure)
		const task = makeTask(screen.task)
		const lab = html("a.tolab", { href: "#" }, screen.leave ?? "Open this figure in the lab")
		lab.onclick = () => (lab.href = writeLink({ ...store.state, speed: "story" }))
		words.append(...(screen.ask ? [screen.ask(figure)] : []), task.node, html("p.ways", lab, next ?? ""))
		let count = store.state.points.length
		figure.watch = () => {
			const added = count !== store.state.points.length
			count = store.state.points.length
			// A point that is added is learned at once.
			if (added) store.set({ step: store.trace.length })
			else task.watch(figure)
		}
		// Without motion a figure shows how it ends, not a blank plane.
		if (isStill() && !screen.still && !store.state.step) store.set({ step: screen.first ? 1 : store.trace.length })
		store.show()
	}

	// A figure begins by itself when it is first seen, and rests when it is not.
	function see(entry, seen) {
		if (!seen) return entry.figure?.player.pause()
		build(entry)
		const { figure, screen, begun } = entry
		essay.current = screen.id
		reached(screen.id, entry.change)
		for (const dot of dots.children) dot.toggleAttribute("aria-current", dot.dataset.to === screen.id)
		entry.begun = true
		if (begun || isStill() || screen.still) return
		if (screen.first) figure.tellAgain()
		else figure.player.start()
	}

	const observe = (rootMargin, act) => {
		const watcher = new IntersectionObserver(
			(list) => {
				for (const { target, isIntersecting } of list) act(screens.get(target.dataset.screen), isIntersecting)
			},
			{ rootMargin },
		)
		for (const { section } of screens.values()) watcher.observe(section)
	}

	// `name` is the id of a screen or its number from 1; `change` are values of a link for its figure.
	function open(name, change = "") {
		const entry = screens.get(name) ?? [...screens.values()][Number(name) - 1]
		if (!entry) return false
		build(entry)
		if (change) {
			const { store, lift } = entry.figure
			const state = readLink(mergeLinks(entry.screen.link, change))
			const isEnd = isStill() && !/&step=/.test(change)
			store.set(state)
			if (isEnd) store.set({ step: store.trace.length })
			if (SETS[state.data?.preset]) lift?.choose(state.data.preset)
			entry.change = change
		}
		entry.section.scrollIntoView({ behavior: "instant" })
		entry.title.focus({ preventScroll: true })
		return entry.section.id
	}

	function rest() {
		for (const { figure } of screens.values()) figure?.player.pause()
	}

	root.append(...SCREENS.map(makeScreen), dots)
	observe("80% 0%", (entry, near) => near && build(entry))
	observe("-45% 0%", see)
	return essay
}
