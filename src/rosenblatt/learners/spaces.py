"""Where a learner learns: over the features as they are, or in the space of a kernel.

Invariant: loops know none of this. A space makes states, and one answer of all of them.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table
from rosenblatt.errors import ParameterError
from rosenblatt.learners.kernel.budget import BudgetState
from rosenblatt.learners.kernel.dual import DualState, Support
from rosenblatt.learners.kernel.kernels import check_square, make_kernel
from rosenblatt.learners.state.learning import Flag, Order, PassOptions
from rosenblatt.learners.state.state import State
from rosenblatt.learners.targets import Targets, weight_rows
from rosenblatt.models.predictors import Linear, Predictor
from rosenblatt.params import KernelPerceptronParams, LinearParams, Params, Rule

LARGEST = {4: 1e15, 8: 1e100}  # values that a table may hold, by the bytes of each
SAFE = {4: 1e30, 8: 1e290}  # steps that leave room for very many of them


Tasks = list[tuple[Any, Targets]]  # states, and what the rows ask of each


class Space(Protocol):
    """Makes states and predictors."""

    def check(self, params: Any, table: Table) -> None:
        """Raise if a fit cannot begin on this table."""

    def new_states(
        self,
        params: Any,
        table: Table,
        classes: NDArray[Any],
        generator: NDArray[np.uint64],
        init: Any = None,
        *,
        apart: bool = False,
    ) -> list[Any]:
        """States that have seen nothing yet: one, or one per class for one-vs-rest and for labels that stand apart."""

    def may_fail(self, params: Any, table: Table, weights: NDArray[np.float64] | None) -> bool:
        """May a pass over these rows fail half way? Then it is made on copies."""

    def recognize(self, table: Table, states: list[Any]) -> None:
        """Before epochs over rows that may have been learned before."""

    def look_at(self, table: Table, states: list[Any]) -> None:
        """Before states that have learned before learn from another table."""

    def learn(self, tasks: Tasks, table: Table, rule: Rule, order: Order, cancel: Flag) -> bool:
        """One pass of every state over the same rows, which the flag ends between two rows.

        Returns False if some states have learned more rows than others.
        """
        ...

    def leave(self, states: list[Any]) -> None:
        """After learning from a table."""

    def make_predictors(self, states: list[Any]) -> tuple[Predictor, ...]:
        """What the states have learned, whose scores stand side by side."""


class LinearSpace:
    """The features as they are: a weight each."""

    def check(self, params: LinearParams, table: Table) -> None:
        """Any table will do."""

    def new_states(
        self,
        params: LinearParams,
        table: Table | None,
        classes: NDArray[Any],
        generator: NDArray[np.uint64],
        init: Any = None,
        *,
        apart: bool = False,
    ) -> list[State]:
        """From the params' start, or from `init`; without a table, over no features yet."""
        ovr = apart or params.is_ovr(len(classes))
        features, dtype = (0, np.dtype(np.float64)) if table is None else (table.features, table.dtype)
        shape = (len(classes) if ovr else weight_rows(len(classes)), features)
        start = params.init if init is None else init
        weights, intercept = starting_weights(start, shape, dtype, generator, params.fit_intercept)
        if not ovr:
            return [State.of(params, weights, intercept, generator)]
        rows = [slice(k, k + 1) for k in range(len(classes))]
        return [State.of(params, weights[k].copy(), intercept[k].copy(), generator.copy()) for k in rows]

    def may_fail(self, params: LinearParams, table: Table, weights: NDArray[np.float64] | None) -> bool:
        """Only weights that overflow, which takes steps far from what is usual."""
        rule = params.update_rule
        largest = LARGEST[table.dtype.itemsize] * (1.0 if weights is None else float(weights.max()))
        return largest * max(rule.eta0, rule.C) > SAFE[table.dtype.itemsize]

    def look_at(self, table: Table, states: list[State]) -> None:
        """Weights are all that is needed."""

    def recognize(self, table: Table, states: list[State]) -> None:
        """Weights know no rows."""

    def learn(self, tasks: Tasks, table: Table, rule: Rule, order: Order, cancel: Flag) -> bool:
        """Side by side, so that all of them have learned the same rows wherever they are stopped."""
        table = table.astype(np.result_type(table.dtype, *(state.dtype for state, _ in tasks)))
        passes = [state.begin_pass(table, targets, rule, order) for state, targets in tasks]
        try:
            engine.run_passes(passes, cancel)
        finally:
            for (state, _), one in zip(tasks, passes, strict=True):
                state.end_pass(one, table)
        return True

    def leave(self, states: list[State]) -> None:
        """Weights are all that is left."""

    def make_predictors(self, states: list[State]) -> tuple[Predictor, ...]:
        """One answer; or, for a one-vs-rest vote, one per class."""
        predictors = [state.predictor() for state in states]
        linear = [answer for answer in predictors if isinstance(answer, Linear)]
        if len(linear) == len(predictors) > 1:
            stacked = np.vstack([answer.weights for answer in linear])
            return (Linear(stacked, np.concatenate([answer.intercept for answer in linear])),)
        return tuple(predictors)


