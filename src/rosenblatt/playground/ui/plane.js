// One learner's picture of the plane: regions, boundary, margin band, points, the row of the step, and the arrows.

import {
  clip,
  isoline,
  jumpCut,
  leads,
  linearRegions,
  linePath,
  makeGrid,
  polygonPath,
  region,
} from "../engine/contour.js";
import { Field, judge } from "../engine/field.js";
import { rowWeightsAt, voteAt, weightsAt } from "../engine/keep.js";
import { mistakesAt, updatesAt } from "../engine/learn.js";
import { classOf } from "../engine/problem.js";
import { target } from "../engine/rule.js";
import { show } from "../engine/sentence.js";
import { Arrows } from "./arrows.js";
import { html, set, svg } from "./node.js";
import { shapePath } from "./shape.js";
import { ticks } from "./view.js";

const SPACES = { poly: "polynomial kernel", rbf: "RBF kernel" };
const KEEPS = { last: "", average: "averaged ", vote: "voted ", pocket: "pocket " };
const TWEEN = 160;
const MOST_VOTERS = 1500;

export function learnerName({ rule, keep, kernel }) {
  const base = SPACES[kernel] ?? { perceptron: "perceptron", margin: "margin perceptron" }[rule] ?? rule;
  const name = KEEPS[keep] + base;
  return name[0].toUpperCase() + name.slice(1);
}

export class Plane {
  constructor(index) {
    this.index = index;
    // Three sheets, so that a moving boundary does not make the browser paint all points again.
    const sheets = [["regions", "grid", "band", "proof", "lines"], ["points"], ["marks", "arrows", "cursor"]];
    this.layers = {};
    this.sheets = sheets.map((names) => {
      for (const name of names) this.layers[name] = svg("g", { class: name });
      return svg("svg", { "aria-hidden": "true" }, ...names.map((name) => this.layers[name]));
    });
    this.picture = html("div", { class: "plane", role: "img" }, ...this.sheets);
    for (const name of ["ghost", "raw", "boundary"]) {
      this[name] = this.layers.lines.appendChild(svg("path", { class: name }));
    }
    this.bandFill = this.layers.band.appendChild(svg("path", { class: "band-fill" }));
    this.bandEdge = this.layers.band.appendChild(svg("path", { class: "band-edge" }));
    this.halo = this.layers.marks.appendChild(
      svg("g", { class: "halo" }, svg("circle", { r: 12 }), svg("path", { d: "M9-9l7-7M16-9l-7-7" })),
    );
    this.arrows = new Arrows(this.layers.arrows);
    this.title = html("strong");
    this.count = html("span", { class: "count" });
    this.node = html("figure", { class: "card" }, html("figcaption", {}, this.title, this.count), this.picture);
    this.marks = [];
  }

  render(store, view, axes) {
    const { state, derived } = store;
    const trace = derived.traces[this.index];
    if (view !== this.view) this.reframe(view, axes);
    if (trace !== this.trace || this.fieldView !== view) {
      this.field = null;
      this.judge = trace.problem.X.length ? new Field(trace, trace.problem.X) : null;
      this.fieldView = view;
    }
    if (this.problem !== trace.problem || this.pointView !== view) this.placePoints(trace.problem);
    const t = Math.min(state.step, trace.length);
    const jump = this.trace !== trace || Math.abs(t - this.t) !== 1 || state.speed > 5;
    this.trace = trace;
    this.t = t;
    this.fade = state.data?.preset === "drift";
    this.verdict = this.judge ? judge(this.judge, t, trace.learner.keep) : { wrong: [], least: Infinity };
    this.captions(t);
    this.markPoints(t);
    this.markRow(t);
    this.drawProof(state.proof ? store.margin(trace.learner) : null);
    this.arrows.draw(trace, t, view, state.step === 0 && state.active === this.index);
    this.move(jump);
  }

  captions(t) {
    const { trace } = this;
    const name = learnerName(trace.learner);
    const wrong = this.verdict.wrong.length;
    const mistakes = mistakesAt(trace, t);
    const end = t === trace.length && trace.length > 0;
    const state = !end ? "" : !trace.converged ? "" : this.view.width < 420 ? " ✓" : " · converged";
    this.title.textContent = name;
    this.count.textContent = `${mistakes} mistake${mistakes === 1 ? "" : "s"} · ${wrong} wrong${state}`;
    this.count.classList.toggle("done", end && trace.converged);
    const said = `${name}: ${trace.problem.X.length} points, step ${t}, ${mistakes} mistakes so far, ${wrong} rows wrong now`;
    if (this.picture.getAttribute("aria-label") !== said) this.picture.setAttribute("aria-label", said);
  }

