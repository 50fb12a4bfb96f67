// What the tests ask of the page's engine. `base` is where its files are, in the page.

const load = (base, name) => import(`${base}engine/${name}.js`)

export async function presets(base, options) {
	const { PRESETS, makePreset } = await load(base, "presets")
	return Object.fromEntries(Object.keys(PRESETS).map((name) => [name, makePreset(name, options[name] ?? {})]))
}

async function run(base, data, learner, epochs) {
	const { makeProblem } = await load(base, "problem")
	const { learn, PLAIN } = await load(base, "learn")
	return learn(makeProblem(data.points, data.names), { ...PLAIN, ...learner }, epochs)
}

// Learn a case again and say where the engine differs from the textbook: a list of sentences, empty if nowhere.
export async function replay(base, cases) {
	const { predict } = await load(base, "keep")
	const { makeField } = await load(base, "field")
	const { bestMargin } = await load(base, "margin")
	const { mistakeBound, ledger, holds } = await load(base, "ledger")
	const wrong = []
	let steps = 0
	for (const { name, data, learner, epochs, trace: expected } of cases) {
		const trace = await run(base, data, learner, epochs)
		const differ = (what, mine, theirs) =>
			JSON.stringify(mine) !== JSON.stringify(theirs) &&
			wrong.push(`${name}: ${what} ${JSON.stringify(mine)}, not ${JSON.stringify(theirs)}`)
		differ("length", trace.length, expected.steps.length)
		const zero = (list) => list.map((row) => row.map((v) => v || 0))
		expected.steps.some(([row, score, margin, mistake, tau, rival, after], s) => {
			steps += 1
			const mine = [
				trace.rows[s],
				trace.scores[s] || 0,
				trace.margins[s] || 0,
				trace.mistakes[s],
				trace.taus[s],
				trace.wrongs[s],
				zero(trace.weightsAt(s + 1)),
			]
			return differ(`step ${s + 1}`, mine, [row, score || 0, margin || 0, mistake, tau, rival, zero(after)])
		})
		const end = trace.length
		differ("average", zero(trace.weightsAt(end, "average")), zero(expected.average))
		differ("pocket", zero(trace.weightsAt(end, "pocket")), zero(expected.pocket))
		differ("pocket mistakes", trace.pocketMistakes.at(-1), expected.pocketMistakes)
		differ(
			"lived",
			trace.livedAt(end).map((v) => v.count),
			expected.lived,
		)
		differ("mistakes an epoch", trace.epochMistakes, expected.epochMistakes)
		differ("updates", trace.updateCounts.at(-1), expected.updates)
		differ("converged", trace.converged, expected.converged)
		const field = makeField(trace, trace.problem.X)
		const votes = field.scoresAt(end, "vote")
		differ(
			"votes",
			trace.problem.X.map((_, i) => predict(votes.map((v) => v[i]))),
			expected.votes,
		)
		const margin = bestMargin(trace.problem, trace.learner)
		const bound = mistakeBound(trace.learner, margin)
		if (bound !== null && trace.mistakeCounts.at(-1) > bound + 1e-9) wrong.push(`${name}: more mistakes than ${bound}`)
		const lines = ledger(trace, margin)
		if (lines && !holds(lines)) wrong.push(`${name}: the ledger does not hold`)
		if (expected.converged && learner.tie !== "positive" && margin.low <= 0)
			wrong.push(`${name}: converged, but no margin was found`)
	}
	return { wrong, steps }
}

export async function scoresOfAll(base, sets, learner, epochs) {
	return Promise.all(sets.map((data) => scores(base, data, learner, epochs)))
}

// The scores and mistakes of a run, for kernels.
export async function scores(base, data, learner, epochs) {
	const trace = await run(base, data, learner, epochs)
	const { bestMargin } = await load(base, "margin")
	const { mistakeBound } = await load(base, "ledger")
	return {
		scores: trace.scores,
		mistakes: trace.mistakes,
		taus: trace.taus,
		bound: mistakeBound(trace.learner, bestMargin(trace.problem, trace.learner)),
	}
}

// Scores at the rows by every keep after `step` steps, from the field that draws the picture.
export async function answers(base, data, learner, epochs, step) {
	const { makeField } = await load(base, "field")
	const { KEEPS } = await load(base, "keep")
	const trace = await run(base, data, learner, epochs)
	const field = makeField(trace, trace.problem.X)
	return Object.fromEntries(KEEPS.map((keep) => [keep, field.scoresAt(step, keep).map((s) => [...s])]))
}

// The best margin with its two sides, and the certificate, as numbers and texts.
export async function certificates(base, sets) {
	const { makeProblem } = await load(base, "problem")
	const { PLAIN } = await load(base, "learn")
	const { bestMargin } = await load(base, "margin")
	const { certify, check } = await load(base, "certificate")
	return sets.map(({ points, names, intercept }) => {
		const margin = bestMargin(makeProblem(points, names), { ...PLAIN, intercept })
		const certificate = certify(margin)
		const Z = margin.rows.map((r) => r.z)
		const tampered =
			certificate.verdict === "separable"
				? { ...certificate, w: certificate.w.map((v) => -v) }
				: {
						...certificate,
						parts: certificate.parts?.map((p, j, all) =>
							j ? p : { ...p, lambda: all.length > 1 ? p.lambda + 1n : 0n },
						),
					}
		return {
			verdict: certificate.verdict,
			w: certificate.w ?? null,
			low: margin.low,
			high: margin.high,
			Z,
			weights: margin.weights,
			support: margin.support,
			parts: certificate.parts?.map((p) => [p.index, String(p.lambda)]) ?? null,
			forged: check(tampered, Z),
		}
	})
}

export async function links(base, texts) {
	const { readLink, writeLink } = await load(base, "state")
	return texts.map((text) => {
		try {
			const state = readLink(text)
			return { again: state && writeLink(state), state }
		} catch (error) {
			return { error: error.message }
		}
	})
}

export async function script(base, data, learners, epochs) {
	const { writeScript } = await load(base, "script")
	const traces = await Promise.all(learners.map((learner) => run(base, data, learner, epochs)))
	return {
		text: writeScript(traces),
		runs: traces.map((t) => ({
			mistakes: t.mistakeCounts.at(-1),
			converged: t.converged,
			weights: t.learner.kernel === "linear" ? t.weightsAt(t.length, t.learner.keep) : null,
		})),
	}
}

export async function traceTable(base, data, learner, epochs) {
	const { writeTrace } = await load(base, "table")
	return writeTrace(await run(base, data, learner, epochs))
}

// A run on rows of any number of features.
export async function rowsOf(base, X, y, epochs) {
	const { learn, PLAIN } = await load(base, "learn")
	const trace = learn({ X, y, classes: 2, names: ["0", "1"] }, PLAIN, epochs)
	return {
		converged: trace.converged,
		mistakes: trace.mistakeCounts.at(-1),
		weights: trace.space.snapshots.at(-1),
	}
}

export async function rivals(base, X, y, C) {
	const { fitLogistic, fitSvm } = await import(`${base}engine/rivals.js`)
	return [fitLogistic(X, y, C), fitSvm(X, y, C)]
}
