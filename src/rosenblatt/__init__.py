"""rosenblatt: the perceptron family, done properly.

>>> import rosenblatt
>>> rosenblatt.Perceptron().fit([[0.0], [1.0]], ["a", "b"]).predict([[2.0]]).tolist()
['b']

Names load when they are first used, so that ``import rosenblatt`` is quick and does not import scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rosenblatt import errors, learners

if TYPE_CHECKING:
    from rosenblatt import textbook
    from rosenblatt.data import read
    from rosenblatt.learners import *  # noqa: F403
    from rosenblatt.models import save
    from rosenblatt.select import AutoPerceptron, Calibrated, Sweep, compare, cross_validate, load, tune
    from rosenblatt.training.trained import train

__version__ = "0.1.0"

_HOMES = {
    **dict.fromkeys(learners.__all__, "learners"),
    "AutoPerceptron": "select",
    "Calibrated": "select",
    "Sweep": "select",
    "compare": "select",
    "cross_validate": "select",
    "load": "select",
    "read": "data",
    "save": "models",
    "train": "training",
    "tune": "select",
}

__all__ = [
    *learners.__all__,
    "AutoPerceptron",
    "Calibrated",
    "Sweep",
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
    if name in _HOMES:
        return getattr(import_module(f"rosenblatt.{_HOMES[name]}"), name)
    if name in ("cluster", "data", "engine", "models", "plot", "recipe", "select", "textbook", "theory", "training"):
        return import_module(f"rosenblatt.{name}")
    raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
