"""Which weights are the answer: each keep says the arrays that it needs, and how the answer is made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.learners.state.arrays import Array
from rosenblatt.models.linear import Linear
from rosenblatt.models.voted import Voted
from rosenblatt.recipe.penalty import NO_PENALTY

if TYPE_CHECKING:
    from rosenblatt.learners.state.state import State


class Keep:
    """What a state remembers beside its raw weights."""

    name: ClassVar[str]
    arrays: ClassVar[tuple[Array, ...]] = ()
    stores_rows: ClassVar[bool] = False

    def answer(self, state: State) -> Linear | Voted:
        """The answer of a state whose weights are up to date; what is learned later does not change it."""
        raise NotImplementedError

    def shares(self, before: NDArray[np.int64], seen: int) -> NDArray[np.float64] | float:
        """How much of each update is in the answer, by the examples before it, after `seen` examples."""
        return 1.0

    def begin_epochs(self, state: State, mistakes: Callable[[], float]) -> None:
        """Epochs over rows are about to begin, of which the answer so far gets so many wrong."""

    def converged(self, state: State) -> None:
        """The raw weights were found to make no mistake."""


class Last(Keep):
    """The raw weights."""

    name = "last"

    def answer(self, state: State) -> Linear:
        return Linear(state.weights.copy(order="K"), state.intercept.copy())


class Average(Keep):
    """The mean of the weights after each example.

    The engine keeps ``sum over updates of (examples before it) · change``, so that the mean is ``w - sums/N``; with a
    penalty, which changes weights between updates, the sums are those of the weights themselves.
    """

    name = "average"
    arrays = (Array("sums", "weights"), Array("intercept_sums", "classes"))

    def answer(self, state: State) -> Linear:
        seen = state.counter("seen")
        share = state.arrays["sums"] / max(seen, 1)
        mean = share if state.penalty != NO_PENALTY and seen else state.weights.astype(np.float64) - share
        return Linear(mean, state.intercept - state.arrays["intercept_sums"] / max(seen, 1))

    def shares(self, before: NDArray[np.int64], seen: int) -> NDArray[np.float64]:
        return (seen - before) / max(seen, 1)


class Tail(Keep):
    """The mean over the latest examples: half of them to three quarters, the first weights left out.

    With N examples seen and 2^k the last power of two up to N, it is the mean of the weights after each of the examples
    from 2^(k-1) + 1 on. The engine keeps its sums from there, and those from 2^k on, which come next.
    """

    name = "tail"
    arrays = (
        Array("recent_sums", "weights"),
        Array("intercept_recent_sums", "classes"),
        Array("later_sums", "weights"),
        Array("intercept_later_sums", "classes"),
    )

    def answer(self, state: State) -> Linear:
        examples = max(state.counter("seen") - self._first(state.counter("seen")), 1)
        mean = state.weights.astype(np.float64) - state.arrays["recent_sums"] / examples
        return Linear(mean, state.intercept - state.arrays["intercept_recent_sums"] / examples)

    def shares(self, before: NDArray[np.int64], seen: int) -> NDArray[np.float64]:
        first = self._first(seen)
        return (seen - np.maximum(before, first)) / max(seen - first, 1)

    @staticmethod
    def _first(seen: int) -> int:
        """How many examples at the beginning are left out."""
        return (1 << (seen.bit_length() - 1)) // 2 if seen else 0


class Vote(Keep):
    """Every weight vector that lived, as the starting weights and the list of updates."""

    name = "vote"
    stores_rows = True
    arrays = (
        Array("start", "weights", copy_of="weights", as_rows=True),
        Array("start_intercept", "classes", copy_of="intercept"),
    )

    def answer(self, state: State) -> Voted:
        start = Linear(state.arrays["start"], state.arrays["start_intercept"])
        remembered = state.remembered
        return Voted(start, remembered.rows, remembered.updates, state.counter("survived"), state.fit_intercept)


class Pocket(Keep):
    """The weights with the fewest mistakes on all rows so far."""

    name = "pocket"
    arrays = (
        Array("pocket", "weights", copy_of="weights", as_rows=True),
        Array("pocket_intercept", "classes", copy_of="intercept"),
        Array("pocket_mistakes", "one", begin=np.inf),  # the sample weights of the rows that it gets wrong
    )

    def answer(self, state: State) -> Linear:
        return Linear(state.arrays["pocket"].copy(order="K"), state.arrays["pocket_intercept"].copy())

    def begin_epochs(self, state: State, mistakes: Callable[[], float]) -> None:
        settle_pocket(state, state.arrays["pocket_mistakes"], mistakes())

    def converged(self, state: State) -> None:
        state.arrays["pocket"] = state.weights.copy(order="K")
        state.arrays["pocket_intercept"] = state.intercept.copy()
        state.arrays["pocket_mistakes"] = np.zeros(1)
        state.set_counter("pocket_is_current", 1)
        state.set_counter("pocket_run", max(state.counter("pocket_run"), state.counter("run")))


def settle_pocket(state: Any, known: NDArray[np.float64], found: float) -> None:
    """The pocket gets so many rows wrong. Where these are other rows than before, its run on those counts no more."""
    if state.counter("seen") and found != known[0]:
        state.set_counter("pocket_run", 0)
        state.set_counter("checked", 0)
    known[0] = found


KEEPS: dict[str, Keep] = {keep.name: keep for keep in (Last(), Average(), Tail(), Vote(), Pocket())}
