"""Learners: a rule, a keep and a space each. The named classes load, with scikit-learn, when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.learners.arow import AROW
    from rosenblatt.learners.kernel_perceptron import KernelPerceptron
    from rosenblatt.learners.passive_aggressive import PassiveAggressive, PassiveAggressiveClassifier
    from rosenblatt.learners.perceptron import (
        AveragedPerceptron,
        NormalizedPerceptron,
        Perceptron,
        PocketPerceptron,
        VotedPerceptron,
    )
    from rosenblatt.learners.regression import PassiveAggressiveRegression, PassiveAggressiveRegressor
    from rosenblatt.learners.stopping import History

_HOMES = {
    "AROW": "arow",
    "AveragedPerceptron": "perceptron",
    "History": "stopping",
    "KernelPerceptron": "kernel_perceptron",
    "NormalizedPerceptron": "perceptron",
    "PassiveAggressive": "passive_aggressive",
    "PassiveAggressiveClassifier": "passive_aggressive",
    "PassiveAggressiveRegression": "regression",
    "PassiveAggressiveRegressor": "regression",
    "Perceptron": "perceptron",
    "PocketPerceptron": "perceptron",
    "VotedPerceptron": "perceptron",
}

__all__ = [
    "AROW",
    "AveragedPerceptron",
    "History",
    "KernelPerceptron",
    "NormalizedPerceptron",
    "PassiveAggressive",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegression",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "PocketPerceptron",
    "VotedPerceptron",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"rosenblatt.learners.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rosenblatt.learners' has no attribute {name!r}")
