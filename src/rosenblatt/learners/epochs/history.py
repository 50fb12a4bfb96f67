"""What happened in each epoch."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest


@dataclass
class History:
    """One entry per epoch: mistakes, updates, seconds, and the validation score if there was one."""

    mistakes: list[int] = field(default_factory=list)
    updates: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    validation_score: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.mistakes)

    def append(self, mistakes: int, updates: int, seconds: float = 0.0, validation_score: float | None = None) -> None:
        """One more epoch."""
        self.mistakes.append(mistakes)
        self.updates.append(updates)
        self.seconds.append(seconds)
        if validation_score is not None:
            self.validation_score.append(validation_score)

    def followed_by(self, later: History) -> History:
        return History(
            self.mistakes + later.mistakes,
            self.updates + later.updates,
            self.seconds + later.seconds,
            self.validation_score + later.validation_score,
        )

    @classmethod
    def total(cls, histories: list[History]) -> History:
        """Problems learned side by side, as one: sums per epoch, and the mean of the validation scores."""
        if len(histories) == 1:
            return histories[0]
        scores = zip_longest(*(h.validation_score for h in histories))
        return cls(
            [sum(each) for each in zip_longest(*(h.mistakes for h in histories), fillvalue=0)],
            [sum(each) for each in zip_longest(*(h.updates for h in histories), fillvalue=0)],
            [sum(each) for each in zip_longest(*(h.seconds for h in histories), fillvalue=0.0)],
            [sum(known) / len(known) for each in scores if (known := [s for s in each if s is not None])],
        )
