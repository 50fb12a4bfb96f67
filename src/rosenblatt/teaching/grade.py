"""Grading: every student's notebooks are run with the hidden tests, each in a process of its own.

Invariant: one notebook cannot stop the grading of others, whatever its code does. It runs with the rights of whoever
grades, so grade unknown people's notebooks in a container.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rosenblatt.errors import DataError
from rosenblatt.teaching.notebooks import Cell, parse

_HERE = Path(__file__).parent
_MOST_SECONDS = 300.0


@dataclass(frozen=True)
class Grade:
    """The points of one exercise of one student, and the line that `check` printed."""

    student: str
    lesson: str
    exercise: str
    points: int
    most: int
    line: str


def grade(folder: str | Path, *, seconds: float = _MOST_SECONDS) -> list[Grade]:
    """Grade all notebooks below `folder`; the folder directly below it is the student's name.

    A notebook's file name says which lesson it is. `seconds` is the limit for one notebook.
    """
    lessons = {path.stem: path.read_text(encoding="utf-8") for path in sorted((_HERE / "lessons").glob("*.py"))}
    grades = []
    for path in sorted(Path(folder).rglob("*.ipynb")):
        if path.stem in lessons and ".ipynb_checkpoints" not in path.parts:
            parts = path.relative_to(folder).parts
            student = parts[0] if len(parts) > 1 else "."
            grades += _grade_one(student, path.stem, lessons[path.stem], path, seconds)
    if not grades:
        raise DataError(f"{folder} has no notebook of the course: FOLDER/STUDENT/01-neuron.ipynb is what it takes")
    return grades


def _grade_one(student: str, lesson: str, text: str, path: Path, seconds: float) -> list[Grade]:
    tests = [cell for cell in parse(text) if cell.kind == "test"]
    marks: dict[str, Any] = {}
    # The process writes what it knows after every test, so an endless cell costs only what comes after it.
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        command = [sys.executable, "-m", "rosenblatt.teaching.grade", lesson, str(path.resolve()), str(report)]
        environment = {name: value for name, value in os.environ.items() if name != "NBGRADER_EXECUTION"}
        try:
            done = subprocess.run(
                command,
                cwd=_prepare(Path(scratch) / "work"),
                env=environment | {"MPLBACKEND": "agg"},
                timeout=seconds,
                capture_output=True,
                stdin=subprocess.DEVNULL,
            )
            why = "not reached" if done.returncode == 0 else "the notebook ended its process"
        except subprocess.TimeoutExpired:
            why = f"the notebook took longer than {seconds:g} seconds"
        if report.exists():
            marks = json.loads(report.read_text(encoding="utf-8"))
    found = {cell.name: marks.get(cell.name, [False, why]) for cell in tests}
    return [
        Grade(student, lesson, t.name, t.points if found[t.name][0] else 0, t.points, found[t.name][1]) for t in tests
    ]


def _prepare(folder: Path) -> Path:
    """A folder like the student's: the helpers and the data."""
    from rosenblatt.teaching import copy_materials

    copy_materials(folder)
    return folder


def _run(lesson: str, path: str, report: str) -> None:
    """Run one notebook in this process: the student's cells, and our tests in the place of the student's tests."""
    cells = json.loads(Path(path).read_text(encoding="utf-8")).get("cells", [])
    tests = {
        c.name: c for c in parse((_HERE / "lessons" / f"{lesson}.py").read_text(encoding="utf-8")) if c.kind == "test"
    }
    sys.path.insert(0, os.getcwd())
    namespace: dict[str, Any] = {"__name__": "__main__"}
    marks: dict[str, Any] = {}
    open_tests = dict(tests)
    for cell in cells:
        if cell.get("cell_type") != "code":
            continue
        grade_id = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", "")
        name = grade_id.removeprefix("test_")
        if grade_id.startswith("test_") and name in open_tests:
            marks[name] = _run_test(open_tests.pop(name), namespace)
            Path(report).write_text(json.dumps(marks), encoding="utf-8")
        else:
            source = "".join(cell.get("source", ""))
            source = re.sub(r"(?m)^\s*[%!].*$", "", source)
            with contextlib.suppress(BaseException), contextlib.redirect_stdout(io.StringIO()):
                exec(compile(source, "cell", "exec"), namespace)
    for name, cell in open_tests.items():
        marks[name] = _run_test(cell, namespace)
    Path(report).write_text(json.dumps(marks), encoding="utf-8")


def _run_test(cell: Cell, namespace: dict[str, Any]) -> list[Any]:
    """Whether all checks of a test pass, with the first line that says why not."""
    spec = importlib.util.spec_from_file_location("_course", _HERE / "course.py")
    assert spec is not None
    assert spec.loader is not None
    course = importlib.util.module_from_spec(spec)  # a fresh one: a notebook may have changed its own
    spec.loader.exec_module(course)
    results: list[bool] = []

    def check(*arguments: Any, **options: Any) -> bool:
        results.append(course.check(*arguments, **options))
        return results[-1]

    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        try:
            exec(compile(cell.text, "test", "exec"), namespace | {"check": check})
        except BaseException as error:
            results.append(False)
            print(f"✗ {type(error).__name__}: {error}")
    lines = shown.getvalue().splitlines()
    return [
        bool(results) and all(results),
        next((x for x in lines if not x.startswith("✓")), lines[-1] if lines else ""),
    ]


if __name__ == "__main__":
    _run(*sys.argv[1:4])
