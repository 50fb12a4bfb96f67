// The page of the interface: what openapi.json says, in order.
function make(name, properties = {}, ...children) {
	const node = document.createElement(name)
	for (const [key, value] of Object.entries(properties)) node.setAttribute(key, value)
	node.append(...children)
	return node
}

const api = await (await fetch("/openapi.json")).json()

// A schema with its parts in place of their names.
function whole(schema) {
	if (schema?.$ref) return whole(api.components.schemas[schema.$ref.split("/").at(-1)])
	if (Array.isArray(schema)) return schema.map(whole)
	if (schema === null || typeof schema !== "object") return schema
	return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, whole(value)]))
}

function content(title, described) {
	const parts = Object.entries(described ?? {}).map(([type, { schema }]) => {
		const text = type === "application/json" ? JSON.stringify(whole(schema), null, 1) : ""
		return make(
			"details",
			{},
			make("summary", {}, `${title}: `, make("code", {}, type)),
			make("pre", {}, text || "see the documentation"),
		)
	})
	return parts
}

const sections = Object.entries(api.paths).flatMap(([path, methods]) =>
	Object.entries(methods).map(([method, operation]) => {
		const errors = Object.entries(operation.responses).filter(([status]) => status !== "200")
		return make(
			"section",
			{ class: "panel" },
			make("h2", {}, `${method.toUpperCase()} ${path}`),
			make("p", {}, operation.summary),
			...content("takes", operation.requestBody?.content),
			...content("answers", operation.responses["200"].content),
			make(
				"details",
				{},
				make("summary", {}, "refuses: ", make("code", {}, errors.map(([status]) => status).join(" "))),
				make(
					"dl",
					{ class: "none" },
					...errors.map(([status, { description }]) => make("dd", {}, `${status}: ${description}`)),
				),
			),
		)
	}),
)
document.getElementById("paths").replaceChildren(...sections)
