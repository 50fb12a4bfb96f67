// A class is a color and a shape, so that color is never the only sign.

// Corners of a shape of size 1, a class each; the second is a circle.
const CORNERS = [
	"-.88 -.88 .88 -.88 .88 .88 -.88 .88",
	"",
	"0 -1.2 1.1 .78 -1.1 .78",
	"0 -1.25 1.05 0 0 1.25 -1.05 0",
	"-.38 -1.1 .38 -1.1 .38 -.38 1.1 -.38 1.1 .38 .38 .38 .38 1.1 -.38 1.1 -.38 .38 -1.1 .38 -1.1 -.38 -.38 -.38",
	"0 -1.2 .29 -.4 1.14 -.37 .48 .15 .71 .97 0 .5 -.71 .97 -.48 .15 -1.14 -.37 -.29 -.4",
].map((text) => text.split(" ").map(Number))

export function shapePath(c, size, x = 0, y = 0) {
	const f = (v) => Math.round(v * 100) / 100
	if (c === 1)
		return `M${f(x - size)} ${f(y)}a${size} ${size} 0 1 1 ${2 * size} 0a${size} ${size} 0 1 1 ${-2 * size} 0Z`
	return `M${CORNERS[c].map((v, j) => f(v * size + (j % 2 ? y : x))).join(" ")}Z`
}
