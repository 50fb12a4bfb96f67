// A small seeded generator, the same on every machine.

export function makeRandom(seed) {
	let state = seed >>> 0
	const uniform = () => {
		state = (state + 0x6d2b79f5) >>> 0
		let t = Math.imul(state ^ (state >>> 15), state | 1)
		t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296
	}
	// Normal enough for a picture, and of additions only, so the same everywhere.
	const normal = () => {
		let total = -6
		for (let i = 0; i < 12; i++) total += uniform()
		return total
	}
	const shuffled = (items) => {
		const list = [...items]
		for (let i = list.length - 1; i > 0; i--) {
			const j = Math.floor(uniform() * (i + 1))
			;[list[i], list[j]] = [list[j], list[i]]
		}
		return list
	}
	return { uniform, normal, shuffled }
}
