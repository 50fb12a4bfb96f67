"""The model file: `save` and `load`.

Invariant: ``load(save(model))`` scores with the same bits. Only columns with a weight are stored, so a model of a few
thousand words is small however many hashed columns there are.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.data.lines import LineEncoder
from rosenblatt.errors import ModelError
from rosenblatt.models.container import Tensors, read_container, write_container
from rosenblatt.models.linear import Linear
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.voted import Updates, Voted

MOST_FEATURES = 2**31
_KINDS = {"i": int, "U": str, "b": bool, "f": float, "u": int}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model, or a fitted learner as a model, to one file.

    Parameters
    ----------
    model : Model or fitted learner
    path : path
        Replaced as a whole, or not at all.

    Examples
    --------
    >>> import tempfile, os, rosenblatt
    >>> path = os.path.join(tempfile.mkdtemp(), "and.model")
    >>> save(rosenblatt.Perceptron().fit([[0.0, 1.0], [1.0, 1.0]], ["no", "yes"]), path)
    >>> load(path).predict([[2.0, 1.0]]).tolist()
    ['yes']
    """
    header, tensors = to_parts(model_of(model))
    write_container(path, "model", header, tensors)


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that `save` or the command ``train`` wrote. No code is run, whatever the file holds.

    Raises
    ------
    ModelError
        The file is truncated, altered, of another kind or of a newer version.
    """
    header, tensors = read_container(path, "model")
    try:
        return from_parts(header, tensors)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ModelError(f"{os.fspath(path)} is not a sound model: {error}") from None


def to_parts(model: Model) -> tuple[dict[str, Any], Tensors]:
    """A model as a header of plain values and tensors."""
    tensors: Tensors = {}
    parts = [_part_to(part, f"{k}.", tensors) for k, part in enumerate(model.parts)]
    header = {
        "library": _library_version(),
        "learner": model.learner,
        "parameters": model.parameters,
        "classes": _classes_to(model.classes),
        "features": model.features,
        "parts": parts,
        "encoder": None if model.encoder is None else model.encoder.to_json(),
        "names": [[column, name] for column, name in sorted(model.names.items())],
        "history": model.history,
    }
    return header, tensors


def from_parts(header: dict[str, Any], tensors: Tensors) -> Model:
    """The model of a header and tensors, checked."""
    features = header["features"]
    if not isinstance(features, int) or not 0 < features <= MOST_FEATURES:
        raise ModelError(f"it has {features!r} features")
    classes = _classes_from(header["classes"])
    rows = 1 if len(classes) <= 2 else len(classes)
    parts = tuple(_part_from(part, f"{k}.", tensors, features) for k, part in enumerate(header["parts"]))
    if sum(len(part.intercept if isinstance(part, Linear) else part.start.intercept) for part in parts) != rows:
        raise ModelError("its weight rows do not fit its classes")
    return Model(
        header["learner"],
        header["parameters"],
        classes,
        parts,
        features,
        encoder_from(header["encoder"]),
        {int(column): str(name) for column, name in header["names"]},
        header["history"],
    )


def encoder_from(header: dict[str, Any] | None) -> Any:
    """The encoder that a header describes."""
    if header is None:
        return None
    if header["kind"] == "lines":
        return LineEncoder.from_json(header)
    from rosenblatt.data.columns import ColumnEncoder

    return ColumnEncoder.from_json(header)


def _part_to(part: Linear | Voted, prefix: str, tensors: Tensors) -> dict[str, Any]:
    if isinstance(part, Linear):
        _weights_to(part, prefix, tensors)
        return {"kind": "linear"}
    _weights_to(part.start, prefix, tensors)
    for name in ("which", "steps", "gains", "loses", "survived"):
        tensors[f"{prefix}{name}"] = getattr(part.updates, name)
    storage = "none"
    if sp.issparse(part.support):
        storage = "sparse"
        for name in ("data", "indices", "indptr"):
            tensors[f"{prefix}support.{name}"] = getattr(part.support, name)
    elif part.support is not None:
        storage = "dense"
        tensors[f"{prefix}support"] = np.asarray(part.support)
    return {
        "kind": "voted",
        "support": storage,
        "rows": 0 if part.support is None else int(part.support.shape[0]),
        "survived_last": int(part.survived_last),
        "fit_intercept": bool(part.fit_intercept),
    }


def _part_from(header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> Linear | Voted:
    start = _weights_from(prefix, tensors, features)
    if header["kind"] == "linear":
        return start
    if header["kind"] != "voted":
        raise ModelError(f"it has a part of the unknown kind {header['kind']!r}")
    support: Any = None
    if header["support"] == "sparse":
        arrays = tuple(tensors[f"{prefix}support.{name}"] for name in ("data", "indices", "indptr"))
        support = sp.csr_array(arrays, shape=(header["rows"], features))
    elif header["support"] == "dense":
        support = tensors[f"{prefix}support"]
    updates = Updates(*(tensors[f"{prefix}{name}"] for name in ("which", "steps", "gains", "loses", "survived")))
    return Voted(start, support, updates, int(header["survived_last"]), bool(header["fit_intercept"]))


def _weights_to(linear: Linear, prefix: str, tensors: Tensors) -> None:
    """Only what is not 0: the columns with a weight, and of these the rows."""
    columns = np.flatnonzero((linear.weights != 0).any(axis=0))
    stored = sp.csc_array(linear.weights[:, columns])
    stored.sort_indices()
    tensors[f"{prefix}columns"] = columns.astype(np.int64)
    tensors[f"{prefix}counts"] = np.diff(stored.indptr).astype(np.int32)
    tensors[f"{prefix}rows"] = stored.indices.astype(np.int32)
    tensors[f"{prefix}weights"] = stored.data
    tensors[f"{prefix}intercept"] = linear.intercept


def _weights_from(prefix: str, tensors: Tensors, features: int) -> Linear:
    columns, counts, rows = (tensors[f"{prefix}{name}"] for name in ("columns", "counts", "rows"))
    stored, intercept = tensors[f"{prefix}weights"], tensors[f"{prefix}intercept"]
    if (
        stored.dtype not in (np.float32, np.float64)
        or intercept.dtype != np.float64
        or [tensor.dtype.str for tensor in (columns, counts, rows)] != ["<i8", "<i4", "<i4"]
    ):
        raise ModelError("its tensors have other types than those of a model")
    if any(tensor.ndim != 1 for tensor in (columns, counts, rows, stored, intercept)) or not (
        len(columns) == len(counts) <= features and len(rows) == len(stored) == counts.sum()
    ):
        raise ModelError("its tensors have other shapes than those of a model")
    if len(columns) and (
        columns[0] < 0 or columns[-1] >= features or (np.diff(columns) <= 0).any() or counts.min() < 0
    ):
        raise ModelError("its columns are out of order")
    if len(rows) and (rows.min() < 0 or rows.max() >= len(intercept)):
        raise ModelError("it has a weight for a class that is not there")
    if not (np.isfinite(stored).all() and np.isfinite(intercept).all()):
        raise ModelError("its weights are not finite")
    # Feature after feature, where a reader's rows look them up; pages of columns without a weight are never touched.
    weights: NDArray[Any] = np.zeros((len(intercept), features), stored.dtype, order="F")
    weights[rows, np.repeat(columns, counts)] = stored
    return Linear(weights, intercept)


def _classes_to(classes: NDArray[Any]) -> dict[str, Any]:
    kind = classes.dtype.kind
    values = classes.tolist()
    if kind == "O" and all(isinstance(value, str) for value in values):
        kind = "U"
    if kind not in _KINDS:
        raise ModelError(f"classes of type {classes.dtype} cannot be saved: use numbers, strings or booleans")
    return {"kind": kind, "values": values}


def _classes_from(header: dict[str, Any]) -> NDArray[Any]:
    kind = _KINDS[header["kind"]]
    values = header["values"]
    if not values or not all(type(value) is kind for value in values):
        raise ModelError("its classes are not of the type it names")
    return np.array(values)


def _library_version() -> str:
    # By its name at run time: the package's own file imports everything else, for type checkers.
    version: str = sys.modules["rosenblatt"].__version__
    return version