  reframe(view, axes) {
    this.view = view;
    const { width, height } = view;
    this.picture.style.height = `${height}px`;
    for (const sheet of this.sheets) set(sheet, { viewBox: `0 0 ${width} ${height}`, width, height });
    this.box = [
      [0, 0],
      [width, 0],
      [width, height],
      [0, height],
    ];
    const [x0, y1] = view.toPlane(0, 0);
    const [x1, y0] = view.toPlane(width, height);
    const nodes = [];
    for (const x of ticks(x0, x1, width / 80)) {
      const [px] = view.toScreen(x, 0);
      nodes.push(svg("path", { d: `M${px} 0V${height}`, class: x === 0 ? "axis" : "" }));
      if (px > 16 && px < width - 16)
        nodes.push(svg("text", { x: px, y: height - 5, "text-anchor": "middle", text: show(x) }));
    }
    for (const y of ticks(y0, y1, height / 80)) {
      const [, py] = view.toScreen(0, y);
      nodes.push(svg("path", { d: `M0 ${py}H${width}`, class: y === 0 ? "axis" : "" }));
      if (py > 10 && py < height - 18) nodes.push(svg("text", { x: 5, y: py + 4, text: show(y) }));
    }
    if (axes) {
      nodes.push(svg("text", { x: width - 6, y: height - 18, "text-anchor": "end", class: "name", text: axes[0] }));
      nodes.push(svg("text", { x: 6, y: 14, class: "name", text: axes[1] }));
    }
    this.layers.grid.replaceChildren(...nodes);
  }

  placePoints(problem) {
    const { view } = this;
    const size = (problem.X.length > 200 ? 4.5 : problem.X.length > 60 ? 5.8 : 7) * (view.width < 360 ? 0.8 : 1);
    if (this.problem?.X.length !== problem.X.length) {
      this.marks = problem.X.map((_, i) => svg("path", { "data-row": i }));
      this.layers.points.replaceChildren(...this.marks);
    }
    problem.X.forEach((x, i) => {
      const c = classOf(problem, i);
      const [px, py] = view.toScreen(...x);
      set(this.marks[i], {
        d: shapePath(c, size),
        transform: `translate(${px.toFixed(1)} ${py.toFixed(1)})`,
        class: `point class${c}`,
      });
    });
    this.problem = problem;
    this.pointView = view;
    this.size = size;
    this.wrong = new Set();
    this.weights = null;
  }

  // Rows the answer gets wrong are hollow; kernel rows in the sum have a ring; in a stream old rows fade.
  markPoints(t) {
    const wrong = new Set(this.verdict.wrong);
    for (const i of this.wrong) if (!wrong.has(i)) this.marks[i]?.classList.remove("wrong");
    for (const i of wrong) if (!this.wrong.has(i)) this.marks[i].classList.add("wrong");
    this.wrong = wrong;
    const now = t > 0 ? this.trace.rows[t - 1] : 0;
    if (this.fade) {
      const n = this.marks.length;
      this.marks.forEach((mark, i) => {
        const age = (now - i + n) % n;
        mark.classList.toggle("aged", age > n / 8 && age <= n / 3);
        mark.classList.toggle("older", age > n / 3);
      });
    }
    const dual = this.trace.learner.kernel !== "linear";
    if (!dual && !this.rings) return;
    const A = dual ? rowWeightsAt(this.trace, t, "last") : null;
    this.rings?.remove();
    this.rings = dual ? svg("g", { class: "rings" }) : null;
    if (!dual) return;
    this.trace.problem.X.forEach((x, i) => {
      const weight = Math.max(...A.map((row) => Math.abs(row[i])));
      if (weight === 0) return;
      const [cx, cy] = this.view.toScreen(...x);
      this.rings.append(
        svg("circle", { cx, cy, r: this.size + 2.5, "stroke-width": Math.min(5, 1 + Math.sqrt(weight)) }),
      );
    });
    this.layers.marks.prepend(this.rings);
  }

  markRow(t) {
    const on = t > 0 && t <= this.trace.length;
    this.halo.setAttribute("visibility", on ? "visible" : "hidden");
    if (!on) return;
    const [x, y] = this.view.toScreen(...this.trace.problem.X[this.trace.rows[t - 1]]);
    this.halo.setAttribute("transform", `translate(${x} ${y})`);
    this.halo.setAttribute(
      "class",
      this.trace.mistakes[t - 1] ? "halo mistake" : this.trace.taus[t - 1] ? "halo close" : "halo",
    );
  }

  // Why no line can do it: the rows of the certificate, joined within each class. The two shapes meet.
  drawProof(margin) {
    const certificate = margin?.certificate;
    const layer = this.layers.proof;
    if (certificate?.verdict !== "not separable" || this.trace.problem.classes > 2) {
      layer.replaceChildren();
      return;
    }
    const nodes = [0, 1].map((c) => {
      const rows = certificate.parts.filter((p) => classOf(this.trace.problem, p.row) === c);
      const corners = rows.map((p) => this.view.toScreen(...this.trace.problem.X[p.row]));
      return svg("path", {
        d: corners.length ? `M${corners.map((p) => p.join(" ")).join("L")}Z` : "",
        class: `hull class${c}`,
      });
    });
    layer.replaceChildren(...nodes);
  }

