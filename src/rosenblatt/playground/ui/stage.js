// The planes, side by side, and what hands do in them: add, move and delete points, by pointer or by keys.

import { MOST_POINTS } from "../engine/table.js";
import { show } from "../engine/sentence.js";
import { announce, html, set, svg, tell } from "./node.js";
import { Plane } from "./plane.js";
import { shapePath } from "./shape.js";
import { frameOf, grain, makeView, snap } from "./view.js";

const NEAR = 14;

export class Stage {
  constructor(root, store, tool) {
    Object.assign(this, { root, store, tool });
    this.planes = [];
    this.cursor = null;
    this.picked = -1;
    this.board = html("div", {
      class: "board",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "plane of points",
      "aria-label": "Plane. Arrow keys move the cursor, Enter adds a point, N and P pick points, Delete removes.",
    });
    this.note = html("p", {
      class: "stretch",
      text: "The two axes have different units, so w does not look square on its boundary. Scaled columns are learned sooner.",
    });
    root.append(this.board, this.note);
    new ResizeObserver(() => this.resize()).observe(this.board);
    this.board.addEventListener("pointerdown", (e) => this.down(e));
    this.board.addEventListener("pointermove", (e) => this.drag(e));
    this.board.addEventListener("pointerup", (e) => this.up(e));
    this.board.addEventListener("pointercancel", () => (this.held = null));
    this.board.addEventListener("contextmenu", (e) => this.erase(e));
    this.board.addEventListener("keydown", (e) => this.key(e));
    this.board.addEventListener("blur", () => this.hideCursor());
  }

  resize() {
    this.view = null;
    this.render();
  }

  // The frame follows the data, but stays while a hand is moving points.
  frameFor({ points }) {
    const inside =
      this.frame &&
      points.every((p) => p.x >= this.frame.x0 && p.x <= this.frame.x1 && p.y >= this.frame.y0 && p.y <= this.frame.y1);
    if (this.edited && inside) return this.frame;
    return frameOf(points);
  }

  render() {
    const { state, derived } = this.store;
    const count = state.learners.length;
    while (this.planes.length > count) this.planes.pop().node.remove();
    while (this.planes.length < count) {
      const plane = new Plane(this.planes.length);
      this.planes.push(plane);
      this.board.append(plane.node);
      this.view = null;
    }
    this.board.dataset.count = count;
    if (derived.problem !== this.problem) {
      const frame = this.frameFor(state);
      if (!this.frame || ["x0", "x1", "y0", "y1", "stretch"].some((k) => frame[k] !== this.frame[k])) {
        this.frame = frame;
        this.view = null;
      }
      this.problem = derived.problem;
      this.edited = false;
      if (this.picked >= state.points.length) this.picked = -1;
    }
    if (!this.view) {
      const box = this.board.getBoundingClientRect();
      if (box.width < 50) return;
      const fixed = getComputedStyle(this.board).getPropertyValue("--fixed").trim() === "1";
      const layouts = (count > 1 && box.width > 520 ? [2, 1] : [1]).map((columns) => {
        const rows = Math.ceil(count / columns);
        const width = Math.floor((box.width - 8 * (columns - 1)) / columns) - 2;
        const tall = fixed ? Math.floor((box.height - 8 * (rows - 1)) / rows) - 30 : width * 0.86;
        return { columns, view: makeView(this.frame, width, Math.max(140, Math.floor(tall))) };
      });
      // The arrangement that shows the points largest; where the window decides the height, that is all there is room for.
      const best = fixed && layouts[1]?.view.sx > layouts[0].view.sx ? layouts[1] : layouts[0];
      this.board.style.gridTemplateColumns = `repeat(${best.columns}, 1fr)`;
      this.view = best.view;
    }
    this.planes.forEach((plane, j) => {
      plane.node.classList.toggle("active", count > 1 && j === state.active);
      plane.render(this.store, this.view, state.axes);
    });
    this.note.hidden = !this.frame.stretch;
    this.drawCursor();
  }

  // Where a pointer is: the plane it is in, its place there, and the row under it.
  locate(event) {
    const plane = this.planes.find((p) => p.node.contains(event.target));
    if (!plane) return null;
    const box = plane.picture.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    if (py < 0) return { plane, head: true };
    let row = -1;
    let best = event.pointerType === "touch" ? NEAR * 1.6 : NEAR;
    this.store.state.points.forEach((p, i) => {
      const [sx, sy] = this.view.toScreen(p.x, p.y);
      const away = Math.hypot(sx - px, sy - py);
      if (away <= best) [best, row] = [away, i];
    });
    return { plane, px, py, row };
  }

  place(px, py) {
    const step = grain(this.view);
    const [x, y] = this.view.toPlane(
      Math.min(Math.max(px, 0), this.view.width),
      Math.min(Math.max(py, 0), this.view.height),
    );
    return { x: snap(x, step), y: snap(y, step) };
  }

  change(points, remember = true) {
    this.edited = true;
    this.store.set({ points, data: null }, remember);
  }

