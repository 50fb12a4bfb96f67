// Puts the page together: a store, the views that follow it, and the link in the address bar.

import { readLink, startState, writeLink } from "../engine/state.js";
import { openBook } from "./book.js";
import { Dataset } from "./dataset.js";
import { Explain } from "./explain.js";
import { startHelp } from "./help.js";
import { startKeys } from "./keys.js";
import { Learners } from "./learners.js";
import { tell } from "./node.js";
import { Proof } from "./proof.js";
import { Save } from "./save.js";
import { Stage } from "./stage.js";
import { Store } from "./store.js";
import { startTheme } from "./theme.js";
import { Tour } from "./tour.js";
import { Transport } from "./transport.js";

const find = (id) => document.getElementById(id);

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
startTheme(find("theme"));
const stage = new Stage(find("stage"), store, tool);
const dataset = new Dataset(find("data"), store, tool);
const learners = new Learners(find("learners"), store);
const explain = new Explain(find("explain"), store);
const proof = new Proof(find("proof"), store, () => openBook(find("ledger"), store));
const transport = new Transport(find("transport"), store);
const tour = new Tour(find("tour"), store, transport, find("tour-open"));
const save = new Save(find("save"), find("script"), store, stage);
startHelp(find("help"), find("help-open"));
startKeys(store, transport, tool, { tour: find("tour-open"), help: find("help-open") });
find("link-copy").addEventListener("click", () => save.copyLink());

// The address follows the state, so that the page can be reloaded or shared at any moment.
let timer = 0;
const address = {
  render() {
    clearTimeout(timer);
    timer = setTimeout(() => history.replaceState(null, "", writeLink(store.state)), 200);
  },
};

store.views = [tour, stage, dataset, learners, explain, proof, transport, address];
store.show();

addEventListener("hashchange", () => {
  const state = fromLink(location.hash);
  if (state) store.set(state, true);
});

// Data that came with the page: ?csv=FILE, with the columns to show as x, y and label.
const query = new URLSearchParams(location.search);
if (query.has("csv") && location.hash === "") {
  const file = query.get("csv");
  const wanted = Object.fromEntries(
    ["x", "y", "label"].filter((key) => query.has(key)).map((key) => [key, query.get(key)]),
  );
  fetch(file)
    .then((answer) => {
      if (!answer.ok) throw new Error(`the server answered ${answer.status}.`);
      return answer.text();
    })
    .then((text) => dataset.upload.take(file, text, wanted))
    .catch((error) => tell(`${file} could not be read: ${error.message}`, "error"));
}
