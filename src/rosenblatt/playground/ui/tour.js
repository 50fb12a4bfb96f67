// The guided tour: a card beside the plane; each scene is a link that is opened in place.

import { readLink } from "../engine/state.js";
import { announce, html } from "./node.js";
import { SCENES } from "./scenes.js";

function rich(text) {
  return text.split("*").map((part, j) => (j % 2 ? html("em", { text: part }) : part));
}

export class Tour {
  constructor(root, store, transport, button) {
    Object.assign(this, { root, store, transport, button, scene: 0 });
    button.addEventListener("click", () => (store.state.scene ? this.close() : this.open(1)));
    root.addEventListener("keydown", (e) => e.key === "Escape" && this.close());
  }

  open(scene) {
    this.transport.pause();
    const state = readLink(SCENES[scene - 1].link);
    this.store.set({ ...state, scene }, true);
    this.root.querySelector("h2").focus();
    announce(`Scene ${scene} of ${SCENES.length}: ${SCENES[scene - 1].title}`);
  }

  close() {
    this.store.set({ scene: 0 });
    this.button.focus();
    announce("The tour is closed.");
  }

  render({ scene }) {
    if (scene === this.scene) return;
    this.scene = scene;
    this.root.hidden = scene === 0;
    document.body.classList.toggle("touring", scene > 0);
    this.button.setAttribute("aria-pressed", scene > 0);
    if (!scene) return;
    const { title, text, task } = SCENES[scene - 1];
    const dots = SCENES.map((s, j) =>
      html("button", {
        class: "dot",
        "aria-label": `Scene ${j + 1}: ${s.title}`,
        "aria-current": j + 1 === scene ? "step" : null,
        onclick: () => this.open(j + 1),
      }),
    );
    this.root.replaceChildren(
      html("p", { class: "where", text: `Scene ${scene} of ${SCENES.length}` }),
      html("h2", { id: "tour-title", tabindex: -1, text: title }),
      ...text.map((part) => html("p", {}, ...rich(part))),
      html("p", { class: "task" }, html("strong", { text: "Try: " }), task),
      html(
        "div",
        { class: "row" },
        html("button", { id: "tour-back", disabled: scene === 1, text: "Back", onclick: () => this.open(scene - 1) }),
        scene < SCENES.length
          ? html("button", { id: "tour-next", class: "accent", text: "Next", onclick: () => this.open(scene + 1) })
          : html("button", { id: "tour-next", class: "accent", text: "Finish", onclick: () => this.close() }),
        html("button", { id: "tour-close", text: "Close", onclick: () => this.close() }),
      ),
      html("div", { class: "dots" }, ...dots),
    );
    this.root.scrollTop = 0;
  }
}
