// Keys of the whole page. Controls keep their own.

import { find } from "./node.js";

function choose(tool, choice) {
  tool.choice = choice;
  document.querySelector(`.tools input[value="${choice}"]`).checked = true;
}

export function startKeys(store, transport, tool) {
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (document.querySelector("dialog[open]")) return;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const control = event.ctrlKey || event.metaKey;
    const own = target.matches("input:not([type=checkbox]), select, [role=tab]");
    if (event.altKey) return;
    if (control && (!"zy".includes(name) || target.matches("input[type=number]"))) return;
    if (!control && own && (/^(Arrow|Home|End)/.test(name) || name.length === 1)) return;
    if (name === " " && target.matches("button, summary, input, a")) return;
    const classes = store.state.names.map((_, c) => [c + 1, () => choose(tool, c)]);
    const act = control
      ? () => (name === "y" || event.shiftKey ? store.redo() : store.undo())
      : {
          " ": () => transport.toggle(),
          ArrowRight: () => transport.go(store.state.step + 1),
          ArrowLeft: () => transport.go(store.state.step - 1),
          Home: () => transport.go(0),
          End: () => transport.toEnd(),
          m: () => transport.toMistake(),
          t: () => find("tour-open").click(),
          "?": () => find("help-open").click(),
          e: () => choose(tool, "erase"),
          ...Object.fromEntries(classes),
        }[name];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
