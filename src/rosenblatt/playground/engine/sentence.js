// The arithmetic of a step in words and numbers.

import { scoresOf } from "./space.js"
import { target } from "./rule.js"

export function show(value) {
	if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "?"
	const size = Math.abs(value)
	let text = String(Math.round(value * 1000) / 1000)
	if (size !== 0 && size < 0.01) text = String(Number(value.toPrecision(2)))
	else if (size >= 1e6) {
		const [digits, power] = value.toExponential(3).split("e+")
		text = `${Number(digits)}·10${[...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`
	}
	return text.replace(/^-0$/, "0").replace(/-/g, "−")
}

export const brief = (value) => show(Math.round(value * 100) / 100)

export const plural = (count, noun) => `${show(count)} ${noun}${count === 1 ? "" : "s"}`

const pair = (v) => `(${show(v[0])}, ${show(v[1])})`
const signed = (v, text = show(Math.abs(v))) => `${v < 0 ? " − " : " + "}${text}`

function linearSum([w1, w2, b], x, intercept, mark) {
	const [x1, x2] = x.map((v) => mark("x", v < 0 ? `(${show(v)})` : show(v)))
	const offset = intercept || b !== 0 ? signed(b) : ""
	return `${mark("w", show(w1))}·${x1}${signed(w2, mark("w", show(Math.abs(w2))))}·${x2}${offset}`
}

function kernelSum(A, row, mark) {
	const terms = [...A.entries()].filter(([, weight]) => weight)
	if (terms.length === 0) return "an empty sum"
	const shown = terms.slice(0, 4).map(([i, weight]) => {
		const size = Math.abs(weight) === 1 ? "" : `${show(Math.abs(weight))}·`
		return signed(weight, `${size}K(${mark(`row-${i}`, `x${i + 1}`)}, ${mark("x", `x${row + 1}`)})`)
	})
	const sum = shown.join("").replace(/^ \+ /, "").replace(/^ − /, "−")
	return sum + (terms.length > 4 ? ` + … (${terms.length} terms)` : "")
}

function howFar({ rule, C }, margin, q, tau) {
	const loss = show(1 - margin)
	return {
		PA: `τ = loss/q = ${loss}/${show(q)} = ${show(tau)}`,
		"PA-I": `τ = min(C, loss/q) = min(${show(C)}, ${loss}/${show(q)}) = ${show(tau)}`,
		"PA-II": `τ = loss/(q + 1/(2C)) = ${loss}/(${show(q)} + ${show(1 / (2 * C))}) = ${show(tau)}`,
	}[rule]
}

function verdict(learner, binary, score, margin, mistake, tau) {
	const value = `${binary ? "y·a" : "lead"} = ${show(margin)}`
	if (learner.tie === "positive" && binary && score === 0)
		return `a = 0 is read as +1: ${mistake ? "a mistake" : "right"}`
	if (mistake) return `${value} ≤ 0: a mistake`
	const goal = target(learner)
	if (tau) return `${value} ${learner.rule === "margin" ? `≤ β = ${show(goal)}` : "< 1"}: right, but too close`
	return goal > 0 ? `${value} is wide enough` : `${value} > 0: right`
}

function describeStart({ problem, learner }) {
	const count = problem.X.length
	const start = learner.start ? `w = ${pair(learner.start)}, b = ${show(learner.start[2])}` : "all weights 0"
	return {
		head: `Before the first step: ${plural(count, "row")}, ${start}.`,
		sums: [],
		verdict: "",
		change: count ? "Step, or play." : "Click in the plane to add points.",
	}
}

// `mark` wraps what belongs together: "row", its "x", the weights "w", the "score", another row by its number.
export function describe(trace, t, mark = (_, text) => text) {
	if (t === 0 || trace.length === 0) return describeStart(trace)
	const { problem, learner } = trace
	const { names, X, y } = problem
	const s = Math.min(t, trace.length) - 1
	const [row, score, margin, tau] = [trace.rows[s], trace.scores[s], trace.margins[s], trace.taus[s]]
	const [x, label, mistake, rival] = [X[row], y[row], trace.mistakes[s], trace.wrongs[s]]
	const name = names[problem.kinds[row]]
	const binary = problem.classes === 2
	const sign = label === 1 ? "+1" : "−1"
	const known = name === sign.replace("−", "-") ? "" : `class ${name}${binary ? ", so " : ""}`
	const by = binary && label < 0 ? "−" : "+"
	const sums = []
	let change = mistake ? "but a row of zeros cannot move the weights." : "so nothing changes."
	if (!trace.linear) {
		if (binary) sums.push(`a = ${kernelSum(trace.rowWeightsAt(s)[0], row, mark)} = ${mark("score", show(score))}`)
		else sums.push(`a(${name}) = ${show(score)}, best other: a(${names[rival]}) = ${show(score - margin)}`)
		if (tau) change = `so row ${row + 1} joins the sum with ${by}${show(tau)}.`
	} else {
		const [before, after] = [s, s + 1].map((time) => trace.weightsAt(time))
		scoresOf(before, x).forEach((a, k) =>
			sums.push(
				`a${binary ? "" : `(${names[k]})`} = ${linearSum(before[k], x, learner.intercept, mark)} = ${mark("score", show(a))}`,
			),
		)
		if (tau && binary) {
			const [[, , b], [, , next]] = [before[0], after[0]]
			const offset = learner.intercept ? `, and b becomes ${show(b)} ${by} ${show(tau)} = ${show(next)}` : ""
			const sum = `${mark("w", pair(before[0]))} ${by} ${show(tau)}·${mark("x", pair(x))} = ${mark("w", pair(after[0]))}`
			change = `so w becomes ${sum}${offset}.`
		} else if (tau)
			change = `so w(${name}) gains ${show(tau)}·${mark("x", "x")} = ${mark("w", pair(after[label]))}, and w(${names[rival]}) loses it = ${mark("w", pair(after[rival]))}.`
	}
	if (tau && learner.rule.startsWith("PA")) sums.push(howFar(learner, margin, trace.qs[s], tau))
	return {
		head: `${mark("row", `Row ${row + 1}`)}: x = ${mark("x", pair(x))}, ${known}${binary ? `y = ${sign}` : ""}.`,
		sums,
		verdict: verdict(learner, binary, score, margin, mistake, tau),
		change,
	}
}

export function sayStep(trace, t) {
	const { head, sums, verdict: judged, change } = describe(trace, t)
	return [head, ...sums, `${judged && `${judged}, `}${change}`].join(" ")
}
