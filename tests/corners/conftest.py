"""The tests of this folder share `learners.py`, the one list of all learners."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
