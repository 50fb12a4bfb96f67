"""Model files that Python writes: what is in them, and what they answer when they are loaded."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import rosenblatt
from cases.data import labels, ring, rows, stored
from cases.digest import digest, model_file, quiet
from cases.kernel import KERNELS, SHAPE, function
from cases.linear import KEEPS, PAIRS, TASKS, learner
from cases.streams import examples


def iter_cases():
    for rule, keep in PAIRS:
        for task, (classes, multiclass) in TASKS.items():
            made = learner(rule, keep, multiclass=multiclass)
            yield f"models/{rule}/{keep}/{task}", partial(_saved, made, rows(), labels(classes))
    for dtype, storage in (("float32", "dense"), ("float32", "csr"), ("float64", "csr")):
        for keep in KEEPS:
            X = stored(rows(), dtype, storage)
            yield (
                f"models/perceptron/{keep}/{storage}/{dtype}",
                partial(_saved, learner("perceptron", keep), X, labels(3)),
            )
    made = learner("perceptron", "average", penalty="l1", alpha=0.01)
    yield "models/l1", partial(_saved, made, rows(), labels(3))
    for task, (classes, multiclass) in TASKS.items():
        X, y = rows(*SHAPE), labels(classes, *SHAPE)
        for kernel, numbers in {**KERNELS, "precomputed": {}}.items():
            for keep in KEEPS:
                given = {"kernel": kernel, "keep": keep, "multiclass": multiclass, "max_iter": 3, **numbers}
                data = function(X, X) if kernel == "precomputed" else X
                yield f"models/{kernel}/{keep}/{task}", partial(_saved, rosenblatt.KernelPerceptron(**given), data, y)
        sparse = rosenblatt.KernelPerceptron(keep="average", max_iter=3, multiclass=multiclass)
        yield f"models/kernel csr/{task}", partial(_saved, sparse, stored(X, "float32", "csr"), y)
        budget = rosenblatt.KernelPerceptron(budget=7, max_iter=3, multiclass=multiclass)
        yield f"models/budget/{task}", partial(_saved, budget, X, y)
    yield "models/auto", partial(_saved, rosenblatt.AutoPerceptron(), rows(), labels(3))
    yield "models/products", partial(_saved, rosenblatt.AutoPerceptron(), *ring())
    for keep in KEEPS:
        yield f"models/stream/{keep}", partial(_streamed, learner("PA-I", keep))


def _saved(made, X, y):
    with quiet():
        return _file_of(made.fit(X, y), X)


def _file_of(made, X):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.model"
        rosenblatt.save(made, path)
        loaded = rosenblatt.load(path)
        again = Path(folder) / "again.model"
        rosenblatt.save(loaded, again)
        assert again.read_bytes() == path.read_bytes(), "a model that was loaded is saved as other bytes"
        return {**model_file(path), "predictions": digest(loaded.classes, loaded.predict(X), loaded.features)}


def _streamed(made):
    for features, label in examples(90):
        made.learn_one(features, label)
    with quiet():
        return _file_of(made, rows(12, int(made.n_features_in_), 0.5, 40))
