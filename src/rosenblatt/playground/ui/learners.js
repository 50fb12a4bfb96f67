// One to four learners, and the options of the active one: three that matter, the others folded away.

import { MOST_STEPS, mostEpochs, PLAIN } from "../engine/learn.js"
import { MOST_EPOCHS, MOST_LEARNERS, NUMBERS } from "../engine/state.js"
import { learnerName } from "./names.js"
import { check, field, find, html, same, select, tell, tipped } from "./node.js"

// Title, what it is about, and for every value its name and its sentence.
const CHOICES = {
	rule: [
		"Rule",
		"How far a row moves the weights.",
		{
			perceptron: ["Perceptron", "Every mistake adds the whole row, or takes it away."],
			margin: ["Margin", "Also moves for a row that is right, but not by more than β."],
			PA: ["PA", "Moves just far enough for a margin of 1."],
			"PA-I": ["PA-I", "As PA, but never by more than C."],
			"PA-II": ["PA-II", "As PA, but softer, the smaller C is."],
		},
	],
	keep: [
		"Line used",
		"Which of the weights it has had is the answer.",
		{
			last: ["the last", "The weights after the last update."],
			average: ["average of all", "The mean of the weights after every row: calm where the last ones jump."],
			vote: ["vote of all", "Every weight vector votes, with the number of rows it survived."],
			pocket: ["best so far", "The pocket: the weights with the fewest wrong rows so far."],
		},
	],
	kernel: [
		"Boundary",
		"What shape the boundary may have.",
		{
			linear: ["a line", "A straight line."],
			poly: ["polynomial", "A curve from products of the features, by a polynomial kernel."],
			rbf: ["free curve", "Any curve: rows nearby speak loudest, by an RBF kernel."],
		},
	],
	tie: [
		"A score of 0",
		"What it means when a row lies exactly on the line.",
		{
			mistake: ["is a mistake", "A row on the line counts as wrong."],
			positive: ["means +1", "A row on the line is read as +1."],
		},
	],
}
const TITLES = {
	eta0: ["Step size η₀", "The size of a push. From zero weights it changes no answer, only the length of w."],
	beta: ["Margin β", "A row must be right by more than this, else it moves the weights."],
	C: ["Limit C", "How much one row may do: small is careful, large is bold."],
	degree: ["Degree", "How often the boundary may bend."],
	coef0: ["Constant", "Weighs the lower powers against the higher ones."],
	gamma: ["Narrowness", "The kernel's gamma: the larger, the nearer a row must be to have a say."],
}
const EPOCHS = ["Most epochs", "How often it may go over all rows. It stops sooner when a whole epoch is right."]
const OFFSET = ["Offset b", "Lets the line pass beside the origin."]
const OWN = ["Start from my own line", "Begin with weights you choose or drag, instead of zeros."]
const NEXT = [{ keep: "average" }, { rule: "PA-I" }, { kernel: "rbf" }]

