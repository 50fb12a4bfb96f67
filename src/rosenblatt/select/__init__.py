"""The best answer without tuning: scaling, many learners in one reading of the rows, choice, probabilities.

The named classes and functions load, with scikit-learn, when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.select.auto import AutoPerceptron
    from rosenblatt.select.calibrated import Calibrated
    from rosenblatt.select.comparison import Comparison, compare
    from rosenblatt.select.loading import LoadedModel, load
    from rosenblatt.select.scoring import Reliability, brier_score, reliability
    from rosenblatt.select.sweep import Sweep
    from rosenblatt.select.tuning import Tuning, tune
    from rosenblatt.select.validation import CrossValidation, cross_validate

_HOMES = {
    "AutoPerceptron": "auto",
    "Calibrated": "calibrated",
    "Comparison": "comparison",
    "CrossValidation": "validation",
    "LoadedModel": "loading",
    "Reliability": "scoring",
    "Sweep": "sweep",
    "Tuning": "tuning",
    "brier_score": "scoring",
    "compare": "comparison",
    "cross_validate": "validation",
    "load": "loading",
    "reliability": "scoring",
    "tune": "tuning",
}

__all__ = [
    "AutoPerceptron",
    "Calibrated",
    "Comparison",
    "CrossValidation",
    "LoadedModel",
    "Reliability",
    "Sweep",
    "Tuning",
    "brier_score",
    "compare",
    "cross_validate",
    "load",
    "reliability",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"rosenblatt.select.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rosenblatt.select' has no attribute {name!r}")
