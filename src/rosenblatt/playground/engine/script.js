// The Python lines that reproduce a run with the rosenblatt package.

const KEEPERS = { last: "", average: "Averaged", vote: "Voted", pocket: "Pocket" }

// The labels in Python: the names as numbers or texts if Python sorts them as they stand here, else 0, 1, 2 …
function labels(names) {
	const plain = names.every((name) => /^[+-]?(0|[1-9]\d{0,8})(\.\d{1,8})?$/.test(name))
	const keys = plain ? names.map(Number) : names
	const sorted = keys.every((key, j) => j === 0 || keys[j - 1] < key)
	if (sorted) return { texts: keys.map((key) => JSON.stringify(key)), note: [] }
	return {
		texts: names.map((_, c) => String(c)),
		note: [`# ${names.map((name, c) => `${c}: ${JSON.stringify(name)}`).join(", ")}`],
	}
}

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
	if (passive) given[linear ? "variant" : "rule"] = `"${rule}"`
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
	const { texts, note } = labels(problem.names)
	const parts = [
		"import numpy as np",
		`from rosenblatt import ${names.join(", ")}`,
		"",
		...note,
		wrapped(
			"X",
			problem.X.map(([x, y]) => `[${x}, ${y}]`),
		),
		wrapped(
			"y",
			problem.X.map((_, i) => texts[problem.kinds[i]]),
		),
	]
	traces.forEach((trace, j) => {
		const { learner, epochMistakes, length, converged, straight } = trace
		const name = traces.length === 1 ? "model" : `model_${j + 1}`
		const given = options(learner, Math.max(1, epochMistakes.length), problem.classes === 2)
		parts.push(
			"",
			`${name} = ${className(learner)}(${given}).fit(X, y)`,
			`print(${straight ? `${name}.coef_, ${name}.intercept_, ` : ""}${name}.mistakes_, ${name}.converged_)`,
			`# here: ${trace.mistakesAt(length)} mistakes, ${converged ? "converged" : "not converged"}`,
		)
		if (straight)
			for (const [w1, w2, b] of trace.weightsAt(length, learner.keep))
				parts.push(`# here: w = [${w1}, ${w2}], b = ${b}`)
	})
	return `${parts.join("\n")}\n`
}
