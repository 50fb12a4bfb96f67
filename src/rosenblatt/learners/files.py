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
from rosenblatt.data.lines import LineEncoder
from rosenblatt.data.readers import Reader, check_classes
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learners.classes import weight_rows
from rosenblatt.learners.epochs import StopReason
from rosenblatt.learners.history import History
from rosenblatt.learners.penalty import PenaltyName, check_penalised, penalty_of
from rosenblatt.learners.rules import Rule
from rosenblatt.learners.start import check_count
from rosenblatt.learners.state import KeepName, State
from rosenblatt.models.linear import Linear
from rosenblatt.models.model import Model
from rosenblatt.models.quadratic import Products, Quadratic, count_terms

MOST_WEIGHTS = 1 << 30  # values of all classes together: 8 GB
MOST_NAMES = 1 << 17

# name: the class in Python, its rule, its keep
LEARNERS: dict[str, tuple[str, str, KeepName]] = {
    "perceptron": ("Perceptron", "perceptron", "last"),
    "averaged": ("AveragedPerceptron", "perceptron", "average"),
    "voted": ("VotedPerceptron", "perceptron", "vote"),
    "pocket": ("PocketPerceptron", "perceptron", "pocket"),
    "pa": ("PassiveAggressive", "PA", "last"),
    "pa1": ("PassiveAggressive", "PA-I", "last"),
    "pa2": ("PassiveAggressive", "PA-II", "last"),
    "arow": ("AROW", "AROW", "last"),
}

# rule: the numbers that it takes
_NUMBERS = {"perceptron": ("eta0", "beta"), "PA": ("C",), "PA-I": ("C",), "PA-II": ("C",), "AROW": ("r",)}
_PENALTY = ("penalty", "alpha", "l1_ratio")  # for all rules but AROW


