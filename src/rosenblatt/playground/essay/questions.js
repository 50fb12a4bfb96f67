// Questions to answer before the figure does, with a reaction.

import { KEEPS } from "../engine/keep.js"
import { announce, html, set, svg } from "../ui/node.js"
import { kindOf, tint } from "./kinds.js"

function makeQuestion(asked, answers, choose) {
	const reaction = html("p.reaction")
	const react = (text, right) => {
		reaction.replaceChildren(...tint(text))
		reaction.classList.toggle("right", right)
		if (text) announce(text)
	}
	const buttons = answers.map(([value, text]) => html("button", { onclick: () => choose(value, react) }, text))
	const row = html("div.row", buttons)
	const node = html("div.ask", { role: "group", "aria-label": asked }, html("p.asked", asked), row, reaction)
	return { node, buttons, row, react }
}

// Which way will the line turn? `due` is the step of the mistake that is asked about.
export function askTurn(figure) {
	const { store } = figure
	const sign = svg("text.tag.question", "?")
	const answers = [
		[1, "↺ left"],
		[-1, "↻ right"],
	]
	figure.foreseen = 0

	function ask() {
		const { trace, state } = store
		const next = trace.nextMistake(state.step)
		figure.due = trace.mistakes[next - 1] ? next : trace.nextMistake(0)
		turn(false)
		question.react("", false)
		store.set({ step: figure.due - 1 })
	}

	function turn(told) {
		for (const button of question.buttons) button.disabled = told
		more.hidden = !told
	}

	function mark() {
		const [plane] = figure.stage.planes
		const place = plane?.placeOf(store.trace.rows[figure.due - 1])
		if (!place) return
		plane.layers.marks.append(sign)
		set(sign, { x: place[0], y: place[1] - 14, visibility: store.state.step < figure.due ? "visible" : "hidden" })
	}

	const question = makeQuestion("Which way will the line turn?", answers, (value, react) => {
		const { trace } = store
		const s = figure.due - 1
		const [[a], [b]] = trace.space.snapshots.slice(trace.updateCounts[s] - 1)
		const left = a[0] * b[1] > a[1] * b[0]
		const right = left === value > 0
		if (right) figure.foreseen += 1
		turn(true)
		store.set({ step: figure.due })
		const way = `to the ${left ? "left" : "right"}, to bring the point to the ${kindOf(trace, trace.rows[s])} side.`
		react(`${right ? "Yes" : "No"}: ${way}`, right)
		figure.watch()
	})
	const more = html("button.accent", { onclick: ask }, "Next mistake")
	question.row.append(more)
	figure.views.push({ render: mark })
	ask()
	return question.node
}

export function askBound(figure) {
	const { store } = figure
	const answers = [
		[2, "twice as many"],
		[4, "about four times"],
		[8, "eight times"],
	]
	const asked = "Make the gap half as wide. How many mistakes are then possible?"
	return makeQuestion(asked, answers, (value, react) => {
		figure.player.pause()
		const [wide, narrow] = [0.6, 0.3].map((gap) => {
			figure.setGap(gap)
			return store.most(store.learner)
		})
		const right = value === 4
		react(`${right ? "Yes" : "Not quite"}: γ is squared. From ${wide} at a gap of 0.6 to ${narrow} at 0.3.`, right)
	}).node
}

export function askKeep(figure) {
	const { store } = figure
	const isOver = () => store.state.step >= store.trace.length
	const asked = "Which answer will miss the fewest new points?"
	const answers = KEEPS.map((keep) => [keep, keep])
	let told = false
	const question = makeQuestion(asked, answers, (value, react) => {
		figure.guessed ??= value
		for (const button of question.buttons) set(button, { "aria-pressed": button.textContent === value })
		store.set({ learners: store.changed({ keep: value }) })
		if (isOver()) return tell()
		react(`You say: ${figure.guessed}.`, false)
		figure.player.start()
	})

	function tell() {
		const ends = KEEPS.map((keep) => figure.view.errors[keep].at(-1))
		const right = ends[KEEPS.indexOf(figure.guessed)] === Math.min(...ends)
		const text = KEEPS.map((keep, j) => `${keep} ${ends[j]}`).join(", ")
		question.react(`${right ? "Yes" : `You said ${figure.guessed}`}: at the end they miss ${text}.`, right)
	}

	figure.views.push({
		render() {
			if (isOver() && !told && figure.guessed) tell()
			told = isOver()
		},
	})
	return question.node
}
