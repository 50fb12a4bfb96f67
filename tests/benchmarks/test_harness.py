"""The benchmarks' own arithmetic: turns, ratios, exponents, the guard, and a page that shows what was found."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of the benchmarks as its scripts do, and forgets it afterwards."""
    monkeypatch.syspath_prepend(str(HERE))
    before = set(sys.modules)
    yield import_module
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and Path(str(sys.modules[name].__file__)).parent == HERE:
            del sys.modules[name]


def test_contestants_take_turns(load: Any) -> None:
    ran: list[str] = []
    times = load("measure").take_turns({"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}, 3)
    assert ran == ["a", "b", "b", "a", "a", "b"]
    assert [len(each.cpu) for each in times.values()] == [3, 3]


def test_ratio_is_of_the_medians_with_the_spread_of_the_turns(load: Any) -> None:
    measure = load("measure")
    ratio = measure.compare(measure.Times(cpu=[1.0, 2.0, 4.0]), measure.Times(cpu=[10.0, 6.0, 12.0]))
    assert ratio.columns() == {"ratio": 5.0, "least": 3.0, "most": 10.0}


def test_exponent_of_a_power_law(load: Any) -> None:
    sizes = [1, 10, 100, 1000]
    columns = {"held": "", "scikit-learn s": None}
    lines = [
        {"against": "n", "size": n, "ours s": 3.0 * n**1.5, "our peak MB beyond it": 2.0 * n, **columns} for n in sizes
    ]
    assert load("growth").fit_exponents(lines) == [
        {"against": "n", "held": "", "ours": 1.5, "scikit-learn": None, "our memory": 1.0}
    ]


@pytest.mark.parametrize(
    ("now", "complaint"),
    [
        ({"a": 105}, None),
        ({"a": 106}, "a: +6.0 %, more than 5 % is not allowed"),
        ({"a": 100, "b": 1}, "b: is counted but not kept; run with --record"),
        ({}, "a: is kept but no longer counted; run with --record"),
    ],
)
def test_guard(load: Any, now: dict[str, int], complaint: str | None) -> None:
    assert load("instructions").judge(now, {"a": 100}) == ([] if complaint is None else [complaint])


def test_page_shows_what_was_found(load: Any, tmp_path: Path) -> None:
    about = {"machine": {"processor": "abacus", "commit": "abc"}, "date": "2026-01-02", "quick": False, "seconds": 3.2}
    other = {**about, "machine": {"processor": "abacus", "commit": "def"}}
    script = tmp_path / "beads.py"
    script.write_text('"""How soon beads move.\n\n    python beads.py\n\nBy hand.\n"""\n')
    second = tmp_path / "rods.py"
    second.write_text('"""Rods."""\n')
    found = {"load": 0.5, "seconds": {"ours": 1.25, "theirs": 2.5}, "ratio": {"theirs": 2.0}, "rows": [{"n": 12345}]}
    (tmp_path / "beads.json").write_text(json.dumps({"about": about, "found": found}))
    (tmp_path / "rods.json").write_text(json.dumps({"about": other, "found": [{"rod": "a|b", "share": 0.1}]}))
    page = load("render").render(tmp_path, tmp_path / "RESULTS.md", [script, second])
    assert page == (tmp_path / "RESULTS.md").read_text()
    for line in (
        "| processor | abacus |",
        "`rods` was run with commit def.",
        "## How soon beads move",
        "`benchmarks/beads.py`, 3 s. By hand.",
        "| theirs | 2.5 | 2 |",
        "| 12,345 |",
        "| a\\|b | 0.1 |",
    ):
        assert line in page.splitlines()


def test_accuracies_as_tables_and_a_picture(load: Any, tmp_path: Path) -> None:
    figures = {"AutoPerceptron": {"accuracy": 97.5, "seconds": 0.25}, "LinearSVC": {"accuracy": 96.0, "seconds": 0.5}}
    found = [{"set": "sonar", "rows": 156, "features": 60, "figures": figures}]
    accuracies, seconds = (table for table in load("render").render_found("accuracy", found) if "|" in table)
    assert "| sonar | 156 | 60 | 97.5 | 96 |" in accuracies
    assert "| sonar | 156 | 60 | 0.25 | 0.5 |" in seconds
    assert load("pictures").draw("accuracy", found, tmp_path) == ["accuracy.svg"]
    assert "sonar" in (tmp_path / "accuracy.svg").read_text()


def test_made_rows_are_what_they_say(load: Any) -> None:
    rows = load("rows")
    X, _ = rows.make_text(2000, 5000, values=30)
    assert X.shape == (2000, 5000)
    assert X.indices.dtype == np.int32
    assert np.diff(X.indptr).mean() == pytest.approx(30, rel=0.05)
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1.0)
    stream = rows.make_dicts(5, 60)
    assert [len(features) for features, _ in stream] == [60] * 5


def test_the_counted_loops_are_the_engine_s(load: Any) -> None:
    """The loops are compiled by hand, beside the package: a change of the engine must not leave them behind."""
    instructions = load("instructions")
    words = ["c++", *instructions.FLAGS, "-fsyntax-only", f"-I{HERE.parent / 'engine'}", str(HERE / "loops.cpp")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
