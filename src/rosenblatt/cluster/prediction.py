"""Predictions and evaluations of a model over a source, piece by piece.

Invariant: predictions come in the order of the rows, and figures are those of one pass over all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cluster.dataset import load_partition, open_pieces, read_piece
from rosenblatt.cluster.executor import Retries, WorkerLost, open_executor
from rosenblatt.data.batch import RowBatch
from rosenblatt.encode.lines import LineEncoder
from rosenblatt.evaluation import Evaluation, Evaluator
from rosenblatt.io.dataset import Dataset
from rosenblatt.models.model import Model, model_of


def predict(
    client: Any,
    source: Any,
    model: Any,
    *,
    reading: dict[str, Any] | None = None,
    worker_timeout: float = 60.0,
) -> NDArray[Any]:
    """The predicted label of every row of a source, in order.

    Parameters
    ----------
    client, reading, worker_timeout
        As for `train`.
    source : paths, Dask array, Dask DataFrame, or list of delayed batches
        As for `train`, without labels, or with labels, which are ignored.
    model : Model or fitted learner

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt import cluster
    >>> rows, labels = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 10), np.array([0, 0, 1, 1] * 10)
    >>> trained = cluster.train(None, (rows, labels), "averaged", shards=2)
    >>> cluster.predict(None, np.array([[-3.0], [3.0]]), trained.model).tolist()
    [0, 1]
    """
    pieces = map_pieces(client, source, model_of(model), _predict, reading, worker_timeout)
    return np.concatenate(list(pieces))


def evaluate(
    client: Any,
    source: Any,
    model: Any,
    *,
    reading: dict[str, Any] | None = None,
    worker_timeout: float = 60.0,
) -> Evaluation:
    """Evaluate a model on a labeled source; parameters as for `train`.

    >>> import numpy as np
    >>> from rosenblatt import cluster
    >>> rows, labels = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 10), np.array([0, 0, 1, 1] * 10)
    >>> trained = cluster.train(None, (rows, labels), "averaged", shards=2)
    >>> cluster.evaluate(None, (rows, labels), trained.model).accuracy
    1.0
    """
    sums = map_pieces(client, source, model_of(model), _evaluate, reading, worker_timeout, labeled=True)
    return reduce(Evaluator.merge, sums).result()


def map_pieces(
    client: Any,
    source: Any,
    model: Model,
    function: Callable[[Model, Dataset | None, Any], Any],
    reading: dict[str, Any] | None = None,
    worker_timeout: float = 60.0,
    *,
    labeled: bool = False,
) -> Iterator[Any]:
    """The results of a function of the model, the reader and a piece, piece after piece.

    If workers are lost, work is repeated from the first piece without a result.
    """
    encoder = model.encoder or LineEncoder("svmlight")
    options = {**(reading or {}), "encoder": encoder, "require_label": labeled}
    done, retries = 0, Retries(worker_timeout)
    with open_executor(client, worker_timeout) as executor:
        while True:
            try:
                reader, pieces = open_pieces(executor, source, options, frames_are_arrays=model.encoder is None)
                plain, shared = None if reader is None else replace(reader, sources=[]), executor.scatter(model)
                futures = [executor.submit(function, shared, plain, piece) for piece in pieces[done:]]
                while futures:
                    result = executor.results(futures[:1])[0]
                    del futures[0]
                    done += 1
                    retries.succeeded()
                    yield result
                return
            except WorkerLost as error:
                retries.failed(error)


def _read(reader: Dataset | None, piece: Any) -> Dataset | list[RowBatch] | None:
    """The batches of a piece; None if it is arrays."""
    if isinstance(piece, RowBatch):
        return [piece]
    return None if reader is None else read_piece(reader, piece)


def _predict(model: Model, reader: Dataset | None, piece: Any) -> NDArray[Any]:
    batches = _read(reader, piece)
    if batches is None:
        X = piece[0] if isinstance(piece, (tuple, list)) else piece
        return model.classes[:0] if X.shape[0] == 0 else model.predict(X)
    labels = [model.predictions(model.batch_scores(batch)).labels for batch in batches]
    return np.concatenate(labels) if labels else model.classes[:0]


def _evaluate(model: Model, reader: Dataset | None, piece: Any) -> Evaluator:
    evaluator, batches = Evaluator.of(model), _read(reader, piece)
    for batch in batches or ():
        evaluator.add_batch(model, batch)
    if batches is None and (rows := load_partition(None, piece, is_regression=False)) is not None:
        evaluator.add_rows(model, rows.X, rows.labels, rows.weights)
    return evaluator
