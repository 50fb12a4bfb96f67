// The best margin: the distance from 0 to the convex hull of the rows z_i = y_i x_i (x extended by 1 with an offset;
// with more classes, one z for every wrong class). The nearest point is the best direction and the proof at once:
//   min_i w·z_i / ‖w‖  <=  gamma  <=  ‖w‖.

import { gram } from "./kernel.js";
import { dot } from "./vector.js";

// The rows z of a linear problem, each with the row and the wrong class it came from.
function signedRows(problem, intercept) {
  const rows = [];
  problem.X.forEach((x, i) => {
    const full = intercept ? [...x, 1] : [...x];
    const label = problem.y[i];
    if (problem.classes === 2) {
      rows.push({ row: i, wrong: -1, z: full.map((v) => label * v) });
      return;
    }
    for (let k = 0; k < problem.classes; k++) {
      if (k === label) continue;
      const z = new Array(problem.classes * full.length).fill(0);
      full.forEach((v, j) => {
        z[label * full.length + j] = v;
        z[k * full.length + j] = -v;
      });
      rows.push({ row: i, wrong: k, z });
    }
  });
  return rows;
}

// Where the z of a row and a wrong class stands among all of them.
function placeOf({ classes, y }) {
  if (classes === 2) return (row) => row;
  return (row, wrong) => row * (classes - 1) + (wrong > y[row] ? wrong - 1 : wrong);
}

function combine(Z, support, weights) {
  const point = new Array(Z[0].length).fill(0);
  support.forEach((s, j) => Z[s].forEach((v, d) => (point[d] += weights[j] * v)));
  return point;
}

// Weights of sum 1 whose combination of the rows in `support` is nearest to 0; they may be negative.
function affine(Z, support) {
  const m = support.length + 1;
  const A = Array.from({ length: m }, (_, r) =>
    Array.from({ length: m + 1 }, (_, c) => {
      if (c === m) return r === 0 ? 1 : 0;
      if (r === 0 || c === 0) return r === c ? 0 : 1;
      return dot(Z[support[r - 1]], Z[support[c - 1]]);
    }),
  );
  for (let c = 0; c < m; c++) {
    let pivot = c;
    for (let r = c + 1; r < m; r++) if (Math.abs(A[r][c]) > Math.abs(A[pivot][c])) pivot = r;
    if (A[pivot][c] === 0) return null;
    [A[c], A[pivot]] = [A[pivot], A[c]];
    for (let r = 0; r < m; r++) {
      if (r === c || A[r][c] === 0) continue;
      const factor = A[r][c] / A[c][c];
      for (let j = c; j <= m; j++) A[r][j] -= factor * A[c][j];
    }
  }
  return A.slice(1).map((row, j) => row[m] / row[j + 1]);
}

// Wolfe's method (1976): exact up to rounding after finitely many steps.
export function nearest(Z) {
  const size = Math.max(...Z.map((z) => dot(z, z)));
  let first = 0;
  Z.forEach((z, i) => dot(z, z) < dot(Z[first], Z[first]) && (first = i));
  let support = [first];
  let weights = [1];
  let point = Z[first];
  for (let turn = 0; turn < 500; turn++) {
    let worst = 0;
    let least = Infinity;
    Z.forEach((z, i) => {
      const p = dot(point, z);
      if (p < least) [least, worst] = [p, i];
    });
    if (least >= dot(point, point) - 1e-14 * size || support.includes(worst)) break;
    support = [...support, worst];
    weights = [...weights, 0];
    for (;;) {
      const next = affine(Z, support);
      if (next === null) {
        support = support.slice(0, -1);
        weights = weights.slice(0, -1);
        break;
      }
      if (next.every((v) => v > 1e-13)) {
        weights = next;
        break;
      }
      let part = 1;
      next.forEach((v, j) => {
        if (v <= 1e-13) part = Math.min(part, weights[j] / (weights[j] - v || 1e-300));
      });
      const moved = weights.map((v, j) => v + part * (next[j] - v));
      const stay = moved.map((v, j) => v > 1e-13 && !(next[j] <= 1e-13 && v <= 1e-12));
      support = support.filter((_, j) => stay[j]);
      weights = moved.filter((_, j) => stay[j]);
      const total = weights.reduce((a, b) => a + b, 0);
      weights = weights.map((v) => v / total);
      if (support.length === 1) break;
    }
    point = combine(Z, support, weights);
  }
  return { point, support, weights, size };
}

