// What a page must offer everyone: names for all controls, contrast for all text, one meaning an id, headings in order.
// Returns sentences about what is wrong, empty if nothing is.

function nameOf(node) {
	const by = node.getAttribute("aria-labelledby")
	if (by)
		return by
			.split(" ")
			.map((id) => document.getElementById(id)?.textContent ?? "")
			.join(" ")
			.trim()
	const said = node.getAttribute("aria-label")
	if (said) return said.trim()
	if (node.labels?.length)
		return [...node.labels]
			.map((l) => l.textContent)
			.join(" ")
			.trim()
	return (node.textContent || node.title || "").trim()
}

const seen = (node) =>
	node.checkVisibility({ visibilityProperty: true, opacityProperty: false }) && node.getClientRects().length > 0

function parse(color) {
	const parts = color.match(/[\d.]+/g).map(Number)
	return { rgb: parts.slice(0, 3), alpha: parts[3] ?? 1 }
}

const over = (top, alpha, under) => top.map((v, j) => alpha * v + (1 - alpha) * under[j])

// The color behind a node: the backgrounds of its ancestors, painted one over another.
function behind(node) {
	const layers = []
	for (let at = node; at; at = at.parentElement) {
		const { rgb, alpha } = parse(getComputedStyle(at).backgroundColor)
		if (alpha > 0) layers.push([rgb, alpha])
		if (alpha === 1) break
	}
	return layers.reverse().reduce((under, [rgb, alpha]) => over(rgb, alpha, under), [255, 255, 255])
}

function luminance(rgb) {
	const [r, g, b] = rgb.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))
	return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

export function contrast(a, b) {
	const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x)
	return (light + 0.05) / (dark + 0.05)
}

// How large a text appears: SVG may be scaled.
const sizeOf = (node) =>
	parseFloat(getComputedStyle(node).fontSize) * (node.namespaceURI.endsWith("svg") ? node.getScreenCTM().a : 1)

export function faults(least = 12) {
	const wrong = []
	const say = (node, text) =>
		wrong.push(
			`${node.tagName.toLowerCase()}${node.id ? `#${node.id}` : ""}.${node.getAttribute("class") ?? ""}: ${text}`,
		)
	for (const node of document.querySelectorAll("button, input, select, summary, a, [role], dialog, svg[role=img]")) {
		if (!seen(node)) continue
		if (["status", "alert", "group"].includes(node.getAttribute("role"))) continue
		if (!nameOf(node)) say(node, "has no name")
	}
	for (const node of document.querySelectorAll("svg")) {
		if (!node.closest("svg svg") && node.getAttribute("aria-hidden") !== "true" && node.getAttribute("role") !== "img")
			say(node, "is neither hidden nor an image")
	}
	const ids = [...document.querySelectorAll("[id]")].map((node) => node.id)
	ids.filter((id, j) => ids.indexOf(id) !== j).forEach((id) => wrong.push(`the id ${id} is used twice`))
	let level = 0
	for (const node of document.querySelectorAll("h1, h2, h3")) {
		if (!seen(node)) continue
		const next = Number(node.tagName[1])
		if (next > level + 1) say(node, `a heading of level ${next} after ${level}`)
		level = next
	}
	if (document.querySelectorAll("main").length !== 1) wrong.push("there must be one main part")
	if (!document.documentElement.lang) wrong.push("the language is not said")
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	for (let text = walker.nextNode(); text; text = walker.nextNode()) {
		const node = text.parentElement
		if (!text.data.trim() || !seen(node) || node.closest(".offscreen, :disabled, option, script, noscript, .skip"))
			continue
		const style = getComputedStyle(node)
		const inSvg = node.namespaceURI.endsWith("svg")
		const { rgb, alpha } = parse(inSvg ? style.fill : style.color)
		const back = behind(inSvg ? node.closest("svg").parentElement : node)
		const ratio = contrast(over(rgb, alpha, back), back)
		if (ratio < 4.5) say(node, `"${text.data.trim().slice(0, 30)}" has a contrast of ${ratio.toFixed(2)}`)
		const size = sizeOf(node)
		if (size < least - 0.05) say(node, `"${text.data.trim().slice(0, 30)}" is ${size.toFixed(1)} px`)
	}
	for (const node of document.querySelectorAll(
		"button, select, summary, input:not([type=file]):not([type=checkbox]):not([type=radio])",
	)) {
		const box = node.getBoundingClientRect()
		if (seen(node) && (box.width < 20 || box.height < 14))
			say(node, `is ${box.width} x ${box.height}, too small to touch`)
	}
	return wrong
}

