// A film as WebM: a header, one track of VP8, and one cluster with all frames. Times are in milliseconds, and what has
// its usual value is left out.

const bytesOf = (value, count) => Array.from({ length: count }, (_, j) => (value >> (8 * (count - 1 - j))) & 255)
const textOf = (text) => [...text].map((c) => c.charCodeAt(0))

// An element is its name, its size in four bytes of which the first bits say so, and what is in it.
function element(name, ...inside) {
	const body = inside.flat()
	return [textOf(name), bytesOf(body.length + 2 ** 28, 4), body].flat()
}

const number = (name, value) => element(name, bytesOf(value, 2))
const text = (name, said) => element(name, textOf(said))

// `frames` are { bytes, at, key }; the times of one cluster reach to 32.7 seconds.
export function encodeWebm(width, height, frames, length) {
	const head = [text("\x42\x82", "webm"), number("\x42\x87", 2), number("\x42\x85", 2)]
	const duration = [...new Uint8Array(new Float64Array([length]).buffer)].reverse()
	const makers = ["\x4d\x80", "\x57\x41"].map((name) => text(name, "rosenblatt"))
	const size = element("\xe0", number("\xb0", width), number("\xba", height))
	const names = ["\xd7", "\x73\xc5", "\x83"].map((name) => number(name, 1))
	const track = element("\xae", ...names, text("\x86", "V_VP8"), size)
	const block = ({ bytes, at, key }) => element("\xa3", 0x81, bytesOf(at, 2), key ? 0x80 : 0, [...bytes])
	const parts = [
		element("\x15\x49\xa9\x66", element("\x44\x89", duration), ...makers),
		element("\x16\x54\xae\x6b", track),
		element("\x1f\x43\xb6\x75", number("\xe7", 0), ...frames.map(block)),
	]
	return Uint8Array.from([element("\x1a\x45\xdf\xa3", ...head), element("\x18\x53\x80\x67", ...parts)].flat())
}
