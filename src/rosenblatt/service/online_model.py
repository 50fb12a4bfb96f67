"""A learner that follows the log: each example is predicted, compared with its label and learned, in order.

Invariant: the state is a plain fold over the stored examples. Nothing else changes it, so that a replay gives the same
bits.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any

import numpy as np

from rosenblatt import engine, learners
from rosenblatt.data.labels import label_values, sorted_classes
from rosenblatt.errors import ModelError, ParameterError, RosenblattError
from rosenblatt.learners.learned import Learned
from rosenblatt.learners.linear import LinearLearner
from rosenblatt.learners.serialization import learner_from_tensors, learner_to_tensors
from rosenblatt.learners.stopping import History
from rosenblatt.learners.targets import check_online
from rosenblatt.learners.weights import LINEAR, seed_of
from rosenblatt.models.container import SavedState, pack_container, read_container, unpack_container, write_container
from rosenblatt.models.file import to_parts
from rosenblatt.models.model import Model, model_of
from rosenblatt.params import Params, name_of, params_from_json
from rosenblatt.service.decoding import Features
from rosenblatt.service.event_log import Entry, EventLog
from rosenblatt.service.schemas import Examples

RECENT = 1000
POINTS = 240  # of a curve on the page; when there are more, every other one is dropped
SNAPSHOTS = 2  # beside a log
SPAN, SPANS = 1000, 60  # examples per bar of the page's class chart, and bars


class ErrorTracker:
    """Progressive error: over all examples and the latest thousand, as a curve, with an alarm for drift.

    Drift as in Gama, Medas, Castillo and Rodrigues (2004): the error rate ``p`` since the last alarm, with its standard
    deviation ``s``, is compared with the best such pair; an alarm is raised at three deviations above it.
    """

    def __init__(self) -> None:
        self.examples = self.mistakes = 0
        self.recent: deque[int] = deque(maxlen=RECENT)
        self.curve: list[tuple[int, float, float]] = []  # examples, error over all, over the latest
        self.every = 1
        self.drift_alarms = 0
        self.alarms: list[int] = []  # the latest, as numbers of examples
        self._recent_mistakes = 0
        self._restart()

    def _restart(self) -> None:
        self._seen = self._wrong = 0
        self._best_rate = self._best_deviation = 2.0

    def update(self, mistake: bool) -> None:
        """One more example."""
        self.examples += 1
        self.mistakes += mistake
        recent = self.recent
        if len(recent) == RECENT:
            self._recent_mistakes -= recent[0]
        recent.append(mistake)
        self._recent_mistakes += mistake
        self._update_drift(mistake)
        if self.examples % self.every == 0:
            self.curve.append((self.examples, self.mistakes / self.examples, self._recent_mistakes / len(recent)))
            if len(self.curve) > POINTS:
                self.curve = self.curve[1::2]
                self.every *= 2

    def _update_drift(self, mistake: bool) -> None:
        self._seen += 1
        self._wrong += mistake
        if self._seen < 30:
            return
        rate = self._wrong / self._seen
        deviation = math.sqrt(rate * (1 - rate) / self._seen)
        if rate + deviation <= self._best_rate + self._best_deviation:
            self._best_rate, self._best_deviation = rate, deviation
        elif mistake and rate + deviation > self._best_rate + 3 * self._best_deviation + 1 / self._seen:
            self.drift_alarms += 1
            self.alarms = [*self.alarms, self.examples][-20:]
            self._restart()

    @property
    def error(self) -> float | None:
        """The share of mistakes among all examples."""
        return self.mistakes / self.examples if self.examples else None

    @property
    def recent_error(self) -> float | None:
        """The share of mistakes among the latest thousand."""
        return self._recent_mistakes / len(self.recent) if self.recent else None

    def to_json(self) -> dict[str, Any]:
        return vars(self) | {"recent": list(map(int, self.recent))}

    @classmethod
    def from_json(cls, known: dict[str, Any]) -> ErrorTracker:
        tracker = cls()
        vars(tracker).update(known)
        tracker.recent = deque(known["recent"], maxlen=RECENT)
        tracker.curve = [(int(n), float(a), float(b)) for n, a, b in known["curve"]]
        return tracker


class OnlineModel:
    """A learner, its progressive error, and the number of the last example that it has learned."""

    def __init__(self, learner: Any, encoder: Any = None) -> None:
        self.learner, self.encoder = learner, encoder
        self.tracker = ErrorTracker()
        self.seq, self.hash_chain = 0, b""
        self.skipped, self.skip_reason = 0, ""  # examples that could not be learned
        self.newest_mistakes: deque[dict[str, Any]] = deque(maxlen=20)
        self.spans: deque[tuple[int, dict[str, int]]] = deque(maxlen=SPANS)  # first number, labels seen
        self._counted: Counter[str] = Counter()
        self._names: dict[Any, int] = {}
        self.names  # noqa: B018 (a learner of a model or a snapshot has some)
        self._known: tuple[list[Any], frozenset[Any]] = [], frozenset()

    @property
    def names(self) -> dict[Any, int]:
        """The columns of the features, as the learner has them: it gives a copy, which takes time for very many."""
        width = self.learner.n_features_in_ if self.learner.has_learned else 0
        if len(self._names) != width:
            self._names = self.learner.columns_by_name() if width else {}
        return self._names

    @property
    def classes(self) -> list[Any]:
        return self.learner.learned.labels_in_order if self.learner.has_learned else []

    def new_labels(self, labels: Sequence[Any]) -> set[Any]:
        """The labels that are not classes yet."""
        classes = self.classes
        if self._known[0] is not classes:
            self._known = classes, frozenset(classes)
        return {label for label in labels if label not in self._known[1]}

    def skip(self, entry: Entry, reason: str) -> None:
        """Pass over examples that cannot be learned."""
        self._note_skipped(entry.count, reason)
        self.seq, self.hash_chain = entry.last, entry.hash_chain

    def _note_skipped(self, count: int, reason: str) -> None:
        self.skipped += count
        self.skip_reason = self.skip_reason or f"example {self.seq + 1}: {reason}"

    def learn(self, entry: Entry, rows: Sequence[Features], examples: Examples) -> tuple[list[Any], list[bool]]:
        """Learn the examples of an entry; the predictions before, and which of them were mistakes."""
        predicted, mistaken = [], []
        for row, label, weight in zip(rows, examples.labels, examples.weights or repeat(1.0), strict=False):
            guess, mistake = self._learn_one(row, label, weight)
            predicted.append(guess)
            mistaken.append(mistake)
            self._note(row, label, guess, mistake)
        self.hash_chain = entry.hash_chain
        return predicted, mistaken

    def _learn_one(self, features: Features, label: Any, weight: float) -> tuple[Any, bool]:
        learner, guess, mistake = self.learner, None, True
        if learner.has_learned:
            labels = learner.learned.labels_in_order
            if len(labels) == 1:
                guess, mistake = labels[0], label != labels[0]
            else:
                guess, mistake = judge(learner.scores_one(features).tolist(), labels, label)
        if weight > 0:
            try:
                learner.learn_one(features, label, weight)
            except (RosenblattError, ValueError, TypeError, MemoryError) as error:  # nothing was changed
                self._note_skipped(1, str(error) or type(error).__name__)
                return guess, mistake
            names = self._names
            for name in features:
                if name not in names:  # the next column, as in the learner
                    names[name] = len(names)
            self.tracker.update(mistake)
        return guess, mistake

    def _note(self, row: Features, label: Any, guess: Any, mistake: bool) -> None:
        self.seq += 1
        self._counted[str(label)] += 1
        if self.seq % SPAN == 0:
            self.spans.append((self.seq - SPAN + 1, dict(self._counted.most_common(20))))
            self._counted = Counter()
        if mistake:
            largest = sorted(row.items(), key=lambda item: -abs(item[1]))[:8]
            shown = {str(name)[:60]: value for name, value in largest}
            self.newest_mistakes.append({"seq": self.seq, "label": label, "predicted": guess, "row": shown})

    def model(self) -> Model:
        """What is learned so far, as a model."""
        return model_of(self.learner, encoder=self.encoder, state=True)

    def dump(self) -> dict[str, Any]:
        """Everything but the learner."""
        return {
            "seq": self.seq,
            "hash_chain": self.hash_chain.hex(),
            "tracker": self.tracker.to_json(),
            "skipped": [self.skipped, self.skip_reason],
            "newest_mistakes": list(self.newest_mistakes),
            "spans": list(self.spans),
            "counted": dict(self._counted),
        }

    @classmethod
    def load(cls, known: dict[str, Any], learner: Any, encoder: Any = None) -> OnlineModel:
        """What `dump` gave, with the learner of that time."""
        model = cls(learner, encoder)
        model.seq, model.hash_chain = known["seq"], bytes.fromhex(known["hash_chain"])
        model.tracker = ErrorTracker.from_json(known["tracker"])
        model.skipped, model.skip_reason = known["skipped"]
        model.newest_mistakes.extend(known["newest_mistakes"])
        model.spans.extend((first, labels) for first, labels in known["spans"])
        model._counted = Counter(known["counted"])
        return model


def judge(scores: list[float], labels: list[Any], label: Any) -> tuple[Any, bool]:
    """The predicted label, and whether it is a mistake: a tie with another class is one.

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


