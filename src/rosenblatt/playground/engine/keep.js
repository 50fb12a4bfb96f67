// Which weights are the answer: last, average, vote or pocket.

import { highest } from "./vector.js"

export const KEEPS = ["last", "average", "vote", "pocket"]

export function predict(scores) {
	return scores.length === 1 ? (scores[0] >= 0 ? 1 : 0) : highest(scores)
}
