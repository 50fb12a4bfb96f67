"""Formats whose lines the engine parses itself: svmlight, Vowpal Wabbit and labelled text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batches import Batch
from rosenblatt.data.several import spread_labels
from rosenblatt.errors import DataError, ParameterError

Grams = Literal["words", "pairs", "characters"]
GRAMS: tuple[Grams, ...] = ("words", "pairs", "characters")
BITS = 20


@dataclass(frozen=True)
class Encoded:
    """A piece of a source as rows, with the lines that were bad."""

    batch: Batch
    lines: int
    bad: list[tuple[int, str]]
    gaps: tuple[int, ...] = ()  # the rows before each line that gave none
    strange: dict[str, dict[str, int]] = field(default_factory=dict)  # cells that are not what their column is


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
        What a text is made of: words; words and pairs of neighbours; or runs of 3 to 5 characters within words.
    """

    format: str
    bits: int = BITS
    grams: Grams = "pairs"
    documents: bool = False  # a file is a document, not a document a line

    def __post_init__(self) -> None:
        check_hashing(self.bits, self.grams)

    @property
    def hashed(self) -> bool:
        return self.format != "svmlight"

    @property
    def features(self) -> int | None:
        """How many columns there are; None if only the file can tell."""
        return 1 << self.bits if self.hashed else None

    def encode(self, chunk: Any, *, require_label: bool) -> Encoded:
        """The rows of a chunk of whole lines."""
        spread = spread_labels(chunk, first=not require_label) if self.format == "fasttext" else None
        starts, indices, values, codes, weights, labels, bad, lines, _, gaps = engine.parse(
            np.frombuffer(chunk if spread is None else spread.text, np.uint8),
            self.format,
            require_label=require_label,
            bits=self.bits,
            grams=self.grams,
        )
        batch, passed_over = Batch(starts, indices, values, codes, labels, weights), tuple(gaps.tolist())
        if spread is None or not require_label:
            return Encoded(batch, lines, bad, passed_over)
        # A gap is counted by the rows before it: with the gaps before it, that is its line.
        lost = np.array(passed_over, np.int64) + np.arange(len(passed_over))
        batch = spread.weighed(batch, np.concatenate([lost, np.arange(lines, len(spread.origin))]))
        told = [spread.told(line, why) for line, why in bad]
        return Encoded(batch, int(spread.origin[lines - 1]) + 1 if lines else 0, told, passed_over)

    def labels_of(self, chunk: Any) -> list[bytes]:
        """The distinct labels of a chunk of whole lines."""
        spread = spread_labels(chunk) if self.format == "fasttext" else None
        text = chunk if spread is None else spread.text
        found: list[bytes] = engine.scan_labels(np.frombuffer(text, np.uint8), self.format)
        return found

    def find_names(self, chunks: Iterable[Any], wanted: NDArray[np.uint8]) -> dict[int, str]:
        """Names of the columns marked in `wanted`, as far as the chunks hold them."""
        names: dict[int, str] = {}
        if not self.hashed:
            return names
        for chunk in chunks:
            if not wanted.any():
                break
            if self.format == "fasttext" and (spread := spread_labels(chunk, first=True)) is not None:
                chunk = spread.text
            found = engine.find_names(
                np.frombuffer(chunk, np.uint8), self.format, wanted=wanted, bits=self.bits, grams=self.grams
            )
            names.update((column, name.decode("utf-8", "replace")) for column, name in found)
        return names

    def describe(self) -> str:
        """What a reader should know of how the rows are read."""
        if self.format == "svmlight":
            return "svmlight: a column a feature"
        if self.format == "vw":
            return f"Vowpal Wabbit: names hashed to 2^{self.bits} columns"
        what = "documents" if self.documents else "labelled text"
        how = {"words": "words", "pairs": "words and word pairs", "characters": "3 to 5 characters of words"}[
            self.grams
        ]
        return f"{what}: {how} hashed to 2^{self.bits} columns, length 1"

    def to_json(self) -> dict[str, Any]:
        header = {"kind": "lines", "format": self.format, "bits": self.bits, "grams": self.grams}
        return header | ({"documents": True} if self.documents else {})

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> LineEncoder:
        if header["format"] not in ("svmlight", "vw", "fasttext", "tabbed"):
            raise DataError(f"the encoder has an unknown format {header['format']!r}")
        return cls(header["format"], header["bits"], header["grams"], header.get("documents", False) is True)


def check_hashing(bits: Any, grams: Any) -> None:
    """Raise if the options of hashing mean nothing."""
    if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= 30:
        raise ParameterError(f"bits={bits!r}: must be a whole number from 1 to 30")
    if grams not in GRAMS:
        raise ParameterError(f"grams={grams!r}: must be one of {', '.join(GRAMS)}")
