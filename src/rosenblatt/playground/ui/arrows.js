// The weight vector as an arrow from the origin, and on an update the push that moved it: from the old tip to the new.
// What would leave the picture is cut at its edge and drawn dashed.

import { weightsAt } from "../engine/keep.js";
import { patch } from "./node.js";

const HEAD = 9;
const EDGE = 5;

// The part of the way from p to q that lies in the picture, as two shares of it; null if none does.
function inside([x0, y0], [x1, y1], { width, height }) {
  let [from, to] = [0, 1];
  for (const [start, way, most] of [[x0, x1 - x0, width], [y0, y1 - y0, height]]) {
    const shares = [(EDGE - start) / way, (most - EDGE - start) / way].sort((a, b) => a - b);
    if (way === 0) continue;
    [from, to] = [Math.max(from, shares[0]), Math.min(to, shares[1])];
  }
  return from < to ? [from, to] : null;
}

function arrow(name, start, goal, view, label) {
  const part = inside(start, goal, view);
  if (!part) return [];
  const [[x0, y0], [x1, y1]] = part.map((s) => start.map((v, j) => v + s * (goal[j] - v)));
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 1.5) return [];
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const head = Math.min(HEAD, length * 0.6);
  const [bx, by] = [x1 - ux * head, y1 - uy * head];
  const [nx, ny] = [-uy * head * 0.5, ux * head * 0.5];
  const nodes = [
    ["path", { class: `shaft ${name}${part[1] < 1 ? " cut" : ""}`, d: `M${x0} ${y0}L${bx} ${by}` }],
    ["path", { class: `tip ${name}`, d: `M${x1} ${y1}L${bx + nx} ${by + ny}L${bx - nx} ${by - ny}Z` }],
  ];
  if (label && length > 14) {
    const beside = name.startsWith("push") || part[1] < 1;
    const x = beside ? (x0 + x1) / 2 - uy * 14 : x1 + ux * 11;
    const y = beside ? (y0 + y1) / 2 + ux * 14 : y1 + uy * 11;
    const limit = (v, most) => Math.min(Math.max(v, 12), most - 12);
    nodes.push(["text", { class: `tag ${name}`, x: limit(x, view.width), y: limit(y, view.height) + 4 }, label]);
  }
  return nodes;
}

export class Arrows {
  constructor(layer) {
    this.layer = layer;
  }

  // How long a unit of w is drawn: as in the plane where that fits, else so that the longest of the run does.
  scale(trace, view) {
    if (this.trace === trace && this.view === view) return this.unit;
    let longest = 0;
    for (const [w1, w2] of trace.space.snapshots.flat()) longest = Math.max(longest, Math.hypot(w1 * view.sx, w2 * view.sy));
    const fit = longest > 0 ? (0.36 * Math.min(view.width, view.height)) / longest : 1;
    this.unit = fit >= 0.8 && fit <= 3 ? 1 : fit;
    Object.assign(this, { trace, view });
    return this.unit;
  }

  draw(trace, t, view, handle) {
    this.grip = null;
    if (trace.learner.kernel !== "linear") return patch(this.layer, []);
    const [sx, sy] = [view.sx, view.sy].map((s) => s * this.scale(trace, view));
    let [ox, oy] = view.toScreen(0, 0);
    if (ox < 0 || oy < 0 || ox > view.width || oy > view.height) [ox, oy] = [view.width / 2, view.height / 2];
    const tip = ([w1, w2]) => [ox + w1 * sx, oy - w2 * sy];
    const now = weightsAt(trace, t, "last");
    const before = weightsAt(trace, Math.max(0, t - 1), "last");
    const joint = now.length > 1;
    const nodes = [["circle", { class: "origin", cx: ox, cy: oy, r: 2.5 }]];
    now.forEach((w, k) => {
      const kind = joint ? ` class${k}` : "";
      if (before[k] !== w) {
        const up = trace.problem.y[trace.rows[t - 1]] === (joint ? k : 1);
        nodes.push(...arrow(`old${kind}`, [ox, oy], tip(before[k]), view));
        nodes.push(...arrow(`push${kind}`, tip(before[k]), tip(w), view, up ? "+x" : "−x"));
      }
      nodes.push(...arrow(`weight${kind}`, [ox, oy], tip(w), view, joint ? "" : "w"));
    });
    if (handle && !joint && trace.learner.start) {
      const [cx, cy] = tip(now[0]).map((v, j) => Math.min(Math.max(v, 10), (j ? view.height : view.width) - 10));
      nodes.push(["circle", { class: "grip", cx, cy, r: 9 }]);
      this.grip = { cx, cy, toWeights: (px, py) => [(px - ox) / sx, (oy - py) / sy] };
    }
    patch(this.layer, nodes);
  }
}
