// From the plane to the screen and back. The unit is the same in both directions, so that w stands square on its
// boundary, unless the data's two columns differ too much in scale.

const NICE = [1, 2, 5];

export function frameOf(points) {
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const p of points) {
    x0 = Math.min(x0, p.x);
    x1 = Math.max(x1, p.x);
    y0 = Math.min(y0, p.y);
    y1 = Math.max(y1, p.y);
  }
  if (!points.length) [x0, x1, y0, y1] = [-2, 2, -2, 2];
  const span = Math.max(x1 - x0, y1 - y0) || Math.max(Math.abs(x1), Math.abs(y1)) || 1;
  const stretch = Math.max(x1 - x0, y1 - y0) > 4 * Math.min(x1 - x0, y1 - y0) && Math.min(x1 - x0, y1 - y0) > 0;
  // The origin belongs in the picture where it is near: the arrows start there.
  if (!stretch) {
    if (x0 > 0 && x0 < span) x0 = 0;
    if (x1 < 0 && -x1 < span) x1 = 0;
    if (y0 > 0 && y0 < span) y0 = 0;
    if (y1 < 0 && -y1 < span) y1 = 0;
  }
  const pad = (a, b) => 0.14 * (b - a || span);
  const [px, py] = stretch ? [pad(x0, x1), pad(y0, y1)] : [pad(0, span), pad(0, span)];
  return { x0: x0 - px, x1: x1 + px, y0: y0 - py, y1: y1 + py, stretch };
}

export function makeView(frame, width, height) {
  let sx = width / (frame.x1 - frame.x0);
  let sy = height / (frame.y1 - frame.y0);
  if (!frame.stretch) sx = sy = Math.min(sx, sy);
  const cx = (frame.x0 + frame.x1) / 2;
  const cy = (frame.y0 + frame.y1) / 2;
  const toScreen = (x, y) => [width / 2 + (x - cx) * sx, height / 2 - (y - cy) * sy];
  const toPlane = (px, py) => [cx + (px - width / 2) / sx, cy - (py - height / 2) / sy];
  return { width, height, sx, sy, toScreen, toPlane };
}

// Places for ticks between two values, about `count` of them, at 1, 2 or 5 times a power of ten.
export function ticks(from, to, count) {
  const rough = (to - from) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (NICE.find((m) => m * power >= rough) ?? 10);
  const list = [];
  for (let k = Math.ceil(from / step); k * step <= to + 1e-9 * step; k++) list.push(k * step || 0);
  return list.map((v) => Number(v.toPrecision(12)));
}

// How finely a clicked place is rounded: a hundredth of the largest power of ten below the width.
export function grain(view) {
  return 10 ** Math.floor(Math.log10(Math.min(120 / view.sx, 120 / view.sy)) - 1);
}

export function snap(value, step) {
  return Number((Math.round(value / step) * step).toPrecision(12));
}
