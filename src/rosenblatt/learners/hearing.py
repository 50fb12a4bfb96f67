"""Ctrl-C while a learner changes.

Invariant: what is done under `Hearing` is done whole. Ctrl-C ends the engine's pass between two rows, and is raised
when everything is counted.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # without the enums of `signal`, which cost 10 us a call
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

import numpy as np


class Hearing:
    """While it lasts, Ctrl-C raises nothing: it sets the flag `cancel`, which the engine asks for, and waits.

    Signals come to the main thread alone: in another one nothing has to be done.
    """

    def __init__(self) -> None:
        self.cancel = np.zeros(1, np.uint8)
        self._heard: tuple[int, FrameType | None] | None = None
        self._before: Callable[[int, FrameType | None], Any] | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            return
        signal.signal(signal.SIGINT, self._before)
        if self._heard is not None:
            self._before(*self._heard)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._heard = number, frame
        self.cancel[0] = 1
