// Tables of text: reading the user's CSV, writing the trace. Errors are one sentence that names the row and column.

import { classOf } from "./problem.js";
import { weightsAt } from "./keep.js";

export const MOST_POINTS = 500;
export const MOST_CLASSES = 6;

const isNumber = (text) => text.trim() !== "" && Number.isFinite(Number(text));

function cells(text, mark) {
  const rows = [];
  let row = [];
  let cell = "";
  let quoted = false;
  let line = 1;
  let start = 1;
  const endRow = () => {
    row.push(cell);
    if (row.length > 1 || row[0].trim() !== "") rows.push({ line: start, cells: row.map((c) => c.trim()) });
    row = [];
    cell = "";
    start = line;
  };
  for (let i = 0; i < text.length; i++) {
    const ch = text[i];
    if (ch === "\n") line += 1;
    if (quoted) {
      if (ch === '"' && text[i + 1] === '"') cell += text[++i];
      else if (ch === '"') quoted = false;
      else cell += ch;
    } else if (ch === '"') quoted = true;
    else if (ch === mark) {
      row.push(cell);
      cell = "";
    } else if (ch === "\n") endRow();
    else if (ch !== "\r") cell += ch;
  }
  endRow();
  return rows;
}

// { header, rows }: the header's names (made up where the file has none) and rows of { line, cells }.
export function readTable(text) {
  const first =
    text
      .replace(/^\ufeff/, "")
      .split("\n")
      .find((l) => l.trim() !== "") ?? "";
  const mark = [",", ";", "\t"].sort((a, b) => first.split(b).length - first.split(a).length)[0];
  const rows = cells(text.replace(/^\ufeff/, ""), mark);
  if (rows.length === 0) throw new Error("The file has no rows.");
  const width = rows[0].cells.length;
  if (width < 3)
    throw new Error(
      `Line ${rows[0].line} has ${width} column${width === 1 ? "" : "s"}: two numbers and a label are needed.`,
    );
  const odd = rows.find((r) => r.cells.length !== width);
  if (odd) throw new Error(`Line ${odd.line} has ${odd.cells.length} columns, but line ${rows[0].line} has ${width}.`);
  const second = rows[1]?.cells ?? rows[0].cells;
  const titled = rows.length > 1 && rows[0].cells.every((c) => !isNumber(c)) && second.some(isNumber);
  const header = titled
    ? rows[0].cells.map((c, j) => c || `column ${j + 1}`)
    : rows[0].cells.map((_, j) => `column ${j + 1}`);
  return { header, rows: titled ? rows.slice(1) : rows };
}

// The columns to begin with: the first two of numbers, and the last other one, or the last of all, as the label.
export function guessColumns({ header, rows }) {
  const numeric = header.map((_, j) => rows.every((r) => isNumber(r.cells[j])));
  const words = header.map((_, j) => j).filter((j) => !numeric[j]);
  const label = words.length ? words[words.length - 1] : header.length - 1;
  const numbers = header.map((_, j) => j).filter((j) => numeric[j] && j !== label);
  const [x = label === 0 ? 1 : 0, y = header.map((_, j) => j).find((j) => j !== label && j !== x)] = numbers;
  return { x, y, label };
}

// Labels in their order: as numbers where all are numbers, else as text.
function sortLabels(labels) {
  const all = [...new Set(labels)];
  return all.every(isNumber) ? all.sort((a, b) => a - b) : all.sort();
}

// Values with mean 0 and variance 1, to four decimals; a column of one value becomes 0.
function standardised(values) {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const spread = Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / values.length) || 1;
  return values.map((v) => Number(((v - mean) / spread).toFixed(4)) || 0);
}

// { points, names, left }: at most MOST_POINTS of the rows, evenly taken; `left` were not shown.
export function takeColumns({ header, rows }, { x, y, label }, scaled = false) {
  if (x === y || x === label || y === label)
    throw new Error("Choose three different columns: two of numbers and the label.");
  const shown =
    rows.length <= MOST_POINTS
      ? rows
      : Array.from({ length: MOST_POINTS }, (_, i) => rows[Math.floor((i * rows.length) / MOST_POINTS)]);
  for (const { line, cells: values } of rows) {
    for (const j of [x, y]) {
      if (!isNumber(values[j])) throw new Error(`Line ${line}, column "${header[j]}": "${values[j]}" is not a number.`);
    }
    if (values[label] === "") throw new Error(`Line ${line}, column "${header[label]}": the label is missing.`);
  }
  const names = sortLabels(rows.map((r) => r.cells[label]));
  if (names.length < 2)
    throw new Error(`Column "${header[label]}" has one label only, "${names[0]}": two to ${MOST_CLASSES} are needed.`);
  if (names.length > MOST_CLASSES) {
    throw new Error(`Column "${header[label]}" has ${names.length} labels: two to ${MOST_CLASSES} can be shown.`);
  }
  const column = (j) => {
    const values = shown.map((r) => Number(r.cells[j]));
    return scaled ? standardised(values) : values;
  };
  const [across, up] = [column(x), column(y)];
  const points = shown.map((r, i) => ({ x: across[i], y: up[i], c: names.indexOf(r.cells[label]) }));
  return { points, names, left: rows.length - shown.length };
}

const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

// The trace as CSV, every step a line, floats in full.
export function writeTrace(trace) {
  const { problem, learner } = trace;
  const linear = learner.kernel === "linear";
  const rows = problem.classes === 2 ? 1 : problem.classes;
  const parts = linear
    ? Array.from({ length: rows }, (_, k) =>
        ["w1", "w2", "b"].map((w) => (rows === 1 ? w : `${w}_${problem.names[k]}`)),
      ).flat()
    : [];
  const head = ["step", "epoch", "row", "x1", "x2", "label", "score", "margin", "mistake", "tau", "wrong", ...parts];
  const lines = [head.map(quote).join(",")];
  for (let s = 0; s < trace.length; s++) {
    const i = trace.rows[s];
    const wrong = trace.wrongs[s] < 0 ? "" : problem.names[trace.wrongs[s]];
    const weights = linear ? weightsAt(trace, s + 1, "last").flat() : [];
    const values = [
      s + 1,
      trace.epochs[s],
      i + 1,
      ...problem.X[i],
      problem.names[classOf(problem, i)],
      trace.scores[s],
      trace.margins[s],
      trace.mistakes[s] ? 1 : 0,
      trace.taus[s],
      wrong,
      ...weights,
    ];
    lines.push(values.map((v) => quote(String(v))).join(","));
  }
  return lines.join("\n") + "\n";
}
