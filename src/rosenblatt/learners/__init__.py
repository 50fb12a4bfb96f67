"""Learners: a rule, a keep and a space each. The named classes load, with scikit-learn, when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.learners.history import History
    from rosenblatt.learners.linear import (
        AveragedPerceptron,
        PassiveAggressive,
        PassiveAggressiveClassifier,
        Perceptron,
        PocketPerceptron,
        VotedPerceptron,
    )

__all__ = [
    "AveragedPerceptron",
    "History",
    "PassiveAggressive",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "PocketPerceptron",
    "VotedPerceptron",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(f"rosenblatt.learners.{'history' if name == 'History' else 'linear'}"), name)
    raise AttributeError(f"module 'rosenblatt.learners' has no attribute {name!r}")
