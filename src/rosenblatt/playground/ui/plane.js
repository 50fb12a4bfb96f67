// One learner's picture of the plane: regions, boundary, margin band, points, the row of the step, and the arrows.

import { boxOf, clip, contour, jumpCut, lead, linearRegions, linePath, polygonPath } from "../engine/contour.js";
import { Field, judge } from "../engine/field.js";
import { rowWeightsAt, voteAt, weightsAt } from "../engine/keep.js";
import { mistakesAt, updatesAt } from "../engine/learn.js";
import { classOf } from "../engine/problem.js";
import { target } from "../engine/rule.js";
import { plural, show } from "../engine/sentence.js";
import { Arrows } from "./arrows.js";
import { html, patch, set, svg } from "./node.js";
import { shapePath } from "./shape.js";
import { snap, ticks } from "./view.js";

const NAMES = { poly: "polynomial kernel", rbf: "RBF kernel", margin: "margin perceptron" };
const KEEPS = { last: "", average: "averaged ", vote: "voted ", pocket: "pocket " };
const TWEEN = 160;
const MOST_VOTERS = 1500;

export function learnerName({ rule, keep, kernel }) {
  const name = KEEPS[keep] + (NAMES[kernel] ?? NAMES[rule] ?? rule);
  return name[0].toUpperCase() + name.slice(1);
}

export class Plane {
  // Three sheets, so that what moves does not make the browser paint all points again. Wrong rows are drawn over the
  // points, which therefore stay as they are while a run plays.
  constructor(index) {
    this.index = index;
    this.layers = {};
    const layer = (name) => (this.layers[name] = svg(`g.${name}`));
    const sheets = ["regions grid band proof lines", "points", "wrongs rings marks arrows cursor"];
    this.sheets = sheets.map((names) => svg("svg", { "aria-hidden": "true" }, names.split(" ").map(layer)));
    this.picture = html("div.plane", { role: "img" }, this.sheets);
    this.halo = svg("g", svg("circle", { r: 12 }), svg("path", { d: "M9-9l7-7M16-9l-7-7" }));
    this.layers.marks.append(this.halo);
    this.arrows = new Arrows(this.layers.arrows);
    this.title = html("strong");
    this.count = html("span.count");
    this.node = html("figure.card", html("figcaption", this.title, this.count), this.picture);
  }

  render(store, view) {
    const { state, derived } = store;
    const trace = derived.traces[this.index];
    const { problem, learner } = trace;
    const reframed = view !== this.view;
    if (reframed) this.reframe(view, state.axes);
    if (reframed || problem !== this.problem) this.placePoints(problem);
    if (reframed || trace !== this.trace) {
      this.field = this.rung = null;
      this.judge = problem.X.length ? new Field(trace, problem.X) : null;
    }
    const t = Math.min(state.step, trace.length);
    const jump = this.trace !== trace || Math.abs(t - this.t) !== 1 || state.speed > 5;
    Object.assign(this, { trace, problem, t, hurried: store.hurried });
    this.verdict = this.judge ? judge(this.judge, t, learner.keep) : { wrong: [], least: Infinity };
    if (!store.resting) this.captions();
    this.markWrong();
    if (state.data?.preset === "drift") this.fade();
    this.markRings();
    this.markRow();
    this.drawProof(state.proof ? store.margin(learner) : null);
    this.arrows.draw(trace, t, view, state.step === 0 && state.active === this.index);
    this.move(jump);
  }

  captions() {
    const { trace, t } = this;
    const name = learnerName(trace.learner);
    const wrong = this.verdict.wrong.length;
    const mistakes = plural(mistakesAt(trace, t), "mistake");
    const done = trace.converged && t === trace.length;
    const end = !done ? "" : this.view.width < 420 ? " ✓" : " · converged";
    this.title.textContent = name;
    this.count.textContent = `${mistakes} · ${wrong} wrong${end}`;
    this.count.classList.toggle("done", done);
    const said = `${name}: ${this.problem.X.length} points, step ${t}, ${mistakes} so far, ${wrong} rows wrong now`;
    set(this.picture, { "aria-label": said });
  }

