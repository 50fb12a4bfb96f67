// Python in a worker: an answer that never ends is ended with its worker.

import { loadPyodide } from "./pyodide/pyodide.mjs"

const ready = (async () => {
	const python = await loadPyodide({ indexURL: new URL("pyodide/", import.meta.url).href })
	const modules = await (await fetch("modules.json")).json()
	python.FS.mkdirTree("rosenblatt")
	for (const [path, text] of Object.entries(modules)) python.FS.writeFile(path, text)
	return python
})()

ready.then(() => postMessage({ ready: true }))

onmessage = async ({ data }) => {
	const python = await ready
	const lines = []
	python.setStdout({ batched: (line) => lines.push(line) })
	try {
		const globals = python.toPy({ __name__: "__main__" })
		for (const part of data) python.runPython(part, { globals })
	} catch (error) {
		// The exception is the last line without indentation that begins with its name.
		lines.push(`✗ ${String(error).match(/^\w+(Error|Exit|Interrupt)\b.*$/gm)?.at(-1) ?? error}`)
	}
	postMessage({ text: lines.join("\n") })
}
