// The first screens: what it does, and why. One idea and one figure each.

import { brief } from "../engine/sentence.js"
import { makeScoreLine } from "./charts.js"
import { mark } from "../ui/light.js"
import { isMoved, isOver, mistakes, sayPoint, soFar, tellStep } from "./figure.js"
import { KINDS, kindOf, tint } from "./kinds.js"
import { askTurn } from "./questions.js"

const DRAG = "Point 1 has the ring. Drag it."
const GATES = { "0001": "AND", "0111": "OR", "0110": "XOR" }
const gateOf = ({ store }) => GATES[store.state.points.map((p) => p.c).join("")] ?? "This gate"
const pair = (v) => `(${brief(v[0])}, ${brief(v[1])})`

function wrongNow({ store }) {
	const { X, y } = store.trace.problem
	const [[w1, w2, b]] = store.trace.weightsAt(store.state.step)
	return X.filter(([x1, x2], i) => y[i] * (w1 * x1 + w2 * x2 + b) <= 0).length
}

function tellWrong(figure) {
	const wrong = wrongNow(figure)
	const said = wrong ? `${wrong} guess${wrong > 1 ? "es are" : " is"} wrong.` : "Every guess is right."
	return said + (figure.probe ?? "")
}

// The line by hand: its angle, and how far it is shifted.
function steer(figure) {
	const { store, board, stage, said } = figure
	const begin = (start) => store.set({ learners: store.changed({ start }) })
	const turn = figure.slider("Turn", "Turn the line", [-180, 180, 2, -37], (v) => {
		const [w1, w2, b] = store.learner.start
		const [length, angle] = [Math.hypot(w1, w2), (v * Math.PI) / 180]
		begin([length * Math.cos(angle), length * Math.sin(angle), b])
	})
	const shift = figure.slider("Shift", "Shift the line", [-3, 3, 0.05, 1.2], (v) =>
		begin(store.learner.start.with(2, v)),
	)
	figure.views.push({
		render() {
			const [w1, w2, b] = store.learner.start
			turn.value = (Math.atan2(w2, w1) * 180) / Math.PI
			shift.value = b
		},
	})
	board.addEventListener("pointermove", (event) => {
		const box = board.getBoundingClientRect()
		const [x, y] = stage.view.toPlane(event.clientX - box.left, event.clientY - box.top)
		const [w1, w2, b] = store.learner.start
		const score = w1 * x + w2 * y + b
		figure.probe = ` Under the pointer the score is ${brief(score)}: ${KINDS[score >= 0 ? 1 : 0]}.`
		said.replaceChildren(...tint(tellWrong(figure)))
	})
}

function turned({ store }) {
	const [[a], [b] = [a]] = store.trace.space.snapshots
	return Math.abs(Math.atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])) * (180 / Math.PI)
}

const afterPush = ({ trace }) => trace.scores[0] + trace.qs[0]

