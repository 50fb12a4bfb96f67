// Kernels, and the table of their values on the points, made once for all learners that share it.

import { dot } from "./vector.js";

export const KERNELS = ["linear", "poly", "rbf"];

export function kernelOf(learner) {
  const { kernel, degree, coef0, gamma } = learner;
  if (kernel === "poly") return (x, z) => (coef0 + gamma * dot(x, z)) ** degree;
  if (kernel === "rbf") {
    return (x, z) => {
      let total = 0;
      for (let j = 0; j < x.length; j++) total += (x[j] - z[j]) ** 2;
      return Math.exp(-gamma * total);
    };
  }
  throw new RangeError(`"${kernel}" is not a kernel of this page`);
}

const tables = new WeakMap();

// All K(x_i, x_j), row by row. Kept as long as the points live: they are replaced, never changed in place.
export function gram(X, learner) {
  const key = [learner.kernel, learner.degree, learner.coef0, learner.gamma].join(" ");
  if (!tables.has(X)) tables.set(X, new Map());
  const known = tables.get(X);
  if (!known.has(key)) {
    const n = X.length;
    const kernel = kernelOf(learner);
    const table = new Float64Array(n * n);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j <= i; j++) table[i * n + j] = table[j * n + i] = kernel(X[i], X[j]);
    }
    if (known.size >= 4) known.clear();
    known.set(key, table);
  }
  return known.get(key);
}
