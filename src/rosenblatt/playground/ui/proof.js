// The proof at work: w·u grows at least like k·γ, ‖w‖ at most like √k·R, and w·u <= ‖w‖. Where the two limits meet,
// there is no room for another mistake.

import { mistakesAt, updatesAt } from "../engine/learn.js";
import { plural, show } from "../engine/sentence.js";
import { openBook } from "./book.js";
import { find, html, set, svg } from "./node.js";
import { ticks } from "./view.js";

const PAD = { left: 36, right: 12, top: 10, bottom: 24 };

const path = (places) => `M${places.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;

export class Proof {
  calm = true;

  constructor(store) {
    Object.assign(this, { store, chart: find("chart") });
    find("axis").onclick = () => store.set({ whole: !store.state.whole });
    find("ledger-open").onclick = () => openBook(store);
    new ResizeObserver(() => {
      this.drawn = null;
      this.render(store.state);
    }).observe(find("proof"));
  }

  render({ step, whole }) {
    const { trace } = this.store;
    const bound = this.store.bound(trace.learner);
    const [mistakes, updates] = [mistakesAt(trace, step), updatesAt(trace, step)];
    const most = bound === null ? null : Math.floor(bound + 1e-9);
    find("tally").replaceChildren(
      html("strong", show(mistakes)),
      ` mistake${mistakes === 1 ? "" : "s"}${most === null ? "" : ` of at most ${show(most)}`} · ${plural(updates, "update")}`,
    );
    find("meter").hidden = most === null;
    find("meter").firstChild.style.width = `${Math.min(100, (100 * mistakes) / Math.max(1, most))}%`;
    const lines = this.store.ledger(trace);
    const shows = lines !== null && lines.length > 1;
    for (const id of ["axis", "ledger-open"]) find(id).hidden = !shows;
    find("none").hidden = shows;
    if (!shows) {
      find("none").textContent = this.why(trace);
      this.drawEpochs(trace, trace.epochs[Math.min(step, trace.length) - 1] ?? 0);
      return;
    }
    find("axis").textContent = whole ? "Zoom to the run" : "Up to the bound";
    if (this.drawn !== trace || this.whole !== whole) this.draw(trace, lines, bound, whole);
    this.follow(lines, updates);
  }

  why({ problem, learner }) {
    if (problem.X.length === 0) return "No points yet.";
    if (learner.start) return "The proof starts from zero weights, so with an own start nothing is promised.";
    if (this.store.margin(learner).low > 0) return "No update yet.";
    return learner.kernel === "linear"
      ? "No separating weights exist, so no bound: the mistakes never have to end."
      : "No margin was found, so nothing is promised.";
  }

  // The scales of a chart that reaches to `last` and to `top`, and the lines and numbers of its upward axis.
  axes(last, top, levels) {
    const width = Math.max(220, find("proof").getBoundingClientRect().width - 24);
    const height = Math.max(120, this.chart.getBoundingClientRect().height || 170);
    const floor = height - PAD.bottom;
    const x = (k) => PAD.left + (k / last) * (width - PAD.left - PAD.right);
    const y = (v) => floor - (v / top) * (floor - PAD.top);
    const rules = levels(height).flatMap((v) => [
      svg("path.rule", { d: `M${PAD.left} ${y(v)}H${width - PAD.right}` }),
      svg("text.right", { x: PAD.left - 5, y: y(v) + 4 }, show(v)),
    ]);
    return { width, height, floor, x, y, rules };
  }

  put({ width, height }, said, nodes) {
    set(this.chart, { viewBox: `0 0 ${width} ${height}`, "aria-label": said });
    this.chart.replaceChildren(...nodes);
  }

  // Where nothing is promised: the mistakes of each epoch.
  drawEpochs(trace, now) {
    if (this.drawn === trace && this.now === now) return;
    Object.assign(this, { drawn: trace, now });
    const counts = trace.epochMistakes;
    const top = Math.max(1, ...counts);
    const box = this.axes(Math.max(counts.length, 8), top * 1.1, () => ticks(0, top, 4).filter(Number.isInteger));
    const { x, y, floor, height } = box;
    const wide = Math.max(0.6, (x(1) - x(0)) * 0.8);
    const bars = counts.map((v, e) =>
      svg(`rect.bar${e + 1 === now ? ".now" : ""}`, { x: x(e), width: wide, y: y(v), height: floor - y(v) }),
    );
    const ends = counts.length ? [...new Set([1, counts.length])] : [];
    const names = ends.map((e) => svg("text.middle", { x: x(e - 0.6), y: height - 8 }, e));
    const said = `Mistakes in each of ${counts.length} epochs, ${counts.at(-1) ?? 0} in the last.`;
    this.put(box, said, [...box.rules, ...bars, ...names, svg("text", { x: PAD.left, y: 11 }, "mistakes an epoch")]);
  }

  draw(trace, lines, bound, whole) {
    Object.assign(this, { drawn: trace, whole });
    const { rule, eta0 } = trace.learner;
    const margin = this.store.margin(trace.learner);
    const simple = rule === "perceptron";
    const run = lines.length - 1;
    const last = whole && simple ? Math.max(run, bound * 1.06) : Math.max(run * 1.12, 2);
    // The two limits: smooth curves for the perceptron, else what the ledger adds up.
    const upper = (k) => (simple ? Math.sqrt(k * margin.R2) * eta0 : lines[k].upper);
    const lower = (k) => (simple ? k * margin.low * eta0 : lines[k].lower);
    const top = simple ? Math.max(upper(last), lower(last)) * 1.04 : upper(run) * 1.08;
    const box = this.axes(last, top, (height) => ticks(0, top, height / 45));
    const { x, y, floor, width, height } = box;
    const samples = simple ? Array.from({ length: 61 }, (_, i) => (last * (i * i)) / 3600) : lines.map((l) => l.k);
    const curve = (of, ks = samples) => ks.map((k) => [x(k), y(of(k))]);
    const inside = simple ? samples.filter((k) => k <= bound) : samples;
    const wedge = [...curve(upper, inside), ...curve(lower, inside).reverse()];
    const marks = ticks(0, last, width / 70).flatMap((k) => [
      svg("path.tick", { d: `M${x(k)} ${floor}v4` }),
      svg("text.middle", { x: x(k), y: height - 8 }, show(k)),
    ]);
    const meets = simple && bound <= last;
    if (meets)
      marks.push(
        svg("path.bound", { d: `M${x(bound)} ${PAD.top}V${floor}` }),
        svg("circle.meet", { cx: x(bound), cy: y(lower(bound)), r: 4 }),
        svg("text.bound-name.right", { x: x(bound) - 6, y: floor - 6 }, "R²/γ²"),
      );
    const [upName, lowName] = simple ? ["√k·R", "k·γ"] : ["limit of ‖w‖", "γ·Στ"];
    const at = simple ? last * 0.62 : run;
    const course = (key) => path(lines.map((l) => [x(l.k), y(l[key])]));
    this.courses = ["norm", "along"].map((name) => ({
      line: svg(`path.${name}`),
      dot: svg(`circle.${name}`, { r: 3.5 }),
      word: svg(`text.${name}`, name === "norm" ? "‖w‖" : "w·u"),
    }));
    this.box = box;
    const said = `The proof: ‖w‖ stays below ${upName}, w·u above ${lowName}${meets ? `; they meet at ${show(bound)} mistakes` : ""}.`;
    this.put(box, said, [
      ...box.rules,
      ...marks,
      svg("path.wedge", { d: `${path(wedge)}Z` }),
      svg("path.norm.limit", { d: path(curve(upper)) }),
      svg("path.along.limit", { d: path(curve(lower)) }),
      svg("path.norm.future", { d: course("norm") }),
      svg("path.along.future", { d: course("wu") }),
      ...this.courses.flatMap(({ line, dot, word }) => [line, dot, word]),
      svg("text.norm.right", { x: x(at) - 4, y: y(upper(at)) - 7 }, upName),
      svg(simple ? "text.along" : "text.along.right", { x: x(at) + 6, y: y(lower(at)) + 15 }, lowName),
      svg("text.right", { x: meets ? x(bound) - 50 : width - PAD.right, y: floor - 6 }, "k updates →"),
    ]);
  }

  follow(lines, k) {
    const { x, y } = this.box;
    const apart = Math.abs(y(lines[k].norm) - y(lines[k].wu)) > 14 || k === 0;
    const visibility = x(k) - x(0) > 24 ? "visible" : "hidden";
    this.courses.forEach(({ line, dot, word }, j) => {
      const key = j ? "wu" : "norm";
      set(line, { d: path(lines.slice(0, k + 1).map((l) => [x(l.k), y(l[key])])) });
      set(dot, { cx: x(k), cy: y(lines[k][key]) });
      set(word, { x: x(k) + 6, y: y(lines[k][key]) + (apart ? 4 : j ? 12 : -4), visibility });
    });
  }
}
