"""Plain text columns, for ledgers and traces."""

from __future__ import annotations

from collections.abc import Sequence


def render_columns(heads: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """Columns flush right, floats with six significant digits.

    >>> print(render_columns(["k", "cos"], [[1, 0.5], [10, 1 / 3]]))
     k       cos
     1       0.5
    10  0.333333
    """
    cells = [[_show(value) for value in line] for line in lines]
    widths = [max(len(row[j]) for row in [list(heads), *cells]) for j in range(len(heads))]
    rendered = (
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in [list(heads), *cells]
    )
    return "\n".join(line.rstrip() for line in rendered)


def _show(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}" if value else "0"
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(_show, value)) + ")"
    return str(value)
