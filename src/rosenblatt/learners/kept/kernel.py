"""The states of a kernel learner as a file holds them: support rows, and the updates or coefficients of each problem.

Invariant: as for linear states, what is read is what was written, to the bit.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from rosenblatt.data.table import as_table
from rosenblatt.errors import ModelError
from rosenblatt.learners.kept.linear import check_tally
from rosenblatt.learners.kernel.budget import BudgetState
from rosenblatt.learners.kernel.dual import DualState, Support
from rosenblatt.learners.state.arrays import KEEPS
from rosenblatt.models.container import Tensors, check_finite, check_shapes, check_types, count_of, rows_from, rows_to
from rosenblatt.models.predictors import Kernel, Updates
from rosenblatt.params import KernelPerceptronParams, Policy

MOST_BUDGET = 1 << 15  # whose matrix is then 8 GB


def duals_to(states: list[DualState], tensors: Tensors) -> dict[str, Any]:
    """The support that all problems share, and the updates of each."""
    first = states[0]
    for at, state in enumerate(states):
        tensors |= {f"{at}.{name}": values for name, values in state.arrays.items()}
        state.log.to_tensors(f"{at}.", tensors)
    return {
        "keep": first.keep,
        "kernel": first.kernel.to_json(),
        "fit_intercept": first.fit_intercept,
        "support": rows_to(first.support.rows, "", tensors),
        "pockets": [int(state.pocket) for state in states],
    }


def duals_from(
    header: dict[str, Any], tensors: Tensors, features: int, K: int, params: KernelPerceptronParams
) -> list[DualState]:
    """The states of a header and tensors, checked."""
    kernel, pockets = Kernel.from_json(header["kernel"]), [count_of(each) for each in header["pockets"]]
    rows, count = kernel.support_from(header["support"], "", tensors, features)
    support = Support(precomputed=kernel.name == "precomputed")
    if rows is not None:
        stored = rows if support.precomputed else as_table(rows)
        places = support.add(stored, rows if support.precomputed else np.arange(count))
        if not np.array_equal(places, np.arange(count)):
            raise ModelError("one of its support rows is stored twice")
    if header["keep"] not in KEEPS or not isinstance(header["fit_intercept"], bool):
        raise ModelError("its learning state does not fit its answer")
    states = []
    for at, pocket in enumerate(pockets):
        own = _own(tensors, at)
        check_tally(own)
        log = Updates.from_tensors(f"{at}.", tensors, count, K)
        arrays = {name: own[name].copy() for name in ("counters", "generator", "mistake_weight")}
        if header["keep"] == "pocket":
            check_types([own["pocket_mistakes"]], ["<f8"])
            check_shapes(own["pocket_mistakes"].shape == (1,))
            arrays["pocket_mistakes"] = own["pocket_mistakes"].copy()
        if pocket > len(log) or int(log.survived.sum()) > arrays["counters"].max(initial=0):
            raise ModelError("its counters are out of range")
        cache_bytes = int(float(params.cache_size) * 2**20 / len(pockets))
        states.append(DualState(header["keep"], kernel, header["fit_intercept"], K, support, cache_bytes, arrays, log))
        states[-1].pocket = pocket
    return states


def budgets_to(states: list[BudgetState], tensors: Tensors) -> dict[str, Any]:
    """The slots of each problem."""
    first = states[0]
    for at, state in enumerate(states):
        tensors |= {f"{at}.{name}": values for name, values in state.arrays.items()}
    return {
        "kernel": first.kernel.to_json(),
        "fit_intercept": first.fit_intercept,
        "policy": first.policy,
        "supports": [rows_to(state.rows, f"{at}.", tensors) for at, state in enumerate(states)],
    }


def budgets_from(header: dict[str, Any], tensors: Tensors, features: int, K: int) -> list[BudgetState]:
    """The states of a header and tensors, checked."""
    kernel, policy = Kernel.from_json(header["kernel"]), header["policy"]
    if policy not in get_args(Policy) or not isinstance(header["fit_intercept"], bool):
        raise ModelError("its learning state does not fit its answer")
    states = []
    for at, of_rows in enumerate(header["supports"]):
        own = _own(tensors, at)
        check_tally(own)
        named = [own[name] for name in ("members", "coefficients", "matrix", "ring", "numbers")]
        members, coefficients, matrix, ring, numbers = named
        check_types(named, ["<i8", "<f8", "<f8", "<i8", "<f8"])
        check_shapes(members.ndim == 1 and 0 < len(members) <= MOST_BUDGET)
        budget = len(members)
        side = 0 if policy == "forget-oldest" else budget
        check_shapes(coefficients.shape == (budget, K) and matrix.shape == (side, side))
        check_shapes(ring.shape == (2,) and numbers.shape == (4,))
        rows, count = rows_from(of_rows, f"{at}.", tensors, features)
        if not (ring[0] == count <= budget and 0 <= ring[1] < budget and (members == -1).all()):
            raise ModelError("its support rows do not fit its budget")
        check_finite(coefficients, matrix, numbers)
        arrays = {
            name: own[name].copy()
            for name in (
                "counters", "generator", "mistake_weight", "members", "coefficients", "matrix", "ring", "numbers"
            )
        }  # fmt: skip
        states.append(BudgetState(kernel, header["fit_intercept"], K, policy, arrays, rows))
    return states


def _own(tensors: Tensors, at: int) -> Tensors:
    prefix = f"{at}."
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
