"""Many learners side by side, the choice among them in words, cross-validation and probabilities.

Scores of scaled columns go through BLAS: there the choice, the weights and the predictions are hashed instead.
"""

from __future__ import annotations

from functools import partial

import numpy as np

import rosenblatt
from cases.data import labels, ring, rows, stored, uniform
from cases.digest import digest, fitted, history, quiet, rounded
from cases.linear import FEW_PAIRS, TASKS, learner

MANY = (300, 12, 0.7, 14)


def iter_cases():
    yield from _sweeps()
    yield from _autos()
    yield from _folds()
    yield from _calibrated()


def _sweeps():
    for task, (classes, multiclass) in TASKS.items():
        for choose in ("holdout", "progressive") if multiclass == "joint" else ("holdout",):
            for storage, dtype in (("dense", "float64"), ("csr", "float64"), ("dense", "float32"), ("csr", "float32")):
                X = stored(rows(), dtype, storage)
                for rule in ("PA-I", "PA-II"):
                    many = [learner(rule, "average", C=C, multiclass=multiclass) for C in (0.01, 0.1, 1.0, 10.0)]
                    name = f"sweeps/{rule}/{choose}/{task}/{storage}/{dtype}"
                    yield name, partial(_sweep, many, choose, X, labels(classes))
                family = [learner(rule, keep, multiclass=multiclass) for rule, keep in FEW_PAIRS]
                yield (
                    f"sweeps/family/{choose}/{task}/{storage}/{dtype}",
                    partial(_sweep, family, choose, X, labels(classes)),
                )
        others = [
            learner("perceptron", "last", n_init=3, multiclass=multiclass),
            learner("AROW", "last", random_state=8, max_iter=9, tol=None, multiclass=multiclass),
            learner("eta0", "average", penalty="l1", alpha=0.003, multiclass=multiclass),
            learner("PA-I", "pocket", class_weight="balanced", multiclass=multiclass),
            learner("PA", "vote", fit_intercept=False, shuffle=False, multiclass=multiclass),
        ]
        yield f"sweeps/others/{task}", partial(_sweep, others, "holdout", rows(), labels(classes))
        weights = np.array([0.0, 1.0, 0.5, 2.0, 0.3] * 12)
        yield f"sweeps/weighted/{task}", partial(_sweep, others, "holdout", rows(), labels(classes), weights)


def _sweep(many, choose, X, y, weights=None):
    with quiet():
        found = rosenblatt.Sweep(many, choose=choose).fit(X, y, sample_weight=weights)
        parts = [fitted(each, X) for each in found.learners_]
    return {
        "answers": digest([part["answer"] for part in parts]),
        "histories": digest([part["history"] for part in parts]),
        "choice": digest(found.scores_, found.best_index_, found.predict(X)),
    }


def _autos():
    uneven = np.array([100.0, 0.01, 1.0, 5.0, 1000.0, 1.0, 1.0, 30.0, 0.1, 1.0, 2.0, 1.0])
    for classes in (2, 3, 4):
        X, y = rows(*MANY), labels(classes, *MANY)
        wide = (300, 400, 0.02, 15)
        sparse, named = stored(rows(*wide), storage="csr"), labels(classes, *wide)
        weights = np.array([0.0, 1.0, 0.5, 2.0, 0.3] * 60)
        cases = {
            "dense": (X, y, {}, {}),
            "float32": (X.astype("float32"), y, {}, {}),
            "csr": (stored(X, storage="csr"), y, {}, {}),
            "sparse": (sparse, named, {}, {}),
            "sparse float32": (sparse.astype("float32"), named, {}, {}),
            "sparse uneven": (sparse.multiply(np.resize(uneven, 400)).tocsr(), named, {}, {}),
            "uneven": (X * uneven + uneven, y, {}, {}),
            "no products": (X, y, {"products": False}, {}),
            "three epochs": (X, y, {"max_iter": 3}, {}),
            "seed": (X, y, {"random_state": 5}, {}),
            "one thread": (X, y, {"n_jobs": 1}, {}),
            "balanced": (X, y, {"class_weight": "balanced"}, {}),
            "weights": (X, y, {}, {"sample_weight": weights}),
            "few rows": (X[:9], y[:9], {}, {}),
            "four rows": (X[:4], np.array(["a", "b", "b", "a"]), {}, {}),
            "sigmoid": (X, y, {"calibrate": "sigmoid"}, {}),
            "isotonic": (X, y, {"calibrate": "isotonic"}, {}),
        }
        for name, (A, b, options, given) in cases.items():
            yield f"autos/{classes}/{name}", partial(_auto, options, A, b, given)
        yield f"autos/{classes}/batches", partial(_auto_batches, X, y)
        yield f"autos/{classes}/batches uneven", partial(_auto_batches, X * uneven + uneven, y)
        yield f"autos/{classes}/batches new classes", partial(_auto_batches, X, np.sort(y), 200)
        yield f"autos/{classes}/batches sparse", partial(_auto_batches, sparse, named)
    X, y = ring()
    yield "autos/ring", partial(_auto, {}, X, y, {})
    yield "autos/ring csr", partial(_auto, {}, stored(X, "float32", "csr"), y, {})
    yield "autos/ring no products", partial(_auto, {"products": False}, X, y, {})
    yield "autos/ring batches", partial(_auto_batches, X, y)
    quarters = np.array(["a", "b", "c"])[(X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 0] * X[:, 0] > 0.6)]
    yield "autos/quarters", partial(_auto, {}, X, quarters, {})
    yield "autos/quarters batches", partial(_auto_batches, X, quarters)


