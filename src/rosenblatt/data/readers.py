"""Any data as batches of rows, never the whole of it at once.

Invariant: batches come in the order of the data, whatever the number of threads; joined, they do not depend on where
the data was cut.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rosenblatt import engine
from rosenblatt.data.batches import Batch, Classes, join_batches
from rosenblatt.data.chunks import CHUNK, iter_chunks, read_head
from rosenblatt.data.formats import LINE_FORMATS, check_format, guess_format
from rosenblatt.data.lines import BITS, Encoded, Grams, LineEncoder
from rosenblatt.data.sources import Source, Spooled, StandardInput, find_sources
from rosenblatt.errors import DataError, LabelError, ParameterError

_HEAD = 1 << 16


@dataclass
class Tally:
    """What a reader has met so far."""

    bytes: int = 0
    lines: int = 0
    bad: int = 0
    first_bad: list[str] = field(default_factory=list)


@dataclass
class Reader:
    """Data and the way to read it; iterating over it gives its batches, as often as wished.

    Parameters
    ----------
    data : path, list of paths, or object with ``__arrow_c_stream__``
        A path may be a file, a glob, a folder or ``-``.
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
    total: int = 0  # bytes of that pass

    def __iter__(self) -> Iterator[Batch]:
        self.tally = Tally()
        with ThreadPoolExecutor(max(1, self.jobs)) as pool:
            waiting: deque[tuple[str, int, int, Future[Encoded]]] = deque()
            self._name, self._lines = "", 0
            for name, size, before, piece in self._pieces():
                waiting.append((name, size, before, pool.submit(self._encode, piece)))
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
        """Bytes that a pass over the data reads; before the first, those on disk; 0 if unknown."""
        return self.total or sum(source.size for source in self.sources)

    def scan_classes(self) -> Classes:
        """The classes of the labels, by a look at the labels only where that is enough."""
        if self.classes is not None:
            return self.classes
        labels: dict[bytes, None] = {}
        if isinstance(self.encoder, LineEncoder) and not self.skip_bad:
            with ThreadPoolExecutor(max(1, self.jobs)) as pool:
                waiting: deque[Future[list[bytes]]] = deque()
                for _, size, _, chunk in self._pieces():
                    self.total += size
                    waiting.append(pool.submit(engine.scan_labels, np.frombuffer(chunk, np.uint8), self.format))
                    while len(waiting) > self.jobs + 1:
                        labels.update(dict.fromkeys(waiting.popleft().result()))
                for future in waiting:
                    labels.update(dict.fromkeys(future.result()))
        else:
            for batch in self:
                labels.update(dict.fromkeys(batch.labels))
            self.total = self.tally.bytes
        self.classes = Classes.of(list(labels))
        return self.classes

    def find_names(self, columns: Any, *, limit: int = 64 << 20) -> dict[int, str]:
        """The names of these columns, as far as the first `limit` bytes of the data hold those that are hashed."""
        plain = {} if isinstance(self.encoder, LineEncoder) else self.encoder.plain_names()
        names = {int(column): plain[int(column)] for column in columns if int(column) in plain}
        if not self.encoder.hashed:
            return names
        base = 0 if isinstance(self.encoder, LineEncoder) else self.encoder.base
        wanted = np.zeros(1 << self.encoder.bits, np.uint8)
        wanted[np.asarray(columns)[np.asarray(columns) >= base] - base] = 1

        def pieces() -> Iterator[Any]:
            seen = 0
            for _, size, _, piece in self._pieces():
                yield piece if isinstance(self.encoder, LineEncoder) else piece.table(self.encoder)
                seen += size
                if seen > limit:
                    return

        names.update(self.encoder.find_names(pieces(), wanted))
        return names

    def _pieces(self) -> Iterator[tuple[str, int, int, Any]]:
        """Name of the source, bytes, lines before it, and the piece."""
        if self.format == "arrow":
            from rosenblatt.data.arrow import iter_stream

            for before, piece in iter_stream(self.data):
                yield "the data", piece.data.nbytes, before, piece
            return
        for source in self.sources:
            if self.format in LINE_FORMATS:
                for chunk in iter_chunks(source, size=self.chunk):
                    yield source.name, len(chunk), 0, chunk
                continue
            from rosenblatt.data.arrow import iter_pieces

            for before, piece in iter_pieces(source, self.format, size=self.chunk):
                yield source.name, piece.data.nbytes, before, piece

    def _encode(self, piece: Any) -> Encoded:
        if isinstance(self.encoder, LineEncoder):
            return self.encoder.encode(piece, require_label=self.require_label)
        from rosenblatt.data.arrow import encode_piece

        return encode_piece(piece, self.encoder, require_label=self.require_label, skip_bad=self.skip_bad)

    def _take(self, item: tuple[str, int, int, Future[Encoded]]) -> Iterator[Batch]:
        name, size, before, future = item
        if name != self._name:
            self._name, self._lines = name, 0
        try:
            encoded = future.result()
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        self._lines += before
        for line, why in encoded.bad:
            sentence = f"{name}, line {self._lines + line + 1}: {why}"
            if not self.skip_bad:
                raise DataError(sentence)
            self.tally.bad += 1
            if len(self.tally.first_bad) < 10:
                self.tally.first_bad.append(sentence)
        self._lines += encoded.lines
        self.tally.lines += encoded.lines
        self.tally.bytes += size
        if len(encoded.batch):
            yield encoded.batch


