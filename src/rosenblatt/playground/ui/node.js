// Making and changing elements: html("p.sum", { title }, "text", child), and the same for SVG.

export const find = (id) => document.getElementById(id)

// null leaves an attribute out, on… listens, and what is so already is not touched.
export function set(node, attributes) {
	for (const [key, value] of Object.entries(attributes)) {
		if (key.startsWith("on")) node.addEventListener(key.slice(2), value)
		else if (typeof value === "boolean" && !key.startsWith("aria-")) node.toggleAttribute(key, value)
		else if (value !== null && node.getAttribute(key) !== String(value)) node.setAttribute(key, value)
	}
	return node
}

const maker =
	(create) =>
	(name, ...inside) => {
		const [tag, ...classes] = name.split(".")
		const node = create(tag)
		if (classes.length) node.setAttribute("class", classes.join(" "))
		if (inside[0]?.constructor === Object) set(node, inside.shift())
		node.append(...inside.flat().filter((child) => child !== null))
		return node
	}

export const html = maker((tag) => document.createElement(tag))
export const svg = maker((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag))

export const word = (kind, x, y, said) => svg(`text.${kind}`, { x, y }, said)

export const picture = (viewBox, ...inside) => svg("svg", { viewBox, "aria-hidden": "true" }, ...inside)

// `tip` is the sentence shown on hover and focus.
export const tipped = (tip) => ({ "data-tip": tip, "aria-description": tip })

export function check(name, text, checked, change, tip) {
	const onchange = (e) => change(e.target.checked)
	const box = html("input", { type: "checkbox", name, checked, onchange, "aria-description": tip })
	return html("label.check", { "data-tip": tip }, box, text)
}

export function field(title, control, tip = null, ...more) {
	set(control, { "aria-description": tip })
	return html("label", { "data-tip": tip }, html("span", title), control, ...more)
}

export const select = (options, value, attributes) =>
	html(
		"select",
		attributes,
		Object.entries(options).map(([key, text]) => html("option", { value: key, selected: key === String(value) }, text)),
	)

export const path = (name, d, more) => ["path", { class: name, d, ...more }]

// Make the children of a layer these [tag, attributes, text]; old nodes are far cheaper than new ones.
export function patch(layer, list) {
	list.forEach(([tag, attributes, text = ""], j) => {
		let node = layer.children[j]
		if (node?.tagName !== tag) {
			node?.remove()
			node = svg(tag)
			layer.insertBefore(node, layer.children[j] ?? null)
		}
		set(node, attributes)
		if (node.textContent !== text) node.textContent = text
	})
	while (layer.children.length > list.length) layer.lastChild.remove()
}

export function same(view, ...parts) {
	const was = view.shown ?? []
	view.shown = parts
	return was.length > 0 && parts.every((part, j) => part === was[j])
}

export function announce(text) {
	find("status").textContent = text
}

let timer = 0

// Show a sentence; it leaves by itself unless it is an error.
export function tell(text, kind = "note") {
	const box = find("message")
	const close = () => (box.hidden = true)
	clearTimeout(timer)
	box.className = kind
	box.replaceChildren(html("span", text), html("button", { "aria-label": "Close the message", onclick: close }, "×"))
	box.hidden = false
	if (kind !== "error") timer = setTimeout(close, 5000)
}
