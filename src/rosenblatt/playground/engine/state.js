// What the lab shows, as one plain object, and the link that holds all of it. `data` is null unless the points are
// a preset's; `held` are points to judge by, never learned from; `of` counts the rows of a table of which only a sample
// is shown; `whole` draws the proof up to the bound, `proof` the certificate, `shade` the size of the score, `code` shows
// the textbook's lines.

import { fail } from "./fail.js"
import { PLAIN } from "./learn.js"
import { KEEPS } from "./keep.js"
import { KERNELS } from "./kernel.js"
import { LIMITS, makePreset, PRESETS } from "./presets.js"
import { RULES } from "./rule.js"
import { MOST_CLASSES, MOST_POINTS } from "./table.js"

export const MOST_LEARNERS = 4
export const MOST_EPOCHS = 1000
// "story": mistakes linger, right rows pass quickly. The others are steps per second.
export const SPEEDS = ["story", 1, 2, 5, 10, 30, 100, 300]
export const LARGEST = 1e9

const WORDS = { keep: KEEPS, kernel: KERNELS, tie: ["mistake", "positive"] }
export const NUMBERS = {
	eta0: [0.01, 10],
	beta: [0, 10],
	C: [0.001, 1000],
	degree: [1, 8],
	coef0: [0, 10],
	gamma: [0.01, 20],
}
const WHOLE = ["degree", "n", "seed"]

export function presetState(preset, given) {
	const options = { ...PRESETS[preset].options, ...given }
	return { data: { preset, options }, axes: null, of: 0, ...makePreset(preset, options) }
}

export function startState() {
	const plain = {
		active: 0,
		step: 0,
		epochs: 100,
		speed: "story",
		whole: true,
		proof: false,
		shade: false,
		code: false,
	}
	return { ...presetState("blobs"), learners: [PLAIN], ...plain }
}

function writeLearner(learner) {
	const parts = [learner.rule]
	for (const key of Object.keys({ ...WORDS, ...NUMBERS }))
		if (learner[key] !== PLAIN[key]) parts.push(`${key}:${learner[key]}`)
	if (!learner.intercept) parts.push("intercept:no")
	if (learner.start) parts.push(`start:${learner.start.join("_")}`)
	return parts.join(",")
}

export function writeLink(state) {
	const { data, names, axes, points, held, of, learners, active, epochs, step, speed, whole, proof, shade, code } =
		state
	const list = (texts) => texts.map(encodeURIComponent).join(",")
	const places = (some) => some.map((p) => `${p.x},${p.y},${p.c}`).join(";")
	const parts = data
		? [["data", data.preset], ...Object.entries(data.options).filter(([key, value]) => key !== "held" || value)]
		: [
				["classes", list(names)],
				["points", places(points)],
			]
	if (axes) parts.splice(1, 0, ["axes", list(axes)])
	if (!data && held.length) parts.push(["test", places(held)])
	if (of) parts.push(["of", of])
	for (const learner of learners) parts.push(["learner", writeLearner(learner)])
	if (active) parts.push(["active", active + 1])
	parts.push(["epochs", epochs], ["step", step], ["speed", speed])
	if (!whole) parts.push(["axis", "run"])
	if (proof) parts.push(["proof", "yes"])
	if (shade) parts.push(["shade", "yes"])
	if (code) parts.push(["code", "yes"])
	return `#${parts.map((part) => part.join("=")).join("&")}`
}

function numberOf(key, text, [least, most], whole = WHOLE.includes(key)) {
	const value = Number(text)
	if (text === "" || !(value >= least && value <= most))
		fail(`"${key}" must be a number from ${least} to ${most}, not "${text}".`)
	if (whole && !Number.isInteger(value)) fail(`"${key}" must be a whole number, not "${text}".`)
	return value
}

const wholeOf = (key, text, least, most) => numberOf(key, text, [least, most], true)

function wordOf(key, text, words) {
	if (!words.includes(text)) fail(`"${key}" must be one of ${words.join(", ")}, not "${text}".`)
	return text
}

const isFirst = (key, text, words) => wordOf(key, text, words) === words[0]

function namesOf(key, text, least, most, said) {
	const list = text.split(",").map((part) => {
		try {
			return decodeURIComponent(part)
		} catch {
			return fail(`"${part}" is not written as an address.`)
		}
	})
	if (list.length < least || list.length > most) fail(`"${key}" must be ${said} names.`)
	return list
}

function cut(text, mark) {
	const [key, ...rest] = text.split(mark)
	return [key, rest.join(mark)]
}

