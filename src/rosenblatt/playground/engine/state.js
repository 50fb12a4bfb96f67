// What the page shows, as one plain object, and the link that holds all of it.
//   data      { preset, options } where the points are a preset's, else null
//   points    { x, y, c } in the order in which they are learned; names: the labels of the classes
//   learners  one to four; active: the one that is explained; step, epochs, speed, scene (0: no tour),
//             whole (draw the proof up to the bound), proof (draw the certificate), axes (names of the columns, or null)

import { PLAIN } from "./learn.js";
import { KEEPS } from "./keep.js";
import { KERNELS } from "./kernel.js";
import { LIMITS, makePreset, PRESETS } from "./presets.js";
import { RULES } from "./rule.js";
import { MOST_CLASSES, MOST_POINTS } from "./table.js";

export const MOST_LEARNERS = 4;
export const MOST_EPOCHS = 1000;
export const SPEEDS = [1, 2, 5, 10, 30, 100, 300];
const SCENES = 8;

const WORDS = { keep: KEEPS, kernel: KERNELS, tie: ["mistake", "positive"] };
export const NUMBERS = {
  eta0: [0.01, 10],
  beta: [0, 10],
  C: [0.001, 1000],
  degree: [1, 8],
  coef0: [0, 10],
  gamma: [0.01, 20],
};

export function presetState(preset, given = {}) {
  const options = { ...PRESETS[preset].options, ...given };
  return { data: { preset, options }, axes: null, ...makePreset(preset, options) };
}

export function startState() {
  const plain = { active: 0, step: 0, epochs: 100, speed: 5, scene: 0, whole: true, proof: false };
  return { ...presetState("blobs"), learners: [{ ...PLAIN }], ...plain };
}

const names = (list) => list.map(encodeURIComponent).join(",");

function writeLearner(learner) {
  const parts = [learner.rule];
  for (const key of Object.keys({ ...WORDS, ...NUMBERS }))
    if (learner[key] !== PLAIN[key]) parts.push(`${key}:${learner[key]}`);
  if (!learner.intercept) parts.push("intercept:no");
  if (learner.start) parts.push(`start:${learner.start.join("_")}`);
  return parts.join(",");
}

export function writeLink(state) {
  const { data, axes, points, epochs, step, speed } = state;
  const parts = [];
  const put = (key, value) => parts.push(`${key}=${value}`);
  if (data) {
    put("data", data.preset);
    for (const [key, value] of Object.entries(data.options)) put(key, value);
  } else {
    put("classes", names(state.names));
    if (axes) put("axes", names(axes));
    put("points", points.map((p) => `${p.x},${p.y},${p.c}`).join(";"));
  }
  for (const learner of state.learners) put("learner", writeLearner(learner));
  if (state.active) put("active", state.active + 1);
  for (const [key, value] of Object.entries({ epochs, step, speed })) put(key, value);
  if (!state.whole) put("axis", "run");
  if (state.proof) put("proof", "yes");
  if (state.scene) put("scene", state.scene);
  return `#${parts.join("&")}`;
}

function numberOf(key, text, [least, most]) {
  const value = Number(text);
  if (text === "" || !(value >= least && value <= most))
    throw new Error(`"${key}" must be a number from ${least} to ${most}, not "${text}".`);
  return value;
}

function wholeOf(key, text, limits) {
  const value = numberOf(key, text, limits);
  if (!Number.isInteger(value)) throw new Error(`"${key}" must be a whole number, not "${text}".`);
  return value;
}

function wordOf(key, text, words) {
  if (!words.includes(text)) throw new Error(`"${key}" must be one of ${words.join(", ")}, not "${text}".`);
  return text;
}

function namesOf(key, text, least, most, said) {
  const list = text.split(",").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      throw new Error(`"${part}" is not written as an address.`);
    }
  });
  if (list.length < least || list.length > most) throw new Error(`"${key}" must be ${said} names.`);
  return list;
}

// The two sides of the first mark in a text.
function cut(text, mark) {
  const [key, ...rest] = text.split(mark);
  return [key, rest.join(mark)];
}

