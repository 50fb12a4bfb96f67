"""Intended changes: the beginning of cases' names, and why they differ from what was recorded first.

After an entry is added, ``python tests/golden/grid.py --write`` records the new hashes of these cases beside the old.
"""

CHANGED: dict[str, str] = {}
