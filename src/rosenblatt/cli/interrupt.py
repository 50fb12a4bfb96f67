"""Ctrl-C: one sentence and exit code 130, whatever the command is doing.

Python runs a handler between two of its own steps, so a long call into another library would delay it, and an
interrupt that comes upon a callback is printed and lost. A thread watches for both.

Invariant: an interrupt is raised in the main thread; `PATIENCE` seconds later the command is gone at the latest.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from types import FrameType
from typing import Any

SENTENCE = "rosenblatt: interrupted"
PATIENCE = 3.0  # seconds to put away what was begun
_LOOK = 0.05  # seconds between two looks at whether the interrupt was lost


class Interrupts:
    """What has been heard, from `listen` on."""

    def __init__(self) -> None:
        self.heard = False
        self._lost = False  # raised where no caller could hear of it
        self._said = False

    def listen(self) -> None:
        """Raise KeyboardInterrupt at Ctrl-C, and see to it that it ends the command."""
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, self._handle)
        # Without the lock of `threading`, which the interrupted code may hold; the thread is never waited for.
        _thread.start_new_thread(self._watch, (reading,))

    def say(self) -> None:
        """The sentence, once."""
        if not self._said:
            self._said = True
            print(SENTENCE, file=sys.stderr)

    def stop_listening(self) -> None:
        """From here on an interrupt ends the process without a word, unless one has been heard: then it ends anyway."""
        if not self.heard and not self._is_replaced():
            signal.signal(signal.SIGINT, signal.SIG_DFL)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.heard and not self._lost:
            return  # it is on its way already
        self.heard, self._lost = True, False
        sys.unraisablehook = self._note_loss
        raise KeyboardInterrupt

    def _note_loss(self, lost: Any) -> None:
        """Instead of a traceback: nobody wants to read what else goes wrong while the command ends."""
        if lost.exc_type is not None and issubclass(lost.exc_type, KeyboardInterrupt):
            self._lost = True

    def _watch(self, reading: int) -> None:
        while signal.SIGINT not in os.read(reading, 64):
            pass
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            time.sleep(_LOOK)
            if self._lost:
                os.kill(os.getpid(), signal.SIGINT)
        if not self._is_replaced():
            self.say()
            os._exit(130)

    def _is_replaced(self) -> bool:
        """Whether a verb has a way of its own to end, as a server has."""
        return signal.getsignal(signal.SIGINT) != self._handle
