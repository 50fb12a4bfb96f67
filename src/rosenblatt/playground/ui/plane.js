// One learner's picture of the plane.

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
  layers = {};
  title = html("strong");
  count = html("span.count");
  halo = svg("g", svg("circle", { r: 12 }), svg("path", { d: "M9-9l7-7M16-9l-7-7" }));

  // Three sheets, so that the browser does not paint all points again when something moves. For the same reason wrong
  // rows are drawn over their points, which stay as they are.
  constructor(index) {
    this.index = index;
    const layer = (name) => (this.layers[name] = svg(`g.${name}`));
    const sheets = ["regions grid band proof lines", "points", "wrongs rings marks arrows cursor"];
    this.sheets = sheets.map((names) => svg("svg", { "aria-hidden": "true" }, names.split(" ").map(layer)));
    this.picture = html("div.plane", { role: "img" }, this.sheets);
    this.node = html("figure.card", html("figcaption", this.title, this.count), this.picture);
    this.layers.marks.append(this.halo);
    this.arrows = new Arrows(this.layers.arrows);
  }

  render(store, view) {
    const { state, derived } = store;
    const trace = derived.traces[this.index];
    const { problem, learner } = trace;
    const reframed = view !== this.view;
    if (reframed) this.reframe(view, state.axes);
    if (reframed || problem !== this.problem) this.placePoints(problem);
    if (reframed || trace !== this.trace) {
      this.field = this.ringed = null;
      this.judge = problem.X.length ? new Field(trace, problem.X) : null;
    }
    const t = Math.min(state.step, trace.length);
    const jump = this.trace !== trace || Math.abs(t - this.t) !== 1 || state.speed > 5;
    Object.assign(this, { trace, problem, t, hurried: store.hurried });
    this.verdict = this.judge ? judge(this.judge, t, learner.keep) : { wrong: [], least: Infinity };
    if (!store.resting) this.captions();
    if (state.data?.preset === "drift") this.fade();
    this.mark();
    this.markRings();
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
    const { width, height, toPlane, toScreen } = view;
    Object.assign(this, { view, box: boxOf(0, 0, width, height) });
    this.picture.style.height = `${height}px`;
    for (const sheet of this.sheets) set(sheet, { viewBox: `0 0 ${width} ${height}`, width, height });
    const [x0, y1] = toPlane(0, 0);
    const [x1, y0] = toPlane(width, height);
    const line = (v, d) => svg(v ? "path" : "path.axis", { d });
    const text = (kind, x, y, said) => svg(`text.${kind}`, { x, y }, said);
    const nodes = [];
    for (const x of ticks(x0, x1, width / 60)) {
      const [px] = toScreen(x, 0);
      nodes.push(line(x, `M${px} 0V${height}`));
      if (px > 16 && px < width - 16) nodes.push(text("middle", px, height - 5, show(x)));
    }
    for (const y of ticks(y0, y1, height / 60)) {
      const [, py] = toScreen(0, y);
      nodes.push(line(y, `M0 ${py}H${width}`));
      if (py > 10 && py < height - 18) nodes.push(text("left", 5, py + 4, show(y)));
    }
    if (axes) nodes.push(text("name.right", width - 6, height - 18, axes[0]), text("name", 6, 14, axes[1]));
    this.layers.grid.replaceChildren(...nodes);
  }

  placePoints({ X, ...problem }) {
    const { width, toScreen } = this.view;
    this.size = (X.length > 200 ? 4.5 : X.length > 60 ? 5.8 : 7) * (width < 360 ? 0.8 : 1);
    this.places = X.map((x) => toScreen(...x).map((v) => snap(v, 0.1)));
    this.classes = X.map((_, i) => classOf(problem, i));
    const point = (c, i) => {
      const transform = `translate(${this.places[i].join(" ")})`;
      return ["path", { "data-row": i, class: `point class${c}`, d: shapePath(c, this.size), transform }];
    };
    patch(this.layers.points, this.classes.map(point));
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

  // Rows that the answer gets wrong are hollow; the row of the step has a halo.
  mark() {
    const { trace, t, places, classes, size } = this;
    const wrongs = this.problem.names.map(() => "");
    for (const i of this.verdict.wrong) wrongs[classes[i]] += shapePath(classes[i], size, ...places[i]);
    patch(this.layers.wrongs, wrongs.map((d, c) => ["path", { class: `wrong class${c}`, d }]));
    const place = places[trace.rows[t - 1]];
    set(this.halo, { visibility: place ? "visible" : "hidden", class: trace.mistakes[t - 1] ? "halo mistake" : "halo" });
    if (place) set(this.halo, { transform: `translate(${place.join(" ")})` });
  }

  // Rows in a kernel's sum have a ring, the wider the more they count.
  markRings() {
    const { trace, t } = this;
    const ringed = trace.learner.kernel === "linear" ? 0 : updatesAt(trace, t);
    if (ringed === this.ringed) return;
    this.ringed = ringed;
    const weights = ringed ? rowWeightsAt(trace, t, "last") : [];
    const rings = ["", "", "", "", ""];
    this.places.forEach((place, i) => {
      const weight = Math.max(0, ...weights.map((row) => Math.abs(row[i])));
      if (weight) rings[Math.min(4, Math.round(Math.sqrt(weight)))] += shapePath(1, this.size + 2.5, ...place);
    });
    patch(this.layers.rings, rings.map((d, j) => ["path", { d, "stroke-width": j + 1 }]));
  }

  // Why no line can do it: the rows of the certificate, joined within each class, meet.
  drawProof(margin) {
    const shown = margin?.certificate?.verdict === "not separable" && this.problem.classes === 2;
    const hull = (c) => {
      const rows = margin.certificate.parts.map((p) => p.row).filter((row) => this.classes[row] === c);
      const d = rows.map((i, j) => `${j ? "L" : "M"}${this.places[i].join(" ")}`).join("");
      return ["path", { class: `hull class${c}`, d: d && `${d}Z` }];
    };
    patch(this.layers.proof, shown ? [hull(0), hull(1)] : []);
  }

  // Draw the answer; a single step slides.
  move(jump) {
    const { learner } = this.trace;
    cancelAnimationFrame(this.frame);
    if (learner.kernel !== "linear" || learner.keep === "vote") {
      this.weights = null;
      return this.drawCurved();
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

  put({ regions = [], band = "", edges = "", ghost = "", raw = "", boundary = "" }) {
    const path = (name, d) => ["path", { class: name, d }];
    patch(this.layers.regions, regions.map((d, k) => path(`region class${k}`, d)));
    patch(this.layers.band, [path("band-fill", band), path("band-edge", edges)]);
    patch(this.layers.lines, [path("ghost", ghost), path("raw", raw), path("boundary", boundary)]);
  }

  // Weights of the plane as weights of the screen.
  onScreen([a, b, c]) {
    const { sx, sy, toScreen } = this.view;
    const [ox, oy] = toScreen(0, 0);
    return [a / sx, -b / sy, c - (a / sx) * ox + (b / sy) * oy];
  }

  lineAt(t) {
    return linePath(this.onScreen(weightsAt(this.trace, t, "last")[0]), this.box);
  }

  drawStraight(W) {
    const { trace, box, t, verdict } = this;
    const { learner } = trace;
    const binary = W.length === 1;
    this.picture.classList.toggle("joint", !binary);
    if (W.flat().every((v) => v === 0)) return this.put({});
    const screen = W.map((w) => this.onScreen(w));
    const regions = linearRegions(screen, box);
    if (!binary) return this.put({ regions });
    const drawn = { regions, boundary: linePath(screen[0], box) };
    const [a, b, c] = screen[0];
    const wide = target(learner) || (verdict.wrong.length ? 0 : verdict.least);
    if (learner.keep !== "last") drawn.raw = this.lineAt(t);
    else if (trace.taus[t - 1]) drawn.ghost = this.lineAt(t - 1);
    if (wide > 0 && wide < Infinity) {
      drawn.band = polygonPath(clip(clip(box, [a, b, c + wide]), [-a, -b, wide - c]));
      drawn.edges = linePath([a, b, c + wide], box) + linePath([a, b, c - wide], box);
    }
    this.put(drawn);
  }

  makeField() {
    const { width, height, toPlane } = this.view;
    const size = width < 420 ? 8 : 10;
    const [columns, rows] = [width, height].map((length) => Math.ceil(length / size) + 1);
    const site = (_, s) => toPlane((s % columns) * size, Math.floor(s / columns) * size);
    this.grid = { columns, rows, size };
    this.field = new Field(this.trace, Array.from({ length: columns * rows }, site));
  }

  // Votes jump, so their boundary is searched for, unless it moves too fast or has very many voters.
  voteCut() {
    if (this.hurried || updatesAt(this.trace, this.t) > MOST_VOTERS) return undefined;
    const votes = voteAt(this.trace, this.t);
    return jumpCut((px, py) => votes(...this.view.toPlane(px, py)) >= 0);
  }

  drawCurved() {
    const { t, verdict } = this;
    const { kernel, keep } = this.trace.learner;
    const linear = kernel === "linear";
    this.picture.classList.remove("joint");
    if (!this.field) this.makeField();
    const { grid, field } = this;
    const scores = field.scoresAt(t, keep);
    if (t === 0 || scores.every((s) => s.every((v) => v === 0))) return this.put({});
    const even = (values) => (linear ? values : values.map((v, s) => v / (field.reach[s] || 1)));
    if (scores.length > 1) {
      const parts = scores.map((_, k) => contour(grid, even(lead(scores, k))));
      return this.put({ regions: parts.map((p) => p.region), boundary: parts.map((p) => p.edge).join("") });
    }
    const { region, edge } = contour(grid, even(scores[0]), linear ? this.voteCut() : undefined);
    // The negative side is the rest of the picture: the region is left out of the box.
    const drawn = { regions: [polygonPath(this.box) + region, region], boundary: edge };
    if (linear) drawn.raw = this.lineAt(t);
    else if (keep !== "vote" && !verdict.wrong.length) {
      const level = (least) => contour(grid, scores[0].map((v) => v - least)).edge;
      drawn.edges = level(verdict.least) + level(-verdict.least);
    }
    this.put(drawn);
  }
}
