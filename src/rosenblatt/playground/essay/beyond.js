// The later screens: how long it takes, where it fails, and what to do then.

import { plural, show } from "../engine/sentence.js"
import { presetState, readLink } from "../engine/state.js"
import { set } from "../ui/node.js"
import { makeExam, makeRace, makeRivals } from "./charts.js"
import { isMoved, isOver, mistakes, soFar, tellStep } from "./figure.js"
import { KINDS } from "./kinds.js"
import { askBound, askKeep } from "./questions.js"

const boundOf = ({ store }) => store.most(store.learner)
const isSeparable = ({ store }) => store.margin(store.learner).low > 0
const toEnd = (store) => store.set({ step: store.trace.length })

function gap(figure) {
	const { store, player } = figure
	figure.setGap = (margin) => {
		const { preset, options } = store.state.data
		store.set({ ...presetState(preset, { ...options, margin }) })
		toEnd(store)
	}
	const input = figure.slider("Gap", "Width of the gap", [0.2, 1.5, 0.02, 0.3], (v) => {
		player.pause()
		figure.setGap(v)
	})
	figure.views.push({ render: () => (input.value = store.state.data?.options.margin ?? input.value) })
}

function reach({ store, slider, views }) {
	const input = slider("Reach", "Reach of a point", [0, 1, 0.05, 0.5], (v) => {
		store.set({ learners: store.changed({ gamma: Number((2 * 20 ** (1 - 2 * v)).toPrecision(2)) }) })
		toEnd(store)
	})
	views.push({ render: () => (input.value = (1 - Math.log(store.learner.gamma / 2) / Math.log(20)) / 2) })
}

// What the neuron could do in a year: AND, not XOR, XOR with a kernel.
const YEARS = {
	1958: "#data=and&learner=perceptron&epochs=100",
	1969: "#data=xor&learner=perceptron&epochs=12",
	1992: "#data=xor&learner=perceptron,kernel:poly,degree:2&epochs=60",
}

function years(figure) {
	const { store, player, button } = figure
	const made = Object.keys(YEARS).map((year) => button(year, () => choose(year), { "aria-pressed": year === "1958" }))
	const choose = (year) => {
		player.pause()
		figure.year = year
		for (const one of made) set(one, { "aria-pressed": one.textContent === year })
		store.set({ ...readLink(YEARS[year]) })
		toEnd(store)
	}
}

function chips({ store, tool, button }) {
	const made = [1, 0].map((c) => {
		const choose = () => {
			tool.choice = c
			for (const chip of made) set(chip, { "aria-pressed": chip.textContent === KINDS[c] })
		}
		return button(KINDS[c], choose, { "aria-pressed": c === 1 })
	})
	button("Clear", () => store.set({ points: [] }))
}

