"""The pocket holds the best weights for the rows that are learned now, not for rows of an earlier call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rosenblatt import KernelPerceptron, PassiveAggressive, PocketPerceptron

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

POCKETS: dict[str, Any] = {
    "perceptron": PocketPerceptron,
    "PA-I": lambda **options: PassiveAggressive(keep="pocket", **options),
    "linear kernel": lambda **options: KernelPerceptron(kernel="linear", keep="pocket", **options),
}
every_pocket = pytest.mark.parametrize("pocket", POCKETS.values(), ids=POCKETS)


def two_tasks() -> tuple[Any, Any, Any]:
    """The same rows under the labels of one task, and of the opposite one; one label in ten is wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = (X @ rng.normal(size=5) > 0) ^ (rng.random(300) < 0.1)
    return X, y.astype(int), 1 - y.astype(int)


@pytest.mark.parametrize("name", ["perceptron", "linear kernel"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_a_warm_start_on_other_rows_lets_go_of_the_old_pocket(name: str, shuffle: bool) -> None:
    X, before, now = two_tasks()
    options = {"max_iter": 30, "tol": None, "shuffle": shuffle}
    fresh = POCKETS[name](**options).fit(X, now)
    warm = POCKETS[name](**options, warm_start=True).fit(X, before).fit(X, now)
    assert warm.score(X, now) >= fresh.score(X, now) - 0.05


@every_pocket
def test_a_stream_after_a_fit_without_mistakes_lets_go_of_its_pocket(pocket: Any) -> None:
    """Rows that were fitted without a mistake leave a run that no row of a noisy stream comes near."""
    rng = np.random.default_rng(1)
    X, others = rng.normal(size=(500, 5)), rng.normal(size=(500, 5))
    now = others @ [-1.0, 0.3, 0, 0, 0] + 0.3 * rng.normal(size=500) > 0
    learner = pocket().fit(X, X[:, 0] > 0)
    for _ in range(5):
        learner.partial_fit(others, now)
    assert learner.score(others, now) >= pocket().fit(others, now).score(others, now) - 0.1


@every_pocket
def test_a_stream_that_changes_lets_go_of_the_old_pocket(pocket: Any) -> None:
    X, before, now = two_tasks()
    fresh, learner = pocket(), pocket()
    for _ in range(10):
        learner.partial_fit(X, before)
    for _ in range(10):
        learner.partial_fit(X, now)
        fresh.partial_fit(X, now)
    assert learner.score(X, now) >= fresh.score(X, now) - 0.15
