"""Where the command begins: Ctrl-C ends it without a word until `main` can say one.

Invariant: nothing is imported here but what sets that up. `signal` itself takes longer to import than all that runs
before it, for the names of its numbers; what it is made of is built into Python.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]

if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:  # a job in the background is none of the terminal's business
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def start() -> int:
    """Run the command; what it returns is the exit code."""
    import gc
    import os

    # NumPy's threads for matrix products wait for work by looking for it, for a tenth of a second; this ends it sooner.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "10")

    # Loading makes many objects that stay, and the collector would look at them again and again, and once more at the
    # end: an eighth of the time of a short command.
    gc.set_threshold(20_000, 20, 20)
    from rosenblatt.cli.main import main

    try:
        return main()
    finally:
        gc.freeze()


if __name__ == "__main__":
    raise SystemExit(start())
