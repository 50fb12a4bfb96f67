// One to four learners, and the options of the active one.

import { MOST_STEPS, PLAIN } from "../engine/learn.js";
import { MOST_EPOCHS, MOST_LEARNERS, NUMBERS } from "../engine/state.js";
import { check, field, find, html, select, tell } from "./node.js";
import { learnerName } from "./plane.js";

const CHOICES = {
  rule: ["Rule", { perceptron: "Perceptron", margin: "Margin", PA: "PA", "PA-I": "PA-I", "PA-II": "PA-II" }],
  keep: ["Answer", { last: "last weights", average: "average", vote: "vote", pocket: "pocket" }],
  kernel: ["Space", { linear: "linear", poly: "polynomial", rbf: "RBF" }],
  tie: ["Score 0", { mistake: "is a mistake", positive: "counts as +1" }],
};
const TITLES = {
  eta0: "Rate η₀",
  beta: "Margin β",
  C: "Limit C",
  degree: "Degree",
  coef0: "Constant",
  gamma: "Gamma γ",
  epochs: "Epochs",
};
// What a second, third and fourth learner begin as.
const NEXT = [{ keep: "average" }, { rule: "PA-I" }, { kernel: "rbf" }];

export class Learners {
  calm = true;

  constructor(store) {
    this.store = store;
  }

  // Keep the keyboard on the tab of the active learner.
  turn(change, remember) {
    this.store.set(change, remember);
    find("tabs").querySelector("[aria-selected=true]").focus();
  }

  render({ learners, active, names, epochs, points }) {
    const shown = [learners, active, names, epochs, points.length];
    if (this.shown?.every((part, j) => part === shown[j])) return;
    this.shown = shown;
    this.renderTabs(learners, active);
    this.renderForm(this.store.learner, names.length === 2, epochs, points.length);
  }

  renderTabs(learners, active) {
    const focused = find("tabs").contains(document.activeElement);
    const tabs = learners.map((learner, j) =>
      html(
        "button",
        {
          role: "tab",
          "aria-selected": j === active,
          "aria-controls": "form",
          tabindex: j === active ? 0 : -1,
          title: learnerName(learner),
          "aria-label": `Learner ${j + 1}: ${learnerName(learner)}`,
          onclick: () => this.store.set({ active: j }),
          onkeydown: (e) => {
            const to = { ArrowLeft: j - 1, ArrowRight: j + 1 }[e.key];
            if (!learners[to]) return;
            e.preventDefault();
            e.stopPropagation();
            this.turn({ active: to });
          },
        },
        j + 1,
      ),
    );
    find("tabs").replaceChildren(...tabs);
    const remove = () => this.turn({ learners: learners.filter((_, j) => j !== active) }, true);
    const add = () =>
      this.turn({ learners: [...learners, { ...PLAIN, ...NEXT[tabs.length - 1] }], active: tabs.length }, true);
    const button = (name, text, title, onclick) => html("button", { "aria-label": name, title, onclick }, text);
    const more = [];
    if (tabs.length > 1) more.push(button(`Remove learner ${active + 1}`, "−", "Remove this learner", remove));
    if (tabs.length < MOST_LEARNERS)
      more.push(button(null, "+ compare", "Compare with another learner on the same points", add));
    find("more").replaceChildren(...more);
    if (focused) tabs[active].focus();
  }

  choice(name, value) {
    const [title, options] = CHOICES[name];
    return field(title, select(options, value, { name, onchange: (e) => this.choose(name, e.target.value) }));
  }

  choose(name, value) {
    const change = { [name]: value };
    // Other rules belong to the linear space.
    if (name === "kernel" && value !== "linear")
      Object.assign(change, { rule: "perceptron", start: null, eta0: 1, tie: "mistake", intercept: true });
    this.change(change);
  }

  change(change, more = {}) {
    this.store.set({ learners: this.store.changed(change), ...more }, true);
  }

  number(name, value, [min, max], change, step = "any") {
    const title = TITLES[name] ?? name;
    const onchange = ({ target }) => {
      if (target.value !== "" && target.validity.valid) return change(Number(target.value));
      tell(`${title} must be a ${step === 1 ? "whole " : ""}number from ${min} to ${max}.`, "error");
      target.value = value;
    };
    return field(title, html("input", { type: "number", name, value, min, max, step, onchange }));
  }

  renderForm(learner, binary, epochs, count) {
    const form = find("form");
    const focus = form.contains(document.activeElement) ? document.activeElement.name : "";
    const { rule, kernel, keep, tie, start, intercept } = learner;
    const linear = kernel === "linear";
    const option = (name, step) => this.number(name, learner[name], NUMBERS[name], (v) => this.change({ [name]: v }), step);
    const fields = [this.choice("rule", rule), this.choice("keep", keep), this.choice("kernel", kernel)];
    if (!linear) for (const other of fields[0].querySelectorAll("option:not([value=perceptron])")) other.disabled = true;
    if (linear && !rule.startsWith("PA")) fields.push(option("eta0"));
    if (rule === "margin") fields.push(option("beta"));
    if (rule === "PA-I" || rule === "PA-II") fields.push(option("C"));
    if (kernel === "poly") fields.push(option("degree", 1), option("coef0"));
    if (!linear) fields.push(option("gamma"));
    if (linear && binary) fields.push(this.choice("tie", tie));
    fields.push(this.number("epochs", epochs, [1, MOST_EPOCHS], (v) => this.store.set({ epochs: v }, true), 1));
    const checks = linear ? [check("intercept", "offset b", intercept, (on) => this.change({ intercept: on }))] : [];
    if (linear && binary) {
      const begin = (weights) => this.change({ start: weights }, { step: 0 });
      checks.push(check("own", "own start", start !== null, (on) => begin(on ? [1, 0.5, 0] : null)));
      start?.forEach((value, j) => {
        const change = (v) => begin(start.map((old, i) => (i === j ? v : old)));
        fields.push(this.number(["w₁", "w₂", "b"][j], value, [-1e6, 1e6], change));
      });
    }
    const most = Math.max(1, Math.floor(MOST_STEPS / Math.max(1, count)));
    const note = `${most} epochs are run: ${MOST_STEPS} steps are the most this page keeps.`;
    form.setAttribute("aria-label", learnerName(learner));
    form.replaceChildren(
      html("div.fields", fields),
      html("div.checks", checks),
      epochs > most ? html("p.none", note) : "",
    );
    if (focus) form.querySelector(`[name="${focus}"]`)?.focus();
  }
}
