"""The model file: `save` and `load`.

Invariant: ``load(save(model))`` scores with the same bits. Only columns with a weight are stored, so a model of a few
thousand words is small however many hashed columns there are.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.encode.lines import LineEncoder
from rosenblatt.encode.table import TableEncoder
from rosenblatt.errors import ModelError, first_line
from rosenblatt.io.source import digest_of
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.container import (
    INVALID,
    check_shapes,
    count_of,
    from_tree,
    read_container,
    take,
    to_tree,
    write_container,
)
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.predictors import Predictor
from rosenblatt.models.rows import plain_names
from rosenblatt.params import values_from_json, values_to_json

MOST_FEATURES = 2**31
MOST_WEIGHTS = 1 << 30  # as many as learning takes: 8 GB, of which only what is not 0 is ever touched
PLAIN_FACTS = ("learner", "features", "history", "is_multilabel", "lineage")  # stored as they are
_FREE_LABELS = 256 << 20  # bytes that the labels of any model may take


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
        Also write the learning state, so that a loaded model continues bit for bit. It costs little if the answer is
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
    found = replace(found, state=found.state if state else None, lineage={**found.lineage, **(lineage or {})})
    write_container(path, "model", to_content(found))


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that `save` or the command ``train`` wrote. No code is run, whatever the file holds.

    Raises
    ------
    ModelError
        The file is truncated, altered, of another kind or of a newer version.

    Examples
    --------
    >>> import tempfile, os, rosenblatt
    >>> path = os.path.join(tempfile.mkdtemp(), "spam.model")
    >>> learner = rosenblatt.Perceptron().learn_one({"win": 1.0}, "spam").learn_one({"lunch": 1.0}, "ham")
    >>> rosenblatt.save(learner, path)
    >>> rosenblatt.load(path).learn_one({"lunch": 1.0}, "ham").predict_one({"lunch": 1.0})
    'ham'
    """
    content = read_container(path, "model")
    try:
        model = from_content(content)
        return model if model.state is None else replace(model, sha256=sha256_of(path))
    except INVALID as error:
        raise ModelError(f"{os.fspath(path)} is not a valid model: {first_line(error)}") from None
    except MemoryError:
        raise ModelError(f"{os.fspath(path)} needs more memory than there is") from None


def sha256_of(path: str | os.PathLike[str]) -> str | None:
    """The SHA-256 of a file, which identifies a model; None if there is no such file."""
    return digest_of(os.fspath(path)) if os.path.isfile(path) else None


def to_content(model: Model) -> dict[str, Any]:
    """A model as the content of a file, with the learning state if it has one."""
    columns = sorted(model.names)
    return {name: getattr(model, name) for name in PLAIN_FACTS} | {
        "library": sys.modules["rosenblatt"].__version__,
        "parameters": values_to_json(model.parameters, arrays=True),
        "classes": None if model.is_regression else _classes_to(model.classes),
        "parts": to_tree(model.parts),
        "encoder": None if model.encoder is None else model.encoder.to_json(),
        "named": np.array(columns, np.int64),
        "names": [model.names[column] for column in columns],
        "calibrator": to_tree(model.calibrator),
        "state": model.state,
    }


def from_content(content: dict[str, Any]) -> Model:
    """The model of the content of a file, checked."""
    features, state, encoder = content["features"], content["state"], content["encoder"]
    if not isinstance(features, int) or not 0 <= features <= MOST_FEATURES:
        raise ModelError(f"it has {features!r} features")
    classes = np.empty(0) if content["classes"] is None else _classes_from(content["classes"])
    rows = len(classes) if len(classes) > 2 or content["is_multilabel"] else 1
    if rows * features > MOST_WEIGHTS:
        raise ModelError(f"it has {features:,} features and {len(classes):,} classes, more than can be learned")
    _check_facts(content)
    parts = from_tree(content["parts"])
    check_shapes(all(isinstance(part, Predictor) for part in parts))
    if sum(part.check(features) for part in parts) != rows:
        raise ModelError("its weight rows do not fit its classes")
    (columns,) = take(content, named="i8")
    if encoder is not None:
        encoder = (LineEncoder if encoder["kind"] == "lines" else TableEncoder).from_json(encoder)
    return Model(
        **{name: content[name] for name in PLAIN_FACTS},
        parameters=values_from_json(content["parameters"]),
        classes=classes,
        parts=parts,
        encoder=encoder,
        names=dict(zip(columns.tolist(), plain_names(content["names"]), strict=True)),
        calibrator=None if content["calibrator"] is None else Calibrator.read(content["calibrator"], len(classes)),
        state=None if state is None else dict(state),
    )


def _check_facts(content: dict[str, Any]) -> None:
    """Raise unless the facts that are only displayed have the right types."""
    history, lineage = content["history"], content["lineage"]
    counts = [count_of(count) for name in ("mistakes", "updates") for count in history.get(name, [])]
    reason = history["stop_reason"] if counts else None
    texts = [content["learner"], reason or "", history.get("choice") or "", *lineage.values()]
    if not all(isinstance(text, str) for text in texts) or not isinstance(content["is_multilabel"], bool):
        raise ModelError("its training history is not valid")


def _classes_to(classes: NDArray[Any]) -> Any:
    """Strings as a list, dates and spans by their unit, all else as an array."""
    if classes.dtype.kind == "O" and all(type(value) is int for value in classes):
        # NumPy's own guess for whole numbers on both sides of 2**63 is floats, which lose digits.
        try:
            classes = classes.astype(np.uint64 if min(classes) >= 0 else np.int64)
        except OverflowError:
            raise ModelError("classes beyond 64 bits cannot be saved: use smaller numbers, or strings") from None
    if classes.dtype.kind in "OU" and all(isinstance(value, str) for value in classes):
        return classes.tolist()
    if classes.dtype.kind in "mM" and not np.isnat(classes).any():
        return {"unit": classes.dtype.newbyteorder("<").str, "values": classes.astype(np.int64)}
    if classes.dtype.kind not in "iubf" or classes.dtype.itemsize > 8:
        raise ModelError(f"classes of type {classes.dtype} cannot be saved: use numbers, strings, booleans or dates")
    return classes.astype(classes.dtype.newbyteorder("<"))


def _classes_from(content: Any) -> NDArray[Any]:
    """Sorted classes, checked."""
    classes: NDArray[Any] = content
    if isinstance(content, list):
        # NumPy holds texts with the room of the longest for each: a file must not ask for much more than it has.
        lengths = [len(value) for value in content if isinstance(value, str)]
        if 4 * len(lengths) * max(lengths) > max(_FREE_LABELS, 64 * sum(lengths)):
            raise ModelError("one of its labels is too long for so many classes")
        check_shapes(len(lengths) == len(content))
        classes = np.array(content, str)
    elif isinstance(content, dict):
        check_shapes(re.fullmatch(r"<[mM]8\[\d{0,9}[A-Za-z]{1,2}\]", content["unit"]) is not None)
        classes = take(content, values="i8")[0].astype(content["unit"])
    check_shapes(classes.ndim == 1 and len(classes) > 0 and classes.dtype.kind in "iubfmMU")
    if not (classes[:-1] < classes[1:]).all() or (classes != classes).any():  # NaN and NaT differ from themselves
        raise ModelError("its classes are not in order")
    return classes
