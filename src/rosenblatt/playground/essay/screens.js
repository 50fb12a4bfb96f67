// The screens of the essay, one idea and one figure each. Text between * is stressed. A task notices when it is done.

import { weightsAt } from "../engine/keep.js"
import { mistakesAt } from "../engine/learn.js"
import { show } from "../engine/sentence.js"
import { makeExam, makeRace, makeScoreLine } from "./charts.js"
import { KINDS, kindOf, tellStep } from "./figure.js"
import { askBound, askKeep, askTurn } from "./questions.js"

const mistakes = ({ store }) => store.trace.mistakeCounts.at(-1) ?? 0
const isMoved = ({ store }) => store.state.data === null
const isOver = ({ store }) => store.trace.converged && store.state.step >= store.trace.length
const wrongNow = ({ store }) => {
	const { problem, length } = store.trace
	const [w] = weightsAt(store.trace, Math.min(store.state.step, length), "last")
	return problem.X.filter((x, i) => problem.y[i] * (w[0] * x[0] + w[1] * x[1] + w[2]) <= 0).length
}

const SQUARE = "0001 AND,0111 OR,0110 XOR,1001 XNOR,1110 NAND,1000 NOR,0000 always 0,1111 always 1"
const gateOf = ({ store }) => {
	const bits = store.state.points.map((p) => p.c).join("")
	return (
		SQUARE.split(",")
			.find((text) => text.startsWith(bits))
			?.slice(5) ?? "A gate without a common name"
	)
}

function turned({ store }) {
	const [[a], [b]] = [store.trace.space.snapshots[0], store.trace.space.snapshots[1] ?? store.trace.space.snapshots[0]]
	return Math.abs(Math.atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])) * (180 / Math.PI)
}

const dragRow1 = "Point 1 has the ring. Drag it."

const tellNext = (figure) => {
	const { trace, state } = figure.store
	const row = trace.rows[figure.due - 1]
	if (row === undefined || state.step >= figure.due) return tellStep(figure)
	return `Point ${row + 1} is ${kindOf(trace, row)}, but the guess is not.`
}

// The line by hand: its angle, and how far it is shifted.
function steer(figure) {
	const { store } = figure
	const begin = (start) => store.set({ learners: store.changed({ start }) })
	const now = () => store.learner.start
	figure.slider("Turn", { min: -180, max: 180, step: 2, value: -37, "aria-label": "Turn the line" }, (v) => {
		const length = Math.hypot(now()[0], now()[1])
		const angle = (v * Math.PI) / 180
		begin([length * Math.cos(angle), length * Math.sin(angle), now()[2]])
	})
	figure.slider("Shift", { min: -3, max: 3, step: 0.05, value: 1.2, "aria-label": "Shift the line" }, (v) =>
		begin(now().with(2, v)),
	)
	const { board, stage } = figure
	board.addEventListener("pointermove", (event) => {
		const box = board.getBoundingClientRect()
		const [x, y] = stage.view.toPlane(event.clientX - box.left, event.clientY - box.top)
		const score = now()[0] * x + now()[1] * y + now()[2]
		figure.probe = ` Under the pointer the score is ${show(Math.round(score * 10) / 10)}: ${KINDS[score >= 0 ? 1 : 0]}.`
		figure.said.textContent = tellWrong(figure)
	})
}

const tellWrong = (figure) => {
	const wrong = wrongNow(figure)
	return `${wrong ? `${wrong} guess${wrong > 1 ? "es are" : " is"} wrong.` : "Every guess is right."}${figure.probe ?? ""}`
}

function gap(figure) {
	const { store } = figure
	const input = figure.slider(
		"Gap",
		{ min: 0.2, max: 1.5, step: 0.02, value: 0.3, "aria-label": "Width of the gap" },
		(v) => {
			figure.player.pause()
			figure.setGap(v)
		},
	)
	figure.setGap = (v) => {
		input.value = v
		const { data } = store.state
		store.set({ ...figure.preset(data.preset, { ...data.options, margin: v }), step: 0 })
		store.set({ step: store.trace.length })
	}
}

