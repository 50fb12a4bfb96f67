// One to four learners, and the options of the active one.

import { MOST_STEPS, PLAIN } from "../engine/learn.js"
import { MOST_EPOCHS, MOST_LEARNERS, NUMBERS } from "../engine/state.js"
import { check, field, find, html, same, select, tell } from "./node.js"
import { learnerName } from "./plane.js"

const CHOICES = {
	rule: ["Rule", { perceptron: "Perceptron", margin: "Margin", PA: "PA", "PA-I": "PA-I", "PA-II": "PA-II" }],
	keep: ["Answer", { last: "last weights", average: "average", vote: "vote", pocket: "pocket" }],
	kernel: ["Space", { linear: "linear", poly: "polynomial", rbf: "RBF" }],
	tie: ["Score 0", { mistake: "is a mistake", positive: "counts as +1" }],
}
const TITLES = {
	eta0: "Rate η₀",
	beta: "Margin β",
	C: "Limit C",
	degree: "Degree",
	coef0: "Constant",
	gamma: "Gamma γ",
}
const NEXT = [{ keep: "average" }, { rule: "PA-I" }, { kernel: "rbf" }]

export function makeLearners(store) {
	const [tabs, form] = [find("tabs"), find("form")]
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
		const button = (text, title, onclick, name = null) => html("button", { title, onclick, "aria-label": name }, text)
		const less = `Remove learner ${active + 1}`
		const focused = tabs.contains(document.activeElement)
		tabs.replaceChildren(...learners.map(tab))
		find("more").replaceChildren(
			count > 1 ? button("−", less, remove, less) : "",
			count < MOST_LEARNERS ? button("+ compare", "Compare with another learner on the same points", add) : "",
		)
		if (focused) tabs.querySelector(":checked").focus()
	}

	function turn(change, remember) {
		store.set(change, remember)
		tabs.querySelector(":checked").focus()
	}

	const change = (change, more) => store.set({ learners: store.changed(change), ...more }, true)

	function choice(name, value) {
		const [title, options] = CHOICES[name]
		const onchange = ({ target }) => {
			const chosen = { [name]: target.value }
			// Other rules belong to the linear space.
			const dual = { rule: "perceptron", start: null, eta0: 1, tie: "mistake", intercept: true }
			change(name === "kernel" && target.value !== "linear" ? { ...chosen, ...dual } : chosen)
		}
		return field(title, select(options, value, { name, onchange }))
	}

	function number(name, title, value, [min, max], act, step) {
		const onchange = ({ target }) => {
			if (target.value !== "" && target.validity.valid) return act(Number(target.value))
			tell(`${title} must be a ${step === 1 ? "whole " : ""}number from ${min} to ${max}.`, "error")
			target.value = value
		}
		return field(title, html("input", { type: "number", name, value, min, max, step, onchange }))
	}

	function renderForm(learner, binary, epochs, count) {
		const focus = form.contains(document.activeElement) ? document.activeElement.name : ""
		const { rule, kernel, keep, tie, start, intercept } = learner
		const linear = kernel === "linear"
		const [passive, poly] = [rule.startsWith("PA"), kernel === "poly"]
		const used = { beta: rule === "margin", C: passive && rule !== "PA", degree: poly, coef0: poly, gamma: !linear }
		used.eta0 = linear && !passive
		const option = (name) => {
			const act = (v) => change({ [name]: v })
			return number(name, TITLES[name], learner[name], NUMBERS[name], act, name === "degree" ? 1 : "any")
		}
		const fields = [choice("rule", rule), choice("keep", keep), choice("kernel", kernel)]
		const checks = []
		if (!linear) for (const other of fields[0].querySelectorAll("option:not([value=perceptron])")) other.disabled = true
		fields.push(
			...Object.keys(NUMBERS)
				.filter((name) => used[name])
				.map(option),
		)
		if (linear && binary) fields.push(choice("tie", tie))
		fields.push(number("epochs", "Epochs", epochs, [1, MOST_EPOCHS], (v) => store.set({ epochs: v }, true), 1))
		if (linear) checks.push(check("intercept", "offset b", intercept, (on) => change({ intercept: on })))
		if (linear && binary) {
			const begin = (weights) => change({ start: weights }, { step: 0 })
			checks.push(check("own", "own start", start !== null, (on) => begin(on ? [1, 0.5, 0] : null)))
			;["w₁", "w₂", "b"]
				.slice(0, start?.length ?? 0)
				.forEach((name, j) =>
					fields.push(number(name, name, start[j], [-1e6, 1e6], (v) => begin(start.with(j, v)), "any")),
				)
		}
		const most = Math.max(1, Math.floor(MOST_STEPS / Math.max(1, count)))
		const note = `${most} epochs are run: ${MOST_STEPS} steps are the most this page keeps.`
		form.setAttribute("aria-label", learnerName(learner))
		form.replaceChildren(
			html("div.fields", fields),
			html("div.checks", checks),
			html("p.none", epochs > most ? note : ""),
		)
		if (focus) form.querySelector(`[name="${focus}"]`)?.focus()
	}

	return view
}
