// A store, and the views that follow it.

import { readLink, startState, writeLink } from "../engine/state.js"
import { makeDataset } from "./dataset.js"
import { makeExplain } from "./explain.js"
import { startKeys } from "./keys.js"
import { makeLearners } from "./learners.js"
import { find, tell } from "./node.js"
import { makeProof } from "./proof.js"
import { startSave } from "./save.js"
import { makeStage } from "./stage.js"
import { Store } from "./store.js"
import { startTheme } from "./theme.js"
import { makeTour } from "./tour.js"
import { makeTransport } from "./transport.js"
import { makeUpload } from "./upload.js"

function fromLink(hash) {
	try {
		return readLink(hash)
	} catch (error) {
		tell(`This link is broken: ${error.message} Showing the start instead.`, "error")
		return null
	}
}

const store = new Store(fromLink(location.hash) ?? startState())
const tool = { choice: 1 }
const stage = makeStage(store, tool)
const upload = makeUpload(store)
const transport = makeTransport(store)
startTheme(find("theme"))
startSave(store, stage)
startKeys(store, tool)
find("help-open").onclick = () => find("help").showModal()

let timer = 0
function follow() {
	clearTimeout(timer)
	timer = setTimeout(() => history.replaceState(null, "", writeLink(store.state)), 200)
}

const panels = [makeDataset(store, tool), upload, makeLearners(store), makeExplain(store), makeProof(store)]
store.views = [makeTour(store, transport), stage, ...panels, transport, { calm: true, render: follow }]
store.show()

addEventListener("hashchange", () => {
	const state = fromLink(location.hash)
	if (state) store.set(state, true)
})

// Data that came with the page: ?csv=FILE&x=COLUMN&y=COLUMN&label=COLUMN.
const { csv, ...wanted } = Object.fromEntries(new URLSearchParams(location.search))
if (csv && location.hash === "") {
	try {
		const answer = await fetch(csv)
		if (!answer.ok) throw new Error(`the server answered ${answer.status}.`)
		upload.take(csv, await answer.text(), wanted)
	} catch (error) {
		tell(`${csv} could not be read: ${error.message}`, "error")
	}
}
