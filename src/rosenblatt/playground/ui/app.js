// Puts the page together: a store, and the views that follow it.

import { readLink, startState, writeLink } from "../engine/state.js";
import { Dataset } from "./dataset.js";
import { Explain } from "./explain.js";
import { startKeys } from "./keys.js";
import { Learners } from "./learners.js";
import { find, tell } from "./node.js";
import { Proof } from "./proof.js";
import { startSave } from "./save.js";
import { Stage } from "./stage.js";
import { Store } from "./store.js";
import { startTheme } from "./theme.js";
import { Tour } from "./tour.js";
import { Transport } from "./transport.js";

function fromLink(hash) {
  try {
    return readLink(hash);
  } catch (error) {
    tell(`This link is broken: ${error.message} Showing the start instead.`, "error");
    return null;
  }
}

const store = new Store(fromLink(location.hash) ?? startState());
const tool = { choice: 1 };
const stage = new Stage(store, tool);
const dataset = new Dataset(store, tool);
const transport = new Transport(store);
startTheme(find("theme"));
startSave(store, stage);
startKeys(store, transport, tool);
find("help-open").onclick = () => find("help").showModal();

// The address follows the state, so that the page can be reloaded or shared.
let timer = 0;
const address = {
  calm: true,
  render() {
    clearTimeout(timer);
    timer = setTimeout(() => history.replaceState(null, "", writeLink(store.state)), 200);
  },
};

const panels = [dataset, new Learners(store), new Explain(store), new Proof(store)];
store.views = [new Tour(store, transport), stage, ...panels, transport, address];
store.show();

addEventListener("hashchange", () => {
  const state = fromLink(location.hash);
  if (state) store.set(state, true);
});

// Data that came with the page: ?csv=FILE&x=COLUMN&y=COLUMN&label=COLUMN.
const { csv, ...wanted } = Object.fromEntries(new URLSearchParams(location.search));
if (csv && location.hash === "")
  fetch(csv)
    .then((answer) => {
      if (!answer.ok) throw new Error(`the server answered ${answer.status}.`);
      return answer.text();
    })
    .then((text) => dataset.upload.take(csv, text, wanted))
    .catch((error) => tell(`${csv} could not be read: ${error.message}`, "error"));