def scan(
    data: Any,
    *,
    format: str | None = None,
    label: str | None = None,
    drop: Sequence[str] = (),
    text: Sequence[str] = (),
    category: Sequence[str] = (),
    bits: int = BITS,
    grams: Grams = "pairs",
    encoder: Any = None,
    require_label: bool = True,
    skip_bad: bool = False,
    jobs: int = 2,
) -> Reader:
    """Find out how data is to be read.

    Parameters
    ----------
    data : path, list of paths, or object with ``__arrow_c_stream__``
        A file, a glob, a folder, ``-`` for standard input; compressed (.gz, .xz, .zst) or not; or a pandas, Polars,
        DuckDB or pyarrow frame. A folder with a subfolder a class holds a document a file.
    format : str, optional
        svmlight, vw, fasttext (``__label__x words``), tabbed (``label TAB text``), csv, tsv, jsonl, parquet or feather.
        By default it is found out.
    label : str, optional
        The column of the labels, by name or (from 1) by number. By default one with a telling name, else the last.
    drop, text, category : sequence of str
        Columns to leave out, or to take for what they are named, against the guess.
    bits, grams
        How names and words are hashed; see `LineEncoder`.
    encoder : optional
        The encoder of a model: nothing is guessed then.

    Returns
    -------
    Reader
        Iterating over it gives the batches. For columns this needs a pass over the data, for means and scales.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data"
    >>> _ = path.write_text("+1 1:0.5 3:1\\n-1 2:1\\n")
    >>> [batch.X.toarray().tolist() for batch in scan(path)]
    [[[0.0, 0.5, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]]
    """
    sources: list[Source] = []
    if hasattr(data, "__arrow_c_stream__"):
        found = "arrow"
    else:
        sources = find_sources(data)
        if encoder is None:  # more than one pass is needed
            sources = [Spooled.copy(source) if source.live else source for source in sources]
        if isinstance(encoder, LineEncoder):
            found = encoder.format
        elif format is not None:
            found = check_format(format)
        else:
            found = format_of(sources[0])
    reader = Reader(data, found, encoder, sources, require_label, skip_bad, jobs)
    if encoder is not None:
        if (found in LINE_FORMATS) != isinstance(encoder, LineEncoder):
            raise DataError(
                f"{sources[0].name} is in the format {found}, but the model was trained on columns of a table"
            )
        return reader
    if found in LINE_FORMATS:
        for name, given in (("label", label), ("drop", drop), ("text", text), ("category", category)):
            if given:
                raise ParameterError(f"{name} names a column, and {found} lines have none")
        reader.encoder = LineEncoder(found, bits, grams)
        return reader
    from rosenblatt.data.arrow import sample_of
    from rosenblatt.data.columns import guess_columns

    first = next(reader._pieces(), None)
    if first is None:
        raise DataError(f"{sources[0].name if sources else 'the data'} is empty")
    name, _, before, piece = first
    sample, bad = sample_of(piece, skip_bad=skip_bad)
    if bad and not skip_bad:
        raise DataError(f"{name}, line {before + bad[0][0] + 1}: {bad[0][1]}")
    reader.encoder = guess_columns(sample, label=label, drop=drop, text=text, category=category, bits=bits, grams=grams)
    _look_through(reader)
    return reader


def iter_batches(data: Any, **options: Any) -> Iterator[Batch]:
    """The batches of any data; the options are those of `scan`."""
    return iter(scan(data, **options))


def read(data: Any, **options: Any) -> Batch:
    """All rows of any data, as one batch with `X`, `y` and `sample_weight`; the options are those of `scan`.

    Examples
    --------
    >>> import polars
    >>> rows = read(polars.DataFrame({"size": [1.0, 3.0], "kind": ["cat", "dog"]}))
    >>> rows.X.toarray().tolist(), rows.y.tolist()
    ([[-1.0], [1.0]], ['cat', 'dog'])
    """
    batches = list(scan(data, **options))
    if not batches:
        raise DataError("the data has no rows")
    return join_batches(batches)


def check_classes(classes: Classes) -> Classes:
    """Raise unless there are two classes or more."""
    if len(classes) < 2:
        only = f"one class only, {classes.values.tolist()[0]!r}" if len(classes) else "no labels"
        raise LabelError(f"the data has {only}: a classifier needs at least 2 classes")
    return classes


def format_of(source: Source) -> str:
    """The format of a source, by its ending and its first lines."""
    if isinstance(source, StandardInput):
        return guess_format(source, source.peek())
    return guess_format(source, read_head(source, _HEAD))


def _look_through(reader: Reader) -> None:
    """One pass over columns, for the means and scales of numbers and for the classes."""
    from rosenblatt.data.columns import Moments, labels_of

    moments, labels = Moments.of(reader.encoder), dict[bytes, None]()
    plain = replace(reader, encoder=reader.encoder.plain(), jobs=reader.jobs)
    if reader.skip_bad:  # only rows that can be read count
        for batch in plain:
            moments.add_rows(batch)
            labels.update(dict.fromkeys(batch.labels))
        reader.total = plain.tally.bytes
    else:
        for name, size, _, piece in reader._pieces():
            reader.total += size
            try:
                table = piece.table(reader.encoder)
                moments.add(reader.encoder, table)
                labels.update(dict.fromkeys(labels_of(reader.encoder, table)))
            except DataError as error:
                for _ in plain:  # says in which line
                    pass
                raise DataError(f"{name}: {error}") from None
    reader.encoder = moments.put_into(reader.encoder)
    reader.classes = Classes.of(list(labels))
