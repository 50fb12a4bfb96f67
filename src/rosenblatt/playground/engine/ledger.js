// The convergence proof as numbers. While learning from zero weights, with u the best direction and gamma its margin:
//   lower   w·u  >= gamma · sum of tau           (k·gamma for the perceptron with eta0 = 1)
//   upper   ‖w‖² <= sum of tau²·R² + 2·tau·max(0, margin)   (k·R²)
// Since w·u <= ‖w‖, the two meet at the mistake bound.

import { target } from "./rule.js";

// The most mistakes the learner can make, or null where nothing is promised.
export function mistakeBound(learner, margin) {
  if (!margin || margin.low <= 0 || learner.start) return null;
  const { R2, low } = margin;
  const { rule, C, eta0 } = learner;
  const size = {
    perceptron: R2,
    margin: R2 + (2 * target(learner)) / eta0,
    PA: R2,
    "PA-I": Math.max(R2, 1 / C),
    "PA-II": R2 + 1 / (2 * C),
  }[rule];
  return size / (low * low);
}

// A line an update: k, step, row, wu, lower, norm, upper, cos, and high, the proof's own upper side of gamma.
// Null where the proof does not apply.
export function ledger(trace, margin) {
  if (!margin || margin.low <= 0 || trace.learner.start) return null;
  const gamma = margin.low;
  const lines = [{ k: 0, step: 0, row: -1, wu: 0, lower: 0, norm: 0, upper: 0, cos: 0, high: Infinity }];
  let wu = 0;
  let squared = 0;
  let taus = 0;
  let limit = 0;
  trace.updateSteps.forEach((step, j) => {
    const s = step - 1;
    const [row, tau, m, q] = [trace.rows[s], trace.taus[s], trace.margins[s], trace.qs[s]];
    wu += tau * margin.dots(row, trace.wrongs[s]);
    squared += 2 * tau * m + tau * tau * q;
    taus += tau;
    limit += tau * tau * margin.R2 + 2 * tau * Math.max(0, m);
    const norm = Math.sqrt(Math.max(0, squared));
    lines.push({
      k: j + 1,
      step,
      row,
      wu,
      lower: gamma * taus,
      norm,
      upper: Math.sqrt(limit),
      cos: norm > 0 ? wu / norm : 0,
      high: norm / taus,
    });
  });
  return lines;
}

// Do both inequalities hold in every line, up to rounding?
export function holds(lines) {
  return lines.every(({ wu, lower, norm, upper }) => {
    const slack = 1e-9 * (1 + upper);
    return wu >= lower - slack && wu <= norm + slack && norm <= upper + slack;
  });
}
