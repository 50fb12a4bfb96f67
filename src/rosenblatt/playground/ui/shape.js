// A class is a colour and a shape, so that colour is never the only sign.

export const SHAPES = ["square", "circle", "triangle", "diamond", "cross", "star"];

const star = Array.from({ length: 10 }, (_, i) => {
  const r = i % 2 ? 0.5 : 1.2;
  const a = -Math.PI / 2 + (i * Math.PI) / 5;
  return `${(r * Math.cos(a)).toFixed(2)} ${(r * Math.sin(a)).toFixed(2)}`;
}).join("L");

const UNIT = {
  square: "M-.88-.88H.88V.88H-.88Z",
  circle: "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1-1 0Z",
  triangle: "M0-1.2L1.1.78H-1.1Z",
  diamond: "M0-1.25L1.05 0L0 1.25L-1.05 0Z",
  cross: "M-.38-1.1H.38V-.38H1.1V.38H.38V1.1H-.38V.38H-1.1V-.38H-.38Z",
  star: `M${star}Z`,
};

// With two classes the negative one is the square and the positive one the circle.
export function shapePath(c) {
  return UNIT[SHAPES[c]];
}
