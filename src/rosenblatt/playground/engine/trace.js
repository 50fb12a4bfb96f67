// A run, and what it was at step t. Step t is entry t - 1 of the lists; step 0 is the start. `pockets` names weights by
// their update.

const COLUMNS =
	"rows epochs scores margins mistakes taus wrongs qs mistakeCounts updateCounts pockets pocketMistakes".split(" ")

export class Trace {
	length = 0
	converged = false
	updateSteps = []
	epochMistakes = []

	constructor(problem, learner, space) {
		Object.assign(this, { problem, learner, space, linear: learner.kernel === "linear" })
		// A vote has no weights of its own to draw.
		this.straight = this.linear && learner.keep !== "vote"
		for (const name of COLUMNS) this[name] = []
	}

	// The values of one step, in the order of the columns.
	push(...step) {
		COLUMNS.forEach((name, j) => this[name].push(step[j]))
	}

	at = (name, t) => this[name][Math.min(t, this.length) - 1] ?? 0
	updatesAt = (t) => this.at("updateCounts", t)
	mistakesAt = (t) => this.at("mistakeCounts", t)
	epochAt = (t) => this.at("epochs", t)

	nextMistake(t) {
		const next = this.mistakes.indexOf(true, t)
		return next < 0 ? this.length : next + 1
	}

	// The update whose weights are kept.
	keptAt(t, keep) {
		return keep === "pocket" ? this.at("pockets", t) : this.updatesAt(t)
	}

	// Linear weights, one row for each class (one for two classes), the offset last. A vote has none.
	weightsAt(t, keep = "last") {
		const { snapshots, totals } = this.space
		const end = Math.min(t, this.length)
		if (keep === "average" && end > 0) return totals[end - 1].map((row) => row.map((v) => v / end))
		return snapshots[this.keptAt(t, keep)]
	}

	// Kernel weights of rows, signed: score_k(x) = sum_i A[k][i] K(x_i, x).
	rowWeightsAt(t, keep = "last") {
		const A = this.space.A.map((row) => new Float64Array(row.length))
		for (const { row, parts } of this.space.moves.slice(0, this.keptAt(t, keep)))
			for (const [k, by] of parts) A[k][row] += by
		return A
	}

	// Every weight vector up to step t, named by its update, with the number of examples it survived.
	livedAt(t) {
		const end = Math.min(t, this.length)
		const births = [1, ...this.updateSteps.slice(0, this.updatesAt(end)), end + 1]
		return births.slice(1).map((next, update) => ({ update, count: next - births[update] }))
	}

	voteAt(t) {
		const lived = this.livedAt(t).map(({ update, count }) => [...this.space.snapshots[update][0], count])
		return (x, y) => {
			let total = 0
			for (const [w1, w2, b, count] of lived) total += w1 * x + w2 * y + b >= 0 ? count : -count
			return total
		}
	}
}
