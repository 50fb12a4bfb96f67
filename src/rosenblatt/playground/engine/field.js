// Scores of an answer at many places of the plane: a grid, or the rows themselves.
// Scores divided by `reach`, the sizes of all kernel terms, fade nowhere, which makes smooth contours.

import { predict } from "./keep.js"
import { kernelOf } from "./kernel.js"
import { isMistake } from "./rule.js"
import { eachRow, marginOf } from "./space.js"

export function makeField(trace, sites) {
	const { problem, learner, space, updateSteps, length, linear } = trace
	const kernel = kernelOf(learner)
	const kernelRows = new Map()
	const blank = () => eachRow(problem, () => new Float64Array(sites.length))
	const field = { scoresAt }
	let time, updates, now, sum, votes, pocket, kept

	function rewind() {
		time = updates = 0
		;[now, sum, votes, [field.reach]] = [blank(), blank(), blank(), blank()]
		if (linear) paint(now, space.snapshots[0])
	}

	function paint(scores, W) {
		W.forEach(([w1, w2, b], k) => {
			for (let s = 0; s < sites.length; s++) scores[k][s] = w1 * sites[s][0] + w2 * sites[s][1] + b
		})
		return scores
	}

	function add(out, weight, i, size = (v) => v) {
		if (!kernelRows.has(i))
			kernelRows.set(
				i,
				Float64Array.from(sites, (site) => kernel(problem.X[i], site)),
			)
		const row = kernelRows.get(i)
		for (let s = 0; s < out.length; s++) out[s] += weight * size(row[s])
	}

	function live(count) {
		time += count
		now.forEach((scores, k) => {
			for (let s = 0; s < scores.length; s++) sum[k][s] += count * scores[s]
		})
		for (let s = 0; s < sites.length; s++)
			if (now.length > 1) votes[predict(now.map((scores) => scores[s]))][s] += count
			else votes[0][s] += now[0][s] >= 0 ? count : -count
	}

	function update() {
		updates += 1
		if (linear) paint(now, space.snapshots[updates])
		else {
			const { row, parts, tau } = space.moves[updates - 1]
			add(field.reach, tau, row, Math.abs)
			for (const [k, by] of parts) add(now[k], by, row)
		}
		live(1)
	}

	function pocketScores(end) {
		if (pocket !== trace.keptAt(end, "pocket")) {
			pocket = trace.keptAt(end, "pocket")
			kept = blank()
			const rows = trace.rowWeightsAt(end, "pocket")
			rows.forEach((weights, k) => weights.forEach((weight, i) => weight && add(kept[k], weight, i)))
		}
		return kept
	}

	function scoresAt(t, keep) {
		const end = Math.min(t, length)
		if (linear && keep !== "vote") return paint(blank(), trace.weightsAt(end, keep))
		if (end < time) rewind()
		while (time < end) {
			const next = updateSteps[updates] ?? Infinity
			if (next > time + 1) live(Math.min(end, next - 1) - time)
			else update()
		}
		if (keep === "pocket") return pocketScores(end)
		if (end === 0 || keep === "last") return now
		return keep === "vote" ? votes : sum.map((scores) => scores.map((v) => v / end))
	}

	rewind()
	return field
}

// Which rows the answer at step t gets wrong, the smallest margin and the largest score, from a field whose sites are
// the rows. An answer of zeros is blank: it has no line yet.
export function judge(field, { problem, learner }, t) {
	const { y, classes } = problem
	const scores = field.scoresAt(t, learner.keep)
	// One list serves all rows: this runs for every frame.
	const mine = scores.map(() => 0)
	const wrong = []
	let [least, most] = [Infinity, 0]
	for (let i = 0; i < y.length; i++) {
		for (let k = 0; k < mine.length; k++) {
			mine[k] = scores[k][i]
			most = Math.max(most, Math.abs(mine[k]))
		}
		const margin = marginOf(mine, y[i])
		least = Math.min(least, margin)
		if (isMistake(margin, mine[0], y[i], classes, learner.tie)) wrong.push(i)
	}
	return { wrong, least, most, blank: most === 0 }
}
