// The planes, and what hands do in them: add, move and delete points, by pointer or by keys.

import { MOST_POINTS } from "../engine/table.js";
import { show } from "../engine/sentence.js";
import { announce, find, patch, tell } from "./node.js";
import { Plane } from "./plane.js";
import { shapePath } from "./shape.js";
import { frameOf, makeView, snap } from "./view.js";

const NEAR = 14;
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Stage {
  planes = [];
  cursor = null;
  picked = -1;

  constructor(store, tool) {
    Object.assign(this, { store, tool, board: find("board") });
    const acts = { pointerdown: "down", pointermove: "drag", pointerup: "up", contextmenu: "erase", keydown: "key" };
    for (const [kind, act] of Object.entries(acts)) this.board.addEventListener(kind, (e) => this[act](e));
    this.board.addEventListener("pointercancel", () => (this.held = null));
    this.board.addEventListener("blur", () => this.hideCursor());
    new ResizeObserver(() => {
      this.view = null;
      this.render();
    }).observe(this.board);
  }

  // The frame follows the data, but stays while a hand moves points inside it.
  reframe({ points }) {
    const { x0, x1, y0, y1 } = this.frame ?? {};
    const inside = ({ x, y }) => x >= x0 && x <= x1 && y >= y0 && y <= y1;
    const frame = this.edited && points.every(inside) ? this.frame : frameOf(points);
    this.edited = false;
    if (JSON.stringify(frame) === JSON.stringify(this.frame)) return;
    this.frame = frame;
    this.view = null;
  }

  // The arrangement that shows the points largest, or widest where the page scrolls.
  arrange(count) {
    const box = this.board.getBoundingClientRect();
    if (box.width < 50) return;
    const fixed = getComputedStyle(this.board).getPropertyValue("--fixed") === "1";
    const layouts = (count > 1 && box.width > 520 ? [2, 1] : [1]).map((columns) => {
      const rows = Math.ceil(count / columns);
      const width = Math.floor((box.width - 8 * (columns - 1)) / columns) - 2;
      const tall = fixed ? (box.height - 8 * (rows - 1)) / rows - 30 : width * 0.86;
      return { columns, view: makeView(this.frame, width, Math.max(140, Math.floor(tall))) };
    });
    const best = fixed && layouts[1]?.view.sx > layouts[0].view.sx ? layouts[1] : layouts[0];
    this.board.style.gridTemplateColumns = `repeat(${best.columns}, 1fr)`;
    this.view = best.view;
  }

  render() {
    const { state, derived } = this.store;
    const count = state.learners.length;
    if (this.planes.length !== count) this.view = null;
    while (this.planes.length > count) this.planes.pop().node.remove();
    while (this.planes.length < count) {
      const plane = new Plane(this.planes.length);
      this.planes.push(plane);
      this.board.append(plane.node);
    }
    if (derived.problem !== this.problem) {
      this.problem = derived.problem;
      this.reframe(state);
      if (this.picked >= state.points.length) this.picked = -1;
    }
    if (!this.view) this.arrange(count);
    if (!this.view) return;
    this.planes.forEach((plane, j) => {
      plane.node.classList.toggle("active", count > 1 && j === state.active);
      plane.render(this.store, this.view);
    });
    find("stretch").hidden = !this.frame.stretch;
    this.drawCursor();
  }

  // The plane a pointer is in, its place there, and the row under it.
  locate(event) {
    const plane = this.planes.find((p) => p.node.contains(event.target));
    if (!plane) return null;
    const [px, py] = this.offset(plane, event);
    let row = -1;
    let best = event.pointerType === "touch" ? NEAR * 1.6 : NEAR;
    this.store.state.points.forEach((p, i) => {
      const [sx, sy] = this.view.toScreen(p.x, p.y);
      const away = Math.hypot(sx - px, sy - py);
      if (away <= best) [best, row] = [away, i];
    });
    return { plane, px, py, row, head: py < 0 };
  }

  offset(plane, event) {
    const box = plane.picture.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // A place of the screen in the plane, rounded, and never outside the picture.
  place(px, py) {
    const { width, height, grain, toPlane } = this.view;
    const [x, y] = toPlane(Math.min(Math.max(px, 0), width), Math.min(Math.max(py, 0), height));
    return { x: snap(x, grain), y: snap(y, grain) };
  }

  change(points, remember = true) {
    this.edited = true;
    this.store.set({ points, data: null }, remember);
  }

  moveRow(row, place, remember) {
    this.change(this.store.state.points.map((p, i) => (i === row ? { ...p, ...place } : p)), remember);
  }

  add(point, c) {
    const { points, names } = this.store.state;
    if (points.length >= MOST_POINTS) return tell(`${MOST_POINTS} points are the most this page shows.`, "error");
    this.change([...points, { ...point, c }]);
    announce(`Added a point of class ${names[c]} at ${show(point.x)}, ${show(point.y)}.`);
  }

  remove(row) {
    this.change(this.store.state.points.filter((_, i) => i !== row));
    this.picked = -1;
    announce(`Removed row ${row + 1}.`);
  }

  down(event) {
    const at = event.button === 0 && this.locate(event);
    if (!at) return;
    const active = this.planes.indexOf(at.plane);
    if (active !== this.store.state.active) this.store.set({ active });
    if (at.head) return;
    let { grip } = at.plane.arrows;
    if (grip && Math.hypot(grip.cx - at.px, grip.cy - at.py) > NEAR) grip = null;
    this.held = { ...at, grip, moved: false, erase: this.tool.choice === "erase" };
    this.board.setPointerCapture(event.pointerId);
    if (grip) this.store.remember();
  }

  drag(event) {
    const { held } = this;
    if (!held || held.erase) return;
    const [px, py] = this.offset(held.plane, event);
    if (!held.moved && Math.hypot(px - held.px, py - held.py) < 4) return;
    if (held.grip) {
      const start = [...held.grip.toWeights(px, py).map((v) => snap(v, 0.01)), this.store.learner.start[2]];
      this.store.set({ learners: this.store.changed({ start }) });
    } else if (held.row >= 0) this.moveRow(held.row, this.place(px, py), !held.moved);
    else return;
    held.moved = true;
  }

  up(event) {
    const { held } = this;
    this.held = null;
    if (!held || held.moved || held.grip) return;
    if (held.row >= 0) {
      if (held.erase) this.remove(held.row);
      else this.pick(held.row);
    } else if (!held.erase) {
      const c = (this.tool.choice + event.shiftKey) % this.store.state.names.length;
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
    const { points, names } = this.store.state;
    const { x, y, c } = points[row];
    this.picked = row;
    this.cursor = { x, y };
    this.drawCursor();
    announce(`Row ${row + 1}, class ${names[c]}, at ${show(x)}, ${show(y)}.`);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { points } = this.store.state;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (MOVES[name]) this.moveCursor(MOVES[name], this.view.grain * (event.shiftKey ? 1 : 10));
    else if (name === "Enter" && this.cursor && this.tool.choice !== "erase") {
      this.picked = -1;
      this.add(this.cursor, this.tool.choice);
    } else if ((name === "n" || name === "p") && points.length) {
      const next = name === "n" ? this.picked + 1 : Math.max(this.picked, 0) - 1;
      this.pick((next + points.length) % points.length);
    } else if ((name === "Delete" || name === "Backspace") && this.picked >= 0) this.remove(this.picked);
    else if (name === "Escape" && this.cursor) this.hideCursor();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  moveCursor([dx, dy], step) {
    const { width, height, toScreen } = this.view;
    const { x, y } = this.cursor ?? this.place(width / 2, height / 2);
    this.cursor = this.place(...toScreen(x + dx * step, y + dy * step));
    if (this.picked >= 0) this.moveRow(this.picked, this.cursor);
    else announce(`${show(this.cursor.x)}, ${show(this.cursor.y)}`);
    this.drawCursor();
  }

  hideCursor() {
    this.cursor = null;
    this.picked = -1;
    this.drawCursor();
  }

  // A cross with the shape that Enter adds, or a ring around the picked point.
  drawCursor() {
    const nodes = [];
    if (this.cursor) {
      const [x, y] = this.view.toScreen(this.cursor.x, this.cursor.y);
      const { choice } = this.tool;
      const cross = `M${x - 14} ${y}h10m8 0h10M${x} ${y - 14}v10m0 8v10`;
      nodes.push(["path", { class: "aim", d: this.picked >= 0 ? shapePath(1, 15, x, y) : cross }]);
      if (this.picked < 0 && choice !== "erase")
        nodes.push(["path", { class: `point class${choice}`, d: shapePath(choice, 4, x, y) }]);
    }
    for (const plane of this.planes) patch(plane.layers.cursor, nodes);
  }
}
