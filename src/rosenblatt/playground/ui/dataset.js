// The panel of points: presets and their sliders, what a click adds, undo, a CSV of one's own, and the verdict.

import { LIMITS, makePreset, PRESETS } from "../engine/presets.js";
import { makeRandom } from "../engine/random.js";
import { show } from "../engine/sentence.js";
import { presetState } from "../engine/state.js";
import { guessColumns, MOST_CLASSES, readTable, takeColumns } from "../engine/table.js";
import { announce, html, svg, tell } from "./node.js";
import { shapePath } from "./shape.js";
import { frameOf, makeView } from "./view.js";

const OPTION_NAMES = { n: "Points", margin: "Margin", noise: "Noise", seed: "Draw" };

export function swatch(c) {
  return svg(
    "svg",
    { viewBox: "-9 -9 18 18", class: "swatch", "aria-hidden": "true" },
    svg("path", { d: shapePath(c, 6), class: `point class${c}` }),
  );
}

function thumbnail(name) {
  const { points } = makePreset(name, name in { and: 1, or: 1, xor: 1 } ? {} : { n: 44 });
  const view = makeView(frameOf(points), 56, 38);
  const size = points.length > 10 ? 1.7 : 3.6;
  const marks = points.map((p) => {
    const [x, y] = view.toScreen(p.x, p.y);
    return svg("path", {
      d: shapePath(p.c, size),
      class: `point class${p.c}`,
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
    });
  });
  return svg("svg", { viewBox: "0 0 56 38", "aria-hidden": "true" }, ...marks);
}

const mix = (parts, total) => parts.map((p) => `${show(Number(p.lambda) / total)}·row ${p.row + 1}`).join(" + ");
const sum = (parts) => parts.reduce((total, p) => total + Number(p.lambda), 0);

// With an offset both classes get the same weight in all: two mixtures of rows that are one point.
function meeting(parts, points) {
  const sides = [0, 1].map((c) => parts.filter((p) => points[p.row].c === c));
  return `${sides.map((side) => mix(side, sum(side))).join(" = ")}, one point that would be on both sides.`;
}

function balance(parts) {
  return `Σ λ·y·x = 0 with λ = ${mix(parts, sum(parts))}, so no weights give all of them a positive margin.`;
}

