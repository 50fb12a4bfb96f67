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
export const SCENES = 8;
export const MOST_EPOCHS = 1000;
export const SPEEDS = [1, 2, 5, 10, 30, 100, 300];

const WORDS = { rule: RULES, keep: KEEPS, kernel: KERNELS, tie: ["mistake", "positive"] };
export const NUMBERS = {
  eta0: [0.01, 10],
  beta: [0, 10],
  C: [0.001, 1000],
  degree: [1, 8],
  coef0: [0, 10],
  gamma: [0.01, 20],
};

export function presetState(name, options = {}) {
  const all = { ...PRESETS[name].options, ...options };
  return { data: { preset: name, options: all }, axes: null, ...makePreset(name, all) };
}

export function startState() {
  return {
    ...presetState("blobs"),
    learners: [{ ...PLAIN }],
    active: 0,
    step: 0,
    epochs: 100,
    speed: 5,
    scene: 0,
    whole: true,
    proof: false,
    axes: null,
  };
}

const enc = encodeURIComponent;

function writeLearner(learner) {
  const parts = [learner.rule];
  for (const key of ["keep", "kernel", "tie", "eta0", "beta", "C", "degree", "coef0", "gamma"]) {
    if (learner[key] !== PLAIN[key]) parts.push(`${key}:${learner[key]}`);
  }
  if (!learner.intercept) parts.push("intercept:no");
  if (learner.start) parts.push(`start:${learner.start.join("_")}`);
  return parts.join(",");
}

export function writeLink(state) {
  const parts = [];
  if (state.data) {
    parts.push(`data=${state.data.preset}`);
    for (const [key, value] of Object.entries(state.data.options)) parts.push(`${key}=${value}`);
  } else {
    parts.push(`classes=${state.names.map(enc).join(",")}`);
    if (state.axes) parts.push(`axes=${state.axes.map(enc).join(",")}`);
    parts.push(`points=${state.points.map((p) => `${p.x},${p.y},${p.c}`).join(";")}`);
  }
  for (const learner of state.learners) parts.push(`learner=${writeLearner(learner)}`);
  if (state.active) parts.push(`active=${state.active + 1}`);
  parts.push(`epochs=${state.epochs}`, `step=${state.step}`, `speed=${state.speed}`);
  if (!state.whole) parts.push("axis=run");
  if (state.proof) parts.push("proof=yes");
  if (state.scene) parts.push(`scene=${state.scene}`);
  return `#${parts.join("&")}`;
}

function numberOf(key, text, least, most) {
  const value = Number(text);
  if (text === "" || !Number.isFinite(value) || value < least || value > most) {
    throw new Error(`"${key}" must be a number from ${least} to ${most}, not "${text}".`);
  }
  return value;
}

const wholeOf = (key, text, least, most) => {
  const value = numberOf(key, text, least, most);
  if (!Number.isInteger(value)) throw new Error(`"${key}" must be a whole number, not "${text}".`);
  return value;
};

function wordOf(key, text, words) {
  if (!words.includes(text)) throw new Error(`"${key}" must be one of ${words.join(", ")}, not "${text}".`);
  return text;
}

function readLearner(text) {
  const [rule, ...rest] = text.split(",");
  const learner = { ...PLAIN, rule: wordOf("learner", rule, RULES) };
  for (const part of rest) {
    const cut = part.indexOf(":");
    const [key, value] = cut < 0 ? [part, ""] : [part.slice(0, cut), part.slice(cut + 1)];
    if (key in WORDS) learner[key] = wordOf(key, value, WORDS[key]);
    else if (key === "degree") learner.degree = wholeOf(key, value, ...NUMBERS.degree);
    else if (key in NUMBERS) learner[key] = numberOf(key, value, ...NUMBERS[key]);
    else if (key === "intercept") learner.intercept = wordOf(key, value, ["yes", "no"]) === "yes";
    else if (key === "start") {
      learner.start = value.split("_").map((v) => numberOf("start", v, -1e6, 1e6));
      if (learner.start.length !== 3) throw new Error(`"start" must be three numbers, not "${value}".`);
    } else throw new Error(`a learner has no option "${key}".`);
  }
  return learner;
}