def new_learner(params: Params, classes: Sequence[Any] = (), features: int = 0) -> Any:
    """A learner that has seen nothing; it may start with classes, and with columns 0 to `features`."""
    check_online(params)
    learner = getattr(learners, params.learner)(**params.values())
    if not isinstance(learner, LinearLearner):
        raise ParameterError(f"learner={name_of(params)!r} cannot learn here: serve a linear classifier")
    if classes:
        known = sorted_classes(list(classes))
        params.check_classes(len(known))
        generator = engine.seed_generator(seed_of(params.random_state))
        states = LINEAR.new_states(params, None, known, generator)  # type: ignore[arg-type]
        learner.history_ = History()
        learner.learned = Learned(known, states, LINEAR.make_predictors, params.shape())
        learner.learned.begin_stream(dict(enumerate(range(features))), params)
        learner.n_iter_, learner.converged_, learner.stop_reason_ = 1, False, "learn_one"
    return learner


def open_stream(learner: Any) -> None:
    """From now on the learner is a stream, whose features grow as they come."""
    if learner.learned.stream is None:
        learner.learned.begin_stream(learner.columns_by_name(), learner.params())


def learner_to_bytes(learner: Any) -> bytes:
    """Serialize a learner: params, classes, names, counters and every array."""
    header: dict[str, Any] = {"params": learner.params().to_json(), "classes": None}
    if not learner.has_learned:
        return pack_container("state", header, {}, "the state")
    kept = learner_to_tensors(learner)
    if kept is None:
        raise ModelError("the learner's parameters were changed since it began")
    names = list(learner.columns_by_name())
    header |= {
        "classes": label_values(learner.learned.classes),
        "features": len(names),
        "names": None if names == list(range(len(names))) else names,
        "state": kept.header,
    }
    return pack_container("state", header, kept.tensors, "the state")


