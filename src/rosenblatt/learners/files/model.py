"""The model that a run over files has learned."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.encode.lines import LineEncoder
from rosenblatt.learners.files.parts import scale_of
from rosenblatt.learners.serialization import run_to_tensors
from rosenblatt.models.model import Model
from rosenblatt.models.predictors import Linear, Quadratic

if TYPE_CHECKING:
    from rosenblatt.learners.files.run import FileRun

MOST_NAMES = 1 << 17


def model_of(run: FileRun, names: dict[int, str] | None) -> Model:
    """What a run has learned so far, ready to predict; names: those of columns, or None to find them."""
    features = max(run.features, 1)
    state = run.state
    if run.products is None and features != state.features:
        state = state.with_features(features)
    answer: Any = state.predictor()
    history: dict[str, Any] = {
        "mistakes": run.stopping.history.mistakes,
        "updates": run.stopping.history.updates,
        "stop_reason": run.stopping.stop_reason or "unfinished",
        "rows": run.rows,
    }
    if run.choice is not None:
        history["choice"] = run.choice
    if run.products is not None:
        answer = Quadratic(run.products, answer)
    elif run.scale is not None:
        assert isinstance(answer, Linear)
        answer = Linear(answer.weights / scale_of(run.scale, state.features), answer.intercept)
    if names is None:
        names = _names(run, answer)
    return Model(
        run.params.learner,
        run.params.values(),
        np.empty(0) if run.params.is_regression else run.classes.values,
        (answer,),
        features,
        run.reader.encoder,
        names,
        history,
        run.calibrator,
        partial(
            run_to_tensors,
            run.params,
            state,
            run.stopping.history,
            history["stop_reason"],
            features,
            run.scale,
            run.products,
            run.choice,
        ),
    )


def _names(run: FileRun, answer: Any) -> dict[int, str]:
    """The names of the columns that weigh most."""
    if isinstance(answer, Quadratic):
        return run.reader.find_names(answer.products.columns)
    if not isinstance(answer, Linear) or (
        isinstance(run.reader.encoder, LineEncoder) and not run.reader.encoder.hashed
    ):
        return {}
    columns = answer.columns()
    if len(columns) > MOST_NAMES:
        sizes = np.abs(answer.weights[:, columns]).max(axis=0)
        columns = np.sort(columns[np.argsort(-sizes, kind="stable")[:MOST_NAMES]])
    return run.reader.find_names(columns)
