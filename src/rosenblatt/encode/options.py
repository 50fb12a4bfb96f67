"""Options of reading, the base of encoders, which the model saves, and limits on the sizes that a file can claim."""

from __future__ import annotations

import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import cache
from types import UnionType
from typing import Any, ClassVar, Literal, Self, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import DataError, ParameterError

DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "space": " "}
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
MOST_COLUMNS = 100_000  # of a table


@dataclass(frozen=True)
class ReadOptions:
    """How text is written; None: to be inferred.

    Attributes
    ----------
    delimiter : one character, or its name
    decimal : "." or ","
    missing : words for a missing value
    encoding : of the text; by default UTF-8, by its byte order mark UTF-16, else Windows-1252
    header : does the first line name the columns?
    day_first : is 3/4/2024 the third of April?
    units : the words in a line of units below the header of the training data
    """

    delimiter: str | None = None
    decimal: str | None = None
    missing: tuple[str, ...] | None = None
    encoding: str | None = None
    header: bool | None = None
    day_first: bool | None = None
    units: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            one = DELIMITER_NAMES.get(self.delimiter.lower(), self.delimiter)
            if len(one.encode()) != 1 or one in '"\n\r\0':
                raise ParameterError(f"delimiter={self.delimiter!r}: must be one character, or tab")
            object.__setattr__(self, "delimiter", one)
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"decimal={self.decimal!r}: must be . or ,")
        if self.decimal is not None and self.decimal == self.delimiter:
            raise ParameterError(f"decimal and delimiter cannot both be {self.decimal!r}")
        if self.missing is not None:
            object.__setattr__(self, "missing", tuple(dict.fromkeys(("", *self.missing))))
        _check_encoding(self.encoding)

    def or_else(self, saved: ReadOptions) -> ReadOptions:
        """These options, with the options of a model instead of None; the file confirms a dialect."""
        missing = saved.missing if self.missing is None else self.missing
        return replace(self, missing=missing, encoding=self.encoding or saved.encoding)


def _check_encoding(name: str | None) -> None:
    try:
        if name is None or "x".encode(name).decode(name) == "x":
            return
    except (LookupError, UnicodeError, TypeError, ValueError):
        pass
    raise ParameterError(f"encoding={name!r}: there is no such encoding; write utf-8, latin-1, cp1252, utf-16, …")


# -- hashing

Grams = Literal["words", "pairs", "characters"]
GRAMS = {"words": "words", "pairs": "words and word pairs", "characters": "3 to 5 characters of words"}
BITS = 20


def idf_weights(frequencies: NDArray[np.int64], squares: NDArray[np.float64], rows: int) -> NDArray[np.float32]:
    """The inverse document frequency of each column, ``log((1 + n) / (1 + df)) + 1``; 1 for columns without texts.

    All are divided by one number, so that texts keep a mean square length of 1; `squares` are the sums per column.
    """
    seen = frequencies > 0
    weights = np.log((1 + rows) / (1 + np.minimum(frequencies, rows))) + 1.0
    length = np.sqrt((squares[seen] * weights[seen] ** 2).sum() / max(squares[seen].sum(), 1e-300))
    return np.where(seen, weights / (length or 1.0), 1.0).astype(np.float32)


# -- encoders


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """From chunks of a source to rows of features; the model saves it.

    Parameters
    ----------
    bits : int, default=20
        Names are hashed to ``2**bits`` columns.
    grams : {"words", "pairs", "characters"}, default="pairs"
        The features of a text: words; words and pairs of neighbors; or runs of 3 to 5 characters within words.
    use_idf : bool, default=False
        Weigh words by their inverse document frequency in the training data: `idf`, which is saved in the model.
    """

    kind: ClassVar[str]

    bits: int = BITS
    grams: Grams = "pairs"
    options: ReadOptions = ReadOptions()
    use_idf: bool = False
    idf: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)  # of each hashed column

    def __post_init__(self) -> None:
        if isinstance(self.bits, bool) or not isinstance(self.bits, int) or not 1 <= self.bits <= 30:
            raise ParameterError(f"bits={self.bits!r}: must be a whole number from 1 to 30")
        if self.grams not in GRAMS:
            raise ParameterError(f"grams={self.grams!r}: must be one of {', '.join(GRAMS)}")

    def to_json(self) -> dict[str, Any]:
        """All fields as values of JSON."""
        idf = None if self.idf is None else b64encode(zlib.compress(self.idf.astype("<f4").tobytes())).decode()
        return {"kind": self.kind} | asdict(replace(self, idf=None)) | {"idf": idf}

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> Self:
        """The encoder of a model file, checked."""
        encoder: Self = from_plain(cls, {name: value for name, value in header.items() if name not in ("kind", "idf")})
        if header.get("idf") is None:
            return encoder
        size = 4 << encoder.bits
        content = zlib.decompressobj().decompress(b64decode(header["idf"]), size)
        idf = np.frombuffer(content, "<f4") if len(content) == size else np.zeros(1, "<f4")
        if not (np.isfinite(idf) & (idf > 0)).all():
            raise DataError("the encoder has invalid idf weights")
        return replace(encoder, idf=idf)