def learner_from_bytes(data: bytes) -> Any:
    """The learner of these bytes: it learns and predicts with the same bits."""
    header, tensors = unpack_container(data, "state", "the state")
    if header["classes"] is None:
        return new_learner(params_from_json(header["params"]))
    features = header["features"]
    names = dict(enumerate(range(features) if header["names"] is None else header["names"]))
    learner = learner_from_tensors(SavedState(header["state"], tensors), np.array(header["classes"]), features, names)
    open_stream(learner)
    return learner


def model_bytes(model: Model) -> bytes:
    """A model as `save` writes it."""
    header, tensors = to_parts(model)
    return pack_container("model", header, tensors, "the model")


# -- snapshots, so that a restart need not begin at the first example


def save_snapshot(model: OnlineModel, log: EventLog) -> None:
    """Write what is learned so far, whole or not at all; remove the oldest snapshots."""
    os.makedirs(f"{log.path}.snapshots", mode=0o700, exist_ok=True)
    state = np.frombuffer(learner_to_bytes(model.learner), np.uint8)
    path = os.path.join(f"{log.path}.snapshots", f"{model.seq:016d}.snapshot")
    write_container(path, "snapshot", {"log": log.id, "model": model.dump()}, {"state": state})
    for old in _snapshots(log)[SNAPSHOTS:]:
        with suppress(OSError):
            os.remove(old)


def load_snapshot(log: EventLog, encoder: Any) -> OnlineModel | None:
    """The newest snapshot whose examples are those of this log."""
    for path in _snapshots(log):
        with suppress(ModelError, OSError, KeyError, TypeError, ValueError):  # an older one, or the log alone, will do
            header, tensors = read_container(path, "snapshot")
            known = header["model"]
            if header["log"] == log.id and log.chain_at(known["seq"]) == bytes.fromhex(known["hash_chain"]):
                return OnlineModel.load(known, learner_from_bytes(tensors["state"].tobytes()), encoder)
    return None


def _snapshots(log: EventLog) -> list[str]:
    """The paths, the newest first."""
    folder, names = f"{log.path}.snapshots", []
    with suppress(OSError):
        names = sorted((name for name in os.listdir(folder) if re.fullmatch(r"\d{16}\.snapshot", name)), reverse=True)
    return [os.path.join(folder, name) for name in names]
