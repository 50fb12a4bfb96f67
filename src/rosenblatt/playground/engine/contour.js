// Regions of the plane as paths: exact polygons for straight boundaries, marching squares for curved ones.
// Everything here is in screen units, with two decimals at most.

const f = (v) => Math.round(v * 10) / 10;

// The part of a polygon where a·x + b·y + c >= 0.
export function clip(polygon, a, b, c) {
  const out = [];
  polygon.forEach((p, i) => {
    const q = polygon[(i + 1) % polygon.length];
    const vp = a * p[0] + b * p[1] + c;
    const vq = a * q[0] + b * q[1] + c;
    if (vp >= 0) out.push(p);
    if (vp >= 0 !== vq >= 0) {
      const s = vp / (vp - vq);
      out.push([p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])]);
    }
  });
  return out;
}

export function polygonPath(polygon) {
  return polygon.length < 3 ? "" : `M${polygon.map(([x, y]) => `${f(x)} ${f(y)}`).join("L")}Z`;
}

// Regions of linear weights W inside the polygon: two of them for one weight row (negative, positive), else one a class.
export function linearRegions(W, polygon) {
  if (W.length === 1) {
    const [a, b, c] = W[0];
    return [clip(polygon, -a, -b, -c), clip(polygon, a, b, c)].map(polygonPath);
  }
  return W.map((w, k) => {
    let part = polygon;
    W.forEach((v, j) => {
      if (j !== k && part.length) part = clip(part, w[0] - v[0], w[1] - v[1], w[2] - v[2]);
    });
    return polygonPath(part);
  });
}

// The grid of a picture: columns x rows places, `size` apart, in screen units.
export function makeGrid(width, height, size) {
  const columns = Math.ceil(width / size) + 1;
  const rows = Math.ceil(height / size) + 1;
  return { columns, rows, size };
}

function cellPolygon(corners, values) {
  const out = [];
  for (let i = 0; i < 4; i++) {
    const [p, q] = [corners[i], corners[(i + 1) % 4]];
    const [vp, vq] = [values[i], values[(i + 1) % 4]];
    if (vp >= 0) out.push(p);
    if (vp >= 0 !== vq >= 0) {
      const s = vp / (vp - vq);
      out.push([p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])]);
    }
  }
  return out;
}

function eachCell({ columns, rows, size }, values, visit) {
  for (let r = 0; r + 1 < rows; r++) {
    for (let c = 0; c + 1 < columns; c++) {
      const i = r * columns + c;
      const four = [values[i], values[i + 1], values[i + columns + 1], values[i + columns]];
      visit(c * size, r * size, four, r);
    }
  }
}

// The region where the values are >= 0.
export function region(grid, values) {
  const { size } = grid;
  let path = "";
  let from = null;
  let to = 0;
  let row = 0;
  const flush = () => {
    if (from !== null) path += `M${f(from)} ${f(row * size)}H${f(to)}V${f((row + 1) * size)}H${f(from)}Z`;
    from = null;
  };
  eachCell(grid, values, (x, y, four, r) => {
    if (r !== row) flush();
    row = r;
    const inside = (four[0] >= 0) + (four[1] >= 0) + (four[2] >= 0) + (four[3] >= 0);
    if (inside === 4) {
      if (from === null) from = x;
      to = x + size;
      return;
    }
    flush();
    if (inside > 0) {
      path += polygonPath(
        cellPolygon(
          [
            [x, y],
            [x + size, y],
            [x + size, y + size],
            [x, y + size],
          ],
          four,
        ),
      );
    }
  });
  flush();
  return path;
}

// The line where the values are `level`.
export function isoline(grid, values, level = 0) {
  const { size } = grid;
  let path = "";
  eachCell(grid, values, (x, y, four) => {
    const v = four.map((value) => value - level);
    const corners = [
      [x, y],
      [x + size, y],
      [x + size, y + size],
      [x, y + size],
    ];
    const cuts = [];
    for (let i = 0; i < 4; i++) {
      const j = (i + 1) % 4;
      if (v[i] >= 0 === v[j] >= 0) continue;
      const s = v[i] / (v[i] - v[j]);
      cuts.push([
        corners[i][0] + s * (corners[j][0] - corners[i][0]),
        corners[i][1] + s * (corners[j][1] - corners[i][1]),
      ]);
    }
    for (let i = 0; i + 1 < cuts.length; i += 2) {
      path += `M${f(cuts[i][0])} ${f(cuts[i][1])}L${f(cuts[i + 1][0])} ${f(cuts[i + 1][1])}`;
    }
  });
  return path;
}

// For each class, how far its score leads the best other one: >= 0 where the class is the answer.
export function leads(scores) {
  if (scores.length === 1) return [scores[0].map((v) => (v >= 0 ? -v || -1e-300 : -v)), scores[0]];
  return scores.map((own, k) =>
    own.map((v, s) => {
      let other = -Infinity;
      for (let j = 0; j < scores.length; j++) if (j !== k && scores[j][s] > other) other = scores[j][s];
      return v - other;
    }),
  );
}
