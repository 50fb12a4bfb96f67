"""Where the command begins: Ctrl-C ends it without a word until `main` can say one.

Invariant: nothing is imported here but what sets that up.
"""

from __future__ import annotations

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)


def start() -> int:
    """Run the command; what it returns is the exit code."""
    from rosenblatt.cli.main import main

    return main()


if __name__ == "__main__":
    raise SystemExit(start())
