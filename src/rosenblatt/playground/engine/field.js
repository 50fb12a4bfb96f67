// Scores of an answer at many places of the plane: a grid, or the rows themselves.
// `reach` sums the sizes of all kernel terms: scores divided by it fade nowhere, which makes smooth contours.
// Moving forward in time costs one kernel row an update.

import { pocketAt, predict, rowWeightsAt, weightsAt } from "./keep.js";
import { kernelOf } from "./kernel.js";
import { isMistake } from "./rule.js";
import { marginOf } from "./space.js";

export class Field {
  constructor(trace, sites) {
    Object.assign(this, { trace, sites, linear: trace.learner.kernel === "linear", kernelRows: new Map() });
    if (!this.linear) this.kernel = kernelOf(trace.learner);
    this.rewind();
  }

  blank() {
    const { classes } = this.trace.problem;
    return Array.from({ length: classes === 2 ? 1 : classes }, () => new Float64Array(this.sites.length));
  }

  rewind() {
    this.t = this.updates = 0;
    this.now = this.blank();
    this.sum = this.blank();
    this.votes = this.blank();
    this.reach = new Float64Array(this.sites.length);
    if (this.linear) this.paint(this.now, this.trace.space.snapshots[0]);
  }

  paint(scores, W) {
    W.forEach(([w1, w2, b], k) => {
      const out = scores[k];
      for (let s = 0; s < out.length; s++) out[s] = w1 * this.sites[s][0] + w2 * this.sites[s][1] + b;
    });
    return scores;
  }

  kernelRow(i) {
    if (!this.kernelRows.has(i)) {
      const x = this.trace.problem.X[i];
      this.kernelRows.set(i, Float64Array.from(this.sites, (site) => this.kernel(x, site)));
    }
    return this.kernelRows.get(i);
  }

  add(out, weight, i, size = (v) => v) {
    const row = this.kernelRow(i);
    for (let s = 0; s < out.length; s++) out[s] += weight * size(row[s]);
  }

  // The current vector lived through `count` more examples.
  live(count) {
    this.t += count;
    const { now, sum, votes } = this;
    const many = now.length > 1;
    now.forEach((scores, k) => {
      for (let s = 0; s < scores.length; s++) sum[k][s] += count * scores[s];
    });
    for (let s = 0; s < this.sites.length; s++)
      if (many) votes[predict(now.map((scores) => scores[s]))][s] += count;
      else votes[0][s] += now[0][s] >= 0 ? count : -count;
  }

  update() {
    const { snapshots, moves } = this.trace.space;
    this.updates += 1;
    if (this.linear) this.paint(this.now, snapshots[this.updates]);
    else {
      const { row, parts, tau } = moves[this.updates - 1];
      this.add(this.reach, tau, row, Math.abs);
      for (const [k, by] of parts) this.add(this.now[k], by, row);
    }
    this.live(1);
  }

  advance(t) {
    if (t < this.t) this.rewind();
    while (this.t < t) {
      const next = this.trace.updateSteps[this.updates] ?? Infinity;
      if (next > this.t + 1) this.live(Math.min(t, next - 1) - this.t);
      else this.update();
    }
  }

  // A list of scores a class, to be read only.
  scoresAt(t, keep) {
    const end = Math.min(t, this.trace.length);
    if (this.linear && keep !== "vote") return this.paint(this.blank(), weightsAt(this.trace, end, keep));
    this.advance(end);
    if (keep === "pocket") return this.pocketScores(end);
    if (end === 0 || keep === "last") return this.now;
    return keep === "vote" ? this.votes : this.sum.map((scores) => scores.map((v) => v / end));
  }

  pocketScores(end) {
    const pocket = pocketAt(this.trace, end);
    if (this.pocket !== pocket) {
      this.pocket = pocket;
      this.kept = this.blank();
      rowWeightsAt(this.trace, end, "pocket").forEach((weights, k) =>
        weights.forEach((weight, i) => weight && this.add(this.kept[k], weight, i)),
      );
    }
    return this.kept;
  }
}

// Which rows the answer at step t gets wrong, and the smallest margin. The rows are the field's sites.
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
