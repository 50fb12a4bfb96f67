// The arithmetic of a step in words and numbers.

import { classOf } from "./problem.js";
import { rowWeightsAt, weightsAt } from "./keep.js";
import { scoresOf } from "./space.js";
import { target } from "./rule.js";

// A number for reading: at most three decimals (more if it is small), and a true minus.
export function show(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "?";
  const size = Math.abs(value);
  let text = String(Math.round(value * 1000) / 1000);
  if (size !== 0 && size < 0.01) text = String(Number(value.toPrecision(2)));
  else if (size >= 1e6) {
    const power = Math.floor(Math.log10(size));
    const raised = [...String(power)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");
    text = `${Number((value / 10 ** power).toPrecision(4))}·10${raised}`;
  }
  return text.replace(/^-0$/, "0").replace(/-/g, "−");
}

export const plural = (count, noun) => `${show(count)} ${noun}${count === 1 ? "" : "s"}`;

const pair = (v) => `(${show(v[0])}, ${show(v[1])})`;

const signed = (v) => (v < 0 ? ` − ${show(-v)}` : ` + ${show(v)}`);

function linearSum(w, x, intercept) {
  const factor = (v) => (v < 0 ? `(${show(v)})` : show(v));
  const parts = `${show(w[0])}·${factor(x[0])}${w[1] < 0 ? " − " : " + "}${show(Math.abs(w[1]))}·${factor(x[1])}`;
  return intercept || w[2] !== 0 ? parts + signed(w[2]) : parts;
}

function kernelSum(A, row) {
  const terms = [];
  A.forEach((weight, i) => weight && terms.push([weight, i]));
  if (terms.length === 0) return "an empty sum";
  const shown = terms.slice(0, 4).map(([weight, i], j) => {
    const size = Math.abs(weight) === 1 ? "" : `${show(Math.abs(weight))}·`;
    const sign = weight < 0 ? (j ? " − " : "−") : j ? " + " : "";
    return `${sign}${size}K(x${i + 1}, x${row + 1})`;
  });
  return shown.join("") + (terms.length > 4 ? ` + … (${terms.length} terms)` : "");
}

function howFar(learner, margin, q, tau) {
  const loss = show(1 - margin);
  if (learner.rule === "PA") return `τ = loss/q = ${loss}/${show(q)} = ${show(tau)}`;
  if (learner.rule === "PA-I") return `τ = min(C, loss/q) = min(${show(learner.C)}, ${loss}/${show(q)}) = ${show(tau)}`;
  if (learner.rule === "PA-II") {
    return `τ = loss/(q + 1/(2C)) = ${loss}/(${show(q)} + ${show(1 / (2 * learner.C))}) = ${show(tau)}`;
  }
  return "";
}

function verdict(learner, classes, score, label, margin, mistake, tau) {
  const value = classes === 2 ? `y·a = ${show(margin)}` : `lead = ${show(margin)}`;
  if (learner.tie === "positive" && classes === 2 && score === 0) {
    return mistake ? "a = 0 is read as +1: a mistake" : "a = 0 is read as +1: right";
  }
  if (mistake) return `${value} ≤ 0: a mistake`;
  const goal = target(learner);
  if (tau)
    return learner.rule === "margin"
      ? `${value} ≤ β = ${show(goal)}: right, but too close`
      : `${value} < 1: right, but too close`;
  return goal > 0 ? `${value} is wide enough` : `${value} > 0: right`;
}

// The step that led to time t, as { head, sums, verdict, change }: texts, `sums` a list of them.
export function describe(trace, t) {
  const { problem, learner } = trace;
  if (t === 0 || trace.length === 0) {
    const count = problem.X.length;
    const start = learner.start ? `w = ${pair(learner.start)}, b = ${show(learner.start[2])}` : "all weights 0";
    return {
      head: `Before the first step: ${count} row${count === 1 ? "" : "s"}, ${start}.`,
      sums: [],
      verdict: "",
      change: count ? "Step, or play." : "Click in the plane to add points.",
    };
  }
  const s = Math.min(t, trace.length) - 1;
  const row = trace.rows[s];
  const x = problem.X[row];
  const label = problem.y[row];
  const [margin, tau, mistake] = [trace.margins[s], trace.taus[s], trace.mistakes[s]];
  const name = problem.names[classOf(problem, row)];
  const sign = label === 1 ? "+1" : "−1";
  const binary = problem.classes === 2;
  const known =
    name === sign.replace("−", "-") ? `y = ${sign}` : binary ? `class ${name}, so y = ${sign}` : `class ${name}`;
  const head = `Row ${row + 1}: x = ${pair(x)}, ${known}.`;
  const said = verdict(learner, problem.classes, trace.scores[s], label, margin, mistake, tau);
  const step = { head, sums: [], verdict: said, change: "" };
  const far = tau ? howFar(learner, margin, trace.qs[s], tau) : "";
  if (learner.kernel !== "linear") {
    const A = rowWeightsAt(trace, s, "last");
    if (binary) step.sums.push(`a = ${kernelSum(A[0], row)} = ${show(trace.scores[s])}`);
    else
      step.sums.push(
        `a(${name}) = ${show(trace.scores[s])}, best other: a(${problem.names[trace.wrongs[s]]}) = ${show(trace.scores[s] - margin)}`,
      );
    if (tau) step.change = `so row ${row + 1} joins the sum with ${binary && label < 0 ? "−" : "+"}${show(tau)}.`;
  } else {
    const before = weightsAt(trace, s, "last");
    const after = weightsAt(trace, s + 1, "last");
    if (binary) step.sums.push(`a = ${linearSum(before[0], x, learner.intercept)} = ${show(trace.scores[s])}`);
    else
      scoresOf(before, x).forEach((a, k) =>
        step.sums.push(`a(${problem.names[k]}) = ${linearSum(before[k], x, learner.intercept)} = ${show(a)}`),
      );
    if (tau && binary) {
      const by = label < 0 ? "−" : "+";
      step.change = `so w becomes ${pair(before[0])} ${by} ${show(tau)}·${pair(x)} = ${pair(after[0])}`;
      if (learner.intercept)
        step.change += `, and b becomes ${show(before[0][2])} ${by} ${show(tau)} = ${show(after[0][2])}`;
      step.change += ".";
    } else if (tau) {
      const rival = trace.wrongs[s];
      step.change = `so w(${name}) gains ${show(tau)}·x = ${pair(after[label])}, and w(${problem.names[rival]}) loses it = ${pair(after[rival])}.`;
    }
  }
  if (far) step.sums.push(far);
  if (!tau) step.change = mistake ? "but a row of zeros cannot move the weights." : "so nothing changes.";
  return step;
}
