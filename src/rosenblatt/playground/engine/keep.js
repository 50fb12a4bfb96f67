// Which weights are the answer at step t: last, average, vote or pocket.

import { updatesAt } from "./learn.js";
import { highest } from "./vector.js";

export const KEEPS = ["last", "average", "vote", "pocket"];

// Every weight vector that lived up to step t, named by its update, with the number of examples it survived.
export function livedAt(trace, t) {
  const end = Math.min(t, trace.length);
  const updates = updatesAt(trace, end);
  const lived = [];
  for (let u = 0; u <= updates; u++) {
    const from = u === 0 ? 1 : trace.updateSteps[u - 1];
    const to = u === updates ? end + 1 : trace.updateSteps[u];
    lived.push({ update: u, count: to - from });
  }
  return lived;
}

// The votes for +1 less those for -1 at any place, of a linear learner of two classes.
export function voteAt(trace, t) {
  const lived = livedAt(trace, t).map(({ update, count }) => [...trace.space.snapshots[update][0], count]);
  return (x, y) => {
    let total = 0;
    for (const [w1, w2, b, count] of lived) total += w1 * x + w2 * y + b >= 0 ? count : -count;
    return total;
  };
}

// The update whose weights are in the pocket at step t.
export function pocketAt(trace, t) {
  return t > 0 ? trace.pockets[Math.min(t, trace.length) - 1] : 0;
}

// Linear weights, a row a class (one row with two classes), the offset last. A vote has no weights.
export function weightsAt(trace, t, keep) {
  const end = Math.min(t, trace.length);
  const { snapshots, totals } = trace.space;
  if (keep === "average" && end > 0) return totals[end - 1].map((row) => row.map((v) => v / end));
  if (keep === "pocket") return snapshots[pocketAt(trace, end)];
  return snapshots[updatesAt(trace, end)];
}

// Kernel weights of rows, signed: score_k(x) = sum_i A[k][i] K(x_i, x).
export function rowWeightsAt(trace, t, keep) {
  const end = Math.min(t, trace.length);
  const n = trace.problem.X.length;
  const A = Array.from({ length: trace.space.A.length }, () => new Float64Array(n));
  const updates = keep === "pocket" ? pocketAt(trace, end) : updatesAt(trace, end);
  for (let u = 0; u < updates; u++) {
    const { row, label, wrong, tau } = trace.space.moves[u];
    const part = keep === "average" ? (tau * (end - trace.updateSteps[u] + 1)) / end : tau;
    if (wrong < 0) A[0][row] += part * label;
    else {
      A[label][row] += part;
      A[wrong][row] -= part;
    }
  }
  return A;
}

// The class that scores predict: with two classes a score of 0 is the second (the larger).
export function predict(scores) {
  return scores.length === 1 ? (scores[0] >= 0 ? 1 : 0) : highest(scores);
}
