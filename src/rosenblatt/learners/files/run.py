"""Epochs over data of any size, in bounded memory.

Invariant: the same rows, options and seed give the same bits, whatever the chunks, threads and cache, and whether the
run was stopped and resumed. Data that fits into one group gives the bits of `fit`.

The first epoch learns from groups of blocks as they are read, later ones from groups of stored blocks drawn from all
over the data: rows that lie together in a file are often alike, and so are mixed. Every epoch shuffles the rows of a
group.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batches import Batch, Classes
from rosenblatt.data.blocks import GROUP, MEMORY, ROWS, UNLIMITED, VALUES, BlockStore, Group, iter_blocks, iter_groups
from rosenblatt.data.labels import Labels
from rosenblatt.data.lines import LineEncoder
from rosenblatt.data.readers import Reader, check_classes
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learners.epochs.judge import Judge
from rosenblatt.learners.epochs.run import Tally
from rosenblatt.learners.kept.run import keep_run
from rosenblatt.learners.state.state import State
from rosenblatt.learners.targets import Targets, targets_of, weight_rows
from rosenblatt.models.linear import Linear
from rosenblatt.models.model import Model
from rosenblatt.models.probability import Calibrator
from rosenblatt.models.quadratic import Products, Quadratic, count_terms
from rosenblatt.recipe.parameters import check_count
from rosenblatt.recipe.recipe import Recipe
from rosenblatt.recipe.rules import KEEPS

MOST_WEIGHTS = 1 << 30  # values of all classes together: 8 GB
MOST_NAMES = 1 << 17
BLOCK = GROUP * ROWS  # rows that are shuffled together


@dataclass
class Progress:
    """How far a run has come."""

    epoch: int = 0  # from 0
    place: int = 0  # groups of this epoch that are learned
    rows: int = 0  # of this epoch
    weight: float = 0.0  # the sample weights of these rows
    mistakes: int = 0  # of this epoch
    bytes: int = 0  # of this epoch, only while the data is being read


@dataclass
class FileRun:
    """A run over data, from the first block to the stop; all of it but the data can be saved and taken up again."""

    reader: Reader
    recipe: Recipe
    classes: Classes
    state: State
    judge: Judge
    block: int = BLOCK
    features: int = 0
    progress: Progress = field(default_factory=Progress)
    order: NDArray[np.uint32] | None = None  # of the blocks in this epoch, once it is drawn
    before: Tally = field(default_factory=lambda: Tally(0, 0, 0.0))  # the counters before this epoch
    rows: int = 0  # of the data, known after the first epoch
    places: dict[int, NDArray[np.int64]] = field(default_factory=dict)  # where a vote has stored each block's rows
    scale: NDArray[np.float64] | None = None  # what each column is divided by; columns beyond it by 1
    choice: str | None = None  # why this learner, if it was chosen
    products: Products | None = None  # what it learns from, instead of the columns
    class_weights: NDArray[np.float64] | None = None  # how much the rows of each class count
    calibrator: Calibrator | None = None  # the probabilities that its choice found

    @classmethod
    def begin(
        cls,
        reader: Reader,
        recipe: Recipe,
        *,
        block: int = BLOCK,
        scale: NDArray[np.float64] | None = None,
        products: Products | None = None,
        choice: str | None = None,
        class_weights: NDArray[np.float64] | None = None,
    ) -> FileRun:
        """A run that has learned nothing yet."""
        recipe.check()
        check_count("block", block)
        classes = check_classes(reader.scan_classes())
        recipe.check_classes(len(classes))
        known = reader.encoder.features or 0
        rows = weight_rows(len(classes))
        _check_room(rows, known)
        weights: NDArray[Any] = np.zeros((rows, known), order="F")
        if products is not None:
            if KEEPS[recipe.used_keep].votes or KEEPS[recipe.used_keep].checks_all_rows:
                raise ParameterError(
                    f"keep={recipe.used_keep!r}: products of columns are learned with 'last' or 'average'"
                )
            weights = np.zeros((rows, count_terms(len(products.columns))), np.float32)
        state = State.begin(
            weights,
            np.zeros(rows),
            keep=recipe.used_keep,
            fit_intercept=bool(recipe.fit_intercept),
            generator=engine.seed_generator(recipe.random_state),
            second_order=recipe.used_rule.traits.second_order,
        )
        judge = Judge.of(recipe)
        run = cls(reader, recipe, classes, state, judge, block, known, scale=scale, choice=choice, products=products)
        run.class_weights = class_weights
        return run

    def run(
        self,
        *,
        cache: str | None = None,
        on_group: Callable[[FileRun], None] = lambda run: None,
        on_epoch: Callable[[FileRun], None] = lambda run: None,
    ) -> None:
        """Go on until a stopping rule holds."""
        if self.judge.stop_reason is not None:
            return
        found = BlockStore.find(cache, self.fingerprint()) if cache is not None else None
        with found or BlockStore(cache, memory=UNLIMITED if self._whole else MEMORY) as store:
            filled = found is not None
            while self.judge.stop_reason is None:
                started = time.perf_counter()
                self._run_epoch(store, filled, on_group)
                if not filled and (self.recipe.max_iter > 1 or cache is not None):
                    store.flush()
                    if cache is not None:  # which takes a hash of all data
                        store.keep(self.fingerprint())
                    filled = True
                self._end_epoch(store, filled, time.perf_counter() - started)
                on_epoch(self)

    def set_epochs(self, most: int) -> None:
        """Learn for so many epochs at most, from now on."""
        check_count("max_iter", most)
        done = len(self.judge.history)
        if most < done or (most == done and self.progress.rows):
            begun = f"{done:,} epochs" + (" and a part" if self.progress.rows else "")
            raise ParameterError(f"max_iter={most}: {begun} have been learned already")
        self.recipe.max_iter = self.judge.max_iter = most
        if self.judge.stop_reason in ("max_iter", None):
            self.judge.stop_reason = "max_iter" if most == done else None

    def fingerprint(self) -> str:
        """What the blocks depend on."""
        made_of = [
            [source.stamp for source in self.reader.sources],
            self.reader.encoder.to_json(),
            asdict(self.reader.wishes),
            self.classes.values.tolist(),
            [self.block, VALUES, self._whole, self.reader.skip_bad],
        ]
        return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()

    def model(self, names: dict[int, str] | None = None) -> Model:
        """What has been learned, ready to predict."""
        features = max(self.features, 1)
        state = self.state if self.products is not None else self._fitted(features)
        answer: Any = state.answer()
        history: dict[str, Any] = {
            "mistakes": self.judge.history.mistakes,
            "updates": self.judge.history.updates,
            "stop_reason": self.judge.stop_reason or "unfinished",
            "rows": self.rows,
        }
        if self.choice is not None:
            history["choice"] = self.choice
        if self.products is not None:
            answer = Quadratic(self.products, answer)
        elif self.scale is not None:
            assert isinstance(answer, Linear)
            answer = Linear(answer.weights / self._scale(state.features), answer.intercept)
        if names is None:
            names = self._names(answer)
        return Model(
            self.recipe.learner,
            self.recipe.of_files() | ({} if self.class_weights is None else {"class_weight": self.recipe.class_weight}),
            self.classes.values,
            (answer,),
            features,
            self.reader.encoder,
            names,
            history,
            self.calibrator,
            partial(
                keep_run,
                self.recipe,
                state,
                self.judge.history,
                history["stop_reason"],
                features,
                self.scale,
                self.products,
                self.choice,
            ),
        )

    # A pocket's challenger is checked on all rows, so they all stay in one block.
    @property
    def _whole(self) -> bool:
        return KEEPS[self.recipe.used_keep].checks_all_rows

    def _run_epoch(self, store: BlockStore, filled: bool, on_group: Callable[[FileRun], None]) -> None:
        if self.progress.epoch > 0 and not filled:  # resumed: the blocks are gone with the process that stored them
            for group in self._read_groups(store, keep=True):
                self._widen(group.rows)
            filled = True
        if self.progress.epoch == 0:
            groups = (
                store.iter_groups(range(len(store)), self._size) if filled else self._read_groups(store, self._stores)
            )
        else:
            if self.order is None:
                self.order = np.arange(len(store), dtype=np.uint32)
                if self.recipe.shuffle and len(store) > GROUP:
                    engine.shuffle(self.order, self.state.generator)
            groups = store.iter_groups(self.order[self._size * self.progress.place :], self._size)
        skip = self.progress.place if self.progress.epoch == 0 else 0
        for at, group in enumerate(groups):
            self._widen(group.rows)
            if at < skip:
                continue
            self._learn(group)
            self.progress.bytes = self.reader.tally.bytes
            on_group(self)

    @property
    def _size(self) -> int:
        """Blocks in a group: without shuffling there is nothing to mix."""
        return GROUP if self.recipe.shuffle else 1

    @property
    def _stores(self) -> bool:
        return self.recipe.max_iter > 1

    def _read_groups(self, store: BlockStore, keep: bool) -> Iterator[Group]:
        rows, values = (UNLIMITED, UNLIMITED) if self._whole else (max(1, self.block // GROUP), VALUES)

        def blocks() -> Iterator[Batch]:
            for block in iter_blocks(self.reader, self.classes, rows=rows, values=values):
                if keep:
                    store.add(block)
                yield block

        return iter_groups(blocks(), self._size)

    def _learn(self, group: Group) -> None:
        rows = self._prepared(group.rows)
        order = None
        if self.recipe.shuffle:
            order = np.arange(len(rows), dtype=np.uint32)
            engine.shuffle(order, self.state.generator)
        if self.products is None:
            self._learn_columns(group, rows, order)
        else:
            targets = self._targets(rows)
            for terms, part in self.products.iter_terms(rows.table(self._width), order):
                self.state.learn(terms, targets.take(part), self.recipe.used_rule)
        self.progress.place += 1
        self.progress.rows += len(rows)
        self.progress.weight += len(rows) if rows.weights is None else float(rows.weights.sum())
        self.progress.mistakes = self.state.counter("mistakes") - self.before.mistakes

    def _learn_columns(self, group: Group, rows: Batch, order: NDArray[np.uint32] | None) -> None:
        table, targets = rows.table(self.state.features), self._targets(rows)
        if (self.progress.epoch, self.progress.place) == (0, 0):
            self.state.begin_epochs(table, targets)
        places = None
        if self.state.stores_rows:
            known = [self.places.get(k, np.full(size, -1)) for k, size in zip(group.blocks, group.sizes, strict=True)]
            places = np.concatenate(known)
        self.state.learn(table, targets, self.recipe.used_rule, order=order, ratchet=True, places=places)
        if places is not None:
            self.places.update(zip(group.blocks, np.split(places, np.cumsum(group.sizes)[:-1]), strict=True))

    @property
    def _width(self) -> int:
        """Columns enough for those that are multiplied."""
        assert self.products is not None
        return max(self.features, int(self.products.columns[-1]) + 1)

    def _targets(self, rows: Batch) -> Targets:
        labels = Labels(self.classes.values, rows.codes)
        return targets_of(labels, sample_weight=rows.weights, tie_positive=self.recipe.tie_positive)[0]

    def _widen(self, block: Batch) -> None:
        """Room for the features of a block; new ones have a weight of 0."""
        needed = block.features
        self.features = max(self.features, needed)
        if needed <= self.state.features or self.products is not None:
            return
        _check_room(len(self.state.intercept), needed)
        self.state = self._fitted(max(needed, min(2 * self.state.features, MOST_WEIGHTS // len(self.state.intercept))))

    def _fitted(self, features: int) -> State:
        if features == self.state.features:
            return self.state
        return self.state.with_features(features)

    def _end_epoch(self, store: BlockStore, filled: bool, seconds: float) -> None:
        state, rows, after = self.state, self.progress.rows, Tally.of(self.state)
        if rows == 0:
            raise DataError("the data has no rows")
        if self.progress.epoch == 0:
            self.rows = rows
        epoch = after.since(self.before, self.progress.weight, rows, finite=state.is_finite(), seconds=seconds)
        if self.judge.hear(epoch, lambda: self._count_mistakes(store, filled) == 0) == "converged":
            state.converged()
        self.before = after
        self.progress = Progress(epoch=self.progress.epoch + 1)
        self.order = None

    def _count_mistakes(self, store: BlockStore, filled: bool) -> float:
        groups = store.iter_groups(range(len(store))) if filled else self._read_groups(store, keep=False)
        return sum(self._mistakes_of(self._prepared(group.rows)) for group in groups)

    def _mistakes_of(self, rows: Batch) -> float:
        targets = self._targets(rows)
        if self.products is None:
            return self.state.count_mistakes(rows.table(self.state.features), targets)
        return sum(
            self.state.count_mistakes(terms, targets.take(part))
            for terms, part in self.products.iter_terms(rows.table(self._width))
        )

    def _prepared(self, rows: Batch) -> Batch:
        """The rows as they are learned: weighed by their classes, and scaled."""
        if self.class_weights is not None:
            given = self.class_weights[rows.codes]
            rows = replace(rows, weights=given if rows.weights is None else rows.weights * given)
        if self.scale is None:
            return rows
        return replace(rows, values=rows.values / self._scale(rows.features)[rows.indices])

    def _scale(self, features: int) -> NDArray[np.float64]:
        assert self.scale is not None
        if features > len(self.scale):
            self.scale = np.concatenate([self.scale, np.ones(features - len(self.scale))])
        return self.scale[:features]

    def _names(self, answer: Any) -> dict[int, str]:
        """The names of the columns that weigh most."""
        if isinstance(answer, Quadratic):
            return self.reader.find_names(answer.products.columns)
        if not isinstance(answer, Linear) or (
            isinstance(self.reader.encoder, LineEncoder) and not self.reader.encoder.hashed
        ):
            return {}
        columns = answer.columns()
        if len(columns) > MOST_NAMES:
            sizes = np.abs(answer.weights[:, columns]).max(axis=0)
            columns = np.sort(columns[np.argsort(-sizes, kind="stable")[:MOST_NAMES]])
        return self.reader.find_names(columns)


def _check_room(rows: int, features: int) -> None:
    if rows * features > MOST_WEIGHTS:
        raise DataError(
            f"{features:,} features and {rows} weight rows would need {rows * features * 8 / 2**30:.0f} GB of weights: "
            "are the feature numbers right? Hashed features need fewer bits"
        )
