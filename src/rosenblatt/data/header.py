"""Whether the first line of a table names its columns.

Invariant: the columns below decide: a header is of another kind than they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from rosenblatt.data.cells import MISSING, NO_VALUE, read_number

LONGEST_NAME = 200  # characters
_LABELS = ("label", "class", "target", "y", "category")


def says(first: list[str], known: Sequence[str]) -> bool:
    """Does a line say the names of these columns? Names that are numbers do not count unless all of them are there."""
    words = {name for name in known if read_number(name) is None}
    found = sum(cell in words for cell in first)
    if words:
        return found > 0 and 2 * found >= sum(bool(cell) and read_number(cell) is None for cell in first)
    return len(first) >= len(known) - 1 and first == [name for name in known if name in first]


def says_others(first: list[str], rows: list[list[str]], decimal: str) -> bool:
    """Is it clearly a header, though not with the names that are known?"""
    return bool(rows) and all(read_number(cell) is None for cell in first) and is_header(first, rows, decimal)


def distinct(cells: list[str]) -> tuple[str, ...]:
    """Names as pandas would make them: no name twice, and none empty; in one line, and not too long to be said."""
    cells = [" ".join(cell.split())[:LONGEST_NAME] for cell in cells]
    names: list[str] = []
    taken = set(cells)
    for j, cell in enumerate(cells):
        own = cell or f"Unnamed: {j}"
        k = 0
        while own in names or (k and own in taken):
            k += 1
            own = f"{cell or f'Unnamed: {j}'}.{k}"
        names.append(own)
    return tuple(names)


def is_header(first: list[str], rows: list[list[str]], decimal: str = ".") -> bool:
    """Is the first line a header? It is where the columns below are of another kind.

    Examples
    --------
    >>> is_header(["", "0", "1"], [["0", "5.1", "a"], ["1", "4.9", "b"]])
    True
    >>> is_header(["5.1", "3.5", "a"], [["4.9", "3.0", "a"]])
    False
    """

    def number(cell: str) -> float | None:
        return read_number(cell, decimal)

    if not any(first):
        return False
    values = [number(cell) for cell in first]
    if any(value is not None and value != int(value) for value in values if value is not None and abs(value) < 1e15):
        return False
    if not rows:
        return all(value is None for value in values) and all(first)
    columns = [[row[j] for row in rows if j < len(row)] for j in range(len(first))]
    told, against = False, False
    for cell, value, column in zip(first, values, columns, strict=True):
        there = [each for each in column if each not in MISSING]
        numeric = sum(number(each) is not None for each in there)
        if not there:
            continue
        if numeric >= 0.8 * len(there):
            told |= value is None and cell not in MISSING and not _is_missing(cell)
        elif value is None and cell in set(there):
            against = True
        elif value is None and cell and (cell.lower() in _LABELS or len(set(there)) <= len(there) / 2):
            told = True
    if told and not against:
        return True
    if against:
        return False
    whole = [int(value) for value in values if value is not None]
    counting = len(whole) >= (2 if first[0] == "" else 3) and whole in (
        list(range(len(whole))),
        list(range(1, len(whole) + 1)),
    )
    if counting and len(whole) >= len(first) - 1:
        # 0, 1, 2, …: names, where the first of them is left empty or what follows are no whole numbers.
        below = [number(cell) for column in columns for cell in column]
        return first[0] == "" or any(value is None or value != int(value) for value in below if value != float("inf"))
    return all(value is None for value in values) and all(first) and len(set(first)) == len(first)


def _is_missing(cell: str) -> bool:
    return not cell or cell.lower() in NO_VALUE
