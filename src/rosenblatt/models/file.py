"""The model file: `save` and `load`.

Invariant: ``load(save(model))`` scores with the same bits. Only columns with a weight are stored, so a model of a few
thousand words is small however many hashed columns there are.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.encode.lines import LineEncoder
from rosenblatt.errors import ModelError
from rosenblatt.io.source import digest_of
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.container import SavedState, Tensors, parse_json, read_container, write_container
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.predictors import Dual, Linear, Predictor, Quadratic, Voted, VotedDual
from rosenblatt.models.rows import plain_name
from rosenblatt.params import values_from_json, values_to_json

MOST_FEATURES = 2**31
MOST_WEIGHTS = 1 << 30  # as many as learning takes: 8 GB, of which only what is not 0 is ever touched
ANSWERS: dict[str, type[Predictor]] = {answer.kind: answer for answer in (Linear, Quadratic, Voted, Dual, VotedDual)}
_FREE_LABELS = 256 << 20  # bytes that the labels of any model may take

_KINDS: dict[str, type] = {"i": int, "U": str, "b": bool, "f": float, "u": int, "M": str, "m": int}


def save(
    model: Any, path: str | os.PathLike[str], *, state: bool = True, lineage: Mapping[str, str] | None = None
) -> None:
    """Write a model, or a fitted learner as a model, to one file.

    Parameters
    ----------
    model : Model or fitted learner
    path : path
        Replaced as a whole, or not at all.
    state : bool, default=True
        Also write the learning state, so that what is loaded can go on to the bit. It costs little where the answer is
        the last weights, a vote or a kernel, whose arrays are stored once. An average takes up to three times the
        space: False leaves the state out, for a file that only predicts.

    lineage : mapping, optional
        Facts about where the model comes from, such as ``{"data": "2026.csv", "date": "2026-11-18"}``; ``inspect``
        shows them. A model that was loaded and has learned on names the SHA-256 of its file as ``parent``.

    Examples
    --------
    >>> import tempfile, os, rosenblatt
    >>> path = os.path.join(tempfile.mkdtemp(), "and.model")
    >>> save(rosenblatt.Perceptron().fit([[0.0, 1.0], [1.0, 1.0]], ["no", "yes"]), path)
    >>> load(path).predict([[2.0, 1.0]]).tolist()
    ['yes']
    """
    found = model_of(model, state=state)
    found = replace(found, lineage={**found.lineage, **lineage}) if lineage else found
    header, tensors = to_parts(found, state=state)
    write_container(path, "model", header, tensors)


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that answers, as `rosenblatt.load` does, which can also go on learning.

    >>> import os, tempfile, rosenblatt
    >>> path = os.path.join(tempfile.mkdtemp(), "sign.model")
    >>> rosenblatt.save(rosenblatt.Perceptron().fit([[-1.0], [1.0]], ["no", "yes"]), path)
    >>> load(path).predict([[3.0]]).tolist()
    ['yes']
    """
    header, tensors = read_container(path, "model")
    try:
        return from_parts(header, tensors)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        why = (str(error).splitlines() or ["it cannot be read"])[0][:200]
        raise ModelError(f"{os.fspath(path)} is not a valid model: {why}") from None
    except MemoryError:
        raise ModelError(f"{os.fspath(path)} needs more memory than there is") from None


def sha256_of(path: str | os.PathLike[str]) -> str | None:
    """The SHA-256 of a file, by which people can tell each other which model they mean; None if it is no file."""
    return digest_of(os.fspath(path)) if os.path.isfile(path) else None


def to_parts(model: Model, *, state: bool = True) -> tuple[dict[str, Any], Tensors]:
    """A model as a header of plain values and tensors, with the learning state if it has one."""
    tensors: Tensors = {}
    parts = [part.to_tensors(f"{k}.", tensors) for k, part in enumerate(model.parts)]
    header = {
        "library": _library_version(),
        "learner": model.learner,
        "parameters": values_to_json(model.parameters, tensors),
        "classes": _classes_to(model.classes),
        "features": model.features,
        "parts": parts,
        "encoder": None if model.encoder is None else model.encoder.to_json(),
        "history": model.history,
    }
    # Names can be millions: beside the header, which has a limit.
    tensors["names"] = _text_to([[column, name] for column, name in sorted(model.names.items())])
    if model.lineage:
        header["lineage"] = model.lineage
    if model.is_regression:
        header["task"] = "regression"
    if model.is_multilabel:
        header["is_multilabel"] = True
    if model.calibrator is not None:
        header["probabilities"] = model.calibrator.to_json()
    if state and model.state is not None:
        header["state"] = model.state.to_file(tensors)
    return header, tensors


