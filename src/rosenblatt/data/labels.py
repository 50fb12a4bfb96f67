"""Labels and regression targets.

Invariant: `classes` is sorted and has no label twice; `codes` index into it. With two classes the larger is +1.
"""

from __future__ import annotations

import datetime
import re
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import LabelError, ParameterError

_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class Labels:
    """Labels in sorted classes: `codes[i]` is the index of row i's label in `classes`."""

    classes: NDArray[Any]
    codes: NDArray[np.int32]

    is_multilabel: ClassVar[bool] = False  # may a row have several labels, each a problem of its own?

    def signs(self, positive: int = 1) -> NDArray[np.int8]:
        """+1 for the class with the index `positive`, -1 for the others."""
        signs: NDArray[np.int8] = (self.codes == positive).view(np.int8) * np.int8(2) - np.int8(1)
        return signs

    def over(self, classes: NDArray[Any], *, name: str = "y") -> Labels:
        """The same labels, with codes in another list of sorted classes; an unknown label is an error."""
        places = places_in(classes, self.classes)
        if (places < 0).any():
            code = int(np.flatnonzero(places < 0)[0])
            row = int(np.flatnonzero(self.codes == code)[0])
            raise LabelError(
                f"{name} has the label {_show(self.classes[code])} in row {row}, which is not among the classes learned"
            )
        return Labels(classes, places[self.codes].astype(np.int32))

    def take(self, rows: NDArray[Any]) -> Labels:
        """The labels of some rows."""
        return Labels(self.classes, self.codes[rows])

    def weighed(self, weights: Any) -> Labels:
        """Without the classes of which every row has weight 0: such rows are ignored.

        The caller checks the weights.
        """
        if weights is None or type(self) is not Labels:
            return self
        given = np.asarray(weights)
        if given.shape != self.codes.shape or given.dtype.kind not in "iubf" or not given.any() or given.all():
            return self
        kept = np.bincount(self.codes[given != 0], minlength=len(self.classes)) > 0
        places = np.maximum(np.cumsum(kept, dtype=np.int32) - np.int32(1), 0)  # rows that are absent have any place
        return Labels(self.classes[kept], places[self.codes])

    def like(self, y: Any, *, name: str) -> Labels:
        """Other labels of the same classes."""
        return encode_labels(y, name=name).over(self.classes, name=name)


@dataclass(frozen=True)
class Indicators(Labels):
    """Several labels per row: one column per label, 1 if the row has it. Each column is a separate problem."""

    is_multilabel = True

    held: NDArray[np.bool_]  # (rows, labels)

    @classmethod
    def of(cls, y: Any, *, name: str = "y") -> Indicators:
        """The columns of 0 and 1, checked."""
        given = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
        with np.errstate(invalid="ignore"):
            fits = given.dtype.kind in "biuf" and bool(np.isin(given, (0, 1)).all())
        if not fits:
            raise LabelError(f"{name} has {given.shape[1]} columns: several labels per row are columns of 0 and 1")
        return cls(np.arange(given.shape[1]), np.zeros(len(given), np.int32), given.astype(bool))

    def signs(self, positive: int = 1) -> NDArray[np.int8]:
        signs: NDArray[np.int8] = self.held[:, positive].astype(np.int8) * np.int8(2) - np.int8(1)
        return signs

    def take(self, rows: NDArray[Any]) -> Indicators:
        return Indicators(self.classes, self.codes[rows], self.held[rows])

    def over(self, classes: NDArray[Any], *, name: str = "y") -> Indicators:
        if len(classes) != len(self.classes):
            raise LabelError(f"{name} has {len(self.classes)} columns of labels, but {len(classes)} were learned")
        return self

    def like(self, y: Any, *, name: str) -> Indicators:
        return Indicators.of(y, name=name).over(self.classes, name=name)


