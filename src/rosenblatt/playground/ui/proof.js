// The panel of the proof: the tally of mistakes, the wedge that closes, or the mistakes in each epoch.

import { plural, show } from "../engine/sentence.js"
import { openBook } from "./book.js"
import { find, html, same, set, svg, word } from "./node.js"
import { ticks } from "./view.js"
import { axes, legend, makeWedge } from "./wedge.js"

export function makeProof(store) {
	const chart = find("chart")
	const proof = { calm: true, render }
	const wedge = makeWedge(chart)

	function render({ step, whole }) {
		const { trace } = store
		const most = store.most(trace.learner)
		const [mistakes, updates] = [trace.mistakesAt(step), trace.updatesAt(step)]
		const limit = most === null ? "" : ` of at most ${show(most)}`
		const said = ` mistake${mistakes === 1 ? "" : "s"}${limit} · ${plural(updates, "update")}`
		find("tally").replaceChildren(html("strong", show(mistakes)), said)
		const lines = store.ledger(trace)
		const shows = lines?.length > 1
		for (const id of ["axis", "ledger-open"]) find(id).hidden = !shows
		find("none").textContent = shows ? "" : why(trace)
		if (!shows) return drawEpochs(trace, trace.epochAt(step))
		find("axis").textContent = whole ? "Zoom to the run" : "Up to the bound"
		if (!same(proof, trace, whole)) {
			find("legend").replaceChildren(...legend(trace.learner.rule === "perceptron"))
			wedge.draw(trace, lines, store.margin(trace.learner), store.bound(trace.learner), whole, ...room())
		}
		wedge.follow(lines, updates)
	}

	const room = () => [Math.max(200, chart.clientWidth), Math.max(70, chart.clientHeight)]

	function why({ problem, learner }) {
		if (problem.X.length === 0) return "No points yet."
		if (learner.start) return "The proof starts from zero weights: with a line of your own nothing is promised."
		if (store.margin(learner).low > 0) return "No update yet."
		return learner.kernel === "linear"
			? "No separating weights exist, so no bound: the mistakes never have to end."
			: "No margin was found, so nothing is promised."
	}

	function drawEpochs(trace, now) {
		if (same(proof, trace, now, "epochs")) return
		const counts = trace.epochMistakes
		const count = counts.length
		const top = Math.max(1, ...counts)
		const [width, height] = room()
		const { x, y, floor, rules } = axes(
			width,
			height,
			Math.max(count, 8),
			top * 1.1,
			ticks(0, top, 4).filter(Number.isInteger),
		)
		const wide = Math.max(0.6, (x(1) - x(0)) * 0.8)
		const bar = (v, e) =>
			svg(`rect.bar${e + 1 === now ? ".now" : ""}`, { x: x(e), width: wide, y: y(v), height: floor - y(v) })
		const ends = [...new Set([1, count])].filter((e) => e <= count)
		find("legend").replaceChildren(html("span", count ? "Mistakes in each epoch" : ""))
		set(chart, {
			viewBox: `0 0 ${width} ${height}`,
			"aria-label": `Mistakes in each of ${count} epochs, ${counts.at(-1) ?? 0} in the last.`,
		})
		chart.replaceChildren(...rules, ...counts.map(bar), ...ends.map((e) => word("middle", x(e - 0.6), height - 8, e)))
	}

	find("axis").onclick = () => store.set({ whole: !store.state.whole })
	find("ledger-open").onclick = () => openBook(store)
	new ResizeObserver(() => {
		proof.shown = null
		render(store.state)
	}).observe(find("proof"))
	return proof
}