_kinds_of: Any = cache(get_type_hints)  # a table may have many columns


def from_plain(kind: Any, value: Any) -> Any:
    """A value of JSON as a value of an annotated type; raises if it is of another.

    >>> from_plain(ReadOptions, {"decimal": ",", "missing": ["-"]}).missing, from_plain(float | None, 2)
    (('', '-'), 2.0)
    """
    origin, inner = get_origin(kind), get_args(kind)
    if is_dataclass(kind) and isinstance(value, dict | list):
        kinds = _kinds_of(kind)
        given = value if isinstance(value, dict) else dict(zip(kinds, value, strict=False))
        return kind(**{name: from_plain(kinds[name], each) for name, each in given.items()})  # type: ignore[operator]
    if origin is UnionType:
        return None if value is None else from_plain(inner[0], value)
    if origin is tuple and isinstance(value, list | tuple):
        each = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(from_plain(one, part) for one, part in zip(each, value, strict=True))
    value = float(value) if kind is float and type(value) is int else value
    is_valid = isinstance(value, str) and value in inner if origin is Literal else type(value) is kind
    if not is_valid or not np.isfinite(value if kind is float else 0.0):
        raise DataError(f"the encoder has an invalid value: {str(value)[:60]!r}")
    return value


# -- limits


@dataclass(frozen=True)
class Limits:
    """The limits of reading.

    Attributes
    ----------
    line : bytes of a line, of a record of a table, of a document
    expansion : decompressed bytes per byte of a file, beyond the first gigabyte
    classes : different labels

    Examples
    --------
    >>> Limits(classes=2).classes, Limits().classes
    (2, 65536)
    """

    line: int = 64 << 20
    expansion: int = 1000
    classes: int = 65_536

    def check_columns(self, count: int, name: str) -> None:
        """Raise if a table has too many columns."""
        if count > MOST_COLUMNS:
            raise DataError(f"{name} has {count:,} columns, and the limit is {MOST_COLUMNS:,}")

    def check_length(self, length: int, name: str) -> None:
        """Raise if a line, a record or a document has too many bytes."""
        if length > self.line:
            raise DataError(f"{name} is longer than {format_size(self.line)}: --read-limit line=SIZE")


def parse_limits(limits: Any, words: Sequence[str]) -> Any:
    """A dataclass of limits, changed by ``name=size``.

    Examples
    --------
    >>> parse_limits(Limits(), ["line=1G", "classes=100000"]).line
    1073741824
    >>> parse_limits(Limits(), ["lines=1G"])
    Traceback (most recent call last):
        ...
    rosenblatt.errors.ParameterError: limit 'lines=1G': write line=, expansion= or classes= and a size such as \
500, 64K, 10M or 2G
    """
    names = [each.name for each in fields(limits)]
    for word in words:
        match = re.fullmatch(r"(\w+)=(\d{1,15})([KMGT]?)", word)
        if match is None or match[1] not in names or int(match[2]) == 0:
            known = "=, ".join(names[:-1]) + f"= or {names[-1]}="
            raise ParameterError(f"limit {word!r}: write {known} and a size such as 500, 64K, 10M or 2G")
        limits = replace(limits, **{match[1]: int(match[2]) * _UNITS[match[3]]})
    return limits


DEFAULT_LIMITS = Limits()


def format_size(size: int) -> str:
    """A size with its unit.

    >>> format_size(64 << 20), format_size(1500)
    ('64 MB', '1500 bytes')
    """
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} bytes"