function readLearner(text) {
  const [rule, ...rest] = text.split(",");
  const learner = { ...PLAIN, rule: wordOf("learner", rule, RULES) };
  for (const [key, value] of rest.map((part) => cut(part, ":"))) {
    if (key in WORDS) learner[key] = wordOf(key, value, WORDS[key]);
    else if (key in NUMBERS) learner[key] = (key === "degree" ? wholeOf : numberOf)(key, value, NUMBERS[key]);
    else if (key === "intercept") learner.intercept = wordOf(key, value, ["yes", "no"]) === "yes";
    else if (key === "start") {
      learner.start = value.split("_").map((v) => numberOf("start", v, [-1e6, 1e6]));
      if (learner.start.length !== 3) throw new Error(`"start" must be three numbers, not "${value}".`);
    } else throw new Error(`a learner has no option "${key}".`);
  }
  return learner;
}

function readPoints(text, classes) {
  const parts = text === "" ? [] : text.split(";");
  if (parts.length > MOST_POINTS) throw new Error(`it has ${parts.length} points, and ${MOST_POINTS} is the most.`);
  return parts.map((part, i) => {
    const [x, y, c, ...more] = part.split(",");
    if (c === undefined || more.length) throw new Error(`point ${i + 1}, "${part}", must be two numbers and a class.`);
    return {
      x: numberOf(`x of point ${i + 1}`, x, [-1e9, 1e9]),
      y: numberOf(`y of point ${i + 1}`, y, [-1e9, 1e9]),
      c: wholeOf(`class of point ${i + 1}`, c, [0, classes - 1]),
    };
  });
}

function readData(given) {
  if (given.points !== undefined) {
    const classes = namesOf("classes", given.classes ?? "-1,+1", 2, MOST_CLASSES, `two to ${MOST_CLASSES}`);
    const axes = given.axes === undefined ? null : namesOf("axes", given.axes, 2, 2, "two");
    return { data: null, names: classes, axes, points: readPoints(given.points, classes.length) };
  }
  if (given.data === undefined) return {};
  const preset = wordOf("data", given.data, Object.keys(PRESETS));
  const options = Object.keys(PRESETS[preset].options).filter((key) => given[key] !== undefined);
  const read = (key) => (key === "n" || key === "seed" ? wholeOf : numberOf)(key, given[key], LIMITS[key]);
  return presetState(preset, Object.fromEntries(options.map((key) => [key, read(key)])));
}

// How each other part of a link changes the state.
const READERS = {
  active: (text, state) => ({ active: wholeOf("active", text, [1, state.learners.length]) - 1 }),
  epochs: (text) => ({ epochs: wholeOf("epochs", text, [1, MOST_EPOCHS]) }),
  step: (text) => ({ step: wholeOf("step", text, [0, 1e9]) }),
  speed: (text) => ({ speed: Number(wordOf("speed", text, SPEEDS.map(String))) }),
  scene: (text) => ({ scene: wholeOf("scene", text, [1, SCENES]) }),
  axis: (text) => ({ whole: wordOf("axis", text, ["run", "bound"]) === "bound" }),
  proof: (text) => ({ proof: wordOf("proof", text, ["yes", "no"]) === "yes" }),
};
const KNOWN = ["data", "classes", "axes", "points", ...Object.keys(LIMITS), ...Object.keys(READERS)];

// The state a link holds, null for an empty one; an Error of one sentence if it is broken.
export function readLink(hash) {
  const text = hash.replace(/^#/, "");
  if (text === "") return null;
  const given = {};
  const learners = [];
  for (const part of text.split("&")) {
    if (!/^[^=]+=/.test(part)) throw new Error(`"${part.slice(0, 40)}" is not name=value.`);
    const [key, value] = cut(part, "=");
    if (key === "learner") learners.push(readLearner(value));
    else if (KNOWN.includes(key)) given[key] = value;
    else throw new Error(`"${key}" is not known.`);
  }
  if (learners.length > MOST_LEARNERS)
    throw new Error(`it has ${learners.length} learners, and ${MOST_LEARNERS} is the most.`);
  const state = { ...startState(), ...readData(given) };
  if (learners.length) state.learners = learners;
  for (const [key, read] of Object.entries(READERS))
    if (given[key] !== undefined) Object.assign(state, read(given[key], state));
  return state;
}
