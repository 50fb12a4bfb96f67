"""What a learner has learned, and the answer that is read off it.

Invariant: any number of threads may read. Beside those that learn, each reads the answer before or after a call, never
a mix: learning and making a new answer take turns, and an answer that was made is never changed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import label_values
from rosenblatt.data.table import Table
from rosenblatt.errors import ParameterError
from rosenblatt.learners.stream import Columns, Stream, StreamOptions, predicting_stream, row_table
from rosenblatt.models.predictions import Predictions
from rosenblatt.models.predictors import Linear, Predictor
from rosenblatt.params import Params

MakePredictors = Callable[[list[Any]], tuple[Predictor, ...]]

_LOCKS: WeakSet[Lock] = WeakSet()


class Lock:
    """A lock for `with` that the thread which holds it may take again; meanwhile a stream learns nothing.

    In a forked child it is free, whoever held it.
    """

    def __init__(self) -> None:
        self.stream: Stream | None = None
        self._lock, self._depth = threading.RLock(), 0
        _LOCKS.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1
        self.pause(True)

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.pause(False)
        self._lock.release()

    def pause(self, paused: bool) -> None:
        """Let the stream learn, or not, without the lock."""
        if self.stream is not None and self.stream.engine is not None:
            self.stream.engine.pause(paused)

    def renew(self) -> None:
        """In a forked child nobody holds it."""
        self._lock, self._depth = threading.RLock(), 0
        self.pause(False)


def _renew_locks() -> None:
    for lock in list(_LOCKS):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


@dataclass(frozen=True)
class Reading:
    """An answer and the classes that it tells apart."""

    classes: NDArray[Any]
    predictors: tuple[Predictor, ...]  # their scores stand side by side
    is_multilabel: bool = False  # may a row have several labels?

    def __getstate__(self) -> dict[str, Any]:
        return {name: found for name, found in vars(self).items() if name != "_one"}  # which is made when it is asked

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """Scores of shape (rows, K)."""
        return np.hstack([answer.scores(table, index) for answer in self.predictors])

    def predicted(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """The label of each row; where a row may have several, a column of 0 and 1 for each."""
        return self.predictions(scores).labels

    def predictions(self, scores: NDArray[np.float64]) -> Predictions:
        """What scores of shape (rows, K) mean."""
        return Predictions(self.classes, scores, self.is_multilabel)

    def score_one(self, features: dict[Any, float], names: Callable[[], Columns]) -> NDArray[np.float64]:
        """The scores of one example as a dict; `names` gives the column of each feature, and is asked once."""
        columns, stream = self._for_dicts(names)
        if stream is not None:
            found: NDArray[np.float64] = stream.scores(features)
            return found
        engine.Stream.check(features)
        of_all: NDArray[np.float64] = self.scores(row_table(features, columns))[0]
        return of_all

    def stream_of(self, names: Callable[[], Columns]) -> engine.Stream | None:
        """What predictors examples as dicts, for weights that tell classes apart."""
        return self._for_dicts(names)[1]

    def _for_dicts(self, names: Callable[[], Columns]) -> tuple[Columns, engine.Stream | None]:
        one: tuple[Columns, engine.Stream | None] | None = vars(self).get("_one")
        if one is None:
            linear = len(self.predictors) == 1 and isinstance(self.predictors[0], Linear) and len(self.classes) > 1
            linear = linear and not self.is_multilabel
            known = names()
            one = known, predicting_stream(self.predictors[0], self.classes, known) if linear else None  # type: ignore[arg-type]
            vars(self)["_one"] = one
        return one


class Learned:
    """States that learn, in turns with those who read the answer.

    `told` holds the parameters that the states were made by, which cannot change while they learn on.
    """

    def __init__(
        self, classes: NDArray[Any], states: list[Any], make_predictors: MakePredictors, told: dict[str, Any]
    ) -> None:
        self.set_classes(classes)
        self.told = told
        self.is_multilabel = False  # may a row have several labels, a state for each?
        self._states = states
        self.lock = Lock()
        self.stream = None
        self._make_predictors = make_predictors
        self._reading: tuple[int, Reading] | None = None  # with how much the stream had learned

    def set_classes(self, classes: NDArray[Any]) -> None:
        self.classes, self.labels_in_order = classes, label_values(classes)

    def reading(self) -> Reading:
        """The answer so far."""
        found = self._reading
        if found is None or found[0] != self._learned_by_stream():
            with self.lock:
                learned, found = self._learned_by_stream(), self._reading
                if found is None or found[0] != learned:
                    predictors = self._make_predictors(self.states)
                    found = self._reading = learned, Reading(self.classes, predictors, self.is_multilabel)
        return found[1]

    def _learned_by_stream(self) -> int:
        return -1 if (stream := self.stream) is None else stream.learned

    @property
    def stream(self) -> Stream | None:
        """What learns and predicts examples as dicts, if one is under way."""
        return self.lock.stream

    @stream.setter
    def stream(self, stream: Stream | None) -> None:
        self.lock.stream = stream

    @property
    def states(self) -> list[Any]:
        """What was learned so far; while a stream is under way, copies of what it owns."""
        return self._states if (stream := self.stream) is None else stream.states()

    @states.setter
    def states(self, states: list[Any]) -> None:
        self._states = states

    def check_told(self, told: dict[str, Any]) -> None:
        """Raise for a parameter that has changed and that learning cannot follow."""
        for name, value in told.items():
            if value != self.told[name]:
                raise ParameterError(
                    f"{name}={value!r}: what was learned with {name}={self.told[name]!r} cannot go on so; call fit"
                )

    def begin_stream(self, names: dict[Any, int], params: Params) -> Stream:
        """From now on examples may come as dicts; `names` holds the columns, and new ones are added."""
        self.stream = Stream(self._states, self.classes, names, StreamOptions.of(params, len(self.classes)))
        self._reading = None
        return self.stream

    def changed(self) -> None:
        """More was learned: the answer has to be made again."""
        self._reading = None

    def counted(self, name: str) -> int:
        """A counter, over all problems."""
        return sum(state.counter(name) for state in self.states)

    def copy(self) -> Learned:
        """What goes its own way; to be called while nobody learns."""
        states = [state.copy() for state in self._states]
        made = Learned(self.classes, states, self._make_predictors, self.told)
        made.is_multilabel = self.is_multilabel
        if self.stream is not None:
            made.stream = self.stream.copy()
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_reading": None, "lock": None, "_stream": self.stream}

    def __setstate__(self, known: dict[str, Any]) -> None:
        stream = known.pop("_stream")
        vars(self).update(known)
        self.lock = Lock()
        self.stream = stream


@contextmanager
def turn_of(learner: Any) -> Iterator[None]:
    """While no other thread changes what a learner has learned, nor replaces it; of nothing there are no turns."""
    while learner.has_learned:
        learned = learner.learned
        with learned.lock:
            if learner.learned is learned:
                yield
                return
    yield
