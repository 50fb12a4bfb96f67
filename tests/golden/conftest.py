"""The grid is a program too: its folder is where it finds its parts."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
