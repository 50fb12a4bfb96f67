// Where the weights live. Both spaces answer the same questions, so that one loop learns in either:
//   scores(i)  q(i)  step(i, label, wrong, tau)  tally()  wrongRows()
// Linear: a weight a feature, and the offset last. Dual: a weight a row, for kernels.

import { gram } from "./kernel.js";
import { isMistake } from "./rule.js";
import { dot, highestWrong, plus } from "./vector.js";

export function scoresOf(W, x) {
  return W.map((w) => {
    let total = 0;
    for (let j = 0; j < x.length; j++) total += w[j] * x[j];
    return total + w[x.length];
  });
}

export function marginOf(scores, label) {
  return scores.length === 1 ? label * scores[0] : scores[label] - scores[highestWrong(scores, label)];
}

function countWrong(problem, tie, scoresAt) {
  let wrong = 0;
  for (let i = 0; i < problem.X.length; i++) {
    const scores = scoresAt(i);
    wrong += isMistake(marginOf(scores, problem.y[i]), scores[0], problem.y[i], problem.classes, tie);
  }
  return wrong;
}

export class Linear {
  constructor(problem, learner) {
    const rows = problem.classes === 2 ? 1 : problem.classes;
    this.problem = problem;
    this.tie = learner.tie;
    this.offset = learner.intercept ? 1 : 0;
    this.extended = problem.X.map((x) => [...x, this.offset]);
    this.W = Array.from({ length: rows }, () => (rows === 1 && learner.start ? [...learner.start] : [0, 0, 0]));
    this.snapshots = [this.W];
    this.total = this.W.map(() => [0, 0, 0]);
    this.totals = [];
  }

  scores(i) {
    return scoresOf(this.W, this.problem.X[i]);
  }

  q(i) {
    const x = this.problem.X[i];
    return dot(x, x) + this.offset;
  }

  step(i, label, wrong, tau) {
    const x = this.extended[i];
    if (wrong < 0) this.W = [plus(this.W[0], tau * label, x)];
    else {
      this.W = [...this.W];
      this.W[label] = plus(this.W[label], tau, x);
      this.W[wrong] = plus(this.W[wrong], -tau, x);
    }
    this.snapshots.push(this.W);
  }

  tally() {
    this.total = this.total.map((t, k) => plus(t, 1, this.W[k]));
    this.totals.push(this.total);
  }

  wrongRows() {
    return countWrong(this.problem, this.tie, (i) => this.scores(i));
  }
}

export class Dual {
  constructor(problem, learner) {
    const n = problem.X.length;
    const rows = problem.classes === 2 ? 1 : problem.classes;
    this.problem = problem;
    this.tie = learner.tie;
    this.table = gram(problem.X, learner);
    this.A = Array.from({ length: rows }, () => new Float64Array(n));
    // The scores of all rows, one kernel row an update: cheap enough to ask how many rows are wrong.
    this.all = this.A.map(() => new Float64Array(n));
    this.moves = [];
  }

  // The sum over the rows that were ever mistaken, in their order: textbook.py's kernel_score.
  scores(i) {
    const { X, y } = this.problem;
    const n = X.length;
    return this.A.map((alpha) => {
      let total = 0;
      for (let j = 0; j < n; j++) {
        if (alpha[j] !== 0) total += alpha[j] * (this.A.length === 1 ? y[j] : 1) * this.table[j * n + i];
      }
      return total;
    });
  }

  q(i) {
    return this.table[i * this.problem.X.length + i];
  }

  step(i, label, wrong, tau) {
    const n = this.problem.X.length;
    const add = (k, alpha, score) => {
      this.A[k][i] += alpha;
      for (let j = 0; j < n; j++) this.all[k][j] += score * this.table[i * n + j];
    };
    if (wrong < 0) add(0, tau, tau * label);
    else {
      add(label, tau, tau);
      add(wrong, -tau, -tau);
    }
    this.moves.push({ row: i, label, wrong, tau });
  }

  tally() {}

  wrongRows() {
    return countWrong(this.problem, this.tie, (i) => this.all.map((scores) => scores[i]));
  }
}