  // Draw the answer, sliding from the weights shown before where the change is one step.
  move(jump) {
    const { trace, t } = this;
    cancelAnimationFrame(this.frame);
    if (trace.learner.kernel !== "linear" || trace.learner.keep === "vote") {
      this.weights = null;
      this.drawCurved();
      return;
    }
    const goal = weightsAt(trace, t, trace.learner.keep);
    const from = this.weights;
    const still =
      jump || !from || from.length !== goal.length || matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (still) {
      this.weights = goal;
      this.drawStraight(goal);
      return;
    }
    const begin = performance.now();
    const slide = (now) => {
      const s = Math.min(1, Math.max(0, (now - begin) / TWEEN));
      const ease = 1 - (1 - s) ** 3;
      this.weights = s === 1 ? goal : goal.map((w, k) => w.map((v, j) => from[k][j] + ease * (v - from[k][j])));
      this.drawStraight(this.weights);
      if (s < 1) this.frame = requestAnimationFrame(slide);
    };
    slide(begin);
  }

  // Weights of the plane as weights of the screen.
  onScreen([a, b, c]) {
    const { sx, sy, toScreen } = this.view;
    const [ox, oy] = toScreen(0, 0);
    return [a / sx, -b / sy, c - (a / sx) * ox + (b / sy) * oy];
  }

  paths(name, layer, list) {
    while (layer.childElementCount > list.length) layer.lastElementChild.remove();
    while (layer.childElementCount < list.length)
      layer.append(svg("path", { class: `${name} class${layer.childElementCount}` }));
    list.forEach((d, k) => layer.children[k].setAttribute("d", d));
  }

  drawStraight(W) {
    const { trace, box } = this;
    const screen = W.map((w) => this.onScreen(w));
    const flat = W.every((w) => w[0] === 0 && w[1] === 0 && w[2] === 0);
    this.paths("region", this.layers.regions, flat ? [] : linearRegions(screen, box));
    const binary = W.length === 1;
    this.boundary.setAttribute("d", binary ? linePath(screen[0], box) : "");
    this.picture.classList.toggle("joint", !binary);
    const raw =
      trace.learner.keep !== "last" && binary ? linePath(this.onScreen(weightsAt(trace, this.t, "last")[0]), box) : "";
    this.raw.setAttribute("d", raw);
    const moved = this.t > 0 && trace.taus[this.t - 1] !== 0 && trace.learner.keep === "last" && binary;
    this.ghost.setAttribute("d", moved ? linePath(this.onScreen(weightsAt(trace, this.t - 1, "last")[0]), box) : "");
    const wide = target(trace.learner) || (this.verdict.wrong.length ? 0 : this.verdict.least);
    if (!binary || !(wide > 0) || !Number.isFinite(wide) || flat) {
      this.bandFill.setAttribute("d", "");
      this.bandEdge.setAttribute("d", "");
      return;
    }
    const [a, b, c] = screen[0];
    this.bandFill.setAttribute("d", polygonPath(clip(clip(box, a, b, c + wide), -a, -b, wide - c)));
    this.bandEdge.setAttribute("d", linePath([a, b, c + wide], box) + linePath([a, b, c - wide], box));
  }

  // Votes jump, so their boundary is searched for; with very many voters the grid alone must do.
  voteCut() {
    if (updatesAt(this.trace, this.t) > MOST_VOTERS) return undefined;
    const votes = voteAt(this.trace, this.t);
    return jumpCut((px, py) => votes(...this.view.toPlane(px, py)) >= 0);
  }

  drawCurved() {
    const { trace, view } = this;
    const linear = trace.learner.kernel === "linear";
    const size = view.width < 420 ? 8 : 10;
    if (!this.field) {
      this.grid = makeGrid(view.width, view.height, size);
      const sites = [];
      for (let r = 0; r < this.grid.rows; r++) {
        for (let c = 0; c < this.grid.columns; c++) sites.push(view.toPlane(c * size, r * size));
      }
      this.field = new Field(trace, sites);
    }
    const scores = this.field.scoresAt(this.t, trace.learner.keep);
    const flat = this.t === 0 || scores.every((s) => s.every((v) => v === 0));
    const ahead = linear
      ? leads(scores)
      : leads(scores).map((values) => values.map((v, s) => v / (this.field.reach[s] || 1)));
    const cut = linear && scores.length === 1 ? this.voteCut() : undefined;
    this.paths("region", this.layers.regions, flat ? [] : ahead.map((values) => region(this.grid, values, cut)));
    const between = scores.length > 1 ? ahead : [ahead[1]];
    this.boundary.setAttribute("d", flat ? "" : between.map((values) => isoline(this.grid, values, 0, cut)).join(""));
    this.picture.classList.remove("joint");
    this.ghost.setAttribute("d", "");
    this.raw.setAttribute(
      "d",
      linear && scores.length === 1 ? linePath(this.onScreen(weightsAt(trace, this.t, "last")[0]), this.box) : "",
    );
    this.bandFill.setAttribute("d", "");
    const least = this.verdict.least;
    const band =
      trace.learner.keep !== "vote" &&
      scores.length === 1 &&
      !this.verdict.wrong.length &&
      Number.isFinite(least) &&
      !flat;
    this.bandEdge.setAttribute(
      "d",
      band ? isoline(this.grid, scores[0], least) + isoline(this.grid, scores[0], -least) : "",
    );
  }
}
