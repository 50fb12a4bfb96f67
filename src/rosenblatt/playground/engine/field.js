// Scores of an answer at many places of the plane: a grid, or the rows themselves.
// `reach` sums the sizes of all kernel terms: scores divided by it fade nowhere, which makes smooth contours.
// Moving forward in time costs one kernel row an update.

import { predict, rowWeightsAt, weightsAt } from "./keep.js";
import { kernelOf } from "./kernel.js";
import { pocketAt } from "./learn.js";
import { isMistake } from "./rule.js";
import { eachRow, marginOf } from "./space.js";

export class Field {
  kernelRows = new Map();

  constructor(trace, sites) {
    Object.assign(this, { trace, sites, linear: trace.learner.kernel === "linear" });
    if (!this.linear) this.kernel = kernelOf(trace.learner);
    this.rewind();
  }

  blank() {
    return eachRow(this.trace.problem, () => new Float64Array(this.sites.length));
  }

  rewind() {
    this.t = this.updates = 0;
    [this.now, this.sum, this.votes, [this.reach]] = [this.blank(), this.blank(), this.blank(), this.blank()];
    if (this.linear) this.paint(this.now, this.trace.space.snapshots[0]);
  }

  paint(scores, W) {
    const { sites } = this;
    W.forEach(([w1, w2, b], k) => {
      for (let s = 0; s < sites.length; s++) scores[k][s] = w1 * sites[s][0] + w2 * sites[s][1] + b;
    });
    return scores;
  }

  add(out, weight, i, size = (v) => v) {
    const { kernelRows, sites, trace } = this;
    if (!kernelRows.has(i)) kernelRows.set(i, Float64Array.from(sites, (z) => this.kernel(trace.problem.X[i], z)));
    const row = kernelRows.get(i);
    for (let s = 0; s < out.length; s++) out[s] += weight * size(row[s]);
  }

  live(count) {
    const { now, sum, votes } = this;
    this.t += count;
    now.forEach((scores, k) => {
      for (let s = 0; s < scores.length; s++) sum[k][s] += count * scores[s];
    });
    for (let s = 0; s < this.sites.length; s++)
      if (now.length > 1) votes[predict(now.map((scores) => scores[s]))][s] += count;
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
      Object.assign(this, { pocket, kept: this.blank() });
      rowWeightsAt(this.trace, end, "pocket").forEach((weights, k) =>
        weights.forEach((weight, i) => weight && this.add(this.kept[k], weight, i)),
      );
    }
    return this.kept;
  }
}

// Which rows the answer at step t gets wrong, and the smallest margin. The rows are the field's sites.
export function judge(field, t, keep) {
  const { y, classes } = field.trace.problem;
  const scores = field.scoresAt(t, keep);
  const margins = y.map((label, i) => marginOf(scores.map((s) => s[i]), label));
  const isWrong = (margin, i) => isMistake(margin, scores[0][i], y[i], classes, field.trace.learner.tie);
  return { wrong: [...y.keys()].filter((i) => isWrong(margins[i], i)), least: Math.min(...margins) };
}
