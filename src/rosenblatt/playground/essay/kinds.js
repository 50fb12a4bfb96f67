// The kinds of points, each named by its shape and its color, and shown in that color wherever it is named.

import { html } from "../ui/node.js"

const SHAPES = "■●▲"
export const KINDS = ["■ orange", "● blue", "▲ green"]
export const kindOf = ({ problem }, row) => KINDS[problem.kinds[row]]

export const tint = (text) =>
	text.split(/([■●▲] \w+)/).map((part, j) => (j % 2 ? html(`em.class${SHAPES.indexOf(part[0])}`, part) : part))
