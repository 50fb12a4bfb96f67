// What is given by people and cannot be read is told in one sentence.

export function fail(text) {
	throw new Error(text)
}
