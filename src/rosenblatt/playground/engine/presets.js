// The toy sets, rounded so that they are the same on every machine.

import { makeRandom } from "./random.js"

const { PI, cos, sin } = Math
const round = (v) => Math.round(v * 1000) / 1000
const point = (x, y, c) => ({ x: round(x), y: round(y), c })

const gate = (answers) => () => [0, 1, 2, 3].map((i) => point(i >> 1, i & 1, Number(answers[i])))

const cloud = (place) => (options) => {
	const random = makeRandom(options.seed)
	const make = place(options, random)
	return random.shuffled(Array.from({ length: options.n }, (_, i) => point(...make(i))))
}

// Two clouds, each at least `margin` from the line between them.
const blobs = cloud(({ margin }, { uniform, normal }) => {
	const angle = (uniform() - 0.5) * 1.6
	const [ux, uy] = [cos(angle), sin(angle)]
	return (i) => {
		const side = i % 2 ? -1 : 1
		const across = side * (margin + Math.abs(normal()) * 0.8)
		const along = normal() * 1.2
		return [across * ux - along * uy, across * uy + along * ux, side === 1 ? 1 : 0]
	}
})

const moons = cloud(({ noise }, { uniform, normal }) => (i) => {
	const angle = PI * uniform()
	const x = i % 2 ? 1 - cos(angle) : cos(angle)
	const y = i % 2 ? 0.5 - sin(angle) : sin(angle)
	return [(x - 0.5) * 1.8 + normal() * noise, (y - 0.25) * 1.8 + normal() * noise, i % 2]
})

const circles = cloud(({ noise }, { uniform, normal }) => (i) => {
	const angle = 2 * PI * uniform()
	const radius = (i % 2 ? 2 : 0.8) + normal() * noise
	return [radius * cos(angle), radius * sin(angle), 1 - (i % 2)]
})

const three = cloud(({ margin }, { normal }) => (i) => {
	const angle = PI / 2 + (2 * PI * (i % 3)) / 3
	const away = 1 + margin
	return [away * cos(angle) + normal() * 0.45, away * sin(angle) + normal() * 0.45, i % 3]
})

const noise = cloud(({ noise }, { normal }) => (i) => {
	const side = i % 2 ? -1 : 1
	const spread = 0.45 + noise * 2
	return [side * 0.9 + normal() * spread, side * 0.6 + normal() * spread, 1 - (i % 2)]
})

// A stream: the line that labels the points turns by half a circle.
function drift({ n, seed }) {
	const { uniform } = makeRandom(seed)
	const rows = []
	while (rows.length < n) {
		const angle = (PI * rows.length) / n
		const [x, y] = [(uniform() - 0.5) * 4.4, (uniform() - 0.5) * 4.4]
		const a = x * cos(angle) + y * sin(angle)
		if (Math.abs(a) > 0.25) rows.push(point(x, y, a > 0 ? 1 : 0))
	}
	return rows
}

const preset = (title, names, make, options = {}) => ({ title, names, make, options })
const TWO = ["-1", "+1"]
const BITS = ["0", "1"]
export const PRESETS = {
	and: preset("AND", BITS, gate("0001")),
	or: preset("OR", BITS, gate("0111")),
	xor: preset("XOR", BITS, gate("0110")),
	blobs: preset("Blobs", TWO, blobs, { n: 30, margin: 0.3, held: 0, seed: 38 }),
	moons: preset("Moons", TWO, moons, { n: 80, noise: 0.1, held: 0, seed: 1 }),
	circles: preset("Circles", TWO, circles, { n: 80, noise: 0.12, held: 0, seed: 1 }),
	three: preset("Three classes", ["A", "B", "C"], three, { n: 60, margin: 0.6, held: 0, seed: 1 }),
	noise: preset("Noise", TWO, noise, { n: 80, noise: 0.2, held: 0, seed: 1 }),
	drift: preset("Drift", TWO, drift, { n: 200, seed: 1 }),
}

export const LIMITS = {
	n: [4, 500, 2],
	margin: [0.02, 1.5, 0.02],
	noise: [0, 0.5, 0.01],
	held: [0, 0.5, 0.05],
	seed: [1, 99, 1],
}

// Points to learn from, and points held out to judge by: the same share of every class, evenly taken.
export function holdOut(all, share) {
	const seen = []
	const parts = { points: [], held: [] }
	for (const p of all) {
		const j = (seen[p.c] = (seen[p.c] ?? 0) + 1)
		parts[Math.floor(j * share + 1e-9) > Math.floor((j - 1) * share + 1e-9) ? "held" : "points"].push(p)
	}
	return parts
}

export function makePreset(name, given = {}) {
	const { make, names, options } = PRESETS[name]
	return { ...holdOut(make({ ...options, ...given }), given.held ?? 0), names }
}
