// A table of the user's: chosen, dropped or served with the page; and which columns of it are shown.

import { guessColumns, readTable, takeColumns } from "../engine/table.js";
import { check, field, find, select, tell } from "./node.js";

export class Upload {
  constructor(store) {
    this.store = store;
    const input = find("csv");
    input.onchange = () => {
      this.read(input.files[0]);
      input.value = "";
    };
    find("csv-load").onclick = () => input.click();
    for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (e) => this.drop(e));
  }

  drop(event) {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (event.type === "drop") this.read(event.dataTransfer.files[0]);
  }

  async read(file) {
    if (file) this.take(file.name, await file.text());
  }

  // Show a table at once; `wanted` may name its columns.
  take(name, text, wanted = {}) {
    try {
      const table = readTable(text);
      const columns = guessColumns(table);
      for (const key of ["x", "y", "label"].filter((name) => name in wanted)) {
        columns[key] = table.header.indexOf(wanted[key]);
        if (columns[key] < 0)
          throw new Error(`There is no column "${wanted[key]}"; the columns are ${table.header.join(", ")}.`);
      }
      this.choose({ ...table, name, columns, scaled: false });
    } catch (error) {
      tell(`${name}: ${error.message}`, "error");
    }
  }

  // An Error leaves everything as it was.
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
    const { table } = this;
    const box = find("columns");
    box.hidden = !table || !axes;
    if (box.hidden || this.shown === table) return;
    this.shown = table;
    const pick = (key, title) => {
      const onchange = (e) => this.change({ columns: { ...table.columns, [key]: Number(e.target.value) } });
      return field(title, select({ ...table.header }, table.columns[key], { "data-column": key, onchange }));
    };
    const scale = check("scaled", "Scale both columns", table.scaled, (scaled) => this.change({ scaled }));
    scale.title = "Subtract the mean and divide by the spread of each column";
    box.replaceChildren(pick("x", "Across"), pick("y", "Up"), pick("label", "Label"), scale);
  }
}
