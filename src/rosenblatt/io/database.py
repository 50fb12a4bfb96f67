"""Tables of SQLite and DuckDB by address: ``sqlite:///file.db?table=people``, ``duckdb:///file.db?query=select …``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from rosenblatt.errors import DataError, MissingExtraError, first_line

_ROWS = 65_536
_TABLES = "select name from sqlite_master where type in ('table', 'view')"  # which DuckDB has too


@dataclass(frozen=True)
class Query:
    """The rows of a query, which runs anew for each pass."""

    address: str
    query: str | None = None

    @property
    def path(self) -> str:
        """The file of the database."""
        parts = urlsplit(self.address)
        path = unquote(parts.netloc + parts.path)
        return path[1:] if os.path.exists(path[1:]) else path  # sqlite:///relative or sqlite:////absolute

    def to_batches(self) -> Iterator[Any]:
        """Record batches of Arrow."""
        if not os.path.isfile(self.path):
            raise DataError(f"{self.address}: no such file: {self.path}")
        given = parse_qs(urlsplit(self.address).query)
        query = self.query or given.get("query", [None])[0]
        if query is None:
            names = sorted(str(name) for batch in self._run(_TABLES) for name in batch.column(0).to_pylist())
            table = given.get("table", names if len(names) == 1 else [""])[0]
            if table not in names:
                raise DataError(f"{self.address}: pick a table with ?table=NAME; there are {', '.join(names)}")
            quoted = table.replace('"', '""')
            query = f'select * from "{quoted}"'
        yield from self._run(query)

    def _run(self, query: str) -> Iterator[Any]:
        if self.address.startswith("duckdb"):
            try:
                import duckdb
            except ImportError:
                raise MissingExtraError("duckdb", "duckdb") from None
            try:
                with duckdb.connect(self.path, read_only=True) as database:
                    reader: Any = database.execute(query).to_arrow_reader(_ROWS)
                    yield from reader
            except duckdb.Error as error:
                raise DataError(f"{self.address}: {first_line(error)}") from None
            return
        import sqlite3

        try:
            with closing(sqlite3.connect(f"file:{quote(self.path)}?mode=ro", uri=True)) as connection:
                cursor = connection.execute(query)
                names = [column[0] for column in cursor.description or ()]
                while rows := cursor.fetchmany(_ROWS):
                    yield _batch(names, rows)
        except sqlite3.Error as error:
            raise DataError(f"{self.address}: {error}") from None


def _batch(names: list[str], rows: list[Any]) -> Any:
    import pyarrow as pa

    arrays = []
    for cells in zip(*rows, strict=True):
        try:
            arrays.append(pa.array(cells))
        except (pa.ArrowException, OverflowError):  # SQLite's columns may mix types
            arrays.append(pa.array([None if cell is None else str(cell) for cell in cells]))
    return pa.RecordBatch.from_arrays(arrays, names=names)
