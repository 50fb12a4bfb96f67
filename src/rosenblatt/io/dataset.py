"""A dataset: sources, the way to read them, and their batches.

Invariant: batches come in the order of the data, whatever the number of threads; joined, they do not depend on how the
data is cut into chunks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from rosenblatt.data.batch import Classes, MeasurementError, Measures, RowBatch, join_batches, number_of
from rosenblatt.encode.arrow_numpy import places_from
from rosenblatt.encode.cells import MISSING, mostly
from rosenblatt.encode.lines import BITS, Encoded, Grams, LineEncoder, with_lines
from rosenblatt.encode.schema import guess_columns
from rosenblatt.encode.table import ColumnEncoder, Moments, labels_of, listed
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.io.csv_sniffer import Dialect, ReadOptions, guess_dialect, names_of
from rosenblatt.io.formats import LINE_FORMATS, NPY, check_format, guess_format
from rosenblatt.io.limits import DEFAULT_LIMITS, Limits
from rosenblatt.io.source import Documents, Source, Spooled, StandardInput, expand_sources
from rosenblatt.io.text import CHUNK, head_as_utf8, iter_chunks, read_head


def bad_line(sentence: str) -> DataError:
    """The error that says so; its note is the way to go on."""
    error = DataError(sentence)
    error.add_note("skip_bad=True goes on without such lines")
    return error


@dataclass
class Tally:
    """What a reader has met so far."""

    bytes: int = 0
    lines: int = 0
    bad: int = 0
    first_bad: list[str] = field(default_factory=list)
    strange: dict[str, dict[str, int]] = field(default_factory=dict)  # cells that are not what their column is

    def add_strange(self, found: dict[str, dict[str, int]]) -> None:
        if not found:
            return  # pyarrow takes longer to load than a small file to learn
        from rosenblatt.encode.cells import merge_strange

        for name, words in found.items():
            merge_strange(self.strange.setdefault(name, {}), words)


@dataclass
class Dataset:
    """Data and the way to read it; iterating over it gives its batches, as often as wished.

    Parameters
    ----------
    data : path, list of paths, or object with ``__arrow_c_stream__``
        A path may be a file, a glob, a folder, an address or ``-``.
    format : str
        One of `rosenblatt.io.formats.FORMATS`, or "arrow".
    encoder : LineEncoder or ColumnEncoder
        From lines or columns to rows.
    require_label : bool, default=True
        Is a row without a label bad?
    skip_bad : bool, default=False
        Count bad lines in `tally` instead of raising.
    jobs : int, default=2
        Threads that parse.
    gaps : bool, default=False
        Say in `RowBatch.gaps` where lines gave no row, so that answers can line up with the lines.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "rows.svm")
    >>> _ = path.write_text("+1 1:0.5 3:1\\n-1 2:1\\n")
    >>> from rosenblatt.io import open_dataset
    >>> reader = open_dataset(path)
    >>> reader.format, [len(batch) for batch in reader]
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
    tally: Tally = field(default_factory=Tally)
    classes: Classes | None = None  # those that a pass over the data has found
    labels: dict[bytes, None] | None = None  # as they are written, where a look at a whole table has found them
    total: int = 0  # bytes of that pass
    wishes: ReadOptions = field(default_factory=ReadOptions)
    limits: Limits = DEFAULT_LIMITS
    gaps: bool = False
    passing: tuple[str, ...] = ()  # columns whose cells go into `RowBatch.passed`; ``*``: all, or the whole lines
    notes: list[str] = field(default_factory=list)  # what was decided about the data, a sentence each
    order: tuple[str, ...] | None = None  # the columns of the first file
    dialects: dict[str, Dialect] = field(default_factory=dict)  # of the files read so far

    def __iter__(self) -> Iterator[RowBatch]:
        self.tally = Tally()
        with ThreadPoolExecutor(max(1, self.jobs)) as pool:
            waiting: deque[tuple[str, int, Any, Future[Encoded]]] = deque()
            self._name, self._lines = "", 0
            for name, size, piece in self._pieces():
                waiting.append((name, size, piece, pool.submit(self._encode, piece)))
                # A live stream answers what has come before it asks for more.
                while len(waiting) > (0 if self._live else self.jobs + 1):
                    yield from self._take(waiting.popleft())
            while waiting:
                yield from self._take(waiting.popleft())

    @property
    def _live(self) -> bool:
        return any(source.live for source in self.sources)

    @property
    def size(self) -> int:
        """Bytes that a pass over the data reads; 0 if unknown."""
        read_or_packed = self.total or any(source.packed for source in self.sources)
        return self.total if read_or_packed else sum(source.size for source in self.sources)

    @property
    def documents(self) -> list[str] | None:
        """The names of the documents, one for each line; None if the lines are no documents."""
        if not all(isinstance(source, Documents) for source in self.sources):
            return None
        return [path for source in self.sources if isinstance(source, Documents) for _, path in source.files]

    def likely_classes(self, *, is_regression: bool = False) -> Classes:
        """The classes, or those of the first lines, which may be all: then the data need not be read for them alone.

        Who asks must be ready for a label that is not among them. Of measurements all are given.
        """
        known = is_regression or self.classes is not None or self.labels is not None
        if not known and isinstance(self.encoder, LineEncoder) and not self.skip_bad:
            labels: dict[bytes, None] = {}
            for _, _, chunk in islice(self._pieces(), 1):
                self.add_labels(labels, self.encoder.labels_of(chunk), self.limits.classes)
            with suppress(MeasurementError):  # which texts that come later may make names of
                if len(found := Classes.of(list(labels))) > 1:
                    return found
        return self.scan_classes(is_regression=is_regression)

    def scan_classes(self, *, is_regression: bool = False) -> Classes:
        """The classes of the labels, or their numbers if they are measurements.

        A look at the labels is taken only, where that is enough.
        """
        if self.classes is not None and isinstance(self.classes, Measures) == is_regression:
            return self.classes
        most = None if is_regression else self.limits.classes
        labels: dict[bytes, None] = {}
        if self.labels is not None:
            self.add_labels(labels, list(self.labels), most)
        elif isinstance(self.encoder, LineEncoder) and not self.skip_bad:
            with ThreadPoolExecutor(max(1, self.jobs)) as pool:
                waiting: deque[Future[list[bytes]]] = deque()
                for _, size, chunk in self._pieces():
                    self.total += size
                    waiting.append(pool.submit(self.encoder.labels_of, chunk))
                    while len(waiting) > self.jobs + 1:
                        self.add_labels(labels, waiting.popleft().result(), most)
                for future in waiting:
                    self.add_labels(labels, future.result(), most)
            if not labels:  # reading a line says what is wrong with it
                next(iter(self), None)
        else:
            for batch in self:
                self.add_labels(labels, batch.labels, most)
            self.total = self.tally.bytes
        self.classes = self._classes_of(labels, Measures if is_regression else Classes)
        return self.classes

    def _classes_of(self, labels: dict[bytes, None], kind: type[Classes]) -> Classes:
        try:
            return kind.of(list(labels))
        except MeasurementError as error:
            where = next((source.name for source in self.sources), "the data")
            if isinstance(self.encoder, LineEncoder):
                where = self.encoder.place_of(error.label, self._pieces())
            raise LabelError(f"{where}: {error}") from None

    def add_labels(self, labels: dict[bytes, None], found: Sequence[bytes], most: int | None) -> None:
        """With those that were found, of which there may be at most so many."""
        labels.update(dict.fromkeys(found))
        if most is not None and len(labels) > most:
            raise LabelError(
                f"there are more than {most:,} different labels, such as "
                f"{next(iter(labels)).decode('utf-8', 'replace')!r}: are they classes? --read-limit classes=N, "
                "or for numbers --learner pa1-regression"
            )

    def find_names(self, columns: Any) -> dict[int, str]:
        """The names of these columns; for those that are hashed the data are read again, until all are found."""
        plain = {} if isinstance(self.encoder, LineEncoder) else self.encoder.plain_names()
        names = {int(column): plain[int(column)] for column in columns if int(column) in plain}
        if not self.encoder.hashed:
            return names
        base = 0 if isinstance(self.encoder, LineEncoder) else self.encoder.base
        wanted = np.zeros(1 << self.encoder.bits, np.uint8)
        wanted[np.asarray(columns)[np.asarray(columns) >= base] - base] = 1

        is_text = isinstance(self.encoder, LineEncoder)
        pieces = (piece if is_text else piece.rows(self.encoder).table for _, _, piece in self._pieces())
        names.update(self.encoder.find_names(pieces, wanted))
        return names

    def _pieces(self) -> Iterator[tuple[str, int, Any]]:
        """Name of the source, bytes, and the piece: a chunk of lines, or a `Piece` of a table."""
        if self.format == "arrow":
            from rosenblatt.io.arrow import iter_stream

            for piece in iter_stream(self.data, self.limits):
                yield "the data", piece.size, piece
            return
        hints: dict[str, Any] = {}
        for source in self.sources:
            before = source.moment
            if self.format in LINE_FORMATS:
                # Products take many times the room of the lines that they are made from.
                size = min(self.chunk, 1 << 18) if self.encoder and self.encoder.interactions else self.chunk
                for chunk in iter_chunks(source, encoding=self.wishes.encoding, size=size):
                    yield source.name, len(chunk), chunk
            else:
                for piece in self._table_pieces(source, hints):
                    yield source.name, piece.size, piece
            # What is learned in several passes, or kept, must be the same in all of them.
            if self.require_label and source.moment != before:
                raise DataError(f"{source.name} changed while it was read")

    def _table_pieces(self, source: Source, hints: dict[str, Any]) -> Iterator[Any]:
        if self.format == "parquet":
            from rosenblatt.io.arrow import iter_parquet

            yield from iter_parquet(source)
        elif self.format == "feather":
            from rosenblatt.io.arrow import iter_feather

            yield from iter_feather(source)
        elif self.format == "npy":
            from rosenblatt.io.npy import iter_npy

            yield from iter_npy(source, partial(self._name_columns, source))
        elif self.format in ("jsonl", "json"):
            from rosenblatt.io.json import iter_objects

            yield from iter_objects(source, self.format, hints, encoding=self.wishes.encoding, size=self.chunk)
        else:
            from rosenblatt.io.csv import iter_separated

            find = partial(self._find_dialect, source)
            yield from iter_separated(source, find, encoding=self.wishes.encoding, size=self.chunk)

    def _find_dialect(self, source: Source, head: bytes, whole: bool) -> Dialect:
        if source.name in self.dialects:
            return self.dialects[source.name]
        known, label = self._known()
        tabs = self.format == "tsv"
        dialect = guess_dialect(
            head, source.name, self.wishes, tabs=tabs, known=known, label=label, whole=whole, limits=self.limits
        )
        if self.order is None:
            self.order = dialect.names
            self.notes.append(dialect.describe())
        self.dialects[source.name] = dialect
        return dialect

    def _name_columns(self, source: Source, count: int) -> tuple[str, ...]:
        """What the columns of an array without names are called."""
        names = names_of(count, source.name, *self._known())
        if self.order is None:
            self.order = names
            self.notes.append(f"no names: its columns are called {names[0]} to {names[-1]}")
        return names

    def _known(self) -> tuple[tuple[str, ...] | None, str | None]:
        """The columns in the order of the first file or of the training data, and the label among them."""
        if self.encoder is None:
            return self.order, None
        return self.encoder.known() if self.order is None else self.order, self.encoder.label

    def _encode(self, piece: Any) -> Encoded:
        if isinstance(self.encoder, LineEncoder):
            encoded = self.encoder.encode(piece, require_label=self.require_label)
            return with_lines(encoded, bytes(piece)) if self.passing else encoded
        from rosenblatt.encode.table import encode_piece

        return encode_piece(piece, self.encoder, require_label=self.require_label, passing=self.passing)

    def _take(self, item: tuple[str, int, Any, Future[Encoded]]) -> Iterator[RowBatch]:
        name, size, piece, future = item
        if name != self._name:
            self._name, self._lines = name, 0
        try:
            encoded = future.result()
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        lines = isinstance(self.encoder, LineEncoder)
        unit, before = ("line", self._lines) if lines else (piece.unit, 0)
        for line, why in encoded.bad:
            sentence = f"{name}, {unit} {before + line + 1}: {why}"
            if not self.skip_bad:
                raise bad_line(sentence)
            self.tally.bad += 1
            if len(self.tally.first_bad) < 10:
                self.tally.first_bad.append(sentence)
        self._lines += encoded.lines
        self.tally.lines += encoded.lines
        self.tally.bytes += size
        self.tally.add_strange(encoded.strange)
        if self.gaps and encoded.gaps:
            yield replace(encoded.batch, gaps=encoded.gaps)
        elif len(encoded.batch):
            yield encoded.batch


