"""Lines to features: svmlight, Vowpal Wabbit and labeled text, parsed by the engine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import EncodedChunk, NamedMask, RowBatch
from rosenblatt.data.labels import numbers_of
from rosenblatt.encode.options import GRAMS, Encoder
from rosenblatt.errors import DataError, ParameterError

LINE_FORMATS = ("svmlight", "vw", "fasttext", "tabbed")
MOST_LABELS = 1000  # of a line
LONGEST_LABEL = 256  # bytes, as in the engine's formats
_SEVERAL = re.compile(rb"^[ \t]*__label__\S*[ \t]+__label__", re.MULTILINE)
_LABELS = re.compile(rb"[ \t]*((?:__label__\S*[ \t]+)+(?:__label__\S*(?=[ \t\r]*$))?|__label__\S*)")


def first_labels(text: bytes) -> tuple[bytes, dict[int, list[bytes]]]:
    """The text with the first label of each line alone, and all labels of the lines that have several.

    >>> first_labels(b"__label__a __label__b one two\\n__label__a three")
    (b'__label__a one two\\n__label__a three', {0: [b'a', b'b']})
    """
    if not (b" __label__" in text or b"\t__label__" in text) or not _SEVERAL.search(text):
        return text, {}
    lines, several = text.split(b"\n"), {}
    for number, line in enumerate(lines):
        found = _LABELS.match(line)
        labels = found[1].split() if found else []
        if found and len(labels) > 1:
            several[number] = [label.removeprefix(b"__label__") for label in dict.fromkeys(labels)]
            lines[number] = labels[0] + b" " + line[found.end() :].lstrip()
    return b"\n".join(lines), several


def row_per_label(batch: RowBatch, several: dict[int, list[bytes]]) -> RowBatch:
    """A row for each label of a line, which share the weight of the line."""
    lines = zip(batch.line.tolist(), batch.codes, strict=True)
    labels = [several.get(line, [batch.labels[code]]) for line, code in lines]
    flat = [label for each in labels for label in each]
    code_of = {label: code for code, label in enumerate(dict.fromkeys(flat))}
    codes, counts = np.array([code_of[label] for label in flat], np.int32), np.array(list(map(len, labels)))
    return batch.repeat(counts, codes, list(code_of))


def _tag_of(line: str) -> str:
    """The tag of a line of Vowpal Wabbit: the word before the first bar that begins with ' or touches the bar."""
    head = line.partition("|")[0]
    word = (head.split() or [""])[-1]
    return word.removeprefix("'") if word.startswith("'") or head.endswith(word) else ""


def _bad_labels(labels: list[bytes]) -> str:
    """The reason why a line cannot have these labels; else empty."""
    if len(labels) > MOST_LABELS:
        return f"the line has more than {MOST_LABELS:,} labels"
    fit = all(0 < len(label) <= LONGEST_LABEL for label in labels)
    return "" if fit else f"a label is empty or longer than {LONGEST_LABEL} bytes"


# The characters that have two bytes in UTF-8, and the small letter of each, if that has two bytes as well.
_LETTERS = "".join(map(chr, range(0x80, 0x800)))
SMALL = "".join(c.lower() if len(c.lower().encode()) == 2 else c for c in _LETTERS)
_LOWER = np.arange(1 << 16)
_LOWER[np.frombuffer(_LETTERS.encode(), ">u2")] = np.frombuffer(SMALL.encode(), ">u2")
_LABEL_SPANS = {"fasttext": re.compile(rb"__label__\S*"), "tabbed": re.compile(rb"(?m)^[^\t\n]*\t")}


def lower_letters(text: NDArray[np.uint8], format: str = "") -> NDArray[np.uint8]:
    """UTF-8 with Latin, Greek, Cyrillic and Armenian letters in lower case, but for the labels of lines.

    The engine takes ASCII letters in lower case. The bytes keep their places. As `model.h` of the C export.

    >>> lower_letters(np.frombuffer("Éa\\tÉÀ Ω".encode(), np.uint8), "tabbed").tobytes().decode()
    'Éa\\téà ω'
    """
    first = np.flatnonzero((text[:-1] >= 0xC3) & (text[:-1] <= 0xD6))
    pairs = text[first].astype(np.int64) << 8 | text[first + 1]
    lower = _LOWER[pairs]
    if (lower == pairs).all():
        return text
    found = text.copy()
    found[first], found[first + 1] = lower >> 8, lower & 0xFF
    for label in _LABEL_SPANS[format].finditer(text.tobytes()) if format else ():
        span = slice(*label.span())
        found[span] = text[span]
    return found


def settle_labels(batch: RowBatch, answers: NDArray[Any], codes: NDArray[Any]) -> NDArray[np.intp]:
    """For each line, the row whose label is the prediction, else the first row."""
    right = codes == answers
    order = np.lexsort((~right, batch.line))
    _, firsts = np.unique(batch.line[order], return_index=True)
    return np.sort(order[firsts])


