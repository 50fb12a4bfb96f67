"""The short form of `tools/kills.py`: runs that are killed in their middle and resumed write the expected bytes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from length import up_to

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.mark.long
def test_killed_runs_are_resumed_to_the_same_bytes() -> None:
    """In a process of its own, since it forks. A run counts only if it was killed with a checkpoint, before its end."""
    kills = up_to(40, short=5)
    done = subprocess.run([sys.executable, str(TOOLS / "kills.py"), str(kills)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert int(last.split()[0]) >= kills
    assert ", 0 wrong;" in last
