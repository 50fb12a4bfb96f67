"""Time that never goes back, whatever is done to the machine's clock."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """Seconds since 1970 as they were at the start, and from then on by a clock that nobody sets.

    Parameters
    ----------
    least : float
        The latest time that is known to have passed.

    Examples
    --------
    >>> wall = iter([1000.0])
    >>> steady = iter([5.0, 7.5])
    >>> Clock(2000.0, lambda: next(wall), lambda: next(steady))()
    2002.5
    """

    def __init__(
        self,
        least: float = 0.0,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._steady = steady
        self._offset = max(wall(), least) - steady()

    def __call__(self) -> float:
        return self._steady() + self._offset