_MANY_LABELS = 20
SAMPLE = 20_000  # rows that a guess is made from


@dataclass
class Look:
    """What a pass over a table, or over a part of it, has found."""

    moments: Moments
    labels: dict[bytes, None]
    rows: int
    bytes: int
    strange: dict[str, dict[str, int]]

    def joined(self, later: Look) -> Look:
        """With what a look at a later part has found."""
        tally = Tally(strange={name: dict(words) for name, words in self.strange.items()})
        tally.add_strange(later.strange)
        return Look(
            self.moments.joined(later.moments),
            self.labels | later.labels,
            self.rows + later.rows,
            self.bytes + later.bytes,
            tally.strange,
        )


def look_through(reader: Dataset, *, number: Sequence[str], **columns: Any) -> Dataset:
    """The reader with an encoder for its columns."""
    guess(reader, number, columns)
    return conclude(reader, number, look(reader))


def look(reader: Dataset) -> Look:
    """A pass over all pieces of a reader whose columns are guessed."""
    encoder: ColumnEncoder = reader.encoder
    found, tally = Look(Moments.of(encoder), {}, 0, 0, {}), Tally()
    for name, size, piece in reader._pieces():
        found.bytes += size
        try:
            rows = piece.rows(encoder)
            faults = encoder.faults(rows.table, require_label=True)
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        bad = sorted([*rows.bad, *((int(rows.places[row]), why) for row, why in faults.items())])
        if bad and not reader.skip_bad:
            raise bad_line(f"{name}, {piece.unit} {bad[0][0] + 1}: {bad[0][1]}")
        table = rows.table
        if faults:
            table = table.take(places_from(np.setdiff1d(np.arange(table.num_rows), list(faults))))
        if encoder.weight is not None:  # a row of weight 0 is as if absent
            table = table.take(places_from(np.flatnonzero(encoder.weights_in(table))))
        tally.add_strange(rows.strange)
        found.moments.add(encoder, table)
        names = labels_of(encoder, table)
        measured = bool(names) and number_of(names[0]) is not None  # then there may be as many as rows
        reader.add_labels(found.labels, names, None if measured else reader.limits.classes)
        found.rows += table.num_rows
    found.strange = tally.strange
    return found


