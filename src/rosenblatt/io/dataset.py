"""A dataset: sources, how to read them, and their batches.

Invariant: batches come in the order of the data, whatever the number of threads; joined, they do not depend on how the
data is cut into chunks or files. `load` reads and parses everything once.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from pkgutil import resolve_name
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import EncodedChunk, Names, RowBatch, RowStore
from rosenblatt.data.labels import Classes, FractionError, is_plain_number
from rosenblatt.encode.lines import LINE_FORMATS, LineEncoder
from rosenblatt.encode.options import BITS, DEFAULT_LIMITS, Grams, Limits, ReadOptions, idf_weights
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.io.formats import FORMATS, READERS, SUFFIXES, detect_format
from rosenblatt.io.source import CHUNK, Documents, Frame, Source, Spooled, expand_sources, iter_chunks

_HEAD = 1 << 16
_MANY_LABELS = 20


@dataclass
class ReadReport:
    """Counts of a pass over the data."""

    lines: int = 0
    bad: int = 0
    first_bad: list[str] = field(default_factory=list)
    invalid: dict[str, Counter[str]] = field(default_factory=dict)  # cells that do not fit the kind of their column

    def add_invalid(self, found: Mapping[str, Mapping[str, int]]) -> None:
        """Add up counts."""
        for column, cells in found.items():
            self.invalid.setdefault(column, Counter()).update(cells)


def describe_invalid(name: str, cells: Mapping[str, int]) -> str:
    """A sentence about the cells of a column that were read as missing, with their counts."""
    examples = ", ".join(repr(cell[:40]) for cell in list(cells)[:3]) + (", …" if len(cells) > 3 else "")
    count = sum(cells.values())
    return f"{name}: read {count:,} cell{'s' if count > 1 else ''} as missing: {examples}"


@dataclass
class Dataset:
    """Data and how to read it; iterating gives its batches, any number of times.

    Parameters
    ----------
    sources : list of Source
    format : str
        One of `rosenblatt.io.formats.FORMATS`, or "arrow".
    encoder : LineEncoder or TableEncoder
        From lines or columns to rows.
    require_label : bool, default=True
        Raise for a row without a label.
    skip_bad : bool, default=False
        Count bad lines in `report` instead of raising.
    jobs : int, default=2
        Threads that parse.
    keep_blank : bool, default=False
        Give batches without rows too, so that predictions line up with lines by `RowBatch.blank`.
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

    sources: list[Source]
    format: str
    encoder: Any
    require_label: bool = True
    skip_bad: bool = False
    jobs: int = 2
    chunk: int = CHUNK
    options: ReadOptions = ReadOptions()
    limits: Limits = DEFAULT_LIMITS
    keep_blank: bool = False
    passthrough: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()  # columns that the user declared as numbers
    report: ReadReport = field(default_factory=ReadReport)
    notes: list[str] = field(default_factory=list)  # what was inferred or skipped, one sentence each
    order: tuple[str, ...] | None = None  # the columns of the first file
    dialects: dict[str, Any] = field(default_factory=dict)  # of the files read so far
    classes: Classes = field(default_factory=lambda: Classes(np.empty(0)))  # of all labels, after `load`
    _names: list[Names] = field(default_factory=list, init=False, repr=False)  # of hashed columns, after `load`
    _frequencies: NDArray[np.int64] | None = field(default=None, init=False, repr=False)  # texts per hashed column
    _label_kind: str = field(default="", init=False, repr=False)  # NumPy's, of the labels of a frame
    _started: Any = field(default=None, init=False, repr=False)  # a pass whose first chunk the schema was inferred from

    def __iter__(self) -> Iterator[RowBatch]:
        self.fit()
        for _, encoded in self._encoded():
            if len(encoded.batch) or (self.keep_blank and encoded.batch.blank):
                yield encoded.batch

    @property
    def name(self) -> str:
        """The first source, for errors."""
        return self.sources[0].name

    @cached_property
    def documents(self) -> list[str] | None:
        """The names of the documents, one per line; None if lines are not documents."""
        if not all(isinstance(source, Documents) for source in self.sources):
            return None
        return [path for source in self.sources if isinstance(source, Documents) for _, path in source.files]

    def fit(self) -> Dataset:
        """Read all rows for the means and scales of the number columns."""
        if not self.encoder.is_fitted:
            self.fit_to(self.encode_rows())
        return self

    def encode_rows(self) -> RowStore:
        """All rows as the encoder, which may not be fitted, encodes them."""
        store = RowStore()
        for _, encoded in self._encoded():
            store.append(encoded.batch)
        store.finish()
        return store

    def fit_numbers(self, stats: Any, rows: int) -> None:
        """Fit the number columns to the statistics of all rows."""
        self._check_rows(rows)
        self.encoder = stats.fit(self.encoder)

    def fit_to(self, store: RowStore) -> None:
        """Fit the encoder to the stored rows, and finish encoding these in place."""
        if not isinstance(self.encoder, LineEncoder):
            self.fit_numbers(self.encoder.stats_of(store.batch()), len(store))
            numbers = self.encoder.numbers
            store.standardize(np.array([c.mean for c in numbers]), np.array([c.scale for c in numbers]))
        if self._frequencies is not None:
            base, count = self.encoder.base, len(self._frequencies)
            idf = idf_weights(self._frequencies, store.squares(base, count), len(store))
            self.encoder = replace(self.encoder, idf=idf)
            store.multiply(idf, base)

    def load(self, *, is_regression: bool = False, memory: int | None = None) -> RowStore:
        """Read, parse and encode all rows once; then standardize them in place.

        Sets `classes`, collects names of columns, and fits the encoder unless it comes from a model.
        """
        store, places = RowStore(memory), dict[bytes, str]()
        for place, encoded in self._encoded(with_names=True):
            batch = encoded.batch
            if batch.has_copies:
                if is_regression:
                    raise LabelError(
                        f"{self.name} has rows with several labels: a regression learns one number per row"
                    )
                note = "rows with several labels are learned once per label, and these share the weight of the row"
                self.notes += [note] if note not in self.notes else []
            if is_regression:
                store.append(batch, self.encoder.targets(batch.labels)[batch.codes])
                continue
            places |= {label: place(batch.line[row]) for label, row in store.append(batch).items()}
            self._check_class_count(places)
        self._check_rows(len(store))
        store.finish()
        if not is_regression:
            try:
                self._check_whole(places)
                self.classes = Classes.of(list(places), self._label_kind)
            except FractionError as error:
                raise LabelError(f"{places[error.label]}: {error}") from None
            self._note_labels(places, len(store))
            store.recode(np.array([self.classes.code_of(label) for label in places], np.int32))
        if not self.encoder.is_fitted:
            self.fit_to(store)
        return store

    def find_names(self, columns: Any) -> dict[int, str]:
        """The names of these columns; `load` collects hashed names, else another pass does."""
        encoder, found = self.encoder, dict[int, str]()
        if encoder.hashed:
            if not self._names:
                for _ in self._encoded(with_names=True):
                    pass
            wanted = np.zeros(encoder.features, bool)
            wanted[columns] = True
            for places, text in self._names:
                names = text.split(b"\n")
                for k in np.flatnonzero(wanted[places]).tolist():
                    found.setdefault(int(places[k]), names[k].decode("utf-8", "replace"))
        found |= {} if isinstance(encoder, LineEncoder) else encoder.plain_names()
        return {int(column): found[int(column)] for column in columns if int(column) in found}

    def _check_rows(self, rows: int) -> None:
        """Raise if there are no rows, or if a column does not have the kind that its first rows had."""
        if not rows:
            weighted = " of a weight above 0" if getattr(self.encoder, "weight", None) else ""
            raise DataError(f"{self.name} has no rows{weighted}")
        if not self.report.invalid:
            return  # pyarrow takes longer to load than a small file to learn
        from rosenblatt.encode.cells import mostly

        for name, cells in self.report.invalid.items():
            kind = next((column.kind for column in self.encoder.columns if column.name == name), "number")
            words, wrong = [word for word, _ in cells.most_common(4)], cells.total()
            if name not in self.numbers and not mostly(rows - wrong, cells):
                number = f"--number {name}, " if kind == "number" else ""
                source, advice = "was inferred as", f"; use {number}--category {name} or --drop {name}"
                if self.encoder.is_fitted:  # by other data, which decided
                    source, advice = "of the model holds", ""
                raise DataError(
                    f"column {name!r} {source} {kind}s, but {wrong:,} of {rows:,} cells are not "
                    f"(e.g. {words[0]!r}){advice}"
                )
            shown = ", ".join(repr(word[:40]) for word in words[:3]) + (", …" if len(words) > 3 else "")
            note = f"{name}: {kind}; {wrong:,} of {rows:,} cells treated as missing: {shown}"
            self.notes += [note] if note not in self.notes else []

    def _check_whole(self, labels: dict[bytes, Any]) -> None:
        """Raise if all labels are numbers, such as 2,5 or 1.234,50 €, and one has a fraction; few may have units."""
        try:
            numbers = self.encoder.targets(list(labels))
        except LabelError:
            return
        if len(labels) > _MANY_LABELS or all(set(label) <= set(b"+-.,0123456789") for label in labels):
            for label, number in zip(labels, numbers.tolist(), strict=True):
                if not number.is_integer():
                    raise FractionError(label)

    def _check_class_count(self, labels: dict[bytes, Any]) -> None:
        if len(labels) > self.limits.classes:
            first = next(iter(labels))
            hint = "numbers are learned by --task regression" if is_plain_number(first) else "are they classes?"
            raise LabelError(
                f"there are more than {self.limits.classes:,} different labels, such as "
                f"{first.decode('utf-8', 'replace')!r}: {hint}; --read-limit classes=N allows more"
            )

    def _note_labels(self, labels: dict[bytes, Any], rows: int) -> None:
        label, count = getattr(self.encoder, "label", None) or "the label", len(labels)
        values = self.classes.values
        if values.dtype.kind == "i" and len(values) < count:
            shown = ", ".join(sorted(each.decode() for each in labels)[:6])
            self.notes.append(f"{label}: {count} spellings of {len(values)} whole numbers ({shown}) are classes")
        words = sorted(each.decode("utf-8", "replace") for each in labels)
        by_case = {word.casefold(): word for word in words}
        if twin := next((word for word in words if by_case[word.casefold()] != word), None):
            self.notes.append(f"{label}: {twin!r} and {by_case[twin.casefold()]!r} are different classes")
        if values.dtype.kind == "i" and count > _MANY_LABELS:
            self.notes.append(
                f"{label}: {count:,} whole numbers are learned as classes; --task regression predicts the number, "
                "--label names another column"
            )
        elif values.dtype.kind != "i" and _MANY_LABELS < count > rows / 2:
            hint = "--label names another column, --task regression predicts numbers"
            self.notes.append(f"{label}: {count:,} different labels in {rows:,} rows; {hint}")

    def _encoded(self, *, with_names: bool = False) -> Iterator[tuple[Callable[[int], str], EncodedChunk]]:
        """The chunks in order, encoded by threads, each with a function that names the place of a line for errors.

        `with_names`: put the names of hashed columns into `_names`.
        """
        self.report, self._frequencies, named = ReadReport(), None, None
        if with_names and self.encoder.hashed:
            self._names, named = [], np.zeros(1 << self.encoder.bits, np.uint8)
        encode = partial(
            self.encoder.transform, require_label=self.require_label, passthrough=self.passthrough, named=named
        )
        lines = Counter[str]()
        with ThreadPoolExecutor(max(1, self.jobs)) as pool:
            for name, unit, future in self._submit(pool, encode):
                try:
                    encoded = future.result()
                except DataError as error:
                    raise DataError(f"{name}: {error}") from None
                place = partial(_place, name, unit or "line", 0 if unit else lines[name])
                for line, why in encoded.bad:
                    self._report_bad(f"{place(line)}: {why}")
                lines[name] += encoded.lines
                self.report.lines += encoded.lines
                self.report.add_invalid(encoded.invalid)
                if encoded.frequencies is not None:
                    self._frequencies = encoded.frequencies + (0 if self._frequencies is None else self._frequencies)
                if named is not None:
                    self._names += encoded.names
                    for columns, _ in encoded.names:
                        named[columns - self.encoder.base] = 1
                yield place, encoded

    def _submit(self, pool: ThreadPoolExecutor, encode: Any) -> Iterator[tuple[str, str, Future[EncodedChunk]]]:
        """The name of the source, the unit of its lines, and the result of each chunk, in order."""
        # A live stream is answered before more of it is read.
        ahead = 0 if any(source.live for source in self.sources) else self.jobs + 1
        waiting: deque[tuple[str, str, Future[EncodedChunk]]] = deque()
        for name, chunk in self.chunks():
            if self.format == "arrow" and self.encoder.label in chunk.table.schema.names:
                from rosenblatt.io.arrow import kind_of_labels

                self._label_kind = kind_of_labels(chunk.table.schema.field(self.encoder.label).type)
            waiting.append((name, getattr(chunk, "unit", ""), pool.submit(encode, chunk)))
            if len(waiting) > ahead:
                yield waiting.popleft()
        yield from waiting

    def _report_bad(self, sentence: str) -> None:
        if not self.skip_bad:
            error = DataError(sentence)
            if self.format in LINE_FORMATS and not self.require_label:
                error.add_note(f"the model reads {self.format} lines")
            error.add_note("skip_bad=True skips such lines")
            raise error
        self.report.bad += 1
        if len(self.report.first_bad) < 10:
            self.report.first_bad.append(sentence)

    def infer(self, columns: dict[str, Any], hashing: dict[str, Any]) -> None:
        """Infer the encoder of a table from its first chunk with rows."""
        from rosenblatt.encode.schema import infer_encoder
        from rosenblatt.encode.table import listed

        chunks, taken, name, chunk = self.chunks(), [], self.name, None
        for name, chunk in chunks:
            taken.append((name, chunk))
            for line, why in chunk.bad:
                self._report_bad(f"{_place(name, chunk.unit, 0, line)}: {why}")
            if len(chunk.lines):
                break
        dialect = self.dialects.get(name)
        if chunk is None or not len(chunk.lines):
            raise DataError(f"{name} has a header and no rows" if dialect and dialect.header else f"{name} is empty")
        if dialect and len(dialect.names) == 1:
            only = listed(dialect.names)
            raise DataError(f"{name} has only one column, {only!r}: set the delimiter with --delimiter")
        options, one_decimal = chunk.options or self.options, self.options.decimal is not None
        try:
            self.encoder, notes = infer_encoder(chunk, options, hashing, one_decimal=one_decimal, **columns)
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        self.notes += notes
        self.numbers = tuple(columns["number"])
        # A JSON line may lack keys: once the columns are known, all of them are read.
        self._started = None if self.format in ("json", "jsonl") else chain(taken, chunks)

    def chunks(self) -> Iterator[tuple[str, Any]]:
        """Name of the source and chunk: lines of text, or a part of a table."""
        if self._started is not None:
            started, self._started = self._started, None
            yield from started
        else:
            for source in self.sources:
                for chunk in self._read(source):
                    yield source.name, chunk

    def _read(self, source: Source) -> Iterator[Any]:
        if self.format in LINE_FORMATS:
            # Interactions take many times the memory of the lines that they are made from.
            yield from iter_chunks(source, min(self.chunk, 1 << 18) if self.encoder.interactions else self.chunk)
            return
        columns = None
        if self.encoder is not None:
            columns = [name for name in (*self.encoder.inputs, *self.passthrough) if name not in source.partitions]
        for chunk in resolve_name(READERS[self.format])(source, columns, self):
            for name, value in source.partitions.items():
                chunk.add_column(name, value)
            yield chunk

    def note_columns(self, names: tuple[str, ...], note: str) -> None:
        """Keep the columns of the first file, and a note on them."""
        if self.order is None:
            self.order = names
            self.notes.append(note)

    def known_columns(self, source: Source) -> tuple[str, ...] | None:
        """The columns in the order of the first file or of the training data."""
        if self.encoder is None:
            return self.order
        known = self.order or self.encoder.order or tuple(column.name for column in self.encoder.columns)
        return tuple(name for name in known if name not in source.partitions)

    def name_columns(self, source: Source, count: int) -> tuple[str, ...]:
        """The names of columns without a header: 1, 2, …, or the known ones, without the label if it is missing."""
        known = self.known_columns(source)
        if known is None:
            return tuple(str(j + 1) for j in range(count))
        for order in (known, tuple(each for each in known if self.encoder is None or each != self.encoder.label)):
            if len(order) == count:
                return order
        raise DataError(f"{source.name} has no header and {count} columns, but the model has {len(known)}")


