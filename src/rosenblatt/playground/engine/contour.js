// Regions of the plane as paths: exact polygons for straight boundaries, marching squares for curved ones.
// Everything here is in screen units, written to a tenth. Where an edge changes sign is found by `cut`: on a straight line
// between the two values, unless the caller knows better.

const f = (v) => Math.round(v * 10) / 10;

// Where the edge from p to q, with values vp and vq of different signs, has the value 0.
function straight(p, q, vp, vq) {
  const s = vp / (vp - vq);
  return [p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])];
}

// The part of a polygon where a·x + b·y + c >= 0.
export function clip(polygon, a, b, c) {
  return above(
    polygon,
    polygon.map(([x, y]) => a * x + b * y + c),
  );
}

// The part of a polygon where the values, given at its corners, are >= 0.
function above(corners, values, cut = straight) {
  const out = [];
  corners.forEach((p, i) => {
    const j = (i + 1) % corners.length;
    if (values[i] >= 0) out.push(p);
    if (values[i] >= 0 !== values[j] >= 0) out.push(cut(p, corners[j], values[i], values[j]));
  });
  return out;
}

// The places on the edges of a polygon where the values at its corners change sign.
function cuts(corners, values, cut = straight) {
  const out = [];
  corners.forEach((p, i) => {
    const j = (i + 1) % corners.length;
    if (values[i] >= 0 !== values[j] >= 0) out.push(cut(p, corners[j], values[i], values[j]));
  });
  return out;
}

function segments(places) {
  let path = "";
  for (let i = 0; i + 1 < places.length; i += 2) {
    path += `M${f(places[i][0])} ${f(places[i][1])}L${f(places[i + 1][0])} ${f(places[i + 1][1])}`;
  }
  return path;
}

// The line a·x + b·y + c = 0 across a polygon.
export function linePath([a, b, c], polygon) {
  const values = polygon.map(([x, y]) => a * x + b * y + c);
  return segments(cuts(polygon, values));
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
export function region(grid, values, cut = straight) {
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
        above(
          [
            [x, y],
            [x + size, y],
            [x + size, y + size],
            [x, y + size],
          ],
          four,
          cut,
        ),
      );
    }
  });
  flush();
  return path;
}

// The line where the values are `level`.
export function isoline(grid, values, level = 0, cut = straight) {
  const { size } = grid;
  let path = "";
  eachCell(grid, values, (x, y, four) => {
    const corners = [
      [x, y],
      [x + size, y],
      [x + size, y + size],
      [x, y + size],
    ];
    const shifted = four.map((value) => value - level);
    path += segments(cuts(corners, shifted, cut));
  });
  return path;
}

// A cut for values that jump, like votes: halve the edge until the jump is found. Both sides of an edge share the answer.
export function jumpCut(isAbove) {
  const known = new Map();
  return (p, q) => {
    const [first, last] = p[0] < q[0] || (p[0] === q[0] && p[1] < q[1]) ? [p, q] : [q, p];
    const key = `${first[0]} ${first[1]} ${last[0]} ${last[1]}`;
    if (!known.has(key)) {
      const side = isAbove(...first);
      let [near, far] = [first, last];
      for (let turn = 0; turn < 6; turn++) {
        const middle = [(near[0] + far[0]) / 2, (near[1] + far[1]) / 2];
        if (isAbove(...middle) === side) near = middle;
        else far = middle;
      }
      known.set(key, far);
    }
    return known.get(key);
  };
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
