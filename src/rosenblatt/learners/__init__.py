"""Learners: each combines a rule, a keep and a space. A class loads, with scikit-learn, when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

LEARNERS = {
    "AROW": "arow",
    "AveragedPerceptron": "perceptron",
    "KernelPerceptron": "kernel_perceptron",
    "NormalizedPerceptron": "perceptron",
    "PassiveAggressive": "passive_aggressive",
    "PassiveAggressiveClassifier": "passive_aggressive",
    "PassiveAggressiveRegression": "passive_aggressive",
    "PassiveAggressiveRegressor": "passive_aggressive",
    "Perceptron": "perceptron",
    "PocketPerceptron": "perceptron",
    "VotedPerceptron": "perceptron",
}


def __getattr__(name: str) -> Any:
    if name in LEARNERS:
        return getattr(import_module(f"rosenblatt.learners.{LEARNERS[name]}"), name)
    raise AttributeError(f"module 'rosenblatt.learners' has no attribute {name!r}")
