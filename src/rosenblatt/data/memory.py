"""How much memory is free."""

from __future__ import annotations

import os
import re
from pathlib import Path


def free_memory() -> int:
    """Bytes that can be had without swapping; 0 where the system does not say."""
    try:
        told = Path("/proc/meminfo").read_text(encoding="ascii", errors="replace")
        found = re.search(r"^MemAvailable:\s+(\d+) kB", told, re.MULTILINE)
        if found:
            return 1024 * int(found[1])
    except OSError:
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0
