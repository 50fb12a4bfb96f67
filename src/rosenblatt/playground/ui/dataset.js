// The panel of points: presets and their sliders, what a click adds, undo, a CSV of one's own, and the verdict.

import { LIMITS, makePreset, PRESETS } from "../engine/presets.js";
import { makeRandom } from "../engine/random.js";
import { show } from "../engine/sentence.js";
import { presetState } from "../engine/state.js";
import { MOST_CLASSES } from "../engine/table.js";
import { announce, html, svg } from "./node.js";
import { shapePath } from "./shape.js";
import { Upload } from "./upload.js";
import { frameOf, makeView } from "./view.js";

const OPTION_NAMES = { n: "Points", margin: "Margin", noise: "Noise", seed: "Draw" };

function swatch(c) {
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
    this.upload = new Upload(store);
    this.verdict = html("div", { class: "verdict", role: "group", "aria-label": "Separable or not" });
    root.append(
      html("div", { class: "tiles", role: "group", "aria-label": "Presets" }, ...Object.values(this.tiles)),
      this.sliders,
      html("h3", { text: "A click adds" }),
      this.tools,
      html("div", { class: "row" }, this.undo, this.redo, shuffle, clear),
      ...this.upload.nodes,
      this.verdict,
    );
  }

  choose(name, options = {}) {
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
    this.store.set(
      { points: [], data: null, names: two ? this.store.state.names : ["-1", "+1"], step: 0, axes: null },
      true,
    );
    announce("All points removed.");
  }

  render(state, derived) {
    for (const [name, tile] of Object.entries(this.tiles))
      tile.setAttribute("aria-pressed", state.data?.preset === name);
    this.undo.disabled = this.store.past.length === 0;
    this.redo.disabled = this.store.future.length === 0;
    this.renderSliders(state);
    if (state.names !== this.names) this.renderTools(state);
    this.upload.render(state);
    if (derived.problem !== this.problem || this.store.learner !== this.learner || state.proof !== this.proof) {
      this.problem = derived.problem;
      this.learner = this.store.learner;
      this.proof = state.proof;
      this.renderVerdict(state);
    }
  }

  // The sliders stay while they are pulled: only another preset makes new ones.
  renderSliders({ data }) {
    if (data?.preset !== this.preset) {
      this.preset = data?.preset;
      this.inputs = Object.fromEntries(Object.keys(data?.options ?? {}).map((name) => [name, this.slider(name)]));
      const label = (name) =>
        html("label", {}, html("span", { text: OPTION_NAMES[name] }), this.inputs[name], html("output"));
      this.sliders.replaceChildren(...Object.keys(this.inputs).map(label));
    }
    for (const [name, value] of Object.entries(data?.options ?? {})) {
      const input = this.inputs[name];
      if (Number(input.value) !== value) input.value = value;
      input.nextSibling.textContent = show(value);
    }
  }

  slider(name) {
    const [min, max, step] = LIMITS[name];
    // One undo for a whole pull of the slider.
    const remember = (e) => (e.type === "pointerdown" || e.key.startsWith("Arrow")) && this.store.remember();
    return html("input", {
      type: "range",
      min,
      max,
      step,
      name,
      "aria-label": OPTION_NAMES[name],
      onpointerdown: remember,
      onkeydown: remember,
      oninput: (e) => {
        const { preset, options } = this.store.state.data;
        this.store.set({ ...presetState(preset, { ...options, [name]: Number(e.target.value) }), step: 0 });
      },
    });
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
