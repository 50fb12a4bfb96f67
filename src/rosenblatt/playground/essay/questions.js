// Questions to answer before the figure does, with a reaction.

import { KEEPS } from "../engine/keep.js"
import { nextMistake } from "../engine/learn.js"
import { presetState } from "../engine/state.js"
import { announce, html, svg } from "../ui/node.js"
import { BY_HAND } from "../ui/store.js"
import { kindOf } from "./figure.js"

function makeQuestion(question, answers, choose) {
	const reaction = html("p.reaction")
	const asked = html("p.asked", question)
	const buttons = answers.map(([value, text]) => html("button", { onclick: () => choose(value, react) }, text))
	const node = html("div.ask", { role: "group", "aria-label": question }, asked, html("div.row", buttons), reaction)
	function react(text, right) {
		reaction.textContent = text
		reaction.classList.toggle("right", right)
		announce(text)
	}
	return { node, buttons, react, reaction, asked }
}

// Which way will the line turn?
export function askTurn(figure) {
	const { store } = figure
	const sign = svg("text.tag.question", "?")
	figure.foreseen = 0

	function ask() {
		const { trace } = store
		const next = nextMistake(trace, store.state.step)
		const over = !trace.mistakes[next - 1]
		store.set({ step: over ? 0 : next - 1 })
		figure.due = over ? nextMistake(trace, 0) : next
		question.reaction.textContent = ""
		for (const button of question.buttons) button.disabled = false
		more.hidden = true
		mark()
	}

	function mark() {
		const [plane] = figure.stage.planes
		const place = plane?.layers.points.querySelector(`[data-row="${store.trace.rows[figure.due - 1]}"]`)
		if (!place) return
		plane.layers.marks.append(sign)
		const [x, y] = place
			.getAttribute("transform")
			.match(/-?[\d.]+/g)
			.map(Number)
		sign.setAttribute("x", x)
		sign.setAttribute("y", y - 14)
		sign.style.visibility = store.state.step === figure.due - 1 ? "visible" : "hidden"
	}

	const question = makeQuestion(
		"Which way will the line turn?",
		[
			[1, "↺ left"],
			[-1, "↻ right"],
		],
		(value, react) => {
			const { trace } = store
			const [[a], [b]] = [0, 1].map((j) => trace.space.snapshots[trace.updateCounts[figure.due - 1] - 1 + j])
			const right = Math.sign(a[0] * b[1] - a[1] * b[0])
			const kind = kindOf(trace, trace.rows[figure.due - 1])
			for (const button of question.buttons) button.disabled = true
			store.pace = BY_HAND * 1.6
			store.set({ step: figure.due })
			store.pace = BY_HAND
			mark()
			if (value === right) figure.foreseen += 1
			const way = right > 0 ? "left" : "right"
			react(
				`${value === right ? "Yes" : "No"}: to the ${way}, to bring the point to the ${kind} side.`,
				value === right,
			)
			more.hidden = false
			figure.watch()
		},
	)
	const more = html("button", { onclick: ask, hidden: true, class: "accent" }, "Next mistake")
	question.node.querySelector(".row").append(more)
	figure.views.push({ render: mark })
	ask()
	return question.node
}

export function askBound(figure) {
	const { store } = figure
	figure.preset = presetState
	const bound = () => Math.floor(store.bound(store.learner) + 1e-9)
	return makeQuestion(
		"Make the gap half as wide. How many mistakes are then possible?",
		[
			[2, "twice as many"],
			[4, "about four times"],
			[8, "eight times"],
		],
		(value, react) => {
			figure.player.pause()
			figure.setGap(0.6)
			const wide = bound()
			figure.setGap(0.3)
			react(
				`${value === 4 ? "Yes" : "Not quite"}: γ is squared. From ${wide} at a gap of 0.6 to ${bound()} at 0.3.`,
				value === 4,
			)
		},
	).node
}

export function askKeep(figure) {
	const { store } = figure
	const question = makeQuestion(
		"Which answer will miss the fewest new points?",
		KEEPS.map((keep) => [keep, keep]),
		(value, react) => {
			figure.guessed ??= value
			store.set({ learners: store.changed({ keep: value }) })
			for (const button of question.buttons) button.setAttribute("aria-pressed", button.textContent === value)
			if (store.state.step >= store.trace.length) return tell(react)
			react(`You say: ${figure.guessed}.`, false)
			figure.player.start()
		},
	)
	const tell = (react) => {
		const ends = KEEPS.map((keep) => [keep, figure.view.errors[keep].at(-1)])
		const least = Math.min(...ends.map(([, v]) => v))
		const best = ends.filter(([, v]) => v === least).map(([keep]) => keep)
		const text = ends.map(([keep, v]) => `${keep} ${v}`).join(", ")
		const right = best.includes(figure.guessed)
		react(`${right ? "Yes" : `You said ${figure.guessed}`}: at the end they miss ${text}.`, right)
	}
	let told = false
	figure.views.push({
		render() {
			const over = store.state.step >= store.trace.length
			if (over && !told && figure.guessed) tell(question.react)
			told = over
		},
	})
	return question.node
}
