"""The course: notebooks run as handed out, and every exercise judges right, wrong, slow and crashing answers."""

import json
import subprocess
import sys
import time
from fractions import Fraction
from functools import partial
from pathlib import Path

import nbclient
import nbformat
import numpy as np
import pytest

from rosenblatt.cli.main import main
from rosenblatt.errors import DataError
from rosenblatt.teaching import copy_course, course, grade, render_grades, to_notebook
from rosenblatt.teaching.notebooks import parse

LESSONS = sorted((Path(course.__file__).parent / "lessons").glob("*.py"))
NAMES = [path.stem for path in LESSONS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("course") / "made"
    copy_course(made, solutions=True)
    return made


def run_cells(cells, **answers):
    """Run the code cells, with the solutions or with other functions as `answers`."""
    namespace = {"__name__": "__main__"}
    for cell in cells:
        if cell.kind == "exercise" and cell.name in answers:
            namespace[cell.name] = answers[cell.name]
        elif cell.kind != "markdown" and not cell.text.startswith(("scene(", "progress(")):
            exec(compile(cell.text, cell.name or "cell", "exec"), namespace)


@pytest.fixture(autouse=True)
def beside_the_notebooks(folder, monkeypatch):
    import matplotlib

    matplotlib.use("agg")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.parametrize("path", LESSONS, ids=NAMES)
def test_a_lesson_has_its_parts_and_its_solutions_are_right(path, capsys):
    text = path.read_text()
    assert all(part in text for part in ("**You will be able to**", "**You need**", "**Time:**", "scene("))
    assert "plt.show()" in text or "learning_curves(" in text
    cells = parse(text)
    run_cells(cells)
    shown = capsys.readouterr().out
    tests = [cell.name for cell in cells if cell.kind == "test"]
    assert 3 <= len(tests) <= 5
    assert tests == [cell.name for cell in cells if cell.kind == "exercise"]
    assert "✗" not in shown
    assert {line.split(":")[0].removeprefix("✓ ") for line in shown.splitlines() if line.startswith("✓")} == set(tests)
    assert f'begin("{path.stem}", "{" ".join(tests)}")' in text
    # Students get neither solutions nor hidden tests.
    handout = json.dumps(to_notebook(text))
    assert "SOLUTION" not in handout
    assert "HIDDEN" not in handout
    assert handout.count("# your code here") == len(tests)


def test_another_right_answer_is_right(capsys):
    cells = parse(LESSONS[0].read_text())
    run_cells(cells, or_gate=lambda: (1, 1, -1))  # scores of -1, 0, 0, 1, and 0 fires
    assert "✓ or_gate" in capsys.readouterr().out


def crash(*_):
    raise ZeroDivisionError("oh")


def slow(*_):
    while True:
        time.sleep(0.01)


# Answers that an exercise may get, and its mark for each.
ANSWERS = [
    (lambda *_: "something else", "✗"),
    (crash, "✗"),
    (lambda *_: sys.exit(3), "✗"),
    (lambda *_: None, "…"),
    (slow, "✗"),
]


@pytest.mark.parametrize("path", LESSONS, ids=NAMES)
def test_exercises_judge_wrong_slow_and_crashing_answers(path, monkeypatch):
    marks, judge = {}, course.judge

    def judge_quickly(name, answer, *cases, seconds):
        marks[name], line = judge(name, answer, *cases, seconds=0.2)
        return marks[name], line

    monkeypatch.setattr(course, "judge", judge_quickly)
    monkeypatch.setitem(sys.modules, "course", course)
    cells = parse(path.read_text())
    tests = [cell for cell in cells if cell.kind == "test"]
    first = next(cell for cell in cells if cell.kind == "code")  # imports and data
    for answer, mark in ANSWERS:
        answers = {cell.name: partial(answer) for cell in tests}
        run_cells([first, *(cell for cell in cells if cell.kind == "exercise"), *tests], **answers)
        assert marks == {cell.name: mark for cell in tests}


@pytest.mark.parametrize("lesson", ["01-neuron", "05-xor"])
def test_a_notebook_runs_in_jupyter(lesson, folder):
    made = nbformat.read(folder / f"{lesson}.ipynb", as_version=4)
    nbformat.validate(made)
    nbclient.NotebookClient(made, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    for cell in made.cells:
        kinds = {kind for output in cell.get("outputs", ()) for kind in output.get("data", {})}
        if "plt.show()" in cell.source or cell.source.split("\n")[-1].startswith("boundary("):
            assert "image/png" in kinds, cell.source
        elif cell.source.startswith("scene("):
            assert "text/html" in kinds
        else:
            assert not kinds, cell.source


@pytest.mark.parametrize(
    ("found", "expected", "equal"),
    [
        (np.array([1.5, 1.5]), [1.5, 1.5], True),
        ((1, [2, 3]), [1, (2, 3)], True),
        (np.float32(0.1), 0.1, True),
        (3.000000000001, 3, True),
        (0.1 + 0.2, 0.3, True),
        (np.int64(3), 3.0, True),
        (Fraction(1, 2), 0.5, True),
        (np.bool_(True), True, True),
        (1, True, True),
        (False, 0, True),
        (range(3), [0, 1, 2], True),
        ((np.array([1, 2]), np.float64(0)), ([1, 2], 0), True),
        ({"a": np.float64(1)}, {"a": 1}, True),
        (float("nan"), float("nan"), True),
        (1.001, 1.0, False),
        ([0.3], [0.3, 0.3], False),
        ("1", 1, False),
        (None, 1, False),
        (2, True, False),
        ({"a": 1}, {"b": 1}, False),
        (float("inf"), float("-inf"), False),
    ],
)
def test_answers_are_compared_by_value(found, expected, equal):
    assert course.same(found, expected) is equal


def test_an_answer_that_changes_its_arguments_is_judged_by_its_value():
    def popped(rows):
        rows.pop()
        return len(rows)

    rows = [1, 2, 3]
    assert course.judge("popped", popped, ((rows,), 2), ((rows,), 2))[0] == "✓"


def test_nbgrader_sees_a_failed_check_as_an_error(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    course.check(abs, ((-1,), 1))
    with pytest.raises(AssertionError):
        course.check(abs, ((1,), 2))


def test_progress_is_saved_between_lessons_and_days(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    course.begin("01-neuron", "abs short len")
    course.check(abs, ((-1,), 1))
    exec("short = lambda: 1\ncheck(short, ((), 1))", {"check": course.check})
    course.begin("02-by-hand", "len")
    course.check(len, (([],), 1))
    course.begin("01-neuron", "abs short len")
    capsys.readouterr()
    course.progress()
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["01-neuron", "✓", "✓", "…", "2", "of", "3"],
        ["02-by-hand", "✗", "0", "of", "1"],
    ]


def test_the_folder_must_be_empty_and_holds_solutions_only_if_asked_for(tmp_path):
    assert main(["teach", str(tmp_path / "a")]) == 0
    assert not (tmp_path / "a" / "instructor").exists()
    assert {path.stem for path in (tmp_path / "a").glob("*.ipynb")} == set(NAMES)
    with pytest.raises(DataError):
        copy_course(tmp_path / "a")


def solved(folder, lesson, **answers):
    """A student's notebook with the answers written in."""
    made = json.loads((folder / f"{lesson}.ipynb").read_text())
    for cell in made["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in answers:
            cell["source"] = answers[name].splitlines(keepends=True)
    return made


def test_grading_gives_each_student_their_points_whatever_the_others_do(folder, tmp_path):
    tests = [cell for cell in parse(LESSONS[0].read_text()) if cell.kind == "test"]
    right = {cell.name: cell.text for cell in parse(LESSONS[0].read_text()) if cell.kind == "exercise"}
    visible_only = "def score(w, x, b):\n    print('debug')\n    return {0: -0.5, 3: 3.0, 5: 7}[x[0]]\n"
    cheat = "import course\ncourse.same = lambda *a: True\ndef check(*a): return True\ndef score(w, x, b): return 0\n"
    students = {
        "ada": (right, "1 1 2 1 2", ""),
        "bob": (right | {"score": visible_only}, "0 1 2 1 2", "KeyError"),
        "cyd": (right | {"score": cheat}, "0 1 2 1 2", "should be -0.5"),
        "dan": (right | {"score": "def score(w, x, b) return"}, "0 1 2 1 2", "SyntaxError"),
        "eve": (right | {"rescale": "import os\nos._exit(0)\n"}, "1 1 2 1 0", "ended its process"),
        "fay": ({}, "0 0 0 0 0", "not written yet"),
    }
    for name, (answers, *_) in students.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "01-neuron (1).ipynb").write_text(json.dumps(solved(folder, "01-neuron", **answers)))
    (tmp_path / "ada" / "01-neuron (1).ipynb").rename(tmp_path / "ada" / "01-neuron.ipynb")
    (tmp_path / "ada" / "01-neuron-Copy1.ipynb").write_text("not a notebook")
    found = grade(tmp_path)
    assert render_grades(found).splitlines()[1].split() == ["ada", "7/7", "7/7"]
    for name, (_, points, line) in students.items():
        own = [g for g in found if g.student == name]
        assert [g.exercise for g in own] == [cell.name for cell in tests]
        assert " ".join(str(g.points) for g in own) == points, name
        assert line in next((g.line for g in own if not g.points), "")


def test_an_endless_cell_does_not_keep_later_answers_from_their_points(tmp_path):
    score, predict = (
        cell.text
        for cell in parse(LESSONS[0].read_text())
        if cell.name in ("score", "predict") and cell.kind == "exercise"
    )
    cells = [{"cell_type": "code", "source": text} for text in (score, "while True: pass", predict)]
    (tmp_path / "gus").mkdir()
    (tmp_path / "gus" / "01-neuron.ipynb").write_text(json.dumps({"cells": cells}))
    assert [g.points for g in grade(tmp_path, cell_seconds=5)] == [1, 1, 0, 0, 0]


def test_no_notebook_or_one_outside_a_students_folder_is_not_graded(tmp_path):
    with pytest.raises(DataError):
        grade(tmp_path)
    (tmp_path / "01-neuron.ipynb").write_text('{"cells": []}')
    with pytest.raises(DataError, match="01-neuron"):
        grade(tmp_path)


def test_a_lesson_of_the_site_has_its_exercises_and_no_answers(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "tools" / "course_site"))
    import build

    page = build.render_lesson(LESSONS[4].read_text())
    assert page.count("<textarea") == 4
    assert page.count("<button") == 3  # one check needs the compiled library
    assert page.count("<img") == 2
    assert "SOLUTION" not in page
    assert "HIDDEN" not in page


def test_the_helpers_need_only_the_standard_library(folder):
    code = "import sys; sys.path.insert(0, '.'); import course; course.check(abs, ((-1,), 1))"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
