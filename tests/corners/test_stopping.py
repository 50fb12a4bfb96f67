"""When learning stops, and what it then says of itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from typing import Any

import numpy as np
import pytest

from learners import rows
from rosenblatt import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    PassiveAggressive,
    PassiveAggressiveClassifier,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
)
from rosenblatt.playground.page import FOLDER

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

GATES = {"AND": [0, 0, 0, 1], "OR": [0, 1, 1, 1], "NAND": [1, 1, 1, 0], "NOR": [1, 0, 0, 0], "x1": [0, 0, 1, 1]}
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
FOUR = [Perceptron, AveragedPerceptron, VotedPerceptron, PocketPerceptron]
MARGIN: dict[str, Any] = {
    "margin perceptron": lambda **o: Perceptron(beta=1.0, **o),
    "PA": lambda **o: PassiveAggressive(variant="PA", **o),
    "PA-I": PassiveAggressive,
    "PA-II": lambda **o: PassiveAggressive(variant="PA-II", **o),
    "PA-I average": lambda **o: PassiveAggressive(keep="average", **o),
    "AROW": AROW,
    "kernel PA-I": lambda **o: KernelPerceptron(rule="PA-I", gamma=0.5, **o),
}


# -- toy sets


def test_and_converges_in_9_epochs_with_defaults() -> None:
    learner = Perceptron(shuffle=False).fit(CORNERS, GATES["AND"])
    assert (learner.stop_reason_, learner.n_iter_) == ("converged", 9)
    assert learner.score(CORNERS, GATES["AND"]) == 1.0


@pytest.mark.parametrize("kind", FOUR, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("tie", ["mistake", "positive"])
def test_every_gate_that_is_separable_converges_with_defaults_in_any_order(kind: Any, tie: Any) -> None:
    for name, answers in GATES.items():
        for y in (np.array(answers), np.where(answers, "yes", "no")):
            for signs in (CORNERS, 2 * CORNERS - 1):
                assert kind(shuffle=False, tie=tie).fit(signs, y).stop_reason_ == "converged", name
                for seed in range(5):
                    assert kind(random_state=seed, tie=tie).fit(signs, y).stop_reason_ == "converged", (name, seed)


@cache
def presets() -> list[tuple[str, Any, Any]]:
    """The toy sets of the playground, as its own engine makes them."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed: the toy sets of the playground are made by it")
    script = f"""
    import {{ PRESETS, makePreset }} from "{(FOLDER / "engine" / "presets.js").as_uri()}"
    const given = [{{}}, {{ n: 12 }}, {{ n: 100 }}, {{ margin: 0.02 }}, {{ margin: 0.1, n: 60 }}, {{ seed: 7 }}]
    const sets = []
    for (const name of Object.keys(PRESETS))
      for (const one of given) {{
        const {{ make, options }} = PRESETS[name]
        sets.push([name + " " + JSON.stringify(one), make({{ ...options, ...one }})])
      }}
    console.log(JSON.stringify(sets))
    """
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True, timeout=60
    )
    return [
        (name, np.array([[p["x"], p["y"]] for p in points], float), np.array([p["c"] for p in points]))
        for name, points in json.loads(done.stdout)
    ]


@cache
def separable_presets(shuffle: bool) -> list[tuple[str, Any, Any]]:
    """Those that a perceptron without patience separates."""
    return [(name, X, y) for name, X, y in presets() if Perceptron(shuffle=shuffle, tol=None).fit(X, y).converged_]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("kind", FOUR, ids=lambda kind: kind.__name__)
def test_every_separable_toy_set_of_the_playground_converges_with_defaults(kind: Any, shuffle: bool) -> None:
    assert len(separable_presets(shuffle)) > 10
    for name, X, y in separable_presets(shuffle):
        assert kind(shuffle=shuffle).fit(X, y).stop_reason_ == "converged", name


# -- patience


def waited(learner: Any) -> int:
    """Epochs since the mistake rate was last better than ever."""
    mistakes = learner.history_.mistakes
    return len(mistakes) - 1 - int(np.argmin(mistakes))


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("n", [4, 30, 300, 3000])
def test_learning_is_not_given_up_before_100_000_rows_or_half_of_all_epochs(n: int, shuffle: bool) -> None:
    X, y = rows(n, d=2, seed=1)
    y = np.random.default_rng(0).permutation(y)
    learner = Perceptron(shuffle=shuffle).fit(X, y)
    assert learner.stop_reason_ == "max_iter" or waited(learner) * n >= 100_000 or waited(learner) >= 500


def test_half_of_few_epochs_is_enough_patience() -> None:
    learner = Perceptron(shuffle=False, max_iter=40).fit(CORNERS, [0, 1, 1, 0])
    assert learner.stop_reason_ == "no_change"
    assert waited(learner) >= 20


@pytest.mark.parametrize("shuffle", [False, True])
def test_patience_of_margin_rules_counts_rows_too(shuffle: bool) -> None:
    X, y = rows(30, d=2, seed=1)
    y = np.random.default_rng(0).permutation(y)
    learner = PassiveAggressive(C=0.1, shuffle=shuffle).fit(X, y)
    assert learner.stop_reason_ == "max_iter" or learner.n_iter_ >= 500


def test_patience_with_early_stopping_counts_rows_too() -> None:
    X, y = rows(60, d=2, seed=1)
    y = np.random.default_rng(0).permutation(y)
    learner = Perceptron(early_stopping=True).fit(X, y)
    scores = learner.history_.validation_score
    assert learner.stop_reason_ == "max_iter" or len(scores) - 1 - int(np.argmax(scores)) >= 500


# -- converged, for rules that move without a mistake


@pytest.mark.parametrize("name", MARGIN)
def test_converged_means_an_epoch_without_an_update(name: str) -> None:
    X, y = rows(40, d=6, seed=4)
    X[y == "class 1", 0] += 6.0
    X[y == "class 0", 0] -= 6.0
    for shuffle in (False, True):
        learner = MARGIN[name](shuffle=shuffle).fit(X, y)
        if learner.converged_:
            assert learner.history_.updates[-1] == 0
        else:
            assert learner.history_.updates[-1] > 0


@pytest.mark.parametrize("name", ["PA", "PA-I"])
def test_a_separated_set_whose_rows_still_move_the_weights_goes_on(name: str) -> None:
    X, y = np.array([[-1.0, 0.2], [-0.5, -0.1], [0.5, 0.1], [1.0, -0.2]]), np.array([0, 0, 1, 1])
    learner = MARGIN[name](shuffle=False).fit(X, y)
    assert (np.where(y, 1, -1) * learner.decision_function(X)).min() >= 0.99, "every row has its margin in the end"


def test_equal_class_weights_change_nothing_as_in_scikit_learn() -> None:
    """The rows of scikit-learn's own test of class weights: two rows, each at its margin in the end."""
    X, y = [[1, 0], [1, 0], [0, 1], [0, 1]], [0, 0, 1, 1]

    def fitted(class_weight: Any) -> Any:
        return PassiveAggressiveClassifier(C=0.1, tol=None, class_weight=class_weight, random_state=0).fit(X, y)

    plain, balanced, given = fitted(None), fitted("balanced"), fitted({0: 0.5, 1: 0.5})
    np.testing.assert_allclose(balanced.coef_, plain.coef_, atol=1e-6)
    np.testing.assert_allclose(given.coef_, plain.coef_, atol=1e-2)
