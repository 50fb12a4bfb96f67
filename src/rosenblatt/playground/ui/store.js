// The state of a picture, its history, and what follows from it, computed once. The lab has one store, and so has every
// figure of the essay.

import { certify } from "../engine/certificate.js"
import { learn } from "../engine/learn.js"
import { ledger, mistakeBound } from "../engine/ledger.js"
import { bestMargin } from "../engine/margin.js"
import { makeProblem } from "../engine/problem.js"

// Text and charts follow a fast run every so many milliseconds: nobody reads sixty sentences a second.
const CALM = 100
// How long a step by hand may take to be told.
export const BY_HAND = 1100

export class Store {
	views = []
	past = []
	future = []
	margins = new Map()
	playing = false
	pace = BY_HAND
	shown = 0

	constructor(state) {
		this.state = state
		this.derive()
	}

	derive() {
		const { points, held, names, learners, epochs } = this.state
		const old = this.derived
		const same = old?.points === points && old.names === names
		const problem = same ? old.problem : makeProblem(points, names)
		if (!same) this.margins.clear()
		const known = same && old.epochs === epochs ? old.traces : []
		const traces = learners.map((l) => known.find((t) => t.learner === l) ?? learn(problem, l, epochs))
		const last = Math.max(...traces.map((t) => t.length))
		const tests = old?.held === held && same ? old.tests : makeProblem(held, names)
		this.derived = { points, held, names, epochs, problem, tests, traces, last }
		if (this.state.step > last) this.state = { ...this.state, step: last }
	}

	margin(learner) {
		const { kernel, intercept, degree, coef0, gamma } = learner
		const key = [kernel, intercept, degree, coef0, gamma].join(" ")
		if (!this.margins.has(key)) {
			const margin = bestMargin(this.derived.problem, learner)
			if (margin && kernel === "linear") margin.certificate = certify(margin)
			this.margins.set(key, margin)
		}
		return this.margins.get(key)
	}

	bound(learner) {
		return mistakeBound(learner, this.margin(learner))
	}

	// The bound in whole mistakes; null where nothing is promised.
	most(learner) {
		const bound = this.bound(learner)
		return bound && Math.floor(bound + 1e-9)
	}

	ledger(trace) {
		if (trace.ledger === undefined) trace.ledger = ledger(trace, this.margin(trace.learner))
		return trace.ledger
	}

	get learner() {
		return this.state.learners[this.state.active]
	}

	get trace() {
		return this.derived.traces[this.state.active]
	}

	get hurried() {
		return this.playing && this.pace < CALM
	}

	set(change, remember = false) {
		if (remember) this.remember()
		this.state = { ...this.state, ...change }
		this.state.active = Math.min(this.state.active, this.state.learners.length - 1)
		this.derive()
		this.show()
	}

	changed(change) {
		return this.state.learners.map((l, j) => (j === this.state.active ? { ...l, ...change } : l))
	}

	get moment() {
		const { active, step, speed, whole, shade, code, ...moment } = this.state
		return moment
	}

	remember() {
		this.past.push(this.moment)
		this.future = []
	}

	travel(from, to) {
		if (from.length === 0) return
		to.push(this.moment)
		this.set(from.pop())
	}

	undo = () => this.travel(this.past, this.future)
	redo = () => this.travel(this.future, this.past)

	show() {
		const now = performance.now()
		this.resting = this.hurried && now - this.shown < CALM
		if (!this.resting) this.shown = now
		for (const view of this.views) if (!this.resting || !view.calm) view.render(this.state, this.derived)
	}
}
