"""Any sequence of calls, on every learner, beside a fresh learner that only learned.

What predicts, copies, saves or asks is left out of the second one's story: it must not matter.
"""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from interleave import interleave
from sklearn.base import clone

from learners import KERNEL, LINEAR, PROBABLE, answers, assert_same, dicts, rows, same
from rosenblatt import load, save

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

BRIEF = settings(
    max_examples=40,
    stateful_step_count=16,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # a failure says its steps; making them fewer would take longer than everything else
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
)
GROUPS = {
    "perceptrons": ["last", "margin", "average", "vote", "pocket"],
    "one-vs-rest": ["positive tie", "average ovr", "vote ovr", "pocket ovr", "AROW ovr"],
    "penalties": ["l2", "average l1"],
    "margins": ["PA", "PA-I", "PA-I average", "PA-II vote", "PA-II pocket", "PassiveAggressiveClassifier"],
    "AROW": ["AROW", "AROW average"],
    "kernels": [name for name in KERNEL if name != "kernel function"],
    "probabilities": ["auto linear", "sigmoid", "votes"],
}
ALL = LINEAR | KERNEL | PROBABLE
batches = st.tuples(st.integers(2, 3), st.integers(0, 5), st.sampled_from([np.float64, np.float32]))


def batch(width: int, drawn: tuple[int, int, Any]) -> tuple[Any, Any]:
    classes, seed, dtype = drawn
    X, y = rows(24, d=width, classes=classes, seed=seed)
    return X.astype(dtype), y


def interrupted(*_: Any, **__: Any) -> Any:
    raise KeyboardInterrupt


