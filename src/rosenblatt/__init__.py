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
    from rosenblatt.learners.arow import AROW
    from rosenblatt.learners.kernel_perceptron import KernelPerceptron
    from rosenblatt.learners.passive_aggressive import (
        PassiveAggressive,
        PassiveAggressiveClassifier,
        PassiveAggressiveRegression,
        PassiveAggressiveRegressor,
    )
    from rosenblatt.learners.perceptron import (
        AveragedPerceptron,
        NormalizedPerceptron,
        Perceptron,
        PocketPerceptron,
        VotedPerceptron,
    )
    from rosenblatt.learners.stopping import History
    from rosenblatt.models import load, save
    from rosenblatt.select import AutoPerceptron, Calibrated, Sweep, compare, cross_validate, tune
    from rosenblatt.training.train import train

__version__ = "0.2.0"

# Where the names are that are not those of learners.
_HOMES = {
    **dict.fromkeys(("AutoPerceptron", "Calibrated", "Sweep", "compare", "cross_validate", "tune"), "select"),
    "History": "learners.stopping",
    "load": "models",
    "read": "io",
    "save": "models",
    "train": "training",
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

    if name in _MODULES:
        return import_module(f"rosenblatt.{name}")
    if name in __all__:
        return getattr(import_module(f"rosenblatt.{_HOMES.get(name, 'learners')}"), name)
    raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