// Marks must stand out from what is behind them: the colors of points and lines against the panel.
export function marks() {
	const root = getComputedStyle(document.body)
	const probe = document.body.appendChild(document.createElement("i"))
	const color = (name) => {
		probe.style.color = `var(${name})`
		return parse(getComputedStyle(probe).color).rgb
	}
	const found = Object.fromEntries(
		["--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--ink", "--bad", "--proof", "--focus"].map((name) => [
			name,
			contrast(color(name), color("--panel")),
		]),
	)
	probe.remove()
	return { found, scheme: root.colorScheme }
}

// Where panels lie over one another, stick out of the page, or cut their text.
export function overlaps() {
	const wrong = []
	const nodes = [...document.querySelectorAll(".panel, .stage, .transport, .top, .words, .figure")].filter(seen)
	const boxes = nodes.map((node) => ({
		name: node.id || node.className,
		box: node.getBoundingClientRect(),
		sticky: getComputedStyle(node).position === "sticky",
	}))
	boxes.forEach((a, i) => {
		if (a.box.right > document.documentElement.clientWidth + 1) wrong.push(`${a.name} sticks out to the right`)
		boxes.slice(i + 1).forEach((b) => {
			if (a.sticky || b.sticky) return
			const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left)
			const tall = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top)
			if (wide > 1 && tall > 1) wrong.push(`${a.name} and ${b.name} overlap`)
		})
	})
	for (const panel of nodes) {
		const inner = [...panel.querySelectorAll("button, select, label, p, h2, input[type=number]")].filter(
			(n) => seen(n) && !n.closest("#sheet, .offscreen"),
		)
		inner.forEach((a, i) =>
			inner.slice(i + 1).forEach((b) => {
				if (a.contains(b) || b.contains(a)) return
				const [p, q] = [a.getBoundingClientRect(), b.getBoundingClientRect()]
				const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left)
				const tall = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top)
				if (wide > 2 && tall > 2) wrong.push(`in ${panel.id}: "${nameOf(a)}" and "${nameOf(b)}" overlap`)
			}),
		)
		for (const node of panel.querySelectorAll("button, summary, figcaption strong, figcaption span")) {
			if (seen(node) && node.scrollWidth > node.clientWidth + 2 && !node.closest(".tool"))
				wrong.push(`"${nameOf(node)}" is cut`)
		}
	}
	if (document.documentElement.scrollWidth > document.documentElement.clientWidth)
		wrong.push("the page scrolls sideways")
	return wrong
}

// Texts that lie over one another, anywhere on the page as it is scrolled now.
export function collisions() {
	const found = []
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	const range = document.createRange()
	for (let text = walker.nextNode(); text; text = walker.nextNode()) {
		const node = text.parentElement
		if (!text.data.trim() || !seen(node) || node.closest(".offscreen, option, script, noscript, .skip, #sheet, dialog"))
			continue
		if (getComputedStyle(node).visibility === "hidden") continue
		range.selectNodeContents(text)
		for (const box of range.getClientRects())
			found.push({
				node,
				said: text.data.trim().slice(0, 30),
				box,
				fixed: Boolean(node.closest(".top, .transport, #message")),
			})
	}
	found.sort((a, b) => a.box.top - b.box.top)
	const wrong = []
	found.forEach((a, i) => {
		for (let j = i + 1; j < found.length && found[j].box.top < a.box.bottom; j++) {
			const b = found[j]
			if (a.node === b.node || a.fixed || b.fixed) continue
			const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left)
			const tall = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top)
			if (wide > 3 && tall > 5) wrong.push(`"${a.said}" and "${b.said}" overlap`)
		}
	})
	return wrong
}
