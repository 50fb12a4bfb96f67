// The Python lines that reproduce a run with the rosenblatt package.

import { weightsAt } from "./keep.js"
import { mistakesAt } from "./learn.js"
import { classOf } from "./problem.js"

const KEEPERS = { last: "", average: "Averaged", vote: "Voted", pocket: "Pocket" }

const literal = (name) => (/^[+-]?\d+(\.\d+)?$/.test(name) ? String(Number(name)) : JSON.stringify(name))

function wrapped(name, items) {
	const lines = ["   "]
	for (const item of items) {
		if (lines.at(-1).length + item.length > 110) lines.push("   ")
		lines[lines.length - 1] += ` ${item},`
	}
	return `${name} = np.array([\n${lines.join("\n")}\n])`
}

const className = ({ kernel, rule, keep }) =>
	kernel !== "linear" ? "KernelPerceptron" : rule.startsWith("PA") ? "PassiveAggressive" : `${KEEPERS[keep]}Perceptron`

function options(learner, epochs, binary) {
	const { rule, kernel, keep, eta0, beta, C, tie, intercept, start, gamma, degree, coef0 } = learner
	const linear = kernel === "linear"
	const passive = rule.startsWith("PA")
	const given = {}
	if (!linear) Object.assign(given, { kernel: `"${kernel}"`, gamma })
	if (kernel === "poly") Object.assign(given, { degree, coef0 })
	if (passive) given.variant = `"${rule}"`
	if (passive && rule !== "PA") given.C = C
	if ((passive || !linear) && keep !== "last") given.keep = `"${keep}"`
	if (rule === "margin") given.beta = beta
	if (linear && !passive && eta0 !== 1) given.eta0 = eta0
	if (linear && binary && tie !== "mistake") given.tie = `"${tie}"`
	// The kernels here have no offset.
	if (!linear || !intercept) given.fit_intercept = "False"
	if (linear && binary && start) given.init = `([[${start[0]}, ${start[1]}]], [${start[2]}])`
	Object.assign(given, { max_iter: epochs, tol: "None", shuffle: "False" })
	return Object.entries(given)
		.map(([key, value]) => `${key}=${value}`)
		.join(", ")
}

export function writeScript(traces) {
	const { problem } = traces[0]
	const names = [...new Set(traces.map((t) => className(t.learner)))].sort()
	const parts = [
		"import numpy as np",
		`from rosenblatt import ${names.join(", ")}`,
		"",
		wrapped(
			"X",
			problem.X.map(([x, y]) => `[${x}, ${y}]`),
		),
		wrapped(
			"y",
			problem.X.map((_, i) => literal(problem.names[classOf(problem, i)])),
		),
	]
	traces.forEach((trace, j) => {
		const { learner, epochMistakes, length, converged } = trace
		const name = traces.length === 1 ? "model" : `model_${j + 1}`
		const linear = learner.kernel === "linear" && learner.keep !== "vote"
		const given = options(learner, Math.max(1, epochMistakes.length), problem.classes === 2)
		parts.push(
			"",
			`${name} = ${className(learner)}(${given}).fit(X, y)`,
			`print(${linear ? `${name}.coef_, ${name}.intercept_, ` : ""}${name}.mistakes_, ${name}.converged_)`,
			`# here: ${mistakesAt(trace, length)} mistakes, ${converged ? "converged" : "not converged"}`,
		)
		if (linear)
			for (const [w1, w2, b] of weightsAt(trace, length, learner.keep))
				parts.push(`# here: w = [${w1}, ${w2}], b = ${b}`)
	})
	return `${parts.join("\n")}\n`
}