export function makeLearners(store) {
	const [tabs, form, folded] = [find("tabs"), find("form"), find("folded")]
	const view = { calm: true, render }

	function render({ learners, active, names, epochs, points }) {
		if (same(view, learners, active, names, epochs, points.length)) return
		renderTabs(learners, active)
		renderForm(store.learner, names.length === 2, epochs, points.length)
	}

	function renderTabs(learners, active) {
		const count = learners.length
		const tab = (learner, j) => {
			const name = `Learner ${j + 1}: ${learnerName(learner)}`
			const names = { type: "radio", name: "learner", "aria-label": name, checked: j === active }
			return html("label.tool", html("input", { ...names, onchange: () => turn({ active: j }) }), html("span", j + 1))
		}
		const remove = () => turn({ learners: learners.filter((_, j) => j !== active) }, true)
		const add = () => turn({ learners: [...learners, { ...PLAIN, ...NEXT[count - 1] }], active: count }, true)
		const button = (text, tip, onclick, name = null) =>
			html("button", { ...tipped(tip), onclick, "aria-label": name }, text)
		const less = `Remove learner ${active + 1}`
		const focused = tabs.contains(document.activeElement)
		tabs.hidden = count < 2
		tabs.replaceChildren(...learners.map(tab))
		find("more").replaceChildren(
			count > 1 ? button("−", `${less}.`, remove, less) : "",
			count < MOST_LEARNERS ? button("+ compare", "Compares with another learner on the same points.", add) : "",
		)
		if (focused) tabs.querySelector(":checked").focus()
	}

	function turn(change, remember) {
		store.set(change, remember)
		tabs.querySelector(":checked").focus()
	}

	const change = (change, more) => store.set({ learners: store.changed(change), ...more }, true)

	function choice(name, value) {
		const [title, about, values] = CHOICES[name]
		const onchange = ({ target }) => {
			const chosen = { [name]: target.value }
			// These options belong to the line.
			const dual = { start: null, eta0: 1, tie: "mistake", intercept: true }
			if (store.learner.rule === "margin") dual.rule = "perceptron"
			change(name === "kernel" && target.value !== "linear" ? { ...chosen, ...dual } : chosen)
		}
		const options = Object.fromEntries(Object.entries(values).map(([key, [text]]) => [key, text]))
		const made = field(title, select(options, value, { name, onchange }), `${about} ${values[value][1]}`)
		for (const option of made.querySelectorAll("option")) option.title = values[option.value][1]
		return made
	}

	function number(name, [title, about], value, [min, max], act, step) {
		const onchange = ({ target }) => {
			if (target.value !== "" && target.validity.valid) return act(Number(target.value))
			tell(`${title} must be a ${step === 1 ? "whole " : ""}number from ${min} to ${max}.`, "error")
			target.value = value
		}
		return field(title, html("input", { type: "number", name, value, min, max, step, onchange }), about)
	}

	function renderForm(learner, binary, epochs, count) {
		const at = document.activeElement
		const focus = form.contains(at) || folded.contains(at) ? at.name : ""
		const { rule, kernel, keep, tie, start, intercept } = learner
		const linear = kernel === "linear"
		const [passive, poly] = [rule.startsWith("PA"), kernel === "poly"]
		const used = { beta: rule === "margin", C: passive && rule !== "PA", degree: poly, coef0: poly, gamma: !linear }
		const option = (name) => {
			const act = (v) => change({ [name]: v })
			return number(name, TITLES[name], learner[name], NUMBERS[name], act, name === "degree" ? 1 : "any")
		}
		const main = [choice("rule", rule), choice("keep", keep), choice("kernel", kernel)]
		if (!linear) main[0].querySelector("option[value=margin]").disabled = true
		main.push(
			...Object.keys(NUMBERS)
				.filter((name) => used[name])
				.map(option),
		)
		const more = [number("epochs", EPOCHS, epochs, [1, MOST_EPOCHS], (v) => store.set({ epochs: v }, true), 1)]
		const checks = []
		if (linear && !passive) more.push(option("eta0"))
		if (linear && binary) more.push(choice("tie", tie))
		if (linear) checks.push(check("intercept", OFFSET[0], intercept, (on) => change({ intercept: on }), OFFSET[1]))
		if (linear && binary) {
			const begin = (weights) => change({ start: weights }, { step: 0 })
			checks.push(check("own", OWN[0], start !== null, (on) => begin(on ? [1, 0.5, 0] : null), OWN[1]))
			for (const [j, value] of start?.entries() ?? []) {
				const name = ["w₁", "w₂", "b"][j]
				const act = (v) => begin(start.with(j, v))
				more.push(number(name, [name, `The start of ${name}.`], value, [-1e6, 1e6], act, "any"))
			}
		}
		const most = mostEpochs(count)
		const note = `${most} epochs are run: ${MOST_STEPS} steps are the most this page keeps.`
		form.setAttribute("aria-label", learnerName(learner))
		form.replaceChildren(html("div.fields", main), html("p.none", epochs > most ? note : ""))
		folded.replaceChildren(html("div.fields", more), html("div.checks", checks))
		if (focus) document.querySelector(`#learners [name="${focus}"]`)?.focus()
	}

	return view
}
