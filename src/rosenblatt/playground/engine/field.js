// Scores of an answer at many places of the plane (a grid, or the rows themselves), for every rule, keep and kernel.
// `reach` is the sum of the sizes of all kernel terms: scores divided by it fade nowhere, which makes smooth contours.
// Moving forward in time costs one kernel row an update, so that a playing run stays smooth.

import { pocketAt, predict, rowWeightsAt, weightsAt } from "./keep.js";
import { kernelOf } from "./kernel.js";
import { isMistake } from "./rule.js";
import { marginOf } from "./space.js";

export class Field {
  constructor(trace, sites) {
    this.trace = trace;
    this.sites = sites;
    this.linear = trace.learner.kernel === "linear";
    this.kernel = this.linear ? null : kernelOf(trace.learner);
    this.kernelRows = new Map();
    this.rewind();
  }

  blank() {
    const classes = this.trace.problem.classes;
    return Array.from({ length: classes === 2 ? 1 : classes }, () => new Float64Array(this.sites.length));
  }

  rewind() {
    this.t = 0;
    this.updates = 0;
    this.now = this.blank();
    this.sum = this.blank();
    this.votes = this.blank();
    this.reach = new Float64Array(this.sites.length);
    if (this.linear) this.paint(this.now, this.trace.space.snapshots[0]);
  }

  paint(scores, W) {
    W.forEach((w, k) => {
      const out = scores[k];
      for (let s = 0; s < out.length; s++) out[s] = w[0] * this.sites[s][0] + w[1] * this.sites[s][1] + w[2];
    });
  }

  kernelRow(i) {
    let row = this.kernelRows.get(i);
    if (!row) {
      const x = this.trace.problem.X[i];
      row = Float64Array.from(this.sites, (site) => this.kernel(x, site));
      this.kernelRows.set(i, row);
    }
    return row;
  }

  add(scores, k, weight, i) {
    const row = this.kernelRow(i);
    const out = scores[k];
    for (let s = 0; s < out.length; s++) out[s] += weight * row[s];
  }

  // The current vector lived through `count` more examples.
  live(count) {
    this.t += count;
    const { now, sum, votes } = this;
    now.forEach((scores, k) => {
      for (let s = 0; s < scores.length; s++) sum[k][s] += count * scores[s];
    });
    for (let s = 0; s < this.sites.length; s++) {
      if (now.length === 1) votes[0][s] += now[0][s] >= 0 ? count : -count;
      else votes[predict(now.map((scores) => scores[s]))][s] += count;
    }
  }

  advance(t) {
    const { updateSteps, space } = this.trace;
    if (t < this.t) this.rewind();
    while (this.t < t) {
      const next = updateSteps[this.updates] ?? Infinity;
      if (next > this.t + 1) this.live(Math.min(t, next - 1) - this.t);
      else {
        this.updates += 1;
        if (this.linear) this.paint(this.now, space.snapshots[this.updates]);
        else {
          const { row, label, wrong, tau } = space.moves[this.updates - 1];
          const near = this.kernelRow(row);
          for (let s = 0; s < near.length; s++) this.reach[s] += tau * Math.abs(near[s]);
          if (wrong < 0) this.add(this.now, 0, tau * label, row);
          else {
            this.add(this.now, label, tau, row);
            this.add(this.now, wrong, -tau, row);
          }
        }
        this.live(1);
      }
    }
  }

  fromRows(A) {
    const scores = this.blank();
    A.forEach((weights, k) => weights.forEach((weight, i) => weight && this.add(scores, k, weight, i)));
    return scores;
  }

  // A list of scores a class: do not change or keep what it returns.
  scoresAt(t, keep) {
    const end = Math.min(t, this.trace.length);
    if (this.linear && keep !== "vote") {
      const scores = this.blank();
      this.paint(scores, weightsAt(this.trace, end, keep));
      return scores;
    }
    this.advance(end);
    if (keep === "pocket") {
      const pocket = pocketAt(this.trace, end);
      if (this.pocket !== pocket) {
        this.pocket = pocket;
        this.pocketScores = this.fromRows(rowWeightsAt(this.trace, end, "pocket"));
      }
      return this.pocketScores;
    }
    if (end === 0 || keep === "last") return this.now;
    if (keep === "vote") return this.votes;
    return this.sum.map((scores) => scores.map((v) => v / end));
  }
}

// Which rows the answer at step t gets wrong, and the smallest margin: `field` has the rows as its sites.
export function judge(field, t, keep) {
  const { problem, learner } = field.trace;
  const scores = field.scoresAt(t, keep);
  const wrong = [];
  let least = Infinity;
  problem.y.forEach((label, i) => {
    const own = scores.map((s) => s[i]);
    const margin = marginOf(own, label);
    least = Math.min(least, margin);
    if (isMistake(margin, own[0], label, problem.classes, learner.tie)) wrong.push(i);
  });
  return { wrong, least };
}