@dataclass(frozen=True)
class Options:
    """How to learn; the names are those of the Python classes."""

    learner: str = "averaged"
    max_iter: int = 10
    tol: float | None = 0.0
    n_iter_no_change: int = 5
    shuffle: bool = True
    random_state: int = 0
    fit_intercept: bool = True
    tie: str = "mistake"
    eta0: float = 1.0
    beta: float = 0.0
    C: float = 1.0
    r: float = 1.0
    penalty: PenaltyName | None = None
    alpha: float = 0.0001
    l1_ratio: float = 0.15
    keep: str | None = None
    block: int = GROUP * ROWS  # rows that are shuffled together

    def __post_init__(self) -> None:
        if self.learner not in LEARNERS:
            raise ParameterError(f"learner={self.learner!r}: must be one of {', '.join(LEARNERS)}")
        for name in ("max_iter", "n_iter_no_change", "block"):
            check_count(name, getattr(self, name))
        if self.keep not in (None, "last", "average", "vote", "pocket"):
            raise ParameterError(f"keep={self.keep!r}: must be last, average, vote or pocket")
        if self.rule().second_order and self.kept() not in ("last", "average"):
            raise ParameterError(f"keep={self.keep!r}: AROW keeps 'last' or 'average'")
        if self.rule().penalty is not None:
            check_penalised(self.kept())

    def rule(self) -> Rule:
        name: Any = LEARNERS[self.learner][1]
        eta0 = self.eta0 if name == "perceptron" else 1.0
        penalty = None if name == "AROW" else penalty_of(self.penalty, self.alpha, self.l1_ratio, eta0)
        return Rule(name, eta0=self.eta0, beta=self.beta, C=self.C, r=self.r, penalty=penalty)

    def own(self) -> tuple[str, ...]:
        """The options that this learner's rule takes; the others mean nothing to it."""
        name = LEARNERS[self.learner][1]
        return _NUMBERS[name] + (() if name == "AROW" else _PENALTY)

    def kept(self) -> KeepName:
        keep: Any = self.keep or LEARNERS[self.learner][2]
        kept: KeepName = keep
        return kept

    def parameters(self) -> dict[str, Any]:
        """What the learner of this name was told, for the model file."""
        known = asdict(self)
        del known["learner"], known["keep"], known["block"]
        rule = self.rule().name
        for name in {"eta0", "beta", "C", "r", *_PENALTY} - set(self.own()):
            del known[name]
        return known | {"keep": self.kept()} | ({"variant": rule} if rule.startswith("PA") else {})


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
    options: Options
    classes: Classes
    state: State
    features: int = 0
    history: History = field(default_factory=History)
    progress: Progress = field(default_factory=Progress)
    order: NDArray[np.uint32] | None = None  # of the blocks in this epoch, once it is drawn
    before: tuple[int, int] = (0, 0)  # mistakes and updates before this epoch
    weight_before: float = 0.0  # the sample weights of the mistakes before it
    best: float = -np.inf
    waited: int = 0
    rows: int = 0  # of the data, known after the first epoch
    places: dict[int, NDArray[np.int64]] = field(default_factory=dict)  # where a vote has stored each block's rows
    stop_reason: StopReason | None = None
    scale: NDArray[np.float64] | None = None  # what each column is divided by; columns beyond it by 1
    choice: str | None = None  # why this learner, if it was chosen
    products: Products | None = None  # what it learns from, instead of the columns

    @classmethod
    def begin(
        cls,
        reader: Reader,
        options: Options,
        *,
        scale: NDArray[np.float64] | None = None,
        products: Products | None = None,
        choice: str | None = None,
    ) -> FileRun:
        """A run that has learned nothing yet."""
        classes = check_classes(reader.scan_classes())
        if options.tie == "positive" and len(classes) > 2:
            raise ParameterError(f"tie='positive' has a meaning for two classes only, and there are {len(classes)}")
        known = reader.encoder.features or 0
        rows = weight_rows(len(classes))
        _check_room(rows, known)
        weights: NDArray[Any] = np.zeros((rows, known), order="F")
        if products is not None:
            if options.kept() not in ("last", "average"):
                raise ParameterError(
                    f"keep={options.kept()!r}: products of columns are learned with 'last' or 'average'"
                )
            weights = np.zeros((rows, count_terms(len(products.columns))), np.float32)
        state = State.begin(
            weights,
            np.zeros(rows),
            keep=options.kept(),
            fit_intercept=options.fit_intercept,
            generator=engine.seed_generator(options.random_state),
            second_order=options.rule().second_order,
        )
        return cls(reader, options, classes, state, known, scale=scale, choice=choice, products=products)

    def run(
        self,
        *,
        cache: str | None = None,
        on_group: Callable[[FileRun], None] = lambda run: None,
        on_epoch: Callable[[FileRun], None] = lambda run: None,
    ) -> None:
        """Go on until a stopping rule holds."""
        if self.stop_reason is not None:
            return
        found = BlockStore.find(cache, self.fingerprint()) if cache is not None else None
        with found or BlockStore(cache, memory=UNLIMITED if self._whole else MEMORY) as store:
            filled = found is not None
            while self.stop_reason is None:
                started = time.perf_counter()
                self._run_epoch(store, filled, on_group)
                if not filled and (self.options.max_iter > 1 or cache is not None):
                    store.keep(self.fingerprint())
                    filled = True
                self._end_epoch(store, filled, time.perf_counter() - started)
                on_epoch(self)

    def fingerprint(self) -> str:
        """What the blocks depend on."""
        made_of = [
            [source.stamp for source in self.reader.sources],
            self.reader.encoder.to_json(),
            self.classes.values.tolist(),
            [self.options.block, VALUES, self._whole, self.reader.skip_bad],
        ]
        return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()

    def model(self, names: dict[int, str] | None = None) -> Model:
        """What has been learned, ready to predict."""
        features = max(self.features, 1)
        state = self.state if self.products is not None else self._fitted(features)
        answer: Any = state.answer()
        history: dict[str, Any] = {
            "mistakes": self.history.mistakes,
            "updates": self.history.updates,
            "stop_reason": self.stop_reason or "unfinished",
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
            LEARNERS[self.options.learner][0],
            self.options.parameters(),
            self.classes.values,
            (answer,),
            features,
            self.reader.encoder,
            names,
            history,
        )

    # A pocket's challenger is checked on all rows, so they all stay in one block.
    @property
    def _whole(self) -> bool:
        return self.options.kept() == "pocket"

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
                if self.options.shuffle and len(store) > GROUP:
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
        return GROUP if self.options.shuffle else 1

    @property
    def _stores(self) -> bool:
        return self.options.max_iter > 1

    def _read_groups(self, store: BlockStore, keep: bool) -> Iterator[Group]:
        rows, values = (UNLIMITED, UNLIMITED) if self._whole else (max(1, self.options.block // GROUP), VALUES)

        def blocks() -> Iterator[Batch]:
            for block in iter_blocks(self.reader, self.classes, rows=rows, values=values):
                if keep:
                    store.add(block)
                yield block

        return iter_groups(blocks(), self._size)

    def _learn(self, group: Group) -> None:
        rows = self._scaled(group.rows)
        y, order = self._targets(rows), None
        if self.options.shuffle:
            order = np.arange(len(rows), dtype=np.uint32)
            engine.shuffle(order, self.state.generator)
        if self.products is None:
            self._learn_columns(group, rows, y, order)
        else:
            rule, tie = self.options.rule(), self.options.tie == "positive"
            for terms, part in self.products.iter_terms(rows.table(self._width), order):
                weights = None if rows.weights is None else rows.weights[part]
                self.state.learn(terms, y[part], rule, tie_positive=tie, sample_weight=weights)
        self.progress.place += 1
        self.progress.rows += len(rows)
        self.progress.weight += len(rows) if rows.weights is None else float(rows.weights.sum())
        self.progress.mistakes = self.state.counter("mistakes") - self.before[0]

    def _learn_columns(self, group: Group, rows: Batch, y: NDArray[Any], order: NDArray[np.uint32] | None) -> None:
        table = rows.table(self.state.features)
        state, tie = self.state, self.options.tie == "positive"
        if state.pocket_mistakes is not None and state.counter("seen") == 0:
            state.pocket_mistakes[0] = state.count_mistakes(table, y, tie_positive=tie, sample_weight=rows.weights)
        places = None
        if state.keep == "vote":
            known = [self.places.get(k, np.full(size, -1)) for k, size in zip(group.blocks, group.sizes, strict=True)]
            places = np.concatenate(known)
        state.learn(
            table,
            y,
            self.options.rule(),
            tie_positive=tie,
            sample_weight=rows.weights,
            order=order,
            ratchet=True,
            places=places,
        )
        if places is not None:
            self.places.update(zip(group.blocks, np.split(places, np.cumsum(group.sizes)[:-1]), strict=True))

    @property
    def _width(self) -> int:
        """Columns enough for those that are multiplied."""
        assert self.products is not None
        return max(self.features, int(self.products.columns[-1]) + 1)

    def _targets(self, block: Batch) -> NDArray[Any]:
        if len(self.classes) == 2:
            return (block.codes * 2 - 1).astype(np.int8)
        return block.codes

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
        state, options, rows = self.state, self.options, self.progress.rows
        if rows == 0:
            raise DataError("the data has no rows")
        if self.progress.epoch == 0:
            self.rows = rows
        if not state.is_finite():
            raise DataError(f"the weights overflowed in epoch {self.progress.epoch + 1}: scale the data")
        mistakes = state.counter("mistakes") - self.before[0]
        updates = state.counter("updates") - self.before[1]
        self.history.mistakes.append(mistakes)
        self.history.updates.append(updates)
        self.history.seconds.append(seconds)
        score = (self.weight_before - float(state.mistake_weight[0])) / self.progress.weight
        self.waited = 0 if options.tol is None or score - self.best > options.tol else self.waited + 1
        self.best = max(self.best, score)
        moved = updates > 0 or state.penalty is not None
        if mistakes == 0 and (not moved or self._count_mistakes(store, filled) == 0):
            self.stop_reason = "converged"
            if state.keep == "pocket":
                state.take_into_pocket(0.0)
        elif self.waited >= options.n_iter_no_change:
            self.stop_reason = "no_change"
        elif len(self.history) >= options.max_iter:
            self.stop_reason = "max_iter"
        self.before = state.counter("mistakes"), state.counter("updates")
        self.weight_before = float(state.mistake_weight[0])
        self.progress = Progress(epoch=self.progress.epoch + 1)
        self.order = None

    def _count_mistakes(self, store: BlockStore, filled: bool) -> float:
        groups = store.iter_groups(range(len(store))) if filled else self._read_groups(store, keep=False)
        return sum(self._mistakes_of(self._scaled(group.rows)) for group in groups)

    def _mistakes_of(self, rows: Batch) -> float:
        y, tie = self._targets(rows), self.options.tie == "positive"
        count = partial(self.state.count_mistakes, tie_positive=tie)
        if self.products is None:
            return count(rows.table(self.state.features), y, sample_weight=rows.weights)
        return sum(
            count(terms, y[part], sample_weight=None if rows.weights is None else rows.weights[part])
            for terms, part in self.products.iter_terms(rows.table(self._width))
        )

    def _scaled(self, rows: Batch) -> Batch:
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
