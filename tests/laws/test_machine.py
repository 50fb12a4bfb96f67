"""Any sequence of calls, on every learner, beside a fresh learner that only learned.

What predicts, copies, saves or asks is left out of the second one's story: it must not matter.
"""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from interleave import interleave
from length import up_to
from registry import HASHED, KERNEL, LINEAR, NUMBERS, PROBABLE, SEVERAL, answers, assert_same, rows, same
from sklearn.base import clone
from written import reloaded

pytestmark = pytest.mark.long

BRIEF = settings(
    max_examples=up_to(25, short=4),
    stateful_step_count=16,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # a failure says its steps; making them fewer would take longer than everything else
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
)
GROUPS = {
    "perceptrons": ["last", "margin", "average", "tail", "vote", "pocket"],
    "normalized": ["normalized", "normalized vote"],
    "one-vs-rest": ["positive tie", "average ovr", "vote ovr", "pocket ovr", "AROW ovr"],
    "penalties": ["l2", "average l1", "PA-I average elasticnet"],
    "margins": ["PA", "PA-I", "PA-I average", "PA-II vote", "PA-II pocket", "PassiveAggressiveClassifier"],
    "AROW": ["AROW", "AROW average"],
    "kernels": [name for name in KERNEL if name != "kernel function"],
    "probabilities": ["sigmoid", "votes"],
    "choices": ["auto", "auto linear"],
    "hashed": ["hashed", "hashed average ovr", "hashed vote"],
    "numbers": ["PA of numbers", "PA-I of numbers", "PA-II of numbers average", "regressor"],
    "several labels": ["several", "several average", "several PA", "several pocket"],
}
ALL = LINEAR | KERNEL | PROBABLE | HASHED | NUMBERS | SEVERAL
weights = st.sampled_from([None, [1.0, 0.5, 3.0], [0.0, 1.0, 2.0]])
batches = st.tuples(st.integers(2, 3), st.integers(0, 5), st.sampled_from([np.float64, np.float32]))


def interrupted(*_: Any, **__: Any) -> Any:
    raise KeyboardInterrupt


