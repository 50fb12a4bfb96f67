"""Lines of labelled text with several labels, as fastText has them: a row for each label.

Invariant: the rows of a line share its weight, and follow one another. A line with one label is left as it is. What
becomes of a chunk is bounded, however many labels its lines have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batches import Batch
from rosenblatt.errors import DataError

MOST_LABELS = 1000  # of a line
_MOST_BYTES = 256 << 20  # that a chunk may grow to
_SEVERAL = re.compile(rb"^[ \t]*__label__\S*[ \t]+__label__", re.MULTILINE)
_LABELS = re.compile(rb"[ \t]*((?:__label__\S*[ \t]+)+(?:__label__\S*(?=[ \t\r]*$))?|__label__\S*)")


@dataclass(frozen=True)
class Spread:
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

    def weighed(self, batch: Batch, gaps: Any) -> Batch:
        """The rows of the spread lines, of which those at `gaps` gave none, each with its share of the line."""
        rows = np.delete(self.origin, gaps)
        line, place, count = np.unique(rows, return_inverse=True, return_counts=True)
        weights = 1.0 / count[place]
        return replace(batch, weights=weights, of_line=place.astype(np.int64) if len(line) < len(rows) else None)


def spread_labels(chunk: Any, *, first: bool = False) -> Spread | None:
    """A line for each label, or with the `first` label only; None if no line has several.

    >>> spread = spread_labels(b"__label__a __label__b one two\\n__label__a three")
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
    return Spread(b"\n".join(lines), np.array(origin), frozenset(crowded))


def settle_labels(batch: Batch, answers: NDArray[Any], codes: NDArray[Any]) -> NDArray[np.intp]:
    """Of the rows of each line, the one whose label is the answer, else the first: what an answer is judged by."""
    assert batch.of_line is not None
    right = codes == answers
    order = np.lexsort((~right, batch.of_line))
    _, firsts = np.unique(batch.of_line[order], return_index=True)
    return np.sort(order[firsts])
