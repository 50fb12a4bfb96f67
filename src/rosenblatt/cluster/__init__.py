"""The same learners in shards: on a Dask cluster, or in threads of one machine.

>>> import numpy as np
>>> from rosenblatt import Perceptron, cluster
>>> X = np.arange(-10.0, 10.0)[:, None] + 0.5
>>> cluster.train(None, (X, X[:, 0] > 0), Perceptron(), shards=2).learner.predict([[3.0]]).tolist()
[True]

Names load when they are first used: a worker needs less than the client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.cluster.address import connect
    from rosenblatt.cluster.answers import evaluate, predict
    from rosenblatt.cluster.result import ClusterTrained
    from rosenblatt.cluster.training import train

__all__ = ["ClusterTrained", "connect", "evaluate", "predict", "train"]

_HOMES = {
    "ClusterTrained": "result",
    "connect": "address",
    "evaluate": "answers",
    "predict": "answers",
    "train": "training",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"rosenblatt.cluster.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rosenblatt.cluster' has no attribute {name!r}")
