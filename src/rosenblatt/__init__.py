"""rosenblatt: the perceptron family, done properly.

>>> import rosenblatt
>>> rosenblatt.Perceptron().fit([[0.0], [1.0]], ["a", "b"]).predict([[2.0]]).tolist()
['b']

Names load when they are first used, so that ``import rosenblatt`` is quick and does not import scikit-learn.

Invariant: nothing is imported here, so that the command starts quickly.
"""

from __future__ import annotations

TYPE_CHECKING = False  # true for type checkers; that of `typing` takes ten milliseconds to import

if TYPE_CHECKING:
    from typing import Any

    from rosenblatt import errors, textbook
    from rosenblatt.io import read
    from rosenblatt.learners import (
        AROW,
        AveragedPerceptron,
        History,
        KernelPerceptron,
        NormalizedPerceptron,
        PassiveAggressive,
        PassiveAggressiveClassifier,
        PassiveAggressiveRegression,
        PassiveAggressiveRegressor,
        Perceptron,
        PocketPerceptron,
        VotedPerceptron,
    )
    from rosenblatt.models import save
    from rosenblatt.select import AutoPerceptron, Calibrated, Sweep, compare, cross_validate, load, tune
    from rosenblatt.training.train import train

__version__ = "0.2.0"

_HOMES = {
    "AROW": "learners",
    "AutoPerceptron": "select",
    "AveragedPerceptron": "learners",
    "Calibrated": "select",
    "History": "learners",
    "KernelPerceptron": "learners",
    "NormalizedPerceptron": "learners",
    "PassiveAggressive": "learners",
    "PassiveAggressiveClassifier": "learners",
    "PassiveAggressiveRegression": "learners",
    "PassiveAggressiveRegressor": "learners",
    "Perceptron": "learners",
    "PocketPerceptron": "learners",
    "Sweep": "select",
    "VotedPerceptron": "learners",
    "compare": "select",
    "cross_validate": "select",
    "load": "select",
    "read": "io",
    "save": "models",
    "train": "training",
    "tune": "select",
}
_MODULES = (
    "cluster", "data", "datasets", "encode", "engine", "errors", "evaluation", "io", "learners", "models", "params",
    "playground", "plot", "report", "river", "select", "service", "textbook", "theory", "training",
)  # fmt: skip

__all__ = [
    "AROW",
    "AutoPerceptron",
    "AveragedPerceptron",
    "Calibrated",
    "History",
    "KernelPerceptron",
    "NormalizedPerceptron",
    "PassiveAggressive",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegression",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "PocketPerceptron",
    "Sweep",
    "VotedPerceptron",
    "__version__",
    "compare",
    "cross_validate",
    "errors",
    "load",
    "read",
    "save",
    "textbook",
    "train",
    "tune",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(f"rosenblatt.{_HOMES[name]}"), name)
    if name in _MODULES:
        return import_module(f"rosenblatt.{name}")
    raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
