// The names of learners, as people say them.

const NAMES = { poly: "polynomial kernel", rbf: "RBF kernel", margin: "margin perceptron" }
const KEEPS = { last: "", average: "averaged ", vote: "voted ", pocket: "pocket " }

export function learnerName({ rule, keep, kernel }) {
	const passive = kernel !== "linear" && rule.startsWith("PA") ? `${rule} with ` : ""
	const name = KEEPS[keep] + passive + (NAMES[kernel] ?? NAMES[rule] ?? rule)
	return name[0].toUpperCase() + name.slice(1)
}
