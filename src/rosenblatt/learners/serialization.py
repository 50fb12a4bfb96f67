"""Fitted learners as the content of files: trees of JSON values and arrays, which the states make of themselves.

Invariant: learning A, saving, loading and learning B gives the bits of learning A and then B. Every value that is read
is checked: one loop over the declared arrays checks type, shape and range, so no file leads learning outside of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import learners
from rosenblatt.errors import ModelError, ParameterError, first_line
from rosenblatt.learners.stopping import History
from rosenblatt.learners.streaming import Fitted
from rosenblatt.learners.support import KernelState, SupportState
from rosenblatt.learners.targets import problem_shape
from rosenblatt.learners.weights import WeightState
from rosenblatt.models.container import INVALID, check_columns, check_shapes, count_of, from_tree, take, to_tree
from rosenblatt.models.model import Model
from rosenblatt.models.predictors import FEW_WEIGHTS, Products, count_terms, spread_rows
from rosenblatt.params import (
    KernelPerceptronParams,
    LinearParams,
    check_number,
    params_from_json,
    values_from_json,
    values_to_json,
)

Tree = dict[str, Any]


def fitted_to_tree(learner: str, parameters: dict[str, Any], fitted: Fitted) -> Tree:
    """The fitted state of a learner of this class, with these parameters."""
    history, states = fitted.history, fitted.states
    tree: Tree = {"each": [state.copy().to_tree() for state in states]}
    if isinstance(states[0], KernelState):
        tree["kernel"] = to_tree(states[0].kernel)
    if isinstance(states[0], SupportState):
        tree["support"] = to_tree(states[0].support.rows)
    return {
        "learner": learner,
        "parameters": values_to_json(parameters, arrays=True),
        "states": tree,
        "epochs": fitted.n_iter,
        "stop_reason": fitted.stop_reason,
        "mistakes": [int(count) for count in history.mistakes],
        "updates": [int(count) for count in history.updates],
        "validation": np.array(history.validation_score, np.float64),
        "is_multilabel": fitted.is_multilabel,
        "unit": fitted.unit,
    }


def learner_from_tree(saved: Tree, classes: NDArray[Any], features: int, names: Mapping[int, Any]) -> Any:
    """The learner of a file with these classes and column names, checked."""
    if saved["learner"] not in learners.LEARNERS:
        raise ModelError(f"it was learned by {str(saved['learner'])[:40]!r}, which is not a learner of rosenblatt")
    made: Any = getattr(learners, saved["learner"])
    try:
        learner = made(**values_from_json(saved["parameters"]))
        learner.params().check()
    except (ParameterError, TypeError) as error:
        raise ModelError(f"its parameters are invalid: {error}") from None
    params, is_multilabel = learner.params(), bool(saved["is_multilabel"])
    states = states_from_tree(saved["states"], problem_shape(params, len(classes), is_multilabel), features, params)
    known = {names.get(column, column): column for column in range(features)} if names else None
    if known is not None and len(known) != features:
        raise ModelError("the names of its features do not fit them")
    mistakes, updates = ([count_of(count) for count in saved[name]] for name in ("mistakes", "updates"))
    if len(mistakes) != len(updates):
        raise ModelError("its training history is not valid")
    history = History(mistakes, updates, [0.0] * len(mistakes), take(saved, validation="f8")[0].tolist())
    ending = history, count_of(saved["epochs"]), str(saved["stop_reason"])
    unit = check_number("unit", saved["unit"], above=0.0)
    learner._fitted = Fitted(states, classes, params.shape(), features, known, *ending, is_multilabel, unit)
    return learner


def states_from_tree(tree: Tree, shape: tuple[int, int], features: int, params: Any) -> list[Any]:
    """The states of a file, for so many problems and weight rows."""
    if isinstance(params, KernelPerceptronParams):
        states: list[Any] = KernelState.from_tree(tree, params, shape, features)
    else:
        states = [WeightState.from_tree(each, features, shape[1], params) for each in tree["each"]]
    if len(states) != shape[0]:
        raise ModelError("its learning state does not fit its parameters")
    return states


def over_all_columns(saved: Tree, columns: NDArray[Any], features: int) -> Tree:
    """The state of a learner over some columns as one over so many features, of which they are those at `columns`."""
    spread = _with_columns(saved, lambda some: columns[some], features)
    for state in spread["states"]["each"]:
        if state.get("support") is not None:
            state["support"] = to_tree(spread_rows(from_tree(state["support"]), columns, features))
    return spread


def _with_columns(saved: Tree, change: Callable[[NDArray[Any]], NDArray[Any]], features: int) -> Tree:
    each = []
    for state in saved["states"]["each"]:
        arrays = dict(state["arrays"])
        for name, matrix in arrays.items():
            if isinstance(matrix, dict):
                arrays[name] = matrix | {"columns": change(matrix["columns"]).astype(np.int64)}
        each.append(state | {"arrays": arrays, "features": features})
    return saved | {"states": saved["states"] | {"each": each}}


@dataclass(frozen=True)
class ResumePoint:
    """The start of a run over more data."""

    params: LinearParams
    state: WeightState
    scale: NDArray[np.float64] | None
    products: Products | None
    columns: NDArray[np.int64] | None  # that the state is over; None: all


def resume_point(model: Model, columns: NDArray[Any]) -> ResumePoint:
    """The state of a model with linear weights that all classes share, to continue with data that has these columns."""
    saved = model.state
    if saved is None:
        raise ModelError("the model has no learning state: save it with its state")
    products, features, scale = None, model.features, None
    try:
        inner = saved.get("inner", saved)
        params = params_from_json({"learner": inner["learner"], **inner["parameters"]})
        if not isinstance(params, LinearParams) or params.is_ovr(len(model.classes)):
            raise ModelError("only a linear model whose classes are learned jointly can continue with files")
        if saved.get("products") is not None:
            products = Products.read(saved["products"], features)
            features = count_terms(len(products.columns))
        if saved.get("scaling") is not None:
            scale, center = take(saved["scaling"], scale="f8", center="f8")
            check_shapes(scale.shape == (features,))
            if center.any() or not (scale > 0).all():
                raise ModelError("a model of centered columns cannot continue with files; use partial_fit in Python")
        shape = problem_shape(params, len(model.classes))
        (state,) = inner["states"]["each"]
        stored = [matrix["columns"] for matrix in state["arrays"].values() if isinstance(matrix, dict)]
        used = None if params.keep == "vote" or products is not None else np.unique(np.concatenate([columns, *stored]))
        if used is None or shape[1] * features <= FEW_WEIGHTS or 2 * len(used) >= features:
            used = None
        else:
            check_columns(used, features)
            check_shapes(state["features"] == features)
            inner = _with_columns(inner, lambda some: np.searchsorted(used, some), len(used))
            features = len(used)
        (begun,) = states_from_tree(inner["states"], shape, features, params)
    except INVALID as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"the learning state is not valid: {first_line(error)}") from None
    return ResumePoint(params, begun, scale, products, used)
