// The learners: one to four of them, and the options of the one that is explained.

import { MOST_STEPS, PLAIN } from "../engine/learn.js";
import { MOST_EPOCHS, MOST_LEARNERS, NUMBERS } from "../engine/state.js";
import { html, tell } from "./node.js";
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
// What a second, third and fourth learner begin as: each shows a different idea.
const NEXT = [{ keep: "average" }, { rule: "PA-I" }, { kernel: "rbf" }];

export class Learners {
  constructor(root, store) {
    Object.assign(this, { root, store });
    this.tabs = html("div", { class: "tabs", role: "tablist", "aria-label": "Learners" });
    this.form = html("div", { class: "form", id: "learner-form", role: "tabpanel" });
    root.append(html("div", { class: "head" }, html("h2", { text: "Learner" }), this.tabs), this.form);
  }

  add() {
    const { learners } = this.store.state;
    if (learners.length >= MOST_LEARNERS) return;
    const learner = { ...PLAIN, ...NEXT[learners.length - 1] };
    this.store.set({ learners: [...learners, learner], active: learners.length }, true);
    this.tabs.querySelector("[aria-selected=true]").focus();
  }

  remove(j) {
    const { learners, active } = this.store.state;
    this.store.set(
      {
        learners: learners.filter((_, i) => i !== j),
        active: Math.max(0, active > j || active === learners.length - 1 ? active - 1 : active),
      },
      true,
    );
    this.tabs.querySelector("[aria-selected=true]").focus();
  }

  render(state) {
    const shown = [state.learners, state.active, state.names, state.epochs, state.points.length];
    if (this.shown?.every((part, j) => part === shown[j])) return;
    this.shown = shown;
    this.renderTabs(state);
    this.renderForm(state);
  }

  renderTabs({ learners, active }) {
    const focused = this.tabs.contains(document.activeElement);
    const tabs = learners.map((learner, j) =>
      html("button", {
        role: "tab",
        "aria-selected": j === active,
        "aria-controls": "learner-form",
        tabindex: j === active ? 0 : -1,
        title: learnerName(learner),
        "aria-label": `Learner ${j + 1}: ${learnerName(learner)}`,
        text: String(j + 1),
        onclick: () => this.store.set({ active: j }),
        onkeydown: (e) => {
          const to = { ArrowLeft: j - 1, ArrowRight: j + 1 }[e.key];
          if (to === undefined || !learners[to]) return;
          e.preventDefault();
          e.stopPropagation();
          this.store.set({ active: to });
          this.tabs.querySelector("[aria-selected=true]").focus();
        },
      }),
    );
    this.tabs.replaceChildren(...tabs);
    this.more?.remove();
    this.more = html(
      "span",
      { class: "more" },
      learners.length > 1
        ? html("button", {
            "aria-label": `Remove learner ${active + 1}`,
            title: "Remove this learner",
            text: "−",
            onclick: () => this.remove(active),
          })
        : null,
      learners.length < MOST_LEARNERS
        ? html("button", {
            id: "compare",
            title: "Compare with another learner on the same points",
            text: "+ compare",
            onclick: () => this.add(),
          })
        : null,
    );
    this.tabs.after(this.more);
    if (focused) this.tabs.querySelector("[aria-selected=true]")?.focus();
  }

  select(name, value, off = []) {
    const [title, options] = CHOICES[name];
    return html(
      "label",
      {},
      html("span", { text: title }),
      html(
        "select",
        { name, onchange: (e) => this.choose(name, e.target.value) },
        ...Object.entries(options).map(([key, text]) =>
          html("option", { value: key, selected: key === value, disabled: off.includes(key), text }),
        ),
      ),
    );
  }

  number(name, value, least, most, step, change) {
    return html(
      "label",
      {},
      html("span", { text: TITLES[name] ?? name }),
      html("input", {
        type: "number",
        name,
        value,
        min: least,
        max: most,
        step,
        onchange: (e) => {
          const next = Number(e.target.value);
          const whole = step === 1 && !Number.isInteger(next);
          if (e.target.value === "" || !Number.isFinite(next) || next < least || next > most || whole) {
            tell(
              `${TITLES[name] ?? name} must be a ${step === 1 ? "whole " : ""}number from ${least} to ${most}.`,
              "error",
            );
            e.target.value = value;
            return;
          }
          change(next);
        },
      }),
    );
  }

  choose(name, value) {
    const change = { [name]: value };
    // A kernel learner is the kernel perceptron: other rules belong to the linear space.
    if (name === "kernel" && value !== "linear")
      Object.assign(change, { rule: "perceptron", start: null, eta0: 1, tie: "mistake", intercept: true });
    this.store.setLearner(change);
  }

  renderForm({ names, epochs, points }) {
    const focus = this.form.contains(document.activeElement) ? document.activeElement.name : "";
    const learner = this.store.learner;
    const linear = learner.kernel === "linear";
    const binary = names.length === 2;
    const option = (name, step) =>
      this.number(name, learner[name], ...NUMBERS[name], step, (v) => this.store.setLearner({ [name]: v }));
    const check = (name, text, checked, change) =>
      html(
        "label",
        { class: "check" },
        html("input", { type: "checkbox", name, checked, onchange: (e) => change(e.target.checked) }),
        text,
      );
    const fields = [
      this.select("rule", learner.rule, linear ? [] : ["margin", "PA", "PA-I", "PA-II"]),
      this.select("keep", learner.keep),
      this.select("kernel", learner.kernel),
    ];
    if (linear && !learner.rule.startsWith("PA")) fields.push(option("eta0", "any"));
    if (learner.rule === "margin") fields.push(option("beta", "any"));
    if (learner.rule === "PA-I" || learner.rule === "PA-II") fields.push(option("C", "any"));
    if (learner.kernel === "poly") fields.push(option("degree", 1), option("coef0", "any"));
    if (!linear) fields.push(option("gamma", "any"));
    if (linear && binary) fields.push(this.select("tie", learner.tie));
    fields.push(this.number("epochs", epochs, 1, MOST_EPOCHS, 1, (v) => this.store.set({ epochs: v }, true)));
    const checks = linear
      ? [check("intercept", "offset b", learner.intercept, (on) => this.store.setLearner({ intercept: on }))]
      : [];
    if (linear && binary)
      checks.push(
        check("own", "own start", learner.start !== null, (on) =>
          this.store.set({ learners: this.withStart(on ? [1, 0.5, 0] : null), step: 0 }, true),
        ),
      );
    const start =
      linear && binary && learner.start
        ? ["w₁", "w₂", "b"].map((name, j) =>
            this.number(name, learner.start[j], -1e6, 1e6, "any", (v) =>
              this.store.set(
                { learners: this.withStart(learner.start.map((old, i) => (i === j ? v : old))), step: 0 },
                true,
              ),
            ),
          )
        : [];
    const most = Math.max(1, Math.floor(MOST_STEPS / Math.max(1, points.length)));
    const note = `${most} epochs are run: ${MOST_STEPS} steps are the most this page keeps.`;
    this.form.setAttribute("aria-label", learnerName(learner));
    this.form.replaceChildren(
      html("div", { class: "fields" }, ...fields, ...start),
      html("div", { class: "checks" }, ...checks),
      epochs > most ? html("p", { class: "none", text: note }) : "",
    );
    if (focus) this.form.querySelector(`[name="${focus}"]`)?.focus();
  }

  withStart(start) {
    return this.store.state.learners.map((l, j) => (j === this.store.state.active ? { ...l, start } : l));
  }
}
