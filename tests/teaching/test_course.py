"""The course: notebooks run as handed out, and every exercise judges right, wrong, slow and crashing answers."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.cli.main import main
from rosenblatt.cli.teach import render_grades
from rosenblatt.errors import DataError
from rosenblatt.teaching import copy_course, course, grade, to_notebook
from rosenblatt.teaching.notebooks import parse, without_answers

LESSONS = sorted((Path(course.__file__).parent / "lessons").glob("*.py"))
NAMES = [path.stem for path in LESSONS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("course") / "made"
    copy_course(made, solutions=True)
    return made


def exercises():
    for path in LESSONS:
        cells = parse(path.read_text())
        for cell in cells:
            if cell.kind == "exercise":
                yield pytest.param(cells, cell, id=f"{path.stem}/{cell.name}")


def run_cells(cells, answer=None, full=True):
    """The namespace after the code cells up to the test of `answer`, and the marks of that test."""
    namespace, marks = {"__name__": "__main__"}, []
    for cell in cells:
        if cell.kind == "markdown" or cell.text.startswith(("scene(", "progress(")):
            continue
        text = cell.text if full else without_answers(cell.text)
        if cell.kind == "exercise" and answer is not None:
            if cell.name != answer.__name__:
                continue
            namespace[cell.name] = answer
        elif cell.kind == "test" and answer is not None:
            if cell.name == answer.__name__:
                namespace["check"] = lambda *a, **o: marks.append(course.check(*a, **o | {"seconds": 0.3}))
                exec(text, namespace)
                return namespace, marks
        else:
            exec(compile(text, cell.name or "cell", "exec"), namespace)
    return namespace, marks


@pytest.fixture(autouse=True)
def beside_the_notebooks(folder, monkeypatch):
    import matplotlib

    matplotlib.use("agg")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.parametrize("path", LESSONS, ids=NAMES)
def test_a_lesson_runs_with_its_solutions_and_all_are_right(path, capsys):
    cells = parse(path.read_text())
    run_cells(cells)
    shown = capsys.readouterr().out
    tests = [cell.name for cell in cells if cell.kind == "test"]
    assert 3 <= len(tests) <= 5
    assert tests == [cell.name for cell in cells if cell.kind == "exercise"]
    assert "✗" not in shown
    assert "…:" not in shown
    assert {line.split(":")[0].removeprefix("✓ ") for line in shown.splitlines() if line.startswith("✓")} == set(tests)
    names = ast.literal_eval(path.read_text().split(f'begin("{path.stem}", ')[1].split(")")[0])
    assert names.split() == tests


@pytest.mark.parametrize("path", LESSONS, ids=NAMES)
def test_students_get_no_answers(path):
    text = json.dumps(to_notebook(path.read_text()))
    assert "SOLUTION" not in text
    assert "HIDDEN" not in text
    assert text.count("# your code here") == path.read_text().count("BEGIN SOLUTION")


@pytest.mark.parametrize("path", LESSONS, ids=NAMES)
def test_a_lesson_says_its_aim_its_time_and_shows_pictures(path):
    text = path.read_text()
    assert all(part in text for part in ("**You will be able to**", "**You need**", "**Time:**", "scene("))
    assert "plt.show()" in text or "learning_curves(" in text


@pytest.mark.parametrize("path", [LESSONS[0], LESSONS[4]], ids=[NAMES[0], NAMES[4]])
def test_a_notebook_runs_in_jupyter(path, folder):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    made = nbformat.read(folder / f"{path.stem}.ipynb", as_version=4)
    nbformat.validate(made)
    nbclient.NotebookClient(made, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [output for cell in made.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert any("<iframe" in output.get("data", {}).get("text/html", "") for output in outputs)


@pytest.mark.parametrize(("cells", "cell"), list(exercises()))
def test_an_exercise_judges_wrong_slow_and_crashing_answers(cells, cell, capsys):
    few = [c for c in cells if c.kind in ("exercise", "test")]
    # Only the first code cell (imports and data) is needed by tests.
    first = next(c for c in cells if c.kind == "code")

    def wrong(*_):
        return "something else"

    def crash(*_):
        raise ZeroDivisionError("oh")

    def leave(*_):
        sys.exit(3)

    def empty(*_):
        return None

    def slow(*_):
        while True:
            time.sleep(0.01)

    for answer, sign in ((wrong, "✗"), (crash, "✗"), (leave, "✗"), (empty, "…"), (slow, "✗")):
        answer.__name__ = cell.name
        capsys.readouterr()
        started = time.monotonic()
        _, marks = run_cells([first, *few], answer)
        assert marks
        assert not any(marks)
        if cell.name != "lift":  # its test wraps the answer
            assert sign in capsys.readouterr().out
        assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("found", "expected", "equal"),
    [
        (np.array([1.5, 1.5]), [1.5, 1.5], True),
        ((1, [2, 3]), [1, (2, 3)], True),
        (np.float32(0.1), 0.1, True),
        (3.000000000001, 3, True),
        (0.1 + 0.2, 0.3, True),
        (np.int64(3), 3.0, True),
        (np.bool_(True), True, True),
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
    assert course.check(popped, ((rows,), 2), ((rows,), 2))


def test_nbgrader_sees_a_failed_check_as_an_error(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    with pytest.raises(AssertionError):
        course.check(abs, ((1,), 2))


def test_progress_is_kept_between_lessons(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    course.begin("01-neuron", "abs len")
    course.check(abs, ((-1,), 1))
    course.begin("02-by-hand", "len")
    course.check(len, (([],), 1))
    capsys.readouterr()
    course.progress()
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["01-neuron", "✓", "…", "1", "of", "2"],
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
    right = {cell.name: cell.text for cell in parse(LESSONS[0].read_text()) if cell.kind == "exercise"}
    visible_only = "def score(w, x, b):\n    return {0: -0.5, 3: 3.0, 5: 7}[x[0]]\n"
    cheat = "import course\ncourse.same = lambda *a: True\ndef check(*a): return True\ndef score(w, x, b): return 0\n"
    students = {
        "ada": right,
        "bob": right | {"score": visible_only},
        "cyd": right | {"score": cheat},
        "dan": right | {"score": "def score(w, x, b) return"},
        "eve": right | {"rescale": "import os\nos._exit(0)\n"},
        "fay": {},
    }
    for name, answers in students.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "01-neuron.ipynb").write_text(json.dumps(solved(folder, "01-neuron", **answers)))
    found = grade(tmp_path)
    assert render_grades(found).splitlines()[1].split() == ["ada", "7/7", "7/7"]
    grades = {(g.student, g.exercise): g.points for g in found}
    most = {cell.name: cell.points for cell in parse(LESSONS[0].read_text()) if cell.kind == "test"}
    assert {e: grades["ada", e] for e in most} == most
    assert [grades[name, "score"] for name in ("bob", "cyd", "dan", "eve", "fay")] == [0, 0, 0, 1, 0]
    assert [grades[name, "predict"] for name in students] == [1, 1, 1, 1, 1, 0]
    assert grades["eve", "rescale"] == 0


def test_grading_a_folder_without_notebooks_says_so(tmp_path):
    with pytest.raises(DataError):
        grade(tmp_path)


def test_a_lesson_of_the_site_has_its_exercises_and_no_answers(monkeypatch):
    pytest.importorskip("mdit_py_plugins")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "tools" / "course_site"))
    import build

    page = build.render_lesson(LESSONS[4].read_text())
    assert page.count("<textarea") == 4
    assert page.count("<button") == 3  # one check needs the compiled library
    assert page.count("<img") == 2
    assert "SOLUTION" not in page
    assert "HIDDEN" not in page


def test_the_helpers_need_only_the_standard_library(folder):
    code = "import sys; sys.path.insert(0, '.'); import course; assert course.check(abs, ((-1,), 1))"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