def encode_labels(y: Any, *, name: str = "y") -> Labels:
    """Find the classes of `y` and the code of every row.

    Integers, booleans, strings, objects that can be compared, and floats that are whole numbers are labels. Other
    floats are measurements, not labels: an error.

    Examples
    --------
    >>> encode_labels(["spam", "ham", "spam"])
    Labels(classes=array(['ham', 'spam'], dtype='<U4'), codes=array([1, 0, 1], dtype=int32))
    """
    y = as_label_array(y, name)
    if y.dtype.kind in "iubf" and len(y):
        return _encode_numbers(y)
    try:
        return _encode_by_sorting(y)
    except TypeError:
        raise _mixed(y, name) from None


def as_label_array(y: Any, name: str = "y") -> NDArray[Any]:
    """`y` as a one-dimensional array of valid labels."""
    if y is None:
        raise LabelError(f"requires {name} to be passed, but the target {name} is None")
    labels = np.asarray(y)
    if labels.dtype.kind == "T":  # texts of any length, which may lack some
        labels = labels.astype(object)
    if isinstance(y, list | tuple) or labels.dtype == object:
        labels = _without_loss(list(y) if isinstance(y, list | tuple) else labels.ravel().tolist(), labels, name)
    if labels.ndim != 1:
        raise LabelError(f"{name} should be a 1d array, one label per row; got an array of shape {labels.shape}")
    if labels.dtype.kind == "f":
        _check_whole(labels, name)
    elif labels.dtype.kind == "c":
        raise LabelError(f"{name}: Complex data not supported")
    elif labels.dtype.kind in "mM" and np.isnat(labels).any():
        raise LabelError(f"{name} contains NaT in row {int(np.argmax(np.isnat(labels)))}: it is not a label")
    elif labels.dtype.kind == "O":
        _check_objects(labels, name)
        if all(isinstance(label, str) for label in labels):
            return labels.astype(str)
        if all(isinstance(label, datetime.datetime) and label.tzinfo is None for label in labels):
            return labels.astype("M8[ns]")  # as a Series of them is
        if all(type(label) is datetime.date for label in labels):
            return labels.astype("M8[D]")
    return labels


def _without_loss(values: list[Any], labels: NDArray[Any], name: str) -> NDArray[Any]:
    """The labels of Python objects as numbers, if all are; raises if NumPy would merge some of them.

    NumPy merges strings that end in NUL, turns numbers beside strings into strings, and large integers into floats.
    """
    for row, label in enumerate(values):
        if isinstance(label, str | bytes) and label[-1:] in ("\0", b"\0"):
            raise LabelError(f"{name} has {label!r} in row {row}: a label cannot end in a NUL character")
    kinds = set(map(type, values))
    if labels.dtype.kind == "U" and not all(issubclass(kind, str) for kind in kinds):
        return np.array(values, object)
    numeric = all(issubclass(kind, int | float | np.bool_ | np.integer | np.floating) for kind in kinds)
    values = [label.item() if isinstance(label, np.generic) else label for label in values]
    mixed = len({isinstance(value, bool) for value in values}) > 1  # True is not 1 among labels
    if labels.ndim != 1 or not values or not numeric or mixed:
        return labels
    whole, found = [value for value in values if isinstance(value, int)], np.array(values)
    if len(whole) == len(values) and found.dtype.kind == "f" and 0 <= min(whole) <= max(whole) < 2**64:
        return np.array(values, np.uint64)
    if labels.dtype.kind == "f" and any(abs(value) > 2**53 for value in whole):
        raise LabelError(f"{name} has integers beyond 2**53 beside others that only floats can hold: use strings")
    return found if found.dtype.kind in "biu" or len(whole) < len(values) else labels


def labels_of(y: Any) -> Labels:
    """The labels of a `y` as scikit-learn takes it: columns of 0 and 1 are several labels per row."""
    y = without_column(y)
    shape = getattr(y, "shape", None)
    nested = isinstance(y, list | tuple) and len(y) > 0 and isinstance(y[0], list | tuple)
    if (shape if shape is not None else np.shape(y) if nested else ())[1:]:
        return Indicators.of(y)
    return encode_labels(y)