def _auto(options, X, y, given):
    with quiet():
        return _chosen(rosenblatt.AutoPerceptron(**options).fit(X, y, **given), X)


def _chosen(auto, X):
    kind = None if auto.scaling_ is None else auto.scaling_.kind
    products = None if auto.products_ is None else [auto.products_.columns, auto.products_.center, auto.products_.scale]
    weights = [auto.best_.coef_, auto.best_.intercept_]
    if products is None:
        weights.append(auto.coef_)
    if products is None and kind != "standard":
        weights += [auto.intercept_, auto.decision_function(X)]
    return {
        "choice": digest(auto.choice_, auto.scores_, repr(auto.best_), kind, products),
        "weights": digest(weights),
        "history": history(auto),
        "predictions": digest(auto.classes_, auto.predict(X)),
        "probabilities": digest(rounded(auto.predict_proba(X), 5)),
    }


def _auto_batches(X, y, first=150):
    auto = rosenblatt.AutoPerceptron()
    with quiet():
        auto.partial_fit(X[:first], y[:first])
        before = digest(auto.choice_, auto.predict(X))
        auto.partial_fit(X[first:], y[first:])
        return {**_chosen(auto, X), "before": before}


def _folds():
    for classes in (2, 3):
        X, y = rows(*MANY), labels(classes, *MANY)
        for storage in ("dense", "csr"):
            A = stored(X, storage=storage)
            yield f"folds/tune/{classes}/{storage}", partial(_tune, A, y)
            for rule, keep in FEW_PAIRS:
                name = f"folds/cross_validate/{rule}/{keep}/{classes}/{storage}"
                yield name, partial(_cross_validate, learner(rule, keep, max_iter=3), A, y)
        yield f"folds/tune/{classes}/uneven", partial(_tune, X * np.arange(1, 13) ** 3, y)
        weights = np.abs(uniform(300, 60)).round(1)
        made = learner("PA-I", "average", max_iter=3)
        yield f"folds/cross_validate/weights/{classes}", partial(_cross_validate, made, X, y, weights)
        yield f"folds/compare/{classes}", partial(_compare, X, y)


def _tune(X, y):
    with quiet():
        found = rosenblatt.tune(X, y, folds=3)
    said = [(each["learner"], rounded([each["accuracy"], each["standard_error"]])) for each in found.as_dict()["tried"]]
    return {"tried": digest(found.as_dict()["scaling"], said), "words": digest(str(found))}


def _cross_validate(made, X, y, weights=None):
    with quiet():
        found = rosenblatt.cross_validate(X, y, made, folds=4, sample_weight=weights)
        learned = [fitted(each, X) for each in found.learners]
    return {"scores": digest(rounded(found.scores)), "learners": digest([sorted(each.items()) for each in learned])}


def _compare(X, y):
    family = {f"{rule} {keep}": learner(rule, keep) for rule, keep in FEW_PAIRS}
    family |= {"auto": rosenblatt.AutoPerceptron(n_jobs=1), "kernel": rosenblatt.KernelPerceptron(max_iter=4)}
    with quiet():
        found = rosenblatt.compare(X, y, classifiers=family, folds=3)
    measured = [
        [
            [each.name, rounded([each.accuracy, each.standard_error]), each.parameters],
            [None if each.margin is None else rounded(each.margin, 6), each.probabilities, each.online, each.kernels],
        ]
        for each in found.measured
    ]
    return {"measured": digest(measured), "heading": digest(found.heading())}


def _calibrated():
    for classes in (2, 3):
        X, y = rows(*MANY), labels(classes, *MANY)
        for calibrate in ("sigmoid", "isotonic"):
            for rule, keep in FEW_PAIRS:
                made = rosenblatt.Calibrated(learner(rule, keep, max_iter=3), calibrate=calibrate, folds=3)
                yield f"calibrated/{calibrate}/{rule}/{keep}/{classes}", partial(_probabilities, made, X, y)
        for multiclass in ("joint", "ovr"):
            made = rosenblatt.Calibrated(learner("perceptron", "vote", multiclass=multiclass), calibrate="vote")
            yield f"calibrated/vote/{multiclass}/{classes}", partial(_probabilities, made, X, y)


def _probabilities(made, X, y):
    with quiet():
        made.fit(X[:200], y[:200])
        first = digest(rounded(made.predict_proba(X), 5))
        made.partial_fit(X[200:], y[200:])
        later = digest(rounded(made.predict_proba(X), 5))
        return {"first": first, "later": later, **fitted(made.learner_, X)}