def _place(name: str, unit: str, before: int, line: int) -> str:
    return f"{name}, {unit} {before + line + 1}"


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
    idf: bool = False,
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
    day_first: bool | None = None,
    sheet: str | None = None,
    query: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
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
        The column of the labels, by name or (from 1) by number. By default one called label, class, target, y or
        category, else the last column with a name that is not text.
    weight : str, optional
        The column of sample weights; a row of weight 0 is ignored.
    drop, text, category, number : sequence of str
        Columns to leave out, or of a given kind instead of the inferred one.
    bits, grams
        How names and words are hashed; see `LineEncoder`.
    idf : bool, default=False
        Weigh the words of texts by their inverse document frequency: rare words count more. The model keeps the
        weights.
    interactions : sequence of str
        For vw: products of namespaces, such as ``["ab"]``; see `LineEncoder`.
    encoder : optional
        The encoder of a model, instead of inferring one.
    delimiter, decimal, missing, encoding, header, day_first : optional
        How text is written: the delimiter, "." or ",", the words for a missing value, the encoding, whether the
        first line names the columns, and whether 3/4/2024 is the third of April. Inferred by default.
    sheet : str, optional
        The sheet of a workbook, by name or (from 1) by number.
    query : str, optional
        The SQL query of a database.
    limits : Limits
        Largest sizes; data beyond them is an error.
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
    options = ReadOptions(delimiter, decimal, None if missing is None else tuple(missing), encoding, header, day_first)
    is_lines = isinstance(encoder, LineEncoder)
    if encoder is not None:
        options = options.or_else(encoder.options)
        encoder = encoder if encoder.is_fitted else encoder.plain()
        if day_first is not None and not is_lines:
            encoder = encoder.with_date_order("" if day_first else "month")
    as_documents = is_lines and encoder.documents
    sources = expand_sources(data, query=query, sort_documents=not require_label, as_documents=as_documents)
    for k, source in enumerate(sources):
        source.limits, source.sheet, source.encoding = limits, sheet, options.encoding
        if source.live and (encoder is None or rewindable or source.compression):
            sources[k] = Spooled(source.name, limits, encoding=options.encoding, original=source)
    if format is not None and format not in FORMATS:
        raise ParameterError(f"format={format!r}: must be one of {', '.join(FORMATS)}")
    given = encoder.format if is_lines else format
    found = format_of(sources[0]) if given is None or isinstance(sources[0], Frame) else given
    for source in sources[1:]:
        may_differ = source.suffix != sources[0].suffix and SUFFIXES.get(source.suffix) not in (None, found)
        if isinstance(source, Frame) != (found == "arrow") or (may_differ and not format):
            other = format_of(source)
            if other != found and {found, other} != {"csv", "tsv"}:
                raise DataError(f"{source.name} is {other}, but {sources[0].name} is {found}: pass files of one format")
    dataset = Dataset(sources, found, encoder, require_label, skip_bad, jobs, options=options, limits=limits)
    has_lines = found in LINE_FORMATS
    if encoder is not None:
        if has_lines != is_lines:
            raise DataError(f"{dataset.name} is in the format {found}, but the model was trained on columns of a table")
        return dataset
    if interactions and not has_lines:
        raise ParameterError(f"interactions join namespaces, which {found} does not have")
    some = {"drop": drop, "text": text, "category": category, "number": number}
    columns: dict[str, Any] = {name: [given] if isinstance(given, str) else given for name, given in some.items()}
    columns |= {name: None if given is None else str(given) for name, given in (("label", label), ("weight", weight))}
    hashing: dict[str, Any] = {"bits": bits, "grams": grams, "use_idf": idf}
    if not has_lines:
        dataset.infer(columns, hashing)
        return dataset
    for name, given in columns.items():
        if given:
            name = "drop, group or time" if name == "drop" else name  # columns of a split are dropped
            raise ParameterError(f"{name} names a column, and {found} lines have none")
    dataset.encoder = LineEncoder(found, bool(dataset.documents), tuple(interactions), options=options, **hashing)
    return dataset


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
    batches = [_read_all(first)]
    reading = {k: v for k, v in options.items() if k in ("format", "skip_bad", "jobs", "limits", "sheet", "query")}
    batches += [_read_all(open_dataset(each, encoder=first.encoder, **reading)) for each in more]
    width = max(batch.features for batch in batches)
    return tuple(replace(batch, width=width) for batch in batches) if more else batches[0]


def _read_all(dataset: Dataset) -> RowBatch:
    store = dataset.encode_rows()
    if not len(store):
        raise DataError("the data has no rows")
    if not dataset.encoder.is_fitted:
        dataset.fit_to(store)
    return store.batch()


def check_classes(classes: Classes) -> Classes:
    """Raise unless there are two classes or more."""
    if len(classes) < 2:
        only = f"only one class, {repr(classes.values.tolist()[0])[:42]}" if len(classes) else "no labels"
        raise LabelError(f"the data has {only}: a classifier needs at least 2 classes")
    return classes


def format_of(source: Source) -> str:
    """The format of a source, by its first lines and its suffix."""
    return "arrow" if isinstance(source, Frame) else detect_format(source, source.peek(_HEAD))
