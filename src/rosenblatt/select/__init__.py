"""Selection without tuning: scaling, many learners in one pass over the rows, choice, probabilities.

The named classes and functions load, with scikit-learn, when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.select.auto import AutoPerceptron as AutoPerceptron
    from rosenblatt.select.calibrated import Calibrated as Calibrated
    from rosenblatt.select.folds import CrossValidation as CrossValidation
    from rosenblatt.select.sweep import Sweep as Sweep
    from rosenblatt.select.validation import Comparison as Comparison
    from rosenblatt.select.validation import Tuning as Tuning
    from rosenblatt.select.validation import compare as compare
    from rosenblatt.select.validation import cross_validate as cross_validate
    from rosenblatt.select.validation import tune as tune

_HOMES = {
    "AutoPerceptron": "auto",
    "Calibrated": "calibrated",
    "CrossValidation": "folds",
    "Sweep": "sweep",
    **dict.fromkeys(("Comparison", "Tuning", "compare", "cross_validate", "tune"), "validation"),
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"rosenblatt.select.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rosenblatt.select' has no attribute {name!r}")
