// The guided tour: a card beside the plane; each scene is a link that is opened in place.

import { readLink } from "../engine/state.js";
import { announce, find, html } from "./node.js";
import { SCENES } from "./scenes.js";

const rich = (text) => text.split("*").map((part, j) => (j % 2 ? html("em", part) : part));

export class Tour {
  calm = true;

  constructor(store, transport) {
    Object.assign(this, { store, transport, root: find("tour"), button: find("tour-open"), scene: 0 });
    this.button.onclick = () => (store.state.scene ? this.close() : this.open(1));
    this.root.addEventListener("keydown", (e) => e.key === "Escape" && this.close());
  }

  open(scene) {
    if (scene > SCENES.length) return this.close();
    const { link, title } = SCENES[scene - 1];
    this.transport.pause();
    this.store.set({ ...readLink(link), scene }, true);
    this.root.querySelector("h2").focus();
    announce(`Scene ${scene} of ${SCENES.length}: ${title}`);
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
    const button = (id, name, act, more) => html("button", { id, onclick: act, ...more }, name);
    const dots = SCENES.map((s, j) =>
      html("button.dot", {
        "aria-label": `Scene ${j + 1}: ${s.title}`,
        "aria-current": j + 1 === scene ? "step" : null,
        onclick: () => this.open(j + 1),
      }),
    );
    this.root.replaceChildren(
      html("p.where", `Scene ${scene} of ${SCENES.length}`),
      html("h2", { id: "tour-title", tabindex: -1 }, title),
      ...text.map((part) => html("p", rich(part))),
      html("p.task", html("strong", "Try: "), task),
      html(
        "div.row",
        button("tour-back", "Back", () => this.open(scene - 1), { disabled: scene === 1 }),
        button("tour-next", scene < SCENES.length ? "Next" : "Finish", () => this.open(scene + 1), { class: "accent" }),
        button("tour-close", "Close", () => this.close()),
      ),
      html("div.dots", dots),
    );
    this.root.scrollTop = 0;
  }
}
