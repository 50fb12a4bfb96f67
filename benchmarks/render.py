"""Results as a page: what the benchmarks wrote as JSON, in tables and pictures.

Invariant: every figure on the page was read from a result file; none is written here.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from measure import render_cell
from pictures import draw

HEADER = """# Results

Made by `{command}`; do not edit. How it was measured, and what was left out: [README.md]({readme}).
Seconds are CPU seconds on one thread unless a table says otherwise. `ratio` is the peer's median time over
ours: above 1 we are quicker; `least` and `most` are the same of the single turns, `bar` is what the project promises.
"""


def render(folder: Path, page: Path, scripts: list[Path]) -> str:
    """Write the page and its pictures from the results in the folder, and return its text."""
    results = [(script, json.loads((folder / f"{script.stem}.json").read_text())) for script in scripts]
    pictures = page.parent / "pictures"
    pictures.mkdir(exist_ok=True)
    quick = any(result["about"]["quick"] for _, result in results)
    readme = "../README.md" if quick else "README.md"
    parts = [HEADER.format(command="benchmarks/run.py --quick" if quick else "make bench", readme=readme)]
    parts += render_machines([(script.stem, result["about"]) for script, result in results])
    for script, result in results:
        title, text = describe(script)
        parts.append(f"## {title}\n\n`benchmarks/{script.name}`, {result['about']['seconds']:.0f} s. {text}\n")
        for name in draw(script.stem, result["found"], pictures):
            parts.append(f"![{title}](pictures/{name})\n")
        parts += render_found(script.stem, result["found"])
    text = "\n".join(parts)
    page.write_text(text)
    return text


def describe(script: Path) -> tuple[str, str]:
    """The first line of the script's docstring, and its paragraphs without the usage lines."""
    lines = (ast.get_docstring(ast.parse(script.read_text())) or script.stem).splitlines()
    text = " ".join(line.strip() for line in lines[1:] if not line.startswith("    "))
    return lines[0].rstrip("."), " ".join(text.split())


def render_machines(abouts: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """The machine and versions; a line for each result that was made on another one, on another day or commit."""
    if not abouts:
        return ["No results yet.\n"]
    first = abouts[0][1]
    rows = [{"": name, "this run": value} for name, value in first["machine"].items()]
    rows.append({"": "date", "this run": first["date"]})
    parts = ["## The machine\n", render_table(rows)]
    for name, about in abouts[1:]:
        other = [
            f"{fact} {value}"
            for fact, value in {**about["machine"], "date": about["date"]}.items()
            if fact != "load when started" and value != {**first["machine"], "date": first["date"]}.get(fact)
        ]
        if other:
            parts.append(f"`{name}` was run with {', '.join(other)}.\n")
    return parts


def render_found(script: str, found: Any) -> list[str]:
    """Any result as tables: a list of records is a table, a dict a heading an entry."""
    if script == "freund_schapire" and "paper" in found:
        return render_paper(found)
    if script == "accuracy":
        return render_accuracy(found)
    return _walk("", found)


def render_accuracy(found: list[dict[str, Any]]) -> list[str]:
    """Two tables, a line a data set and a column a classifier: the accuracies, and the seconds of a fit."""
    parts = []
    for measure, title in (("accuracy", "Test accuracy, %"), ("seconds", "Seconds of a fit")):
        rows = []
        for row in found:
            columns = {name: round(figures[measure], 4) for name, figures in row["figures"].items()}
            rows.append({"set": row["set"], "rows": row["rows"], "features": row["features"], **columns})
        parts += [f"**{title}**\n", render_table(rows)]
    return parts


def render_paper(found: dict[str, Any]) -> list[str]:
    """Freund and Schapire's table: the paper's figure / ours."""
    parts = []
    for result in found["results"]:
        published = found["paper"][str(result["degree"])]
        rows = []
        for measure, values in result["found"].items():
            theirs = published.get(measure, [None] * len(values))
            cells = [
                f"{'-' if a is None else f'{a:g}'} / {render_cell(b)}" for a, b in zip(theirs, values, strict=False)
            ]
            epochs = [f"T = {epoch:g}" for epoch in result["epochs"]]
            rows.append({"the paper / ours": measure, **dict(zip(epochs, cells, strict=True))})
        parts += [f"**Degree {result['degree']}**, {result['seconds']:.0f} s a run\n", render_table(rows)]
    return parts


def _walk(heading: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        plain = {name: item for name, item in value.items() if not isinstance(item, dict | list) and name != "quick"}
        rows = list(value.values())
        if rows and all(isinstance(row, dict) and _is_flat(row) for row in rows) and _alike(rows):
            return [*_bold(heading), render_table([{"": name, **row} for name, row in value.items()])]
        parts = (
            [*_bold(heading), render_table([{"": name, "found": item} for name, item in plain.items()])]
            if plain
            else []
        )
        joined = {name: item for name, item in value.items() if isinstance(item, dict) and item and _is_flat(item)}
        if len(joined) > 1:  # the same things by several measures: one table, a column a measure
            things = dict.fromkeys(thing for item in joined.values() for thing in item)
            rows = [{"": thing, **{name: item.get(thing) for name, item in joined.items()}} for thing in things]
            parts += [*([] if plain else _bold(heading)), render_table(rows)]
        for name, item in value.items():
            if isinstance(item, dict | list) and item and (len(joined) < 2 or name not in joined):
                parts += _walk(f"{heading}, {name}" if heading else name, item)
        return parts
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return [*_bold(heading), render_table([_flattened(row) for row in value])]
    return [f"{heading}: {_cell(value)}\n"]


def _bold(heading: str) -> list[str]:
    text = heading.replace("_", " ")
    return [f"**{text[:1].upper()}{text[1:]}**\n"] if text else []


def _is_flat(row: dict[str, Any]) -> bool:
    return not any(isinstance(item, dict | list) for item in row.values())


def _alike(rows: list[dict[str, Any]]) -> bool:
    return len(rows) > 1 and len({tuple(row) for row in rows}) == 1


def _flattened(row: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, item in row.items():
        if isinstance(item, dict):
            flat.update({f"{name} {inner}": value for inner, value in _flattened(item).items()})
        else:
            flat[name] = item
    return flat


def render_table(rows: list[dict[str, Any]]) -> str:
    """Rows as a Markdown table; columns in which no row has anything are left out."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    names = [name for name in names if any(row.get(name) is not None for row in rows)]
    right = [all(isinstance(row.get(name), int | float | None) for row in rows) for name in names]
    lines = [[name.replace("_", " ") for name in names], ["--:" if numbers else ":--" for numbers in right]]
    lines += [[_cell(row.get(name)) for name in names] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines).replace("|  |", "| |") + "\n"


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_cell(item) for item in value)
    return render_cell(value).replace("|", "\\|").replace("\n", " ")