@dataclass(frozen=True)
class LineEncoder(Encoder):
    """From lines to rows; see `Encoder` for `bits`, `grams` and `use_idf`.

    Parameters
    ----------
    format : {"svmlight", "vw", "fasttext", "tabbed"}
        svmlight: column j is the feature that the file calls j. The others hash names and words.
    interactions : sequence of str, default=()
        vw: products of the features of namespaces, each named by its first letter, as VW's ``-q ab`` makes them.
    """

    kind = "lines"
    base = 0  # the first hashed column

    format: str
    documents: bool = False  # a file is a document, not a document a line
    interactions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.format not in LINE_FORMATS:
            raise ParameterError(f"format={self.format!r}: must be one of {', '.join(LINE_FORMATS)}")
        if self.interactions and self.format != "vw":
            raise ParameterError(
                f"interactions join namespaces, which {self.format} does not have; --learner auto multiplies columns "
                "if that helps"
            )
        if self.use_idf and self.format not in _LABEL_SPANS:
            raise ParameterError(f"idf needs text, and {self.format} has none")
        for term in self.interactions:
            if not isinstance(term, str) or not re.fullmatch(r"[!-{}~]{2,8}", term):
                raise ParameterError(
                    f"interactions={term!r}: must be the first letters of two namespaces or more, such as ab; : is any"
                )
        object.__setattr__(self, "interactions", tuple(dict.fromkeys(self.interactions)))

    @property
    def hashed(self) -> bool:
        return self.format != "svmlight"

    @property
    def is_fitted(self) -> bool:
        """True if all weights are known."""
        return self.idf is not None or not self.use_idf

    def plain(self) -> LineEncoder:
        """The same features, without idf weights."""
        return replace(self, use_idf=False, idf=None)

    @property
    def features(self) -> int | None:
        """The number of columns; None if it depends on the file."""
        return 1 << self.bits if self.hashed else None

    def transform(
        self, chunk: bytes, *, require_label: bool, passthrough: Sequence[str] = (), named: NamedMask = None
    ) -> EncodedChunk:
        """The rows of a chunk of whole lines; with labels, a row of weight 0 is ignored.

        Parameters
        ----------
        passthrough : what the batch has of each row: "*" is the line, "tag" the tag of a line of Vowpal Wabbit
        named : the columns whose names are known; those of others are reported
        """
        text, several = first_labels(chunk) if self.format == "fasttext" else (chunk, {})
        data = np.frombuffer(text, np.uint8)
        if self.format in _LABEL_SPANS:
            data = lower_letters(data, self.format)
        how: dict[str, Any] = {"bits": self.bits, "grams": self.grams, "named": named}
        starts, indices, values, codes, weights, labels, bad, lines, gaps, names = engine.parse(
            data, self.format, require_label=require_label, **how
        )
        batch = RowBatch(starts, indices, values, codes, labels, weights, line=lines_of_rows(len(codes), gaps))
        worse = {line: why for line, found in several.items() if require_label and (why := _bad_labels(found))}
        if spaces := [code for code, label in enumerate(labels) if label.isspace()]:
            worse |= dict.fromkeys(batch.line[np.isin(codes, spaces)].tolist(), "the line has no label")
        all_names = [names]
        if self.interactions:
            from rosenblatt.encode.interactions import Products

            if named is not None:
                named = named.copy()
                named[names[0]] = 1
            batch, worse, more = Products(text, self.interactions, self.bits, named).add_to(batch)
            all_names.append(more)
        if worse:
            batch = batch.take(np.flatnonzero(~np.isin(batch.line, list(worse))))
            bad = sorted({**dict(bad), **worse}.items())
        if several and require_label:
            batch = row_per_label(batch, several)
        gaps = np.flatnonzero(np.bincount(batch.line, minlength=lines) == 0)
        blank = tuple(np.searchsorted(batch.line, gaps).tolist())
        if require_label and batch.weights is not None and not batch.weights.all():
            batch = batch.take(np.flatnonzero(batch.weights))
        frequencies = None if self.is_fitted else np.bincount(batch.indices, minlength=1 << self.bits)
        if self.idf is not None:
            batch = replace(batch, values=batch.values * self.idf[batch.indices])
        if passthrough:
            texts = chunk.split(b"\n")
            cells = [texts[line].removesuffix(b"\r").decode("utf-8", "replace") for line in batch.line.tolist()]
            batch = replace(batch, passthrough=dict(self._passed(name, cells) for name in passthrough))
        return EncodedChunk(replace(batch, blank=blank), lines, bad, names=all_names, frequencies=frequencies)

    def _passed(self, name: str, lines: list[str]) -> tuple[str, list[str]]:
        if name == "*":
            return "line", lines
        if name == "tag" and self.format == "vw":
            return "tag", [_tag_of(line) for line in lines]
        known = "*, the whole line" + ", and tag" * (self.format == "vw")
        raise DataError(f"there is no column {name!r}; lines of {self.format} have {known}")

    def targets(self, labels: Sequence[bytes]) -> NDArray[np.float64]:
        """The numbers of labels, as regression targets."""
        return numbers_of(labels)

    def describe(self) -> str:
        """How lines become rows, in words."""
        if self.format == "svmlight":
            return "features by number, a column each"
        if self.format == "vw":
            and_more = f", and the interactions {', '.join(self.interactions)}" if self.interactions else ""
            return f"Vowpal Wabbit: names hashed to 2^{self.bits} columns{and_more}"
        what = "documents" if self.documents else "labeled text"
        weighed = "idf weights" if self.use_idf else "length 1"
        return f"{what}: {GRAMS[self.grams]} hashed to 2^{self.bits} columns, {weighed}"


def lines_of_rows(rows: int, gaps: Any) -> NDArray[np.int64]:
    """The line of each row; `gaps` holds the number of rows before each line without a row.

    >>> lines_of_rows(3, [0, 2]).tolist()
    [1, 2, 4]
    """
    place = np.arange(rows)
    return (place + np.searchsorted(np.asarray(gaps, np.int64), place, side="right")).astype(np.int64)
