// The proof at work: w·u grows at least like k·γ, ‖w‖ at most like √k·R, and w·u <= ‖w‖. Where the two limits meet,
// there is no room for another mistake.

import { mistakesAt, updatesAt } from "../engine/learn.js";
import { show } from "../engine/sentence.js";
import { html, set, svg } from "./node.js";
import { ticks } from "./view.js";

const PAD = { left: 36, right: 12, top: 10, bottom: 24 };

export class Proof {
  constructor(root, store, openLedger) {
    Object.assign(this, { root, store });
    this.meter = html("div", { class: "meter" }, html("div", { class: "fill" }));
    this.caption = html("p", { class: "tally" });
    this.svg = svg("svg", { class: "chart", role: "img" });
    this.axis = html("button", { id: "axis", onclick: () => store.set({ whole: !store.state.whole }) });
    this.book = html("button", {
      id: "ledger-open",
      text: "Ledger",
      title: "The proof, a line a mistake",
      onclick: openLedger,
    });
    this.none = html("p", { class: "none" });
    root.append(
      html(
        "div",
        { class: "head" },
        html("h2", { id: "proof-title", text: "The proof" }),
        html("span", { class: "more" }, this.axis, this.book),
      ),
      this.caption,
      this.meter,
      this.none,
      this.svg,
    );
    new ResizeObserver(() => {
      this.drawn = null;
      this.render(store.state);
    }).observe(root);
  }

  render(state) {
    const trace = this.store.trace;
    const bound = this.store.bound(trace.learner);
    const mistakes = mistakesAt(trace, state.step);
    const most = bound === null ? null : Math.floor(bound + 1e-9);
    this.caption.replaceChildren(
      html("strong", { text: show(mistakes) }),
      ` mistake${mistakes === 1 ? "" : "s"}`,
      most === null ? "" : ` of at most ${show(most)}`,
      ` · ${show(updatesAt(trace, state.step))} update${updatesAt(trace, state.step) === 1 ? "" : "s"}`,
    );
    this.meter.hidden = most === null;
    if (most !== null) this.meter.firstChild.style.width = `${Math.min(100, (100 * mistakes) / Math.max(1, most))}%`;
    const lines = this.store.ledger(trace);
    const shows = lines !== null && lines.length > 1;
    for (const part of [this.axis, this.book]) part.hidden = !shows;
    this.none.hidden = shows;
    if (!shows) {
      this.none.textContent = this.why(trace);
      this.drawEpochs(trace, state.step);
      return;
    }
    this.axis.textContent = state.whole ? "Zoom to the run" : "Up to the bound";
    if (this.drawn !== trace || this.whole !== state.whole) this.draw(trace, lines, bound, state.whole);
    this.follow(lines, updatesAt(trace, state.step));
  }

  why(trace) {
    if (trace.problem.X.length === 0) return "No points yet.";
    if (trace.learner.start) return "The proof starts from zero weights, so with an own start nothing is promised.";
    if (this.store.margin(trace.learner).low > 0) return "No update yet.";
    return trace.learner.kernel === "linear"
      ? "No separating weights exist, so no bound: the mistakes never have to end."
      : "No margin was found, so nothing is promised.";
  }

  size() {
    return [
      Math.max(220, this.root.getBoundingClientRect().width - 24),
      Math.max(120, this.svg.getBoundingClientRect().height || 170),
    ];
  }

  // Where nothing is promised: the mistakes of each epoch.
  drawEpochs(trace, step) {
    const counts = trace.epochMistakes;
    const now = step > 0 && trace.length ? trace.epochs[Math.min(step, trace.length) - 1] : 0;
    if (this.drawn === trace && this.now === now) return;
    Object.assign(this, { drawn: trace, now });
    const [width, height] = this.size();
    const top = Math.max(1, ...counts);
    const wide = (width - PAD.left - PAD.right) / Math.max(counts.length, 8);
    const y = (v) => height - PAD.bottom - (v / top) * (height - PAD.top - PAD.bottom - 14);
    const bars = counts.map((v, e) =>
      svg("rect", {
        class: `bar${e + 1 === now ? " now" : ""}`,
        x: PAD.left + e * wide,
        width: Math.max(0.6, wide * 0.8),
        y: y(v),
        height: height - PAD.bottom - y(v),
      }),
    );
    const levels = ticks(0, top, 4).filter(Number.isInteger);
    const rules = levels.map((v) => svg("path", { class: "rule", d: `M${PAD.left} ${y(v)}H${width - PAD.right}` }));
    const numbers = levels.map((v) =>
      svg("text", { x: PAD.left - 5, y: y(v) + 4, "text-anchor": "end", text: show(v) }),
    );
    const ends = counts.length ? [1, counts.length] : [];
    const names = [...new Set(ends)].map((e) =>
      svg("text", { x: PAD.left + (e - 0.6) * wide, y: height - 8, "text-anchor": "middle", text: String(e) }),
    );
    set(this.svg, {
      viewBox: `0 0 ${width} ${height}`,
      "aria-label": `Mistakes in each of ${counts.length} epochs, ${counts.at(-1) ?? 0} in the last.`,
    });
    this.svg.replaceChildren(
      ...rules,
      ...bars,
      ...numbers,
      ...names,
      svg("text", { x: PAD.left, y: 11, text: "mistakes an epoch" }),
    );
  }

