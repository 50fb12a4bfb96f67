"""Products of the features of namespaces, as Vowpal Wabbit's -q and --interactions make them.

Invariant: a product has the column that VW gives it: ``h = (prime * h) ^ column`` over the factors, in the order of the
letters. A letter stands for all namespaces that begin with it, ``:`` for each that there is. Of a namespace with itself
each pair is made once, squares included.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import Entries, NamedMask, Names, RowBatch, csr_arrays
from rosenblatt.data.labels import LARGEST_NUMBER
from rosenblatt.encode.lines import lines_of_rows

PRIME = 16777619  # of the FNV hash
MOST = 1 << 22  # products of one line
_SPACES = re.compile(rb"\|([^\s|:]?)")

Integers = NDArray[np.int64]


class Products:
    """The products of a chunk of lines."""

    def __init__(self, chunk: bytes, terms: Sequence[str], bits: int, named: NamedMask = None) -> None:
        self._text, self._bits, self._named = chunk, bits, named
        self._letters = sorted({chr(found[0]) if found else " " for found in _SPACES.findall(self._text)})
        self.terms = list(dict.fromkeys(each for term in terms for each in self._expand(term)))
        self.lines = self._text.count(b"\n") + (not self._text.endswith(b"\n"))
        self._group = cache(self._read_group)

    def _expand(self, term: str) -> list[str]:
        """The term with each letter that ``:`` may stand for, in rising order so that no pair comes twice."""
        found = []
        for letters in product(*(self._letters if letter == ":" else [letter] for letter in term)):
            pairs = pairwise(zip(term, letters, strict=True))
            if all(not (one == two == ":") or a <= b for (one, a), (two, b) in pairs):
                found.append("".join(letters))
        return found

    def of(self, term: str) -> tuple[Entries, list[Integers], Integers]:
        """The products of a term, the columns of their factors, and for each line that has too many how many."""
        (line, column, value), excess = self._group(term[0])[0], np.zeros(self.lines, np.int64)
        place, factors = np.arange(len(line)), [column]
        for before, letter in pairwise(term):
            lines, columns, values = self._group(letter)[0]
            starts = np.searchsorted(lines, np.arange(self.lines + 1))
            counts = np.diff(starts)[line]
            made = np.bincount(line, counts, self.lines).astype(np.int64)
            excess = np.maximum(excess, np.where(made > MOST, made, 0))
            counts = np.where(made[line] > MOST, 0, counts)
            left = np.repeat(np.arange(len(line)), counts)
            right = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts) + starts[line[left]]
            if before == letter:
                once = right >= place[left]
                left, right = left[once], right[once]
            line, value, place = line[left], value[left] * values[right], right
            column = (PRIME * column[left] & (1 << self._bits) - 1) ^ columns[right]
            factors = [*(factor[left] for factor in factors), columns[right]]
        return (line, column, value), factors, excess

    def _read_group(self, letter: str) -> tuple[Entries, dict[int, str]]:
        """The features of all namespaces that begin with a letter, and their names if some are to be reported."""
        own = rb"(?=[\s|:]|\Z)" if letter == " " else re.escape(letter.encode())
        text = np.frombuffer(re.sub(rb"\|(?!%s)[^|\n]*" % own, b"|", self._text), np.uint8)  # of no other namespaces
        unnamed = None if self._named is None else np.zeros_like(self._named)
        starts, indices, values, *_, gaps, (columns, names) = engine.parse(
            text, "vw", require_label=False, bits=self._bits, grams="words", named=unnamed
        )
        lines = np.repeat(lines_of_rows(len(starts) - 1, gaps), np.diff(starts))
        named = dict(zip(columns.tolist(), names.decode("utf-8", "replace").split("\n"), strict=False))
        return (lines, indices.astype(np.int64), values), named

    def add_to(self, batch: RowBatch) -> tuple[RowBatch, dict[int, str], Names]:
        """Rows with their products, the lines whose products are too many or too large, and names.

        Names are those of the factors with stars between them, for columns that are not `named`.
        """
        row_of = np.full(self.lines, -1, np.int64)
        row_of[batch.line] = np.arange(len(batch))
        parts = [(np.repeat(np.arange(len(batch)), np.diff(batch.starts)), batch.indices, batch.values)]
        bad, names = dict[int, str](), dict[int, str]()
        for term in self.terms:
            (line, column, value), factors, excess = self.of(term)
            for each in np.flatnonzero(excess).tolist():
                bad[each] = f"its interactions {term} make {excess[each]:,} features, and the most are {MOST:,}"
            for each in np.unique(line[np.abs(value) > LARGEST_NUMBER]).tolist():
                bad[each] = f"a product of the interactions {term} is too large: a value must be at most 1e100"
            usable = (row_of[line] >= 0) & (value != 0) & (np.abs(value) <= LARGEST_NUMBER)
            parts.append((row_of[line[usable]], column[usable], value[usable]))
            if self._named is None:
                continue
            found, first = np.unique(column[usable], return_index=True)
            for hashed, at in zip(found.tolist(), np.flatnonzero(usable)[first].tolist(), strict=True):
                if not self._named[hashed] and hashed not in names:
                    pairs = zip(term, factors, strict=True)
                    names[hashed] = "*".join(self._group(letter)[1][int(factor[at])] for letter, factor in pairs)
        starts, indices, values = csr_arrays(parts, len(batch))
        joined = replace(batch, starts=starts, indices=indices, values=values)
        bad = {line: why for line, why in bad.items() if row_of[line] >= 0}
        return joined, bad, (np.array(list(names), np.int32), "\n".join(names.values()).encode())
