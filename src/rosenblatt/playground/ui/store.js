// The state of the page, its history for undo, and everything that follows from it, computed once.

import { certify } from "../engine/certificate.js";
import { learn } from "../engine/learn.js";
import { ledger, mistakeBound } from "../engine/ledger.js";
import { bestMargin } from "../engine/margin.js";
import { makeProblem } from "../engine/problem.js";

const spaceKey = (l) =>
  l.kernel === "linear" ? `linear ${l.intercept}` : [l.kernel, l.degree, l.coef0, l.gamma].join(" ");
const MOST_UNDO = 200;

export class Store {
  constructor(state) {
    this.state = state;
    this.views = [];
    this.past = [];
    this.future = [];
    this.margins = new Map();
    this.derive();
  }

  derive() {
    const { points, names, learners, epochs } = this.state;
    const old = this.derived;
    const same = old && old.points === points && old.names === names;
    const problem = same ? old.problem : makeProblem(points, names);
    if (!same) this.margins.clear();
    const traces = learners.map((learner) => {
      const known = same && old.epochs === epochs && old.traces.find((t) => t.learner === learner);
      return known || learn(problem, learner, epochs);
    });
    const last = Math.max(...traces.map((t) => t.length));
    this.derived = { points, names, epochs, problem, traces, last };
    if (this.state.step > last) this.state = { ...this.state, step: last };
  }

  // The best margin in a learner's space, with its certificate where the space is linear: computed when asked for.
  margin(learner) {
    const key = spaceKey(learner);
    if (!this.margins.has(key)) {
      const margin = bestMargin(this.derived.problem, learner);
      if (margin && learner.kernel === "linear") margin.certificate = certify(margin);
      this.margins.set(key, margin);
    }
    return this.margins.get(key);
  }

  bound(learner) {
    return mistakeBound(learner, this.margin(learner));
  }

  ledger(trace) {
    if (trace.ledger === undefined) trace.ledger = ledger(trace, this.margin(trace.learner));
    return trace.ledger;
  }

  get learner() {
    return this.state.learners[this.state.active];
  }

  get trace() {
    return this.derived.traces[this.state.active];
  }

  // Change the state. With `remember`, undo comes back to what was before.
  set(change, remember = false) {
    if (remember) this.remember();
    this.state = { ...this.state, ...change };
    if (this.state.active >= this.state.learners.length) this.state.active = this.state.learners.length - 1;
    this.derive();
    this.show();
  }

  setLearner(change) {
    const learners = this.state.learners.map((l, j) => (j === this.state.active ? { ...l, ...change } : l));
    this.set({ learners }, true);
  }

  remember() {
    const { data, points, names, learners, epochs } = this.state;
    this.past.push({ data, points, names, learners, epochs });
    if (this.past.length > MOST_UNDO) this.past.shift();
    this.future = [];
  }

  travel(from, to) {
    if (from.length === 0) return false;
    const { data, points, names, learners, epochs } = this.state;
    to.push({ data, points, names, learners, epochs });
    this.set(from.pop());
    return true;
  }

  undo() {
    return this.travel(this.past, this.future);
  }

  redo() {
    return this.travel(this.future, this.past);
  }

  show() {
    for (const view of this.views) view.render(this.state, this.derived);
  }
}