def conclude(reader: Dataset, number: Sequence[str], found: Look) -> Dataset:
    """The reader with the means, scales and classes of what was found in all of its data."""
    if not found.rows:
        of_weight = " of a weight above 0" if getattr(reader.encoder, "weight", None) else ""
        raise DataError(f"{reader.sources[0].name if reader.sources else 'the data'} has no rows{of_weight}")
    reader.total += found.bytes
    reader.tally.add_strange(found.strange)
    _settle(reader, number, found.rows)
    reader.encoder = found.moments.put_into(reader.encoder)
    reader.labels = found.labels
    if _MANY_LABELS < len(found.labels) > found.rows / 2 and number_of(next(iter(found.labels))) is None:
        reader.notes.append(
            f"{reader.encoder.label}: {len(found.labels):,} different labels in {found.rows:,} rows, so that most are "
            "met once: is it the right column? --label names another"
        )
    return reader


def guess(reader: Dataset, number: Sequence[str], columns: dict[str, Any]) -> None:
    """Put an encoder into the reader, by the look of its first piece."""
    piece = rows = None
    name = reader.sources[0].name if reader.sources else "the data"
    for name, _, piece in reader._pieces():  # the first that has rows; the header may stand in one alone
        try:
            rows = piece.rows()
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        if rows.bad and not reader.skip_bad:
            raise bad_line(f"{name}, {piece.unit} {rows.bad[0][0] + 1}: {rows.bad[0][1]}")
        if rows.table.num_rows:
            break
    dialect = getattr(piece, "dialect", None)
    if rows is None or not rows.table.num_rows:
        headed = dialect is not None and dialect.header
        raise DataError(f"{name} has a header and no rows" if headed else f"{name} is empty")
    decimal = "." if dialect is None else dialect.decimal
    missing = MISSING if dialect is None or dialect.missing is None else dialect.missing
    names = rows.table.schema.names
    if len(names) == 1 and dialect is not None:
        raise DataError(f"{name} has one column only, called {listed(names)!r}: --delimiter says what divides cells")
    try:
        reader.encoder = guess_columns(
            rows.table.slice(0, SAMPLE), number=number, decimal=decimal, missing=missing, **columns
        )
    except DataError as error:
        raise DataError(f"{name}: {error}") from None


