// Exact arithmetic: a float is an integer times a power of two, so sums and products of floats can be compared
// without rounding. Used to check certificates.

// The integer m and the exponent e with value = m · 2^e.
function parts(value) {
  if (value === 0) return [0n, 0];
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, Math.abs(value));
  const raw = bits.getBigUint64(0);
  const exponent = Number(raw >> 52n);
  const whole = (raw & 0xfffffffffffffn) | (exponent === 0 ? 0n : 0x10000000000000n);
  return [value < 0 ? -whole : whole, Math.max(exponent, 1) - 1075];
}

// The floats as integers over one common power of two.
function integers(values) {
  const all = values.map(parts);
  const least = Math.min(0, ...all.map(([, e]) => e));
  return all.map(([m, e]) => m << BigInt(e - least));
}

export function signOfDot(w, z) {
  const [a, b] = [integers(w), integers(z)];
  const total = a.reduce((sum, v, j) => sum + v * b[j], 0n);
  return total > 0n ? 1 : total < 0n ? -1 : 0;
}

// Integers without their common factor, the first that is not 0 positive.
function reduced(list) {
  let factor = list.find((v) => v) < 0n ? -1n : 1n;
  const common = list.reduce((a, b) => {
    while (b) [a, b] = [b, a % b];
    return a < 0n ? -a : a;
  }, 0n);
  factor *= common || 1n;
  return list.map((v) => v / factor);
}

// The reduced integers lambda with sum_j lambda_j columns[j] = 0, if unique; else null.
export function dependence(columns) {
  const flat = integers(columns.flat());
  const height = columns[0].length;
  const M = columns[0].map((_, r) => columns.map((_, c) => flat[c * height + r]));
  const pivots = [];
  for (let c = 0; c < columns.length && pivots.length < height; c++) {
    const rank = pivots.length;
    const pivot = M.findIndex((row, r) => r >= rank && row[c] !== 0n);
    if (pivot < 0) continue;
    [M[rank], M[pivot]] = [M[pivot], M[rank]];
    for (let r = 0; r < height; r++) {
      if (r === rank || M[r][c] === 0n) continue;
      const [a, b] = [M[rank][c], M[r][c]];
      M[r] = reduced(M[r].map((v, j) => v * a - M[rank][j] * b));
    }
    pivots.push(c);
  }
  if (pivots.length !== columns.length - 1) return null;
  const free = columns.findIndex((_, c) => !pivots.includes(c));
  const scale = pivots.reduce((product, c, r) => product * M[r][c], 1n);
  return reduced(columns.map((_, c) => (c === free ? scale : (-M[pivots.indexOf(c)][free] * scale) / M[pivots.indexOf(c)][c])));
}
