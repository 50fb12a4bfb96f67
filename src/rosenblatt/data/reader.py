"""The reader: data, the way to read it, and its batches.

Invariant: batches come in the order of the data, whatever the number of threads; joined, they do not depend on where
the data was cut.
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

from rosenblatt.data.bad_line import bad_line
from rosenblatt.data.batches import Batch, Classes, MeasurementError, Measures
from rosenblatt.data.chunks import CHUNK, iter_chunks
from rosenblatt.data.dialect import Dialect, Wishes, guess_dialect, names_of
from rosenblatt.data.finding import Documents
from rosenblatt.data.formats import LINE_FORMATS
from rosenblatt.data.limits import USUAL, Limits
from rosenblatt.data.lines import Encoded, LineEncoder, with_lines
from rosenblatt.data.sources import Source
from rosenblatt.data.tally import Tally
from rosenblatt.errors import DataError, LabelError


@dataclass
class Reader:
    """Data and the way to read it; iterating over it gives its batches, as often as wished.

    Parameters
    ----------
    data : path, list of paths, or object with ``__arrow_c_stream__``
        A path may be a file, a glob, a folder, an address or ``-``.
    format : str
        One of `rosenblatt.data.formats.FORMATS`, or "arrow".
    encoder : LineEncoder or ColumnEncoder
        From lines or columns to rows.
    require_label : bool, default=True
        Is a row without a label bad?
    skip_bad : bool, default=False
        Count bad lines in `tally` instead of raising.
    jobs : int, default=2
        Threads that parse.
    gaps : bool, default=False
        Say in `Batch.gaps` where lines gave no row, so that answers can line up with the lines.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "rows.svm")
    >>> _ = path.write_text("+1 1:0.5 3:1\\n-1 2:1\\n")
    >>> from rosenblatt.data import scan
    >>> reader = scan(path)
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
    wishes: Wishes = field(default_factory=Wishes)
    limits: Limits = USUAL
    gaps: bool = False
    passing: tuple[str, ...] = ()  # columns whose cells go into `Batch.passed`; ``*``: all, or the whole lines
    notes: list[str] = field(default_factory=list)  # what was decided about the data, a sentence each
    order: tuple[str, ...] | None = None  # the columns of the first file
    dialects: dict[str, Dialect] = field(default_factory=dict)  # of the files read so far

    def __iter__(self) -> Iterator[Batch]:
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

    def likely_classes(self, *, measures: bool = False) -> Classes:
        """The classes, or those of the first lines, which may be all: then the data need not be read for them alone.

        Who asks must be ready for a label that is not among them. Of measurements all are given.
        """
        known = measures or self.classes is not None or self.labels is not None
        if not known and isinstance(self.encoder, LineEncoder) and not self.skip_bad:
            labels: dict[bytes, None] = {}
            for _, _, chunk in islice(self._pieces(), 1):
                self.add_labels(labels, self.encoder.labels_of(chunk), self.limits.classes)
            with suppress(MeasurementError):  # which texts that come later may make names of
                if len(found := Classes.of(list(labels))) > 1:
                    return found
        return self.scan_classes(measures=measures)

    def scan_classes(self, *, measures: bool = False) -> Classes:
        """The classes of the labels, or their numbers if they are measurements.

        A look at the labels is taken only, where that is enough.
        """
        if self.classes is not None and isinstance(self.classes, Measures) == measures:
            return self.classes
        most = None if measures else self.limits.classes
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
        self.classes = self._classes_of(labels, Measures if measures else Classes)
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
                f"{next(iter(labels)).decode('utf-8', 'replace')!r}: are they classes? --limit classes=N allows more"
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
            from rosenblatt.data.arrow import iter_stream

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
            from rosenblatt.data.arrow import iter_parquet

            yield from iter_parquet(source)
        elif self.format == "feather":
            from rosenblatt.data.arrow import iter_feather

            yield from iter_feather(source)
        elif self.format == "npy":
            from rosenblatt.data.npy import iter_npy

            yield from iter_npy(source, partial(self._name_columns, source))
        elif self.format in ("jsonl", "json"):
            from rosenblatt.data.objects import iter_objects

            yield from iter_objects(source, self.format, hints, encoding=self.wishes.encoding, size=self.chunk)
        else:
            from rosenblatt.data.separated import iter_separated

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
        from rosenblatt.data.pieces import encode_piece

        return encode_piece(piece, self.encoder, require_label=self.require_label, passing=self.passing)

    def _take(self, item: tuple[str, int, Any, Future[Encoded]]) -> Iterator[Batch]:
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