export class Dataset {
  constructor(root, store, tool) {
    Object.assign(this, { root, store, tool });
    this.tiles = Object.fromEntries(
      Object.entries(PRESETS).map(([name, { title }]) => [
        name,
        html(
          "button",
          { class: "tile", "data-preset": name, onclick: () => this.choose(name) },
          thumbnail(name),
          html("span", { text: title }),
        ),
      ]),
    );
    this.sliders = html("div", { class: "sliders" });
    this.tools = html("div", { class: "tools", role: "radiogroup", "aria-label": "A click in the plane" });
    const button = (name, text, title, onclick) => html("button", { "aria-label": name, text, title, onclick });
    this.undo = button("Undo", "↶", "Undo (Ctrl Z)", () => this.store.undo());
    this.redo = button("Redo", "↷", "Redo (Ctrl Shift Z)", () => this.store.redo());
    const shuffle = button("Shuffle", "Shuffle", "Put the rows in another order", () => this.shuffle());
    const clear = button("Clear", "Clear", "Remove all points", () => this.clear());
    this.file = html("input", {
      type: "file",
      accept: ".csv,.tsv,.txt,text/csv",
      class: "offscreen",
      "aria-label": "A CSV file",
      tabindex: -1,
      onchange: () => this.open(),
    });
    const load = html("button", { class: "wide", id: "csv-load", onclick: () => this.file.click() }, "Load a CSV…");
    this.columns = html("div", { class: "columns", hidden: true });
    this.verdict = html("div", { class: "verdict", role: "group", "aria-label": "Separable or not" });
    root.append(
      html("div", { class: "tiles", role: "group", "aria-label": "Presets" }, ...Object.values(this.tiles)),
      this.sliders,
      html("h3", { text: "A click adds" }),
      this.tools,
      html("div", { class: "row" }, this.undo, this.redo, shuffle, clear),
      load,
      this.file,
      this.columns,
      this.verdict,
    );
    for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (e) => this.drop(e));
  }

  choose(name, options = {}) {
    this.table = null;
    this.store.set({ ...presetState(name, options), step: 0, proof: false }, true);
    announce(`${PRESETS[name].title}: ${this.store.state.points.length} points.`);
  }

  shuffle() {
    const { points } = this.store.state;
    this.shuffles = (this.shuffles ?? 0) + 1;
    this.store.set({ points: makeRandom(this.shuffles).shuffled(points), data: null }, true);
    announce("The rows are in another order.");
  }

  clear() {
    const two = this.store.state.names.length === 2;
    this.table = null;
    this.store.set(
      { points: [], data: null, names: two ? this.store.state.names : ["-1", "+1"], step: 0, axes: null },
      true,
    );
    announce("All points removed.");
  }

  drop(event) {
    const files = event.dataTransfer?.files;
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (event.type === "drop" && files.length) this.read(files[0].name, files[0]);
  }

  open() {
    const [file] = this.file.files;
    if (file) this.read(file.name, file);
    this.file.value = "";
  }

  async read(name, file) {
    this.take(name, await file.text());
  }

  // A table of the user's: shown at once, with its columns to choose from. `wanted` names columns, or is empty.
  take(name, text, wanted = {}) {
    try {
      const table = readTable(text);
      const columns = guessColumns(table);
      for (const [key, title] of Object.entries(wanted)) {
        columns[key] = table.header.indexOf(title);
        if (columns[key] < 0)
          throw new Error(`There is no column "${title}"; the columns are ${table.header.join(", ")}.`);
      }
      const taken = takeColumns(table, columns);
      this.table = { ...table, name, columns };
      this.showTaken(taken);
    } catch (error) {
      tell(`${name}: ${error.message}`, "error");
    }
  }

  showTaken({ points, names, left }) {
    const { header, columns, name } = this.table;
    const axes = [header[columns.x], header[columns.y]];
    this.store.set({ points, names, data: null, step: 0, proof: false, axes }, true);
    const more = left
      ? `; ${left} more rows are not shown, every ${show((points.length + left) / points.length)}th was taken`
      : "";
    tell(`${name}: ${points.length} points of ${names.length} classes${more}.`);
  }

  recolumn(key, value) {
    const columns = { ...this.table.columns, [key]: value };
    try {
      const taken = takeColumns(this.table, columns);
      this.table.columns = columns;
      this.showTaken(taken);
    } catch (error) {
      tell(`${this.table.name}: ${error.message}`, "error");
      this.renderColumns();
    }
  }

  renderColumns() {
    this.columns.hidden = !this.table;
    if (!this.table) return;
    const { header, columns } = this.table;
    const select = (key, text) =>
      html(
        "label",
        {},
        html("span", { text }),
        html(
          "select",
          { "data-column": key, onchange: (e) => this.recolumn(key, Number(e.target.value)) },
          ...header.map((title, j) => html("option", { value: j, selected: j === columns[key], text: title })),
        ),
      );
    this.columns.replaceChildren(select("x", "Across"), select("y", "Up"), select("label", "Label"));
  }

  render(state, derived) {
    for (const [name, tile] of Object.entries(this.tiles))
      tile.setAttribute("aria-pressed", state.data?.preset === name);
    this.undo.disabled = this.store.past.length === 0;
    this.redo.disabled = this.store.future.length === 0;
    if (state.data !== this.data || this.sliders.contains(document.activeElement) === false) this.renderSliders(state);
    if (state.names !== this.names) this.renderTools(state);
    if (this.shownTable !== this.table || this.shownColumns !== this.table?.columns) {
      this.shownTable = this.table;
      this.shownColumns = this.table?.columns;
      this.renderColumns();
    }
    if (derived.problem !== this.problem || this.store.learner !== this.learner || state.proof !== this.proof) {
      this.problem = derived.problem;
      this.learner = this.store.learner;
      this.proof = state.proof;
      this.renderVerdict(state);
    }
    this.data = state.data;
  }

  renderSliders(state) {
    const key = state.data ? `${state.data.preset} ${JSON.stringify(state.data.options)}` : "";
    if (key === this.sliderKey) return;
    this.sliderKey = key;
    const options = state.data ? Object.entries(state.data.options) : [];
    this.sliders.replaceChildren(
      ...options.map(([name, value]) => {
        const [min, max, step] = LIMITS[name];
        const out = html("output", { text: show(value) });
        const input = html("input", {
          type: "range",
          min,
          max,
          step,
          value,
          name,
          "aria-label": OPTION_NAMES[name],
          oninput: (e) => {
            const next = Number(e.target.value);
            out.textContent = show(next);
            const { preset, options: now } = this.store.state.data;
            this.store.set({ ...presetState(preset, { ...now, [name]: next }), step: 0 });
          },
        });
        // One undo for a whole pull of the slider.
        for (const kind of ["pointerdown", "keydown"])
          input.addEventListener(
            kind,
            (e) => (kind === "pointerdown" || e.key.startsWith("Arrow")) && this.store.remember(),
          );
        return html("label", {}, html("span", { text: OPTION_NAMES[name] }), input, out);
      }),
    );
  }

  renderTools(state) {
    this.names = state.names;
    if (this.tool.choice !== "erase" && this.tool.choice >= state.names.length) this.tool.choice = 0;
    const radio = (value, ...inside) =>
      html(
        "label",
        { class: "tool" },
        html("input", {
          type: "radio",
          name: "tool",
          value,
          checked: this.tool.choice === value,
          onchange: () => (this.tool.choice = value),
        }),
        html("span", {}, ...inside),
      );
    const classes = state.names.map((name, c) => radio(c, swatch(c), name));
    const more =
      state.names.length < MOST_CLASSES
        ? html("button", {
            class: "tool-more",
            title: "Add a class",
            "aria-label": "Add a class",
            text: "+",
            onclick: () => this.addClass(),
          })
        : null;
    this.tools.replaceChildren(...classes, radio("erase", "Erase"), ...(more ? [more] : []));
  }

  addClass() {
    const { names } = this.store.state;
    const name =
      ["A", "B", "C", "D", "E", "F"].find((n, j) => j >= names.length && !names.includes(n)) ??
      `class ${names.length + 1}`;
    this.tool.choice = names.length;
    this.store.set({ names: [...names, name], data: null }, true);
    announce(`Class ${name} added: click in the plane to give it points.`);
  }

  renderVerdict(state) {
    const box = this.verdict;
    const learner = this.store.learner;
    const margin = this.store.margin(learner);
    const lift = learner.kernel !== "linear";
    box.className = "verdict";
    if (!margin) {
      box.replaceChildren(html("p", { text: "No points yet." }));
      return;
    }
    const verdict = lift ? (margin.low > 0 ? "separable" : "undecided") : margin.certificate.verdict;
    box.dataset.verdict = verdict;
    const where = lift ? " in the kernel's space" : "";
    const figures = (...pairs) =>
      html("dl", {}, ...pairs.map(([k, v]) => html("div", {}, html("dt", { text: k }), html("dd", { text: v }))));
    if (verdict === "separable") {
      const bound = this.store.bound(learner);
      box.replaceChildren(
        html("p", {}, html("strong", { text: `Separable${where}.` }), lift ? "" : " Checked exactly."),
        figures(
          ["best margin γ", show(margin.low)],
          ["radius R", show(Math.sqrt(margin.R2))],
          ["bound", bound === null ? "none: own start" : show(Math.floor(bound + 1e-9))],
        ),
      );
    } else if (verdict === "not separable") {
      const plain = state.names.length === 2 && learner.intercept;
      const toggle = plain
        ? html(
            "label",
            { class: "check" },
            html("input", {
              type: "checkbox",
              name: "proof",
              checked: state.proof,
              onchange: (e) => this.store.set({ proof: e.target.checked }),
            }),
            "Show why",
          )
        : null;
      box.replaceChildren(
        html(
          "p",
          {},
          html("strong", { text: learner.intercept ? "Not separable." : "Not separable through the origin." }),
          ` Exact proof: ${plain ? meeting(margin.certificate.parts, this.store.state.points) : balance(margin.certificate.parts)}`,
        ),
        toggle ?? "",
      );
    } else {
      const said = lift
        ? "No margin was found in the kernel's space."
        : "Too close to call: rounding hides the answer.";
      box.replaceChildren(html("p", { text: said }));
    }
  }
}