def without_column(y: Any) -> Any:
    """A column vector as a vector, with scikit-learn's warning; anything else as it is."""
    shape = getattr(y, "shape", None)
    if shape is None or len(shape) != 2 or shape[1] != 1:
        return y
    from sklearn.exceptions import DataConversionWarning

    sentence = "A column-vector y was passed when a 1d array was expected: use y.ravel()"
    warnings.warn(sentence, DataConversionWarning, stacklevel=4)
    return np.asarray(y).ravel()


MANY_NUMBERS = 50  # values of a label that looks like a quantity


def one_label_of(y: Any, who: str) -> Labels:
    """The same for one label per row."""
    labels = labels_of(y)
    if labels.is_multilabel:
        raise LabelError(
            f"y has {len(labels.classes)} columns of labels, and {who} takes one label per row: "
            "fit a learner on all columns, or this one on each column"
        )
    return labels


def merge_classes(old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """All labels of both, sorted."""
    kinds = {old.dtype.kind, new.dtype.kind}
    if len(kinds) > 1 and kinds & set("USmM"):
        raise LabelError(f"the label {_show(new[0])} cannot be sorted among labels like {_show(old[0])}")
    if kinds == {"i", "u"}:  # together they would become floats, which cannot tell large numbers apart
        merged = sorted({*old.tolist(), *new.tolist()})
        if merged[0] < 0 and merged[-1] >= 2**63:
            raise LabelError(f"the labels {merged[0]} and {merged[-1]} are too far apart for one type of integers")
        return np.array(merged, np.int64 if merged[-1] < 2**63 else np.uint64)
    if len(kinds) > 1 and "f" in kinds and any(abs(label) > 2**53 for label in [*old.tolist(), *new.tolist()]):
        raise LabelError("labels beyond 2**53 cannot be integers in some rows and floats in others: use strings")
    return np.union1d(old, new)


def label_values(classes: NDArray[Any]) -> list[Any]:
    """The classes as Python values; dates and spans stay NumPy values, since Python would make counts of some."""
    return list(classes) if classes.dtype.kind in "mM" else classes.tolist()


def values_as(labels: NDArray[Any], kind: str) -> NDArray[Any]:
    """Labels as written in files, as values of another kind of NumPy's; unchanged if not all of them can be.

    >>> values_as(np.array(["False", "True"]), "b"), values_as(np.array([1, 10]), "U")
    (array([False,  True]), array(['1', '10'], dtype='<U21'))
    """
    if kind == "U" and labels.dtype.kind in "iu":
        return labels.astype(str)
    if kind == "b" and labels.dtype.kind == "U":
        found = [_BOOLEANS.get(label.lower()) for label in labels.tolist()]
        return labels if None in found else np.array(found, bool)
    if kind == "M" and labels.dtype.kind == "U":
        with suppress(ValueError):
            return np.array(labels, "M8")
    return labels


def places_in(classes: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.intp]:
    """The index of each label in sorted classes; -1 for an unknown label."""
    if (classes.dtype.kind in "US") != (labels.dtype.kind in "US"):
        return np.full(len(labels), -1)
    if classes.dtype.kind in "iuf" and classes.dtype.kind != labels.dtype.kind:  # floats would merge large integers
        classes, labels = classes.astype(object), labels.astype(object)
    places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return np.where(classes[places] == labels, places, -1)


def _encode_numbers(y: NDArray[Any]) -> Labels:
    # Without sorting: two classes by comparison, few classes by counting.
    low, high = y.min(), y.max()
    above = y != low
    if np.all((y == high) | ~above):
        return Labels(np.unique([low, high]), above.astype(np.int32))
    if y.dtype.kind == "f" or int(high) - int(low) > max(65_536, 4 * len(y)):
        return _encode_by_sorting(y)
    shifted = (y - low).astype(np.int64) if y.dtype.kind == "u" else y.astype(np.int64) - int(low)
    present = np.bincount(shifted) > 0
    place = np.cumsum(present, dtype=np.int32) - np.int32(1)
    return Labels(np.flatnonzero(present).astype(y.dtype) + low, place[shifted])


def _encode_by_sorting(y: NDArray[Any]) -> Labels:
    classes, codes = np.unique(y, return_inverse=True)
    return Labels(classes, codes.astype(np.int32).reshape(-1))


def _check_whole(y: NDArray[Any], name: str) -> None:
    for row in np.flatnonzero((y != np.floor(y)) | ~np.isfinite(y)):
        if not np.isfinite(y[row]):
            found = "NaN" if np.isnan(y[row]) else "infinity"
            raise LabelError(f"{name} contains {found} in row {row}: it is not a label")
        raise LabelError(
            f"Unknown label type: continuous. {name} has {y[row]:g} in row {row}; labels are classes: "
            "for numbers, use PassiveAggressiveRegression, or tune(task='regression')"
        )


def _check_objects(y: NDArray[Any], name: str) -> None:
    for row, label in enumerate(y):
        try:
            missing = label is None or bool(label != label)
        except (TypeError, ValueError, ArithmeticError):  # a value that cannot be compared with itself is not a label
            missing = True
        if missing:
            shown = "NaN" if str(label).lower() == "nan" else str(label)
            raise LabelError(f"{name} contains {shown} in row {row}: it is not a label")


def _mixed(y: NDArray[Any], name: str) -> LabelError:
    kind = type(y[0])
    row = next((i for i, label in enumerate(y) if type(label) is not kind), 0)
    return LabelError(
        f"{name} mixes labels that cannot be sorted: row 0 is {y[0]!r}, row {row} is {y[row]!r}; use one kind"
    )


def _show(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


LARGEST_NUMBER = 1e100
PAIR = np.array([0, 1])  # a number has one score, as two classes have


@dataclass(frozen=True)
class Numbers(Labels):
    """Targets that are numbers; there are no classes."""

    numbers: NDArray[np.float64]
    epsilon: float

    @classmethod
    def of(cls, y: Any, epsilon: float, *, name: str = "y") -> Numbers:
        """Numbers that can be learned from, checked."""
        if y is None:
            raise LabelError(f"requires {name} to be passed, but the target {name} is None")
        given = np.asarray(without_column(y))
        if given.ndim != 1:
            raise LabelError(f"{name} should be a 1d array, one number per row; got an array of shape {given.shape}")
        if given.dtype.kind == "c":
            raise LabelError(f"{name}: Complex data not supported")
        try:
            numbers = np.ascontiguousarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            row = next((row for row, value in enumerate(given) if not _is_number(value)), 0)
            raise LabelError(f"{name} has {given.tolist()[row]!r} in row {row}, which is not a number") from None
        sizes = np.abs(numbers)
        for row in np.flatnonzero(~(sizes <= LARGEST_NUMBER)).tolist():
            found = "NaN" if np.isnan(numbers[row]) else "infinity" if np.isinf(numbers[row]) else f"{numbers[row]:g}"
            raise LabelError(f"{name} contains {found} in row {row}: it must be a finite number of at most 1e100")
        return cls(PAIR, np.zeros(len(numbers), np.int32), numbers, float(epsilon))

    def take(self, rows: NDArray[Any]) -> Numbers:
        return Numbers(self.classes, self.codes[rows], self.numbers[rows], self.epsilon)

    def over(self, classes: NDArray[Any], *, name: str = "y") -> Numbers:
        return self

    def like(self, y: Any, *, name: str) -> Numbers:
        return Numbers.of(y, self.epsilon, name=name)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


# -- labels as written in files

_PLAIN_NUMBER = re.compile(rb"[+-]?(0|[1-9]\d*)(\.\d+)?")
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def is_plain_number(label: bytes) -> bool:
    """True for a whole number or a decimal in its usual form: 007, 1e3 and 1_1 are text."""
    return _PLAIN_NUMBER.fullmatch(label) is not None


class FractionError(LabelError):
    """A class label that is a number with a fraction."""

    def __init__(self, label: bytes) -> None:
        self.label = label
        super().__init__(
            f"the label {label.decode('utf-8', 'replace')} is a measurement: labels are classes, whole numbers or "
            'names; train and tune learn from measurements by --task regression (Python: task="regression")'
        )


@dataclass(frozen=True)
class Classes:
    """Sorted classes of labels as written in files.

    Labels are text, unless all of them are plain numbers without a fraction: then ``+1``, ``1`` and ``1.0`` are one
    class, the number 1.
    """

    values: NDArray[Any]

    @classmethod
    def of(cls, labels: Sequence[bytes], kind: str = "") -> Classes:
        """The classes of labels; `kind`: NumPy's kind of the values that they were in a frame.

        Examples
        --------
        >>> Classes.of([b"+1", b"-1", b"1.0"]).values.tolist(), Classes.of([b"spam", b"1"]).values.tolist()
        ([-1, 1], ['1', 'spam'])
        >>> Classes.of([b"007", b"7"]).values.tolist()
        ['007', '7']
        """
        if not kind and labels and all(map(is_plain_number, labels)):
            for label in labels:
                if label.partition(b".")[2].strip(b"0"):
                    raise FractionError(label)
            numbers = sorted({_whole(label) for label in labels})
            if numbers[0] >= -(2**63) and numbers[-1] < 2**63:
                return cls(np.array(numbers, dtype=np.int64))
        texts = np.array(sorted({label.decode("utf-8", "replace") for label in labels}), dtype=str)
        return cls(np.sort(values_as(texts, kind)))

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {value: place for place, value in enumerate(label_values(self.values))}

    def code_of(self, label: bytes) -> int:
        """The index of a label among the classes, which may be Python objects; -1 for an unknown label.

        >>> [Classes(np.array([False, True])).code_of(b"True"), Classes(np.array([0.0, 2.0])).code_of(b"2")]
        [1, 1]
        """
        kind, text = self.values.dtype.kind, label.decode("utf-8", "replace")
        value: Any = text
        if kind in "iuf":
            is_whole = is_plain_number(label) and not label.partition(b".")[2].strip(b"0")
            value = _whole(label) if is_whole else None
        elif kind == "b":
            value = _BOOLEANS.get(text.lower())
        elif kind == "M":
            with suppress(ValueError):
                value = np.datetime64(text).astype(self.values.dtype)
        return self._places.get(value, -1)

    def weights_as_written(self, class_weight: Any) -> Any:
        """Weights of classes, with keys as in `values` for labels as written in files; other keys stay.

        Examples
        --------
        >>> Classes.of([b"7", b"1"]).weights_as_written({"1.0": 2.0, 7: 3.0})
        {1: 2.0, 7: 3.0}
        """
        if not isinstance(class_weight, dict):
            return class_weight
        found = dict[Any, Any]()
        for label, weight in class_weight.items():
            code = self.code_of(str(label).encode("utf-8", "replace"))
            known = label if code < 0 else label_values(self.values)[code]
            if known in found:
                raise ParameterError(f"class_weight: {label!r} has two weights")
            found[known] = weight
        return found

    def codes(self, batch: Any) -> NDArray[np.int32]:
        """The codes of a batch's rows among these classes; -1 for no label or an unknown one."""
        places = np.array([*(self.code_of(label) for label in batch.labels), -1], np.int32)
        codes: NDArray[np.int32] = places[batch.codes]
        return codes


def _whole(label: bytes) -> int:
    return int(label.partition(b".")[0])


def numbers_of(
    labels: Sequence[bytes], read: Callable[[str], float | None] = lambda label: None
) -> NDArray[np.float64]:
    """The numbers of labels in a file, as regression targets; `read` reads labels other than plain numbers."""
    numbers = np.empty(len(labels))
    for k, label in enumerate(labels):
        text = label.decode("utf-8", "replace")
        number = float(label) if _NUMBER.fullmatch(label.strip()) else read(text)
        if number is None or not abs(number) <= LARGEST_NUMBER:
            raise LabelError(f"the label {text!r} is not a number that a regression can learn from")
        numbers[k] = number
    return numbers
