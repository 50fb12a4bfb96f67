"""Lines to features: svmlight, Vowpal Wabbit and labelled text, parsed by the engine."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import RowBatch
from rosenblatt.encode.interactions import Products, check_interactions, lines_of_rows, with_products
from rosenblatt.encode.options import ReadOptions
from rosenblatt.errors import DataError, ParameterError

MOST_LABELS = 1000  # of a line
_MOST_BYTES = 256 << 20  # that a chunk may grow to
_SEVERAL = re.compile(rb"^[ \t]*__label__\S*[ \t]+__label__", re.MULTILINE)
_LABELS = re.compile(rb"[ \t]*((?:__label__\S*[ \t]+)+(?:__label__\S*(?=[ \t\r]*$))?|__label__\S*)")


@dataclass(frozen=True)
class ExpandedLines:
    """Lines with one label each, and the line that each of them was."""

    text: bytes
    origin: NDArray[np.int64]
    crowded: frozenset[int] = (
        frozenset()
    )  # lines with more labels than are read: left as they are, so that they are bad

    def told(self, line: int, why: str) -> tuple[int, str]:
        """What is wrong with a spread line, said of the line that it was."""
        origin = int(self.origin[line])
        return origin, f"the line has more than {MOST_LABELS:,} labels" if origin in self.crowded else why

    def weighed(self, batch: RowBatch, gaps: Any) -> RowBatch:
        """The rows of the spread lines, of which those at `gaps` gave none, each with its share of the line."""
        rows = np.delete(self.origin, gaps)
        line, place, count = np.unique(rows, return_inverse=True, return_counts=True)
        weights = 1.0 / count[place]
        return replace(batch, weights=weights, line=place.astype(np.int64) if len(line) < len(rows) else None)


def expand_labels(chunk: Any, *, first: bool = False) -> ExpandedLines | None:
    """A line for each label, or with the `first` label only; None if no line has several.

    >>> spread = expand_labels(b"__label__a __label__b one two\\n__label__a three")
    >>> spread.text, spread.origin.tolist()
    (b'__label__a one two\\n__label__b one two\\n__label__a three', [0, 0, 1])
    """
    text = bytes(chunk)
    if not _SEVERAL.search(text):
        return None
    lines, origin, crowded, size = [], [], set(), 0
    for number, line in enumerate(text.split(b"\n")):
        found = _LABELS.match(line)
        labels = list(dict.fromkeys(found[1].split())) if found else []
        if len(labels) > MOST_LABELS and not first:
            crowded.add(number)
        if len(labels) < 2 or found is None or number in crowded:
            lines.append(line)
            origin.append(number)
            continue
        size += 0 if first else len(labels) * len(line)
        if size > _MOST_BYTES:
            raise DataError(
                f"lines with several labels grow to more than {_MOST_BYTES >> 20} MB, a copy for each label"
            )
        for label in labels[:1] if first else labels:
            lines.append(label + b" " + line[found.end() :].lstrip())
            origin.append(number)
    return ExpandedLines(b"\n".join(lines), np.array(origin), frozenset(crowded))


def settle_labels(batch: RowBatch, answers: NDArray[Any], codes: NDArray[Any]) -> NDArray[np.intp]:
    """Of the rows of each line, the one whose label is the answer, else the first: what an answer is judged by."""
    assert batch.line is not None
    right = codes == answers
    order = np.lexsort((~right, batch.line))
    _, firsts = np.unique(batch.line[order], return_index=True)
    return np.sort(order[firsts])


Grams = Literal["words", "pairs", "characters"]
GRAMS: tuple[Grams, ...] = ("words", "pairs", "characters")
BITS = 20


@dataclass(frozen=True)
class EncodedChunk:
    """A chunk of a source as rows, and its bad lines."""

    batch: RowBatch
    lines: int
    bad: list[tuple[int, str]]
    blank: tuple[int, ...] = ()  # the number of rows before each line without a row
    invalid: dict[str, dict[str, int]] = field(default_factory=dict)  # cells that do not fit the kind of their column
    names: dict[int, str] = field(default_factory=dict)  # of hashed columns that had none yet


@dataclass(frozen=True)
class LineEncoder:
    """From lines to rows.

    Parameters
    ----------
    format : {"svmlight", "vw", "fasttext", "tabbed"}
        svmlight: column j is the feature that the file calls j. The others hash names and words.
    bits : int, default=20
        Names are hashed to ``2**bits`` columns.
    grams : {"words", "pairs", "characters"}, default="pairs"
        What a text is made of: words; words and pairs of neighbors; or runs of 3 to 5 characters within words.
    interactions : sequence of str, default=()
        vw: products of the features of namespaces, each named by its first letter, as VW's ``-q ab`` makes them.
    """

    format: str
    bits: int = BITS
    grams: Grams = "pairs"
    documents: bool = False  # a file is a document, not a document a line
    interactions: tuple[str, ...] = ()
    options: ReadOptions = ReadOptions()

    def __post_init__(self) -> None:
        check_hashing(self.bits, self.grams)
        if self.interactions and self.format != "vw":
            raise ParameterError(
                f"interactions join namespaces, which {self.format} does not have; --learner auto multiplies columns "
                "if that helps"
            )
        object.__setattr__(self, "interactions", check_interactions(self.interactions))

    @property
    def hashed(self) -> bool:
        return self.format != "svmlight"

    @property
    def features(self) -> int | None:
        """How many columns there are; None if only the file can tell."""
        return 1 << self.bits if self.hashed else None

    def transform(self, chunk: Any, *, require_label: bool, named: NDArray[np.bool_] | None = None) -> EncodedChunk:
        """The rows of a chunk of whole lines; with labels, a row of weight 0 is as if absent.

        `named`: the columns whose names are known; those of others are reported.
        """
        found = self._encode(chunk, require_label)
        if named is not None and self.hashed:
            wanted = np.zeros(1 << self.bits, np.uint8)
            wanted[found.batch.indices] = ~named[found.batch.indices]
            found = replace(found, names=self.find_names(chunk, wanted))
        weights = found.batch.weights if require_label else None
        if weights is None or weights.all():
            return found
        return replace(found, batch=found.batch.take(np.flatnonzero(weights)))

    def _encode(self, chunk: Any, require_label: bool) -> EncodedChunk:
        spread = expand_labels(chunk, first=not require_label) if self.format == "fasttext" else None
        starts, indices, values, codes, weights, labels, bad, lines, _, gaps = engine.parse(
            np.frombuffer(chunk if spread is None else spread.text, np.uint8),
            self.format,
            require_label=require_label,
            bits=self.bits,
            grams=self.grams,
        )
        batch, passed_over = RowBatch(starts, indices, values, codes, labels, weights), tuple(gaps.tolist())
        if self.interactions:
            return self._multiplied(chunk, EncodedChunk(batch, lines, bad, passed_over))
        if spread is None or not require_label:
            return EncodedChunk(batch, lines, bad, passed_over)
        # A gap is counted by the rows before it: with the gaps before it, that is its line.
        lost = np.array(passed_over, np.int64) + np.arange(len(passed_over))
        batch = spread.weighed(batch, np.concatenate([lost, np.arange(lines, len(spread.origin))]))
        told = [spread.told(line, why) for line, why in bad]
        return EncodedChunk(batch, int(spread.origin[lines - 1]) + 1 if lines else 0, told, passed_over)

    def _multiplied(self, chunk: Any, encoded: EncodedChunk) -> EncodedChunk:
        """With the products of the interactions; a line that has too many of them is bad."""
        batch, worse = with_products(chunk, encoded.batch, encoded.blank, self.interactions, self.bits)
        if not worse:
            return replace(encoded, batch=batch)
        lines = lines_of_rows(len(batch), encoded.blank)
        kept = ~np.isin(lines, [line for line, _ in worse])
        none = np.setdiff1d(np.arange(encoded.lines), lines[kept])
        gaps = np.searchsorted(lines[kept], none)
        bad = sorted([*encoded.bad, *worse])
        return EncodedChunk(batch.take(np.flatnonzero(kept)), encoded.lines, bad, tuple(gaps.tolist()))

    def labels_in(self, chunk: Any) -> list[bytes]:
        """The distinct labels of a chunk of whole lines."""
        expanded = expand_labels(chunk) if self.format == "fasttext" else None
        text = chunk if expanded is None else expanded.text
        found: list[bytes] = engine.scan_labels(np.frombuffer(text, np.uint8), self.format)
        return found

    def find_names(self, chunk: Any, wanted: NDArray[np.uint8]) -> dict[int, str]:
        """The names of the columns marked in `wanted`, as far as the chunk holds them."""
        names: dict[int, str] = {}
        if not wanted.any():
            return names
        if self.format == "fasttext" and (expanded := expand_labels(chunk, first=True)) is not None:
            chunk = expanded.text
        found = engine.find_names(
            np.frombuffer(chunk, np.uint8), self.format, wanted=wanted, bits=self.bits, grams=self.grams
        )
        names.update((column, name.decode("utf-8", "replace")) for column, name in found)
        if self.interactions and wanted.any():
            products = Products(chunk, self.interactions, self.bits)
            for term in products.terms:
                more = products.names(term, wanted)
                wanted[list(more)] = 0
                names.update(more)
        return names

    def describe(self) -> str:
        """What a reader should know of how the rows are read."""
        if self.format == "svmlight":
            return "svmlight: a column a feature"
        if self.format == "vw":
            and_more = f", and the interactions {', '.join(self.interactions)}" if self.interactions else ""
            return f"Vowpal Wabbit: names hashed to 2^{self.bits} columns{and_more}"
        what = "documents" if self.documents else "labelled text"
        how = {"words": "words", "pairs": "words and word pairs", "characters": "3 to 5 characters of words"}[
            self.grams
        ]
        return f"{what}: {how} hashed to 2^{self.bits} columns, length 1"

    def to_json(self) -> dict[str, Any]:
        header = {"kind": "lines", "format": self.format, "bits": self.bits, "grams": self.grams}
        header |= {"documents": True} if self.documents else {}
        header |= {"interactions": list(self.interactions)} if self.interactions else {}
        options = self.options.to_json()
        return header | ({"options": options} if options else {})

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> LineEncoder:
        if header["format"] not in ("svmlight", "vw", "fasttext", "tabbed"):
            raise DataError(f"the encoder has an unknown format {header['format']!r}")
        interactions = header.get("interactions", [])
        if not isinstance(interactions, list):
            raise DataError("the encoder's interactions are no list")
        documents = header.get("documents", False) is True
        options = ReadOptions.from_json(header.get("options", {}))
        return cls(header["format"], header["bits"], header["grams"], documents, tuple(interactions), options)


def check_hashing(bits: Any, grams: Any) -> None:
    """Raise if the options of hashing mean nothing."""
    if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= 30:
        raise ParameterError(f"bits={bits!r}: must be a whole number from 1 to 30")
    if grams not in GRAMS:
        raise ParameterError(f"grams={grams!r}: must be one of {', '.join(GRAMS)}")


def with_lines(encoded: EncodedChunk, chunk: bytes) -> EncodedChunk:
    """With the line that each row came from."""
    lines = [line.removesuffix(b"\r").decode("utf-8", "replace") for line in chunk.split(b"\n")]
    rows: list[str] = []
    gaps = iter([*encoded.blank, -1])
    gap = next(gaps)
    for line in lines[: encoded.lines]:
        if len(rows) == gap:
            gap = next(gaps)
        else:
            rows.append(line)
    return replace(encoded, batch=replace(encoded.batch, passthrough={"line": rows}))