class Story(RuleBasedStateMachine):
    """A learner, and the calls from which it learned."""

    names: list[str]

    @initialize(data=st.data(), width=st.integers(2, 4))
    def begin(self, data: Any, width: int) -> None:
        self.make = ALL[data.draw(st.sampled_from(self.names))]
        self.learner, self.width = self.make(), width
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def learned(self, name: str, *arguments: Any) -> None:
        self.calls.append((name, arguments))

    def twin(self) -> Any:
        fresh = self.make()
        for name, arguments in self.calls:
            getattr(fresh, name)(*arguments) if name != "set_params" else fresh.set_params(**arguments[0])
        return fresh

    @property
    def fitted(self) -> bool:
        return any(name != "set_params" for name, _ in self.calls)

    @property
    def streams(self) -> bool:
        return hasattr(self.learner, "learn_one")

    def probe(self) -> Any:
        return rows(6, d=self.width, seed=9)[0]

    def compare(self) -> None:
        assert_same(answers(self.learner, self.probe()), answers(self.twin(), self.probe()))

    # -- what learns

    @rule(drawn=batches, width=st.integers(2, 4))
    def fit(self, drawn: Any, width: int) -> None:
        X, y = batch(width, drawn)
        self.width = width
        self.calls = [call for call in self.calls if call[0] == "set_params"]  # fit forgets everything but parameters
        self.learned("fit", X, y)
        self.learner.fit(X, y)
        self.compare()

    @rule(drawn=batches)
    def partial_fit(self, drawn: Any) -> None:
        X, y = batch(self.width, drawn)
        self.learned("partial_fit", X, y)
        self.learner.partial_fit(X, y)
        self.compare()

    @precondition(lambda self: self.streams and self.fitted)
    @rule(seed=st.integers(0, 5), label=st.integers(0, 3))
    def learn_one(self, seed: int, label: int) -> None:
        x = dicts(rows(2, d=self.width, seed=seed)[0])[0]
        self.learned("learn_one", x, f"class {label}")
        self.learner.learn_one(x, f"class {label}")
        self.compare()

    @precondition(lambda self: "max_iter" in self.learner.get_params())
    @rule(epochs=st.integers(1, 5))
    def set_params(self, epochs: int) -> None:
        self.learned("set_params", {"max_iter": epochs})
        self.learner.set_params(max_iter=epochs)

    # -- what must not matter

    @precondition(lambda self: self.fitted)
    @rule()
    def predict(self) -> None:
        answers(self.learner, self.probe())

    @precondition(lambda self: self.fitted and self.streams)
    @rule(new=st.booleans())
    def predict_one(self, new: bool) -> None:
        x = dicts(self.probe())[0]
        self.learner.predict_one(x | {"never seen": 1.0} if new else x)

    @rule()
    def pickle(self) -> None:
        self.learner = pickle.loads(pickle.dumps(self.learner))

    @precondition(lambda self: self.fitted)
    @rule()
    def save_and_load(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            save(self.learner, Path(folder) / "model")
            loaded = load(Path(folder) / "model")
        assert_same(
            answers(loaded, self.probe())[:2], answers(self.learner, self.probe())[:2], "a loaded model's answers"
        )

    @precondition(lambda self: self.fitted)
    @rule()
    def go_on_from_a_file(self) -> None:
        """What was saved and loaded goes on in the learner's place."""
        with tempfile.TemporaryDirectory() as folder:
            save(self.learner, Path(folder) / "model")
            self.learner = load(Path(folder) / "model").learner_
        self.compare()

    @precondition(lambda self: self.streams and self.fitted)
    @rule(seed=st.integers(0, 5), label=st.integers(0, 3), weight=st.sampled_from([0.0, 0.5, 3.0]))
    def learn_one_with_a_weight_and_a_new_feature(self, seed: int, label: int, weight: float) -> None:
        x = dicts(rows(2, d=self.width, seed=seed)[0])[0]
        self.learned("learn_one", x, f"class {label}", weight)
        self.learner.learn_one(x, f"class {label}", weight)
        self.compare()

    @precondition(lambda self: self.fitted and hasattr(self.learner, "has_learned"))
    @rule(drawn=batches)
    def an_interrupted_call(self, drawn: Any) -> None:
        """An interruption before the first row: nothing was learned, and nothing has changed."""
        X, y = batch(self.width, drawn)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rosenblatt.learners.base.as_table", interrupted)
            with pytest.raises(KeyboardInterrupt):
                self.learner.partial_fit(X, y)
        self.compare()

    @rule()
    def clone_is_new(self) -> None:
        assert not hasattr(clone(self.learner), "classes_")

    @precondition(lambda self: self.fitted)
    @rule()
    def a_bad_call(self) -> None:
        bad = np.full((2, self.width), np.nan)
        with pytest.raises(ValueError, match="NaN"):
            self.learner.partial_fit(bad, ["class 0", "another class"])
        self.compare()


class StoryWithReaders(Story):
    """The same, and while the learner learns another thread reads it."""

    @precondition(lambda self: self.fitted)
    @rule(drawn=batches)
    def partial_fit_beside_a_reader(self, drawn: Any) -> None:
        X, y = batch(self.width, drawn)
        before = [self.learner.decision_function(self.probe())]
        self.learned("partial_fit", X, y)
        _, found, _ = interleave(
            lambda: self.learner.partial_fit(X, y),
            lambda: [self.learner.decision_function(self.probe())],
            every=11,
        )
        after = [self.learner.decision_function(self.probe())]
        for said in found:
            assert not isinstance(said, Exception), repr(said)
            assert same(said, before) or same(said, after), "an answer that is neither of before nor of after"
        self.compare()

    @precondition(lambda self: self.fitted)
    @rule(at=st.integers(0, 80))
    def two_readers(self, at: int) -> None:
        expected = [self.twin().decision_function(self.probe())]
        self.learner = pickle.loads(pickle.dumps(self.learner))
        read = lambda: [self.learner.decision_function(self.probe())]  # noqa: E731
        first, second, _ = interleave(read, read, at)
        for said in [first, *second, read()]:
            assert_same(said, expected)


@pytest.mark.parametrize("group", GROUPS)
def test_every_story_ends_as_that_of_a_fresh_learner(group: str) -> None:
    run_state_machine_as_test(type("StoryOf", (Story,), {"names": GROUPS[group]}), settings=BRIEF)


@pytest.mark.parametrize("group", GROUPS)
def test_every_story_with_readers_ends_as_that_of_a_fresh_learner(group: str) -> None:
    run_state_machine_as_test(type("StoryOf", (StoryWithReaders,), {"names": GROUPS[group]}), settings=BRIEF)
