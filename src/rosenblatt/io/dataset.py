"""A dataset: sources, the way to read them, and their batches.

Invariant: batches come in the order of the data, whatever the number of threads; joined, they do not depend on how the
data is cut into chunks or files. `load` reads and parses everything once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import RowBatch, join_batches
from rosenblatt.data.labels import Classes, FractionError, is_plain_number, numbers_of
from rosenblatt.data.row_store import RowStore
from rosenblatt.encode.lines import BITS, EncodedChunk, Grams, LineEncoder, with_lines
from rosenblatt.encode.options import ReadOptions
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.io.formats import LINE_FORMATS, NPY, check_format, detect_format
from rosenblatt.io.limits import DEFAULT_LIMITS, Limits
from rosenblatt.io.source import Documents, Source, Spooled, StandardInput, expand_sources
from rosenblatt.io.text import CHUNK, head_as_utf8, iter_chunks, read_head, to_utf8

_HEAD = 1 << 16
_SAMPLE = 20_000  # rows that a schema is inferred from
_MANY_LABELS = 20


@dataclass
class ReadReport:
    """Counts of a pass over the data."""

    bytes: int = 0
    lines: int = 0
    bad: int = 0
    first_bad: list[str] = field(default_factory=list)
    invalid: dict[str, dict[str, int]] = field(default_factory=dict)  # cells that do not fit the kind of their column

    def add_invalid(self, found: dict[str, dict[str, int]]) -> None:
        if not found:
            return  # pyarrow takes longer to load than a small file to learn
        from rosenblatt.encode.cells import merge_invalid

        for name, words in found.items():
            merge_invalid(self.invalid.setdefault(name, {}), words)


@dataclass
class Dataset:
    """Data and the way to read it; iterating over it gives its batches, any number of times.

    Parameters
    ----------
    data : path, list of paths, or object with ``__arrow_c_stream__`` or ``to_batches``
        A path may be a file, a glob, a folder, an address or ``-``.
    format : str
        One of `rosenblatt.io.formats.FORMATS`, or "arrow".
    encoder : LineEncoder or TableEncoder
        From lines or columns to rows.
    require_label : bool, default=True
        Is a row without a label an error?
    skip_bad : bool, default=False
        Count bad lines in `report` instead of raising.
    jobs : int, default=2
        Threads that parse.
    keep_blank : bool, default=False
        Report lines without a row in `RowBatch.blank`, so that predictions line up with lines.
    passthrough : sequence of str
        Columns whose cells go into `RowBatch.passthrough`; ``*``: all, or whole lines.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "rows.svm")
    >>> _ = path.write_text("+1 1:0.5 3:1\\n-1 2:1\\n")
    >>> dataset = open_dataset(path)
    >>> dataset.format, [len(batch) for batch in dataset]
    ('svmlight', [2])
    """

    data: Any
    format: str
    encoder: Any
    sources: list[Source]
    require_label: bool = True
    skip_bad: bool = False
    jobs: int = 2
    chunk: int = CHUNK
    options: ReadOptions = ReadOptions()
    limits: Limits = DEFAULT_LIMITS
    keep_blank: bool = False
    passthrough: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()  # columns that the user declared as numbers
    is_fitted: bool = True  # are the means and scales of the encoder known?
    report: ReadReport = field(default_factory=ReadReport)
    notes: list[str] = field(default_factory=list)  # what was inferred or skipped, one sentence each
    order: tuple[str, ...] | None = None  # the columns of the first file
    dialects: dict[str, Any] = field(default_factory=dict)  # of the files read so far
    classes: Classes | None = None  # known after `load` or `read_classes`
    names: dict[int, str] = field(default_factory=dict)  # of hashed columns, known after `load`
    _started: Any = field(default=None, init=False, repr=False)  # a pass whose first chunk the schema was inferred from

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_started": None}

    def __iter__(self) -> Iterator[RowBatch]:
        if not self.is_fitted:
            self.fit()
        for encoded in self._encoded():
            if self.keep_blank and encoded.blank:
                yield replace(encoded.batch, blank=encoded.blank)
            elif len(encoded.batch):
                yield encoded.batch

    @property
    def size(self) -> int:
        """Bytes that a pass over the data reads; 0 if unknown."""
        compressed = any(source.compression for source in self.sources)
        return 0 if compressed else sum(source.size for source in self.sources)

    def describe(self) -> str:
        """The way in which rows are encoded."""
        text: str = self.encoder.describe() if self.is_fitted else self.encoder.describe(is_fitted=False)
        return text

    @property
    def documents(self) -> list[str] | None:
        """The names of the documents, one per line; None if lines are not documents."""
        if not all(isinstance(source, Documents) for source in self.sources):
            return None
        return [path for source in self.sources if isinstance(source, Documents) for _, path in source.files]

    def fit(self) -> Dataset:
        """Read all rows for the means and scales of the number columns."""
        if not self.is_fitted:
            self.finish_fit(*self.column_stats())
        return self

    def column_stats(self) -> tuple[Any, int]:
        """The statistics of the number columns, and the number of rows."""
        from rosenblatt.encode.table import ColumnStats

        stats, rows = ColumnStats(len(self.encoder.numbers)), 0
        for encoded in self._encoded():
            stats.add(encoded.batch)
            rows += len(encoded.batch)
        return stats.finish(), rows

    def finish_fit(self, stats: Any, rows: int) -> Dataset:
        """Fit the encoder to the statistics of all rows."""
        self._check_rows(rows)
        self.encoder, self.is_fitted = stats.fit(self.encoder), True
        return self

    def load(self, *, is_regression: bool = False, memory: int | None = None) -> RowStore:
        """Read, parse and encode all rows once; then standardize them in place.

        Sets `classes` and `names`, and fits the encoder unless it comes from a model.
        """
        store = RowStore(memory)
        labels: dict[bytes, int] = {}
        hashed = self.encoder.hashed
        named = np.zeros(1 << self.encoder.bits if hashed else 0, bool)
        base = getattr(self.encoder, "base", 0)
        stats = None
        if not self.is_fitted:
            from rosenblatt.encode.table import ColumnStats

            stats = ColumnStats(len(self.encoder.numbers))
        self.names = {}
        for encoded in self._encoded(named if hashed else None):
            batch = encoded.batch
            for column, name in encoded.names.items():
                if not named[column - base]:
                    named[column - base] = True
                    self.names[column] = name
            if is_regression:
                store.append(batch, numbers_of(batch.labels)[batch.codes])
            else:
                places = np.zeros(len(batch.labels), np.int32)
                for code in np.unique(batch.codes).tolist():
                    places[code] = labels.setdefault(batch.labels[code], len(labels))
                self._check_class_count(labels)
                store.append(batch, places[batch.codes])
            if stats is not None:
                stats.add(batch)
        self._check_rows(len(store))
        if is_regression:
            store.finish()
        else:
            self.classes = self._classes_of(labels)
            self._note_labels(labels, len(store))
            store.finish(np.array([self.classes.code_of(label) for label in labels], np.int32))
        if stats is not None:
            self.finish_fit(stats, len(store))
            numbers = self.encoder.numbers
            store.standardize(np.array([c.mean for c in numbers]), np.array([c.scale for c in numbers]))
        return store

    def read_classes(self) -> Classes:
        """The classes of all labels, by a pass over the data unless it is loaded."""
        if self.classes is None:
            labels: dict[bytes, int] = {}
            for batch in self:
                labels.update((batch.labels[code], 0) for code in np.unique(batch.codes[batch.codes >= 0]).tolist())
                self._check_class_count(labels)
            self.classes = self._classes_of(labels)
        return self.classes

    def _classes_of(self, labels: dict[bytes, Any]) -> Classes:
        try:
            return Classes.of(list(labels))
        except FractionError as error:
            raise LabelError(f"{self._place_of(error.label)}: {error}") from None

    def _place_of(self, label: bytes) -> str:
        """The file, and the line of lines of text, where a label comes first."""
        lines: dict[str, int] = {}
        for name, chunk in self._chunks() if isinstance(self.encoder, LineEncoder) else ():
            before = lines.get(name, 0)
            if label in self.encoder.labels_in(chunk):
                each = bytes(chunk).split(b"\n")
                at = next(k for k, line in enumerate(each) if label in self.encoder.labels_in(line))
                return f"{name}, line {before + at + 1}"
            lines[name] = before + bytes(chunk).count(b"\n")
        return self.sources[0].name if self.sources else "the data"

    def find_names(self, columns: Any) -> dict[int, str]:
        """The names of these columns; those that are hashed are collected by `load`, else by another pass."""
        plain = {} if isinstance(self.encoder, LineEncoder) else self.encoder.plain_names()
        if self.encoder.hashed and not self.names:
            base = getattr(self.encoder, "base", 0)
            named = np.ones(1 << self.encoder.bits, bool)
            wanted = np.asarray(columns)
            named[wanted[wanted >= base] - base] = False
            for encoded in self._encoded(named):
                for column, name in encoded.names.items():
                    self.names.setdefault(column, name)
                    named[column - base] = True
                if named.all():
                    break
        known = self.names | plain
        return {int(column): known[int(column)] for column in columns if int(column) in known}

    def _check_rows(self, rows: int) -> None:
        """Raise if there are no rows, or if a column does not have the kind that its first rows had."""
        if not rows:
            weighted = " of a weight above 0" if getattr(self.encoder, "weight", None) else ""
            raise DataError(f"{self.sources[0].name if self.sources else 'the data'} has no rows{weighted}")
        from rosenblatt.encode.cells import mostly

        for name, cells in self.report.invalid.items():
            kind = next((column.kind for column in self.encoder.columns if column.name == name), "number")
            wrong, example = sum(cells.values()), max(cells, key=lambda word: cells[word] * (word != "…"))
            if name not in self.numbers and not mostly(rows - wrong, cells):
                number = f"--number {name}, " if kind == "number" else ""
                raise DataError(
                    f"column {name!r} was inferred as {kind}s, but {wrong:,} of {rows:,} cells are not (e.g. "
                    f"{example!r}); use {number}--category {name} or --drop {name}"
                )
            words = sorted(cells, key=lambda word: -cells[word])
            shown = ", ".join(repr(word[:40]) for word in words[:3]) + (", …" if len(words) > 3 else "")
            self.notes.append(f"{name}: a {kind}; {wrong:,} of {rows:,} cells are not and count as missing: {shown}")

    def _check_class_count(self, labels: dict[bytes, Any]) -> None:
        if len(labels) > self.limits.classes:
            first = next(iter(labels))
            hint = "numbers are learned by --learner pa1-regression" if is_plain_number(first) else "are they classes?"
            raise LabelError(
                f"there are more than {self.limits.classes:,} different labels, such as "
                f"{first.decode('utf-8', 'replace')!r}: {hint}; --read-limit classes=N allows more"
            )

    def _note_labels(self, labels: dict[bytes, Any], rows: int) -> None:
        label, count = getattr(self.encoder, "label", None) or "the label", len(labels)
        assert self.classes is not None
        values = self.classes.values
        if values.dtype.kind == "i":
            spellings = sorted(each.decode() for each in labels)
            if len(values) < count:
                shown = ", ".join(spellings[:6])
                self.notes.append(f"{label}: {count} spellings of {len(values)} whole numbers ({shown}) are classes")
        elif _MANY_LABELS < count > rows / 2:
            self.notes.append(
                f"{label}: {count:,} different labels in {rows:,} rows; is it the right column? --label names another"
            )

    def _encoded(self, named: NDArray[np.bool_] | None = None) -> Iterator[EncodedChunk]:
        """The encoded chunks in order, parsed by threads; errors name the file and the line."""
        self.report = ReadReport()
        live = any(source.live for source in self.sources)
        with ThreadPoolExecutor(max(1, self.jobs)) as pool:
            waiting: deque[tuple[str, int, str, Future[EncodedChunk]]] = deque()
            self._name, self._lines = "", 0
            for name, chunk in self._chunks():
                size, unit = (len(chunk), "") if isinstance(chunk, bytes | memoryview) else (chunk.size, chunk.unit)
                waiting.append((name, size, unit, pool.submit(self._encode, chunk, named)))
                # A live stream is answered before more of it is read.
                while len(waiting) > (0 if live else self.jobs + 1):
                    yield self._take(*waiting.popleft())
            while waiting:
                yield self._take(*waiting.popleft())

    def _encode(self, chunk: Any, named: NDArray[np.bool_] | None) -> EncodedChunk:
        if isinstance(self.encoder, LineEncoder):
            encoded = self.encoder.transform(chunk, require_label=self.require_label, named=named)
            return with_lines(encoded, bytes(chunk)) if self.passthrough else encoded
        cells = chunk.cells(self.passthrough) if self.passthrough else None
        parsed = chunk.parse(self.encoder)
        found: EncodedChunk = self.encoder.transform(parsed, require_label=self.require_label, cells=cells, named=named)
        return found

    def _take(self, name: str, size: int, unit: str, future: Future[EncodedChunk]) -> EncodedChunk:
        if name != self._name:
            self._name, self._lines = name, 0
        try:
            encoded = future.result()
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        for line, why in encoded.bad:
            place = f"line {self._lines + line + 1}" if not unit else f"{unit} {line + 1}"
            self._report_bad(f"{name}, {place}: {why}")
        self._lines += encoded.lines
        self.report.lines += encoded.lines
        self.report.bytes += size
        self.report.add_invalid(encoded.invalid)
        return encoded

    def _report_bad(self, sentence: str) -> None:
        if not self.skip_bad:
            error = DataError(sentence)
            error.add_note("skip_bad=True goes on without such lines")
            raise error
        self.report.bad += 1
        if len(self.report.first_bad) < 10:
            self.report.first_bad.append(sentence)

    def infer(self, **columns: Any) -> Dataset:
        """Infer the encoder of a table from its first chunk with rows."""
        from rosenblatt.encode.schema import infer_encoder
        from rosenblatt.encode.table import listed

        chunks = self._chunks()
        taken: list[Any] = []
        name, chunk, parsed = self.sources[0].name if self.sources else "the data", None, None
        for name, chunk in chunks:
            taken.append((name, chunk))
            try:
                parsed = chunk.parse()
            except DataError as error:
                raise DataError(f"{name}: {error}") from None
            if parsed.bad and not self.skip_bad:
                self._report_bad(f"{name}, {chunk.unit} {parsed.bad[0][0] + 1}: {parsed.bad[0][1]}")
            if parsed.table.num_rows:
                break
        dialect = getattr(chunk, "dialect", None)
        if parsed is None or not parsed.table.num_rows:
            headed = dialect is not None and dialect.header
            raise DataError(f"{name} has a header and no rows" if headed else f"{name} is empty")
        names = parsed.table.schema.names
        if len(names) == 1 and dialect is not None:
            raise DataError(f"{name} has only one column, {listed(names)!r}: --delimiter names the delimiter")
        options = self.options
        if dialect is not None:
            delimiter = None if dialect.delimiter in (",", "\t") else dialect.delimiter
            options = replace(options, decimal=dialect.decimal, delimiter=delimiter, header=None)
        try:
            self.encoder = infer_encoder(parsed.table.slice(0, _SAMPLE), options=options, **columns)
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        self.numbers, self.is_fitted = tuple(columns["number"]), False
        self._started = chain(taken, chunks)
        return self

    def _chunks(self) -> Iterator[tuple[str, Any]]:
        """Name of the source and chunk: lines of text, or a part of a table."""
        if self._started is not None:
            started, self._started = self._started, None
            yield from started
            return
        if self.format == "arrow":
            from rosenblatt.io.arrow import read_stream

            for chunk in read_stream(self.data, self.limits):
                yield "the data", chunk
            return
        types: dict[str, Any] = {}
        for source in self.sources:
            before = source.mtime_key
            if self.format in LINE_FORMATS:
                # Interactions take many times the memory of the lines that they are made from.
                size = min(self.chunk, 1 << 18) if self.encoder and self.encoder.interactions else self.chunk
                encoding = None if isinstance(source, Documents) else self.options.encoding
                for lines in iter_chunks(source, encoding=encoding, size=size):
                    yield source.name, lines if self.format == "svmlight" else to_utf8(lines)
            else:
                partitions = source.partitions
                for part in self._read_table(source, types):
                    yield source.name, Partitioned(part, partitions) if partitions else part
            if self.require_label and source.mtime_key != before:
                raise DataError(f"{source.name} changed while it was read")

    def _read_table(self, source: Source, types: dict[str, Any]) -> Iterator[Any]:
        columns = None if self.encoder is None or self.passthrough else list(self.encoder.kinds())
        if self.format in ("parquet", "feather"):
            from rosenblatt.io import arrow

            read = arrow.read_parquet if self.format == "parquet" else arrow.read_feather
            yield from read(source, columns)
        elif self.format == "npy":
            from rosenblatt.io.npy import read_npy

            yield from read_npy(source, partial(self._name_columns, source))
        elif self.format == "jsonl":
            from rosenblatt.io.json import read_json_lines

            yield from read_json_lines(source, types, encoding=self.options.encoding, size=self.chunk)
        elif self.format == "json":
            from rosenblatt.io.json import read_json

            yield from read_json(source, encoding=self.options.encoding)
        else:
            from rosenblatt.io.csv import read_csv

            yield from read_csv(source, partial(self._sniff, source), self.options, size=self.chunk)

    def _sniff(self, source: Source, head: bytes, whole: bool) -> Any:
        from rosenblatt.io.csv_sniffer import sniff_dialect

        if source.name in self.dialects:
            return self.dialects[source.name]
        known, label = self._known(source)
        saved = ReadOptions() if self.encoder is None else self.encoder.options
        tabs = self.format == "tsv"
        dialect = sniff_dialect(
            head,
            source.name,
            self.options,
            saved=saved,
            tabs=tabs,
            known=known,
            label=label,
            whole=whole,
            limits=self.limits,
        )
        if self.order is None:
            self.order = dialect.names
            self.notes.append(dialect.describe())
        self.dialects[source.name] = dialect
        return dialect

    def _name_columns(self, source: Source, count: int) -> tuple[str, ...]:
        """The names of the columns of an array without names."""
        from rosenblatt.io.csv_sniffer import column_names

        names = column_names(count, source.name, *self._known(source))
        if self.order is None:
            self.order = names
            self.notes.append(f"no names: its columns are called {names[0]} to {names[-1]}")
        return names

    def _known(self, source: Source) -> tuple[tuple[str, ...] | None, str | None]:
        """The columns in the order of the first file or of the training data, and the label among them."""
        if self.encoder is None:
            return self.order, None
        known = self.encoder.known() if self.order is None else self.order
        return tuple(name for name in known if name not in source.partitions), self.encoder.label


@dataclass
class Partitioned:
    """A chunk with the columns in the path of its file."""

    chunk: Any
    partitions: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.chunk, name)

    def parse(self, encoder: Any = None) -> Any:
        from rosenblatt.encode.arrow_numpy import pa, strings_from

        found = self.chunk.parse(encoder)
        table = found.table
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        for name, value in self.partitions.items():
            if name not in table.schema.names and (encoder is None or name in encoder.kinds()):
                table = table.append_column(name, strings_from([value] * table.num_rows))
        return replace(found, table=table)

    def cells(self, names: Sequence[str]) -> dict[str, list[Any]]:
        own = [name for name in self.partitions if name in names or "*" in names]
        cells: dict[str, list[Any]] = self.chunk.cells([name for name in names if name not in own])
        count = len(next(iter(cells.values()))) if cells else self.chunk.parse().table.num_rows
        return cells | {name: [self.partitions[name]] * count for name in own}


def open_dataset(
    data: Any,
    *,
    format: str | None = None,
    label: str | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    text: Sequence[str] = (),
    category: Sequence[str] = (),
    number: Sequence[str] = (),
    bits: int = BITS,
    grams: Grams = "pairs",
    interactions: Sequence[str] = (),
    encoder: Any = None,
    require_label: bool = True,
    skip_bad: bool = False,
    jobs: int = 2,
    delimiter: str | None = None,
    decimal: str | None = None,
    missing: Sequence[str] | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    query: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    sort_documents: bool = False,
    rewindable: bool = False,
) -> Dataset:
    """Open data: detect its format, dialect and column types.

    Parameters
    ----------
    data : path, list of paths, frame or database
        A file, a glob, a folder, an address, ``-`` for standard input; compressed (.gz, .bz2, .xz, .zst, .zip) or not;
        a pandas, Polars, DuckDB or pyarrow frame, a lazy frame, a pyarrow dataset; a table of a database such as
        ``sqlite:///file.db?table=people``. A folder with one subfolder per class holds one document per file.
    format : str, optional
        svmlight, vw, fasttext (``__label__x words``), tabbed (``label TAB text``), csv, tsv, jsonl, json, parquet,
        feather or npy. Detected by default.
    label : str, optional
        The column of the labels, by name or (from 1) by number. By default one with a telling name, else the last.
    weight : str, optional
        The column of sample weights; a row of weight 0 is as if absent.
    drop, text, category, number : sequence of str
        Columns to leave out, or whose kind is not to be inferred.
    bits, grams
        How names and words are hashed; see `LineEncoder`.
    interactions : sequence of str
        For vw: products of namespaces, such as ``["ab"]``; see `LineEncoder`.
    encoder : optional
        The encoder of a model: nothing is inferred then.
    delimiter, decimal, missing, encoding, header : optional
        How text is written: the delimiter, "." or ",", the words for a missing value, the encoding, and whether the
        first line names the columns. Inferred by default.
    sheet : str, optional
        The sheet of a workbook, by name or (from 1) by number.
    query : str, optional
        The SQL query of a database.
    limits : Limits
        Sizes beyond which data is refused.
    sort_documents : bool, default=False
        Documents in the order of their names, instead of alternating classes.
    rewindable : bool, default=False
        Copy standard input and pipes, to read them more than once.

    Returns
    -------
    Dataset
        Iterating over it gives the batches. The first iteration over columns makes one more pass, for means and scales.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data"
    >>> _ = path.write_text("+1 1:0.5 3:1\\n-1 2:1\\n")
    >>> [batch.X.toarray().tolist() for batch in open_dataset(path)]
    [[[0.0, 0.5, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]]
    """
    options = ReadOptions(delimiter, decimal, None if missing is None else tuple(missing), encoding, header)
    if encoder is not None:
        options = options.or_else(encoder.options)
    is_lines = isinstance(encoder, LineEncoder)
    sources: list[Source] = []
    data = _as_batches(data, query)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "to_batches"):
        found = "arrow"
    else:
        as_documents = is_lines and encoder.documents
        sources = expand_sources(data, limits, sort_documents=sort_documents, as_documents=as_documents, sheet=sheet)
        for k, source in enumerate(sources):
            if isinstance(source, Documents):
                source.encoding = options.encoding
            elif source.live and (encoder is None or rewindable or source.compression):
                sources[k] = Spooled.copy(source)
        if is_lines:
            found = encoder.format
        elif format is not None:
            found = check_format(format)
        else:
            found = format_of(sources[0], encoding)
    dataset = Dataset(data, found, encoder, sources, require_label, skip_bad, jobs, options=options, limits=limits)
    if encoder is not None:
        if (found in LINE_FORMATS) != is_lines:
            raise DataError(
                f"{sources[0].name} is in the format {found}, but the model was trained on columns of a table"
            )
        return dataset
    columns: dict[str, Any] = {
        "label": label,
        "weight": weight,
        "drop": drop,
        "text": text,
        "category": category,
        "number": number,
    }
    if found in LINE_FORMATS:
        for name, given in columns.items():
            if given:
                raise ParameterError(f"{name} names a column, and {found} lines have none")
        documents = isinstance(sources[0], Documents)
        dataset.encoder = LineEncoder(found, bits, grams, documents, tuple(interactions), options)
        return dataset
    if interactions:
        raise ParameterError(
            f"interactions join namespaces, which {found} does not have; --learner auto multiplies columns"
        )
    return dataset.infer(bits=bits, grams=grams, **columns)


def _as_batches(data: Any, query: str | None) -> Any:
    """Lazy frames collected, and addresses of databases as queries."""
    from rosenblatt.io.database import Query

    if isinstance(data, list | tuple) and len(data) == 1 and Query.is_address(data[0]):
        data = data[0]
    if Query.is_address(data):
        return Query(data, query)
    if query is not None:
        raise ParameterError("query: it is for a database, such as sqlite:///file.db")
    if type(data).__module__.startswith("polars") and hasattr(data, "collect"):
        return data.collect()
    return data


def iter_batches(data: Any, **options: Any) -> Iterator[RowBatch]:
    """The batches of any data; the options are those of `open_dataset`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "rows.svm")
    >>> _ = path.write_text("+1 1:0.5 3:1\\n-1 2:1\\n")
    >>> [len(batch) for batch in iter_batches(path)]
    [2]
    """
    return iter(open_dataset(data, **options))


def read(data: Any, *more: Any, **options: Any) -> Any:
    """All rows of any data, as one batch with `X`, `y` and `sample_weight`; the options are those of `open_dataset`.

    With several data sets, such as training and test rows, there is one batch for each: all are encoded as the first
    one, so that their columns match.

    Examples
    --------
    >>> import polars
    >>> rows = read(polars.DataFrame({"size": [1.0, 3.0], "kind": ["cat", "dog"]}))
    >>> rows.X.toarray().tolist(), rows.y.tolist()
    ([[-1.0], [1.0]], ['cat', 'dog'])
    >>> train, test = read(polars.DataFrame({"a": [0, 2], "y": [0, 1]}), polars.DataFrame({"a": [4], "y": [1]}))
    >>> test.X.toarray().tolist()
    [[3.0]]
    """
    first = open_dataset(data, **options)
    datasets = [first]
    batches = [_read_all(first)]
    reading = {k: v for k, v in options.items() if k in ("format", "skip_bad", "jobs", "limits", "sheet", "query")}
    for each in more:
        datasets.append(open_dataset(each, encoder=first.encoder, **reading))
        batches.append(_read_all(datasets[-1]))
    if not more:
        return batches[0]
    width = max(batch.features for batch in batches)
    return tuple(replace(batch, width=width) for batch in batches)


def _read_all(dataset: Dataset) -> RowBatch:
    batches = list(dataset)
    if not batches:
        raise DataError("the data has no rows")
    return join_batches(batches)


def check_classes(classes: Classes) -> Classes:
    """Raise unless there are two classes or more."""
    if len(classes) < 2:
        only = f"only one class, {repr(classes.values.tolist()[0])[:42]}" if len(classes) else "no labels"
        raise LabelError(f"the data has {only}: a classifier needs at least 2 classes")
    return classes


def format_of(source: Source, encoding: str | None = None) -> str:
    """The format of a source, by its first lines and its suffix."""
    head = source.peek() if isinstance(source, StandardInput) else read_head(source, _HEAD)
    return detect_format(source, head if head.startswith(NPY) else head_as_utf8(head, encoding))
