"""A learner that follows the log: each example is predicted, compared with its label and learned, in order.

Invariant: the state is a plain fold over the stored examples. Nothing else changes it, so that a replay gives the same
bits.
"""

from __future__ import annotations

import heapq
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

import msgspec

from rosenblatt import learners
from rosenblatt.data.labels import label_values
from rosenblatt.errors import ModelError, ParameterError, RosenblattError
from rosenblatt.learners.base import LinearLearner
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.container import pack_container, read_container, unpack_container, write_container
from rosenblatt.models.file import from_content, to_content
from rosenblatt.models.model import Model, model_of
from rosenblatt.params import Params, name_of, params_from_json
from rosenblatt.select.loading import revive
from rosenblatt.service.decoding import Features
from rosenblatt.service.event_log import Entry, EventLog, LearnerRecord
from rosenblatt.service.schemas import Examples

RECENT = 1000
POINTS = 240  # of a curve on the page; when there are more, every other one is dropped
SNAPSHOTS = 2  # beside a log


class Progress(msgspec.Struct):
    """How far and how well a learner follows the log: saved with every snapshot.

    Progressive error: every example is predicted before it is learned. Drift as in Gama, Medas, Castillo and Rodrigues
    (2004): the error rate ``p`` since the last alarm, with its standard deviation ``s``, is compared with the best such
    pair; an alarm is raised at three deviations above it.
    """

    seq: int = 0
    hash_chain: bytes = b""
    examples: int = 0  # learned: not those with the weight 0
    mistakes: int = 0
    skipped: int = 0  # examples that could not be learned
    recent: list[bool] = []  # was it a mistake? the latest thousand, as a ring
    curve: list[tuple[int, float, float]] = []  # examples, error over all, over the latest
    curve_step: int = 1
    drift_alarms: int = 0
    alarms: list[int] = []  # the latest, as numbers of examples
    window: int = 0  # examples since the last alarm
    window_mistakes: int = 0
    best_rate: float = 2.0
    best_deviation: float = 2.0
    newest_mistakes: list[dict[str, Any]] = []

    def note(self, row: Features, label: Any, guess: Any, mistake: bool) -> None:
        """One more example, whether or not it is learned."""
        self.seq += 1
        if mistake:
            largest = heapq.nlargest(8, row.items(), key=lambda item: abs(item[1]))
            shown = {str(name)[:60]: value for name, value in largest}
            newest = {"seq": self.seq, "label": label, "predicted": guess, "row": shown}
            self.newest_mistakes = [*self.newest_mistakes, newest][-20:]

    def count(self, mistake: bool) -> None:
        """One more example is learned."""
        if len(self.recent) < RECENT:
            self.recent.append(mistake)
        else:
            self.recent[self.examples % RECENT] = mistake
        self.examples += 1
        self.mistakes += mistake
        self._update_drift(mistake)
        if self.examples % self.curve_step == 0:
            self.curve.append((self.examples, self.mistakes / self.examples, sum(self.recent) / len(self.recent)))
            if len(self.curve) > POINTS:
                self.curve = self.curve[1::2]
                self.curve_step *= 2

    def _update_drift(self, mistake: bool) -> None:
        self.window += 1
        self.window_mistakes += mistake
        if self.window < 30:
            return
        rate = self.window_mistakes / self.window
        deviation = math.sqrt(rate * (1 - rate) / self.window)
        if rate + deviation <= self.best_rate + self.best_deviation:
            self.best_rate, self.best_deviation = rate, deviation
        elif mistake and rate + deviation > self.best_rate + 3 * self.best_deviation + 1 / self.window:
            self.drift_alarms += 1
            self.alarms = [*self.alarms, self.examples][-20:]
            self.window = self.window_mistakes = 0
            self.best_rate = self.best_deviation = 2.0

    def summary(self) -> dict[str, Any]:
        """The counts and the progressive error."""
        return {
            "examples": self.examples,
            "mistakes": self.mistakes,
            "progressive_error": self.mistakes / self.examples if self.examples else None,
            "recent_error": sum(self.recent) / len(self.recent) if self.recent else None,
            "drift_alarms": self.drift_alarms,
            "skipped": self.skipped,
        }