export const BASICS = [
	{
		id: "learn",
		title: "A machine that learns from its mistakes",
		text: [
			"Here are two kinds of points, ● blue and ■ orange. The perceptron looks for a line between them.",
			"It takes one point after another and guesses its kind. If the guess is right, nothing happens. If it is wrong, the line moves. That is all, and it is from 1958.",
		],
		about: "Learning a line.",
		link: "#data=blobs&n=20&margin=0.3&seed=70&epochs=60",
		task: {
			say: "Drag any point. It learns again at once.",
			done: isMoved,
			praise: (figure) => `It learned again, with ${mistakes(figure)}.`,
		},
	},
	{
		id: "guess",
		title: "It guesses",
		text: [
			"A line has two sides. On one side the guess is ● blue, on the other ■ orange. A hollow point is a wrong guess.",
			"Every place has a *score*: 0 on the line, more the further you go to the blue side, less than 0 on the orange side.",
		],
		about: "A line to turn by hand.",
		link: "#data=blobs&n=20&margin=0.5&seed=4&learner=perceptron,start:1.2_-0.9_1.2&epochs=1",
		controls: [],
		hands: { move: false, arrows: true },
		setup: steer,
		still: true,
		tell: tellWrong,
		task: {
			say: "Be the machine: turn and shift the line, or drag the dot on the arrow, until no point is hollow.",
			done: (figure) => wrongNow(figure) === 0,
			praise: () => "Every guess is right. You could see the picture. The machine sees one point at a time.",
		},
	},
	{
		id: "move",
		title: "Wrong? Then the line moves",
		text: [
			"The point with the question mark comes next, and it lies on the wrong side. A wrong guess is a *mistake*.",
			"After a mistake the line turns, to bring the point to its own side. One turn may not be enough.",
		],
		about: "One mistake at a time.",
		link: "#points=0,1,0;-1.8,-0.4,1;1,1.3,0;0.3,-0.6,1;0.2,-1.2,1;-0.8,-0.8,1;-1.4,0.5,1;-1.9,1,1;1.9,-0.3,0;1,-0.2,0&learner=perceptron,start:-0.8_1.2_0.5&epochs=20",
		controls: [],
		hands: { move: false },
		ask: askTurn,
		still: true,
		tell(figure) {
			const { trace, state } = figure.store
			const row = trace.rows[figure.due - 1]
			if (row === undefined || state.step >= figure.due) return tellStep(figure)
			return `${sayPoint(row)} is ${kindOf(trace, row)}, but the guess is not.`
		},
		task: {
			say: "Get two of them right.",
			done: (figure) => figure.foreseen > 1,
			praise: () => "You see them coming. Now see what happens inside.",
		},
	},
	{
		id: "arrow",
		title: "One update, as arrows",
		text: [
			"The line stands square on an arrow, *w*, which points to the blue side. A point is an arrow too, *x*, from the middle of the grid to the point.",
			"Missed a blue point? Put its arrow at the tip of w. Missed an orange one? Take its arrow away. The new w goes from the middle to where that ends.",
		],
		about: "Adding one arrow to another.",
		link: "#points=-0.2,-1,1;-0.7,0.8,1;-1.7,1,1;1,-0.2,0;0.7,0.9,0;-1.2,-1.4,1;-1,0.2,1;1.1,-0.8,0;-1.7,-0.3,1&learner=perceptron,start:1.5_0.6_0&epochs=1",
		controls: ["Tell it again", "next"],
		hands: { arrows: true },
		first: true,
		tell(figure) {
			const { trace, state } = figure.store
			const s = state.step - 1
			if (!trace.taus[s]) return tellStep(figure)
			const [a, b] = [s, s + 1].map((t) => mark("w", pair(trace.weightsAt(t)[0])))
			const row = trace.rows[s]
			const sign = trace.problem.y[row] > 0 ? "+" : "−"
			const x = mark("x", pair(trace.problem.X[row]))
			return `${sayPoint(row)} is ${kindOf(trace, row)}: w = ${a} ${sign} ${x} = ${b}`
		},
		task: {
			say: `${DRAG} Can you swing w by more than 60 degrees?`,
			done: (figure) => figure.store.state.step === 1 && turned(figure) > 60,
			praise: (figure) => `It swung by ${Math.round(turned(figure))}°. A long arrow pulls hard.`,
		},
	},
	{
		id: "score",
		title: "Why that helps",
		text: [
			"The push always moves the score of the missed point the right way. And we know how far: by the *square* of the point's distance from the middle, and 1 more.",
			"That may not be enough. Then the next round may miss the point again, and push again.",
		],
		about: "The score before and after.",
		link: "#points=-0.9,1.4,1;1.5,1.2,1;1.2,-1.3,1;-1.4,-1.2,0;-0.4,-1.7,0&learner=perceptron,start:2.4_0.6_0&epochs=1",
		controls: ["Push"],
		hands: { arrows: true },
		first: true,
		extra: makeScoreLine,
		tell({ store }) {
			if (!store.trace.taus[0]) return "Here the guess is right, so there is no push."
			return afterPush(store) > 0 ? "One push is enough: the guess is now right." : "The right way, but not far enough."
		},
		task: {
			say: `${DRAG} Where is one push not enough?`,
			done: ({ store }) => store.trace.taus[0] > 0 && afterPush(store) <= 0,
			praise: () => "There. It moved the right way, and the next round may push it again.",
		},
	},
	{
		id: "and",
		title: "It learns AND",
		text: [
			"Two switches, off or on: four points. AND is ● blue only where both are on.",
			"The perceptron goes round and round over the four. One round is an *epoch*. When a whole epoch is right, it has *converged*.",
		],
		about: "Learning a gate.",
		link: "#data=and&epochs=40",
		hands: {
			move: false,
			tap({ store, player }, row) {
				player.pause()
				store.set({
					points: store.state.points.map((p, i) => (i === row ? { ...p, c: 1 - p.c } : p)),
					data: null,
					step: 0,
				})
				player.start()
			},
		},
		tell(figure) {
			const { trace, state } = figure.store
			const [name, epochs] = [gateOf(figure), trace.epochMistakes.length]
			if (isOver(figure)) return `${name}: ${mistakes(figure)} in ${epochs - 1} epochs, then none.`
			if (state.step >= trace.length) return `${name}: still wrong after ${epochs} epochs. Two screens on you see why.`
			return `${name}, epoch ${trace.epochs[state.step]}: ${soFar(figure.store)} so far.`
		},
		task: {
			say: "Click a corner to change its kind. Make OR: all blue but the lower left. Does it learn that too?",
			done: (figure) => gateOf(figure) === "OR" && isOver(figure),
			praise: (figure) => `Yes: OR takes ${mistakes(figure)}. It can learn 14 of the 16 gates.`,
		},
	},
]
