"""Epochs over data of any size, in bounded memory.

Invariant: the same rows, options and seed give the same bits, whatever the chunks, threads and cache, and whether the
run was stopped and resumed. They are the bits of `fit`.

Shuffled rows are stored as strips first, and every epoch takes windows of strips in another order, from memory or from
a file. Without shuffling the first epoch learns from blocks as they are read, and a single epoch stores nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import Classes, RowBatch
from rosenblatt.data.row_store import (
    GROUP,
    MEMORY,
    ROWS,
    UNLIMITED,
    VALUES,
    BlockStore,
    Group,
    UnknownLabelError,
    iter_blocks,
)
from rosenblatt.errors import DataError
from rosenblatt.io.dataset import Dataset, check_classes
from rosenblatt.learners.files.model import model_of
from rosenblatt.learners.files.parts import (
    MOST_WEIGHTS,
    Progress,
    Ready,
    asked_by,
    check_room,
    fingerprint_of,
    new_state,
    scale_of,
    store_strips,
    stored_places,
    with_class_weights,
)
from rosenblatt.learners.fit import Counters
from rosenblatt.learners.stopping import StoppingCriterion
from rosenblatt.learners.targets import Targets, target_units
from rosenblatt.learners.weights import PassOptions, WeightState
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.model import Model
from rosenblatt.models.predictors import Products
from rosenblatt.params import KEEPS, Params, PassiveAggressiveRegressionParams, check_count

BLOCK: int = engine.WINDOW  # rows that are shuffled together
AT_ONCE = 16  # windows learned in memory between two looks at the clock


@dataclass
class FileRun:
    """A run over data, from the first block to the stop; all of it but the data can be saved and taken up again."""

    reader: Dataset
    params: Params
    classes: Classes
    state: WeightState
    stopping: StoppingCriterion
    block: int = BLOCK
    features: int = 0
    progress: Progress = field(default_factory=Progress)
    order: NDArray[np.uint32] | None = None  # of the blocks in this epoch, once it is drawn
    before: Counters = field(default_factory=lambda: Counters(0, 0, 0.0))  # the counters before this epoch
    rows: int = 0  # of the data, known after the first epoch
    places: dict[int, NDArray[np.int64]] = field(default_factory=dict)  # where a vote has stored each block's rows
    scale: NDArray[np.float64] | None = None  # what each column is divided by; columns beyond it by 1
    choice: str | None = None  # why this learner, if it was chosen
    products: Products | None = None  # what it learns from, instead of the columns
    class_weights: NDArray[np.float64] | None = None  # how much the rows of each class count
    calibrator: Calibrator | None = None  # the probabilities that its choice found
    _held: dict[int, Ready] = field(default_factory=dict, init=False, repr=False)  # groups in memory, by first block

    @classmethod
    def begin(
        cls,
        reader: Dataset,
        params: Params,
        *,
        block: int = BLOCK,
        scale: NDArray[np.float64] | None = None,
        products: Products | None = None,
        choice: str | None = None,
        class_weights: NDArray[np.float64] | None = None,
    ) -> FileRun:
        """A run that has learned nothing yet."""
        params.check()
        check_count("block", block, most=2**32 - 1)  # rows are counted by 32 bits
        classes = check_classes(reader.likely_classes(is_regression=params.is_regression))
        params.check_classes(len(classes))
        params = with_class_weights(params, classes.values, class_weights)
        center = 0.0
        if isinstance(params, PassiveAggressiveRegressionParams) and params.scale_target:
            center, unit = target_units(classes.values)
            params = params.scaled(unit)
        state = new_state(params, len(classes), reader.encoder.features or 0, products)
        if params.fit_intercept:
            state.intercept[:] = center
        run = cls(reader, params, classes, state, StoppingCriterion.of(params), block, reader.encoder.features or 0)
        run.scale, run.choice, run.products, run.class_weights = scale, choice, products, class_weights
        return run

    def run(
        self,
        *,
        cache: str | None = None,
        on_group: Callable[[FileRun], None] = lambda run: None,
        on_epoch: Callable[[FileRun], None] = lambda run: None,
    ) -> None:
        """Go on until a stopping rule holds."""
        while self.stopping.stop_reason is None:
            try:
                self._run_epochs(cache, on_group, on_epoch)
            except UnknownLabelError:
                if self.reader.classes is not None or self.class_weights is not None:
                    raise
                self.reader.scan_classes()  # the first lines did not show all of them
                how: dict[str, Any] = {"scale": self.scale, "products": self.products, "choice": self.choice}
                vars(self).update(vars(FileRun.begin(self.reader, self.params, block=self.block, **how)))

    def _run_epochs(
        self, cache: str | None, on_group: Callable[[FileRun], None], on_epoch: Callable[[FileRun], None]
    ) -> None:
        found = BlockStore.find(cache, self.fingerprint()) if cache is not None else None
        with found or BlockStore(cache, memory=UNLIMITED if self._whole else MEMORY) as store:
            filled = found is not None
            while self.stopping.stop_reason is None:
                started = time.perf_counter()
                self._run_epoch(store, filled, on_group)
                if not filled and (self._stores or cache is not None):
                    store.flush()
                    if cache is not None:  # which takes a hash of all data
                        store.keep(self.fingerprint())
                    filled = True
                self._end_epoch(store, filled, time.perf_counter() - started)
                on_epoch(self)

    def set_epochs(self, most: int) -> None:
        """Learn for so many epochs at most, from now on."""
        self.stopping.set_epochs(most, within=self.progress.rows > 0)
        self.params.max_iter = most

    def fingerprint(self) -> str:
        """What the blocks depend on."""
        return fingerprint_of(self.reader, self.classes.values, self.block, shuffle=bool(self.params.shuffle))

    def model(self, names: dict[int, str] | None = None) -> Model:
        """What has been learned, ready to predict."""
        return model_of(self, names)

    @property
    def _whole(self) -> bool:  # does a pocket check all rows, or an order of single rows jump between them?
        return KEEPS[self.params.keep].checks_all_rows or self.params.shuffle == "rows"

    @property
    def _stores(self) -> bool:
        return bool(self.params.shuffle) or self.params.max_iter > 1 or self._whole

    def _run_epoch(self, store: BlockStore, filled: bool, on_group: Callable[[FileRun], None]) -> None:
        if self._stores and not filled and (self.params.shuffle or self._whole or self.progress.epoch > 0):
            strips = store_strips(store, self.reader, self.classes, self.block)
            blocks = (group.rows for group in self._read_groups(store, keep=True))
            for rows in strips if self.params.shuffle else blocks:
                self.features = max(self.features, rows.features)
                if self.products is None:
                    check_room(len(self.state.intercept), self.features)
                self.progress.bytes = self.reader.tally.bytes
                if not self.progress.place:
                    on_group(self)
            self._widen(self.features)  # once, so that how the rows were read makes no difference
            filled = True
        for _ in self._learn_shuffled(store) if self.params.shuffle else self._learn_in_order(store, filled):
            self.progress.bytes = self.reader.tally.bytes
            on_group(self)

    def _learn_shuffled(self, store: BlockStore) -> Iterator[None]:
        if (count := store.rows) == 0:
            return
        window = count if self.params.shuffle == "rows" else self.block
        _, strips, windows = engine.strips_of(count, window)
        if self.order is None:
            self.order = engine.draw_strips(count, self.state.generator, window)
        if len(self.order) != strips:
            raise DataError("the rows of the data are not those of the checkpoint")
        if self._whole or store.bytes <= MEMORY:
            held = self._ready(store.whole())
            step = windows if self._whole else AT_ONCE if self.block >= BLOCK else 1
            for first in range(self.progress.place, windows, step):
                end = min(first + step, windows)
                order = engine.draw_windows(self.order, self.state.generator, count, window, first, end)
                self._learn(held, order, end - first)
                yield
            return
        cuts: list[Any] = [range(len(store))]
        if windows > 1:
            cuts = [cut.tolist() for cut in np.split(self.order, engine.window_bounds(count, window)[1:-1])]
        for ready in map(self._ready, store.iter_groups(cuts[self.progress.place :])):
            order = np.arange(ready.table.count, dtype=np.uint32)
            engine.shuffle(order, self.state.generator)
            self._learn(ready, order, 1)
            yield

    def _learn_in_order(self, store: BlockStore, filled: bool) -> Iterator[None]:
        stored = iter([store.whole()]) if self._whole else store.iter_groups([[k] for k in range(len(store))])
        groups = stored if filled else self._read_groups(store, self._stores)
        for ready in islice(map(self._ready, groups), self.progress.place, None):
            self._learn(ready, None, 1)
            yield

    def _read_groups(self, store: BlockStore, keep: bool) -> Iterator[Group]:
        rows = ROWS if self.block >= BLOCK else max(1, self.block // GROUP)
        for k, block in enumerate(iter_blocks(self.reader, self.classes, rows=rows, values=VALUES)):
            if keep:
                store.add(block)
            yield Group(block, [k], [len(block)])

    def _ready(self, group: Group) -> Ready:
        """A group to learn from: the state has room for its features, and they are scaled."""
        if (known := self._held.get(group.blocks[0])) is not None and known.group.rows is group.rows:
            return known
        if self.progress.epoch == 0:
            self._widen(group.rows.features)
        ready = Ready(self._scaled(group.rows).table(self._width), self._targets(group.rows), group)
        if group.stays and (self.params.shuffle or self.progress.epoch > 0):  # by then all features are known
            self._held[group.blocks[0]] = ready
        return ready

    def _learn(self, ready: Ready, order: NDArray[np.uint32] | None, places: int) -> None:
        if self.products is None:
            self._learn_columns(ready, order)
        else:
            for terms, part in self.products.iter_terms(ready.table, order):
                self.state.learn(terms, ready.targets.take(part), self.params.update_rule)
        self.progress.place += places
        self.progress.rows += ready.table.count if order is None else len(order)
        whole = self.progress.rows == ready.table.count  # then one sum of all weights, as `fit` has it
        self.progress.weight = ready.targets.total(None) if whole else self.progress.weight + ready.targets.total(order)
        self.progress.mistakes = self.state.counter("mistakes") - self.before.mistakes

    def _learn_columns(self, ready: Ready, order: NDArray[np.uint32] | None) -> None:
        table, targets, group = ready.table, ready.targets, ready.group
        if (self.progress.epoch, self.progress.place) == (0, 0):
            self.state.begin_epochs(table, targets)
        places = None
        if self.state.stores_rows:
            places = stored_places(group, self.places)
        self.state.passes(table, targets, self.params.update_rule, PassOptions(ratchet=True, places=places))(order)
        if places is not None:
            self.places.update(zip(group.blocks, np.split(places, np.cumsum(group.sizes)[:-1]), strict=True))

    @property
    def _width(self) -> int:
        """Columns enough for what is learned: those of the state, or those that are multiplied."""
        return self.state.features if self.products is None else max(self.features, int(self.products.columns[-1]) + 1)

    def _targets(self, rows: RowBatch) -> Targets:
        return asked_by(rows, self.classes.values, self.params, self.class_weights)

    def _widen(self, needed: int) -> None:
        """Room for so many features; new ones have a weight of 0."""
        self.features = max(self.features, needed)
        if needed <= self.state.features or self.products is not None:
            return
        check_room(len(self.state.intercept), needed)
        room = min(2 * self.state.features, MOST_WEIGHTS // len(self.state.intercept))
        self.state = self.state.with_features(max(needed, room))

    def _end_epoch(self, store: BlockStore, filled: bool, seconds: float) -> None:
        state, rows, after = self.state, self.progress.rows, Counters.of(self.state)
        if rows == 0:
            raise DataError("the data has no rows")
        if self.progress.epoch == 0:
            self.rows = rows
            self.reader.classes = self.reader.classes or self.classes  # no other label has come
        epoch = after.since(self.before, self.progress.weight, rows, finite=state.is_finite(), seconds=seconds)
        if self.stopping.update(epoch, lambda: self._count_mistakes(store, filled) == 0) == "converged":
            state.converged()
        self.before = after
        self.progress = Progress(epoch=self.progress.epoch + 1)
        self.order = None

    def _count_mistakes(self, store: BlockStore, filled: bool) -> float:
        cuts = [range(at, min(at + GROUP, len(store))) for at in range(0, len(store), GROUP)]
        groups = store.iter_groups(cuts) if filled else self._read_groups(store, keep=False)
        return sum(self._mistakes_of(self._scaled(group.rows)) for group in groups)

    def _mistakes_of(self, rows: RowBatch) -> float:
        targets, table = self._targets(rows), rows.table(self._width)
        if self.products is None:
            return self.state.count_mistakes(table, targets)
        parts = self.products.iter_terms(table)
        return sum(self.state.count_mistakes(terms, targets.take(part)) for terms, part in parts)

    def _scaled(self, rows: RowBatch) -> RowBatch:
        if self.scale is None:
            return rows
        return replace(rows, values=rows.values / scale_of(self.scale, rows.features)[rows.indices])
