// The lab: one store, and the views that follow it.

import { startState, writeLink } from "../engine/state.js"
import { makeCode } from "./code.js"
import { makeDataset } from "./dataset.js"
import { makeExplain } from "./explain.js"
import { startKeys } from "./keys.js"
import { makeLearners } from "./learners.js"
import { light, startLight } from "./light.js"
import { find } from "./node.js"
import { makeProof } from "./proof.js"
import { startSave } from "./save.js"
import { makeStage } from "./stage.js"
import { Store } from "./store.js"
import { makeTransport } from "./transport.js"
import { makeUpload } from "./upload.js"

export function makeLab(state, changed) {
	const store = new Store(state ?? startState())
	const tool = { choice: 1 }
	const app = find("app")
	const stage = makeStage(store, tool, find("board"))
	const upload = makeUpload(store)
	const transport = makeTransport(store)
	startSave(store, stage, transport)
	startKeys(store, tool)
	startLight(app)
	stage.picked = (row) => light(app, row < 0 ? [] : [`row-${row}`])
	const around = { calm: true, render: () => (find("stretch").hidden = !stage.stretch) }
	const panels = [
		makeDataset(store, tool),
		upload,
		makeLearners(store),
		makeExplain(store),
		makeCode(store),
		makeProof(store),
	]
	store.views = [stage, around, ...panels, transport, { calm: true, render: () => changed(writeLink(store.state)) }]
	store.show()
	return { store, upload, rest: transport.pause }
}
