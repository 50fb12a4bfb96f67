// The arithmetic of the step, in a sentence with numbers.

import { describe } from "../engine/sentence.js";
import { find, html } from "./node.js";

export class Explain {
  calm = true;

  constructor(store) {
    this.store = store;
  }

  render({ step }) {
    const { trace } = this.store;
    const t = Math.min(step, trace.length);
    if (trace === this.trace && t === this.t) return;
    Object.assign(this, { trace, t });
    const { head, sums, verdict, change } = describe(trace, t);
    const [kind, said] =
      t === 0
        ? ["", "start"]
        : trace.mistakes[t - 1]
          ? ["mistake", "✗ mistake"]
          : trace.taus[t - 1]
            ? ["close", "update"]
            : ["right", "✓ right"];
    const badge = find("badge");
    badge.textContent = said;
    badge.dataset.kind = kind;
    find("said").replaceChildren(
      html("p", head),
      ...sums.map((text) => html("p.sum", text)),
      html("p", html("strong", verdict), `${verdict ? ", " : ""}${change}`),
    );
  }
}