def _settle(reader: Dataset, number: Sequence[str], count: int) -> None:
    """Say which cells were not what their column is; too many of them are an error, unless the user said what it is."""
    for name, strange in reader.tally.strange.items():
        kind = next((column.kind for column in reader.encoder.columns if column.name == name), "number")
        wrong, example = sum(strange.values()), max(strange, key=lambda word: strange[word])
        if name not in number and not mostly(count - wrong, strange):
            others = f"--number {name}, " if kind == "number" else ""
            raise DataError(
                f"the column {name!r} looked like {kind}s at first, but {wrong:,} of {count:,} cells are none, such as "
                f"{example!r}: say {others}--category {name} or --drop {name}"
            )
        words = sorted(strange, key=lambda word: -strange[word])
        shown = ", ".join(repr(word[:40]) for word in words[:3]) + (", …" if len(words) > 3 else "")
        reader.notes.append(f"{name}: a {kind}; {wrong:,} of {count:,} cells were not, taken as missing: {shown}")


_HEAD = 1 << 16


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
    limits: Limits = DEFAULT_LIMITS,
    in_order: bool = False,
    often: bool = False,
    look: bool = True,
) -> Dataset:
    """Find out how data is to be read.

    Parameters
    ----------
    data : path, list of paths, or object with ``__arrow_c_stream__``
        A file, a glob, a folder, an address, ``-`` for standard input; compressed (.gz, .bz2, .xz, .zst, .zip) or not;
        or a pandas, Polars, DuckDB or pyarrow frame. A folder with a subfolder for each class holds a document a file.
    format : str, optional
        svmlight, vw, fasttext (``__label__x words``), tabbed (``label TAB text``), csv, tsv, jsonl, json, parquet,
        feather or npy. By default it is found out.
    label : str, optional
        The column of the labels, by name or (from 1) by number. By default one with a telling name, else the last.
    weight : str, optional
        The column that says how much each row counts; a row of weight 0 is as if absent.
    drop, text, category, number : sequence of str
        Columns to leave out, or to take for what they are named, against the guess.
    bits, grams
        How names and words are hashed; see `LineEncoder`.
    interactions : sequence of str
        For vw: products of namespaces, such as ``["ab"]``; see `LineEncoder`.
    encoder : optional
        The encoder of a model: nothing is guessed then.
    delimiter, decimal, missing, encoding, header : optional
        How text is written: what stands between cells, "." or ",", the words for a missing value, the encoding, and
        whether the first line names the columns. By default they are found out.
    limits : Limits
        What is refused because it is too large.
    in_order : bool, default=False
        Documents in the order of their names, instead of the classes in turns.
    often : bool, default=False
        Read more than once: a copy is kept of standard input and of pipes.
    look : bool, default=True
        False leaves the pass over a table to the caller: its columns are guessed, without means and scales.

    Returns
    -------
    Dataset
        Iterating over it gives the batches. For columns this needs a pass over the data, for means and scales.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data"
    >>> _ = path.write_text("+1 1:0.5 3:1\\n-1 2:1\\n")
    >>> [batch.X.toarray().tolist() for batch in open_dataset(path)]
    [[[0.0, 0.5, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]]
    """
    wishes = ReadOptions(delimiter, decimal, None if missing is None else tuple(missing), encoding, header)
    sources: list[Source] = []
    if hasattr(data, "__arrow_c_stream__"):
        found = "arrow"
    else:
        as_documents = isinstance(encoder, LineEncoder) and encoder.documents
        sources = expand_sources(data, limits, in_order=in_order, as_documents=as_documents)
        # More than one pass is needed, or it has to be unpacked.
        sources = [
            Spooled.copy(source) if source.live and (encoder is None or often or source.packed) else source
            for source in sources
        ]
        if isinstance(encoder, LineEncoder):
            found = encoder.format
        elif format is not None:
            found = check_format(format)
        else:
            found = format_of(sources[0], encoding)
    reader = Dataset(data, found, encoder, sources, require_label, skip_bad, jobs, wishes=wishes, limits=limits)
    if encoder is not None:
        if (found in LINE_FORMATS) != isinstance(encoder, LineEncoder):
            raise DataError(
                f"{sources[0].name} is in the format {found}, but the model was trained on columns of a table"
            )
        return reader
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
        reader.encoder = LineEncoder(found, bits, grams, isinstance(sources[0], Documents), tuple(interactions))
        return reader
    if interactions:
        raise ParameterError(
            f"interactions join namespaces, which {found} has none of; columns are multiplied without them, where that "
            "helps (--learner auto)"
        )

    if look:
        return look_through(reader, bits=bits, grams=grams, **columns)
    guess(reader, columns.pop("number"), columns | {"bits": bits, "grams": grams})
    return reader


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


def read(data: Any, **options: Any) -> RowBatch:
    """All rows of any data, as one batch with `X`, `y` and `sample_weight`; the options are those of `open_dataset`.

    Examples
    --------
    >>> import polars
    >>> rows = read(polars.DataFrame({"size": [1.0, 3.0], "kind": ["cat", "dog"]}))
    >>> rows.X.toarray().tolist(), rows.y.tolist()
    ([[-1.0], [1.0]], ['cat', 'dog'])
    """
    batches = list(open_dataset(data, **options))
    if not batches:
        raise DataError("the data has no rows")
    return join_batches(batches)


def check_classes(classes: Classes) -> Classes:
    """Raise unless there are two classes or more, or a number."""
    if len(classes) < (1 if isinstance(classes, Measures) else 2):
        only = f"one class only, {repr(classes.values.tolist()[0])[:42]}" if len(classes) else "no labels"
        raise LabelError(f"the data has {only}: a classifier needs at least 2 classes")
    return classes


def format_of(source: Source, encoding: str | None = None) -> str:
    """The format of a source, by its first lines and its ending."""
    head = source.peek() if isinstance(source, StandardInput) else read_head(source, _HEAD)
    return guess_format(source, head if head.startswith(NPY) else head_as_utf8(head, encoding))
