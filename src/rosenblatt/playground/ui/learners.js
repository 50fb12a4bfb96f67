// One to four learners, and the options of the active one.

import { MOST_STEPS, PLAIN } from "../engine/learn.js";
import { MOST_EPOCHS, MOST_LEARNERS, NUMBERS } from "../engine/state.js";
import { check, field, find, html, same, select, tell } from "./node.js";
import { learnerName } from "./plane.js";

const CHOICES = {
  rule: ["Rule", { perceptron: "Perceptron", margin: "Margin", PA: "PA", "PA-I": "PA-I", "PA-II": "PA-II" }],
  keep: ["Answer", { last: "last weights", average: "average", vote: "vote", pocket: "pocket" }],
  kernel: ["Space", { linear: "linear", poly: "polynomial", rbf: "RBF" }],
  tie: ["Score 0", { mistake: "is a mistake", positive: "counts as +1" }],
};
const TITLES = { eta0: "Rate η₀", beta: "Margin β", C: "Limit C", degree: "Degree", coef0: "Constant", gamma: "Gamma γ" };
const NEXT = [{ keep: "average" }, { rule: "PA-I" }, { kernel: "rbf" }];

export function makeLearners(store) {
  const [tabs, form] = [find("tabs"), find("form")];
  const view = { calm: true, render };

  function render({ learners, active, names, epochs, points }) {
    if (same(view, learners, active, names, epochs, points.length)) return;
    renderTabs(learners, active);
    renderForm(store.learner, names.length === 2, epochs, points.length);
  }

  // Change the learners or the active one, and keep the keyboard on its tab.
  function turn(change, remember) {
    store.set(change, remember);
    tabs.querySelector("[aria-selected=true]").focus();
  }

  function renderTabs(learners, active) {
    const focused = tabs.contains(document.activeElement);
    const count = learners.length;
    const tab = (learner, j) => {
      const name = learnerName(learner);
      const names = { role: "tab", title: name, "aria-label": `Learner ${j + 1}: ${name}`, "aria-controls": "form" };
      const onkeydown = (e) => {
        const to = { ArrowLeft: j - 1, ArrowRight: j + 1 }[e.key];
        if (!learners[to]) return;
        e.preventDefault();
        e.stopPropagation();
        turn({ active: to });
      };
      const chosen = { "aria-selected": j === active, tabindex: j === active ? 0 : -1 };
      return html("button", { ...names, ...chosen, onkeydown, onclick: () => store.set({ active: j }) }, j + 1);
    };
    tabs.replaceChildren(...learners.map(tab));
    const remove = () => turn({ learners: learners.filter((_, j) => j !== active) }, true);
    const add = () => turn({ learners: [...learners, { ...PLAIN, ...NEXT[count - 1] }], active: count }, true);
    const button = (text, title, onclick, name = null) => html("button", { title, onclick, "aria-label": name }, text);
    const less = `Remove learner ${active + 1}`;
    find("more").replaceChildren(
      count > 1 ? button("−", less, remove, less) : "",
      count < MOST_LEARNERS ? button("+ compare", "Compare with another learner on the same points", add) : "",
    );
    if (focused) tabs.children[active].focus();
  }

  const change = (change, more) => store.set({ learners: store.changed(change), ...more }, true);

  function choice(name, value) {
    const [title, options] = CHOICES[name];
    const onchange = ({ target }) => {
      const chosen = { [name]: target.value };
      // Other rules belong to the linear space.
      const dual = { rule: "perceptron", start: null, eta0: 1, tie: "mistake", intercept: true };
      change(name === "kernel" && target.value !== "linear" ? { ...chosen, ...dual } : chosen);
    };
    return field(title, select(options, value, { name, onchange }));
  }

  function number(name, title, value, [min, max], act, step = "any") {
    const onchange = ({ target }) => {
      if (target.value !== "" && target.validity.valid) return act(Number(target.value));
      tell(`${title} must be a ${step === 1 ? "whole " : ""}number from ${min} to ${max}.`, "error");
      target.value = value;
    };
    return field(title, html("input", { type: "number", name, value, min, max, step, onchange }));
  }

  function renderForm(learner, binary, epochs, count) {
    const focus = form.contains(document.activeElement) ? document.activeElement.name : "";
    const { rule, kernel, keep, tie, start, intercept } = learner;
    const linear = kernel === "linear";
    const option = (name, step) =>
      number(name, TITLES[name], learner[name], NUMBERS[name], (v) => change({ [name]: v }), step);
    const fields = [choice("rule", rule), choice("keep", keep), choice("kernel", kernel)];
    const checks = [];
    if (!linear) for (const other of fields[0].querySelectorAll("option:not([value=perceptron])")) other.disabled = true;
    if (linear && !rule.startsWith("PA")) fields.push(option("eta0"));
    if (rule === "margin") fields.push(option("beta"));
    if (rule === "PA-I" || rule === "PA-II") fields.push(option("C"));
    if (kernel === "poly") fields.push(option("degree", 1), option("coef0"));
    if (!linear) fields.push(option("gamma"));
    if (linear && binary) fields.push(choice("tie", tie));
    fields.push(number("epochs", "Epochs", epochs, [1, MOST_EPOCHS], (v) => store.set({ epochs: v }, true), 1));
    if (linear) checks.push(check("intercept", "offset b", intercept, (on) => change({ intercept: on })));
    if (linear && binary) {
      const begin = (weights) => change({ start: weights }, { step: 0 });
      checks.push(check("own", "own start", start !== null, (on) => begin(on ? [1, 0.5, 0] : null)));
      ["w₁", "w₂", "b"].slice(0, start?.length ?? 0).forEach((name, j) =>
        fields.push(number(name, name, start[j], [-1e6, 1e6], (v) => begin(start.with(j, v)))),
      );
    }
    const most = Math.max(1, Math.floor(MOST_STEPS / Math.max(1, count)));
    const note = `${most} epochs are run: ${MOST_STEPS} steps are the most this page keeps.`;
    form.setAttribute("aria-label", learnerName(learner));
    form.replaceChildren(html("div.fields", fields), html("div.checks", checks), html("p.none", epochs > most ? note : ""));
    if (focus) form.querySelector(`[name="${focus}"]`)?.focus();
  }

  return view;
}
