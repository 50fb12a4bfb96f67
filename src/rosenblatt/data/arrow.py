"""CSV, TSV, JSON lines, Parquet, Feather and any Arrow stream, as Arrow tables a piece at a time."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet

from rosenblatt.data.batches import join_batches
from rosenblatt.data.chunks import CHUNK, iter_chunks
from rosenblatt.data.columns import ColumnEncoder
from rosenblatt.data.lines import Encoded
from rosenblatt.data.sources import Source, Spooled
from rosenblatt.errors import DataError

MISSING = ["", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "?"]
_ROWS = 65_536
# What an error says of the place within a piece; the line in the file is said instead.
_ROW = re.compile(r"^row 0: | in row 0\b|Row #\d+: |CSV parse error: |JSON parse error: ")


@dataclass(frozen=True)
class Piece:
    """A part of a source: bytes with the way to read them, or an Arrow table."""

    data: Any
    names: tuple[str, ...] | None = None  # of a CSV file
    format: str = ""

    @property
    def is_table(self) -> bool:
        return isinstance(self.data, (pa.Table, pa.RecordBatch))

    def table(self, encoder: ColumnEncoder | None = None) -> Any:
        """The piece as an Arrow table, in the encoder's types where there is one."""
        return self.data if self.is_table else self.read(self.data, encoder)

    def read(self, data: Any, encoder: ColumnEncoder | None) -> Any:
        try:
            return self._read(data, encoder)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise DataError(str(error).splitlines()[0]) from None

    def _read(self, data: Any, encoder: ColumnEncoder | None) -> Any:
        if self.format == "jsonl":
            if not bytes(data).strip():
                return pa.table({})
            options = pa.json.ReadOptions(use_threads=False, block_size=max(len(data) + 1, 1024))
            return pa.json.read_json(io.BytesIO(data), read_options=options)
        types = {} if encoder is None else encoder.types()
        return pa.csv.read_csv(
            pa.py_buffer(data),
            read_options=pa.csv.ReadOptions(
                column_names=self.names, use_threads=False, block_size=max(len(data) + 1, 1024)
            ),
            parse_options=pa.csv.ParseOptions(delimiter="\t" if self.format == "tsv" else ",", newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(
                column_types={name: types[name] for name in self.names or () if name in types},
                include_columns=[name for name in self.names or () if encoder is None or name in types],
                null_values=MISSING,
                strings_can_be_null=True,
            ),
        )


def iter_pieces(source: Source, format: str, *, size: int = CHUNK) -> Iterator[tuple[int, Piece]]:
    """The pieces of a file, each with the number of lines that stood before the first of them (a header)."""
    if format == "parquet":
        with _open_seekable(source) as stream:
            try:
                for batch in pa.parquet.ParquetFile(stream).iter_batches(batch_size=_ROWS, use_threads=False):
                    yield 0, Piece(batch)
            except pa.ArrowInvalid as error:
                raise DataError(f"{source.name} is not a Parquet file: {error}") from None
    elif format == "feather":
        with _open_seekable(source) as stream:
            try:
                reader = pa.ipc.open_file(stream)
            except pa.ArrowInvalid:
                raise DataError(f"{source.name} is not a Feather (Arrow IPC) file") from None
            for k in range(reader.num_record_batches):
                yield 0, Piece(reader.get_batch(k))
    elif format == "jsonl":
        for chunk in iter_chunks(source, size=size):
            yield 0, Piece(chunk, format=format)
    else:
        names, header = None, 0
        for chunk in iter_chunks(source, quoted=True, size=size):
            if names is None:
                names, behind = _header_of(bytes(chunk), format, source)
                header = 1 if behind else 0
                chunk = chunk[behind:]
            if len(chunk):
                yield header, Piece(chunk, names, format)
                header = 0


def iter_stream(stream: Any) -> Iterator[tuple[int, Piece]]:
    """The record batches of an object with ``__arrow_c_stream__``: pandas, Polars, DuckDB, pyarrow."""
    for batch in pa.RecordBatchReader.from_stream(stream):
        for begin in range(0, batch.num_rows, _ROWS):
            yield 0, Piece(batch.slice(begin, _ROWS))


def encode_piece(piece: Piece, encoder: ColumnEncoder, *, require_label: bool, skip_bad: bool) -> Encoded:
    """The rows of a piece; where it cannot be read as a whole, halves of it are tried, down to the bad lines."""
    if piece.is_table:
        return Encoded(encoder.encode(piece.data, require_label=require_label), piece.data.num_rows, [])

    try:
        batch = encoder.encode(piece.table(encoder), require_label=require_label)
        return Encoded(batch, bytes(piece.data).count(b"\n"), [])
    except DataError:
        batches, bad = read_apart(
            piece,
            lambda data: encoder.encode(piece.read(data, encoder), require_label=require_label),
            skip_bad=skip_bad,
        )
        return Encoded(join_batches(batches), bytes(piece.data).count(b"\n"), bad)


def read_apart(
    piece: Piece, read: Callable[[bytes], Any], *, skip_bad: bool
) -> tuple[list[Any], list[tuple[int, str]]]:
    """What `read` gives for the lines that it can read, and the bad ones: only the first, unless they are skipped."""
    records = split_records(bytes(piece.data), quoted=piece.format != "jsonl")
    results, bad = [], []
    todo = [(0, len(records))]
    while todo:
        begin, end = todo.pop()
        try:
            results.append(read(b"".join(records[begin:end])))
        except DataError as error:
            if end - begin == 1:
                bad.append((b"".join(records[:begin]).count(b"\n"), _ROW.sub("", str(error))))
                if not skip_bad:
                    break
                continue
            middle = (begin + end) // 2
            todo += [(middle, end), (begin, middle)]
    return results, bad


def sample_of(piece: Piece, *, skip_bad: bool, rows: int = 10_000) -> tuple[Any, list[tuple[int, str]]]:
    """Enough of a piece to guess what its columns are, and the first bad line if there is one."""
    if piece.is_table:
        return piece.data.slice(0, rows), []
    records = split_records(bytes(piece.data), quoted=piece.format != "jsonl")[:rows]
    part = Piece(b"".join(records), piece.names, piece.format)
    try:
        return part.table(), []
    except DataError:
        tables, bad = read_apart(part, lambda data: part.read(data, None), skip_bad=skip_bad)
        return (pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})), bad


