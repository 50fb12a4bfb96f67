"""Labels and regression targets.

Invariant: `classes` is sorted and has no label twice; `codes` index into it. With two classes the larger is +1.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import LabelError


@dataclass(frozen=True)
class Labels:
    """Labels in sorted classes: `codes[i]` is the place of row i's label in `classes`."""

    classes: NDArray[Any]
    codes: NDArray[np.int32]

    @property
    def is_multilabel(self) -> bool:
        """May a row have several labels, each a problem of its own?"""
        return False

    def signs(self, positive: int = 1) -> NDArray[np.int8]:
        """+1 for the class at place `positive`, -1 for the others."""
        signs: NDArray[np.int8] = (self.codes == positive).view(np.int8) * np.int8(2) - np.int8(1)
        return signs

    def among(self, classes: NDArray[Any], *, name: str = "y") -> NDArray[np.int32]:
        """The codes in another list of sorted classes; a label that it lacks is an error."""
        places = places_in(classes, self.classes)
        if (places < 0).any():
            code = int(np.flatnonzero(places < 0)[0])
            row = int(np.flatnonzero(self.codes == code)[0])
            raise LabelError(
                f"{name} has the label {_show(self.classes[code])} in row {row}, which is not among the classes learned"
            )
        return places[self.codes].astype(np.int32)

    def take(self, rows: NDArray[Any]) -> Labels:
        """Those of some rows."""
        return Labels(self.classes, self.codes[rows])

    def over(self, classes: NDArray[Any]) -> Labels:
        """The same labels, with codes in another list of sorted classes."""
        return Labels(classes, self.among(classes))

    def weighed(self, weights: Any) -> Labels:
        """Without the classes of which every row has weight 0: such rows are as if absent.

        Weights that mean nothing are refused elsewhere.
        """
        if weights is None or self.is_multilabel or type(self) is not Labels:
            return self
        given = np.asarray(weights)
        if given.shape != self.codes.shape or given.dtype.kind not in "iubf" or not given.any() or given.all():
            return self
        kept = np.bincount(self.codes[given != 0], minlength=len(self.classes)) > 0
        if kept.all():
            return self
        places = np.maximum(np.cumsum(kept, dtype=np.int32) - np.int32(1), 0)  # rows that are absent have any place
        return Labels(self.classes[kept], places[self.codes])

    def like(self, y: Any, *, name: str) -> Labels:
        """Other labels of the same classes."""
        other = encode_labels(y, name=name)
        return Labels(self.classes, other.among(self.classes, name=name))


@dataclass(frozen=True)
class Indicators(Labels):
    """Several labels per row: a column for each, 1 where the row has it. Each column is a problem of its own."""

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

    @property
    def is_multilabel(self) -> bool:
        return True

    def signs(self, positive: int = 1) -> NDArray[np.int8]:
        signs: NDArray[np.int8] = self.held[:, positive].astype(np.int8) * np.int8(2) - np.int8(1)
        return signs

    def take(self, rows: NDArray[Any]) -> Indicators:
        return Indicators(self.classes, self.codes[rows], self.held[rows])

    def over(self, classes: NDArray[Any]) -> Indicators:
        if len(classes) != len(self.classes):
            raise LabelError(f"y has {len(self.classes)} columns of labels, but {len(classes)} were learned")
        return self

    def like(self, y: Any, *, name: str) -> Indicators:
        return Indicators.of(y, name=name).over(self.classes)


