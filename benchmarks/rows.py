"""The rows that the benchmarks learn from: made from a seed, or MNIST where it is there."""

from __future__ import annotations

import gzip
import lzma
import os
from pathlib import Path
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


def data_folder() -> Path:
    """Where published data sets lie: ROSENBLATT_DATA, else ../shared/data beside the project."""
    return Path(os.environ.get("ROSENBLATT_DATA") or Path(__file__).parents[2] / "shared" / "data")


def read_mnist() -> tuple[Any, Any, int] | None:
    """All 70,000 digits with values in [0, 1], the labels, and how many at the end are for testing; None if absent."""
    folder = data_folder() / "mnist"
    if not folder.is_dir():
        return None
    images, labels = [], []
    for part in ("train", "t10k"):
        with gzip.open(folder / f"{part}-images-idx3-ubyte.gz") as file:
            images.append(np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784))
        with gzip.open(folder / f"{part}-labels-idx1-ubyte.gz") as file:
            labels.append(np.frombuffer(file.read(), np.uint8, offset=8))
    return np.concatenate(images) / 255.0, np.concatenate(labels), len(labels[1])


def read_a9a() -> tuple[Any, Any, int] | None:
    """All rows of a9a as CSR, whose values are all 1, the labels, and how many at the end are for testing."""
    folder = data_folder() / "libsvm_a9a"
    if not folder.is_dir():
        return None
    from sklearn.datasets import load_svmlight_file

    with lzma.open(folder / "a9a.xz") as train, gzip.open(folder / "a9a.t.gz") as test:
        X, y = load_svmlight_file(train, n_features=123)
        X_test, y_test = load_svmlight_file(test, n_features=123)
    rows = sparse.vstack([X, X_test], format="csr")
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return rows, np.concatenate([y, y_test]), len(y_test)