  draw(trace, lines, bound, whole) {
    Object.assign(this, { drawn: trace, whole });
    const [width, height] = this.size();
    const simple = trace.learner.rule === "perceptron";
    const run = lines.length - 1;
    const last = whole && simple ? Math.max(run, bound * 1.06) : Math.max(run * 1.12, 2);
    const { eta0 } = trace.learner;
    const margin = this.store.margin(trace.learner);
    const R = Math.sqrt(margin.R2) * eta0;
    const gamma = margin.low * eta0;
    const top = simple ? Math.max(Math.sqrt(last) * R, last * gamma) * 1.04 : lines[run].upper * 1.08;
    const x = (k) => PAD.left + (k / last) * (width - PAD.left - PAD.right);
    const y = (v) => height - PAD.bottom - (v / top) * (height - PAD.top - PAD.bottom);
    this.scale = { x, y };
    const samples = simple ? Array.from({ length: 61 }, (_, i) => (last * (i * i)) / 3600) : lines.map((l) => l.k);
    const path = (of) => `M${samples.map((k) => `${x(k).toFixed(1)} ${y(of(k)).toFixed(1)}`).join("L")}`;
    const upper = path((k) => (simple ? Math.sqrt(k) * R : lines[k].upper));
    const lower = path((k) => (simple ? k * gamma : lines[k].lower));
    const inside = simple ? samples.filter((k) => k <= bound) : samples;
    const wedge = `M${inside.map((k) => `${x(k).toFixed(1)} ${y(simple ? Math.sqrt(k) * R : lines[k].upper).toFixed(1)}`).join("L")}L${[
      ...inside,
    ]
      .reverse()
      .map((k) => `${x(k).toFixed(1)} ${y(simple ? k * gamma : lines[k].lower).toFixed(1)}`)
      .join("L")}Z`;
    const grid = [];
    for (const k of ticks(0, last, width / 70))
      grid.push(
        svg("path", { class: "tick", d: `M${x(k)} ${height - PAD.bottom}v4` }),
        svg("text", { x: x(k), y: height - 8, "text-anchor": "middle", text: show(k) }),
      );
    for (const v of ticks(0, top, height / 45))
      grid.push(
        svg("path", { class: "rule", d: `M${PAD.left} ${y(v)}H${width - PAD.right}` }),
        svg("text", { x: PAD.left - 5, y: y(v) + 4, "text-anchor": "end", text: show(v) }),
      );
    const step = (key) => `M${lines.map((l) => `${x(l.k).toFixed(1)} ${y(l[key]).toFixed(1)}`).join("L")}`;
    const meets = simple && bound <= last;
    const mark = meets
      ? [
          svg("path", { class: "bound", d: `M${x(bound)} ${PAD.top}V${height - PAD.bottom}` }),
          svg("circle", { class: "meet", cx: x(bound), cy: y(bound * gamma), r: 4 }),
          svg("text", {
            class: "bound-name",
            x: x(bound) - 6,
            y: height - PAD.bottom - 6,
            "text-anchor": "end",
            text: "R²/γ²",
          }),
        ]
      : [];
    const [upName, lowName] = simple ? ["√k·R", "k·γ"] : ["limit of ‖w‖", "γ·Στ"];
    const at = simple ? last * 0.62 : run;
    const names = [
      svg("text", {
        class: "up",
        x: x(at) - 4,
        y: y(simple ? Math.sqrt(at) * R : lines[run].upper) - 7,
        "text-anchor": "end",
        text: upName,
      }),
      svg("text", {
        class: "low",
        x: x(at) + 6,
        y: y(simple ? at * gamma : lines[run].lower) + 15,
        "text-anchor": simple ? "start" : "end",
        text: lowName,
      }),
    ];
    this.norm = svg("path", { class: "norm now" });
    this.along = svg("path", { class: "along now" });
    this.dots = [svg("circle", { class: "norm dot", r: 3.5 }), svg("circle", { class: "along dot", r: 3.5 })];
    this.words = [svg("text", { class: "norm", text: "‖w‖" }), svg("text", { class: "along", text: "w·u" })];
    set(this.svg, {
      viewBox: `0 0 ${width} ${height}`,
      "aria-label": `The proof: ‖w‖ stays below ${upName}, w·u above ${lowName}${meets ? `; they meet at ${show(bound)} mistakes` : ""}.`,
    });
    this.svg.replaceChildren(
      ...grid,
      svg("path", { class: "wedge", d: wedge }),
      ...mark,
      svg("path", { class: "up", d: upper }),
      svg("path", { class: "low", d: lower }),
      svg("path", { class: "norm future", d: step("norm") }),
      svg("path", { class: "along future", d: step("wu") }),
      this.norm,
      this.along,
      ...this.dots,
      ...this.words,
      ...names,
      svg("text", {
        x: meets ? x(bound) - 50 : width - PAD.right,
        y: height - PAD.bottom - 6,
        "text-anchor": "end",
        text: "k updates →",
      }),
    );
  }

  follow(lines, k) {
    const { x, y } = this.scale;
    const path = (key) =>
      `M${lines
        .slice(0, k + 1)
        .map((l) => `${x(l.k).toFixed(1)} ${y(l[key]).toFixed(1)}`)
        .join("L")}`;
    this.norm.setAttribute("d", path("norm"));
    this.along.setAttribute("d", path("wu"));
    ["norm", "wu"].forEach((key, j) => {
      const [px, py] = [x(k), y(lines[k][key])];
      set(this.dots[j], { cx: px, cy: py });
      const apart = Math.abs(y(lines[k].norm) - y(lines[k].wu)) > 14 || k === 0;
      set(this.words[j], {
        x: px + 6,
        y: py + (apart ? 4 : j === 0 ? -4 : 12),
        visibility: px - x(0) > 24 ? "visible" : "hidden",
      });
    });
  }
}