class KernelSpace:
    """The space of a kernel: a coefficient per row that a step was ever taken along."""

    def check(self, params: KernelPerceptronParams, table: Table) -> None:
        """A precomputed kernel is a square matrix."""
        if params.precomputed:
            check_square(table)

    def new_states(
        self,
        params: KernelPerceptronParams,
        table: Table,
        classes: NDArray[Any],
        generator: NDArray[np.uint64],
        init: Any = None,
        *,
        apart: bool = False,
    ) -> list[DualState] | list[BudgetState]:
        """All of them share their support rows, unless there is a budget."""
        kernel = make_kernel(params.kernel, params.gamma, params.degree, params.coef0, table)
        ovr = apart or params.is_ovr(len(classes))
        problems, K = (len(classes), 1) if ovr else (1, weight_rows(len(classes)))
        common: dict[str, Any] = {"kernel": kernel, "fit_intercept": bool(params.fit_intercept)}
        if params.budget is not None:
            common |= {"budget": int(params.budget), "policy": params.policy}
            return [BudgetState.begin(K, generator=generator.copy(), **common) for _ in range(problems)]
        support = Support(precomputed=kernel.name == "precomputed")
        cache_bytes = int(float(params.cache_size) * 2**20 / problems)
        common |= {"keep": params.keep, "support": support, "cache_bytes": cache_bytes}
        return [DualState.begin(K, generator=generator.copy(), **common) for _ in range(problems)]

    def may_fail(self, params: KernelPerceptronParams, table: Table, weights: NDArray[np.float64] | None) -> bool:
        """A kernel may be a function of the user, and kernel values grow quickly."""
        return True

    def look_at(self, table: Table, states: list[Any]) -> None:
        """The scores of the rows by what each state has learned."""
        type(states[0]).look_at(table, states)

    def recognize(self, table: Table, states: list[Any]) -> None:
        """The same, where these are the rows that were learned before: a support row among them is known again."""
        type(states[0]).recognize(table, states)

    def learn(self, tasks: Tasks, table: Table, rule: Rule, order: Order, cancel: Flag) -> bool:
        """One after another, since they share their rows."""
        for state, targets in tasks:
            state.learn(table, targets, rule, order, PassOptions(cancel=cancel))
        return len(tasks) == 1 or not cancel[0]

    def leave(self, states: list[Any]) -> None:
        """From now on only support rows are held."""
        type(states[0]).leave(states)

    def make_predictors(self, states: list[Any]) -> tuple[Predictor, ...]:
        """One answer of all problems."""
        return (type(states[0]).answer_of(states),)


LINEAR, KERNEL = LinearSpace(), KernelSpace()


def space_of(params: Params) -> Space:
    """Where the params' learner learns."""
    return KERNEL if isinstance(params, KernelPerceptronParams) else LINEAR


def seed_of(random_state: Any) -> int:
    """A seed from an int, None (another one each time) or a NumPy generator (drawn from it)."""
    is_integer = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if is_integer and 0 <= random_state < 2**64:  # first: NumPy's generators take a while to load
        return int(random_state)
    if random_state is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    raise ParameterError(
        f"random_state={random_state!r}: must be an integer from 0 to 2**64 - 1, a NumPy generator or None"
    )


def starting_weights(
    init: Any, shape: tuple[int, int], dtype: np.dtype[Any], generator: NDArray[np.uint64], fit_intercept: bool
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Weight rows and intercepts: zeros, uniform in [-1, 1), or the user's own arrays."""
    rows, features = shape
    if isinstance(init, str):
        if init == "zeros":
            return np.zeros(shape, dtype), np.zeros(rows)
        if init == "random":
            drawn = engine.symmetric_uniform(rows * (features + 1), generator).reshape(rows, features + 1)
            intercept = drawn[:, -1].copy() if fit_intercept else np.zeros(rows)
            return np.ascontiguousarray(drawn[:, :-1], dtype), intercept
        raise ParameterError(f"init={init!r}: must be 'zeros', 'random', weights, or (weights, intercept)")
    given: tuple[Any, Any] = init if isinstance(init, tuple) and len(init) == 2 else (init, None)
    weights = np.zeros(shape) if given[0] is None else _shaped("weights", given[0], shape)
    intercept = np.zeros(rows) if given[1] is None else _shaped("intercept", given[1], (rows,))
    return weights.astype(dtype), intercept


def _shaped(name: str, values: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"init: the {name} must be an array of numbers of shape {shape}") from None
    if array.size != int(np.prod(shape)) or array.ndim > len(shape):
        raise ParameterError(f"init: the {name} must have shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise ParameterError(f"init: the {name} must be finite")
    return array.reshape(shape)