class OnlineModel:
    """A learner, the columns of its features, and its progress.

    `names` is changed in place as the learner adds columns: a copy of very many would take time.
    """

    def __init__(self, learner: Any, begun: Model | None = None, progress: Progress | None = None) -> None:
        self.learner = learner
        self.encoder: Any = None if begun is None else begun.encoder
        self._curves = None if begun is None else begun.calibrator
        self._curves_count = 0 if begun is None else len(begun.classes)
        # Of encoded columns, for explanations.
        self.display_names: Mapping[int, Any] | None = None if begun is None or begun.encoder is None else begun.names
        self.progress = Progress() if progress is None else progress
        self._known: tuple[Any, list[Any]] = None, []
        self.names: dict[Any, int] = dict(learner.columns_by_name()) if learner.has_learned else {}

    @property
    def classes(self) -> list[Any]:
        if not self.learner.has_learned:
            return []
        known = self.learner.classes_
        if known is not self._known[0]:
            self._known = known, label_values(known)
        return self._known[1]

    @property
    def calibrator(self) -> Calibrator | None:
        """The curves of the model that it began with, until there is a new class."""
        return self._curves if len(self.classes) == self._curves_count else None

    def learn(self, entry: Entry, rows: Sequence[Features], examples: Examples) -> tuple[list[Any], list[bool]]:
        """Learn the examples of an entry; the predictions before, and which of them were mistakes."""
        predicted, mistaken = [], []
        for row, label, weight in zip(rows, examples.labels, examples.weights or repeat(1.0), strict=False):
            guess, mistake = self._predict(row, label)
            if weight > 0:
                self._learn_one(row, label, weight, mistake)
            self.progress.note(row, label, guess, mistake)
            predicted.append(guess)
            mistaken.append(mistake)
        self.progress.hash_chain = entry.hash_chain
        return predicted, mistaken

    def skip(self, entry: Entry, reason: str) -> None:
        """Count the examples of an entry without learning them."""
        print(f"rosenblatt: examples {entry.seq} to {entry.last} were not learned: {reason}", file=sys.stderr)
        self.progress.skipped += entry.size
        self.progress.seq, self.progress.hash_chain = entry.last, entry.hash_chain

    def _predict(self, row: Features, label: Any) -> tuple[Any, bool]:
        classes = self.classes
        if not classes:
            return None, True
        if len(classes) == 1:
            return classes[0], label != classes[0]
        return judge(self.learner.scores_one(row).tolist(), classes, label)

    def _learn_one(self, row: Features, label: Any, weight: float, mistake: bool) -> None:
        try:
            self.learner.learn_one(row, label, weight)
        except (RosenblattError, ValueError, TypeError, MemoryError) as error:  # nothing was changed
            self.progress.skipped += 1
            text = f"rosenblatt: example {self.progress.seq + 1} was not learned: {error or type(error).__name__}"
            print(text, file=sys.stderr, flush=True)
            return
        names = self.names
        for name in row:
            if name not in names:  # the next column, as in the learner
                names[name] = len(names)
        self.progress.count(mistake)

    def model(self) -> Model:
        """The current state as a model."""
        model = model_of(self.learner, encoder=self.encoder, names=self.display_names, state=True)
        return replace(model, calibrator=self.calibrator)


def judge(scores: list[float], labels: list[Any], label: Any) -> tuple[Any, bool]:
    """The predicted label, and True if it is a mistake; a tie with another class is a mistake.

    >>> judge([0.0], ["ham", "spam"], "spam")
    ('spam', True)
    >>> judge([0.5, 2.0, -1.0], ["a", "b", "c"], "b")
    ('b', False)
    """
    if len(scores) == 1:
        score = scores[0]
        return labels[score >= 0], not (score > 0 if label == labels[1] else score < 0 and label == labels[0])
    best = max(scores)
    at = scores.index(best)
    return labels[at], label != labels[at] or scores.count(best) > 1


def new_learner(params: Params, begun: Model | None = None) -> Any:
    """A new learner over the columns and classes of a model with an encoder if there is one."""
    params.check_online()
    learner = getattr(learners, params.learner)(**params.values())
    if not isinstance(learner, LinearLearner) or params.is_regression:
        raise ParameterError(f"learner={name_of(params)!r} cannot learn here: serve a linear classifier")
    if begun is not None and begun.encoder is not None:
        learner.begin(begun.classes, begun.features)
    return learner


def first_model(record: LearnerRecord, params: Params | None = None) -> OnlineModel:
    """The model before the first entry; with other params, a new one that reads the same columns."""
    if record.model is None:
        return OnlineModel(new_learner(params or params_from_json(json.loads(record.params))))
    begun = from_content(unpack_container(record.model, "model", "the model"))
    if params is None:
        return OnlineModel(revive(begun), begun)
    return OnlineModel(new_learner(params, begun), replace(begun, calibrator=None))


def model_bytes(model: Model) -> bytes:
    """A model as `save` writes it."""
    return pack_container("model", to_content(model), "the model")


# -- snapshots, so that a restart need not begin at the first example


def save_snapshot(model: OnlineModel, log: EventLog) -> None:
    """Write the current state atomically, and remove the oldest snapshots."""
    if not model.learner.has_learned:
        return
    os.makedirs(f"{log.path}.snapshots", mode=0o700, exist_ok=True)
    path = Path(f"{log.path}.snapshots", f"{model.progress.seq:016d}.snapshot")
    progress = msgspec.to_builtins(model.progress)
    content = {"log": log.id, "progress": progress, "model": to_content(model.model())}
    write_container(path, "snapshot", content)
    found = _snapshots(log)  # some may be of an earlier log at this path
    for old in found[found.index(path) + SNAPSHOTS :]:
        old.unlink()


def load_snapshot(log: EventLog) -> OnlineModel | None:
    """The newest snapshot of this log that can be read."""
    for path in _snapshots(log):
        with suppress(ModelError, OSError, KeyError, TypeError, ValueError):  # an older one, or the log alone, will do
            content = read_container(path, "snapshot")
            progress = msgspec.convert(content["progress"], Progress)
            if content["log"] == log.id:
                model = from_content(content["model"])
                return OnlineModel(revive(model), model, progress)
    return None


def _snapshots(log: EventLog) -> list[Path]:
    """The paths, the newest first."""
    return sorted(Path(f"{log.path}.snapshots").glob("*.snapshot"), reverse=True)
