"""Excel workbooks (.xlsx, .xls, .xlsb, .ods): one sheet, read as the CSV that it would be saved as."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from rosenblatt.errors import DataError, MissingExtraError
from rosenblatt.io.source import Source

WORKBOOKS = ("xlsx", "xlsm", "xls", "xlsb", "ods")


@dataclass
class Sheet(Source):
    """A sheet of a workbook, by name or (from 1) by number; the first by default."""

    sheet: str | None = None

    suffix = "csv"
    compression = ""

    def open(self) -> BinaryIO:
        try:
            from python_calamine import CalamineError, CalamineWorkbook
        except ImportError:
            raise MissingExtraError("python_calamine", "excel") from None
        try:
            book = CalamineWorkbook.from_path(self.path)
            names, wanted = book.sheet_names, self.sheet or "1"
            name = names[int(wanted) - 1] if wanted.isdecimal() and 1 <= int(wanted) <= len(names) else wanted
            if name not in names:
                raise DataError(f"{self.name} has no sheet {wanted!r}; there are {', '.join(names)}")
            rows = book.get_sheet_by_name(name).to_python()
        except (CalamineError, OSError) as error:
            raise DataError(f"{self.name} is not a valid workbook: {str(error).splitlines()[0][:200]}") from None
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([_text(cell) for cell in row] for row in rows)
        return cast(BinaryIO, io.BytesIO(out.getvalue().encode("utf-8", "replace")))


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return " ".join(str(cell).split("\n"))
