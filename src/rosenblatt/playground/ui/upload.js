// A table of the user's: chosen, dropped or served.

import { guessColumns, readTable, takeColumns } from "../engine/table.js"
import { check, field, find, same, select, tell } from "./node.js"

const SCALE = "Gives both columns mean 0 and spread 1: units no longer matter, and it learns sooner."

export function makeUpload(store) {
	const [input, box] = [find("csv"), find("columns")]
	const upload = { calm: true, render, take }
	let table = null

	function attempt(name, act) {
		try {
			act()
		} catch (error) {
			tell(`${name}: ${error.message}`, "error")
		}
	}

	function take(name, text, wanted = {}) {
		attempt(name, () => {
			const read = readTable(text)
			const columns = guessColumns(read)
			for (const key of ["x", "y", "label"].filter((one) => one in wanted)) {
				columns[key] = read.header.indexOf(wanted[key])
				if (columns[key] < 0)
					throw new Error(`There is no column "${wanted[key]}"; the columns are ${read.header.join(", ")}.`)
			}
			choose({ ...read, name, columns, scaled: true })
		})
	}

	function choose(chosen) {
		const { header, columns, name, scaled } = chosen
		const { points, names, left } = takeColumns(chosen, columns, scaled)
		table = chosen
		const axes = [columns.x, columns.y].map((j) => header[j] + (scaled ? " (scaled)" : ""))
		const of = left ? points.length + left : 0
		store.set({ points, held: [], of, names, data: null, step: 0, proof: false, axes }, true)
		const count = left ? `${points.length} of ${of} rows, evenly taken from each class` : `${points.length} points`
		tell(`${name}: ${count}, of ${names.length} classes.`)
	}

	function change(change) {
		attempt(table.name, () => choose({ ...table, ...change }))
		upload.shown = null
		render(store.state)
	}

	function render({ axes }) {
		box.hidden = !table || !axes
		if (box.hidden || same(upload, table)) return
		const { header, columns, scaled } = table
		const pick = (key, title) => {
			const onchange = (e) => change({ columns: { ...columns, [key]: Number(e.target.value) } })
			return field(title, select({ ...header }, columns[key], { "data-column": key, onchange }))
		}
		const scale = check("scaled", "Scale both columns", scaled, (on) => change({ scaled: on }), SCALE)
		box.replaceChildren(pick("x", "Across"), pick("y", "Up"), pick("label", "Label"), scale)
	}

	async function read(file) {
		if (file) take(file.name, await file.text())
	}

	input.onchange = () => {
		read(input.files[0])
		input.value = ""
	}
	find("csv-load").onclick = () => input.click()
	for (const kind of ["dragover", "drop"])
		document.addEventListener(kind, (event) => {
			if (!event.dataTransfer?.types.includes("Files")) return
			event.preventDefault()
			if (kind === "drop") read(event.dataTransfer.files[0])
		})
	return upload
}
