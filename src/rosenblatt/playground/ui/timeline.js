// Time from left to right: every mistake marked, and the mistakes added up.

import { plural } from "../engine/sentence.js"
import { light } from "./light.js"
import { find, same, set, svg, word } from "./node.js"

const SIDE = 12

export function makeTimeline(store, stop) {
	const [range, box, picture] = [find("time"), find("scrub"), find("timeline")]
	const timeline = { render }
	let x

	function render({ step, active }, { traces, last }) {
		if (!same(timeline, active, ...traces, traces.length)) draw(active, traces, last)
		find("now").style.transform = `translateX(${x(step)}px)`
		find("past").style.transform = `scaleX(${x(step) - SIDE})`
		if (store.resting) return
		const { trace } = store
		const said = `step ${step} of ${last}, epoch ${trace.epochAt(step)}, ${trace.mistakesAt(step)} mistakes`
		range.value = step
		set(range, { "aria-valuetext": said })
	}

	function draw(active, traces, last) {
		// Every lane makes the strip higher, so that the curve above keeps its room.
		box.style.setProperty("--lanes", traces.length)
		const [width, height] = [Math.max(200, box.clientWidth), Math.max(60, box.clientHeight)]
		x = (t) => SIDE + (t / Math.max(1, last)) * (width - 2 * SIDE)
		const lane = 13
		const lanes = height - traces.length * (lane + 2) - 4
		const most = Math.max(...traces.map((t) => t.mistakesAt(t.length)))
		const y = (m) => lanes - 4 - (m / Math.max(1, most)) * (lanes - 24)
		const nodes = []
		const n = traces[active].problem.X.length
		const epochs = n ? last / n : 0
		for (let e = 0; e < epochs; e += Math.max(1, Math.ceil((epochs * 64) / width))) {
			const px = x(e * n)
			nodes.push(svg("path.epoch", { d: `M${px} 0V${height}` }))
			if (px < width - 140) nodes.push(word("left", px + (e ? 3 : 8), 12, e ? e + 1 : "epoch 1"))
		}
		traces.forEach((trace, j) => {
			const top = lanes + j * (lane + 2)
			const end = x(trace.length)
			const mine = j === active ? ".mine" : ""
			const ticks = new Map()
			let sum = `M${SIDE} ${y(0)}`
			trace.mistakes.forEach((mistake, s) => {
				if (!mistake) return
				const px = Math.round(x(s + 1) * 2) / 2
				ticks.set(trace.rows[s], `${ticks.get(trace.rows[s]) ?? ""}M${px} ${top}v${lane}`)
				sum += `H${px}V${y(trace.mistakeCounts[s]).toFixed(1)}`
			})
			nodes.push(
				svg("rect.lane", { x: SIDE, y: top, width: end - SIDE, height: lane, rx: 2 }),
				...[...ticks].map(([row, d]) => svg(`path.tick${mine}`, { d, "data-light": mine ? `row-${row}` : null })),
				svg(`path.sum${mine}`, { d: `${sum}H${end}` }),
			)
			if (trace.converged) nodes.push(svg("circle.end", { cx: end, cy: top + lane / 2, r: lane / 2 - 1 }))
			if (traces.length > 1) nodes.push(word("left", 2, top + lane - 1, j + 1))
		})
		nodes.push(word("most.right", width - SIDE - 8, 12, plural(most, "mistake")))
		range.max = last
		set(picture, { viewBox: `0 0 ${width} ${height}` })
		picture.replaceChildren(...nodes)
	}

	range.oninput = () => {
		stop()
		store.set({ step: Number(range.value) })
	}
	// The mistake under the pointer lights up with its row.
	box.addEventListener("pointermove", (event) => {
		const { trace } = store
		const px = event.clientX - box.getBoundingClientRect().left
		const near = trace.mistakes.findLastIndex((mistake, s) => mistake && x(s + 1) < px + 5)
		light(find("app"), near >= 0 && px - x(near + 1) < 6 ? [`row-${trace.rows[near]}`] : [])
	})
	new ResizeObserver(() => {
		timeline.shown = null
		render(store.state, store.derived)
	}).observe(box)
	return timeline
}