function readPoints(text, names) {
  const points =
    text === ""
      ? []
      : text.split(";").map((part, i) => {
          const values = part.split(",");
          if (values.length !== 3) throw new Error(`point ${i + 1}, "${part}", must be two numbers and a class.`);
          return {
            x: numberOf(`x of point ${i + 1}`, values[0], -1e9, 1e9),
            y: numberOf(`y of point ${i + 1}`, values[1], -1e9, 1e9),
            c: wholeOf(`class of point ${i + 1}`, values[2], 0, names.length - 1),
          };
        });
  if (points.length > MOST_POINTS) throw new Error(`it has ${points.length} points, and ${MOST_POINTS} is the most.`);
  return points;
}

// The state a link holds; an Error of one sentence if it is broken. An empty link is null.
export function readLink(hash) {
  const text = hash.replace(/^#/, "");
  if (text === "") return null;
  const given = { learner: [] };
  for (const part of text.split("&")) {
    const cut = part.indexOf("=");
    if (cut < 1) throw new Error(`"${part.slice(0, 40)}" is not name=value.`);
    const [key, value] = [part.slice(0, cut), part.slice(cut + 1)];
    if (key === "learner") given.learner.push(value);
    else given[key] = value;
  }
  const known = [
    "data",
    "n",
    "margin",
    "noise",
    "seed",
    "classes",
    "axes",
    "points",
    "learner",
    "active",
    "epochs",
    "step",
    "speed",
    "axis",
    "proof",
    "scene",
  ];
  const stranger = Object.keys(given).find((key) => !known.includes(key));
  if (stranger) throw new Error(`"${stranger}" is not known.`);
  const state = startState();
  if (given.points !== undefined) {
    const names = (given.classes ?? "-1,+1").split(",").map((part) => decode(part));
    if (names.length < 2 || names.length > MOST_CLASSES)
      throw new Error(`"classes" must be two to ${MOST_CLASSES} names.`);
    const axes = given.axes === undefined ? null : given.axes.split(",").map((part) => decode(part));
    if (axes && axes.length !== 2) throw new Error(`"axes" must be two names.`);
    Object.assign(state, { data: null, names, axes, points: readPoints(given.points, names) });
  } else if (given.data !== undefined) {
    const preset = wordOf("data", given.data, Object.keys(PRESETS));
    const options = {};
    for (const key of Object.keys(PRESETS[preset].options)) {
      if (given[key] === undefined) continue;
      const [least, most] = LIMITS[key];
      options[key] = (key === "n" || key === "seed" ? wholeOf : numberOf)(key, given[key], least, most);
    }
    Object.assign(state, presetState(preset, options));
  }
  if (given.learner.length > MOST_LEARNERS)
    throw new Error(`it has ${given.learner.length} learners, and ${MOST_LEARNERS} is the most.`);
  if (given.learner.length) state.learners = given.learner.map(readLearner);
  if (given.active !== undefined) state.active = wholeOf("active", given.active, 1, state.learners.length) - 1;
  if (given.epochs !== undefined) state.epochs = wholeOf("epochs", given.epochs, 1, MOST_EPOCHS);
  if (given.step !== undefined) state.step = wholeOf("step", given.step, 0, 1e9);
  if (given.speed !== undefined) state.speed = Number(wordOf("speed", given.speed, SPEEDS.map(String)));
  if (given.scene !== undefined) state.scene = wholeOf("scene", given.scene, 1, SCENES);
  if (given.axis !== undefined) state.whole = wordOf("axis", given.axis, ["run", "bound"]) === "bound";
  if (given.proof !== undefined) state.proof = wordOf("proof", given.proof, ["yes", "no"]) === "yes";
  return state;
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(`"${text}" is not written as an address.`);
  }
}
