"""Results as pages: what the benchmarks wrote as JSON, in tables, pictures and the marked figures of README and docs.

Invariant: every figure on RESULTS.md, and every one between `<!-- measured: NAME -->` and `<!-- /measured -->` in
README.md and docs, was read from a result file; none is written here.
"""

from __future__ import annotations

import ast
import json
import re
from itertools import groupby
from pathlib import Path
from typing import Any

from figures import FIGURES
from measure import Found, Row, render_cell
from pictures import draw

ROOT = Path(__file__).resolve().parents[1]
MARKED = re.compile(r"(<!-- measured: ([\w-]+) -->)(\n?).*?(\n?)(<!-- /measured -->)", re.DOTALL)
HEADER = """# Results

Made by `{command}`; do not edit. How it was measured, and what was left out: [README.md]({readme}).
Seconds are medians, of CPU time on one thread unless a table says otherwise. `ratio` is the time over that of the first
row of the same data: above 1, the first is faster; `least` and `most` are the same of the single turns. `±` is half of
the 95 % interval of the mean error over the seeds.
"""
AHEAD = """## Where a peer is better

Peers that are faster than our first row and, within the intervals, as accurate, or more accurate than all of our rows.
`ratio` below 1: it takes that share of our time.
"""


def render(folder: Path, page: Path, scripts: list[Path]) -> Path:
    """Write the page, its pictures and the marked figures from the results in the folder; return the page."""
    results = {script.stem: json.loads((folder / f"{script.stem}.json").read_text()) for script in scripts}
    pictures = page.parent / "pictures"
    pictures.mkdir(exist_ok=True)
    quick = any(result["about"]["quick"] for result in results.values())
    command, readme = ("benchmarks/run.py --quick", "../README.md") if quick else ("make bench", "README.md")
    parts = [HEADER.format(command=command, readme=readme)]
    if ahead := [line for name in results for line in find_better(name, results[name]["found"])]:
        parts += [AHEAD, render_table(ahead)]
    parts += render_machines({name: result["about"] for name, result in results.items()})
    for script in scripts:
        about, found = results[script.stem]["about"], results[script.stem]["found"]
        title, text = describe(script)
        parts.append(f"## {title}\n\n`benchmarks/{script.name}`, {about['seconds']:.0f} s. {text}\n")
        parts += [f"![{title}](pictures/{name})\n" for name in draw(script.stem, found, pictures)]
        for heading, rows in (pivot(found["Defaults"]) if script.stem == "accuracy" else found).items():
            parts += [f"**{heading}**\n", render_table(rows)]
    page.write_text("\n".join(parts))
    if not quick:
        fill_pages(results)
    return page


def groups(rows: list[Row]) -> list[tuple[Row, list[Row]]]:
    """The rows of a table of contests by what they are about, with that."""

    def about(row: Row) -> Row:
        names = list(row)
        return {name: row[name] for name in names[: names.index("who")]}

    return [(key, list(group)) for key, group in groupby((row for row in rows if "ratio" in row), about)]


def find_better(script: str, found: Found) -> list[Row]:
    """The peers that are faster than our first row and as accurate, or more accurate than all of ours."""

    def is_worse(one: Row, other: Row) -> bool:
        margin = (one.get("±") or 0) + (other.get("±") or 0)
        return one.get("error %", 0.0) > other.get("error %", 0.0) + margin

    lines = []
    contests = [(title, *each) for title, rows in found.items() if "who" in rows[0] for each in groups(rows)]
    for title, about, rows in contests:
        ours = [row for row in rows if row["who"].startswith("rosenblatt")]
        for row in rows:
            if not ours or row in ours:
                continue
            if (row["ratio"] < 1 and not is_worse(row, ours[0])) or all(is_worse(each, row) for each in ours):
                where = f"{script}, {title}: {', '.join(render_cell(value) for value in about.values())}"
                errors = {"its error %": row.get("error %"), "ours": ours[0].get("error %")}
                lines.append({"where": where, "who": row["who"], "ratio": row["ratio"], **errors})
    return lines


def pivot(rows: list[Row]) -> Found:
    """Two tables, a line per data set and a column per classifier: the errors, and the seconds of a fit."""
    errors, seconds = [], []
    for about, group in groups(rows):
        of_error = {row["who"]: f"{row['error %']:.2f}{_interval(row)}" for row in group}
        errors.append({**about, **of_error})
        seconds.append({**about, **{row["who"]: row["CPU s"] for row in group}})
    return {"Test error, %": errors, "CPU seconds of a fit": seconds}


def _interval(row: Row) -> str:
    return "" if row["±"] is None else f" ± {row['±']:.2f}"


def describe(script: Path) -> tuple[str, str]:
    """The first line of the script's docstring, and its paragraphs without the usage lines."""
    lines = (ast.get_docstring(ast.parse(script.read_text())) or script.stem).splitlines()
    text = " ".join(line.strip() for line in lines[1:] if not line.startswith("    "))
    return lines[0].rstrip("."), " ".join(text.split())


def render_machines(abouts: dict[str, Any]) -> list[str]:
    """The machine and versions; a line for each result of another machine, day or commit."""
    if not abouts:
        return ["No results yet.\n"]
    facts = {name: {**about["machine"], "date": about["date"]} for name, about in abouts.items()}
    first = next(iter(facts.values()))
    parts = ["## The machine\n", render_table([{"": name, "this run": value} for name, value in first.items()])]
    for name, each in facts.items():
        other = [f"{fact} {value}" for fact, value in each.items() if "load" not in fact and value != first.get(fact)]
        if other:
            parts.append(f"`{name}` was run with {', '.join(other)}.\n")
    loads = ", ".join(f"{name} {each['load when started'].split()[0]}" for name, each in facts.items())
    return [*parts, f"Load when each was started: {loads}.\n"]


def render_table(rows: list[Row]) -> str:
    """Rows as a Markdown table; columns in which no row has anything are left out."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    names = [name for name in names if any(row.get(name) is not None for row in rows)]
    right = [all(isinstance(row.get(name), int | float | None) for row in rows) for name in names]
    lines = [names, ["--:" if numbers else ":--" for numbers in right]]
    lines += [[render_cell(row.get(name)).replace("|", "\\|") for name in names] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines).replace("|  |", "| |") + "\n"


def fill_pages(results: dict[str, Any]) -> None:
    """Write the marked figures; one whose benchmarks have no result stays as it is."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text()

        def fill(match: re.Match[str], page: Path = page) -> str:
            try:
                figures = FIGURES[match[2]]({name: result["found"] for name, result in results.items()})
            except KeyError as error:
                print(f"{page.name}: {match[2]} stays as it is, there is no result for {error}")
                return match[0]
            shown = figures if isinstance(figures, str) else render_table(figures)
            return f"{match[1]}{match[3]}{shown.strip()}{match[4]}{match[5]}"

        filled = MARKED.sub(fill, text)
        if filled != text:
            page.write_text(filled)
