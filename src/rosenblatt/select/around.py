"""A learner around others: what it says of its training is what the one inside says."""

from __future__ import annotations

from typing import Any

from rosenblatt.learners.stopping import History


class Around:
    """What `AutoPerceptron`, `Calibrated` and `Sweep` share: one learner, fitted and inside, that answers for them."""

    def _inside(self) -> Any:
        """The learner that answers; an AttributeError before the first fit."""
        raise NotImplementedError

    @property
    def history_(self) -> History:
        """Mistakes and updates of the learner inside, epoch by epoch."""
        history: History = self._inside().history_
        return history

    @property
    def stop_reason_(self) -> str:
        """Why the learner inside stopped."""
        reason: str = self._inside().stop_reason_
        return reason
