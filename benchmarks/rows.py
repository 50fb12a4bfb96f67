"""The rows that the benchmarks make themselves, from a seed; published ones are read by fetch.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def make_dense(rows: int, features: int, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    """Normal rows whose class is the highest of `classes` linear scores, a tenth of the labels drawn anew."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, features))
    directions = rng.standard_normal((features, classes))
    y = np.concatenate([(part @ directions).argmax(axis=1) for part in np.array_split(X, max(rows // 100_000, 1))])
    noisy = rng.random(rows) < 0.1
    y[noisy] = rng.integers(0, classes, int(noisy.sum()))
    return X, y


def make_text(rows: int, features: int, values: int = 67, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    """Rows like tf-idf of documents: about `values` different words each, word frequencies by Zipf's law.

    Frequent words stand anywhere in the vocabulary, as in one sorted by spelling; lengths are log-normal; every
    row has norm 1.
    """
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, features + 1)
    share /= share.sum()
    # Words repeat, so more are drawn than stay; the factor is that of Zipf's law for documents of this length.
    tokens = values * _tokens_for_each_value(share, values)
    lengths = np.maximum(1, rng.lognormal(np.log(tokens) - 0.125, 0.5, rows)).astype(np.int64)
    document = np.repeat(np.arange(rows), lengths)
    rank = np.searchsorted(np.cumsum(share), rng.random(len(document)) * (1 - 1e-12))
    place = rng.permutation(features).astype(np.int64)
    cells, counts = np.unique(document * features + place[np.minimum(rank, features - 1)], return_counts=True)
    rare = np.empty(features)
    rare[place] = -np.log(share)
    columns = (cells % features).astype(np.int32)
    X = sparse.csr_array(
        (
            (1 + np.log(counts)) * rare[columns],
            columns,
            np.searchsorted(cells, np.arange(rows + 1) * features).astype(np.int32),
        ),
        shape=(rows, features),
    )
    X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1)), np.diff(X.indptr))
    y = (X @ rng.standard_normal((features, classes))).argmax(axis=1)
    noisy = rng.random(rows) < 0.1
    y[noisy] = rng.integers(0, classes, int(noisy.sum()))
    return X, y


def _tokens_for_each_value(share: Any, values: int) -> float:
    """How many words must be drawn for each different one, found by halving."""
    low, high = 1.0, 10.0
    for _ in range(30):
        middle = (low + high) / 2
        different = -np.expm1(values * middle * np.log1p(-share)).sum()
        low, high = (middle, high) if different < values else (low, middle)
    return high


def make_dicts(
    examples: int, features: int, vocabulary: int = 1000, seed: int = 0
) -> list[tuple[dict[str, float], bool]]:
    """Examples as dicts of `features` numbers each, out of a vocabulary of names."""
    rng = np.random.default_rng(seed)
    names = np.array([f"feature {j}" for j in range(vocabulary)], dtype=object)
    direction = rng.standard_normal(vocabulary)
    stream = []
    for _ in range(examples):
        chosen = rng.choice(vocabulary, features, replace=False)
        values = rng.standard_normal(features)
        stream.append((dict(zip(names[chosen], values.tolist(), strict=True)), bool(values @ direction[chosen] > 0)))
    return stream
