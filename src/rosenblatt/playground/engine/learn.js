// The whole family as one procedure: a rule, a space, and every keep at once. It equals textbook.learn step by step,
// float by float in the linear space.

import { isMistake, tau as tauOf } from "./rule.js"
import { makeDual, makeLinear, marginOf } from "./space.js"
import { Trace } from "./trace.js"
import { highestWrong } from "./vector.js"

export const MOST_STEPS = 40000
export const mostEpochs = (rows) => Math.max(1, Math.floor(MOST_STEPS / rows))

export const PLAIN = {
	rule: "perceptron",
	eta0: 1,
	beta: 1,
	C: 1,
	tie: "mistake",
	intercept: true,
	start: null,
	keep: "last",
	kernel: "linear",
	degree: 2,
	coef0: 1,
	gamma: 1,
}

export function learn(problem, learner, epochs) {
	const space = learner.kernel === "linear" ? makeLinear(problem, learner) : makeDual(problem, learner)
	const n = problem.X.length
	const trace = new Trace(problem, learner, space)
	let [mistakeCount, updates, runLength, checked] = [0, 0, 0, true]
	const pocket = { update: 0, mistakes: space.wrongRows(), run: -1 }
	const passes = n ? Math.min(epochs, mostEpochs(n)) : 0
	for (let epoch = 1; epoch <= passes && !trace.converged; epoch++) {
		let wrongNow = 0
		const updatesBefore = updates
		for (let i = 0; i < n; i++) {
			const label = problem.y[i]
			const scores = space.scores(i)
			const joint = scores.length > 1
			const margin = marginOf(scores, label)
			const mistake = isMistake(margin, scores[0], label, problem.classes, learner.tie)
			const wrong = joint ? highestWrong(scores, label) : -1
			const q = (joint ? 2 : 1) * space.q(i)
			const tau = tauOf(learner, margin, q, mistake)
			trace.length += 1
			runLength = mistake || tau ? 0 : runLength + 1
			if (tau) {
				space.step(i, label, wrong, tau)
				updates += 1
				trace.updateSteps.push(trace.length)
				checked = false
			}
			space.tally()
			wrongNow += mistake
			mistakeCount += mistake
			if (runLength > pocket.run && !checked) {
				checked = true
				const mistakes = space.wrongRows()
				if (mistakes < pocket.mistakes) Object.assign(pocket, { update: updates, mistakes })
				pocket.run = Math.max(pocket.run, 0)
			}
			if (pocket.update === updates) pocket.run = Math.max(pocket.run, runLength)
			const score = scores[joint ? label : 0]
			trace.push(i, epoch, score, margin, mistake, tau, wrong, q, mistakeCount, updates, pocket.update, pocket.mistakes)
		}
		trace.epochMistakes.push(wrongNow)
		if (wrongNow === 0 && updates === updatesBefore) {
			trace.converged = true
			trace.pockets[trace.length - 1] = updates
			trace.pocketMistakes[trace.length - 1] = 0
		}
	}
	return trace
}
