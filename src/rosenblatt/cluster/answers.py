"""Predictions and evaluations of a model over a source, part by part, where the parts are.

Invariant: answers come in the order of the rows, and figures are those of one pass over all of them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cluster.collections import are_paths, as_columns, computed, is_frame, is_lazy, row_blocks
from rosenblatt.cluster.hands import Hands, Lost, Threads, hands_of
from rosenblatt.cluster.run import MOST_LOSSES
from rosenblatt.cluster.sources import begin_files, over
from rosenblatt.data.batch import RowBatch
from rosenblatt.data.labels import encode_labels
from rosenblatt.encode.lines import LineEncoder
from rosenblatt.errors import ClusterError, DataError, ParameterError
from rosenblatt.evaluation import Evaluation, Evaluator
from rosenblatt.io.dataset import Dataset
from rosenblatt.learners.targets import row_weights
from rosenblatt.models.model import Model, model_of


def predict(
    client: Any,
    source: Any,
    model: Any,
    *,
    n_jobs: int | None = None,
    reading: dict[str, Any] | None = None,
    patience: float = 60.0,
) -> NDArray[Any]:
    """The label of every row of a source, in order.

    Parameters
    ----------
    client, n_jobs, reading, patience
        As for `train`.
    source : paths, Dask array, Dask DataFrame, or list of delayed batches
        As for `train`, without labels, or with labels that are passed over.
    model : Model or fitted learner

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt import cluster
    >>> rows, labels = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 10), np.array([0, 0, 1, 1] * 10)
    >>> trained = cluster.train(None, (rows, labels), "averaged", shards=2, n_jobs=1)
    >>> cluster.predict(None, np.array([[-3.0], [3.0]]), trained.model, n_jobs=1).tolist()
    [0, 1]
    """
    model = model_of(model)
    parts = list(iter_parts(client, source, model, _labels_of, n_jobs=n_jobs, reading=reading, patience=patience))
    labels: NDArray[Any] = np.concatenate(parts)
    return labels


def evaluate(
    client: Any,
    source: Any,
    model: Any,
    *,
    n_jobs: int | None = None,
    reading: dict[str, Any] | None = None,
    patience: float = 60.0,
) -> Evaluation:
    """How often a model is right on a labelled source; the source is as for `train`.

    >>> import numpy as np
    >>> from rosenblatt import cluster
    >>> rows, labels = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 10), np.array([0, 0, 1, 1] * 10)
    >>> trained = cluster.train(None, (rows, labels), "averaged", shards=2, n_jobs=1)
    >>> cluster.evaluate(None, (rows, labels), trained.model, n_jobs=1).accuracy
    1.0
    """
    model = model_of(model)
    told: dict[str, Any] = {"n_jobs": n_jobs, "reading": reading, "patience": patience, "labelled": True}
    found: Evaluation = reduce(Evaluator.merge, iter_parts(client, source, model, _sums_of, **told)).result()
    return found


def iter_parts(
    client: Any,
    source: Any,
    model: Model,
    function: Callable[[Model, Dataset | None, Any], Any],
    *,
    n_jobs: int | None = None,
    reading: dict[str, Any] | None = None,
    patience: float = 60.0,
    labelled: bool = False,
) -> Iterator[Any]:
    """What a function of the model, the way to read and a part gives, part after part.

    What was lost with workers is done again, from the first part whose answer was not yet given.
    """
    hands, done, losses, moved = hands_of(client, n_jobs, patience), 0, 0, time.monotonic()
    try:
        while True:
            try:
                reader, parts = _parts_of(hands, source, model, reading or {}, labelled)
                held = hands.hold(model)
                found = [hands.submit(function, held, reader, part) for part in parts[done:]]
                while found:
                    answer = hands.results(found[:1])[0]
                    del found[0]
                    done, losses, moved = done + 1, 0, time.monotonic()
                    yield answer
                return
            except Lost as error:
                losses += 1
                if losses >= MOST_LOSSES and time.monotonic() - moved > hands.patience:
                    why = " ".join(str(error).split())[:300]
                    raise ClusterError(f"workers were lost {losses} times in a row at the same work: {why}") from None
                time.sleep(min(0.1 * 2**losses, 5.0))
    finally:
        hands.close()


def _parts_of(
    hands: Hands, source: Any, model: Model, reading: dict[str, Any], labelled: bool
) -> tuple[Dataset | None, Sequence[Any]]:
    """How parts are read, and handles on them."""
    encoder = model.encoder or LineEncoder("svmlight")
    told = {**reading, "encoder": encoder, "require_label": labelled, "sort_documents": True}
    if are_paths(source):
        named = [os.fspath(each) for each in ([source] if isinstance(source, (str, os.PathLike)) else source)]
        reader: Dataset = hands.results([hands.submit(begin_files, named, told, None)])[0]
        return replace(reader, sources=[]), reader.sources
    source = as_columns(source)
    if isinstance(source, list) and len(source) and all(map(is_lazy, source)):
        return _frame_reader(model, told), computed(hands, source)
    if is_frame(source) and model.encoder is not None:
        return _frame_reader(model, told), computed(hands, source.to_delayed())
    columns = source if isinstance(source, tuple) else (source,)
    if labelled and len(columns) < 2:
        raise ParameterError("to evaluate, labels are needed: give (X, y)")
    if isinstance(hands, Threads) and not is_lazy(columns[0]):
        return None, [columns]
    return None, [hands.submit(pack, *each) for each in zip(*row_blocks(hands, columns), strict=True)]


def _frame_reader(model: Model, told: dict[str, Any]) -> Dataset | None:
    if model.encoder is None:
        return None
    plain = {name: told[name] for name in ("require_label", "skip_bad") if name in told}
    return Dataset(None, "arrow", model.encoder, [], **plain)


def pack(*columns: Any) -> tuple[Any, ...]:
    """The blocks of one part together."""
    return columns


def _batches_of(reader: Dataset | None, part: Any) -> Any:
    """Rows of a part that is read; None for rows that the caller has made."""
    if isinstance(part, RowBatch):
        return [part]
    if reader is None or isinstance(part, tuple):
        return None
    return over(reader, part)


def _labels_of(model: Model, reader: Dataset | None, part: Any) -> NDArray[Any]:
    batches = _batches_of(reader, part)
    if batches is None:
        X = part[0] if isinstance(part, tuple) else part
        return model.classes[:0] if X.shape[0] == 0 else model.predict(X)
    found = [model.predictions(model.batch_scores(batch)).labels for batch in batches]
    return np.concatenate(found) if found else model.classes[:0]


def _sums_of(model: Model, reader: Dataset | None, part: Any) -> Evaluator:
    evaluator, batches = Evaluator.of(model), _batches_of(reader, part)
    if batches is None:
        X, y, *weights = part
        labels = encode_labels(y)
        if X.shape[0] != len(labels.codes):
            raise DataError(f"a part of X has {X.shape[0]} rows, and that of y has {len(labels.codes)} labels")
        if len(labels.codes):
            given = weights[0] if weights else None
            evaluator.add_rows(model, X, labels, row_weights(given, None, labels, more_to_come=True))
        return evaluator
    for batch in batches:
        evaluator.add_batch(model, batch)
    return evaluator
