"""From what the user names to parts on the workers: files, Dask collections, delayed batches, arrays in memory.

Invariant: no rows come to the client. Files are found, looked through and read where the work is done; a collection is
taken partition by partition, where it lies.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cluster.collections import are_paths, as_columns, computed, is_collection, is_frame, is_lazy, row_blocks
from rosenblatt.cluster.hands import Hands, Threads
from rosenblatt.cluster.parts import Facts, Part, facts_of
from rosenblatt.cluster.run import tree
from rosenblatt.cluster.spans import split_source
from rosenblatt.data.batch import RowBatch
from rosenblatt.data.labels import PAIR, Classes, Labels, merge_classes
from rosenblatt.encode.lines import LineEncoder
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.io.dataset import Dataset, ReadReport, check_classes, open_dataset
from rosenblatt.io.formats import LINE_FORMATS
from rosenblatt.io.limits import DEFAULT_LIMITS
from rosenblatt.io.source import ADDRESS, Source, Spooled, expand_address, expand_sources
from rosenblatt.learners.targets import class_weights

SPAN = 64 << 20  # bytes of a long file that are read as one part, where the number of shards is left open
LEAST_SPAN = 1 << 16


@dataclass
class Opened:
    """A source whose parts are on the workers."""

    parts: list[Any]  # handles
    facts: list[Facts]
    classes: Any  # Classes of files, or sorted labels
    reader: Dataset | None = None  # of files and frames
    data: dict[str, Any] = field(default_factory=dict)  # how to open it again, for files

    @property
    def rows(self) -> int:
        return sum(facts.rows for facts in self.facts)

    @property
    def features(self) -> int:
        known = 0 if self.reader is None else self.reader.encoder.features or 0
        return max(known, 1, *(facts.features for facts in self.facts))

    @property
    def dtype(self) -> np.dtype[Any]:
        kinds = [facts.dtype for facts in self.facts if facts.rows]
        return np.result_type(*kinds)

    @property
    def values(self) -> NDArray[Any]:
        """The sorted classes."""
        found: NDArray[Any] = self.classes.values if isinstance(self.classes, Classes) else self.classes
        return found

    def counts(self) -> NDArray[np.float64]:
        """What the rows of each class weigh."""
        total = np.zeros(len(self.values))
        for facts in self.facts:
            labels = facts.labels
            if isinstance(self.classes, Classes):
                codes = [self.classes.code_of(label) for label in labels]
            else:
                codes = np.searchsorted(self.classes, labels).tolist()
            np.add.at(total, codes, facts.counts)
        return total

    def class_weights(self, told: Any) -> NDArray[np.float64]:
        """What the rows of each class are multiplied by, from a dict or 'balanced'."""
        every = Labels(self.values, np.arange(len(self.values), dtype=np.int32))
        return class_weights(told, every, self.counts())


@dataclass
class Address(Source):
    """A file somewhere else, which is fetched where it is read."""

    @property
    def size(self) -> int:
        return 0

    @property
    def moment(self) -> Any:
        return None


def open_source(
    hands: Hands, source: Any, reading: dict[str, Any], shards: int | None, *, is_regression: bool = False
) -> Opened:
    """The parts of a source, looked through; `measures`: are its labels numbers to come close to?"""
    opened = _opened(hands, source, reading, shards, is_regression)
    opened.facts = hands.results([hands.submit(facts_of, part) for part in opened.parts])
    if not opened.rows:
        raise DataError("the data has no rows")
    opened.classes = PAIR if is_regression else _classes_of(opened)
    if len({facts.sparse for facts in opened.facts if facts.rows}) > 1:
        raise DataError("some parts of X are sparse and others are not: make them all alike")
    if opened.reader is None and len({facts.features for facts in opened.facts if facts.rows}) > 1:
        widths = sorted({facts.features for facts in opened.facts if facts.rows})
        raise DataError(f"parts of X have {widths[0]} and {widths[-1]} features: they must all have the same")
    return opened


def _opened(hands: Hands, source: Any, reading: dict[str, Any], shards: int | None, is_regression: bool) -> Opened:
    if are_paths(source):
        return _open_files(hands, source, reading, shards, is_regression)
    source = as_columns(source)
    if isinstance(source, tuple) and len(source) in (2, 3):
        return _open_arrays(hands, source, is_regression)
    if is_frame(source):
        return _open_frames(hands, source.to_delayed(), reading, is_regression)
    if isinstance(source, (list, tuple)) and len(source) and all(is_lazy(each) for each in source):
        return _open_batches(hands, source, reading, is_regression)
    if hasattr(source, "__arrow_c_stream__") and isinstance(hands, Threads):
        return _open_frames(hands, [source], reading, is_regression)
    raise ParameterError(
        f"a source of type {type(source).__name__}: must be paths, a Dask DataFrame, a tuple (X, y) or (X, y, weights) "
        "of Dask arrays, or a list of delayed batches"
    )


# -- files


def _open_files(hands: Hands, data: Any, reading: dict[str, Any], shards: int | None, is_regression: bool) -> Opened:
    told = dict(reading)
    number = told.get("number", ())
    named = [os.fspath(each) for each in ([data] if isinstance(data, (str, os.PathLike)) else data)]
    reader: Dataset = hands.results([hands.submit(begin_files, named, told, shards)])[0]
    if reader.format not in LINE_FORMATS:
        reader = _looked(hands, reader, number, [(look_source, source) for source in reader.sources])
    plain = replace(reader, sources=[])
    parts = [
        hands.submit(partial(load_source, is_regression=is_regression), plain, source) for source in reader.sources
    ]
    return Opened(parts, [], None, reader, {"data": [os.path.abspath(n) if "://" not in n else n for n in named]})


def begin_files(named: list[str], reading: dict[str, Any], shards: int | None) -> Dataset:
    """The files that the names stand for, as a worker finds them, and how they are read."""
    limits = reading.get("limits", DEFAULT_LIMITS)
    sources: list[Source] = []
    for name in named:
        if ADDRESS.fullmatch(name) and not os.path.exists(name):
            sources += [Address(address, limits) for address in expand_address(name)]
        else:
            encoder = reading.get("encoder")
            documents = isinstance(encoder, LineEncoder) and encoder.documents
            told = {each: reading[each] for each in ("sort_documents", "sheet") if each in reading}
            sources += expand_sources(name, limits, as_documents=documents, **told)
    if any(source.live for source in sources):
        raise DataError("standard input cannot be read by several workers: save it to a file first")
    first = sources[0].name if isinstance(sources[0], Address) else named[0]
    reader = open_dataset(first, **reading)
    total = sum(source.size for source in sources)
    size = max(LEAST_SPAN, min(SPAN, -(-total // shards) if shards else SPAN))
    reader.sources = [part for source in sources for part in split_source(source, reader, size)]
    reader.data, reader.report, reader.dialects = None, ReadReport(), {}
    return reader


def fetched(source: Source) -> Source:
    return Spooled.download(source.name, source.limits) if isinstance(source, Address) else source


def over(reader: Dataset, source: Any) -> Dataset:
    """A reader of one part only."""
    if isinstance(source, Source):
        return replace(reader, sources=[fetched(source)], report=ReadReport(), dialects={}, notes=[])
    return replace(reader, data=source, report=ReadReport(), dialects={}, notes=[])


def look_source(reader: Dataset, source: Any) -> tuple[Any, int, ReadReport]:
    """The statistics of the columns of a part, its rows, and its report."""
    one = over(reader, source)
    return (*one.column_stats(), one.report)


def join_looks(first: tuple[Any, int, ReadReport], later: tuple[Any, int, ReadReport]) -> tuple[Any, int, ReadReport]:
    """Of both."""
    report = first[2]
    report.add_invalid(later[2].invalid)
    return first[0].join(later[0]), first[1] + later[1], report


def load_source(reader: Dataset, source: Any, *, is_regression: bool = False) -> Part:
    """The rows of a part."""
    one = over(reader, source)
    part = Part.of_batches(list(one), is_regression=is_regression)
    return replace(part, bad=one.report.bad, first_bad=tuple(one.report.first_bad))


def _looked(hands: Hands, reader: Dataset, number: Sequence[str], pieces: Sequence[tuple[Any, Any]]) -> Dataset:
    """The reader with means, scales and classes of all pieces."""
    plain = replace(reader, sources=[])
    looks = [hands.submit(function, plain, piece) for function, piece in pieces]
    stats, rows, reader.report = hands.results([tree(hands, join_looks, looks)])[0]
    return reader.finish_fit(stats, rows)


# -- frames, arrays and batches


def _open_frames(hands: Hands, frames: Sequence[Any], reading: dict[str, Any], is_regression: bool) -> Opened:
    handles = computed(hands, frames)
    found = (hands.results([hands.submit(begin_frame, handle, dict(reading))])[0] for handle in handles)
    reader = next((reader for reader in found if reader is not None), None)
    if reader is None:
        raise DataError("the data has no rows")
    number = reading.get("number", ())
    reader = _looked(hands, reader, number, [(look_source, handle) for handle in handles])
    load = partial(load_source, is_regression=is_regression)
    return Opened([hands.submit(load, reader, handle) for handle in handles], [], None, reader)


def begin_frame(frame: Any, reading: dict[str, Any]) -> Dataset | None:
    """How frames like this one are read; None if it has no rows."""
    return replace(open_dataset(frame, **reading), data=None, report=ReadReport()) if len(frame) else None


def _open_arrays(hands: Hands, arrays: Sequence[Any], is_regression: bool) -> Opened:
    """X, y and perhaps weights."""
    given = [*arrays[:2], *(each for each in arrays[2:] if each is not None)]
    make = partial(Part.of_arrays, is_regression=is_regression)
    if isinstance(hands, Threads) and not is_collection(given[0]):
        return Opened([hands.hold(make(*given))], [], None)
    return Opened([hands.submit(make, *each) for each in zip(*row_blocks(hands, given), strict=True)], [], None)


def _open_batches(hands: Hands, batches: Sequence[Any], reading: dict[str, Any], is_regression: bool) -> Opened:
    """Each gives (X, y), (X, y, weights), a `RowBatch`, or a frame, and all of them the same."""
    handles = computed(hands, batches)
    kind = hands.results([hands.submit(kind_of, handles[0])])[0]
    if kind == "frame":
        return _open_frames(hands, handles, reading, is_regression)
    return Opened(
        [hands.submit(partial(load_batch, is_regression=is_regression), handle) for handle in handles], [], None
    )


def kind_of(batch: Any) -> str:
    """What a delayed batch turned out to be."""
    return "frame" if hasattr(batch, "__arrow_c_stream__") else "rows"


def load_batch(batch: Any, *, is_regression: bool = False) -> Part:
    """The rows of a delayed batch."""
    if isinstance(batch, RowBatch):
        return Part.of_batches([batch], is_regression=is_regression)
    if isinstance(batch, (tuple, list)) and len(batch) in (2, 3):
        return Part.of_arrays(*batch, is_regression=is_regression)
    raise DataError(f"a delayed batch gave {type(batch).__name__}: it must give (X, y), (X, y, weights) or a frame")


def _classes_of(opened: Opened) -> Any:
    labels = [facts.labels for facts in opened.facts if len(facts.labels)]
    if labels and isinstance(labels[0], list):
        different = dict.fromkeys(label for each in labels for label in each)
        limit = (opened.reader.limits if opened.reader is not None else DEFAULT_LIMITS).classes
        if len(different) > limit:
            raise LabelError(f"there are more than {limit:,} different labels: are they classes?")
        return check_classes(Classes.of(list(different)))
    classes = reduce(merge_classes, labels) if labels else np.empty(0)
    if len(classes) < 2:
        only = f"one class only, {classes.tolist()[0]!r}" if len(classes) else "no labels"
        raise LabelError(f"the data has {only}: a classifier needs at least 2 classes")
    return classes
