// Step, play, speed, to the next mistake, to convergence.

import { mistakesAt, nextMistake } from "../engine/learn.js";
import { describe } from "../engine/sentence.js";
import { SPEEDS } from "../engine/state.js";
import { announce, html, svg } from "./node.js";
import { Timeline } from "./timeline.js";

const ICONS = {
  first: "M6 5v14M19 5L9 12l10 7z",
  back: "M17 5L7 12l10 7z",
  play: "M7 4l13 8-13 8z",
  pause: "M7 5h4v14H7zM14 5h4v14h-4z",
  step: "M7 5l10 7-10 7z",
  mistake: "M4 6l7 6-7 6zM14 8l6 8M20 8l-6 8",
  end: "M5 5l10 7-10 7zM19 5v14",
};

function icon(name) {
  return svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

export class Transport {
  constructor(root, store) {
    Object.assign(this, { store });
    const button = (id, name, title, act) =>
      html("button", { id, class: "icon", "aria-label": name, title, onclick: act }, icon(id));
    this.play = html("button", { id: "play", class: "icon accent big", onclick: () => this.toggle() });
    this.speed = html(
      "select",
      { id: "speed", "aria-label": "Steps a second", onchange: (e) => store.set({ speed: Number(e.target.value) }) },
      ...SPEEDS.map((v) => html("option", { value: v, text: `${v}/s` })),
    );
    this.where = html("span", { class: "where" });
    root.append(
      html(
        "div",
        { class: "keys", role: "group", "aria-label": "Controls of time" },
        button("first", "To the start", "To the start (Home)", () => this.go(0)),
        button("back", "One step back", "One step back (←)", () => this.go(store.state.step - 1)),
        this.play,
        button("step", "One step", "One step (→)", () => this.go(store.state.step + 1)),
        button("mistake", "To the next mistake", "To the next mistake (M)", () => this.toMistake()),
        button("end", "To convergence", "To convergence, or to the last epoch (End)", () => this.toEnd()),
        html("label", { class: "speed" }, html("span", { text: "Speed" }), this.speed),
        this.where,
      ),
    );
    this.timeline = new Timeline(root, store, () => this.pause());
    this.draw();
  }

  draw() {
    const on = Boolean(this.frame);
    this.play.replaceChildren(icon(on ? "pause" : "play"));
    this.play.setAttribute("aria-label", on ? "Pause" : "Play");
    this.play.title = on ? "Pause (Space)" : "Play (Space)";
  }

  // Go to a step by hand: playing stops, and the step is read out.
  go(step) {
    this.pause();
    const to = Math.min(Math.max(0, step), this.store.derived.last);
    if (to === this.store.state.step) return;
    this.store.set({ step: to });
    const said = describe(this.store.trace, Math.min(to, this.store.trace.length));
    announce([said.head, ...said.sums, `${said.verdict}${said.verdict ? ", " : ""}${said.change}`].join(" "));
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
    if (this.frame) this.pause();
    else this.start();
  }

  start() {
    if (this.store.derived.last === 0) return;
    if (this.store.state.step >= this.store.derived.last) this.store.set({ step: 0 });
    let before = performance.now();
    let owed = 0;
    const tick = (now) => {
      // A frame may carry a time just before the click that started it.
      owed += (Math.max(0, now - before) / 1000) * this.store.state.speed;
      before = now;
      const whole = Math.floor(owed);
      owed -= whole;
      const { last } = this.store.derived;
      const to = Math.min(last, this.store.state.step + whole);
      if (whole) this.store.set({ step: to });
      if (to >= last) this.pause();
      else this.frame = requestAnimationFrame(tick);
    };
    this.frame = requestAnimationFrame(tick);
    this.draw();
  }

  pause() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.draw();
  }

  render(state, derived) {
    this.timeline.render(state, derived);
    if (Number(this.speed.value) !== state.speed) this.speed.value = state.speed;
    const trace = this.store.trace;
    const t = Math.min(state.step, trace.length);
    const epoch = t > 0 ? trace.epochs[t - 1] : 0;
    this.where.textContent = `step ${state.step} / ${derived.last} · epoch ${epoch}`;
  }
}
