"""The state of a run over files in a model file, and a model file as the beginning of such a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import ModelError
from rosenblatt.learners.epochs.stopping import History
from rosenblatt.learners.kept.around import inside, prepared
from rosenblatt.learners.kept.learner import keep_states, states_from
from rosenblatt.learners.state.state import State
from rosenblatt.models.container import Tensors, check_finite, check_shapes, check_types
from rosenblatt.models.kept import Kept
from rosenblatt.models.model import Model
from rosenblatt.models.predictors import Products, count_terms
from rosenblatt.params import LinearParams, Params, params_from_json


def keep_run(
    params: Params,
    state: State,
    history: History,
    stop_reason: str,
    features: int,
    scale: NDArray[np.float64] | None,
    products: Products | None,
    choice: str | None,
) -> Kept:
    """What a run has learned over so many features; `scale` or `products` make it an `AutoPerceptron`."""
    within = keep_states(
        params.learner, params.values(), [state], history, epochs=len(history), stop_reason=stop_reason
    )
    if scale is None and products is None:
        return within
    scaled = None
    if scale is not None and products is None:
        divided = np.ones(features)
        divided[: len(scale)] = scale[:features]
        scaled = "mean-abs", np.zeros(features), divided
    tensors: Tensors = {}
    header: dict[str, Any] = {
        "around": "AutoPerceptron",
        "parameters": {},
        "choice": choice,
        "scores": {},
        "calibration": None,
    }
    return prepared(header, tensors, within, scaled, products)


@dataclass(frozen=True)
class Begun:
    """What a run over more data begins with."""

    params: LinearParams
    state: State
    scale: NDArray[np.float64] | None
    products: Products | None


def run_from(model: Model) -> Begun:
    """The state of a model with linear weights that all classes share, to go on from with more data."""
    kept = model.kept() if callable(model.kept) else model.kept
    if kept is None:
        raise ModelError("the model holds what it answers with, but no learning state: save it with its state")
    tensors, products, features, scale = kept.tensors, None, model.features, None
    try:
        within = inside(kept) if "around" in kept.header else kept
        written = {"learner": within.header["learner"], **within.header["parameters"]}
        params = params_from_json(written, within.tensors)
        if not isinstance(params, LinearParams) or params.is_ovr(len(model.classes)):
            raise ModelError("only a linear model whose classes are learned together can go on with files")
        if "products.columns" in tensors:
            products = Products.from_tensors("products.", tensors, features)
            features = count_terms(len(products.columns))
        if kept.header.get("scaling") is not None:
            scale = tensors["scaling.scale"]
            check_types([scale, tensors["scaling.center"]], ["<f8", "<f8"])
            check_shapes(scale.shape == (features,))
            check_finite(scale)
            if tensors["scaling.center"].any() or not (scale > 0).all():
                raise ModelError("a model of centered columns cannot go on with files: go on in Python")
        states = states_from(within.header["states"], within.tensors, model.classes, features, params)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"the learning state is not sound: {(str(error).splitlines() or ['it is none'])[0]}") from None
    return Begun(params, states[0], scale, products)