  reframe(view, axes) {
    this.view = view;
    const { width, height } = view;
    this.picture.style.height = `${height}px`;
    for (const sheet of this.sheets) set(sheet, { viewBox: `0 0 ${width} ${height}`, width, height });
    this.box = boxOf(0, 0, width, height);
    const [x0, y1] = view.toPlane(0, 0);
    const [x1, y0] = view.toPlane(width, height);
    const nodes = [];
    for (const x of ticks(x0, x1, width / 80)) {
      const [px] = view.toScreen(x, 0);
      nodes.push(svg(x ? "path" : "path.axis", { d: `M${px} 0V${height}` }));
      if (px > 16 && px < width - 16) nodes.push(svg("text.middle", { x: px, y: height - 5 }, show(x)));
    }
    for (const y of ticks(y0, y1, height / 80)) {
      const [, py] = view.toScreen(0, y);
      nodes.push(svg(y ? "path" : "path.axis", { d: `M0 ${py}H${width}` }));
      if (py > 10 && py < height - 18) nodes.push(svg("text", { x: 5, y: py + 4 }, show(y)));
    }
    if (axes)
      nodes.push(
        svg("text.name.right", { x: width - 6, y: height - 18 }, axes[0]),
        svg("text.name", { x: 6, y: 14 }, axes[1]),
      );
    this.layers.grid.replaceChildren(...nodes);
  }

  placePoints({ X, ...problem }) {
    const { view } = this;
    this.size = (X.length > 200 ? 4.5 : X.length > 60 ? 5.8 : 7) * (view.width < 360 ? 0.8 : 1);
    this.places = X.map((x) => view.toScreen(...x).map((v) => snap(v, 0.1)));
    this.classes = X.map((_, i) => classOf(problem, i));
    patch(
      this.layers.points,
      this.classes.map((c, i) => [
        "path",
        {
          "data-row": i,
          class: `point class${c}`,
          d: shapePath(c, this.size),
          transform: `translate(${this.places[i].join(" ")})`,
        },
      ]),
    );
  }

  // Rows the answer gets wrong are hollow.
  markWrong() {
    const paths = this.problem.names.map(() => "");
    for (const i of this.verdict.wrong) paths[this.classes[i]] += shapePath(this.classes[i], this.size, ...this.places[i]);
    patch(this.layers.wrongs, paths.map((d, c) => ["path", { class: `wrong class${c}`, d }]));
  }

  // In a stream old rows fade.
  fade() {
    const n = this.classes.length;
    const now = this.trace.rows[this.t - 1] ?? 0;
    [...this.layers.points.children].forEach((mark, i) => {
      const age = ((now - i + n) % n) / n;
      set(mark, { class: `point class${this.classes[i]}${age > 1 / 3 ? " older" : age > 1 / 8 ? " aged" : ""}` });
    });
  }

  // Rows in the sum of a kernel learner have a ring, the wider the more they count.
  markRings() {
    const { trace, t } = this;
    const dual = trace.learner.kernel !== "linear";
    const rung = dual ? updatesAt(trace, t) : 0;
    if (rung === this.rung) return;
    this.rung = rung;
    const paths = ["", "", "", "", ""];
    const weights = dual ? rowWeightsAt(trace, t, "last") : [];
    this.places.forEach((place, i) => {
      const weight = Math.max(0, ...weights.map((row) => Math.abs(row[i])));
      if (weight) paths[Math.min(4, Math.round(Math.sqrt(weight)))] += shapePath(1, this.size + 2.5, ...place);
    });
    patch(this.layers.rings, dual ? paths.map((d, j) => ["path", { d, "stroke-width": j + 1 }]) : []);
  }

  markRow() {
    const { trace, t } = this;
    const place = this.places[trace.rows[t - 1]];
    set(this.halo, { visibility: place ? "visible" : "hidden", class: trace.mistakes[t - 1] ? "halo mistake" : "halo" });
    if (place) set(this.halo, { transform: `translate(${place.join(" ")})` });
  }

  // Why no line can do it: the rows of the certificate, joined within each class. The two shapes meet.
  drawProof(margin) {
    const shown = margin?.certificate?.verdict === "not separable" && this.problem.classes === 2;
    const hull = (c) => {
      const rows = margin.certificate.parts.map((p) => p.row).filter((row) => this.classes[row] === c);
      return ["path", { class: `hull class${c}`, d: rows.length ? `M${rows.map((i) => this.places[i].join(" ")).join("L")}Z` : "" }];
    };
    patch(this.layers.proof, shown ? [hull(0), hull(1)] : []);
  }

  // Draw the answer, sliding from the weights shown before where the change is one step.
  move(jump) {
    const { learner } = this.trace;
    cancelAnimationFrame(this.frame);
    if (learner.kernel !== "linear" || learner.keep === "vote") {
      this.weights = null;
      this.drawCurved();
      return;
    }
    const goal = weightsAt(this.trace, this.t, learner.keep);
    const still = jump || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const from = !still && this.weights?.length === goal.length ? this.weights : goal;
    const begin = performance.now();
    const slide = (now) => {
      const s = from === goal ? 1 : Math.min(1, Math.max(0, (now - begin) / TWEEN));
      const ease = 1 - (1 - s) ** 3;
      this.weights = s === 1 ? goal : goal.map((w, k) => w.map((v, j) => from[k][j] + ease * (v - from[k][j])));
      this.drawStraight(this.weights);
      if (s < 1) this.frame = requestAnimationFrame(slide);
    };
    slide(begin);
  }

