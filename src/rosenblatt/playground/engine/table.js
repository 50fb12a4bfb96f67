// Reading the user's CSV, writing the trace.

import { fail } from "./fail.js"
import { plural } from "./sentence.js"

export const MOST_POINTS = 500
export const MOST_CLASSES = 6

const isNumber = (text) => text !== "" && Number.isFinite(Number(text))

function split(text, mark) {
	const cell = new RegExp(`("(?:[^"]|"")*"?|)([^${mark}\\n]*)(${mark}|\\n|$)`, "gy")
	const rows = []
	let [line, start, cells] = [1, 1, []]
	for (const [all, quoted, plain, end] of text.matchAll(cell)) {
		cells.push((quoted.replace(/^"|"$/g, "").replaceAll('""', '"') + plain).trim())
		line += all.split("\n").length - 1
		if (end === mark) continue
		if (cells.length > 1 || cells[0] !== "") rows.push({ line: start, cells })
		;[start, cells] = [line, []]
	}
	return rows
}

export function readTable(content) {
	const text = content.replace(/^\ufeff/, "").replaceAll("\r", "")
	const first = text.trimStart().split("\n")[0]
	const [mark] = [",", ";", "\t"].sort((a, b) => first.split(b).length - first.split(a).length)
	const rows = split(text, mark)
	if (rows.length === 0) fail("The file has no rows.")
	const [{ line, cells }, next = { cells }] = rows
	if (cells.length < 3) fail(`Line ${line} has ${plural(cells.length, "column")}: two numbers and a label are needed.`)
	const odd = rows.find((r) => r.cells.length !== cells.length)
	if (odd) fail(`Line ${odd.line} has ${plural(odd.cells.length, "column")}, but line ${line} has ${cells.length}.`)
	const titled = !cells.some(isNumber) && next.cells.some(isNumber)
	return { header: cells.map((c, j) => (titled && c) || `column ${j + 1}`), rows: titled ? rows.slice(1) : rows }
}

// The first two columns of numbers, and the last other one, or the last of all.
export function guessColumns({ header, rows }) {
	const all = header.map((_, j) => j)
	const numeric = all.filter((j) => rows.every((r) => isNumber(r.cells[j])))
	const label = all.findLast((j) => !numeric.includes(j)) ?? header.length - 1
	const [x, y] = [...numeric, ...all.filter((j) => !numeric.includes(j))].filter((j) => j !== label)
	return { x, y, label }
}

// Divided by the largest first, so that no sum overflows.
function standardized(given) {
	const most = Math.max(...given.map(Math.abs)) || 1
	const values = given.map((v) => v / most)
	const mean = values.reduce((a, b) => a + b, 0) / values.length
	const spread = Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / values.length) || 1
	return values.map((v) => Number(((v - mean) / spread).toFixed(4)) || 0)
}

// At most MOST_POINTS rows in their order, evenly taken from every class; a small class keeps at least 20.
function sample(rows, label) {
	const groups = [...Map.groupBy(rows, (r) => r.cells[label]).values()]
	const share = Math.min(1, MOST_POINTS / rows.length)
	const counts = groups.map(({ length }) => Math.min(length, Math.max(20, Math.floor(length * share))))
	while (counts.reduce((a, b) => a + b) > MOST_POINTS) counts[counts.indexOf(Math.max(...counts))] -= 1
	const taken = new Set()
	groups.forEach((group, g) => {
		for (let i = 0; i < counts[g]; i++) taken.add(group[Math.floor((i * group.length) / counts[g])])
	})
	return rows.filter((r) => taken.has(r))
}

export function takeColumns({ header, rows }, { x, y, label }, scaled = true) {
	if (new Set([x, y, label]).size < 3) fail("Choose three different columns: two of numbers and the label.")
	for (const { line, cells } of rows) {
		for (const j of [x, y]) {
			const cell = `Line ${line}, column "${header[j]}": ${isNumber(cells[j]) ? cells[j] : `"${cells[j]}"`}`
			if (!isNumber(cells[j])) fail(`${cell} is not a number.`)
			if (!scaled && Math.abs(cells[j]) > 1e9)
				fail(`${cell} is more than this page draws, 1000000000: scale both columns.`)
		}
		if (cells[label] === "") fail(`Line ${line}, column "${header[label]}": the label is missing.`)
	}
	const names = [...new Set(rows.map((r) => r.cells[label]))]
	names.sort(names.every(isNumber) ? (a, b) => a - b : undefined)
	const title = `Column "${header[label]}" has`
	if (names.length < 2) fail(`${title} one label only, "${names[0]}": two to ${MOST_CLASSES} are needed.`)
	if (names.length > MOST_CLASSES) fail(`${title} ${names.length} labels: two to ${MOST_CLASSES} can be shown.`)
	const shown = sample(rows, label).map((r) => r.cells)
	const [across, up] = [x, y].map((j) => {
		const values = shown.map((cells) => Number(cells[j]))
		return scaled ? standardized(values) : values
	})
	const points = shown.map((cells, i) => ({ x: across[i], y: up[i], c: names.indexOf(cells[label]) }))
	return { points, names, left: rows.length - shown.length }
}

const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

export function writeTrace(trace) {
	const { problem, linear } = trace
	const ends = problem.classes === 2 ? [""] : problem.names.map((name) => `_${name}`)
	const head = ["step", "epoch", "row", "x1", "x2", "label", "score", "margin", "mistake", "tau", "wrong"]
	if (linear) head.push(...ends.flatMap((end) => [`w1${end}`, `w2${end}`, `b${end}`]))
	const lines = trace.rows.map((i, s) => [
		s + 1,
		trace.epochs[s],
		i + 1,
		...problem.X[i],
		problem.names[problem.kinds[i]],
		trace.scores[s],
		trace.margins[s],
		Number(trace.mistakes[s]),
		trace.taus[s],
		problem.names[trace.wrongs[s]] ?? "",
		...(linear ? trace.weightsAt(s + 1).flat() : []),
	])
	return [head, ...lines].map((values) => `${values.map((v) => quote(String(v))).join(",")}\n`).join("")
}