function readLearner(text) {
	const [rule, ...rest] = text.split(",")
	const learner = { ...PLAIN, rule: wordOf("learner", rule, RULES) }
	for (const [key, value] of rest.map((part) => cut(part, ":"))) {
		if (Object.hasOwn(WORDS, key)) learner[key] = wordOf(key, value, WORDS[key])
		else if (Object.hasOwn(NUMBERS, key)) learner[key] = numberOf(key, value, NUMBERS[key])
		else if (key === "intercept") learner.intercept = isYes(key, value)
		else if (key === "start") {
			learner.start = value.split("_").map((v) => numberOf("start", v, [-1e6, 1e6]))
			if (learner.start.length !== 3) fail(`"start" must be three numbers, not "${value}".`)
		} else fail(`a learner has no option "${key}".`)
	}
	if (learner.kernel === "linear") return learner
	if (rule === "margin") fail(`the rule "margin" goes with kernel:linear only, not with kernel:${learner.kernel}.`)
	const odd = ["eta0", "tie", "intercept", "start"].find((key) => learner[key] !== PLAIN[key])
	if (odd) fail(`"${odd}" goes with kernel:linear only, not with kernel:${learner.kernel}.`)
	return learner
}

function readPoints(text, classes) {
	const parts = text === "" ? [] : text.split(";")
	if (parts.length > MOST_POINTS) fail(`it has ${parts.length} points, and ${MOST_POINTS} is the most.`)
	return parts.map((part, i) => readPoint(part, i + 1, classes))
}

function readPoint(text, number, classes) {
	const [x, y, c, ...more] = text.split(",")
	if (c === undefined || more.length) fail(`point ${number}, "${text}", must be two numbers and a class.`)
	const place = (key, value) => numberOf(`${key} of point ${number}`, value, [-LARGEST, LARGEST])
	return { x: place("x", x), y: place("y", y), c: wholeOf(`class of point ${number}`, c, 0, classes - 1) }
}

function readData({ points, test = "", of = "0", classes = "-1,+1", axes, data, ...options }) {
	if (points !== undefined) {
		const names = namesOf("classes", classes, 2, MOST_CLASSES, `two to ${MOST_CLASSES}`)
		const twice = names.find((name, j) => names.indexOf(name) !== j)
		if (twice !== undefined) fail(`"classes" has the name "${twice}" twice.`)
		return {
			data: null,
			names,
			axes: axes === undefined ? null : namesOf("axes", axes, 2, 2, "two"),
			points: readPoints(points, names.length),
			held: readPoints(test, names.length),
			of: wholeOf("of", of, 0, LARGEST),
		}
	}
	if (data === undefined) return {}
	const preset = wordOf("data", data, Object.keys(PRESETS))
	const given = Object.keys(PRESETS[preset].options).filter((key) => Object.hasOwn(options, key))
	return presetState(preset, Object.fromEntries(given.map((key) => [key, numberOf(key, options[key], LIMITS[key])])))
}

const isYes = (key, text) => isFirst(key, text, ["yes", "no"])

const READERS = {
	active: (text, state) => ({ active: wholeOf("active", text, 1, state.learners.length) - 1 }),
	epochs: (text) => ({ epochs: wholeOf("epochs", text, 1, MOST_EPOCHS) }),
	step: (text) => ({ step: wholeOf("step", text, 0, 1e9) }),
	speed: (text) => ({ speed: SPEEDS.find((v) => String(v) === wordOf("speed", text, SPEEDS.map(String))) }),
	axis: (text) => ({ whole: isFirst("axis", text, ["bound", "run"]) }),
	proof: (text) => ({ proof: isYes("proof", text) }),
	shade: (text) => ({ shade: isYes("shade", text) }),
	code: (text) => ({ code: isYes("code", text) }),
}
const OF_DATA = ["data", "classes", "axes", "points", "test", "of", ...Object.keys(LIMITS)]
const KNOWN = [...OF_DATA, ...Object.keys(READERS)]

// A link with the values of another in place of its own: other data replace all that belongs to data.
export function mergeLinks(link, change) {
	const parts = (text) => text.replace(/^#/, "").split("&").filter(Boolean)
	const nameOf = (part) => part.split("=")[0]
	const names = parts(change).map(nameOf)
	const gone = names.includes("data") || names.includes("points") ? [...names, ...OF_DATA] : names
	return `#${[...parts(link).filter((part) => !gone.includes(nameOf(part))), ...parts(change)].join("&")}`
}

// The state a link holds, null for an empty one; an Error of one sentence if it is broken.
export function readLink(hash) {
	const text = hash.replace(/^#/, "")
	if (text === "") return null
	const given = Object.create(null)
	const learners = []
	for (const part of text.split("&")) {
		const [key, value] = cut(part, "=")
		if (!/^[^=]+=/.test(part)) fail(`"${part.slice(0, 40)}" is not name=value.`)
		if (key === "learner") learners.push(readLearner(value))
		else if (KNOWN.includes(key)) given[key] = value
		else fail(`"${key}" is not known.`)
	}
	if (learners.length > MOST_LEARNERS) fail(`it has ${learners.length} learners, and ${MOST_LEARNERS} is the most.`)
	const state = { ...startState(), ...readData(given) }
	if (learners.length) state.learners = learners
	// A stream is gone over once.
	if (given.data === "drift") state.epochs = 1
	for (const key of Object.keys(READERS)) if (key in given) Object.assign(state, READERS[key](given[key], state))
	return state
}