def _open_seekable(source: Source) -> Any:
    return open(Spooled.copy(source).path if source.live else source.path, "rb")


def _header_of(chunk: bytes, format: str, source: Source) -> tuple[tuple[str, ...], int]:
    """The names of the columns, and how many bytes they took: 0 if there is no header."""
    import csv

    first = split_records(chunk[: 1 << 20], quoted=True)
    record = next((r for r in first if r.strip()), b"")
    text = record.decode("utf-8", "replace").strip("\r\n")
    try:
        cells = next(csv.reader([text], delimiter="\t" if format == "tsv" else ","), [])
    except csv.Error:
        raise DataError(
            f"{source.name}, line 1 is not {format}: it has a stray carriage return, a NUL or a field that never ends"
        ) from None
    if not cells:
        raise DataError(f"{source.name} is empty")
    cells = [cell.strip() for cell in cells]
    if any(_is_number(cell) or not cell for cell in cells) or len(set(cells)) < len(cells):
        return tuple(str(j + 1) for j in range(len(cells))), 0
    return tuple(cells), chunk.index(record) + len(record)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def split_records(data: bytes, *, quoted: bool) -> list[bytes]:
    """Lines with their ends; lines within quotes stay together."""
    lines = data.splitlines(keepends=True) if b"\n" not in data else [line + b"\n" for line in data.split(b"\n")]
    if b"\n" in data:
        lines[-1] = lines[-1][:-1]
    if not lines[-1]:
        lines.pop()
    if not quoted or b'"' not in data:
        return lines
    records, open_parts = [], []
    for line in lines:
        open_parts.append(line)
        if sum(part.count(b'"') for part in open_parts) % 2 == 0:
            records.append(b"".join(open_parts))
            open_parts = []
    return [*records, b"".join(open_parts)] if open_parts else records
