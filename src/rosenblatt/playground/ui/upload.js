// A table of the user's: from a file, dropped or chosen, or served with the page; and which columns of it are shown.

import { guessColumns, readTable, takeColumns } from "../engine/table.js";
import { html, tell } from "./node.js";

export class Upload {
  constructor(store) {
    this.store = store;
    this.file = html("input", {
      type: "file",
      accept: ".csv,.tsv,.txt,text/csv",
      class: "offscreen",
      "aria-label": "A CSV file",
      tabindex: -1,
      onchange: () => {
        const [file] = this.file.files;
        if (file) this.read(file);
        this.file.value = "";
      },
    });
    const load = html("button", { class: "wide", id: "csv-load", onclick: () => this.file.click() }, "Load a CSV…");
    this.columns = html("div", { class: "columns", hidden: true });
    this.nodes = [load, this.file, this.columns];
    for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (e) => this.drop(e));
  }

  drop(event) {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (event.type === "drop" && event.dataTransfer.files.length) this.read(event.dataTransfer.files[0]);
  }

  async read(file) {
    this.take(file.name, await file.text());
  }

  // Show a table at once, with its columns to choose from. `wanted` names columns, or is empty.
  take(name, text, wanted = {}) {
    try {
      const table = readTable(text);
      const columns = guessColumns(table);
      for (const [key, title] of Object.entries(wanted)) {
        columns[key] = table.header.indexOf(title);
        if (columns[key] < 0) {
          throw new Error(`There is no column "${title}"; the columns are ${table.header.join(", ")}.`);
        }
      }
      this.choose({ ...table, name, columns, scaled: false });
    } catch (error) {
      tell(`${name}: ${error.message}`, "error");
    }
  }

  // Show the chosen columns of a table; an Error leaves everything as it was.
  choose(table) {
    const { header, columns, name, scaled } = table;
    const { points, names, left } = takeColumns(table, columns, scaled);
    this.table = table;
    const axes = [columns.x, columns.y].map((j) => header[j] + (scaled ? " (scaled)" : ""));
    this.store.set({ points, names, data: null, step: 0, proof: false, axes }, true);
    const count = left ? `${points.length} of ${points.length + left} rows, evenly taken` : `${points.length} points`;
    tell(`${name}: ${count}, of ${names.length} classes.`);
  }

  change(change) {
    try {
      this.choose({ ...this.table, ...change });
    } catch (error) {
      tell(`${this.table.name}: ${error.message}`, "error");
      this.shown = null;
      this.render(this.store.state);
    }
  }

  render({ axes }) {
    this.columns.hidden = !this.table || !axes;
    if (this.columns.hidden || this.shown === this.table) return;
    this.shown = this.table;
    const { header, columns, scaled } = this.table;
    const pick = (key) => (e) => this.change({ columns: { ...columns, [key]: Number(e.target.value) } });
    const options = (key) =>
      header.map((title, j) => html("option", { value: j, selected: j === columns[key], text: title }));
    const select = (key, text) =>
      html(
        "label",
        {},
        html("span", { text }),
        html("select", { "data-column": key, onchange: pick(key) }, ...options(key)),
      );
    const scale = html(
      "label",
      { class: "check", title: "Subtract the mean and divide by the spread of each column" },
      html("input", {
        type: "checkbox",
        name: "scaled",
        checked: scaled,
        onchange: (e) => this.change({ scaled: e.target.checked }),
      }),
      "Scale both columns",
    );
    this.columns.replaceChildren(select("x", "Across"), select("y", "Up"), select("label", "Label"), scale);
  }
}
