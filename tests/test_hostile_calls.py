"""Every function of the engine, called with hostile arguments in a process of its own: refused or done, no crash."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from length import up_to

HERE = Path(__file__).parents[1] / "tools" / "fuzz"
CODE = """
import collections, random, resource, sys
sys.path.insert(0, sys.argv[1])
import bindings
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + (1 << 29)
resource.setrlimit(resource.RLIMIT_AS, (held, held))  # sizes of terabytes are refused, not waited for
missing = bindings.functions() ^ set(bindings.CALLS)
assert not missing, f"functions and calls differ: {sorted(missing)}"
found = collections.Counter()
for number in range(int(sys.argv[2])):
    for name in sorted(bindings.CALLS):
        random_ = random.Random(f"{name} {number}")
        print(name, number, file=sys.stderr)
        try:
            bindings.CALLS[name](bindings.Chooser(random_))
            found[name, "done"] += 1
        except bindings.REFUSALS:
            found[name, "refused"] += 1
# Arguments that are never sound, or never hostile, would prove nothing.
quiet = {"cpu_has_avx2", "thread_limit"}
never = [name for name in bindings.CALLS if not found[name, "done"]]
assert not never, f"never done: {never}"
never = [name for name in set(bindings.CALLS) - quiet if not found[name, "refused"]]
assert not never, f"never refused: {never}"
"""


@pytest.mark.long
def test_no_call_ends_the_process() -> None:
    """The arrays lie against pages that may not be touched; the last line of the output names the call that crashed."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(HERE), str(up_to(100, short=40))], capture_output=True, text=True
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-600:]}"
