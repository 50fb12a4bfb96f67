// The whole family as one procedure: a rule, a space, and every keep at once. It records a trace of all steps, so
// that any moment of the run can be shown. It equals textbook.learn step by step, float by float in the linear space.

import { isMistake, tau as tauOf } from "./rule.js";
import { Dual, Linear, marginOf } from "./space.js";
import { highestWrong } from "./vector.js";

export const MOST_STEPS = 40000;

export const PLAIN = {
  rule: "perceptron",
  eta0: 1,
  beta: 1,
  C: 1,
  tie: "mistake",
  intercept: true,
  keep: "last",
  kernel: "linear",
  degree: 2,
  coef0: 1,
  gamma: 1,
  start: null,
};

// Learn until an epoch ends with separating weights, or `epochs` have passed. Step t of the trace is entry t - 1 of
// its lists; step 0 is the start. `pockets[t-1]` names the pocket's weights by the update that made them.
export function learn(problem, learner, epochs) {
  const space = learner.kernel === "linear" ? new Linear(problem, learner) : new Dual(problem, learner);
  const n = problem.X.length;
  const trace = {
    problem,
    learner,
    space,
    length: 0,
    converged: false,
    stop: "max_iter",
    rows: [],
    epochs: [],
    scores: [],
    margins: [],
    mistakes: [],
    taus: [],
    wrongs: [],
    qs: [],
    mistakeCounts: [],
    updateCounts: [],
    pockets: [],
    pocketMistakes: [],
    updateSteps: [],
    epochMistakes: [],
  };
  let mistakeCount = 0;
  let updates = 0;
  let runLength = 0;
  let checked = true;
  let pocket = 0;
  let pocketMistakes = n ? space.wrongRows() : 0;
  trace.startMistakes = pocketMistakes;
  let pocketRun = -1;
  let pocketIsCurrent = true;
  const passes = n ? Math.min(epochs, Math.max(1, Math.floor(MOST_STEPS / n))) : 0;
  for (let epoch = 1; epoch <= passes && !trace.converged; epoch++) {
    let wrongNow = 0;
    const updatesBefore = updates;
    for (let i = 0; i < n; i++) {
      const label = problem.y[i];
      const scores = space.scores(i);
      const joint = scores.length > 1;
      const margin = marginOf(scores, label);
      const mistake = isMistake(margin, scores[0], label, problem.classes, learner.tie);
      const wrong = joint ? highestWrong(scores, label) : -1;
      const q = joint ? 2 * space.q(i) : space.q(i);
      const tau = tauOf(learner, margin, q, mistake);
      trace.length += 1;
      if (tau) {
        space.step(i, label, wrong, tau);
        updates += 1;
        trace.updateSteps.push(trace.length);
        runLength = 0;
        checked = false;
        pocketIsCurrent = false;
      } else runLength = mistake ? 0 : runLength + 1;
      space.tally();
      wrongNow += mistake;
      mistakeCount += mistake;
      if (runLength > pocketRun && !checked) {
        checked = true;
        const challenge = space.wrongRows();
        if (challenge < pocketMistakes) {
          pocket = updates;
          pocketMistakes = challenge;
          pocketIsCurrent = true;
        }
        pocketRun = Math.max(pocketRun, 0);
      }
      if (pocketIsCurrent) pocketRun = Math.max(pocketRun, runLength);
      trace.rows.push(i);
      trace.epochs.push(epoch);
      trace.scores.push(joint ? scores[label] : scores[0]);
      trace.margins.push(margin);
      trace.mistakes.push(mistake);
      trace.taus.push(tau);
      trace.wrongs.push(wrong);
      trace.qs.push(q);
      trace.mistakeCounts.push(mistakeCount);
      trace.updateCounts.push(updates);
      trace.pockets.push(pocket);
      trace.pocketMistakes.push(pocketMistakes);
    }
    trace.epochMistakes.push(wrongNow);
    if (wrongNow === 0 && (updates === updatesBefore || space.wrongRows() === 0)) {
      trace.converged = true;
      trace.stop = "converged";
      trace.pockets[trace.length - 1] = updates;
      trace.pocketMistakes[trace.length - 1] = 0;
    }
  }
  return trace;
}

export function updatesAt(trace, t) {
  return t > 0 ? trace.updateCounts[Math.min(t, trace.length) - 1] : 0;
}

export function mistakesAt(trace, t) {
  return t > 0 ? trace.mistakeCounts[Math.min(t, trace.length) - 1] : 0;
}

// The next step after t at which a mistake was made, else the end.
export function nextMistake(trace, t) {
  for (let s = t + 1; s <= trace.length; s++) if (trace.mistakes[s - 1]) return s;
  return trace.length;
}