def from_parts(header: dict[str, Any], tensors: Tensors) -> Model:
    """The model of a header and tensors, checked."""
    features = header["features"]
    if not isinstance(features, int) or not 0 <= features <= MOST_FEATURES:
        raise ModelError(f"it has {features!r} features")
    classes = np.empty(0) if header.get("task") == "regression" else _classes_from(header["classes"])
    is_multilabel = header.get("is_multilabel", False) is True
    rows = 1 if len(classes) <= 2 and not is_multilabel else len(classes)
    if rows * features > MOST_WEIGHTS:
        raise ModelError(f"it has {features:,} features and {len(classes):,} classes, more than can be learned")
    _check_facts(header)
    parts = tuple(_answer_from(part, f"{k}.", tensors, features) for k, part in enumerate(header["parts"]))
    widths = [part.width for part in parts]
    if sum(widths) != rows or min(widths) < 1:
        raise ModelError("its weight rows do not fit its classes")
    return Model(
        header["learner"],
        values_from_json(header["parameters"], tensors),
        classes,
        parts,
        features,
        encoder_from(header["encoder"]),
        {int(column): plain_name(name) for column, name in _text_from(tensors["names"])},
        header["history"],
        None if "probabilities" not in header else Calibrator.from_json(header["probabilities"], len(classes)),
        None if "state" not in header else SavedState.from_file(header["state"], tensors),
        is_multilabel,
        _lineage_from(header.get("lineage", {})),
    )


def _answer_from(header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> Predictor:
    if header["kind"] not in ANSWERS:
        raise ModelError(f"it has a part of the unknown kind {header['kind']!r}")
    return ANSWERS[header["kind"]].from_tensors(header, prefix, tensors, features)


def _check_facts(header: dict[str, Any]) -> None:
    """Raise unless what is only shown is what it should be."""
    history = header["history"]
    counts = [count for name in ("mistakes", "updates") for count in history.get(name, [])]
    if (
        not isinstance(header["learner"], str)
        or not isinstance(header["parameters"], dict)
        or not all(isinstance(count, int) and count >= 0 for count in counts)
        or not isinstance(history.get("stop_reason", None if not counts else 0), str | None)
        or not isinstance(history.get("choice", ""), str | None)
    ):
        raise ModelError("what it says of its training cannot be read")


def encoder_from(header: dict[str, Any] | None) -> Any:
    """The encoder that a header describes."""
    if header is None:
        return None
    if header["kind"] == "lines":
        return LineEncoder.from_json(header)
    from rosenblatt.encode.table import TableEncoder

    return TableEncoder.from_json(header)


def _classes_to(classes: NDArray[Any]) -> dict[str, Any]:
    values = classes.tolist()
    if classes.dtype.kind == "O" and all(isinstance(value, str) for value in values):
        classes = classes.astype(str)
    elif classes.dtype.kind == "O" and all(type(value) is int for value in values):
        # NumPy's own guess for whole numbers on both sides of 2**63 is floats, which lose digits.
        try:
            classes = classes.astype(np.uint64 if min(values) >= 0 else np.int64)
        except OverflowError:
            raise ModelError("classes beyond 64 bits cannot be saved: use smaller numbers, or texts") from None
    kind = classes.dtype.kind
    if kind not in _KINDS:
        raise ModelError(f"classes of type {classes.dtype} cannot be saved: use numbers, texts, booleans or dates")
    if kind in "mM" and np.isnat(classes).any():
        raise ModelError("one of the classes is NaT, which is no date: it cannot be saved")
    if kind == "M":
        return {"kind": kind, "values": np.datetime_as_string(classes).tolist(), "unit": _unit(classes.dtype)}
    if kind == "m":
        return {"kind": kind, "values": classes.astype(np.int64).tolist(), "unit": _unit(classes.dtype)}
    return {"kind": kind, "values": values}


def _classes_from(header: dict[str, Any]) -> NDArray[Any]:
    kind, values = header["kind"], header["values"]
    if not values or not all(type(value) is _KINDS[kind] for value in values):
        raise ModelError("its classes are not of the type it names")
    # NumPy holds texts with the room of the longest for each: a file must not ask for much more than it has.
    lengths = [len(value) for value in values] if kind == "U" else [0]
    if 4 * len(lengths) * max(lengths) > max(_FREE_LABELS, 64 * sum(lengths)):
        raise ModelError("one of its labels is too long for so many classes")
    if kind in "mM":
        unit = header["unit"]
        if not isinstance(unit, str) or re.fullmatch(r"\d{0,9}[A-Za-z]{1,2}", unit) is None:
            raise ModelError("its classes have a unit of time that is none")
        classes: NDArray[Any] = np.array(values, dtype=f"{kind}8[{unit}]")
        if np.isnat(classes).any():
            raise ModelError("one of its classes is no date")
    else:
        classes = np.array(values, {"u": np.uint64, "i": np.int64}.get(kind))
    if classes.ndim != 1 or not (classes[:-1] < classes[1:]).all():
        raise ModelError("its classes are not in order")
    return classes


def _unit(dtype: np.dtype[Any]) -> str:
    unit, count = np.datetime_data(dtype)
    return f"{count if count != 1 else ''}{unit}"


def _text_to(value: Any) -> NDArray[np.uint8]:
    """JSON as a tensor of bytes."""
    try:
        return np.frombuffer(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), np.uint8)
    except UnicodeEncodeError:
        raise ModelError("a name is no text that can be encoded") from None


def _text_from(tensor: NDArray[Any]) -> Any:
    if tensor.dtype != np.uint8 or tensor.ndim != 1:
        raise ModelError("its names are not text")
    return parse_json(tensor.tobytes().decode())


def _lineage_from(header: Any) -> dict[str, str]:
    if not isinstance(header, dict) or not all(isinstance(fact, str) for fact in header.values()):
        raise ModelError("its lineage cannot be read")
    return header


def _library_version() -> str:
    # By its name at run time: the package's own file imports everything else, for type checkers.
    version: str = sys.modules["rosenblatt"].__version__
    return version
