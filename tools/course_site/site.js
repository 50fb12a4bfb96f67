// Formulas, and exercises that run here.

const SECONDS = 10
const all = (selector) => [...document.querySelectorAll(selector)]

for (const node of all(".math")) {
	const displayMode = node.classList.contains("block")
	katex.render(node.textContent, node, { displayMode, throwOnError: false })
	if (displayMode) node.tabIndex = 0 // a wide formula scrolls
}

let worker = null

function start() {
	worker = new Worker("worker.js", { type: "module" })
	worker.ready = new Promise((done) => worker.addEventListener("message", ({ data }) => data.ready && done()))
}

async function check(name, answer) {
	answer.textContent = "Starting Python…"
	if (!worker) start()
	await worker.ready
	answer.textContent = "…"
	const setup = JSON.parse(document.querySelector("#setup").textContent)
	const answers = all("textarea").map((area) => area.value)
	const test = JSON.parse(document.querySelector(`script[data-test="${name}"]`).textContent)
	// A syntax error in another answer is that answer's own matter.
	const own = document.querySelector(`textarea[data-exercise="${name}"]`).value
	const others = answers.filter((text) => text !== own)
	const before = others.map((text) => `try:\n    exec(${JSON.stringify(text)})\nexcept Exception:\n    pass`)
	const said = new Promise((done) => worker.addEventListener("message", ({ data }) => done(data.text), { once: true }))
	const late = new Promise((done) => setTimeout(done, 1000 * SECONDS, null))
	worker.postMessage([...setup, ...before, own, test])
	const text = await Promise.race([said, late])
	if (text === null) {
		worker.terminate()
		worker = null
	}
	answer.textContent = text ?? `✗ ${name} took longer than ${SECONDS} seconds`
}

for (const button of all("button[data-test]")) {
	button.onclick = () => check(button.dataset.test, button.parentElement.nextElementSibling)
}
