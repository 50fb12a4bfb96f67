"""Learning on from a model, with new data."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

from rosenblatt.data.batch import Classes
from rosenblatt.data.labels import merge_classes
from rosenblatt.errors import ModelError
from rosenblatt.io.dataset import Dataset
from rosenblatt.learners.files.run import BLOCK, FileRun
from rosenblatt.learners.fit import Counters
from rosenblatt.learners.serialization import resume_point
from rosenblatt.learners.stopping import StoppingCriterion
from rosenblatt.learners.weights import states_over
from rosenblatt.models.model import Model
from rosenblatt.training.trained import Trained, finish
from rosenblatt.training.weights import count_class_weights


def go_on(
    model: Model,
    reader: Dataset,
    *,
    max_iter: int = 1,
    shuffle: bool = False,
    block: int = BLOCK,
    on_run: Callable[[FileRun], None] | None = None,
) -> Trained:
    """Learn on from a model, with the rows of a reader that has the model's encoder.

    One pass in the order of the data, without shuffling, is exact: to learn A and then to go on with B is to learn from
    one stream of A and B, to the bit, with any cut into files. New labels are taken as they come.
    """
    begun = resume_point(model)
    params = copy(begun.params)
    if params.is_regression:
        raise ModelError("a model that predicts numbers cannot go on with files: go on in Python")
    params.max_iter, params.shuffle = max_iter, shuffle
    params.check()
    classes = merge_classes(model.classes, reader.scan_classes().values)
    (state,) = states_over([begun.state], model.classes, classes, params)
    features = max(model.features, reader.encoder.features or 0)
    run = FileRun(reader, params, Classes(classes), state, StoppingCriterion.of(params), block, features)
    run.scale, run.products, run.before = begun.scale, begun.products, Counters.of(state)
    if params.class_weight is not None:
        run.class_weights = count_class_weights(reader, params.class_weight, classes)
    return finish(run, on_run=on_run)
