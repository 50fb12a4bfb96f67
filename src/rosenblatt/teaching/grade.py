"""Grading: every student's notebooks are run with the hidden tests, each in a process of its own.

Invariant: one notebook cannot stop the grading of others, whatever its code does. It runs with the rights of whoever
grades, so grade unknown people's notebooks in a container.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rosenblatt.errors import DataError
from rosenblatt.teaching import course
from rosenblatt.teaching.notebooks import Cell, parse
from rosenblatt.theory.trace import render_columns

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Grade:
    """The points of one exercise of one student, and the line that `check` printed."""

    student: str
    lesson: str
    exercise: str
    points: int
    most: int
    line: str


def grade(folder: str | Path, *, cell_seconds: float = 60.0, seconds: float = 300.0) -> list[Grade]:
    """Grade all notebooks below `folder`; the folder directly below it is the student's name.

    A notebook's file name holds the name of its lesson ("01-neuron (1).ipynb" too; "01-neuron.ipynb" wins).
    `cell_seconds` is the limit for one cell, `seconds` for the notebook.
    """
    lessons = {path.stem: path.read_text(encoding="utf-8") for path in sorted((_HERE / "lessons").glob("*.py"))}
    found: dict[tuple[str, str], Path] = {}
    for path in sorted(Path(folder).rglob("*.ipynb"), key=lambda path: (path.stem in lessons, path)):
        lesson = next((name for name in lessons if name in path.stem), None)
        if lesson and ".ipynb_checkpoints" not in path.parts:
            student, *below = path.relative_to(folder).parts
            if not below:
                raise DataError(f"{path} is in no student's folder: move it to {folder}/STUDENT/{path.name}")
            found[student, lesson] = path
    if not found:
        raise DataError(f"{folder} has no notebook of the course such as {folder}/STUDENT/01-neuron.ipynb")
    return [
        each
        for (student, lesson), path in sorted(found.items())
        for each in _grade_one(student, lesson, lessons[lesson], path, cell_seconds, seconds)
    ]


def _grade_one(student: str, lesson: str, text: str, path: Path, cell_seconds: float, seconds: float) -> list[Grade]:
    from rosenblatt.teaching import copy_materials

    marks: dict[str, Any] = {}
    # The process writes what it knows after every test, so a notebook that ends it loses only what comes after.
    with tempfile.TemporaryDirectory() as scratch:
        report, work = Path(scratch) / "report.json", Path(scratch) / "work"
        copy_materials(work)
        command = [sys.executable, "-m", "rosenblatt.teaching.grade"]
        command += [lesson, str(path.resolve()), str(report), str(cell_seconds)]
        environment = {name: value for name, value in os.environ.items() if name != "NBGRADER_EXECUTION"}
        try:
            done = subprocess.run(
                command,
                cwd=work,
                env=environment | {"MPLBACKEND": "agg"},
                timeout=seconds,
                capture_output=True,
                stdin=subprocess.DEVNULL,
            )
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] if done.returncode else []
            why = ": ".join(["the notebook ended its process", *last])
        except subprocess.TimeoutExpired:
            why = f"the notebook took longer than {seconds:g} seconds"
        if report.exists():
            marks = json.loads(report.read_text(encoding="utf-8"))
    grades = []
    for test in (cell for cell in parse(text) if cell.kind == "test"):
        passed, line = marks.get(test.name, [False, why])
        grades.append(Grade(student, lesson, test.name, test.points if passed else 0, test.points, line))
    return grades


def _run(lesson: str, path: str, report: str, cell_seconds: str) -> None:
    """Run one notebook in this process: the student's cells, and our tests in the place of the student's tests."""
    cells = json.loads(Path(path).read_text(encoding="utf-8")).get("cells", [])
    text = (_HERE / "lessons" / f"{lesson}.py").read_text(encoding="utf-8")
    tests = {cell.name: cell for cell in parse(text) if cell.kind == "test"}
    sys.path.insert(0, os.getcwd())
    namespace: dict[str, Any] = {"__name__": "__main__"}
    errors: dict[str, BaseException | None] = {}
    marks: dict[str, Any] = {}

    def run_test(name: str) -> None:
        marks[name] = _run_test(tests.pop(name), namespace, errors.get(name))
        Path(report).write_text(json.dumps(marks), encoding="utf-8")

    for cell in cells:
        if cell.get("cell_type") != "code":
            continue
        name = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", "")
        if name.removeprefix("test_") in tests and name.startswith("test_"):
            run_test(name.removeprefix("test_"))
            continue
        source = re.sub(r"(?m)^\s*[%!].*$", "", "".join(cell.get("source", "")))
        with contextlib.redirect_stdout(io.StringIO()):
            _, errors[name] = course.call_within(float(cell_seconds), _execute, source, namespace)
    for name in list(tests):
        run_test(name)


def _execute(source: str, namespace: dict[str, Any]) -> None:
    exec(compile(source, "cell", "exec"), namespace)


def _run_test(test: Cell, namespace: dict[str, Any], error: BaseException | None) -> tuple[bool, str]:
    """Whether all checks of a test pass, with the first line that says why not."""
    # A fresh module: a notebook may have changed the one that it imports.
    helpers = runpy.run_path(str(_HERE / "course.py"))
    judged: list[tuple[str, str]] = []

    def check(*arguments: Any, **options: Any) -> None:
        judged.append(helpers["judge"](test.name, *arguments, **options))

    with contextlib.redirect_stdout(io.StringIO()):
        try:
            _execute(test.text, namespace | {"check": check})
        except BaseException as raised:
            cause = error or raised
            judged.append((course.WRONG, f"{test.name}: {type(cause).__name__}: {cause}"))
    mark, line = next((each for each in judged if each[0] != course.RIGHT), judged[-1])
    return mark == course.RIGHT, f"{mark} {line}"


def render_grades(grades: list[Grade]) -> str:
    """A line per student: points per lesson, and in all."""
    lessons = sorted({g.lesson for g in grades})
    lines: list[list[object]] = []
    for student in sorted({g.student for g in grades}):
        own = [g for g in grades if g.student == student]
        cells = [_points([g for g in own if g.lesson == lesson]) for lesson in lessons]
        lines.append([student, *cells, _points(own)])
    return render_columns(["student", *(lesson[:2] for lesson in lessons), "all"], lines)


def _points(grades: list[Grade]) -> str:
    return f"{sum(g.points for g in grades)}/{sum(g.most for g in grades)}" if grades else "-"


if __name__ == "__main__":
    _run(*sys.argv[1:5])
