"""Lessons in the percent format, as notebooks for students and for instructors.

A lesson is a Python file whose cells begin with ``# %%``: prose is ``# %% [markdown]``, an exercise
``# %% exercise="name"``, its test ``# %% test="name" points=2``. Solutions stand between ``### BEGIN SOLUTION`` and
``### END SOLUTION``, hidden tests between ``### BEGIN HIDDEN TESTS`` and ``### END HIDDEN TESTS``. These are nbgrader's
marks, and the notebooks carry nbgrader's metadata.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_HEAD = re.compile(r'^# %%[ ]*(\[markdown\])?[ ]*(?:(exercise|test)="(\w+)")?[ ]*(?:points=(\d+))?[ ]*$', re.M)
_SOLUTION = re.compile(r"^([ ]*)### BEGIN SOLUTION\n.*?### END SOLUTION$", re.M | re.S)
_HIDDEN = re.compile(r"^[ ]*### BEGIN HIDDEN TESTS\n.*?### END HIDDEN TESTS\n?", re.M | re.S)


@dataclass(frozen=True)
class Cell:
    """One cell: ``kind`` is markdown, code, exercise or test."""

    kind: str
    text: str
    name: str = ""
    points: int = 0


def parse(lesson: str) -> list[Cell]:
    """The cells of a lesson in the percent format.

    >>> [cell.kind for cell in parse("# %% [markdown]\\n# # Title\\n\\n# %% exercise=\\"f\\"\\ndef f(): ...\\n")]
    ['markdown', 'exercise']
    """
    heads = list(_HEAD.finditer(lesson))
    cells = []
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        text = lesson[head.end() : following.start() if following else None].strip("\n")
        markdown, kind, name, points = head.groups()
        if markdown:
            cells.append(Cell("markdown", re.sub(r"(?m)^# ?", "", text)))
        else:
            cells.append(Cell(kind or "code", text, name or "", int(points or 0)))
    return cells


def without_answers(text: str) -> str:
    """A cell as students get it: no solution, no hidden tests."""
    return _HIDDEN.sub("", _SOLUTION.sub(r"\1...  # your code here", text)).rstrip("\n")


def to_notebook(lesson: str, *, solutions: bool = False) -> dict[str, Any]:
    """The lesson in Jupyter's format 4.5, for students or, with `solutions`, for instructors."""
    cells = []
    for number, cell in enumerate(parse(lesson)):
        text = cell.text if solutions else without_answers(cell.text)
        made: dict[str, Any] = {"cell_type": "code", "id": f"cell-{number}", "metadata": {}, "source": text}
        if cell.kind == "markdown":
            made["cell_type"] = "markdown"
        else:
            made |= {"execution_count": None, "outputs": []}
        if cell.name:
            made["metadata"]["nbgrader"] = _nbgrader(cell)
        cells.append(made)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _nbgrader(cell: Cell) -> dict[str, Any]:
    is_test = cell.kind == "test"
    grade_id = f"test_{cell.name}" if is_test else cell.name
    common = {"grade_id": grade_id, "schema_version": 3, "task": False}
    points = {"points": cell.points} if is_test else {}
    return common | points | {"grade": is_test, "locked": is_test, "solution": not is_test}