export const BEYOND = [
	{
		id: "race",
		title: "How often can it be wrong?",
		text: [
			"Say there is a *gap* between the kinds, γ to each side. Then every mistake brings w at least γ further in the best direction: the *floor* rises like a straight line.",
			"But a push never makes w much longer: the *ceiling* bends. Where they meet there is no room for a mistake. So there are at most *R²/γ²*, in any order. R is how far out the points lie.",
		],
		about: "Floor and ceiling of the proof.",
		link: "#data=blobs&n=24&margin=0.3&seed=38&epochs=400",
		setup: gap,
		extra: makeRace,
		ask: askBound,
		tell: (figure) =>
			`k = ${soFar(figure.store)}, of at most ${boundOf(figure)}. γ = ${show(figure.store.margin(figure.store.learner).low)}`,
		task: {
			say: "Pull the gap wide, until at most 10 mistakes are possible.",
			done: (figure) => boundOf(figure) <= 10,
			praise: (figure) => `At most ${boundOf(figure)}. Wide gaps are learned at once.`,
		},
	},
	{
		id: "xor",
		title: "What no line can do",
		text: [
			"XOR is ● blue where exactly one switch is on. The perceptron turns in circles. But that it has not stopped yet proves nothing.",
			"*This* proves it: ✕ lies between two blue points, so any line that keeps them together makes ✕ blue. It also lies between two orange points. No line can do both.",
		],
		about: "The proof that no line divides XOR.",
		link: "#data=xor&learner=perceptron,start:0.5_0.75_-0.75&epochs=10&step=4&proof=yes",
		tell(figure) {
			if (isSeparable(figure)) return `They no longer cross. It needs ${mistakes(figure)}.`
			return `${tellStep(figure)} ${soFar(figure.store)} so far.`
		},
		task: {
			say: "Drag a corner until the blue and the orange no longer cross. Then one line is enough.",
			done: isSeparable,
			praise: (figure) => `Nothing is on both sides now, and it finds a line after ${mistakes(figure)}.`,
		},
	},
	{
		id: "noise",
		title: "When the kinds overlap",
		text: [
			"Then no line is right and the perceptron never rests: its *last* line is an accident of its last mistake.",
			"Keep more: the *average* of all its lines, a *vote* of them, or the best so far in the *pocket*. The small points are new: it never learned from them, they only judge.",
		],
		about: "Four answers of one run.",
		link: "#data=noise&n=120&noise=0.16&held=0.5&seed=43&epochs=4&step=60&speed=30",
		extra: makeExam,
		ask: askKeep,
		tell({ store }) {
			const { keep } = store.learner
			return `Drawn: the ${keep === "last" ? "last line" : `${keep}; thin and dashed, the last line`}. Hollow: wrong.`
		},
		task: {
			say: "Guess, let it play to the end, and compare.",
			done: ({ guessed, store }) => guessed && store.state.step >= store.trace.length,
			praise({ view }) {
				const [last, average] = [view.errors.last, view.errors.average].map((list) => list.at(-1))
				return `New points missed at the end: last ${last}, average ${average}. Averaging pays.`
			},
		},
	},
	{
		id: "lift",
		title: "Lift it, and a flat cut is enough",
		text: [
			"No line divides these circles. So give every point a *height*: the further out, the higher. Now one flat sheet fits between them, and the perceptron finds it as before.",
			"On the floor below, the flat cut is a *curve*.",
		],
		solid: true,
		about: "Points lifted into space.",
		link: "#data=circles&n=44&noise=0.1&seed=2&learner=perceptron,kernel:poly&epochs=60&step=2000",
		task: {
			say: "Drag to turn it, until you look along the sheet.",
			done: ({ lift }) => lift?.turned && lift.edgeOn,
			praise: () => "Orange on one side, blue on the other: one flat cut.",
		},
	},
	{
		id: "kernel",
		title: "Curves without the lift",
		text: [
			"w is only a sum of missed points. So a score is a sum as well: each *missed point* (with a dot) speaks for its own kind, loud nearby, soft far away.",
			"How loud at which distance is the *kernel*. Nothing is ever lifted: that is the trick.",
		],
		about: "A boundary that bends.",
		link: "#data=moons&n=60&noise=0.1&seed=3&learner=perceptron,kernel:rbf,gamma:2&epochs=60&speed=30",
		hands: { add: true },
		setup: reach,
		tell({ store }) {
			const rows = store.trace.space.moves.slice(0, store.trace.mistakesAt(store.state.step)).map((move) => move.row)
			return `${new Set(rows).size} of ${store.state.points.length} points speak.`
		},
		task: {
			say: "Click among the orange points: it adds a blue one. Does the curve go around it?",
			done: (figure) => figure.store.state.points.length > 60 && isOver(figure),
			praise: (figure) => `It does: every point is right again, after ${mistakes(figure)}.`,
		},
	},
	{
		id: "many",
		title: "More than two kinds",
		text: [
			"Each kind gets an arrow of its own, and so a score of its own. The highest score wins.",
			"After a mistake the right arrow *gains* x, and the one that won wrongly *loses* it.",
		],
		about: "Three kinds at once.",
		hands: { arrows: true },
		link: "#data=three&n=45&margin=0.6&seed=1&epochs=60",
		task: {
			say: "Drag a point into the land of another color. What do the borders do?",
			done: isMoved,
			praise: (figure) =>
				`The borders moved with it: ${mistakes(figure)}, ${figure.store.trace.converged ? "then none" : "and no end"}.`,
		},
	},
	{
		id: "rivals",
		title: "Perceptron, logistic regression, SVM",
		text: [
			"All three answer with a line. The *perceptron* stops at the first line without a mistake. The *SVM* takes the line with the widest gap, so only the points next to it count.",
			"*Logistic regression* asks how probable every label is, so every point pulls a little, also one far away that is right anyway.",
		],
		about: "Three lines through the same points.",
		link: "#data=blobs&n=30&margin=0.35&seed=11&epochs=100&step=2000",
		extra: makeRivals,
		tell: (figure) => `${tellStep(figure)} The small picture has all three lines.`,
		task: {
			say: "Drag a point that is far from the border even further away. Whose line stays where it is?",
			done(figure) {
				const { lines } = figure.view
				if (!lines) return false
				figure.first ??= lines
				const moved = (name) => Math.max(...lines[name].map((v, j) => Math.abs(v - figure.first[name][j])))
				return isMoved(figure) && moved("svm") < 1e-3 && moved("logistic") > 1e-4
			},
			praise: () => "The SVM stays: that point is no support vector. Logistic regression moved a little.",
		},
	},
	{
		id: "history",
		title: "1958, 1969, today",
		text: [
			"*1958*: Frank Rosenblatt builds it. *1962*: the proof that it stops. *1969*: Minsky and Papert show what one neuron cannot do, XOR first of all, and money goes elsewhere.",
			"*1986*: hidden layers learn the lift by themselves. *1992*: kernels bend the line. *Today* a deep network is layers of such neurons, and single ones still learn from streams.",
		],
		about: "The same neuron in different years.",
		link: YEARS["1958"],
		setup: years,
		tell(figure) {
			return figure.year === "1992" ? `XOR with a kernel: ${tellStep(figure)}` : tellStep(figure)
		},
		task: {
			say: "Go through the years. In which is XOR solved?",
			done: (figure) => figure.year === "1992" && isOver(figure),
			praise: (figure) => `1992: the kernel needs ${mistakes(figure)}. In 1969 it would never end.`,
		},
	},
	{
		id: "yours",
		title: "Now your data",
		text: [
			"Click in the empty plane: some ● blue points, then some ■ orange ones. It learns while you draw.",
			"The *lab* has the rest: your own table, other rules, four learners side by side, and the Python lines that repeat a run.",
		],
		about: "An empty plane to draw in.",
		link: "#points=&epochs=100",
		controls: [],
		hands: { add: true },
		setup: chips,
		leave: "Take it to the lab",
		tell(figure) {
			const { points } = figure.store.state
			if (points.length === 0) return "Click in the plane."
			return `${plural(points.length, "point")}, ${mistakes(figure)}${isOver(figure) ? ", and now all are right" : ""}.`
		},
		task: {
			say: "Draw at least three of each kind.",
			done: ({ store }) => [0, 1].every((c) => store.state.points.filter((p) => p.c === c).length > 2),
			praise: (figure) =>
				isOver(figure) ? "It learned what you drew." : "No line can do this one. In the lab, a curve can.",
		},
	},
]
