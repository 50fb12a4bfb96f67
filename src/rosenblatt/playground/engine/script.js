// The Python lines that reproduce a run with the rosenblatt package.

import { mistakesAt } from "./learn.js";
import { weightsAt } from "./keep.js";

const KEEP_CLASS = {
  last: "Perceptron",
  average: "AveragedPerceptron",
  vote: "VotedPerceptron",
  pocket: "PocketPerceptron",
};

const literal = (name) => (/^[+-]?\d+(\.\d+)?$/.test(name) ? String(Number(name)) : JSON.stringify(name));

function wrapped(name, items) {
  const lines = [];
  let line = "   ";
  for (const item of items) {
    if (line.length + item.length > 110) {
      lines.push(line);
      line = "   ";
    }
    line += ` ${item},`;
  }
  return `${name} = np.array([\n${[...lines, line].join("\n")}\n])`;
}

function options(learner, epochs, binary) {
  const given = [];
  const { rule, kernel, keep } = learner;
  if (kernel !== "linear") {
    given.push(`kernel="${kernel}"`, `gamma=${learner.gamma}`);
    if (kernel === "poly") given.push(`degree=${learner.degree}`, `coef0=${learner.coef0}`);
    if (keep !== "last") given.push(`keep="${keep}"`);
  } else {
    if (rule.startsWith("PA")) {
      given.push(`variant="${rule}"`);
      if (rule !== "PA") given.push(`C=${learner.C}`);
      if (keep !== "last") given.push(`keep="${keep}"`);
    } else {
      if (rule === "margin") given.push(`beta=${learner.beta}`);
      if (learner.eta0 !== 1) given.push(`eta0=${learner.eta0}`);
    }
    if (binary && learner.tie !== "mistake") given.push(`tie="${learner.tie}"`);
    if (!learner.intercept) given.push("fit_intercept=False");
    if (binary && learner.start)
      given.push(`init=([[${learner.start[0]}, ${learner.start[1]}]], [${learner.start[2]}])`);
  }
  return [...given, `max_iter=${epochs}`, "tol=None", "shuffle=False"].join(", ");
}

function className(learner) {
  if (learner.kernel !== "linear") return "KernelPerceptron";
  if (learner.rule.startsWith("PA")) return "PassiveAggressive";
  return KEEP_CLASS[learner.keep];
}

// What the playground found, as comments to compare with.
function found(trace) {
  const end = trace.length;
  const lines = [`# here: ${mistakesAt(trace, end)} mistakes, ${trace.converged ? "converged" : "not converged"}`];
  if (trace.learner.kernel === "linear" && trace.learner.keep !== "vote") {
    weightsAt(trace, end, trace.learner.keep).forEach((w) => lines.push(`# here: w = [${w[0]}, ${w[1]}], b = ${w[2]}`));
  }
  return lines;
}

export function writeScript(traces) {
  const { problem } = traces[0];
  const names = [...new Set(traces.map((t) => className(t.learner)))].sort();
  const binary = problem.classes === 2;
  const labels = problem.y.map((label) => literal(problem.names[binary ? (label === 1 ? 1 : 0) : label]));
  const parts = [
    "import numpy as np",
    `from rosenblatt import ${names.join(", ")}`,
    "",
    wrapped(
      "X",
      problem.X.map(([x, y]) => `[${x}, ${y}]`),
    ),
    wrapped("y", labels),
  ];
  traces.forEach((trace, j) => {
    const name = traces.length === 1 ? "model" : `model_${j + 1}`;
    const linear = trace.learner.kernel === "linear" && trace.learner.keep !== "vote";
    const epochs = trace.converged ? trace.epochMistakes.length : Math.max(1, trace.epochMistakes.length);
    parts.push("", `${name} = ${className(trace.learner)}(${options(trace.learner, epochs, binary)}).fit(X, y)`);
    parts.push(`print(${linear ? `${name}.coef_, ${name}.intercept_, ` : ""}${name}.mistakes_, ${name}.converged_)`);
    parts.push(...found(trace));
  });
  return parts.join("\n") + "\n";
}
