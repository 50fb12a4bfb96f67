"""Epochs over stored rows, window by window, so that a run can be saved and resumed at any moment.

Invariant: the same rows, params and seed give the bits of `fit`, whether the rows are in memory or mapped, and whether
the run was stopped and resumed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels
from rosenblatt.data.row_store import RowStore
from rosenblatt.data.table import Table
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.dataset import Dataset, check_classes
from rosenblatt.learners.fit import Counters
from rosenblatt.learners.serialization import run_to_tensors
from rosenblatt.learners.stopping import StoppingCriterion
from rosenblatt.learners.targets import Targets, targets_of, weight_rows
from rosenblatt.learners.weights import PassOptions, UpdateLog, WeightState
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.container import SavedState
from rosenblatt.models.model import Model
from rosenblatt.models.predictors import Linear, Products, Quadratic, Voted, count_terms
from rosenblatt.params import KEEPS, Params, check_count

WINDOW: int = engine.WINDOW  # rows that are shuffled together
AT_ONCE = 16  # windows between two progress reports
MOST_WEIGHTS = 1 << 30  # of all classes together
MOST_FEATURES = 1 << 28
FEW_WEIGHTS = 1 << 22  # up to which columns are not renumbered
MOST_NAMES = 1 << 17


@dataclass
class Progress:
    """The position of a run."""

    epoch: int = 0  # from 0
    place: int = 0  # windows of this epoch that are learned
    rows: int = 0  # of this epoch
    weight: float = 0.0  # the sample weights of these rows
    mistakes: int = 0  # of this epoch


@dataclass
class TrainingRun:
    """Training from the first window to the stop; all of it but the data can be saved."""

    dataset: Dataset
    store: RowStore
    params: Params
    classes: NDArray[Any]
    state: WeightState
    stopping: StoppingCriterion
    window: int = WINDOW
    features: int = 0  # of the model
    is_compact: bool = False  # are the weights those of `store.columns` only?
    progress: Progress = field(default_factory=Progress)
    order: NDArray[np.uint32] | None = None  # of the strips in this epoch, once it is drawn
    before: Counters = field(default_factory=lambda: Counters(0, 0, 0.0))  # the counters before this epoch
    places: NDArray[np.int64] | None = None  # of each row among those that a vote has stored; -1: not stored
    scale: NDArray[np.float64] | None = None  # of columns that are divided by it
    choice: str | None = None  # the reason for this learner, if it was selected
    products: Products | None = None  # the terms to learn from, instead of the columns
    class_weights: NDArray[np.float64] | None = None
    calibrator: Calibrator | None = None
    _table: Table | None = field(default=None, init=False, repr=False)
    _targets: Targets | None = field(default=None, init=False, repr=False)

    @classmethod
    def begin(
        cls,
        dataset: Dataset,
        params: Params,
        store: RowStore | None = None,
        *,
        window: int = WINDOW,
        scale: NDArray[np.float64] | None = None,
        products: Products | None = None,
        choice: str | None = None,
        class_weights: NDArray[np.float64] | None = None,
    ) -> TrainingRun:
        """A run that has learned nothing yet."""
        params.check()
        store = dataset.load() if store is None else store
        check_count("block", window, most=2**32 - 1)  # rows are counted by 32 bits
        classes = check_classes(dataset.read_classes()).values
        params.check_classes(len(classes))
        if class_weights is not None:
            params = copy(params)
            params.class_weight = dict(zip(classes.tolist(), class_weights.tolist(), strict=True))
        rows, features = weight_rows(len(classes)), features_of(dataset, store)
        check_size(rows, features)
        is_compact = products is None and rows * features > FEW_WEIGHTS and 2 * len(store.columns) < features
        if products is None:
            width = len(store.columns) if is_compact else features
            weights: NDArray[Any] = np.zeros((rows, max(width, 1)), order="F")
        else:
            if KEEPS[params.keep].votes or KEEPS[params.keep].checks_all_rows:
                raise ParameterError(f"keep={params.keep!r}: products of columns are learned with 'last' or 'average'")
            weights = np.zeros((rows, count_terms(len(products.columns))), np.float32)
        state = WeightState.of(params, weights, np.zeros(rows), engine.seed_generator(params.random_state))
        run = cls(dataset, store, params, classes, state, StoppingCriterion.of(params), window, features, is_compact)
        run.scale, run.products, run.choice, run.class_weights = scale, products, choice, class_weights
        return run

    @property
    def rows(self) -> int:
        return len(self.store)

    def run(
        self,
        *,
        on_step: Callable[[TrainingRun], None] = lambda run: None,
    ) -> None:
        """Go on until the stopping criterion holds; `on_step` is called between windows and after each epoch."""
        self._prepare()
        table, targets = self._table, self._targets
        assert table is not None
        assert targets is not None
        if self.stopping.stop_reason is not None:
            return
        if (self.progress.epoch, self.progress.place) == (0, 0) and self.products is None:
            self.state.begin_epochs(table, targets)
        learn = self._pass(table, targets)
        while self.stopping.stop_reason is None:
            started = time.perf_counter()
            for order, places in self._orders():
                learn(order)
                self._count(order, places)
                on_step(self)
            self._end_epoch(time.perf_counter() - started)
            on_step(self)

    def set_epochs(self, most: int) -> None:
        """Learn so many epochs in all."""
        self.stopping.set_epochs(most, within=self.progress.rows > 0)
        self.params.max_iter = most

    def _prepare(self) -> None:
        """The rows as the state learns from them."""
        if self._table is not None:
            return
        if self.scale is not None and self.products is None:
            self.store.divide(self.scale)
        if self.is_compact:
            self.store.compact()
        width = self.features if self.products is not None else self.state.features
        self._table, self._targets = self.store.table(width), self._make_targets()
        if self.state.stores_rows and self.places is None:
            self.places = np.full(self.rows, -1, np.int64)

    def _make_targets(self) -> Targets:
        labels, weights = Labels(self.classes, self.store.y), self.store.weights
        if self.class_weights is not None:
            given = self.class_weights[self.store.y]
            weights = given if weights is None else weights * given
        return targets_of(labels, sample_weight=weights, tie_positive=self.params.tie_positive)[0]

    def _pass(self, table: Table, targets: Targets) -> Callable[[NDArray[np.uint32] | None], None]:
        products = self.products
        if products is None:
            how = PassOptions(ratchet=True, places=self.places)
            return self.state.passes(table, targets, self.params.update_rule, how)

        def learn(order: NDArray[np.uint32] | None) -> None:
            for terms, part in products.iter_terms(table, order):
                self.state.learn(terms, targets.take(part), self.params.update_rule)

        return learn

    def _orders(self) -> Iterator[tuple[NDArray[np.uint32] | None, int]]:
        """The rows of this epoch from the current window on, in parts, and how many windows each part has."""
        count = self.rows
        # A pocket checks all rows at once, and an order of single rows jumps between them.
        whole = KEEPS[self.params.keep].checks_all_rows or self.params.shuffle == "rows"
        window = count if self.params.shuffle == "rows" else self.window
        if not self.params.shuffle:
            length = count if whole else AT_ONCE * window
            for begin in range(self.progress.place * length, count, length):
                yield np.arange(begin, min(begin + length, count), dtype=np.uint32), 1
            return
        _, strips, windows = engine.strips_of(count, window)
        if self.order is None:
            self.order = engine.draw_strips(count, self.state.generator, window)
        if len(self.order) != strips:
            raise DataError("the data has another number of rows than at the time of the checkpoint")
        step = windows if whole else AT_ONCE if self.window >= WINDOW else 1
        for first in range(self.progress.place, windows, step):
            end = min(first + step, windows)
            yield engine.draw_windows(self.order, self.state.generator, count, window, first, end), end - first

    def _count(self, order: NDArray[np.uint32] | None, places: int) -> None:
        assert self._targets is not None
        self.progress.place += places
        self.progress.rows += self.rows if order is None else len(order)
        whole = self.progress.rows == self.rows and (order is None or len(order) == self.rows)
        # One sum of all weights if the epoch is one part, as `fit` has it.
        added = self._targets.total(None if whole else order)
        self.progress.weight = added if whole else self.progress.weight + added
        self.progress.mistakes = self.state.counter("mistakes") - self.before.mistakes

    def _end_epoch(self, seconds: float) -> None:
        state, after = self.state, Counters.of(self.state)
        epoch = after.since(
            self.before, self.progress.weight, self.progress.rows, finite=state.is_finite(), seconds=seconds
        )
        if self.stopping.update(epoch, lambda: self._count_mistakes() == 0) == "converged":
            state.converged()
        self.before = after
        self.progress = Progress(epoch=self.progress.epoch + 1)
        self.order = None

    def _count_mistakes(self) -> float:
        table, targets = self._table, self._targets
        assert table is not None
        assert targets is not None
        if self.products is None:
            return self.state.count_mistakes(table, targets)
        parts = self.products.iter_terms(table)
        return sum(self.state.count_mistakes(terms, targets.take(part)) for terms, part in parts)

    def model(self, names: dict[int, str] | None = None) -> Model:
        """The model so far; `names` of columns, or None to collect them."""
        predictor: Any = self.state.predictor()
        if self.is_compact:
            predictor = _expand_predictor(predictor, self.store.columns, self.features)
        history: dict[str, Any] = {
            "mistakes": self.stopping.history.mistakes,
            "updates": self.stopping.history.updates,
            "stop_reason": self.stopping.stop_reason or "unfinished",
            "rows": self.rows,
        }
        if self.choice is not None:
            history["choice"] = self.choice
        if self.products is not None:
            predictor = Quadratic(self.products, predictor)
        elif self.scale is not None:
            assert isinstance(predictor, Linear)
            columns = predictor.columns()
            columns = columns[columns < len(self.scale)]
            weights = predictor.weights.copy(order="K")
            weights[:, columns] /= self.scale[columns]
            predictor = Linear(weights, predictor.intercept)
        return Model(
            self.params.learner,
            self.params.values(),
            self.classes,
            (predictor,),
            self.features,
            self.dataset.encoder,
            names if names is not None else column_names(self.dataset, predictor),
            history,
            self.calibrator,
            _saved_state(self, history["stop_reason"]),
        )


def _saved_state(run: TrainingRun, stop_reason: str) -> SavedState:
    """The learning state for the model file."""
    state = run.state
    if run.is_compact:
        state = _expand_state(state, run.store.columns, run.features)
    scaling, products, choice = run.scale, run.products, run.choice
    return run_to_tensors(run.params, state, run.stopping.history, stop_reason, run.features, scaling, products, choice)


def features_of(dataset: Dataset, store: RowStore) -> int:
    """The columns of the model: those of the encoder, or those that the data has."""
    seen = int(store.columns[-1]) + 1 if len(store.columns) else 1
    return max(dataset.encoder.features or 0, seen, 1)


def check_size(rows: int, features: int) -> None:
    """Raise if weights of so many rows and features are too many."""
    if rows * features > MOST_WEIGHTS or features > MOST_FEATURES:
        raise DataError(
            f"{features:,} features and {rows} weight rows would need {rows * features * 8 / 2**30:.0f} GB of weights: "
            "are the feature numbers right? Hashed features need fewer bits"
        )


def column_names(dataset: Dataset, predictor: Any) -> dict[int, str]:
    """The names of the columns with the largest weights."""
    if isinstance(predictor, Quadratic):
        return dataset.find_names(predictor.products.columns)
    if not isinstance(predictor, Linear):
        return {}
    columns = predictor.columns()
    if len(columns) > MOST_NAMES:
        sizes = np.abs(predictor.weights[:, columns]).max(axis=0)
        columns = np.sort(columns[np.argsort(-sizes, kind="stable")[:MOST_NAMES]])
    return dataset.find_names(columns)


def _spread(values: NDArray[Any], columns: NDArray[Any], features: int, begin: float = 0.0) -> NDArray[Any]:
    """Values over all features; pages of zeros stay untouched."""
    shape = (*values.shape[:-1], features)
    wide = np.full(shape, begin, values.dtype, order="F") if begin else np.zeros(shape, values.dtype, order="F")
    wide[..., columns] = values[..., : len(columns)]
    return wide


def _spread_rows(rows: Any, columns: NDArray[Any], features: int) -> Any:
    import scipy.sparse as sp

    return sp.csr_array((rows.data, columns[rows.indices], rows.indptr), shape=(rows.shape[0], features))


def _expand_predictor(predictor: Any, columns: NDArray[Any], features: int) -> Any:
    if isinstance(predictor, Linear):
        return Linear(_spread(predictor.weights, columns, features), predictor.intercept)
    assert isinstance(predictor, Voted)
    rows = None if predictor.support is None else _spread_rows(predictor.support, columns, features)
    return replace(predictor, start=_expand_predictor(predictor.start, columns, features), support=rows)


def _expand_state(state: WeightState, columns: NDArray[Any], features: int) -> WeightState:
    """A state over the columns in use, over all features."""
    arrays = dict(state.arrays)
    for array in state.declared:
        if array.shape in ("weights", "features"):
            begin = 0.0 if array.copy_of else array.begin
            arrays[array.name] = _spread(state.arrays[array.name], columns, features, begin)
    remembered = state.remembered
    if remembered.rows is not None:
        remembered = UpdateLog(_spread_rows(remembered.rows, columns, features), remembered.updates)
    return replace(state, arrays=arrays, remembered=remembered)
