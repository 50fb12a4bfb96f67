// Help: what the picture means, and the keys.

import { html } from "./node.js";

const KEYS = [
  ["Space", "play, pause"],
  ["→  ←", "one step, one back"],
  ["M", "to the next mistake"],
  ["Home  End", "to the start, to convergence"],
  ["1 … 6  E", "class a click adds, erase"],
  ["Ctrl Z", "undo; with Shift: redo"],
  ["T", "the tour"],
  ["?", "this help"],
];
const PLANE_KEYS = [
  ["Arrows", "move the cursor, or the picked point (Shift: finely)"],
  ["Enter", "add a point"],
  ["N  P", "pick the next or previous point"],
  ["Delete", "remove the picked point"],
  ["Esc", "leave the point"],
];
const SIGNS = [
  ["thick line", "the boundary, where the score is 0; colours tell which class is the answer on each side"],
  ["dashed lines", "the margin band: no row is nearer (with Margin and PA rules: the margin they ask for)"],
  ["hollow point", "a row the answer gets wrong now"],
  ["ring, ring with ×", "the row of this step; the × says that it was a mistake"],
  ["arrow w", "the weight vector; the short arrow is the push that moved it"],
  ["thin dashed line", "the learner's own weights, where the answer is an average, a vote or a pocket"],
];

const list = (pairs) =>
  html("dl", {}, ...pairs.map(([k, v]) => html("div", {}, html("dt", { text: k }), html("dd", { text: v }))));

export function startHelp(dialog, button) {
  dialog.append(
    html("h2", { id: "help-title", text: "How to read and use this page" }),
    html("p", {
      text: "Click in the plane to add a point, drag to move one, right-click (or Erase) to delete one. Everything is computed at once, in your browser; nothing is sent anywhere.",
    }),
    html(
      "div",
      { class: "two" },
      html("div", {}, html("h3", { text: "Signs" }), list(SIGNS)),
      html(
        "div",
        {},
        html("h3", { text: "Keys" }),
        list(KEYS),
        html("h3", { text: "Keys in the plane" }),
        list(PLANE_KEYS),
      ),
    ),
    html("div", { class: "row" }, html("button", { id: "help-close", text: "Close", onclick: () => dialog.close() })),
  );
  button.addEventListener("click", () => dialog.showModal());
}
