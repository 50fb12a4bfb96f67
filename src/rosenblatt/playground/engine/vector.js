// Vectors are arrays of numbers. Sums run from left to right, as in textbook.py, so that every float is the same.

export function dot(w, x) {
  let total = 0;
  for (let j = 0; j < x.length; j++) total += w[j] * x[j];
  return total;
}

export function plus(w, tau, x) {
  return w.map((w_j, j) => w_j + tau * x[j]);
}

export function norm(w) {
  return Math.sqrt(dot(w, w));
}

// The place of the highest entry; the first one if several tie.
export function highest(scores) {
  let best = 0;
  for (let k = 1; k < scores.length; k++) if (scores[k] > scores[best]) best = k;
  return best;
}

// The class other than `right` with the highest score; the first one if several tie.
export function highestWrong(scores, right) {
  let best = -1;
  for (let k = 0; k < scores.length; k++) {
    if (k !== right && (best < 0 || scores[k] > scores[best])) best = k;
  }
  return best;
}
