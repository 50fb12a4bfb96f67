// The toy sets. Points are rounded to a thousandth, so a preset is the same on every machine and short in a link.

import { makeRandom } from "./random.js";

const round = (v) => Math.round(v * 1000) / 1000;
const point = (x, y, c) => ({ x: round(x), y: round(y), c });
const TWO = ["-1", "+1"];

function gate(table) {
  return () => ({ points: table.map(([x, y, c]) => point(x, y, c)), names: ["0", "1"] });
}

// Two round clouds whose nearest points stand exactly `margin` apart from the line between them.
function blobs({ n, margin, seed }) {
  const { uniform, normal, shuffled } = makeRandom(seed);
  const angle = (uniform() - 0.5) * 1.6;
  const [ux, uy] = [Math.cos(angle), Math.sin(angle)];
  const rows = [];
  for (let i = 0; i < n; i++) {
    const side = i % 2 === 0 ? 1 : -1;
    const across = margin + Math.abs(normal()) * 0.8;
    const along = normal() * 1.2;
    rows.push(point(side * across * ux - along * uy, side * across * uy + along * ux, side === 1 ? 1 : 0));
  }
  return { points: shuffled(rows), names: TWO };
}

function moons({ n, noise, seed }) {
  const { uniform, normal, shuffled } = makeRandom(seed);
  const rows = [];
  for (let i = 0; i < n; i++) {
    const angle = Math.PI * uniform();
    const upper = i % 2 === 0;
    const x = upper ? Math.cos(angle) : 1 - Math.cos(angle);
    const y = upper ? Math.sin(angle) : 0.5 - Math.sin(angle);
    rows.push(point((x - 0.5) * 1.8 + normal() * noise, (y - 0.25) * 1.8 + normal() * noise, upper ? 0 : 1));
  }
  return { points: shuffled(rows), names: TWO };
}

function circles({ n, noise, seed }) {
  const { uniform, normal, shuffled } = makeRandom(seed);
  const rows = [];
  for (let i = 0; i < n; i++) {
    const angle = 2 * Math.PI * uniform();
    const inner = i % 2 === 0;
    const radius = (inner ? 0.8 : 2) + normal() * noise;
    rows.push(point(radius * Math.cos(angle), radius * Math.sin(angle), inner ? 1 : 0));
  }
  return { points: shuffled(rows), names: TWO };
}

function three({ n, margin, seed }) {
  const { normal, shuffled } = makeRandom(seed);
  const rows = [];
  for (let i = 0; i < n; i++) {
    const c = i % 3;
    const angle = Math.PI / 2 + (2 * Math.PI * c) / 3;
    const away = 1 + margin;
    rows.push(point(away * Math.cos(angle) + normal() * 0.45, away * Math.sin(angle) + normal() * 0.45, c));
  }
  return { points: shuffled(rows), names: ["A", "B", "C"] };
}

// Two clouds that overlap: no line is right about all of them.
function noise({ n, noise, seed }) {
  const { normal, shuffled } = makeRandom(seed);
  const rows = [];
  for (let i = 0; i < n; i++) {
    const side = i % 2 === 0 ? 1 : -1;
    const spread = 0.45 + noise * 2;
    rows.push(point(side * 0.9 + normal() * spread, side * 0.6 + normal() * spread, side === 1 ? 1 : 0));
  }
  return { points: shuffled(rows), names: TWO };
}

// A stream: the row number is the time, and the line that labels the points turns by half a circle.
function drift({ n, seed }) {
  const { uniform } = makeRandom(seed);
  const rows = [];
  while (rows.length < n) {
    const angle = (Math.PI * rows.length) / n;
    const [x, y] = [(uniform() - 0.5) * 4.4, (uniform() - 0.5) * 4.4];
    const a = x * Math.cos(angle) + y * Math.sin(angle);
    if (Math.abs(a) > 0.25) rows.push(point(x, y, a > 0 ? 1 : 0));
  }
  return { points: rows, names: TWO };
}

// Every preset: its name, the sliders it has with their defaults, and how to make its points.
export const PRESETS = {
  and: {
    title: "AND",
    options: {},
    make: gate([
      [0, 0, 0],
      [0, 1, 0],
      [1, 0, 0],
      [1, 1, 1],
    ]),
  },
  or: {
    title: "OR",
    options: {},
    make: gate([
      [0, 0, 0],
      [0, 1, 1],
      [1, 0, 1],
      [1, 1, 1],
    ]),
  },
  xor: {
    title: "XOR",
    options: {},
    make: gate([
      [0, 0, 0],
      [0, 1, 1],
      [1, 0, 1],
      [1, 1, 0],
    ]),
  },
  blobs: { title: "Blobs", options: { n: 30, margin: 0.3, seed: 38 }, make: blobs },
  moons: { title: "Moons", options: { n: 80, noise: 0.1, seed: 1 }, make: moons },
  circles: { title: "Circles", options: { n: 80, noise: 0.12, seed: 1 }, make: circles },
  three: { title: "Three classes", options: { n: 60, margin: 0.6, seed: 1 }, make: three },
  noise: { title: "Noise", options: { n: 80, noise: 0.2, seed: 1 }, make: noise },
  drift: { title: "Drift", options: { n: 200, seed: 1 }, make: drift },
};

// The limits of the sliders: [least, most, step].
export const LIMITS = { n: [4, 500, 2], margin: [0.02, 1.5, 0.02], noise: [0, 0.5, 0.01], seed: [1, 99, 1] };

export function makePreset(name, options = {}) {
  const preset = PRESETS[name];
  return preset.make({ ...preset.options, ...options });
}
