// Time from left to right: a lane a learner with every mistake marked, and the mistakes added up.

import { mistakesAt } from "../engine/learn.js";
import { plural } from "../engine/sentence.js";
import { find, set, svg } from "./node.js";

const SIDE = 12;

export class Timeline {
  constructor(store, stop) {
    Object.assign(this, { store, range: find("time"), now: find("now"), past: find("past") });
    this.range.oninput = () => {
      stop();
      store.set({ step: Number(this.range.value) });
    };
    new ResizeObserver(() => {
      this.traces = null;
      this.render(store.state, store.derived);
    }).observe(find("scrub"));
  }

  render({ step, active }, { traces, last }) {
    if (this.active !== active || this.traces?.length !== traces.length || traces.some((t, j) => t !== this.traces[j]))
      this.draw(active, traces, last);
    // Only moved, never painted again: see page.css.
    const px = this.x(step);
    this.now.style.transform = `translateX(${px}px)`;
    this.past.style.transform = `scaleX(${px - SIDE})`;
    if (this.store.resting) return;
    const { trace } = this.store;
    this.range.value = step;
    const epoch = trace.epochs[Math.min(step, trace.length) - 1] ?? 0;
    set(this.range, { "aria-valuetext": `step ${step} of ${last}, epoch ${epoch}, ${mistakesAt(trace, step)} mistakes` });
  }

  draw(active, traces, last) {
    Object.assign(this, { traces, active });
    const box = find("scrub").getBoundingClientRect();
    const width = Math.max(200, box.width);
    const height = Math.max(56, box.height);
    const x = (t) => SIDE + (t / Math.max(1, last)) * (width - 2 * SIDE);
    const lane = traces.length > 2 ? 9 : 12;
    const lanesTop = height - traces.length * (lane + 2) - 4;
    const most = Math.max(1, ...traces.map((t) => mistakesAt(t, t.length)));
    const y = (m) => lanesTop - 4 - (m / most) * (lanesTop - 18);
    const nodes = [];
    const lead = traces[active];
    const n = lead.problem.X.length;
    const epochs = n ? last / n : 0;
    for (let e = 0; e < epochs; e += Math.max(1, Math.ceil((epochs * 60) / width))) {
      const px = x(e * n);
      nodes.push(svg("path.epoch", { d: `M${px} 0V${height}` }));
      if (px < width - 124) nodes.push(svg("text", { x: px + (e ? 3 : 8), y: 10 }, e ? e + 1 : "epoch 1"));
    }
    const bound = this.store.bound(lead.learner);
    if (bound !== null && Math.floor(bound) <= most * 1.02)
      nodes.push(svg("path.bound", { d: `M${SIDE} ${y(bound)}H${width - SIDE}` }));
    traces.forEach((trace, j) => {
      const top = lanesTop + j * (lane + 2);
      const end = x(trace.length);
      const mine = j === active ? ".mine" : "";
      let ticks = "";
      let seen = -1;
      let sum = `M${SIDE} ${y(0)}`;
      trace.mistakes.forEach((mistake, s) => {
        if (!mistake) return;
        const px = Math.round(x(s + 1) * 2) / 2;
        if (px !== seen) ticks += `M${px} ${top}v${lane}`;
        seen = px;
        sum += `H${x(s + 1).toFixed(1)}V${y(trace.mistakeCounts[s]).toFixed(1)}`;
      });
      nodes.push(
        svg("rect.lane", { x: SIDE, y: top, width: end - SIDE, height: lane, rx: 2 }),
        svg(`path.tick${mine}`, { d: ticks }),
        svg(`path.sum${mine}`, { d: `${sum}H${end}` }),
      );
      if (trace.converged) nodes.push(svg("circle.end", { cx: end, cy: top + lane / 2, r: lane / 2 - 1 }));
      if (traces.length > 1) nodes.push(svg("text.lane-name", { x: 2, y: top + lane - 1 }, j + 1));
    });
    nodes.push(svg("text.most.right", { x: width - SIDE, y: 10 }, plural(most, "mistake")));
    this.x = x;
    this.range.max = last;
    const picture = find("timeline");
    set(picture, { viewBox: `0 0 ${width} ${height}` });
    picture.replaceChildren(...nodes);
  }
}
