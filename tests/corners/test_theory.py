"""Theory: bad input is refused by its row, every learner's steps can be followed, and nothing extra is needed."""

from __future__ import annotations

import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import rosenblatt.theory as theory
from learners import rows
from rosenblatt import AROW, NormalizedPerceptron, PassiveAggressive, PassiveAggressiveRegression
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.theory import certify, ledger, separate, trace

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

README = Path(__file__).resolve().parents[2] / "README.md"
X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
AND = [0, 0, 0, 1]


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("check", [trace, ledger, certify, separate], ids=lambda check: check.__name__)
def test_a_value_that_is_no_number_is_refused_with_its_row_and_column(check: Any, sparse: bool, value: float) -> None:
    bad = X.copy()
    bad[2, 1] = value
    with pytest.raises(DataError, match=r"(?i)(nan|inf).* row 2, column 1"):
        check(sp.csr_array(bad) if sparse else bad, AND)


@pytest.mark.parametrize("check", [trace, ledger, certify, separate], ids=lambda check: check.__name__)
def test_text_in_a_row_is_refused_with_its_row_and_column(check: Any) -> None:
    bad = X.astype(object)
    bad[2, 1] = "one"
    with pytest.raises(DataError, match=r"'one'.* row 2, column 1"):
        check(bad, AND)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("r", [0.1, 1.0])
def test_a_trace_of_arow_has_the_mistakes_of_its_fit(shuffle: bool, r: float) -> None:
    learner = AROW(r=r, shuffle=shuffle, max_iter=5, tol=None)
    steps = trace(X, AND, learner)
    fitted = AROW(r=r, shuffle=shuffle, max_iter=5, tol=None).fit(X, AND)
    assert steps.mistakes == fitted.history_.mistakes
    last = steps.records()[-1]
    np.testing.assert_allclose([*last["w_after"], last["b_after"]], [*fitted.coef_[0], fitted.intercept_[0]])


@pytest.mark.parametrize("check", [trace, ledger, certify, separate], ids=lambda check: check.__name__)
@pytest.mark.parametrize("labels", [[0.0, 0.0, np.nan, 1.0], np.array(["a", "a", None, "b"], dtype=object)], ids=str)
def test_a_label_that_is_none_is_refused_with_its_row(check: Any, labels: Any) -> None:
    with pytest.raises(LabelError, match=r"y contains (NaN|None) in row 2"):
        check(X, labels)


@pytest.mark.parametrize("value", [2**53 + 1, Fraction(1, 3), 10**400], ids=["odd", "third", "huge"])
def test_a_number_that_is_no_float_is_refused_with_its_row_and_column(value: Any) -> None:
    bad = X.astype(object)
    bad[2, 1] = value
    with pytest.raises(DataError, match=r"row 2, column 1, which is not exact"):
        certify(bad, AND)


def test_numbers_of_python_are_taken_as_they_are() -> None:
    assert certify(X.astype(object), AND).as_dict() == certify(X, AND).as_dict()


def test_a_ledger_of_arow_says_that_no_theorem_here_is_about_it() -> None:
    with pytest.raises(ParameterError) as found:
        ledger(X, AND, AROW())
    assert "AROW" in str(found.value)
    assert "_bound" not in str(found.value)


@pytest.mark.parametrize(
    "learner", [PassiveAggressive(), PassiveAggressive(variant="PA"), NormalizedPerceptron()], ids=str
)
def test_every_theorem_that_a_message_names_is_there_and_is_that_of_the_rule(learner: Any) -> None:
    with pytest.raises(ParameterError) as found:
        ledger(X, AND, learner)
    named = re.findall(r"\b[a-z_]+_bound\b", str(found.value))
    assert named == (["passive_aggressive_bound"] if isinstance(learner, PassiveAggressive) else [])
    assert all(hasattr(theory, name) for name in named)


def without_flint(code: str) -> subprocess.CompletedProcess[str]:
    """Run Python where python-flint is not installed."""
    blocked = "import sys; sys.modules['flint'] = None\n"
    return subprocess.run([sys.executable, "-c", blocked + code], capture_output=True, text=True, timeout=120)


def test_certify_needs_no_extra_to_prove_that_data_are_not_separable() -> None:
    done = without_flint(
        "from rosenblatt.theory import certify\n"
        "rows, labels = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]\n"
        "verdict = certify(rows, labels)\n"
        "print(type(verdict).__name__, verdict.check(rows, labels))\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["NotSeparable", "True"]


def test_certify_without_the_extra_gives_the_verdicts_that_it_gives_with_it() -> None:
    code = (
        "import numpy as np\n"
        "from rosenblatt.theory import certify\n"
        "found = []\n"
        "for seed in range(6):\n"
        "    rng = np.random.default_rng(seed)\n"
        "    rows = rng.integers(-3, 4, size=(12, 3)).astype(float)\n"
        "    for labels in (rng.integers(0, 2, 12), (rows[:, 0] > rows[:, 1]).astype(int), rng.integers(0, 3, 12)):\n"
        "        if len(set(labels.tolist())) > 1:\n"
        "            verdict = certify(rows, labels)\n"
        "            found.append(f'{type(verdict).__name__} {verdict.check(rows, labels)}')\n"
    )
    done = without_flint(code + "print(*found, sep=chr(10))\n")
    assert done.returncode == 0, done.stderr
    here: dict[str, Any] = {}
    exec(code, here)
    assert done.stdout.splitlines() == here["found"]


def test_the_lines_of_the_readme_run_without_any_extra() -> None:
    done = without_flint(
        "for name in ('onnx', 'matplotlib', 'PIL', 'pandas', 'polars', 'onnxruntime'): sys.modules[name] = None\n"
        "import doctest\n"
        f"found = doctest.testfile({str(README)!r}, module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)\n"
        "sys.exit(found.failed > 0 or found.attempted == 0)\n"
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_regression_has_no_ledger_of_mistakes() -> None:
    X, y = rows(20)
    with pytest.raises(ParameterError, match="regression"):
        ledger(X, (y == "class 1").astype(float), PassiveAggressiveRegression())