  add(point, c) {
    const { points } = this.store.state;
    if (points.length >= MOST_POINTS) {
      tell(`${MOST_POINTS} points are the most this page shows.`, "error");
      return;
    }
    this.change([...points, { ...point, c }]);
    announce(`Added a point of class ${this.store.state.names[c]} at ${show(point.x)}, ${show(point.y)}.`);
  }

  remove(row) {
    this.change(this.store.state.points.filter((_, i) => i !== row));
    this.picked = -1;
    announce(`Removed row ${row + 1}.`);
  }

  down(event) {
    if (event.button !== 0) return;
    const at = this.locate(event);
    if (!at) return;
    const active = this.planes.indexOf(at.plane);
    if (active !== this.store.state.active) this.store.set({ active });
    if (at.head) return;
    const grip = at.plane.arrows.grip;
    const onGrip = grip && Math.hypot(grip.cx - at.px, grip.cy - at.py) <= NEAR;
    this.held = { ...at, grip: onGrip ? grip : null, moved: false, erase: this.tool.choice === "erase" };
    this.board.setPointerCapture(event.pointerId);
    if (onGrip) this.store.remember();
  }

  drag(event) {
    const held = this.held;
    if (!held || held.erase) return;
    const box = held.plane.picture.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    if (!held.moved && Math.hypot(px - held.px, py - held.py) < 4) return;
    if (held.grip) {
      const [w1, w2] = held.grip.toWeights(px, py).map((v) => snap(v, 0.01));
      const { learners, active } = this.store.state;
      const start = [w1, w2, learners[active].start[2]];
      this.store.set({ learners: learners.map((l, j) => (j === active ? { ...l, start } : l)) });
    } else if (held.row >= 0) {
      const moved = this.store.state.points.map((p, i) => (i === held.row ? { ...p, ...this.place(px, py) } : p));
      this.change(moved, !held.moved);
    } else return;
    held.moved = true;
  }

  up(event) {
    const held = this.held;
    this.held = null;
    if (!held || held.moved || held.grip) return;
    if (held.row >= 0) {
      if (held.erase) this.remove(held.row);
      else this.pick(held.row);
    } else if (!held.erase) {
      const { names } = this.store.state;
      const c = event.shiftKey ? (this.tool.choice + 1) % names.length : this.tool.choice;
      this.add(this.place(held.px, held.py), c);
    }
  }

  erase(event) {
    const at = this.locate(event);
    if (!at || at.head) return;
    event.preventDefault();
    this.held = null;
    if (at.row >= 0) this.remove(at.row);
  }

  pick(row) {
    this.picked = row;
    const p = this.store.state.points[row];
    this.cursor = { x: p.x, y: p.y };
    this.drawCursor();
    announce(`Row ${row + 1}, class ${this.store.state.names[p.c]}, at ${show(p.x)}, ${show(p.y)}.`);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { points } = this.store.state;
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (moves[name]) {
      const step = grain(this.view) * (event.shiftKey ? 1 : 10);
      const [dx, dy] = moves[name];
      if (!this.cursor) {
        const [x, y] = this.view.toPlane(this.view.width / 2, this.view.height / 2);
        this.cursor = { x: snap(x, grain(this.view)), y: snap(y, grain(this.view)) };
      }
      const [px, py] = this.view.toScreen(this.cursor.x + dx * step, this.cursor.y + dy * step);
      this.cursor = this.place(px, py);
      if (this.picked >= 0) this.change(points.map((p, i) => (i === this.picked ? { ...p, ...this.cursor } : p)));
      else announce(`${show(this.cursor.x)}, ${show(this.cursor.y)}`);
      this.drawCursor();
    } else if (name === "Enter" && this.cursor && this.tool.choice !== "erase") {
      this.picked = -1;
      this.add({ ...this.cursor }, this.tool.choice);
    } else if ((name === "n" || name === "p") && points.length) {
      const next = name === "n" ? this.picked + 1 : this.picked < 0 ? points.length - 1 : this.picked - 1;
      this.pick((next + points.length) % points.length);
    } else if ((name === "Delete" || name === "Backspace") && this.picked >= 0) this.remove(this.picked);
    else if (name === "Escape" && (this.cursor || this.picked >= 0)) this.hideCursor();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  hideCursor() {
    this.cursor = null;
    this.picked = -1;
    this.drawCursor();
  }

  drawCursor() {
    this.planes.forEach((plane) => {
      const layer = plane.layers.cursor;
      if (!this.cursor) {
        if (layer.firstChild) layer.replaceChildren();
        return;
      }
      const [x, y] = this.view.toScreen(this.cursor.x, this.cursor.y);
      const shape =
        this.picked >= 0
          ? svg("circle", { r: 15, cx: 0, cy: 0 })
          : svg("path", { d: "M-14 0H-4M4 0H14M0-14V-4M0 4V14" });
      const c =
        this.picked < 0 && this.tool.choice !== "erase"
          ? svg("path", { d: shapePath(this.tool.choice, 4), class: `point class${this.tool.choice}` })
          : null;
      const group = svg("g", {}, shape, c);
      set(group, { transform: `translate(${x} ${y})` });
      layer.replaceChildren(group);
    });
  }
}
