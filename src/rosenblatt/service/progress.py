"""How well a learner does, judged on every example before it learns from it.

Invariant: progress is a fold over the outcomes, made of plain values: it is saved with the state and goes on exactly.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Any

RECENT = 1000
POINTS = 240  # of a curve on the page; when there are more, every other one is dropped
SHOWN_MISTAKES = 20


class Progress:
    """Examples, mistakes, the latest thousand, the curve of both, and the alarm of drift."""

    def __init__(self) -> None:
        self.examples = self.mistakes = 0
        self.recent: deque[int] = deque(maxlen=RECENT)
        self.recent_mistakes = 0
        self.curve: list[tuple[int, float, float]] = []  # examples, error over all, over the latest
        self.every = 1
        self.drift = Drift()

    def count(self, mistake: bool) -> None:
        """One more example."""
        self.examples += 1
        self.mistakes += mistake
        recent = self.recent
        if len(recent) == RECENT:
            self.recent_mistakes -= recent[0]
        recent.append(mistake)
        self.recent_mistakes += mistake
        self.drift.count(mistake)
        if self.examples % self.every == 0:
            self._point()

    @property
    def error(self) -> float | None:
        """The share of mistakes among all examples."""
        return self.mistakes / self.examples if self.examples else None

    @property
    def recent_error(self) -> float | None:
        """The share of mistakes among the latest thousand."""
        return self.recent_mistakes / len(self.recent) if self.recent else None

    def _point(self) -> None:
        self.curve.append((self.examples, self.mistakes / self.examples, self.recent_mistakes / len(self.recent)))
        if len(self.curve) > POINTS:
            self.curve = self.curve[1::2]
            self.every *= 2

    def to_json(self) -> dict[str, Any]:
        return {
            "examples": self.examples,
            "mistakes": self.mistakes,
            "recent": "".join(map(str, map(int, self.recent))),
            "curve": self.curve,
            "every": self.every,
            "drift": vars(self.drift),
        }

    @classmethod
    def from_json(cls, known: dict[str, Any]) -> Progress:
        progress = cls()
        progress.examples, progress.mistakes, progress.every = known["examples"], known["mistakes"], known["every"]
        progress.recent.extend(map(int, known["recent"]))
        progress.recent_mistakes = sum(progress.recent)
        progress.curve = [(int(n), float(a), float(b)) for n, a, b in known["curve"]]
        vars(progress.drift).update({"raised": len(known["drift"]["alarms"]), **known["drift"]})
        return progress


class Drift:
    """An alarm when mistakes become more frequent than they once were.

    The method of Gama, Medas, Castillo and Rodrigues (2004): the error rate ``p`` over the examples since the last
    alarm, with its deviation ``s``, is compared with the best such pair; three deviations above it is drift.
    """

    LEAST = 30  # examples before anything is said

    def __init__(self) -> None:
        self.seen = 0
        self.wrong = 0
        self.best_rate = self.best_deviation = 2.0
        self.total = 0
        self.raised = 0
        self.alarms: list[int] = []  # the latest, after so many examples

    def count(self, mistake: bool) -> None:
        self.total += 1
        self.seen += 1
        self.wrong += mistake
        if self.seen < self.LEAST:
            return
        rate = self.wrong / self.seen
        deviation = math.sqrt(rate * (1 - rate) / self.seen)
        if rate + deviation <= self.best_rate + self.best_deviation:
            self.best_rate, self.best_deviation = rate, deviation
        elif mistake and rate + deviation > self.best_rate + 3 * self.best_deviation + 1 / self.seen:
            self.raised += 1
            self.alarms = [*self.alarms, self.total][-20:]
            self.seen = self.wrong = 0
            self.best_rate = self.best_deviation = 2.0
