"""The teaching kit: every lesson runs as it is handed out, and the solutions answer every question it asks."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

KIT = Path(__file__).resolve().parents[2] / "teaching"
LESSONS = ("by_hand", "convergence", "margins", "xor", "averaging", "kernels")


@pytest.fixture
def exercise(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module that marks, as a lesson finds it: beside itself."""
    monkeypatch.syspath_prepend(str(KIT))
    sys.modules.pop("exercise", None)
    import exercise

    yield exercise
    sys.modules.pop("exercise", None)


def test_the_kit_has_these_lessons_and_each_has_solutions() -> None:
    assert {path.stem for path in KIT.glob("*.py")} == {*LESSONS, "exercise"}
    assert {path.stem for path in (KIT / "solutions").glob("*.py")} == set(LESSONS)
    assert tuple(re.findall(r"^\| \[(\w+)\.py\]", (KIT / "README.md").read_text(), re.M)) == LESSONS


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_runs_as_handed_out_and_its_solutions_are_right(
    lesson: str, exercise: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(KIT / f"{lesson}.py"), run_name="__main__")
    shown = capsys.readouterr().out
    asked = list(exercise.ASKED)
    assert [name for name, _ in asked] == re.findall(r"^… (\w+): yours to write$", shown, re.M)
    assert len(asked) == 3
    solved = runpy.run_path(str(KIT / "solutions" / f"{lesson}.py"))
    for name, cases in asked:
        assert exercise.check(solved[name], *cases)
        assert solved[name].__doc__


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_wrong_answer_is_marked_wrong(lesson: str, exercise: Any, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(KIT / f"{lesson}.py"), run_name="__main__")
    for name, cases in list(exercise.ASKED):

        def wrong(*_: Any) -> str:
            return "something else"

        wrong.__name__ = name
        capsys.readouterr()
        assert not exercise.check(wrong, *cases)
        assert capsys.readouterr().out.startswith(f"✗ {name}")


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_is_cells_of_prose_and_code(lesson: str) -> None:
    cells = re.split(r"(?m)^# %%", (KIT / f"{lesson}.py").read_text())
    assert cells[0] == ""
    prose = [cell for cell in cells if cell.startswith(" [markdown]")]
    assert all(line.startswith("#") for cell in prose for line in cell.rstrip().splitlines()[1:])
    assert len(prose) >= 6


@pytest.mark.slow
def test_a_lesson_runs_from_any_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(KIT / "xor.py")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "not separable" in done.stdout


def test_numbers_may_differ_by_rounding_and_nothing_else_may(exercise: Any) -> None:
    assert exercise.same([0.1 + 0.2, (1,)], [0.3, (1,)])
    assert not exercise.same([0.3], [0.3, 0.3])
    assert not exercise.same(1.0, 1.001)
    assert not exercise.same(True, False)