// The margin of a problem in the space of a learner: { low, high, R2, dots }, where low <= gamma <= high, R2 is the
// largest squared norm of a z, and dots(row, wrong) is u·z for the best direction u. Low is 0 if it was not found.
export function bestMargin(problem, learner) {
  if (problem.X.length === 0) return null;
  if (learner.kernel !== "linear") return kernelMargin(problem, learner);
  const rows = signedRows(problem, learner.intercept);
  const Z = rows.map((r) => r.z);
  const { point, support, weights, size } = nearest(Z);
  const length = Math.sqrt(dot(point, point));
  const dots = Z.map((z) => (length > 0 ? dot(point, z) / length : 0));
  const low = Math.min(...dots);
  const place = placeOf(problem);
  const at = (row, wrong) => dots[place(row, wrong)];
  return { low: Math.max(0, low), high: length, R2: size, dots: at, point, support, weights, rows };
}

// The method of Mitchell, Demyanov and Malozemov (1974) on the table of kernel values: it moves weight from the row
// that is furthest out to the one that is furthest back, until both sides of gamma nearly agree.
function kernelMargin(problem, learner) {
  const { X, y, classes } = problem;
  const table = gram(X, learner);
  const units = [];
  X.forEach((_, row) => {
    if (classes === 2) units.push({ row, wrong: -1 });
    else for (let k = 0; k < classes; k++) if (k !== y[row]) units.push({ row, wrong: k });
  });
  const n = units.length;
  const at = (i, j) => {
    const [a, b] = [units[i], units[j]];
    const [p, q] = [y[a.row], y[b.row]];
    const sign = classes === 2 ? p * q : (p === q) - (p === b.wrong) - (a.wrong === q) + (a.wrong === b.wrong);
    return sign * table[a.row * X.length + b.row];
  };
  const weights = new Float64Array(n);
  let first = 0;
  for (let i = 1; i < n; i++) if (at(i, i) < at(first, first)) first = i;
  weights[first] = 1;
  const dots = Float64Array.from({ length: n }, (_, i) => at(first, i));
  let squared = at(first, first);
  for (let turn = 0; turn < 6000; turn++) {
    let back = 0;
    let out = -1;
    for (let i = 0; i < n; i++) {
      if (dots[i] < dots[back]) back = i;
      if (weights[i] > 0 && (out < 0 || dots[i] > dots[out])) out = i;
    }
    const gap = dots[out] - dots[back];
    if (squared <= 0 || squared - dots[back] <= 1e-6 * squared || gap <= 0) break;
    const curve = at(out, out) + at(back, back) - 2 * at(out, back);
    if (curve <= 0) break;
    const move = Math.min(weights[out], gap / curve);
    weights[out] -= move;
    if (weights[out] < 1e-15) weights[out] = 0;
    weights[back] += move;
    squared += move * move * curve - 2 * move * gap;
    for (let i = 0; i < n; i++) dots[i] += move * (at(back, i) - at(out, i));
  }
  const length = Math.sqrt(Math.max(0, squared));
  let R2 = 0;
  let low = Infinity;
  for (let i = 0; i < n; i++) {
    R2 = Math.max(R2, at(i, i));
    low = Math.min(low, length > 0 ? dots[i] / length : 0);
  }
  const place = placeOf(problem);
  // Less than this is rounding, not a margin.
  if (low <= 1e-4 * Math.sqrt(R2)) low = 0;
  return {
    low: Math.max(0, low),
    high: length,
    R2,
    dots: (row, wrong) => (length > 0 ? dots[place(row, wrong)] / length : 0),
  };
}
