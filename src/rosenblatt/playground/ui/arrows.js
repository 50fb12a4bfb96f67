// The weight vector as an arrow from the origin, and on an update the push that moved it: from the old tip to the new.

import { weightsAt } from "../engine/keep.js";
import { svg } from "./node.js";

const HEAD = 9;

function arrow(name, [x0, y0], [x1, y1], label, side = 1) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 1.5) return [];
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const head = Math.min(HEAD, length * 0.6);
  const [bx, by] = [x1 - ux * head, y1 - uy * head];
  const [nx, ny] = [-uy * head * 0.5, ux * head * 0.5];
  const nodes = [
    svg("path", { class: `shaft ${name}`, d: `M${x0} ${y0}L${bx} ${by}` }),
    svg("path", { class: `tip ${name}`, d: `M${x1} ${y1}L${bx + nx} ${by + ny}L${bx - nx} ${by - ny}Z` }),
  ];
  if (label && length > 14) {
    const at = name.startsWith("push") ? 0.5 : 1;
    const away = at === 1 ? [ux * 11, uy * 11 + 4] : [-uy * 14 * side, ux * 14 * side + 4];
    nodes.push(
      svg("text", {
        class: `tag ${name}`,
        x: x0 + (x1 - x0) * at + away[0],
        y: y0 + (y1 - y0) * at + away[1],
        "text-anchor": "middle",
        text: label,
      }),
    );
  }
  return nodes;
}

export class Arrows {
  constructor(layer) {
    this.layer = layer;
  }

  // How long a unit of w is drawn: as in the plane where that fits, else so that the longest of the run does.
  scale(trace, view) {
    if (this.scaled?.trace === trace && this.scaled.view === view) return this.scaled.value;
    let longest = 0;
    for (const W of trace.space.snapshots)
      for (const w of W) longest = Math.max(longest, Math.hypot(w[0] * view.sx, w[1] * view.sy));
    const room = 0.36 * Math.min(view.width, view.height);
    const fit = longest > 0 ? room / longest : 1;
    const value = fit >= 0.8 && fit <= 3 ? 1 : fit;
    this.scaled = { trace, view, value };
    return value;
  }

  draw(trace, t, view, handle) {
    if (trace.learner.kernel !== "linear") {
      this.layer.replaceChildren();
      this.grip = null;
      return;
    }
    const scale = this.scale(trace, view);
    let origin = view.toScreen(0, 0);
    const inside = origin[0] >= 0 && origin[1] >= 0 && origin[0] <= view.width && origin[1] <= view.height;
    if (!inside) origin = [view.width / 2, view.height / 2];
    const tip = (w) => [origin[0] + w[0] * scale * view.sx, origin[1] - w[1] * scale * view.sy];
    const now = weightsAt(trace, t, "last");
    const before = t > 0 ? weightsAt(trace, t - 1, "last") : now;
    const joint = now.length > 1;
    const nodes = [svg("circle", { class: "origin", cx: origin[0], cy: origin[1], r: 2.5 })];
    now.forEach((w, k) => {
      const kind = joint ? ` class${k}` : "";
      if (before[k] !== w && t > 0) {
        nodes.push(...arrow(`old${kind}`, origin, tip(before[k]), ""));
        const up = joint ? trace.problem.y[trace.rows[t - 1]] === k : trace.problem.y[trace.rows[t - 1]] === 1;
        nodes.push(...arrow(`push${kind}`, tip(before[k]), tip(w), up ? "+x" : "−x"));
      }
      nodes.push(...arrow(`weight${kind}`, origin, tip(w), joint ? "" : "w"));
    });
    this.grip = null;
    if (handle && !joint && trace.learner.start) {
      const [cx, cy] = tip(now[0]);
      nodes.push(svg("circle", { class: "grip", cx, cy, r: 9 }));
      this.grip = {
        cx,
        cy,
        toWeights: (px, py) => [(px - origin[0]) / (scale * view.sx), (origin[1] - py) / (scale * view.sy)],
      };
    }
    this.layer.replaceChildren(...nodes);
  }
}