export const SCREENS = [
	{
		id: "learn",
		title: "A machine that learns from its mistakes",
		text: [
			"Here are two kinds of points, *● blue* and *■ orange*. The perceptron looks for a line between them.",
			"It takes one point after another and guesses its kind. If the guess is right, nothing happens. If it is wrong, the line moves. That is all, and it is from 1958.",
		],
		about: "Learning a line.",
		link: "#data=blobs&n=20&margin=0.3&seed=70&epochs=60",
		task: {
			say: "Drag any point. It learns again at once.",
			done: isMoved,
			praise: (f) => `It learned again, with ${mistakes(f)} mistakes.`,
		},
	},
	{
		id: "guess",
		title: "It guesses",
		text: [
			"A line has two sides. On one side the guess is *● blue*, on the other *■ orange*. A hollow point is a wrong guess.",
			"Every place has a *score*: 0 on the line, more the further you go to the blue side, less than 0 on the orange side.",
		],
		about: "A line to turn by hand.",
		link: "#data=blobs&n=20&margin=0.5&seed=4&learner=perceptron,start:1.2_-0.9_1.2&epochs=1",
		controls: [],
		hands: { move: false },
		setup: steer,
		tell: tellWrong,
		task: {
			say: "Be the machine: turn and shift the line, or drag the dot on the arrow, until no point is hollow.",
			done: (f) => wrongNow(f) === 0,
			praise: () => "Every guess is right. You could see the picture. The machine sees one point at a time.",
		},
	},
	{
		id: "move",
		title: "Wrong? Then the line moves",
		text: [
			"The point with the question mark comes next, and it lies on the wrong side. A wrong guess is a *mistake*.",
			"After a mistake the line turns so that this point comes nearer to its own side, or over to it.",
		],
		about: "One mistake at a time.",
		link: "#points=0,1,0;-1.8,-0.4,1;1,1.3,0;0.3,-0.6,1;0.2,-1.2,1;-0.8,-0.8,1;-1.4,0.5,1;-1.9,1,1;1.9,-0.3,0;1,-0.2,0&learner=perceptron,start:-0.8_1.2_0.5&epochs=20",
		controls: [],
		hands: { move: false },
		tell: tellNext,
		ask: askTurn,
		still: true,
		task: {
			say: "Foresee two turns.",
			done: (f) => f.foreseen >= 2,
			praise: () => "You see them coming. Now see what happens inside.",
		},
	},
	{
		id: "arrow",
		title: "One update, as arrows",
		text: [
			"The line stands square on an arrow, *w*, which points to the blue side. A point is an arrow too, *x*, from the middle of the grid to the point.",
			"Missed a blue point? Put its arrow at the tip of w. Missed an orange one? Take its arrow away. The new w goes from the start to the end.",
		],
		about: "Adding one arrow to another.",
		link: "#points=-0.2,-1,1;-0.7,0.8,1;-1.7,1,1;1,-0.2,0;0.7,0.9,0;-1.2,-1.4,1;-1,0.2,1;1.1,-0.8,0;-1.7,-0.3,1;1.9,-0.7,0&learner=perceptron,start:1.5_0.6_0&epochs=1",
		controls: ["next"],
		setup: (figure) =>
			figure.button(
				"Tell it again",
				() => {
					figure.store.set({ step: 0 })
					figure.store.set({ step: 1 })
				},
				{ class: "accent" },
			),
		first: 1,
		tell: (figure) => {
			const { trace, state } = figure.store
			const s = state.step - 1
			if (s < 0 || !trace.taus[s]) return tellStep(figure)
			const pair = (v) => `(${show(Math.round(v[0] * 100) / 100)}, ${show(Math.round(v[1] * 100) / 100)})`
			const [a, b] = [s, s + 1].map((t) => weightsAt(trace, t, "last")[0])
			const row = trace.rows[s]
			return `Point ${row + 1} is ${kindOf(trace, row)}: w = ${pair(a)} ${trace.problem.y[row] > 0 ? "+" : "−"} ${pair(trace.problem.X[row])} = ${pair(b)}`
		},
		task: {
			say: `${dragRow1} Can you swing w by more than 60 degrees?`,
			done: (f) => f.store.state.step === 1 && turned(f) > 60,
			praise: (f) => `It swung by ${Math.round(turned(f))}°. A long arrow pulls hard.`,
		},
	},
	{
		id: "score",
		title: "Why that helps",
		text: [
			"The push always moves the score of the missed point the right way. It even says how far: by the *square of the point's distance* from the middle, and 1 more.",
			"That may not be enough. Then the point is missed again in the next round, and pushed again.",
		],
		about: "The score before and after.",
		link: "#points=-1.6,1,1;1.5,1.2,1;1.2,-1.3,1;-1.4,-1.2,0;-0.4,-1.7,0&learner=perceptron,start:2_-1.2_0&epochs=1",
		controls: [],
		setup: (figure) =>
			figure.button(
				"Push",
				() => {
					figure.store.set({ step: 0 })
					figure.store.set({ step: 1 })
				},
				{ class: "accent" },
			),
		first: 1,
		extra: makeScoreLine,
		tell: ({ store }) => {
			const { trace } = store
			if (!trace.taus[0]) return "Here the guess is right, so there is no push."
			const after = trace.scores[0] + trace.qs[0]
			return after > 0 ? "One push is enough: the guess is now right." : "The right way, but not far enough."
		},
		task: {
			say: `${dragRow1} Where is one push not enough?`,
			done: ({ store }) => store.trace.taus[0] > 0 && store.trace.scores[0] + store.trace.qs[0] <= 0,
			praise: () => "There. It moved the right way, and will be pushed again in the next round.",
		},
	},
	{
		id: "and",
		title: "It learns AND",
		text: [
			"Two switches, off or on: four points. AND is *● blue* only where both are on.",
			"The perceptron goes round and round over the four. One round is an *epoch*. When a whole epoch is right, it has *converged*.",
		],
		about: "Learning a gate.",
		link: "#data=and&epochs=40",
		hands: {
			move: false,
			tap: (figure, row) => {
				const points = figure.store.state.points.map((p, i) => (i === row ? { ...p, c: 1 - p.c } : p))
				figure.store.set({ points, data: null, step: 0 })
				figure.restart()
			},
		},
		tell: (figure) => {
			const { trace, state } = figure.store
			const name = gateOf(figure)
			if (isOver(figure))
				return `${name}: ${mistakes(figure)} mistakes in ${trace.epochMistakes.length - 1} epochs, then none.`
			if (state.step >= trace.length)
				return `${name}: still wrong after ${trace.epochMistakes.length} epochs. Two screens on you see why.`
			return `${name}, epoch ${trace.epochs[Math.max(0, state.step - 1)]}: ${mistakesAt(trace, state.step)} mistakes so far.`
		},
		task: {
			say: "Click a corner to change its kind. Make OR: all blue but the lower left. Does it learn that too?",
			done: (f) => gateOf(f) === "OR" && isOver(f),
			praise: (f) => `Yes: OR takes ${mistakes(f)} mistakes. It can learn 14 of the 16 gates.`,
		},
	},
	{
		id: "race",
		title: "How often can it be wrong?",
		text: [
			"Say there is a *gap* between the kinds, γ to each side. Then every mistake brings w at least γ further the best way: the *floor* rises like a straight line.",
			"But a push never makes w much longer: the *ceiling* bends. Where they meet there is no room for a mistake. So there are at most *R²/γ²*, in any order. R is how far out the points lie.",
		],
		about: "Floor and ceiling of the proof.",
		link: "#data=blobs&n=24&margin=0.3&seed=38&epochs=400",
		setup: gap,
		extra: makeRace,
		ask: askBound,
		tell: ({ store }) => {
			const bound = Math.floor(store.bound(store.learner) + 1e-9)
			return `${mistakesAt(store.trace, store.state.step)} mistakes of at most ${bound}. γ = ${show(store.margin(store.learner).low)}`
		},
		task: {
			say: "Pull the gap wide, until at most 10 mistakes are possible.",
			done: ({ store }) => store.bound(store.learner) < 11,
			praise: ({ store }) => `At most ${Math.floor(store.bound(store.learner) + 1e-9)}. Wide gaps are learned at once.`,
		},
	},
	{
		id: "xor",
		title: "What no line can do",
		text: [
			"XOR is *● blue* where exactly one switch is on. The perceptron turns in circles. But that it has not stopped yet proves nothing.",
			"*This* proves it: ✕ lies between two blue points, so any line that keeps them together makes ✕ blue. It also lies between two orange points. No line can do both.",
		],
		about: "The proof that no line divides XOR.",
		link: "#data=xor&epochs=10&step=6&proof=yes",
		tell: (figure) => {
			const { store } = figure
			if (store.margin(store.learner).low > 0) return `They no longer cross. It needs ${mistakes(figure)} mistakes.`
			return `${tellStep(figure)} ${mistakesAt(store.trace, store.state.step)} mistakes so far.`
		},
		task: {
			say: "Drag a corner until the blue and the orange no longer cross. Then one line is enough.",
			done: ({ store }) => store.margin(store.learner).low > 0,
			praise: (f) => `Nothing is on both sides now, and it finds a line after ${mistakes(f)} mistakes.`,
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
		link: "#data=noise&n=120&noise=0.16&held=0.5&seed=43&epochs=4&speed=30",
		extra: makeExam,
		ask: askKeep,
		tell: ({ store }) =>
			`Drawn: the ${store.learner.keep}${store.learner.keep === "last" ? " line" : ""}${store.learner.keep === "last" ? "" : "; thin and dashed, the last line"}. Hollow: wrong.`,
		task: {
			say: "Guess above, let it play to the end, and compare.",
			done: (f) => f.guessed && f.store.state.step >= f.store.trace.length,
			praise: (f) => {
				const { last, average } = f.view.errors
				return `New points missed at the end: last ${last.at(-1)}, average ${average.at(-1)}. Averaging pays.`
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
			done: (f) => f.lift.turned && f.lift.edgeOn,
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
		setup: (figure) => {
			const { store } = figure
			figure.slider("Reach", { min: 0, max: 1, step: 0.05, value: 0.5, "aria-label": "Reach of a point" }, (v) => {
				store.set({ learners: store.changed({ gamma: Number((20 ** (1 - 2 * v) * 2).toPrecision(2)) }) })
				store.set({ step: store.trace.length })
			})
		},
		add: (figure) => figure.store.set({ step: figure.store.trace.length }),
		tell: ({ store }) => {
			const rows = new Set(
				store.trace.space.moves.slice(0, mistakesAt(store.trace, store.state.step)).map((m) => m.row),
			)
			return `${rows.size} of ${store.state.points.length} points speak.`
		},
		task: {
			say: "Click among the orange points: it adds a blue one. Does the curve go around it?",
			done: (f) => f.store.state.points.length > 60 && isOver(f),
			praise: (f) => `It does: every point is right again, after ${mistakes(f)} mistakes.`,
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
		link: "#data=three&n=45&margin=0.6&seed=1&epochs=60",
		task: {
			say: "Drag a point into the land of another colour. What do the borders do?",
			done: isMoved,
			praise: (f) =>
				`The borders moved with it: ${mistakes(f)} mistakes, ${f.store.trace.converged ? "then none" : "and no end"}.`,
		},
	},
	{
		id: "yours",
		title: "Now your data",
		text: [
			"Click in the empty plane: some *● blue* points, then some *■ orange* ones. It learns while you draw.",
			"The *lab* has the rest: your own table, other rules, four learners side by side, the proof line by line, and the Python lines that repeat a run.",
		],
		about: "An empty plane to draw in.",
		link: "#points=&epochs=100",
		controls: [],
		hands: { add: true },
		setup: (figure) => {
			const chips = [1, 0].map((c) =>
				figure.button(
					KINDS[c],
					() => {
						figure.tool.choice = c
						for (const chip of chips) chip.setAttribute("aria-pressed", chip === chips[c ? 0 : 1])
					},
					{ "aria-pressed": c === 1 },
				),
			)
			figure.button("Clear", () => figure.store.set({ points: [] }))
		},
		add: (figure) => figure.store.set({ step: figure.store.trace.length }),
		tell: (figure) => {
			const { points } = figure.store.state
			if (points.length === 0) return "Click in the plane."
			return `${points.length} point${points.length > 1 ? "s" : ""}, ${mistakes(figure)} mistake${mistakes(figure) === 1 ? "" : "s"}${isOver(figure) ? ", all right" : ""}.`
		},
		task: {
			say: "Draw at least three of each kind.",
			done: ({ store }) => [0, 1].every((c) => store.state.points.filter((p) => p.c === c).length > 2),
			praise: (f) => (isOver(f) ? "It learned what you drew." : "No line can do this one. In the lab, a curve can."),
		},
	},
]
