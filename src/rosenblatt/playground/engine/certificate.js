// A verdict on separability that anyone can check, without rounding:
//   separable       weights w with w·z > 0 for every row z = y·x
//   not separable   whole numbers lambda >= 0, not all 0, with sum lambda_i z_i = 0 (Gordan): then no w can have all w·z_i > 0
// "undecided" is said where rounding hid the answer, never guessed.

import { dependence, signOfDot } from "./exact.js";

// `margin` is what bestMargin found for a linear learner.
export function certify(margin) {
  if (!margin || !margin.rows) return { verdict: "undecided" };
  const Z = margin.rows.map((r) => r.z);
  if (margin.low > 0) {
    const certificate = { verdict: "separable", w: margin.point };
    if (check(certificate, Z)) return certificate;
  }
  const lambda = dependence(margin.support.map((s) => Z[s]));
  if (lambda && lambda.some((v) => v < 0n) && lambda.every((v) => v <= 0n)) lambda.forEach((v, j) => (lambda[j] = -v));
  if (lambda) {
    const parts = margin.support.map((s, j) => ({ ...margin.rows[s], index: s, lambda: lambda[j] }));
    const certificate = { verdict: "not separable", parts: parts.filter((p) => p.lambda !== 0n) };
    if (check(certificate, Z)) return certificate;
  }
  return { verdict: "undecided" };
}

// Does the certificate prove its verdict about the rows Z?
export function check(certificate, Z) {
  if (certificate.verdict === "separable") return Z.every((z) => signOfDot(certificate.w, z) > 0);
  if (certificate.verdict !== "not separable" || certificate.parts.length === 0) return false;
  const { parts } = certificate;
  if (parts.some((p) => p.lambda <= 0n)) return false;
  const found = dependence(parts.map((p) => Z[p.index]));
  if (!found) return false;
  return parts.every((p, j) => p.lambda * found[0] === parts[0].lambda * found[j]);
}
