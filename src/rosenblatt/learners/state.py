"""Everything needed to go on learning exactly: plain arrays and integers.

Invariant: a state is changed only by `learn`, row by row, so any cut of the rows into batches gives the same bits. The
raw weights stay beside whatever answer is kept of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table
from rosenblatt.learners.counters import Counted, new_counters
from rosenblatt.learners.penalty import Penalty
from rosenblatt.learners.rules import Rule
from rosenblatt.models.linear import Linear, arranged
from rosenblatt.models.voted import Updates, Voted, stack_rows, with_columns

KeepName = Literal["last", "average", "vote", "pocket"]
KEEPS: tuple[KeepName, ...] = ("last", "average", "vote", "pocket")
AnyPass: TypeAlias = "engine.Pass | engine.PenalisedPass"


@dataclass
class State(Counted):
    """The state of one problem: one weight row with two classes, one a class with more, learned jointly.

    `sums` serve the average, `pocket` the pocket, `start`, `support` and `log` the vote, `variances` the second-order
    rules; the others are None. With a `penalty` weights and sums are brought up to date lazily: those of feature j are
    as they were after `as_of[j]` examples, and the sums are those of the weights after each example.
    """

    keep: KeepName
    fit_intercept: bool
    weights: NDArray[Any]  # (K, features)
    intercept: NDArray[np.float64]
    counters: NDArray[np.int64]
    generator: NDArray[np.uint64]
    mistake_weight: NDArray[np.float64]  # one number: the sample weights of all mistakes
    sums: NDArray[np.float64] | None = None
    intercept_sums: NDArray[np.float64] | None = None
    pocket: NDArray[Any] | None = None
    pocket_intercept: NDArray[np.float64] | None = None
    pocket_mistakes: NDArray[np.float64] | None = None  # one number: the sample weights of the rows it gets wrong
    start: Linear | None = None
    support: Any = None
    log: Updates | None = None
    variances: NDArray[Any] | None = None  # (K, features), of each weight
    intercept_variances: NDArray[np.float64] | None = None
    penalty: Penalty | None = None
    as_of: NDArray[np.int64] | None = None

    @classmethod
    def begin(
        cls,
        weights: NDArray[Any],
        intercept: NDArray[np.float64],
        *,
        keep: KeepName,
        fit_intercept: bool,
        generator: NDArray[np.uint64],
        second_order: bool = False,
    ) -> State:
        """A state that has seen nothing yet, from the given weights; all variances of a second-order one are 1."""
        state = cls(keep, fit_intercept, weights, intercept, new_counters(), generator, np.zeros(1))
        if keep == "average":
            state.sums = np.zeros(weights.shape)
            state.intercept_sums = np.zeros(len(intercept))
        elif keep == "pocket":
            state.pocket, state.pocket_intercept = weights.copy(), intercept.copy()
            state.pocket_mistakes = np.array([np.inf])
        elif keep == "vote":
            state.start, state.log = Linear(weights.copy(), intercept.copy()), Updates.none()
        if second_order:
            state.variances, state.intercept_variances = np.ones_like(weights), np.ones_like(intercept)
        return state

    def fresh(self) -> State:
        """A state like this one, with weights of 0, that has seen nothing yet."""
        return State.begin(
            np.zeros((1, self.features), self.dtype),
            np.zeros(1),
            keep=self.keep,
            fit_intercept=self.fit_intercept,
            generator=engine.seed_generator(0),
            second_order=self.variances is not None,
        )

    @property
    def features(self) -> int:
        return int(self.weights.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.weights.dtype

    def learn(
        self,
        table: Table,
        y: NDArray[Any],
        rule: Rule,
        *,
        tie_positive: bool = False,
        sample_weight: NDArray[np.float64] | None = None,
        order: NDArray[np.uint32] | None = None,
        ratchet: bool = False,
        places: NDArray[np.int64] | None = None,
        cancel: NDArray[np.uint8] | None = None,
    ) -> None:
        """Fold rows into the state, in the given order; `y` holds signs (two classes) or codes (more).

        `places` says where a vote has already stored each row (-1: not yet), for a table that comes again.
        """
        one = self.begin_pass(
            table, y, rule, tie_positive=tie_positive, sample_weight=sample_weight, order=order, ratchet=ratchet
        )
        run_passes([one], cancel)
        self.end_pass(one, table, places)

    def begin_pass(
        self,
        table: Table,
        y: NDArray[Any],
        rule: Rule,
        *,
        tie_positive: bool = False,
        sample_weight: NDArray[np.float64] | None = None,
        order: NDArray[np.uint32] | None = None,
        ratchet: bool = False,
    ) -> AnyPass:
        """The pass that `learn` runs, ready for the engine; several over one order may run side by side."""
        self._take_penalty(rule.penalty)
        if table.dtype != self.dtype:
            dtype = np.result_type(table.dtype, self.dtype)
            table = table.astype(dtype)
            self._map(lambda array: array.astype(dtype, copy=False))
        self._map(lambda array: arranged(array, table.sparse))
        if self.sums is not None:
            self.sums = arranged(self.sums, table.sparse)
        common: dict[str, Any] = {
            "sample_weight": sample_weight,
            "order": order,
            "weights": self.weights.ravel(order="K"),
            "intercept": self.intercept,
            "fit_intercept": self.fit_intercept,
            "rule": rule.name,
            "eta0": rule.eta0,
            "beta": rule.beta,
            "C": rule.C,
            "tie_positive": tie_positive,
            "sums": None if self.sums is None else self.sums.ravel(order="K"),
            "intercept_sums": self.intercept_sums,
            "counters": self.counters,
            "mistake_weight": self.mistake_weight,
        }
        if self.penalty is not None:
            assert self.as_of is not None
            return engine.PenalisedPass(
                table.rows, y, shrink=self.penalty.shrink, cut=self.penalty.cut, as_of=self.as_of, **common
            )
        return engine.Pass(
            table.rows,
            y,
            r=rule.r,
            keep=self.keep,
            pocket=None if self.pocket is None else self.pocket.ravel(order="K"),
            pocket_intercept=self.pocket_intercept,
            pocket_mistakes=self.pocket_mistakes,
            variances=None if self.variances is None else self.variances.ravel(order="K"),
            intercept_variances=self.intercept_variances,
            ratchet=ratchet,
            **common,
        )

    def end_pass(self, one: AnyPass, table: Table, places: NDArray[np.int64] | None = None) -> None:
        """Take over what a finished pass hands back: the updates of a vote."""
        updates = one.updates()
        if updates is not None:
            table = table.astype(self.dtype)
            self._log_updates(table, updates, np.full(table.count, -1) if places is None else places)

    def count_mistakes(
        self,
        table: Table,
        y: NDArray[Any],
        *,
        tie_positive: bool,
        sample_weight: NDArray[np.float64] | None = None,
        order: NDArray[np.uint32] | None = None,
    ) -> float:
        """How many of the rows the raw weights get wrong, each counted with its sample weight."""
        table = table.astype(np.result_type(table.dtype, self.dtype))
        weights = arranged(self.settled().weights.astype(table.dtype, copy=False), table.sparse)
        found: float = engine.count_mistakes(
            table.rows,
            y,
            sample_weight=sample_weight,
            order=order,
            weights=weights.ravel(order="K"),
            intercept=self.intercept,
            tie_positive=tie_positive,
        )
        return found

    def answer(self) -> Linear | Voted:
        """The weights that the keep says are the answer."""
        if self.keep == "average":
            state = self.settled()
            assert state.sums is not None
            assert state.intercept_sums is not None
            seen = max(state.counter("seen"), 1)
            if state.penalty is None or not state.counter("seen"):
                mean = state.weights.astype(np.float64) - state.sums / seen
            else:
                mean = state.sums / seen
            return Linear(mean, state.intercept - state.intercept_sums / seen)
        if self.keep == "pocket":
            assert self.pocket is not None
            assert self.pocket_intercept is not None
            return Linear(self.pocket, self.pocket_intercept)
        if self.keep == "vote":
            assert self.start is not None
            assert self.log is not None
            return Voted(self.start, self.support, self.log, self.counter("survived"), self.fit_intercept)
        return Linear(self.settled().weights, self.intercept)

    def take_into_pocket(self, mistakes: float) -> None:
        """Put the raw weights, which are known to make so few mistakes, into the pocket."""
        self.pocket, self.pocket_intercept = self.weights.copy(order="K"), self.intercept.copy()
        self.pocket_mistakes = np.array([mistakes])
        self.set_counter("pocket_is_current", 1)
        self.set_counter("pocket_run", max(self.counter("pocket_run"), self.counter("run")))

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.weights).all() and np.isfinite(self.intercept).all())

    def copy(self) -> State:
        """A state that goes its own way."""
        return replace(
            self,
            weights=self.weights.copy(order="K"),
            intercept=self.intercept.copy(),
            counters=self.counters.copy(),
            generator=self.generator.copy(),
            mistake_weight=self.mistake_weight.copy(),
            sums=None if self.sums is None else self.sums.copy(order="K"),
            intercept_sums=None if self.intercept_sums is None else self.intercept_sums.copy(),
            pocket=None if self.pocket is None else self.pocket.copy(order="K"),
            pocket_intercept=None if self.pocket_intercept is None else self.pocket_intercept.copy(),
            pocket_mistakes=None if self.pocket_mistakes is None else self.pocket_mistakes.copy(),
            variances=None if self.variances is None else self.variances.copy(order="K"),
            intercept_variances=None if self.intercept_variances is None else self.intercept_variances.copy(),
            as_of=None if self.as_of is None else self.as_of.copy(),
        )

    def with_features(self, features: int) -> State:
        """The same state over more features, whose weights are 0; or over fewer, the rest cut off."""

        def fitted(array: NDArray[Any] | None, new: float = 0.0) -> NDArray[Any] | None:
            if array is None:
                return None
            wider = np.full((array.shape[0], features), new, array.dtype, order="F")
            shared = min(features, array.shape[1])
            wider[:, :shared] = array[:, :shared]
            return wider

        state = replace(self, weights=_must(fitted(self.weights)), sums=fitted(self.sums), pocket=fitted(self.pocket))
        state.variances = fitted(self.variances, 1.0)
        if self.as_of is not None:
            state.as_of = np.full(features, self.counter("seen"))
            shared = min(features, len(self.as_of))
            state.as_of[:shared] = self.as_of[:shared]
        if self.start is not None:
            state.start = Linear(_must(fitted(self.start.weights)), self.start.intercept)
            state.support = None if self.support is None else with_columns(self.support, features)
        return state

    def with_classes(self, mix: NDArray[np.float64]) -> State:
        """The same state with other weight rows, ``mix @ rows``: one row of `mix` a new weight row."""

        def mixed(array: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if array is None else (mix @ array).astype(array.dtype)

        settled = self.settled()
        weights, intercept = _must(mixed(settled.weights)), _must(mixed(self.intercept))
        state = replace(
            settled,
            weights=weights,
            intercept=intercept,
            sums=mixed(settled.sums),
            intercept_sums=mixed(self.intercept_sums),
            pocket=mixed(self.pocket),
            pocket_intercept=mixed(self.pocket_intercept),
            variances=_inherited(self.variances, mix),
            intercept_variances=_inherited(self.intercept_variances, mix),
        )
        if self.start is not None and self.log is not None:
            state.start = Linear(_must(mixed(self.start.weights)), _must(mixed(self.start.intercept)))
            state.log = mixed_log(self.log, mix)
        return state

    def settled(self) -> State:
        """This state with all weights brought up to date: a copy if there is a penalty, else itself."""
        if self.penalty is None or self.as_of is None:
            return self
        as_of = self.as_of.copy()
        state = replace(
            self,
            weights=np.array(self.weights, order="F"),
            sums=None if self.sums is None else np.array(self.sums, order="F"),
            as_of=as_of,
        )
        engine.settle(
            state.weights.ravel(order="K"),
            K=len(state.weights),
            sums=None if state.sums is None else state.sums.ravel(order="K"),
            as_of=as_of,
            seen=self.counter("seen"),
            shrink=self.penalty.shrink,
            cut=self.penalty.cut,
        )
        return state

    def _take_penalty(self, penalty: Penalty | None) -> None:
        """From now on this penalty; what the one before still has to do is done."""
        if penalty == self.penalty:
            return
        settled, seen = self.settled(), self.counter("seen")
        self.weights, self.sums = settled.weights, settled.sums
        if self.sums is not None and (penalty is None) != (self.penalty is None):  # the sums change their meaning
            self.sums = seen * self.weights.astype(np.float64) - self.sums
        self.penalty = penalty
        self.as_of = None if penalty is None else np.full(self.features, seen)

    def _map(self, change: Any) -> None:
        self.weights = change(self.weights)
        if self.pocket is not None:
            self.pocket = change(self.pocket)
        if self.variances is not None:
            self.variances = change(self.variances)

    def _log_updates(self, table: Table, updates: Any, places: NDArray[np.int64]) -> None:
        rows, steps, gains, loses, survived = updates
        assert self.log is not None
        new = np.unique(rows[places[rows] < 0])
        if len(new):
            stored = 0 if self.support is None else self.support.shape[0]
            places[new] = stored + np.arange(len(new))
            self.support = stack_rows(self.support, table.take(new))
        self.log = self.log.followed_by(Updates(places[rows], steps, gains, loses, survived))


def run_passes(passes: Sequence[AnyPass], cancel: NDArray[np.uint8] | None = None) -> None:
    """Run passes over the same order side by side."""
    engine.run_passes([one for one in passes if isinstance(one, engine.Pass)], cancel)
    engine.run_penalised([one for one in passes if isinstance(one, engine.PenalisedPass)], cancel)


def _must(array: NDArray[Any] | None) -> NDArray[Any]:
    assert array is not None
    return array


def _inherited(variances: NDArray[Any] | None, mix: NDArray[np.float64]) -> NDArray[Any] | None:
    """Each new row has the variances of the old row that it comes from, or 1."""
    if variances is None:
        return None
    rows = np.ones((mix.shape[0], *variances.shape[1:]), variances.dtype)
    for new, old in zip(*np.nonzero(mix), strict=True):
        rows[new] = variances[old]
    return rows


def mixed_log(log: Updates, mix: NDArray[np.float64]) -> Updates:
    """Updates of the old weight rows as updates of the new ones.

    An old row may become at most one gaining (positive) and one losing (negative) new row.
    """
    if mix.shape[0] == 1:
        return replace(log, steps=log.steps * mix[0, 0])
    gain_of = np.argmax(mix > 0, axis=0).astype(np.int32)
    lose_of = np.where((mix < 0).any(axis=0), np.argmax(mix < 0, axis=0), -1).astype(np.int32)
    share = np.abs(mix).max(axis=0)
    loses = np.where(log.loses >= 0, gain_of[log.loses], lose_of[log.gains]).astype(np.int32)
    return Updates(log.which, log.steps * share[log.gains], gain_of[log.gains], loses, log.survived)
