"""The arrays and counters of a state, declared: a rule and a keep each say which they need.

Invariant: beginning, copying, growing, saving and handing to the engine are each one loop over the declaration. Each
keep also says how the answer is made of its arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.models.predictors import Linear, Voted
from rosenblatt.params import NO_PENALTY

if TYPE_CHECKING:
    from rosenblatt.learners.state.state import State

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Array:
    """One array: its name, its shape and what a place begins with."""

    name: str
    # (K, features), (K,), (features,) or (1,), where K is the number of weight rows.
    shape: Literal["weights", "classes", "features", "one"]
    begin: float = 0.0  # also of features and classes that come later
    copy_of: str = ""  # it begins as a copy of that array instead
    as_rows: bool = False  # does it have the precision of the rows? Else it is float64
    inherits: bool = False  # a class that is made of another one has that one's values, unmixed

    def new(self, arrays: Arrays) -> NDArray[Any]:
        """This array for weights that are about to learn."""
        if self.copy_of:
            return arrays[self.copy_of].copy()
        K, features = arrays["weights"].shape
        sizes = {"weights": (K, features), "classes": (K,), "features": (features,), "one": (1,)}
        dtype = arrays["weights"].dtype if self.as_rows else np.float64
        return np.full(sizes[self.shape], self.begin, dtype)

    def with_features(self, values: NDArray[Any], features: int) -> NDArray[Any]:
        """The values for more features, or for fewer: the rest is cut off."""
        if self.shape not in ("weights", "features"):
            return values.copy()
        begin = 0.0 if self.copy_of else self.begin
        wider = np.full((*values.shape[:-1], features), begin, values.dtype, order="F")
        shared = min(features, values.shape[-1])
        wider[..., :shared] = values[..., :shared]
        return wider

    def with_classes(self, values: NDArray[Any], mix: NDArray[np.float64]) -> NDArray[Any]:
        """The values for other weight rows, ``mix @ values``."""
        if self.shape not in ("weights", "classes"):
            return values.copy()
        made = np.zeros((len(mix), *values.shape[1:]), values.dtype)
        if self.inherits:
            made += np.asarray(self.begin, values.dtype)
        places, sources = np.nonzero(mix != 0)  # ten times as fast as without the comparison
        if self.inherits:
            made[places] = values[sources]
        elif np.all(mix[places, sources] == 1.0) and np.all(np.diff(places) > 0):  # rows move, and are not mixed
            made[places] += values[sources]
        else:
            for new, old in zip(places, sources, strict=True):
                made[new] = made[new] + mix[new, old] * values[old]
        return made

    def with_classes_at(self, values: NDArray[Any], classes: int, places: NDArray[np.intp]) -> NDArray[Any]:
        """The values for so many weight rows, the old ones at these places."""
        if self.shape not in ("weights", "classes"):
            return values.copy()
        made = np.full((classes, *values.shape[1:]), self.begin if self.inherits else 0.0, values.dtype)
        if self.inherits:
            made[places] = values
        else:
            made[places] += values
        return made


EVERY: tuple[Array, ...] = (
    Array("weights", "weights", as_rows=True),
    Array("intercept", "classes"),
    Array("mistake_weight", "one"),  # the sample weights of all mistakes
)
OF_SECOND_ORDER = (
    Array("variances", "weights", begin=1.0, as_rows=True, inherits=True),
    Array("intercept_variances", "classes", begin=1.0, inherits=True),
)
OF_PENALTY = (Array("settled_at", "one"),)  # examples that had been seen when all weights were settled


def matrices(declared: Iterable[Array]) -> list[Array]:
    """Those with a value per feature and class."""
    return [array for array in declared if array.shape == "weights"]


COUNTERS: tuple[str, ...] = engine.COUNTERS
_PLACES = {name: place for place, name in enumerate(COUNTERS)}


def new_counters() -> NDArray[np.int64]:
    """The counters of a state that has seen nothing: its weights are in the pocket until the first update."""
    counters = np.zeros(len(COUNTERS), np.int64)
    counters[_PLACES["checked"]] = counters[_PLACES["pocket_is_current"]] = 1
    counters[_PLACES["pocket_run"]] = -1
    return counters


class Counted:
    """A state whose counters are among its arrays."""

    arrays: Arrays

    @property
    def counters(self) -> NDArray[np.int64]:
        return self.arrays["counters"]

    @property
    def generator(self) -> NDArray[np.uint64]:
        return self.arrays["generator"]

    @property
    def mistake_weight(self) -> float:
        """The sample weights of all mistakes."""
        return float(self.arrays["mistake_weight"][0])

    def counter(self, name: str) -> int:
        return int(self.arrays["counters"][_PLACES[name]])

    def set_counter(self, name: str, value: int) -> None:
        self.arrays["counters"][_PLACES[name]] = value

    def count_as_right(self, rows: int) -> None:
        """Rows were seen that had no other class to be mistaken for."""
        for name in ("seen", "survived"):
            self.set_counter(name, self.counter(name) + rows)


class Keep:
    """What a state remembers beside its raw weights."""

    name: ClassVar[str]
    arrays: ClassVar[tuple[Array, ...]] = ()
    arrays_of_penalty: ClassVar[tuple[Array, ...]] = ()  # those that it needs where weights shrink, too
    stores_rows: ClassVar[bool] = False

    def predictor(self, state: State) -> Linear | Voted:
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

    def predictor(self, state: State) -> Linear:
        return Linear(state.weights.copy(order="K"), state.intercept.copy())


class Average(Keep):
    """The mean of the weights after each example.

    The engine keeps ``sum over updates of (examples before it) · change``, so that the mean is ``w - sums/N``; with a
    penalty, which changes weights between updates, the sums are those of the weights themselves, each up to
    ``summed_at`` examples.
    """

    name = "average"
    arrays = (Array("sums", "weights"), Array("intercept_sums", "classes"))
    arrays_of_penalty = (Array("summed_at", "weights"),)

    def predictor(self, state: State) -> Linear:
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

    def predictor(self, state: State) -> Linear:
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

    def predictor(self, state: State) -> Voted:
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

    def predictor(self, state: State) -> Linear:
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
        for name in ("pocket_run", "run", "checked"):
            state.set_counter(name, 0)
    known[0] = found


KEEPS: dict[str, Keep] = {keep.name: keep for keep in (Last(), Average(), Tail(), Vote(), Pocket())}
