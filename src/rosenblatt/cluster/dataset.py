"""Partitions: a source as rows on the workers, from files, Dask collections, delayed batches or arrays in memory.

Invariant: no rows come to the client. Workers find and read the files; a collection is read partition by partition,
without moving it. Rows of weight 0 are dropped, and all values are checked as `fit` checks them.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cluster.executor import DaskExecutor, Executor, Sized, is_future
from rosenblatt.data.batch import RowBatch, join_batches
from rosenblatt.data.labels import (
    PAIR,
    Classes,
    Labels,
    Numbers,
    encode_labels,
    label_values,
    merge_classes,
    numbers_of,
    places_in,
)
from rosenblatt.data.table import as_table
from rosenblatt.encode.lines import LINE_FORMATS, LineEncoder
from rosenblatt.encode.options import DEFAULT_LIMITS
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.io.dataset import Dataset, ReadReport, check_classes, open_dataset
from rosenblatt.io.source import CHUNK, Documents, Frame, Source, Spooled, detect_encoding, expand_sources
from rosenblatt.learners.targets import class_weights, row_weights

RANGE = 64 << 20  # bytes of a long file that are one partition, if the number of shards is open
LEAST_RANGE = 1 << 16
MOST_RANGES = 4096

Pieces = tuple[Dataset | None, Sequence[Any]]  # how to read pieces (None: they are arrays), and pieces or futures


# -- sources as pieces


def open_pieces(
    executor: Executor,
    source: Any,
    reading: dict[str, Any],
    shards: int | None = None,
    *,
    frames_are_arrays: bool = False,
) -> Pieces:
    """The pieces of a source: byte ranges of files, frames, or tuples of arrays."""
    if (paths := paths_of(source)) is not None:
        reader = executor.run(begin_files, paths, reading, shards)
        return _fit_encoder(executor, reader, reader.sources), reader.sources
    if isinstance(source, list) and len(source) in (2, 3) and all(map(_is_collection, source)):
        source = tuple(source)  # `client.persist` returns a list
    if isinstance(source, list) and len(source) and all(map(_is_lazy, source)):
        pieces = executor.compute(source)
        is_frames = not frames_are_arrays and executor.run(_is_table, pieces[0])
        return _open_frames(executor, pieces, reading) if is_frames else (None, pieces)
    if not isinstance(source, tuple) and not frames_are_arrays:
        if _is_collection(source) and hasattr(source, "columns"):
            return _open_frames(executor, executor.compute(source.to_delayed()), reading)
        if _is_table(source) and not isinstance(executor, DaskExecutor):
            return _open_frames(executor, executor.compute([source]), reading)
    columns = source if isinstance(source, tuple) else (source,)
    columns = tuple(each for each in columns if each is not None)
    if not hasattr(columns[0], "shape"):
        raise ParameterError(
            f"a source of type {type(source).__name__}: must be paths, a Dask DataFrame, a tuple (X, y) or "
            "(X, y, weights) of Dask arrays, or a list of delayed batches"
        )
    if not isinstance(executor, DaskExecutor) and not _is_collection(columns[0]):
        return None, [columns]
    blocks = _row_blocks(executor, columns)
    return None, [executor.submit(tuple, list(each)) for each in zip(*blocks, strict=True)]


def paths_of(source: Any) -> list[str] | None:
    """The paths of a source of files; None for any other source."""
    names = [source] if isinstance(source, (str, os.PathLike)) else source
    if isinstance(names, (list, tuple)) and names and all(isinstance(name, (str, os.PathLike)) for name in names):
        return [os.fspath(name) for name in names]
    return None


def _is_lazy(value: Any) -> bool:
    return hasattr(type(value), "__dask_graph__") or is_future(value)


def _is_collection(value: Any) -> bool:
    """True for a Dask array, DataFrame or Series."""
    return hasattr(type(value), "__dask_graph__") and hasattr(type(value), "to_delayed")


def _is_table(value: Any) -> bool:
    return hasattr(value, "__arrow_c_stream__")


def _row_blocks(executor: Executor, columns: Sequence[Any]) -> list[list[Any]]:
    """Futures of the blocks of rows of X, y and weights."""
    blocks: list[list[Any]] = []
    for name, values in zip(("X", "y", "sample_weight"), columns, strict=False):
        if not _is_collection(values):
            raise ParameterError(f"{name} is in this process's memory: pass a Dask array, or client=None")
        if name != "X" and hasattr(values, "to_dask_array"):
            values = values.to_dask_array()
        elif name == "X" and hasattr(values, "rechunk") and values.numblocks[1] > 1:
            values = values.rechunk({1: -1})
        blocks.append(executor.compute(np.ravel(values.to_delayed()).tolist()))
        if len(blocks[-1]) != len(blocks[0]):
            raise DataError(f"X has {len(blocks[0])} blocks and {name} {len(blocks[-1])}: rechunk them alike")
    return blocks


def _open_frames(executor: Executor, frames: Sequence[Any], reading: dict[str, Any]) -> Pieces:
    readers = (executor.run(begin_frame, frame, reading) for frame in frames)
    reader = next((reader for reader in readers if reader is not None), None)
    if reader is None:
        raise DataError("the data has no rows")
    return _fit_encoder(executor, reader, frames), frames


def begin_frame(frame: Any, reading: dict[str, Any]) -> Dataset | None:
    """The reader for frames like this one; None if it has no rows."""
    return replace(open_dataset(frame, **reading), sources=[], report=ReadReport()) if len(frame) else None


def begin_files(paths: list[str], reading: dict[str, Any], shards: int | None) -> Dataset:
    """The files of the paths, as a worker finds them, and how they are read."""
    encoder = reading.get("encoder")
    documents = isinstance(encoder, LineEncoder) and encoder.documents
    sort = not reading.get("require_label", True)
    sources = expand_sources(paths, sort_documents=sort, as_documents=documents)
    if any(source.live for source in sources):
        raise DataError("standard input cannot be read by several workers: save it to a file first")
    reader = open_dataset(sources[0].name if isinstance(sources[0], Spooled) else paths[0], **reading)
    for source in sources:
        source.limits, source.sheet, source.encoding = reader.limits, reading.get("sheet"), reader.options.encoding
    total = sum(map(_local_size, sources))
    size = max(LEAST_RANGE, min(RANGE, -(-total // shards) if shards else RANGE))
    parts = [part for source in sources for part in split_source(source, reader, size)]
    return replace(reader, sources=parts, report=ReadReport(), dialects={})


def _local_size(source: Source) -> int:
    """Bytes on disk; 0 for an address, which the worker that reads it downloads."""
    return 0 if isinstance(source, Spooled) else source.size


@dataclass
class FileRange(Source):
    """The lines that begin within a range of bytes of an uncompressed file."""

    file: str = ""
    begin: int = 0
    end: int = 0

    @property
    def path(self) -> str:
        return self.file

    @property
    def size(self) -> int:
        return self.end - self.begin

    def iter_bytes(self, size: int = CHUNK) -> Iterator[bytes]:
        with open(self.file, "rb") as file:
            end = _first_line(file, self.end)
            file.seek(_first_line(file, self.begin))
            while block := file.read(min(size, max(0, end - file.tell()))):
                yield block


def _first_line(file: Any, position: int) -> int:
    """Where the first line begins that does not begin before a position."""
    if position:
        file.seek(position - 1)
        file.readline()
        position = file.tell()
    return position


def split_source(source: Source, reader: Dataset, size: int) -> list[Source]:
    """A source as several of about so many bytes, if it can be split."""
    if isinstance(source, Documents):
        count = min(max(1, source.size // size), len(source.files), MOST_RANGES)
        bounds = [k * len(source.files) // count for k in range(count + 1)]
        return [replace(source, files=source.files[a:b]) for a, b in itertools.pairwise(bounds)]
    whole = type(source) is not Source or reader.format not in LINE_FORMATS or source.size < 2 * size
    if whole or source.compression or reader.options.encoding or detect_encoding(source.peek(4)):
        return [source]
    count = min(source.size // size, MOST_RANGES)
    bounds = [k * source.size // count for k in range(count + 1)]
    # Lines are counted from the beginning of the range, so its name contains the offset.
    names = [f"{source.name} (from byte {begin:,} on)" if begin else source.name for begin in bounds]
    ranges = zip(names, itertools.pairwise(bounds), strict=False)
    return [FileRange(name, source.limits, source.path, begin, end) for name, (begin, end) in ranges]


def read_piece(reader: Dataset, piece: Any) -> Dataset:
    """A dataset of one piece only."""
    source = piece if isinstance(piece, Source) else Frame(data=piece)
    return replace(reader, sources=[source], report=ReadReport(), dialects={}, notes=[])


def first_sources(reader: Dataset) -> Dataset:
    """A dataset of the beginning of the files."""
    sizes = itertools.accumulate(map(_local_size, reader.sources), initial=0)
    near = [source for source, before in zip(reader.sources, sizes, strict=False) if before <= RANGE]
    return replace(reader, sources=near, dialects={}, notes=[])


def _fit_encoder(executor: Executor, reader: Dataset, pieces: Sequence[Any]) -> Dataset:
    """The reader with the means and scales of the number columns of all pieces."""
    if reader.encoder.use_idf and reader.encoder.idf is None:
        raise ParameterError("idf cannot be combined with a cluster: no worker sees all rows")
    if not reader.encoder.is_fitted:
        plain = replace(reader, sources=[])
        stats = [executor.submit(column_stats, plain, piece) for piece in pieces]
        columns, rows, reader.report = executor.results([executor.reduce(join_stats, stats)])[0]
        reader.fit_numbers(columns, rows)
    return reader


ColumnStats = tuple[Any, int, ReadReport]


def column_stats(reader: Dataset, piece: Any) -> ColumnStats:
    """The statistics of the number columns of a piece, its rows, and its report."""
    dataset = read_piece(reader, piece)
    store = dataset.encode_rows()
    return dataset.encoder.stats_of(store.batch()), len(store), dataset.report


def join_stats(stats: Sequence[ColumnStats]) -> ColumnStats:
    """The statistics of all pieces together."""
    (columns, rows, report), *others = deepcopy(stats)  # a task must not change its arguments: it may run again
    for later, more, its_report in others:
        columns, rows = columns.join(later), rows + more
        report.add_invalid(its_report.invalid)
    return columns, rows, report


# -- pieces as partitions


@dataclass(frozen=True)
class PartitionInfo:
    """The facts of a partition that must be known before shards can be cut."""

    rows: int
    features: int
    classes: NDArray[Any]
    class_weights: NDArray[np.float64]  # the weight of the rows of each class
    dtype: np.dtype[Any]
    sparse: bool
    stored: int  # values
    names: tuple[str, ...] | None
    bad: int  # lines that were skipped


@dataclass(frozen=True)
class Partition(Sized):
    """Rows with their labels, in the classes of this partition only: bytes as written in a file, or an array."""

    X: Any  # an array in C order, or a CSR array; float32 or float64
    labels: Labels
    weights: NDArray[np.float64] | None = None
    names: tuple[str, ...] | None = None
    bad: int = 0

    def __len__(self) -> int:
        return len(self.labels.codes)

    def take(self, rows: Any) -> Partition:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, X=self.X[rows], labels=self.labels.take(rows), weights=weights)


def load_partition(reader: Dataset | None, piece: Any, is_regression: bool) -> Partition | None:
    """The rows of a piece; None if it has none."""
    if reader is not None:
        dataset = read_piece(reader, piece)
        partition = _from_batches(list(dataset), is_regression, dataset.encoder.targets)
        if partition is not None:
            partition = replace(partition, bad=dataset.report.bad)
    elif isinstance(piece, RowBatch):
        partition = _from_batches([piece], is_regression)
    elif isinstance(piece, (tuple, list)) and len(piece) in (2, 3):
        partition = _from_arrays(*piece, is_regression=is_regression)
    else:
        raise DataError(f"a batch is of type {type(piece).__name__}: it must be (X, y), (X, y, weights) or a frame")
    if partition is None or partition.weights is None or partition.weights.all():
        return partition
    return partition.take(np.flatnonzero(partition.weights)) if partition.weights.any() else None


def _from_batches(
    batches: Sequence[RowBatch], is_regression: bool, targets_of: Callable[[Sequence[bytes]], Any] = numbers_of
) -> Partition | None:
    if not batches:
        return None
    batch = join_batches(batches)
    labels = Labels(np.array(batch.labels, object), batch.codes)
    if is_regression:
        labels = Numbers(PAIR, np.zeros_like(batch.codes), targets_of(batch.labels)[batch.codes], 0.0)
    return Partition(batch.matrix(batch.features), labels, batch.weights)


def _from_arrays(X: Any, y: Any, sample_weight: Any = None, *, is_regression: bool) -> Partition | None:
    if X.shape[0] == 0:
        return None
    table, labels = as_table(X), Numbers.of(y, 0.0) if is_regression else encode_labels(y)
    if table.count != len(labels.codes):
        raise DataError(f"a block of X has {table.count} rows, and that of y has {len(labels.codes)} labels")
    return Partition(table.values, labels, row_weights(sample_weight, None, labels, more_to_come=True), table.names)


def partition_info(partition: Partition | None) -> PartitionInfo | None:
    if partition is None:
        return None
    X, labels = partition.X, partition.labels
    counts = np.bincount(labels.codes, partition.weights, len(labels.classes)).astype(np.float64)
    used, sparse = counts > 0, not isinstance(X, np.ndarray)
    return PartitionInfo(
        len(partition),
        X.shape[1],
        labels.classes[used],
        counts[used],
        X.dtype,
        sparse,
        X.nnz if sparse else X.size,
        partition.names,
        partition.bad,
    )


def class_codes(classes: Classes, labels: NDArray[Any]) -> NDArray[np.int32]:
    """The codes of labels among the classes of all partitions."""
    if isinstance(labels[0], bytes):
        return np.array([classes.code_of(label) for label in labels], np.int32)
    return places_in(classes.values, labels).astype(np.int32)


@dataclass
class Partitions:
    """A source whose rows are on the workers."""

    futures: list[Any]
    infos: list[PartitionInfo]
    reader: Dataset | None  # of files and frames
    classes: Classes

    @classmethod
    def load(
        cls, executor: Executor, source: Any, reading: dict[str, Any], shards: int | None, is_regression: bool
    ) -> Partitions:
        """Load a source of rows with labels, or with numbers for a regression."""
        reader, pieces = open_pieces(executor, source, reading, shards)
        plain = None if reader is None else replace(reader, sources=[])
        futures = [executor.submit(load_partition, plain, piece, is_regression) for piece in pieces]
        infos = executor.results([executor.submit(partition_info, future) for future in futures])
        found = [(future, info) for future, info in zip(futures, infos, strict=True) if info is not None]
        if not found:
            raise DataError("the data has no rows")
        futures, infos = map(list, zip(*found, strict=True))
        if len({info.sparse for info in infos}) > 1:
            raise DataError("some parts of X are sparse and others are not: make them all alike")
        widths = sorted({info.features for info in infos})
        if reader is None and len(widths) > 1:
            raise DataError(f"parts of X have {widths[0]} and {widths[-1]} features: they must all have the same")
        limit = (DEFAULT_LIMITS if reader is None else reader.limits).classes
        return cls(futures, infos, reader, Classes(PAIR) if is_regression else _merge_classes(infos, limit))

    @property
    def rows(self) -> int:
        return sum(info.rows for info in self.infos)

    @property
    def features(self) -> int:
        known = 0 if self.reader is None else self.reader.encoder.features or 0
        return max(known, 1, *(info.features for info in self.infos))

    def class_weights(self, class_weight: Any) -> dict[Any, float]:
        """The weight of each class, in their order, from a dict or 'balanced'."""
        counts = np.zeros(len(self.classes))
        for info in self.infos:
            np.add.at(counts, class_codes(self.classes, info.classes), info.class_weights)
        labels = Labels(self.classes.values, np.arange(len(counts), dtype=np.int32))
        weights = class_weights(self.classes.weights_as_written(class_weight), labels, counts)
        return dict(zip(label_values(self.classes.values), weights.tolist(), strict=True))


def _merge_classes(infos: Sequence[PartitionInfo], limit: int) -> Classes:
    labels = [info.classes for info in infos]
    if not isinstance(labels[0][0], bytes):
        return check_classes(Classes(reduce(merge_classes, labels)))
    different = list(dict.fromkeys(itertools.chain.from_iterable(labels)))
    if len(different) > limit:
        raise LabelError(f"there are more than {limit:,} different labels: are they classes?")
    return check_classes(Classes.of(different))
