"""Which learner is taken where none is named: chosen on a sample of the rows, then learned on all of them.

Invariant: which rows are in the sample depends on the data alone. Only they come to the client.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rosenblatt.cluster.hands import Hands
from rosenblatt.cluster.parts import Part
from rosenblatt.cluster.sources import Opened
from rosenblatt.data.batch import RowBatch, join_batches
from rosenblatt.data.labels import Classes, label_values
from rosenblatt.errors import ParameterError
from rosenblatt.learners.weights import seed_of
from rosenblatt.training.select import SAMPLE_BYTES, Choice, choose


def parameters_of(auto: Any) -> dict[str, Any]:
    """What an `AutoPerceptron` is told, as far as it has a meaning here."""
    told = {"scoring": (auto.scoring, None, "accuracy"), "calibrate": (auto.calibrate, "auto", "the sample")}
    for name, (given, usual, by) in told.items():
        if given != usual:
            raise ParameterError(f"{name}={given!r} has no meaning on a cluster: {by} decides; leave it out")
    return {name: getattr(auto, name) for name in ("max_iter", "random_state", "class_weight")}


def choose_on(
    hands: Hands,
    opened: Opened,
    *,
    products: bool,
    max_iter: int | None = None,
    random_state: Any = 0,
    class_weight: Any = None,
) -> Choice:
    """As `rosenblatt train` chooses, by rows from all parts."""
    step, size = 1, sum(12 * facts.stored + 16 * facts.rows for facts in opened.facts)
    while size > SAMPLE_BYTES * step:
        step *= 2
    begins = np.cumsum([0] + [facts.rows for facts in opened.facts])
    firsts = [int(-begin % step) for begin in begins[:-1]]
    handles = [hands.submit(sample_of, part, step, first) for part, first in zip(opened.parts, firsts, strict=True)]
    rows = join_batches([batch for batch in hands.results(handles) if len(batch)])
    if not isinstance(opened.classes, Classes):  # the sample has the codes of arrays, written as labels
        values = [str(label).encode() for label in opened.values.tolist()]
        order = {label: code for code, label in enumerate(values)}
        codes = np.array([order[label] for label in rows.labels], np.int32)[rows.codes]
        rows = RowBatch(rows.starts, rows.indices, rows.values, codes, _numbers(len(values)), rows.weights)
        classes = Classes(np.arange(len(values)))
    else:
        classes = opened.classes
    told: dict[str, Any] = {"products": products, "max_iter": max_iter, "random_state": seed_of(random_state)}
    weights = None if class_weight is None else opened.class_weights(class_weight)
    if weights is not None:  # the sample knows classes by their places where arrays were given
        told["class_weight"] = dict(zip(label_values(classes.values), weights.tolist(), strict=True))
    chosen = choose(replace(rows, codes=classes.codes(rows)), step, classes.values, opened.features, **told)
    if weights is not None:
        chosen.params.class_weight = dict(zip(label_values(opened.values), weights.tolist(), strict=True))
    return chosen


def sample_of(part: Part, step: int, first: int) -> RowBatch:
    """Every `step`-th row of a part, from the `first` on, as a reader gives rows."""
    import scipy.sparse as sp

    rows = np.arange(first, len(part), step)
    matrix = sp.csr_array(part.X[rows])
    labels = part.labels
    if isinstance(labels, np.ndarray):
        labels = [str(label).encode() for label in labels.tolist()]
    weights = None if part.weights is None else part.weights[rows]
    starts, indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    return RowBatch(starts, indices, matrix.data.astype(np.float64), part.codes[rows], labels, weights)


def _numbers(count: int) -> list[bytes]:
    return [str(code).encode() for code in range(count)]
