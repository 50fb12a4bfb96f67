"""Programs that measure their own memory, each run in a process of its own."""

from __future__ import annotations

PEAK = """
def peak():  # megabytes; ru_maxrss would count those of the process that started this one
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024
"""

# Of two files: the rows of the first, and what reading it takes beyond what the second took.
SCANNED = f"""
import sys
from rosenblatt.io import open_dataset
{PEAK}
open_dataset(sys.argv[2])
before = peak()
print(sum(len(batch) for batch in open_dataset(sys.argv[1])), peak() - before)
"""
