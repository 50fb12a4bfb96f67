"""Learners that follow the log: each example is answered, judged and learned, in the order of its number.

Invariant: the state is a plain fold over the stored examples. Nothing else changes it, so that a replay gives the same
bits.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from rosenblatt.data.labels import label_values
from rosenblatt.errors import RosenblattError
from rosenblatt.service.progress import SHOWN_MISTAKES, Progress
from rosenblatt.service.rows import Features

SPAN = 1000  # examples of a bar of classes over time
SPANS = 60


class Follower:
    """A learner and how well it does."""

    def __init__(self, name: str, learner: Any, progress: Progress | None = None) -> None:
        self.name, self.learner = name, learner
        self.progress = Progress() if progress is None else progress
        self.refused = 0

    def take(self, features: Features, label: Any, weight: float) -> tuple[Any, bool]:
        """What was predicted before the example was learned, and whether that was a mistake."""
        learner = self.learner
        predicted, mistake = None, True
        if learner.has_learned:
            learned = learner.learned
            labels = learned.labels_in_order
            if len(labels) == 1:
                predicted, mistake = labels[0], label != labels[0]
            else:
                predicted, mistake = judge(learner.scores_one(features).tolist(), labels, label)
        if weight > 0:
            try:
                learner.learn_one(features, label, weight)
            except (RosenblattError, ValueError, TypeError):
                self.refused += 1  # an example that raises changes nothing, here and in every replay
                return predicted, mistake
            self.progress.count(mistake)
        return predicted, mistake


def judge(scores: list[float], labels: list[Any], label: Any) -> tuple[Any, bool]:
    """The answer, and whether it was a mistake: a tie with another class is one.

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


class Fold:
    """All learners of a log, and the number up to which they have learned.

    Parameters
    ----------
    followers : list of Follower
    served : str
        The name of the one that answers.
    """

    def __init__(self, followers: Sequence[Follower], served: str) -> None:
        self.followers = {each.name: each for each in followers}
        self.served = served
        self.seq = 0
        self.chain = bytes(16)
        self.newest: deque[dict[str, Any]] = deque(maxlen=SHOWN_MISTAKES)
        self.spans: deque[tuple[int, dict[str, int]]] = deque(maxlen=SPANS)  # first number, labels seen
        self._counted: Counter[str] = Counter()

    @property
    def answering(self) -> Follower:
        return self.followers[self.served]

    def take(
        self, rows: Sequence[Features], labels: Sequence[Any], weights: Sequence[float] | None
    ) -> tuple[list[Any], list[bool]]:
        """Learn examples; what the answering learner had predicted, and where it was mistaken."""
        predicted, mistaken = [], []
        answering = self.answering
        others = [each for each in self.followers.values() if each is not answering]
        for at, (row, label) in enumerate(zip(rows, labels, strict=True)):
            weight = 1.0 if weights is None else weights[at]
            guess, mistake = answering.take(row, label, weight)
            for other in others:
                other.take(row, label, weight)
            predicted.append(guess)
            mistaken.append(mistake)
            self._note(row, label, guess, mistake)
        return predicted, mistaken

    def _note(self, row: Features, label: Any, guess: Any, mistake: bool) -> None:
        self.seq += 1
        self._counted[str(label)] += 1
        if self.seq % SPAN == 0:
            self.spans.append((self.seq - SPAN + 1, dict(self._counted.most_common(20))))
            self._counted = Counter()
        if mistake:
            shown = {str(name)[:60]: value for name, value in sorted_by_size(row)[:8]}
            self.newest.append({"seq": self.seq, "label": label, "predicted": guess, "row": shown})

    def classes(self) -> list[Any]:
        """The labels that the answering learner knows."""
        learner = self.answering.learner
        return label_values(learner.learned.classes) if learner.has_learned else []

    def to_json(self) -> dict[str, Any]:
        """Everything but the states."""
        return {
            "served": self.served,
            "seq": self.seq,
            "chain": self.chain.hex(),
            "progress": {name: each.progress.to_json() for name, each in self.followers.items()},
            "newest": list(self.newest),
            "spans": list(self.spans),
            "counted": dict(self._counted),
        }

    def restore(self, known: dict[str, Any]) -> None:
        """What `to_json` gave, for the same learners."""
        self.seq, self.chain = known["seq"], bytes.fromhex(known["chain"])
        for name, progress in known["progress"].items():
            if name in self.followers:
                self.followers[name].progress = Progress.from_json(progress)
        self.newest.extend(known["newest"])
        self.spans.extend((first, labels) for first, labels in known["spans"])
        self._counted = Counter(known["counted"])


def sorted_by_size(row: Features) -> list[tuple[Any, float]]:
    """The features of a row, the largest first."""
    return sorted(row.items(), key=lambda item: -abs(item[1]))