  // The line of weights of the plane, as weights of the screen.
  onScreen([a, b, c]) {
    const { sx, sy, toScreen } = this.view;
    const [ox, oy] = toScreen(0, 0);
    return [a / sx, -b / sy, c - (a / sx) * ox + (b / sy) * oy];
  }

  lineAt(t) {
    return linePath(this.onScreen(weightsAt(this.trace, t, "last")[0]), this.box);
  }

  put({ regions, band = "", edges = "", ghost = "", raw = "", boundary = "" }) {
    const path = (name) => (d, k) => ["path", { class: `${name} class${k}`, d }];
    patch(this.layers.regions, regions.map(path("region")));
    patch(this.layers.band, [["path", { class: "band-fill", d: band }], ["path", { class: "band-edge", d: edges }]]);
    patch(this.layers.lines, Object.entries({ ghost, raw, boundary }).map(([name, d]) => ["path", { class: name, d }]));
  }

  drawStraight(W) {
    const { trace, box, t } = this;
    const { learner } = trace;
    const binary = W.length === 1;
    this.picture.classList.toggle("joint", !binary);
    if (W.flat().every((v) => v === 0)) return this.put({ regions: [] });
    const screen = W.map((w) => this.onScreen(w));
    const drawn = { regions: linearRegions(screen, box) };
    if (binary) {
      const [a, b, c] = screen[0];
      const wide = target(learner) || (this.verdict.wrong.length ? 0 : this.verdict.least);
      drawn.boundary = linePath(screen[0], box);
      if (learner.keep !== "last") drawn.raw = this.lineAt(t);
      else if (trace.taus[t - 1]) drawn.ghost = this.lineAt(t - 1);
      if (wide > 0 && wide < Infinity) {
        drawn.band = polygonPath(clip(clip(box, [a, b, c + wide]), [-a, -b, wide - c]));
        drawn.edges = linePath([a, b, c + wide], box) + linePath([a, b, c - wide], box);
      }
    }
    this.put(drawn);
  }

  // Votes jump, so their boundary is searched for, unless it moves too fast to be looked at or voters are very many.
  voteCut() {
    if (this.hurried || updatesAt(this.trace, this.t) > MOST_VOTERS) return undefined;
    const votes = voteAt(this.trace, this.t);
    return jumpCut((px, py) => votes(...this.view.toPlane(px, py)) >= 0);
  }

  drawCurved() {
    const { trace, view, verdict, t } = this;
    this.picture.classList.remove("joint");
    if (!this.field) {
      const size = view.width < 420 ? 8 : 10;
      const [columns, rows] = [view.width, view.height].map((length) => Math.ceil(length / size) + 1);
      const site = (_, s) => view.toPlane((s % columns) * size, Math.floor(s / columns) * size);
      this.grid = { columns, rows, size };
      this.field = new Field(trace, Array.from({ length: columns * rows }, site));
    }
    const linear = trace.learner.kernel === "linear";
    const scores = this.field.scoresAt(t, trace.learner.keep);
    if (t === 0 || scores.every((s) => s.every((v) => v === 0))) return this.put({ regions: [] });
    const { reach } = this.field;
    const even = (values) => (linear ? values : values.map((v, s) => v / (reach[s] || 1)));
    if (scores.length > 1) {
      const parts = scores.map((_, k) => contour(this.grid, even(lead(scores, k))));
      this.put({ regions: parts.map((p) => p.region), boundary: parts.map((p) => p.edge).join("") });
      return;
    }
    const { region, edge } = contour(this.grid, even(scores[0]), linear ? this.voteCut() : undefined);
    // The negative side is the rest of the picture: what is inside both outlines is left out.
    const drawn = { regions: [polygonPath(this.box) + region, region], boundary: edge };
    if (linear) drawn.raw = this.lineAt(t);
    else if (trace.learner.keep !== "vote" && !verdict.wrong.length && verdict.least < Infinity) {
      const level = (least) => contour(this.grid, scores[0].map((v) => v - least)).edge;
      drawn.edges = level(verdict.least) + level(-verdict.least);
    }
    this.put(drawn);
  }
}
