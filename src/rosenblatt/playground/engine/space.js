// Where the weights live. Both spaces answer the same questions, so that one loop learns in either:
//   scores(i)  q(i)  step(i, label, wrong, tau)  tally()  wrongRows()
// Linear: a weight a feature, and the offset last. Dual: a weight a row, for kernels.

import { gram } from "./kernel.js";
import { isMistake } from "./rule.js";
import { dot, highestWrong, plus } from "./vector.js";

// w·x first, then + b, as in textbook.py.
export const scoresOf = (W, x) => W.map((w) => dot(w, x) + w[x.length]);

export function marginOf(scores, label) {
  return scores.length === 1 ? label * scores[0] : scores[label] - scores[highestWrong(scores, label)];
}

// Something for every row of weights: one for two classes, else one a class.
export const eachRow = ({ classes }, make) => Array.from({ length: classes === 2 ? 1 : classes }, make);

// Which weight rows move, by how much: the only one, else the right one up and the highest wrong one down.
const moves = (label, wrong, tau) => (wrong < 0 ? [[0, tau * label]] : [[label, tau], [wrong, -tau]]);

function countWrong({ X, y, classes }, tie, scoresAt) {
  const isWrong = (scores, label) => isMistake(marginOf(scores, label), scores[0], label, classes, tie);
  return X.filter((_, i) => isWrong(scoresAt(i), y[i])).length;
}

export class Linear {
  totals = [];

  constructor(problem, { tie, intercept, start }) {
    Object.assign(this, { problem, tie, offset: Number(intercept) });
    this.W = eachRow(problem, () => (problem.classes === 2 && start ? start : [0, 0, 0]));
    this.snapshots = [this.W];
    this.total = this.W.map(() => [0, 0, 0]);
  }

  scores(i) {
    return scoresOf(this.W, this.problem.X[i]);
  }

  q(i) {
    const x = this.problem.X[i];
    return dot(x, x) + this.offset;
  }

  step(i, label, wrong, tau) {
    this.W = [...this.W];
    for (const [k, by] of moves(label, wrong, tau)) this.W[k] = plus(this.W[k], by, [...this.problem.X[i], this.offset]);
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
  moves = [];

  constructor(problem, learner) {
    const n = problem.X.length;
    Object.assign(this, { problem, n, tie: learner.tie, table: gram(problem.X, learner) });
    this.A = eachRow(problem, () => new Float64Array(n));
    // The scores of all rows, kept to count wrong rows cheaply.
    this.all = this.A.map(() => new Float64Array(n));
  }

  // Added in the order of textbook.py's kernel_score.
  scores(i) {
    return this.A.map((alpha) => {
      let total = 0;
      for (let j = 0; j < this.n; j++) if (alpha[j] !== 0) total += alpha[j] * this.table[j * this.n + i];
      return total;
    });
  }

  q(i) {
    return this.table[i * this.n + i];
  }

  step(i, label, wrong, tau) {
    const parts = moves(label, wrong, tau);
    for (const [k, by] of parts) {
      this.A[k][i] += by;
      for (let j = 0; j < this.n; j++) this.all[k][j] += by * this.table[i * this.n + j];
    }
    this.moves.push({ row: i, parts, tau });
  }

  tally() {}

  wrongRows() {
    return countWrong(this.problem, this.tie, (i) => this.all.map((scores) => scores[i]));
  }
}
