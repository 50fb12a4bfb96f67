// The panel of points: presets, sliders, what a click adds, undo, and the verdict.

import { LIMITS, makePreset, PRESETS } from "../engine/presets.js";
import { makeRandom } from "../engine/random.js";
import { show } from "../engine/sentence.js";
import { presetState } from "../engine/state.js";
import { MOST_CLASSES } from "../engine/table.js";
import { announce, check, field, find, html, picture, svg } from "./node.js";
import { shapePath } from "./shape.js";
import { Upload } from "./upload.js";
import { frameOf, makeView } from "./view.js";

const OPTION_NAMES = { n: "Points", margin: "Margin", noise: "Noise", seed: "Draw" };

const mark = (c, size, x, y) => svg(`path.point.class${c}`, { d: shapePath(c, size, x, y) });

function thumbnail(name) {
  const { points } = makePreset(name, { n: 44 });
  const view = makeView(frameOf(points), 56, 38);
  const size = points.length > 10 ? 1.7 : 3.6;
  return picture("0 0 56 38", ...points.map((p) => mark(p.c, size, ...view.toScreen(p.x, p.y))));
}

function mix(parts) {
  const total = parts.reduce((sum, p) => sum + Number(p.lambda), 0);
  return parts.map((p) => `${show(Number(p.lambda) / total)}·row ${p.row + 1}`).join(" + ");
}

// Why no weights can do it. With an offset: two mixtures of rows, one a class, that are one point.
function reason(parts, points, meet) {
  if (!meet) return `Σ λ·y·x = 0 with λ = ${mix(parts)}, so no weights give all of them a positive margin.`;
  const sides = [0, 1].map((c) => mix(parts.filter((p) => points[p.row].c === c)));
  return `${sides.join(" = ")}, one point that would be on both sides.`;
}

export class Dataset {
  calm = true;

  constructor(store, tool) {
    Object.assign(this, { store, tool, upload: new Upload(store), shuffles: 0 });
    this.tiles = Object.entries(PRESETS).map(([name, { title }]) =>
      html("button.tile", { "data-preset": name, onclick: () => this.choose(name) }, thumbnail(name), title),
    );
    find("presets").append(...this.tiles);
    find("undo").onclick = () => store.undo();
    find("redo").onclick = () => store.redo();
    find("shuffle").onclick = () => this.shuffle();
    find("clear").onclick = () => this.clear();
  }

  choose(name) {
    this.store.set({ ...presetState(name), step: 0, proof: false }, true);
    announce(`${PRESETS[name].title}: ${this.store.state.points.length} points.`);
  }

  shuffle() {
    const points = makeRandom(++this.shuffles).shuffled(this.store.state.points);
    this.store.set({ points, data: null }, true);
    announce("The rows are in another order.");
  }

  clear() {
    const { names } = this.store.state;
    this.store.set({ points: [], data: null, names: names.length === 2 ? names : ["-1", "+1"], step: 0, axes: null }, true);
    announce("All points removed.");
  }

  render(state, { problem }) {
    for (const tile of this.tiles) tile.setAttribute("aria-pressed", state.data?.preset === tile.dataset.preset);
    find("undo").disabled = this.store.past.length === 0;
    find("redo").disabled = this.store.future.length === 0;
    this.renderSliders(state.data ?? { options: {} });
    if (state.names !== this.names) this.renderTools(state.names);
    this.upload.render(state);
    const shown = [problem, this.store.learner, state.proof];
    if (this.shown?.every((part, j) => part === shown[j])) return;
    this.shown = shown;
    this.renderVerdict(state, this.store.learner);
  }

  // Sliders stay while they are pulled: only another preset makes new ones.
  renderSliders({ preset, options }) {
    if (preset !== this.preset) {
      this.preset = preset;
      this.inputs = Object.fromEntries(Object.keys(options).map((name) => [name, this.slider(name)]));
      const labels = Object.entries(this.inputs).map(([name, input]) => field(OPTION_NAMES[name], input, html("output")));
      find("sliders").replaceChildren(...labels);
    }
    for (const [name, value] of Object.entries(options)) {
      this.inputs[name].value = value;
      this.inputs[name].nextSibling.textContent = show(value);
    }
  }

  slider(name) {
    const [min, max, step] = LIMITS[name];
    // One undo for a whole pull of the slider.
    const remember = (e) => (e.type === "pointerdown" || e.key.startsWith("Arrow")) && this.store.remember();
    const oninput = (e) => {
      const { preset, options } = this.store.state.data;
      this.store.set({ ...presetState(preset, { ...options, [name]: Number(e.target.value) }), step: 0 });
    };
    const names = { name, "aria-label": OPTION_NAMES[name] };
    return html("input", { type: "range", ...names, min, max, step, onpointerdown: remember, onkeydown: remember, oninput });
  }

  renderTools(names) {
    const { tool } = this;
    this.names = names;
    if (tool.choice >= names.length) tool.choice = 0;
    const radio = (value, ...inside) => {
      const checked = tool.choice === value;
      const onchange = () => (tool.choice = value);
      return html("label.tool", html("input", { type: "radio", name: "tool", value, checked, onchange }), html("span", inside));
    };
    const classes = names.map((name, c) => radio(c, picture("-9 -9 18 18", mark(c, 6)), name));
    const add = { title: "Add a class", "aria-label": "Add a class", onclick: () => this.addClass() };
    const more = names.length < MOST_CLASSES ? html("button.tool-more", add, "+") : "";
    find("tools").replaceChildren(...classes, radio("erase", "Erase"), more);
  }

  addClass() {
    const { names } = this.store.state;
    const name = [..."ABCDEF"].find((n, j) => j >= names.length && !names.includes(n)) ?? `class ${names.length + 1}`;
    this.tool.choice = names.length;
    this.store.set({ names: [...names, name], data: null }, true);
    announce(`Class ${name} added: click in the plane to give it points.`);
  }

  renderVerdict({ names, points, proof }, learner) {
    const margin = this.store.margin(learner);
    const lift = learner.kernel !== "linear";
    const verdict = !margin ? "" : lift ? (margin.low > 0 ? "separable" : "undecided") : margin.certificate.verdict;
    const strong = (text, more) => html("p", html("strong", text), more);
    const nodes = [];
    if (!margin) nodes.push(html("p", "No points yet."));
    else if (verdict === "separable") {
      const bound = this.store.bound(learner);
      const figures = {
        "best margin γ": show(margin.low),
        "radius R": show(Math.sqrt(margin.R2)),
        bound: bound === null ? "none: own start" : show(Math.floor(bound + 1e-9)),
      };
      nodes.push(
        lift ? strong("Separable in the kernel's space.", "") : strong("Separable.", " Checked exactly."),
        html("dl", Object.entries(figures).map(([k, v]) => [html("dt", k), html("dd", v)]).flat()),
      );
    } else if (verdict === "not separable") {
      const plain = names.length === 2 && learner.intercept;
      const why = reason(margin.certificate.parts, points, plain);
      nodes.push(
        strong(learner.intercept ? "Not separable." : "Not separable through the origin.", ` Exact proof: ${why}`),
        plain ? check("proof", "Show why", proof, (on) => this.store.set({ proof: on })) : "",
      );
    } else if (lift) nodes.push(html("p", "No margin was found in the kernel's space."));
    else nodes.push(html("p", "Too close to call: rounding hides the answer."));
    const box = find("verdict");
    box.dataset.verdict = verdict;
    box.replaceChildren(...nodes);
  }
}
