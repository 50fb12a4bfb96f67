// The ledger as a table: the proof, a line an update.

import { holds } from "../engine/ledger.js";
import { show } from "../engine/sentence.js";
import { html } from "./node.js";

const MOST_LINES = 400;

export function openBook(dialog, store) {
  const trace = store.trace;
  const lines = store.ledger(trace);
  const margin = store.margin(trace.learner);
  const simple = trace.learner.rule === "perceptron";
  const heads = ["k", "row", simple ? "k·γ" : "γ·Στ", "w·u", "‖w‖", simple ? "√k·R" : "limit", "cos θ", "γ ≤"];
  const body = lines
    .slice(1, MOST_LINES + 1)
    .map((l) =>
      html(
        "tr",
        {},
        html("th", { scope: "row", text: l.k }),
        ...[l.row + 1, l.lower, l.wu, l.norm, l.upper, l.cos, l.high].map((v) => html("td", { text: show(v) })),
      ),
    );
  const more = lines.length - 1 > MOST_LINES ? ` The first ${MOST_LINES} of ${lines.length - 1} lines are shown.` : "";
  const said = holds(lines)
    ? "Every line holds: each number is at most the one to its right, from k·γ to √k·R."
    : "A line does not hold: rounding, or an error.";
  dialog.replaceChildren(
    html("h2", { id: "ledger-title", text: "The ledger of the proof" }),
    html("p", { text: `${simple ? said : said.replace("k·γ", "γ·Στ").replace("√k·R", "the limit")}${more}` }),
    html("p", {
      text: `Best margin γ = ${show(margin.low)}, R = ${show(Math.sqrt(margin.R2))}. The last column is what the run itself proves about γ.`,
    }),
    html(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Ledger" },
      html(
        "table",
        {},
        html("thead", {}, html("tr", {}, ...heads.map((text) => html("th", { scope: "col", text })))),
        html("tbody", {}, ...body),
      ),
    ),
    html("div", { class: "row" }, html("button", { id: "ledger-close", text: "Close", onclick: () => dialog.close() })),
  );
  dialog.showModal();
}
