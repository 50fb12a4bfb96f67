"""A fitted learner as a file holds it, so that it can be loaded and go on.

Invariant: learning A, saving, loading and learning B gives the bits of learning A and then B.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import learners
from rosenblatt.errors import ModelError, ParameterError
from rosenblatt.learners.epochs.stopping import History
from rosenblatt.learners.kept.kernel import budgets_from, budgets_to, duals_from, duals_to
from rosenblatt.learners.kept.linear import linear_from, linear_to
from rosenblatt.learners.kernel.budget import BudgetState
from rosenblatt.learners.kernel.dual import DualState
from rosenblatt.learners.targets import weight_rows
from rosenblatt.models.container import Tensors, check_types, count_of
from rosenblatt.models.kept import Kept
from rosenblatt.params import values_from_json, values_to_json

if TYPE_CHECKING:
    from rosenblatt.learners.base import Learner

MADE = tuple(name for name in learners.__all__ if name != "History")


def keep_learner(learner: Learner) -> Kept | None:
    """Everything that the learner needs to go on; None where it cannot: its class or its parameters are others."""
    told = learner.learned.told
    if type(learner).__name__ not in MADE or told != learner.params().shape():
        return None
    with learner.learned.lock:
        stream = learner.learned.stream
        return keep_states(
            type(learner).__name__,
            learner.get_params(deep=False),
            learner.learned.states,
            learner.history_,
            epochs=learner.n_iter_,
            stop_reason=learner.stop_reason_,
            unrecorded=None if stream is None else list(stream.unrecorded()),
            is_multilabel=learner.learned.is_multilabel,
        )


def keep_states(
    learner: str,
    told: dict[str, Any],
    states: list[Any],
    history: History,
    *,
    epochs: int,
    stop_reason: str,
    unrecorded: list[int] | None = None,
    is_multilabel: bool = False,
) -> Kept:
    """The states of a learner by its class and parameters; `unrecorded` counts what a stream has learned."""
    tensors: Tensors = {"validation": np.array(history.validation_score, np.float64)}
    header = {
        "learner": learner,
        "parameters": values_to_json(told, tensors),
        "states": states_to(states, tensors),
        "epochs": epochs,
        "stop_reason": stop_reason,
        "unrecorded": unrecorded,
        "mistakes": [int(count) for count in history.mistakes],
        "updates": [int(count) for count in history.updates],
        "is_multilabel": is_multilabel,
    }
    return Kept(header, {name: tensor.copy() for name, tensor in tensors.items()})


def learner_from(kept: Kept, classes: NDArray[Any], features: int, names: Mapping[int, Any]) -> Any:
    """The learner of a file that tells these classes apart, by columns of these names, checked."""
    header, tensors = kept.header, kept.tensors
    if header["learner"] not in MADE:
        raise ModelError(f"it was learned by {str(header['learner'])[:40]!r}, which is not a learner of rosenblatt")
    made: Any = getattr(learners, header["learner"])
    try:
        learner = made(**values_from_json(header["parameters"], tensors))
        learner.params().check()
    except (ParameterError, TypeError) as error:
        raise ModelError(f"its parameters have no meaning: {error}") from None
    params = learner.params()
    is_multilabel = bool(header.get("is_multilabel", False))
    states = states_from(header["states"], tensors, classes, features, params, apart=is_multilabel)
    learner.history_ = _history_from(header, tensors)
    learner.install(classes, states)
    learner.learned.is_multilabel = is_multilabel
    learner.n_features_in_ = features
    learner.n_iter_, learner.stop_reason_ = count_of(header["epochs"]), str(header["stop_reason"])
    learner.converged_ = learner.stop_reason_ == "converged"
    if header["unrecorded"] is not None:
        hashed = bool(getattr(params, "hash_bits", None))
        columns = {} if hashed else {names.get(column, column): column for column in range(features)}
        if not hashed and len(columns) != features:
            raise ModelError("the names of its features do not fit them")
        stream = learner.learned.begin_stream(columns, params)
        stream.recorded_but(*(count_of(each) for each in header["unrecorded"]))
    elif len(names) == features and all(isinstance(name, str) for name in names.values()):
        learner.feature_names_in_ = np.array([names[column] for column in range(features)], dtype=object)
    elif len(names) == features:  # of a kernel's stream
        learner._stream_names = {names[column]: column for column in range(features)}
    return learner


def states_to(states: list[Any], tensors: Tensors) -> dict[str, Any]:
    """The states of one learner."""
    if isinstance(states[0], DualState):
        return {"kind": "kernel", **duals_to(states, tensors)}
    if isinstance(states[0], BudgetState):
        return {"kind": "budget", **budgets_to(states, tensors)}
    return {"kind": "linear", "each": [linear_to(state, f"{at}.", tensors) for at, state in enumerate(states)]}


def states_from(
    header: dict[str, Any],
    tensors: Tensors,
    classes: NDArray[Any],
    features: int,
    params: Any,
    *,
    apart: bool = False,
) -> list[Any]:
    """The states of a header and tensors: as many as the params ask for, over these classes."""
    ovr = apart or params.is_ovr(len(classes))
    problems, K = (len(classes), 1) if ovr else (1, weight_rows(len(classes)))
    kernel = hasattr(params, "kernel")
    states: list[Any]
    if kernel and header["kind"] == ("kernel" if params.budget is None else "budget"):
        if header["kind"] == "kernel":
            states = list(duals_from(header, tensors, features, K, params))
        else:
            states = list(budgets_from(header, tensors, features, K))
    elif header["kind"] == "linear" and not kernel:
        states = [linear_from(each, f"{at}.", tensors, features, K) for at, each in enumerate(header["each"])]
        second_order = params.update_rule.traits.second_order
        fits = all(("variances" in state.arrays) == second_order for state in states)
        if not fits or any(state.keep.name != params.keep for state in states):
            raise ModelError("its learning state does not fit its parameters")
    else:
        raise ModelError("its learning state does not fit its learner")
    if len(states) != problems or any(state.fit_intercept != bool(params.fit_intercept) for state in states):
        raise ModelError("its learning state does not fit its parameters")
    return states


def _history_from(header: dict[str, Any], tensors: Tensors) -> History:
    mistakes, updates = ([count_of(count) for count in header[name]] for name in ("mistakes", "updates"))
    check_types([tensors["validation"]], ["<f8"])
    if len(mistakes) != len(updates):
        raise ModelError("what it says of its training cannot be read")
    return History(mistakes, updates, [0.0] * len(mistakes), tensors["validation"].tolist())
