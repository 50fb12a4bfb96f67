// What can be taken away: the picture, the trace, the Python lines, the link.

import { writeScript } from "../engine/script.js";
import { writeLink } from "../engine/state.js";
import { writeTrace } from "../engine/table.js";
import { html, svg, tell } from "./node.js";
import { learnerName } from "./plane.js";

const PAINT = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
  "visibility",
  "font-family",
  "font-size",
  "font-weight",
  "font-style",
  "paint-order",
];

function give(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = html("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// A copy that carries its colours with it, since the page's style sheet stays behind.
function painted(node) {
  const copy = node.cloneNode(true);
  const from = [node, ...node.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((original, i) => {
    const style = getComputedStyle(original);
    for (const name of PAINT) {
      const value = style.getPropertyValue(name);
      if (value) to[i].setAttribute(name, value);
    }
    to[i].removeAttribute("class");
  });
  return copy;
}

// All planes in one picture, two a row, each under its learner's name.
export function picture(stage) {
  const { width, height } = stage.view;
  const columns = stage.planes.length > 1 ? 2 : 1;
  const rows = Math.ceil(stage.planes.length / columns);
  const style = getComputedStyle(document.body);
  const ink = style.color;
  const size = [columns * width + (columns - 1) * 12, rows * (height + 26)];
  const all = svg(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${size[0]} ${size[1]}`, width: size[0], height: size[1] },
    svg("rect", { width: size[0], height: size[1], fill: style.backgroundColor }),
  );
  stage.planes.forEach((plane, j) => {
    const [x, y] = [(j % columns) * (width + 12), Math.floor(j / columns) * (height + 26)];
    const copy = svg(
      "svg",
      { x, y: y + 24, width, height, viewBox: `0 0 ${width} ${height}`, overflow: "hidden" },
      ...plane.sheets.flatMap((sheet) => [...painted(sheet).children]),
    );
    all.append(
      svg("text", {
        x: x + 8,
        y: y + 17,
        fill: ink,
        "font-family": style.fontFamily,
        "font-size": 14,
        "font-weight": 600,
        text: `${learnerName(plane.trace.learner)}: ${plane.count.textContent}`,
      }),
      copy,
    );
  });
  return { text: new XMLSerializer().serializeToString(all), size };
}

async function asPng({ text, size }) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [size[0] * 2, size[1] * 2];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export class Save {
  constructor(menu, dialog, store, stage) {
    Object.assign(this, { menu, dialog, store, stage });
    menu
      .querySelectorAll("[data-save]")
      .forEach((button) => button.addEventListener("click", () => this.save(button.dataset.save)));
    menu.addEventListener("keydown", (e) => {
      if (e.key !== "Escape") return;
      menu.open = false;
      menu.querySelector("summary").focus();
    });
    document.addEventListener("pointerdown", (e) => !menu.contains(e.target) && (menu.open = false));
  }

  async save(kind) {
    this.menu.open = false;
    const { points, names } = this.store.state;
    const missing = names.find((_, c) => !points.some((p) => p.c === c));
    if (kind === "csv" && points.length === 0) {
      tell("There are no points yet, so there is no trace.", "error");
      return;
    }
    if (kind === "py" && missing !== undefined) {
      tell(`Class ${missing} has no points yet: Python learns only classes that it has seen.`, "error");
      return;
    }
    if (kind === "svg") give("perceptron.svg", new Blob([picture(this.stage).text], { type: "image/svg+xml" }));
    else if (kind === "png") give("perceptron.png", await asPng(picture(this.stage)));
    else if (kind === "csv") give("trace.csv", new Blob([writeTrace(this.store.trace)], { type: "text/csv" }));
    else this.showScript();
  }

  showScript() {
    const text = writeScript(this.store.derived.traces);
    const close = () => this.dialog.close();
    this.dialog.replaceChildren(
      html("h2", { id: "script-title", text: "The Python lines of this run" }),
      html("pre", { tabindex: 0, "aria-label": "Python", text }),
      html(
        "div",
        { class: "row" },
        html("button", {
          id: "script-copy",
          class: "accent",
          text: "Copy",
          onclick: () => copy(text, "The lines are copied."),
        }),
        html("button", {
          id: "script-save",
          text: "Download",
          onclick: () => give("perceptron.py", new Blob([text], { type: "text/x-python" })),
        }),
        html("button", { id: "script-close", text: "Close", onclick: close }),
      ),
    );
    this.dialog.showModal();
  }

  copyLink() {
    const link = new URL(writeLink(this.store.state), location.href.split(/[?#]/)[0]).href;
    history.replaceState(null, "", link);
    copy(link, "The link is copied: it holds the points, the learners and the step.");
  }
}

async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    tell(done);
  } catch {
    tell("The browser does not let this page copy: take the link from the address bar.", "error");
  }
}
