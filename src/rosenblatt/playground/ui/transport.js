// Step, play, speed, to the next mistake, to convergence.

import { mistakesAt, nextMistake } from "../engine/learn.js";
import { describe } from "../engine/sentence.js";
import { SPEEDS } from "../engine/state.js";
import { announce, find, html, set } from "./node.js";
import { Timeline } from "./timeline.js";

export class Transport {
  constructor(store) {
    this.store = store;
    const { speed, play } = { speed: find("speed"), play: find("play") };
    Object.assign(this, { speed, play, timeline: new Timeline(store, () => this.pause()) });
    speed.append(...SPEEDS.map((v) => html("option", { value: v }, `${v}/s`)));
    speed.onchange = () => store.set({ speed: Number(speed.value) });
    play.onclick = () => this.toggle();
    find("first").onclick = () => this.go(0);
    find("back").onclick = () => this.go(store.state.step - 1);
    find("step").onclick = () => this.go(store.state.step + 1);
    find("mistake").onclick = () => this.toMistake();
    find("end").onclick = () => this.toEnd();
    this.draw();
  }

  draw() {
    const [name, icon] = this.store.playing ? ["Pause", "M7 5h4v14H7zM14 5h4v14h-4z"] : ["Play", "M7 4l13 8-13 8z"];
    set(this.play, { "aria-label": name, title: `${name} (Space)` });
    set(this.play.querySelector("path"), { d: icon });
  }

  // Go to a step by hand: it is read out.
  go(step) {
    this.pause();
    const { trace, derived, state } = this.store;
    const to = Math.min(Math.max(0, step), derived.last);
    if (to === state.step) return;
    this.store.set({ step: to });
    const { head, sums, verdict, change } = describe(trace, Math.min(to, trace.length));
    announce([head, ...sums, `${verdict}${verdict ? ", " : ""}${change}`].join(" "));
  }

  toMistake() {
    this.go(nextMistake(this.store.trace, Math.min(this.store.state.step, this.store.trace.length)));
  }

  toEnd() {
    const { trace } = this.store;
    this.pause();
    this.store.set({ step: trace.length });
    const mistakes = mistakesAt(trace, trace.length);
    announce(
      trace.converged
        ? `Converged at step ${trace.length} after ${mistakes} mistakes.`
        : `Not converged after ${trace.epochMistakes.length} epochs and ${mistakes} mistakes.`,
    );
  }

  toggle() {
    if (this.store.playing) this.pause();
    else this.start();
  }

  // Steps are owed by the clock and taken once a frame: a slow frame does not slow the run.
  start() {
    const { store } = this;
    if (store.derived.last === 0) return;
    if (store.state.step >= store.derived.last) store.set({ step: 0 });
    let before = performance.now();
    let owed = 0;
    const tick = (now) => {
      // A frame may carry a time just before the click that started it.
      owed += (Math.max(0, now - before) / 1000) * store.state.speed;
      before = now;
      const whole = Math.floor(owed);
      owed -= whole;
      const { last } = store.derived;
      const to = Math.min(last, store.state.step + whole);
      if (whole) store.set({ step: to });
      if (to >= last) this.pause();
      else this.frame = requestAnimationFrame(tick);
    };
    this.frame = requestAnimationFrame(tick);
    store.playing = true;
    this.draw();
  }

  pause() {
    if (!this.store.playing) return;
    cancelAnimationFrame(this.frame);
    this.store.playing = false;
    this.draw();
    this.store.show();
  }

  render(state, derived) {
    this.timeline.render(state, derived);
    if (this.store.resting) return;
    this.speed.value = state.speed;
    const { epochs, length } = this.store.trace;
    find("where").textContent = `step ${state.step} / ${derived.last} · epoch ${epochs[Math.min(state.step, length) - 1] ?? 0}`;
  }
}
