// Exact arithmetic: a float is an integer times a power of two, so sums and products of floats can be compared
// without rounding. Used to check certificates.

// The integer m and the exponent e with value = m · 2^e.
function parts(value) {
  if (value === 0) return [0n, 0];
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const raw = bits.getBigUint64(0);
  const exponent = Number((raw >> 52n) & 0x7ffn);
  const fraction = raw & 0xfffffffffffffn;
  const whole = exponent === 0 ? fraction : fraction | 0x10000000000000n;
  return [value < 0 ? -whole : whole, Math.max(exponent, 1) - 1075];
}

// The floats as integers over one common power of two.
function integers(values) {
  const all = values.map(parts);
  const least = Math.min(0, ...all.map(([, e]) => e));
  return all.map(([m, e]) => m << BigInt(e - least));
}

// The sign of w·z: -1, 0 or 1.
export function signOfDot(w, z) {
  const a = integers(w);
  const b = integers(z);
  const total = a.reduce((sum, v, j) => sum + v * b[j], 0n);
  return total > 0n ? 1 : total < 0n ? -1 : 0;
}

function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
}

// The integers lambda, without a common factor, with sum_j lambda_j columns[j] = 0, if they are unique; else null.
export function dependence(columns) {
  const flat = integers(columns.flat());
  const height = columns[0].length;
  const M = Array.from({ length: height }, (_, r) => columns.map((_, c) => flat[c * height + r]));
  const pivots = [];
  let rank = 0;
  for (let c = 0; c < columns.length && rank < height; c++) {
    const pivot = M.findIndex((row, r) => r >= rank && row[c] !== 0n);
    if (pivot < 0) continue;
    [M[rank], M[pivot]] = [M[pivot], M[rank]];
    for (let r = 0; r < height; r++) {
      if (r === rank || M[r][c] === 0n) continue;
      const [a, b] = [M[rank][c], M[r][c]];
      M[r] = M[r].map((v, j) => v * a - M[rank][j] * b);
      const factor = M[r].reduce(gcd, 0n) || 1n;
      M[r] = M[r].map((v) => v / factor);
    }
    pivots.push(c);
    rank += 1;
  }
  if (rank !== columns.length - 1) return null;
  const free = columns.findIndex((_, c) => !pivots.includes(c));
  const scale = pivots.reduce((product, c, r) => product * M[r][c], 1n);
  const lambda = columns.map(() => 0n);
  lambda[free] = scale;
  pivots.forEach((c, r) => (lambda[c] = (-M[r][free] * scale) / M[r][c]));
  const factor = lambda.reduce(gcd, 0n) || 1n;
  const sign = scale < 0n ? -1n : 1n;
  return lambda.map((v) => (v / factor) * sign);
}
