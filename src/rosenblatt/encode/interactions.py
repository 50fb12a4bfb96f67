"""Products of the features of namespaces, as Vowpal Wabbit's -q and --interactions make them.

Invariant: a product has the column that VW gives it: ``h = (prime * h) ^ column`` over the factors, in the order of the
letters. A letter stands for all namespaces that begin with it, ``:`` for each that there is. Of a namespace with itself
each pair is made once, squares included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import RowBatch
from rosenblatt.errors import ParameterError

PRIME = 16777619  # of the FNV hash
MOST = 1 << 22  # products of one line
LARGEST = 1e100  # as everywhere in the engine
_SPACES = re.compile(rb"\|([^\s|:]?)")

Integers = NDArray[np.int64]


def check_interactions(terms: Sequence[Any]) -> tuple[str, ...]:
    """The terms without those that stand twice; raises where one means nothing.

    >>> check_interactions(["ab", "ab", "a:"])
    ('ab', 'a:')
    """
    for term in terms:
        if not isinstance(term, str) or not 2 <= len(term) <= 8 or not re.fullmatch(r"[!-{}~]+", term):
            raise ParameterError(
                f"interactions={term!r}: must be the first letters of two namespaces or more, such as ab; : is any"
            )
    return tuple(dict.fromkeys(terms))


@dataclass(frozen=True)
class _Features:
    """Features of the lines, sorted by them."""

    line: Integers
    column: Integers
    value: NDArray[np.float64]

    def starts(self, lines: int) -> Integers:
        return np.searchsorted(self.line, np.arange(lines + 1)).astype(np.int64)


class Products:
    """The products of a chunk of lines."""

    def __init__(self, chunk: Any, terms: Sequence[str], bits: int) -> None:
        self._text, self._bits = bytes(chunk), bits
        self._groups: dict[str, _Features] = {}
        self._names: dict[str, dict[int, str]] = {}
        self.letters = sorted({chr(found[0]) if found else " " for found in _SPACES.findall(self._text)})
        self.terms = list(dict.fromkeys(written for term in terms for written in self._written(term)))
        self.lines = self._text.count(b"\n") + (not self._text.endswith(b"\n"))

    def _written(self, term: str) -> Iterator[str]:
        """The term with each letter that ``:`` may stand for, in rising order so that no pair comes twice."""
        for letters in product(*([*self.letters] if letter == ":" else [letter] for letter in term)):
            pairs = pairwise(zip(term, letters, strict=True))
            if all(not (one == two == ":") or a <= b for (one, a), (two, b) in pairs):
                yield "".join(letters)

    def of(self, term: str) -> tuple[_Features, Integers]:
        """The products of a term, and for each line that has too many how many they are."""
        found, excess = self._group(term[0]), np.zeros(self.lines, np.int64)
        place = np.arange(len(found.line))
        mask = (1 << self._bits) - 1
        for before, letter in pairwise(term):
            group = self._group(letter)
            starts = group.starts(self.lines)
            counts = np.diff(starts)[found.line]
            made = np.bincount(found.line, counts, self.lines).astype(np.int64)
            excess = np.maximum(excess, np.where(made > MOST, made, 0))
            counts = np.where(made[found.line] > MOST, 0, counts)
            left = np.repeat(np.arange(len(found.line)), counts)
            ends = np.cumsum(counts)
            right = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)
            right += np.repeat(starts[:-1][found.line], counts)
            if before == letter:
                kept = right >= place[left]
                left, right = left[kept], right[kept]
            column = (PRIME * found.column[left] & mask) ^ group.column[right]
            found = _Features(found.line[left], column, found.value[left] * group.value[right])
            place = right
        return found, excess

    def _group(self, letter: str) -> _Features:
        """The features of all namespaces that begin with a letter."""
        if letter not in self._groups:
            starts, indices, values, _, _, _, _, _, _, gaps = engine.parse(
                np.frombuffer(self._only(letter), np.uint8), "vw", require_label=False, bits=self._bits, grams="words"
            )
            rows = lines_of_rows(len(starts) - 1, gaps)
            self._groups[letter] = _Features(np.repeat(rows, np.diff(starts)), indices.astype(np.int64), values)
        return self._groups[letter]

    def _only(self, letter: str) -> bytes:
        """The lines without the namespaces that begin with another letter."""
        own = rb"(?=[\s|:]|\Z)" if letter == " " else re.escape(letter.encode())
        return re.sub(rb"\|(?!%s)[^|\n]*" % own, b"|", self._text)

    def names(self, term: str, wanted: NDArray[np.uint8]) -> dict[int, str]:
        """Names of the products of a term whose columns are marked in `wanted`: those of their factors and a star."""
        found: dict[int, str] = {}
        factors = [self._names_of(letter) for letter in term]
        for columns in product(*factors) if np.prod([len(each) for each in factors]) <= MOST else ():
            hashed = columns[0]
            for column in columns[1:]:
                hashed = (PRIME * hashed & (1 << self._bits) - 1) ^ column
            if wanted[hashed]:
                found[hashed] = "*".join(each[column] for each, column in zip(factors, columns, strict=True))
        return found

    def _names_of(self, letter: str) -> dict[int, str]:
        if letter not in self._names:
            text = np.frombuffer(self._only(letter), np.uint8)
            every = np.ones(1 << self._bits, np.uint8)
            found = engine.find_names(text, "vw", wanted=every, bits=self._bits, grams="words")
            self._names[letter] = {column: name.decode("utf-8", "replace") for column, name in found}
        return self._names[letter]


def lines_of_rows(rows: int, gaps: Any) -> Integers:
    """The line of each row, where `gaps` says how many rows stand before each line that gave none.

    >>> lines_of_rows(3, [0, 2]).tolist()
    [1, 2, 4]
    """
    place = np.arange(rows)
    return (place + np.searchsorted(np.asarray(gaps, np.int64), place, side="right")).astype(np.int64)


def with_products(
    chunk: Any, batch: RowBatch, gaps: Any, terms: Sequence[str], bits: int
) -> tuple[RowBatch, list[tuple[int, str]]]:
    """The rows of a chunk with their products, and the lines whose products are too many or too large."""
    products = Products(chunk, terms, bits)
    lines = lines_of_rows(len(batch), gaps)
    row_of = np.full(products.lines, -1, np.int64)
    row_of[lines] = np.arange(len(batch))
    rows = [np.repeat(np.arange(len(batch)), np.diff(batch.starts))]
    columns, values = [batch.indices.astype(np.int64)], [batch.values]
    bad: dict[int, str] = {}
    for term in products.terms:
        found, excess = products.of(term)
        for line in np.flatnonzero(excess):
            bad[int(line)] = f"its interactions {term} make {int(excess[line]):,} features, and the most are {MOST:,}"
        for line in np.unique(found.line[np.abs(found.value) > LARGEST]):
            bad[int(line)] = f"a product of the interactions {term} is too large: a value must be at most 1e100"
        usable = (row_of[found.line] >= 0) & (found.value != 0) & (np.abs(found.value) <= LARGEST)
        rows.append(row_of[found.line[usable]])
        columns.append(found.column[usable])
        values.append(found.value[usable])
    row, column, value = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    order = np.lexsort((column, row))
    row, column, value = row[order], column[order], value[order]
    first = np.flatnonzero(np.concatenate([[True], (np.diff(row) != 0) | (np.diff(column) != 0)])[: len(row)])
    starts = np.searchsorted(row[first], np.arange(len(batch) + 1)).astype(np.int32)
    summed = np.add.reduceat(value, first) if len(first) else value
    joined = RowBatch(starts, column[first].astype(np.int32), summed, batch.codes, batch.labels, batch.weights)
    return joined, [(line, why) for line, why in sorted(bad.items()) if row_of[line] >= 0]
