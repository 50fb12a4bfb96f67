"""Intended changes: the beginning of cases' names, and why they differ from what was recorded first.

After an entry is added, ``python tests/golden/grid.py --write`` records the new hashes of these cases beside the old.
"""

_ONE_ENTRY = "the examples of a stream are one entry of the history, where a vote or a penalty made one per example"
_RECIPE = "a checkpoint holds a recipe instead of the options of all learners"

CHANGED: dict[str, str] = {
    **{f"ones/{rule}/vote": _ONE_ENTRY for rule in ("perceptron", "margin", "eta0", "PA", "PA-I", "PA-II")},
    **{f"ones/{penalty}/": _ONE_ENTRY for penalty in ("l1", "l2", "elasticnet")},
    **{f"mixtures/{rule}/vote": _ONE_ENTRY for rule in ("eta0", "PA")},
    "models/stream/vote": _ONE_ENTRY,
    "checkpoints/": _RECIPE,
}
