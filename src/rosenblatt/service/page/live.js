// The live page: asks /live once a second and draws what it says. No text of a client becomes markup.
const SVG = "http://www.w3.org/2000/svg"
let token = sessionStorage.getItem("token") ?? ""
let before = null

const find = (id) => document.getElementById(id)

function make(name, properties = {}, ...children) {
	const node = document.createElement(name)
	for (const [key, value] of Object.entries(properties)) node.setAttribute(key, value)
	node.append(...children)
	return node
}

function draw(name, properties, text) {
	const node = document.createElementNS(SVG, name)
	for (const [key, value] of Object.entries(properties)) node.setAttribute(key, value)
	if (text !== undefined) node.textContent = text
	return node
}

const count = (number) => Math.round(number).toLocaleString("en")
const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`)
const size = (bytes) => (bytes > 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e3).toFixed(0)} kB`)

function ask(path, options = {}) {
	const headers = token ? { authorization: `Bearer ${token}` } : {}
	return fetch(path, { ...options, headers: { ...headers, ...options.headers } })
}

function showFigures(live) {
	const now = performance.now()
	const passed = before ? (now - before.at) / 1000 : 0
	const rate = (name) => (passed ? count(Math.max(0, (live[name] ?? 0) - (before.live[name] ?? 0)) / passed) : "–")
	const served = live.model.learns ? live.model : null
	const figures = [["predictions per second", rate("predicted")]]
	if (served) {
		figures.unshift(
			["examples", count(live.seq)],
			["error of all", percent(served.progressive_error)],
			["error of the latest 1,000", percent(served.recent_error)],
		)
		figures.push(["examples per second", rate("seq")], ["log", size(live.log_bytes)])
	}
	figures.push(["features", count(live.model.features)], ["classes", count(live.model.classes.length)])
	find("figures").replaceChildren(
		...figures.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
	)
	before = { at: now, live }
}

// A drawing in the pixels of the screen, so that its text is as large as any other.
function fitted(svg) {
	const [width, height] = [svg.clientWidth || 360, svg.clientHeight || 150]
	svg.setAttribute("viewBox", `0 0 ${width} ${height}`)
	return [width, height]
}

// The end of an axis: the next of 1, 2, 3, 4, 5, 6, 8 and 10 times a power of ten.
function rounded(most) {
	const unit = 10 ** Math.floor(Math.log10(most))
	return unit * [1, 2, 3, 4, 5, 6, 8, 10].find((step) => step * unit >= most * 0.9999)
}

function showCurves(live) {
	const all = (live.curve ?? []).length > 1 ? live.curve : []
	const svg = find("curves")
	const last = Math.max(1, ...all.map(([n]) => n))
	const most = rounded(Math.max(0.02, ...all.filter(([n]) => n > last / 50).flatMap(([, a, b]) => [a, b])))
	const [width, height] = fitted(svg)
	const [left, right, top, bottom] = [50, width - 6, 14, height - 26]
	const x = (n) => left + (n / last) * (right - left)
	const y = (error) => bottom - Math.min(1.03, error / most) * (bottom - top)
	const line = (points, at) =>
		points.map((p, i) => `${i ? "L" : "M"}${x(p[0]).toFixed(1)} ${y(p[at]).toFixed(1)}`).join("")
	const nodes = []
	for (const part of [0, 0.5, 1]) {
		nodes.push(draw("path", { class: "grid", d: `M${left} ${y(most * part)}H${right}` }))
		nodes.push(
			draw("text", { class: "right", x: left - 6, y: y(most * part) + 4 }, `${+(100 * most * part).toFixed(2)} %`),
		)
	}
	nodes.push(
		draw("text", { x: left, y: height - 8 }, "1"),
		draw("text", { class: "right", x: right, y: height - 8 }, `${count(last)} examples`),
	)
	for (const alarm of live.alarms ?? []) nodes.push(draw("path", { class: "mark", d: `M${x(alarm)} ${top}V${bottom}` }))
	if (all.length)
		nodes.push(draw("path", { class: "c0 recent", d: line(all, 2) }), draw("path", { class: "c0", d: line(all, 1) }))
	svg.replaceChildren(...nodes)
}

function showMistakes(live) {
	const rows = (live.newest_mistakes ?? []).toReversed().map((each) => {
		const row = Object.entries(each.row)
			.map(([name, value]) => `${name} ${Number(value.toPrecision(4))}`)
			.join(", ")
		return make(
			"tr",
			{},
			make("td", {}, count(each.seq)),
			make("td", {}, String(each.label)),
			make("td", {}, each.predicted === null ? "–" : String(each.predicted)),
			make("td", { class: "row" }, row),
		)
	})
	find("mistakes").tBodies[0].replaceChildren(...rows)
}

function showAlarm(live) {
	const newest = (live.alarms ?? []).at(-1)
	const alarm = find("alarm")
	alarm.hidden = newest === undefined || live.model.examples - newest > 5000
	if (!alarm.hidden) alarm.textContent = `Drift: mistakes became more frequent at example ${count(newest)}.`
}

function say(text, kind) {
	find("state").textContent = text
	find("state").className = kind
}

async function refresh() {
	try {
		const answer = await ask("/live")
		find("ask").hidden = answer.status !== 401 && answer.status !== 403
		if (!answer.ok) return say((await answer.json()).error.message, "bad")
		const live = await answer.json()
		showFigures(live)
		showCurves(live)
		showMistakes(live)
		showAlarm(live)
		const learning = { on: "predicts and learns", off: "predicts" }[live.learning]
		say(learning ?? `predicts, but cannot store: ${live.learning}`, learning ? "good" : "bad")
	} catch {
		say("the server does not answer", "bad")
	}
}

find("ask").addEventListener("submit", (event) => {
	event.preventDefault()
	token = find("token").value.trim()
	sessionStorage.setItem("token", token)
	refresh()
})
refresh()
setInterval(refresh, 1000)
