// Time from left to right: a lane a learner with every mistake marked, the mistakes added up, and a handle to scrub.

import { mistakesAt } from "../engine/learn.js";
import { show } from "../engine/sentence.js";
import { html, set, svg } from "./node.js";

const LANE = 12;
const SIDE = 12;

export class Timeline {
  constructor(root, store, stop) {
    Object.assign(this, { store });
    // The moment is on a sheet of its own, so that moving it does not paint the marks again.
    this.svg = svg("svg", { class: "timeline", "aria-hidden": "true" });
    this.past = svg("rect", { class: "past", x: SIDE, y: 0 });
    this.cursor = svg("path", { class: "cursor" });
    this.knob = svg("circle", { class: "knob", cy: 5, r: 5 });
    this.now = svg("svg", { class: "timeline", "aria-hidden": "true" }, this.past, this.cursor, this.knob);
    this.range = html("input", {
      type: "range",
      min: 0,
      step: 1,
      id: "time",
      "aria-label": "Step",
      oninput: () => {
        stop();
        store.set({ step: Number(this.range.value) });
      },
    });
    this.node = html("div", { class: "scrub" }, this.svg, this.now, this.range);
    root.append(this.node);
    new ResizeObserver(() => {
      this.traces = null;
      this.render(store.state, store.derived);
    }).observe(this.node);
  }

  render(state, derived) {
    const same =
      this.traces &&
      this.traces.length === derived.traces.length &&
      this.traces.every((t, j) => t === derived.traces[j]) &&
      this.active === state.active;
    if (!same) this.draw(state, derived);
    const t = Math.min(state.step, derived.last);
    if (Number(this.range.value) !== t) this.range.value = t;
    const trace = this.store.trace;
    const epoch = t > 0 && trace.length ? trace.epochs[Math.min(t, trace.length) - 1] : 0;
    const said = `step ${t} of ${derived.last}, epoch ${epoch}, ${mistakesAt(trace, t)} mistakes`;
    this.range.setAttribute("aria-valuetext", said);
    const px = this.x(t);
    set(this.cursor, { d: `M${px} 0V${this.height}` });
    set(this.past, { width: Math.max(0, px - SIDE) });
    set(this.knob, { cx: px });
  }

  draw(state, derived) {
    const { traces, last } = derived;
    Object.assign(this, { traces, active: state.active });
    const box = this.node.getBoundingClientRect();
    const width = Math.max(200, box.width);
    const height = Math.max(56, box.height || 84);
    this.height = height;
    this.range.max = last;
    this.x = (t) => SIDE + (t / Math.max(1, last)) * (width - 2 * SIDE);
    const lane = traces.length > 2 ? LANE - 3 : LANE;
    const lanesTop = height - traces.length * (lane + 2) - 4;
    const most = Math.max(1, ...traces.map((t) => mistakesAt(t, t.length)));
    const y = (m) => lanesTop - 4 - (m / most) * (lanesTop - 18);
    const nodes = [];
    const lead = this.store.trace;
    const n = lead.problem.X.length;
    const epochs = n ? last / n : 0;
    const every = Math.max(1, Math.ceil((epochs * 60) / width));
    for (let e = 0; e < epochs; e += every) {
      const px = this.x(e * n);
      nodes.push(svg("path", { class: "epoch", d: `M${px} 0V${height}` }));
      if (px < width - 124)
        nodes.push(svg("text", { x: px + (e ? 3 : 8), y: 10, text: e === 0 ? "epoch 1" : String(e + 1) }));
    }
    const bound = this.store.bound(lead.learner);
    if (bound !== null && Math.floor(bound) <= most * 1.02)
      nodes.push(svg("path", { class: "bound", d: `M${SIDE} ${y(bound)}H${width - SIDE}` }));
    traces.forEach((trace, j) => {
      const top = lanesTop + j * (lane + 2);
      nodes.push(
        svg("rect", { class: "lane", x: SIDE, y: top, width: this.x(trace.length) - SIDE, height: lane, rx: 2 }),
      );
      let ticks = "";
      let seen = -1;
      let steps = `M${this.x(0)} ${y(0)}`;
      trace.mistakes.forEach((mistake, s) => {
        if (!mistake) return;
        const px = Math.round(this.x(s + 1) * 2) / 2;
        if (px !== seen) ticks += `M${px} ${top}v${lane}`;
        seen = px;
        steps += `L${this.x(s + 1).toFixed(1)} ${y(trace.mistakeCounts[s] - 1).toFixed(1)}V${y(trace.mistakeCounts[s]).toFixed(1)}`;
      });
      steps += `H${this.x(trace.length)}`;
      const mine = j === state.active;
      nodes.push(svg("path", { class: `tick${mine ? " mine" : ""}`, d: ticks }));
      nodes.push(svg("path", { class: `sum line${j}${mine ? " mine" : ""}`, d: steps }));
      if (trace.converged)
        nodes.push(svg("circle", { class: "end", cx: this.x(trace.length), cy: top + lane / 2, r: lane / 2 - 1 }));
      if (traces.length > 1)
        nodes.push(svg("text", { class: "lane-name", x: 2, y: top + lane - 1, text: String(j + 1) }));
    });
    nodes.push(
      svg("text", {
        class: "most",
        x: width - SIDE,
        y: 10,
        "text-anchor": "end",
        text: `${show(most)} mistake${most === 1 ? "" : "s"}`,
      }),
    );
    set(this.past, { height });
    for (const sheet of [this.svg, this.now]) set(sheet, { viewBox: `0 0 ${width} ${height}` });
    this.svg.replaceChildren(...nodes);
  }
}