def encode_labels(y: Any, *, name: str = "y") -> Labels:
    """Sort out the classes of `y` and give every row its code.

    Integers, booleans, strings, objects that can be compared, and floats that are whole numbers are labels. Other
    floats are measurements, not labels, and refused.

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
    """`y` as a one-dimensional array of usable labels."""
    if y is None:
        raise LabelError(f"requires {name} to be passed, but the target {name} is None")
    labels = np.asarray(y)
    _check_exact(y, labels, name)
    if labels.dtype.kind == "T":  # texts of any length, which may lack some
        labels = labels.astype(object)
    if labels.dtype.kind == "f" and isinstance(y, list | tuple) and all(type(label) is int for label in y):
        # On both sides of 2**63 NumPy makes floats of whole numbers, and loses digits.
        labels = np.array(y, np.uint64) if min(y) >= 0 and max(y) < 2**64 else labels
    if labels.dtype.kind == "O" and labels.ndim == 1:
        labels = _plain(labels)
    if labels.ndim != 1:
        raise LabelError(f"{name} should be a 1d array, one label per row; got an array of shape {labels.shape}")
    if labels.dtype.kind == "f":
        _check_whole(labels, name)
    elif labels.dtype.kind == "c":
        raise LabelError(f"{name}: Complex data not supported")
    elif labels.dtype.kind in "mM" and np.isnat(labels).any():
        raise LabelError(f"{name} contains NaT in row {int(np.argmax(np.isnat(labels)))}: it is no label")
    elif labels.dtype.kind == "O":
        _check_objects(labels, name)
        if all(isinstance(label, str) for label in labels):
            return labels.astype(str)
        if all(isinstance(label, datetime.datetime) and label.tzinfo is None for label in labels):
            return labels.astype("M8[ns]")  # as a Series of them is
    return labels


def _check_exact(y: Any, labels: NDArray[Any], name: str) -> None:
    """Raise for labels that NumPy would merge: texts that end in NUL, and large integers among floats."""
    if not isinstance(y, list | tuple) and labels.dtype != object:
        return
    values = list(y) if isinstance(y, list | tuple) else labels.ravel().tolist()
    for row, label in enumerate(values):
        if isinstance(label, str | bytes) and label[-1:] in ("\0", b"\0"):
            raise LabelError(f"{name} has {label!r} in row {row}: a label cannot end in a NUL character")
    if labels.dtype.kind == "f" and any(isinstance(label, int) and abs(label) > 2**53 for label in values):
        whole = [label for label in values if isinstance(label, int)]
        if len(whole) < len(values) or min(whole) < 0 or max(whole) >= 2**64:
            raise LabelError(f"{name} has integers beyond 2**53 beside others that only floats can hold: use strings")


def labels_of(y: Any, *, stacklevel: int = 3) -> Labels:
    """The labels of a `y` as scikit-learn takes it: a column vector is taken as well, with its warning."""
    shape = getattr(y, "shape", None)
    if shape is not None and len(shape) == 2 and shape[1] == 1:
        import warnings

        from sklearn.exceptions import DataConversionWarning

        sentence = "A column-vector y was passed when a 1d array was expected: use y.ravel()"
        warnings.warn(sentence, DataConversionWarning, stacklevel=stacklevel)
        y = np.asarray(y).ravel()
    elif (shape if shape is not None else np.shape(y) if _nested(y) else ())[1:]:
        return Indicators.of(y)
    return encode_labels(y)


def one_label_of(y: Any, who: str) -> Labels:
    """The same, where a row can have one label only."""
    labels = labels_of(y, stacklevel=4)
    if labels.is_multilabel:
        raise LabelError(
            f"y has {len(labels.classes)} columns of labels, and {who} takes one label per row: "
            "fit a learner on all columns, or this one on each column"
        )
    return labels


def _nested(y: Any) -> bool:
    """Is it a list of lists of numbers?"""
    return isinstance(y, list | tuple) and len(y) > 0 and isinstance(y[0], list | tuple)


def sorted_classes(labels: Any, *, name: str = "classes") -> NDArray[Any]:
    """The distinct labels in order."""
    return encode_labels(labels, name=name).classes


def merge_classes(old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """All labels of both, sorted."""
    kinds = old.dtype.kind, new.dtype.kind
    if kinds[0] != kinds[1] and any((kinds[0] in group) != (kinds[1] in group) for group in "USmM"):
        raise LabelError(f"the label {_show(new[0])} cannot be sorted among labels like {_show(old[0])}")
    if set(kinds) == {"i", "u"}:  # together they would become floats, which cannot tell large numbers apart
        merged = sorted({*old.tolist(), *new.tolist()})
        dtype = np.int64 if merged[-1] <= np.iinfo(np.int64).max else np.uint64
        if merged[0] < 0 and dtype is np.uint64:
            raise LabelError(f"the labels {merged[0]} and {merged[-1]} are too far apart for one type of integers")
        return np.array(merged, dtype)
    if len(new) == 1 and kinds[0] == kinds[1]:  # one more in a stream: nothing has to be sorted
        place = int(np.searchsorted(old, new)[0])
        if place < len(old) and old[place] == new[0]:
            return old if old.dtype == np.result_type(old, new) else old.astype(np.result_type(old, new))
        return np.concatenate([old[:place], new, old[place:]])
    return np.union1d(old, new)


def label_values(classes: NDArray[Any]) -> list[Any]:
    """The classes as Python values; dates and spans of time stay what they are, or they would become counts."""
    return list(classes) if classes.dtype.kind in "mM" else classes.tolist()


def places_in(classes: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.intp]:
    """Where each label stands in sorted classes; -1 if it does not."""
    if (classes.dtype.kind in "US") != (labels.dtype.kind in "US"):
        return np.full(len(labels), -1)
    places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return np.where(classes[places] == labels, places, -1)


def _encode_numbers(y: NDArray[Any]) -> Labels:
    # Without sorting: two classes by comparison, few classes by counting.
    low, high = y.min(), y.max()
    if low == high:
        return Labels(np.array([low]), np.zeros(len(y), np.int32))
    positive = y == high
    if np.all(positive | (y == low)):
        return Labels(np.array([low, high]), positive.astype(np.int32))
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
    whole = y == np.floor(y)
    if whole.all() and np.isfinite(y).all():
        return
    row = int(np.flatnonzero(~whole | ~np.isfinite(y))[0])
    if not np.isfinite(y[row]):
        raise LabelError(f"{name} contains {'NaN' if np.isnan(y[row]) else 'infinity'} in row {row}: it is no label")
    raise LabelError(
        f"Unknown label type: continuous. {name} has {y[row]:g} in row {row}; labels are classes, not measurements"
    )


def _plain(y: NDArray[Any]) -> NDArray[Any]:
    """Objects that are all Python's or NumPy's numbers or truth values, as such; any others as they are."""
    kinds = set(map(type, y.tolist()))
    if not kinds or not all(
        issubclass(kind, bool | int | float | np.bool_ | np.integer | np.floating) for kind in kinds
    ):
        return y
    values = [label.item() if isinstance(label, np.generic) else label for label in y.tolist()]
    if len({isinstance(value, bool) for value in values}) == 2:  # True is not 1 among labels
        return y
    found = np.array(values)
    if found.dtype.kind == "f" and all(type(value) is int for value in values):  # on both sides of 2**63
        return np.array(values, np.uint64) if min(values) >= 0 else y
    return found if found.dtype.kind in "biuf" else y


def _check_objects(y: NDArray[Any], name: str) -> None:
    for row, label in enumerate(y):
        if label is None or _is_missing(label):
            shown = "NaN" if str(label).lower() == "nan" else str(label)
            raise LabelError(f"{name} contains {shown} in row {row}: it is no label")


def _is_missing(label: Any) -> bool:
    try:
        return bool(label != label)
    except (TypeError, ValueError, ArithmeticError):  # what cannot be compared with itself is no label either
        return True


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
    """Targets that are numbers, to come within epsilon of. They tell no classes apart."""

    numbers: NDArray[np.float64]
    epsilon: float

    @classmethod
    def of(cls, y: Any, epsilon: float, *, name: str = "y") -> Numbers:
        """Numbers that can be learned from, checked."""
        if y is None:
            raise LabelError(f"requires {name} to be passed, but the target {name} is None")
        given = np.asarray(y)
        if given.ndim == 2 and given.shape[1] == 1:
            import warnings

            from sklearn.exceptions import DataConversionWarning

            warnings.warn(
                f"A column-vector {name} was passed when a 1d array was expected", DataConversionWarning, stacklevel=2
            )
            given = given[:, 0]
        if given.ndim != 1:
            raise LabelError(f"{name} should be a 1d array, one number per row; got an array of shape {given.shape}")
        if given.dtype.kind == "c":
            raise LabelError(f"{name}: Complex data not supported")
        try:
            numbers = np.ascontiguousarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            row = next((row for row, value in enumerate(given) if not _is_number(value)), 0)
            raise LabelError(f"{name} has {given[row]!r} in row {row}, which is not a number") from None
        sizes = np.abs(numbers)
        if not (sizes <= LARGEST_NUMBER).all():
            row = int(np.flatnonzero(~(sizes <= LARGEST_NUMBER))[0])
            found = "NaN" if np.isnan(numbers[row]) else "infinity" if np.isinf(numbers[row]) else f"{numbers[row]:g}"
            raise LabelError(f"{name} contains {found} in row {row}: it must be a finite number of at most 1e100")
        return cls(PAIR, np.zeros(len(numbers), np.int32), numbers, float(epsilon))

    def take(self, rows: NDArray[Any]) -> Numbers:
        return Numbers(self.classes, self.codes[rows], self.numbers[rows], self.epsilon)

    def over(self, classes: NDArray[Any]) -> Numbers:
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
    """Is it a whole number or a decimal in its usual form? 007, 1e3 and 1_1 are text."""
    return _PLAIN_NUMBER.fullmatch(label) is not None


class FractionError(LabelError):
    """A class label that is a number with a fraction."""

    def __init__(self, label: bytes) -> None:
        self.label = label
        super().__init__(
            f"the label {label.decode('utf-8', 'replace')} is a measurement: labels are classes, whole numbers or "
            "names; a regression (pa1-regression) learns from measurements"
        )


@dataclass(frozen=True)
class Classes:
    """Sorted classes of labels as written in files.

    Labels are text, unless all of them are plain numbers without a fraction: then ``+1``, ``1`` and ``1.0`` are one
    class, the number 1.
    """

    values: NDArray[Any]

    @classmethod
    def of(cls, labels: Sequence[bytes]) -> Classes:
        """The classes of labels.

        Examples
        --------
        >>> Classes.of([b"+1", b"-1", b"1.0"]).values.tolist(), Classes.of([b"spam", b"1"]).values.tolist()
        ([-1, 1], ['1', 'spam'])
        >>> Classes.of([b"007", b"7"]).values.tolist()
        ['007', '7']
        """
        if not labels or not all(map(is_plain_number, labels)):
            return cls(np.array(sorted({label.decode("utf-8", "replace") for label in labels}), dtype=str))
        for label in labels:
            if label.partition(b".")[2].strip(b"0"):
                raise FractionError(label)
        numbers = sorted({_whole(label) for label in labels})
        if numbers[0] < -(2**63) or numbers[-1] >= 2**63:
            return cls(np.array(sorted({label.decode() for label in labels}), dtype=str))
        return cls(np.array(numbers, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.values)

    def code_of(self, label: bytes) -> int:
        """The place of a label among the classes; -1 if it is not there."""
        if self.values.dtype.kind == "i":
            if not is_plain_number(label) or label.partition(b".")[2].strip(b"0") or abs(_whole(label)) >= 2**63:
                return -1
            key: Any = _whole(label)
        elif self.values.dtype.kind == "M":  # a model trained in Python, on dates
            try:
                key = np.datetime64(label.decode("utf-8", "replace")).astype(self.values.dtype)
            except ValueError:
                return -1
        else:
            key = label.decode("utf-8", "replace")
        place = int(np.searchsorted(self.values, key)) if len(self.values) else 0
        return place if place < len(self.values) and self.values[place] == key else -1

    def codes(self, batch: Any) -> NDArray[np.int32]:
        """The codes of a batch's rows among these classes; -1 for no label or an unknown one."""
        places = np.array([*(self.code_of(label) for label in batch.labels), -1], np.int32)
        codes: NDArray[np.int32] = places[batch.codes]
        return codes


def _whole(label: bytes) -> int:
    return int(label.partition(b".")[0])


def numbers_of(labels: Sequence[bytes]) -> NDArray[np.float64]:
    """The numbers of labels in a file, as regression targets."""
    return np.array([_number(label) for label in labels], np.float64)


def _number(label: bytes) -> float:
    number = float(label) if _NUMBER.fullmatch(label.strip()) else float("nan")
    if not abs(number) <= LARGEST_NUMBER:
        shown = label.decode("utf-8", "replace")
        raise LabelError(f"the label {shown!r} is not a number that a regression can learn from")
    return number
