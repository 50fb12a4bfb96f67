// A class is a colour and a shape, so that colour is never the only sign.

const star = Array.from({ length: 10 }, (_, i) => {
  const [r, a] = [i % 2 ? 0.5 : 1.2, -Math.PI / 2 + (i * Math.PI) / 5];
  return [r * Math.cos(a), r * Math.sin(a)];
});

// Corners of a shape of size 1, a class each; the second is a circle. With two classes the square is the negative one.
const CORNERS = [
  [
    [-0.88, -0.88],
    [0.88, -0.88],
    [0.88, 0.88],
    [-0.88, 0.88],
  ],
  null,
  [
    [0, -1.2],
    [1.1, 0.78],
    [-1.1, 0.78],
  ],
  [
    [0, -1.25],
    [1.05, 0],
    [0, 1.25],
    [-1.05, 0],
  ],
  [
    [-0.38, -1.1],
    [0.38, -1.1],
    [0.38, -0.38],
    [1.1, -0.38],
    [1.1, 0.38],
    [0.38, 0.38],
    [0.38, 1.1],
    [-0.38, 1.1],
    [-0.38, 0.38],
    [-1.1, 0.38],
    [-1.1, -0.38],
    [-0.38, -0.38],
  ],
  star,
];

export function shapePath(c, size = 1) {
  const f = (v) => Number((v * size).toFixed(2));
  const r = f(1);
  if (!CORNERS[c]) return `M${-r} 0A${r} ${r} 0 1 1 ${r} 0A${r} ${r} 0 1 1 ${-r} 0Z`;
  return `M${CORNERS[c].map(([x, y]) => `${f(x)} ${f(y)}`).join("L")}Z`;
}
