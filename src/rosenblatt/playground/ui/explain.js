// The arithmetic of the step, in a sentence with numbers.

import { describe } from "../engine/sentence.js";
import { html } from "./node.js";

export class Explain {
  constructor(root, store) {
    Object.assign(this, { root, store });
    this.badge = html("span", { class: "badge" });
    this.text = html("div", { class: "said", id: "said" });
    root.append(
      html("div", { class: "head" }, html("h2", { id: "explain-title", text: "This step" }), this.badge),
      this.text,
    );
  }

  render(state) {
    const trace = this.store.trace;
    const t = Math.min(state.step, trace.length);
    if (trace === this.trace && t === this.t) return;
    Object.assign(this, { trace, t });
    const said = describe(trace, t);
    const mistake = t > 0 && trace.mistakes[t - 1];
    const moved = t > 0 && trace.taus[t - 1] !== 0;
    this.badge.textContent = t === 0 ? "start" : mistake ? "✗ mistake" : moved ? "update" : "✓ right";
    this.badge.dataset.kind = t === 0 ? "" : mistake ? "mistake" : moved ? "close" : "right";
    this.text.replaceChildren(
      html("p", { text: said.head }),
      ...said.sums.map((text) => html("p", { class: "sum", text })),
      html("p", {}, html("strong", { text: said.verdict }), `${said.verdict ? ", " : ""}${said.change}`),
    );
  }
}
