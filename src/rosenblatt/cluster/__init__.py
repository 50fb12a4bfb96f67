"""The same learners in shards: on a Dask cluster, or in threads of one machine.

>>> import numpy as np
>>> from rosenblatt import Perceptron, cluster
>>> X = np.arange(-10.0, 10.0)[:, None] + 0.5
>>> cluster.train(None, (X, X[:, 0] > 0), Perceptron(), shards=2).learner.predict([[3.0]]).tolist()
[True]
"""

from rosenblatt.cluster.executor import connect
from rosenblatt.cluster.prediction import evaluate, predict
from rosenblatt.cluster.training import ClusterTrained, train

__all__ = ["ClusterTrained", "connect", "evaluate", "predict", "train"]