class Story(RuleBasedStateMachine):
    """A learner, and the calls from which it learned."""

    names: list[str]

    @initialize(data=st.data(), width=st.integers(2, 4))
    def begin(self, data: Any, width: int) -> None:
        self.name = data.draw(st.sampled_from(self.names))
        self.make = ALL[self.name]
        self.learner = self.make()
        self.name_columns(width)
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def name_columns(self, width: int) -> None:
        """As many columns, named by their numbers; with hashed names always as many as there are hashes."""
        self.columns: list[Any] = list(range(8 if self.name in HASHED else width))

    @property
    def width(self) -> int:
        return len(self.columns)

    def batch(self, drawn: tuple[int, int, Any]) -> tuple[Any, Any]:
        classes, seed, dtype = drawn
        X, y = rows(24, d=self.width, classes=classes, seed=seed)
        if self.name in NUMBERS:
            y = np.round(X @ np.arange(self.width) + seed, 1)
        elif self.name in SEVERAL:
            y = (np.column_stack([X[:, 0] + X[:, 1], X[:, 1], np.roll(X[:, 0], 1)]) > 0).astype(int)
        return X.astype(dtype), y

    def example(self, seed: int) -> dict[Any, float]:
        return dict(zip(self.columns, rows(2, d=self.width, seed=seed)[0][0].tolist(), strict=True))

    def label(self, number: int) -> Any:
        return float(number) if self.name in NUMBERS else f"class {number}"

    def said(self, learner: Any) -> list[Any]:
        return [learner.predict(self.probe())] if self.name in NUMBERS else answers(learner, self.probe())

    def scores(self) -> list[Any]:
        return self.said(self.learner)[:1]

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
        return hasattr(self.learner, "learn_one") and self.name not in SEVERAL

    def probe(self) -> Any:
        return rows(6, d=self.width, seed=9)[0]

    def compare(self) -> None:
        assert_same(self.said(self.learner), self.said(self.twin()))

    # -- what learns

    @rule(drawn=batches, width=st.integers(2, 4))
    def fit(self, drawn: Any, width: int) -> None:
        self.name_columns(width)
        X, y = self.batch(drawn)
        self.calls = [call for call in self.calls if call[0] == "set_params"]  # fit forgets everything but parameters
        self.learned("fit", X, y)
        self.learner.fit(X, y)
        self.compare()

    @rule(drawn=batches, weights=weights)
    def partial_fit(self, drawn: Any, weights: Any) -> None:
        X, y = self.batch(drawn)
        given = () if weights is None else (None, np.resize(weights, len(y)))
        if given and self.name in NUMBERS:
            given = given[1:]  # numbers have no classes
        self.learned("partial_fit", X, y, *given)
        self.learner.partial_fit(X, y, *given)
        self.compare()

    @precondition(lambda self: self.streams and self.fitted)
    @rule(seed=st.integers(0, 5), label=st.integers(0, 3), weight=st.sampled_from([None, 0.0, 0.5, 3.0]))
    def learn_one(self, seed: int, label: int, weight: float | None) -> None:
        arguments = (self.example(seed), self.label(label), *(() if weight is None else (weight,)))
        self.learned("learn_one", *arguments)
        self.learner.learn_one(*arguments)
        self.compare()

    @precondition(lambda self: self.streams and self.fitted and self.width < 7 and "auto" not in self.name)
    @rule(seed=st.integers(0, 5), label=st.integers(0, 3), weight=st.sampled_from([1.0, 0.5, 3.0]))
    def learn_one_with_a_new_feature(self, seed: int, label: int, weight: float) -> None:
        new = f"feature {self.width}"
        x = self.example(seed) | {new: 2.0}
        self.columns.append(new)
        self.learned("learn_one", x, self.label(label), weight)
        self.learner.learn_one(x, self.label(label), weight)
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
        self.said(self.learner)

    @precondition(lambda self: self.fitted and self.streams)
    @rule(new=st.booleans())
    def predict_one(self, new: bool) -> None:
        x = self.example(9)
        self.learner.predict_one(x | {"never seen": 1.0} if new else x)

    @rule()
    def pickle(self) -> None:
        self.learner = pickle.loads(pickle.dumps(self.learner))

    @precondition(lambda self: self.fitted)
    @rule()
    def save_and_load(self) -> None:
        loaded = reloaded(self.learner)
        assert_same(self.said(loaded)[:2], self.said(self.learner)[:2], "a loaded model's answers")

    @precondition(lambda self: self.fitted)
    @rule()
    def go_on_from_a_file(self) -> None:
        """A saved and loaded model continues in the learner's place."""
        self.learner = reloaded(self.learner).learner_
        self.compare()

    @precondition(lambda self: self.fitted and hasattr(self.learner, "has_learned"))
    @rule(drawn=batches)
    def an_interrupted_call(self, drawn: Any) -> None:
        """An interruption before the first row: nothing was learned, and nothing has changed."""
        X, y = self.batch(drawn)
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
            self.learner.partial_fit(bad, self.batch((2, 0, np.float64))[1][:2])
        self.compare()


class StoryWithReaders(Story):
    """The same, and while the learner learns another thread reads it."""

    @precondition(lambda self: self.fitted)
    @rule(drawn=batches)
    def partial_fit_beside_a_reader(self, drawn: Any) -> None:
        X, y = self.batch(drawn)
        before = self.scores()
        self.learned("partial_fit", X, y)
        _, found, _ = interleave(lambda: self.learner.partial_fit(X, y), self.scores, every=11)
        after = self.scores()
        for said in found:
            assert not isinstance(said, Exception), repr(said)
            assert same(said, before) or same(said, after), "an answer that is neither of before nor of after"
        self.compare()


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("story", [Story, StoryWithReaders])
def test_every_story_ends_as_that_of_a_fresh_learner(group: str, story: type[Story]) -> None:
    run_state_machine_as_test(type("StoryOf", (story,), {"names": GROUPS[group]}), settings=BRIEF)
