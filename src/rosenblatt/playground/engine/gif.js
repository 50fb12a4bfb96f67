// A film as a GIF (89a): one palette for all frames, LZW as the format asks.

const keyOf = (data, i) => ((data[i] >> 3) << 10) | ((data[i + 1] >> 3) << 5) | (data[i + 2] >> 3)
// Five bits are spread over eight: 31 is white.
const colorOf = (key) => [10, 5, 0].map((by) => Math.round(((key >> by) & 31) * (255 / 31)))

// The 255 commonest colors of 5 bits per channel, and a function from an image to the nearest of them.
export function makePalette(images) {
	const counts = new Map()
	for (const data of images)
		for (let i = 0; i < data.length; i += 4) {
			const key = keyOf(data, i)
			counts.set(key, (counts.get(key) ?? 0) + 1)
		}
	const common = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 255)
	const colors = common.map(([key]) => colorOf(key))
	const known = new Map()
	const nearest = (key) => {
		const [r, g, b] = colorOf(key)
		const away = colors.map((c) => (c[0] - r) ** 2 + (c[1] - g) ** 2 + (c[2] - b) ** 2)
		known.set(key, away.indexOf(Math.min(...away)))
		return known.get(key)
	}
	const pixels = (data) =>
		Uint8Array.from({ length: data.length / 4 }, (_, i) => known.get(keyOf(data, 4 * i)) ?? nearest(keyOf(data, 4 * i)))
	return { colors, pixels }
}

function lzw(pixels) {
	const [clear, end] = [256, 257]
	const bytes = []
	let [bits, held, size, next, table] = [0, 0, 9, 258, new Map()]
	const put = (code) => {
		held |= code << bits
		bits += size
		while (bits >= 8) {
			bytes.push(held & 255)
			held >>>= 8
			bits -= 8
		}
	}
	put(clear)
	let now = pixels[0]
	for (let i = 1; i < pixels.length; i++) {
		const key = (now << 8) | pixels[i]
		if (table.has(key)) {
			now = table.get(key)
			continue
		}
		put(now)
		if (next === 4096) {
			put(clear)
			;[size, next, table] = [9, 258, new Map()]
		} else {
			if (next === 1 << size) size += 1
			table.set(key, next++)
		}
		now = pixels[i]
	}
	put(now)
	put(end)
	if (bits) bytes.push(held & 255)
	return bytes
}

const two = (v) => [v & 255, v >> 8]

// `frames` are { pixels, delay }, the delay in hundredths of a second.
export function encodeGif(width, height, { colors }, frames) {
	const table = Array.from({ length: 256 }, (_, i) => colors[i] ?? [0, 0, 0]).flat()
	const parts = [
		[..."GIF89a"].map((c) => c.charCodeAt(0)),
		[...two(width), ...two(height), 0xf7, 0, 0],
		table,
		[0x21, 0xff, 11, ...[..."NETSCAPE2.0"].map((c) => c.charCodeAt(0)), 3, 1, 0, 0, 0],
	]
	for (const { pixels, delay } of frames) {
		parts.push([0x21, 0xf9, 4, 4, ...two(delay), 0, 0], [0x2c, 0, 0, 0, 0, ...two(width), ...two(height), 0, 8])
		const bytes = lzw(pixels)
		for (let i = 0; i < bytes.length; i += 255) {
			const block = bytes.slice(i, i + 255)
			parts.push([block.length, ...block])
		}
		parts.push([0])
	}
	parts.push([0x3b])
	return Uint8Array.from(parts.flat())
}
