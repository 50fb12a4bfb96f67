// Keys of the whole page. Controls keep their own keys: typing in a field or moving a slider is left alone.

export function startKeys(store, transport, tool, buttons) {
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (document.querySelector("dialog[open]")) return;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if ((event.ctrlKey || event.metaKey) && (name === "z" || name === "y")) {
      if (target.matches("input[type=number]")) return;
      event.preventDefault();
      if (name === "y" || event.shiftKey) store.redo();
      else store.undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (
      target.matches("input:not([type=checkbox]), select, [role=tab]") &&
      (name.startsWith("Arrow") || name === "Home" || name === "End" || name.length === 1)
    )
      return;
    if (name === " " && target.matches("button, summary, input, a")) return;
    const act =
      {
        " ": () => transport.toggle(),
        ArrowRight: () => transport.go(store.state.step + 1),
        ArrowLeft: () => transport.go(store.state.step - 1),
        Home: () => transport.go(0),
        End: () => transport.toEnd(),
        m: () => transport.toMistake(),
        t: () => buttons.tour.click(),
        "?": () => buttons.help.click(),
        e: () => choose(tool, "erase"),
      }[name] ??
      (/^[1-6]$/.test(name) && Number(name) <= store.state.names.length ? () => choose(tool, Number(name) - 1) : null);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function choose(tool, choice) {
  tool.choice = choice;
  const radio = document.querySelector(`.tools input[value="${choice}"]`);
  if (radio) radio.checked = true;
}
