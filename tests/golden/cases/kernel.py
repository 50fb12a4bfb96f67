"""Kernels, their rules and keeps, budgets, batches and warm starts."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
from sklearn.base import clone

import rosenblatt
from cases.data import labels, rows, stored, whole
from cases.digest import answer, digest, fitted, history, quiet
from cases.linear import KEEPS, TASKS
from cases.streams import CUTS

SHAPE = (60, 7, 0.8, 2)
KERNELS = {
    "rbf": {"gamma": 0.7},
    "poly": {"degree": 2, "coef0": 1.0, "gamma": 0.5},
    "linear": {},
    "sigmoid": {"gamma": 0.3, "coef0": 0.1},
}


def function(A, B):
    """A kernel of the user, column by column, since BLAS would add in an order of its own."""
    A, B = (each.toarray() if hasattr(each, "toarray") else each for each in (A, B))
    total = np.full((len(A), len(B)), 0.25)
    for j in range(A.shape[1]):
        total += A[:, j : j + 1].astype(np.float64) * B[:, j].astype(np.float64)
    return total * total


def made(**options):
    return rosenblatt.KernelPerceptron(**{"max_iter": 4, "random_state": 3, **options})


def _data(classes=2):
    return rows(*SHAPE), labels(classes, *SHAPE)


def _fit(learner, X, y, **given):
    with quiet():
        return fitted(clone(learner).fit(X, y, **given), X)


def iter_cases():
    for task, (classes, multiclass) in TASKS.items():
        X, y = _data(classes)
        for kernel, numbers in {**KERNELS, "function": {}, "precomputed": {}}.items():
            for keep in KEEPS:
                given = {"kernel": function if kernel == "function" else kernel, "keep": keep, **numbers}
                learner = made(multiclass=multiclass, **given)
                yield (
                    f"kernels/{kernel}/{keep}/{task}",
                    partial(_fit, learner, function(X, X) if kernel == "precomputed" else X, y),
                )
            for storage, dtype in (("csr", "float64"), ("dense", "float32"), ("csr", "float32")):
                if kernel in KERNELS:
                    learner = made(kernel=kernel, keep="average", multiclass=multiclass, **numbers)
                    yield (
                        f"kernels/{kernel}/average/{task}/{storage}/{dtype}",
                        partial(_fit, learner, stored(X, dtype, storage), y),
                    )
        for rule in ("PA", "PA-I", "PA-II"):
            for keep in KEEPS:
                learner = made(rule=rule, C=0.3, keep=keep, gamma=0.7, multiclass=multiclass)
                yield f"kernels/rbf/{rule}/{keep}/{task}", partial(_fit, learner, X, y)
        yield from _budgets(task, multiclass, X, y)
        yield from _options(task, multiclass, X, y)
        for keep in KEEPS:
            learner = partial(made, gamma=0.7, keep=keep, multiclass=multiclass)
            at = f"kernels/batches/{keep}/{task}"
            yield at, partial(_cut, learner(), X, y, sorted(set(y)))
            yield f"{at}/new classes", partial(_cut, learner(), X, np.sort(y))
            yield f"{at}/csr", partial(_cut, learner(), stored(X, storage="csr"), y, sorted(set(y)))
            yield f"{at}/after fit", partial(_after_fit, learner(), X, y)
            yield f"{at}/warm", partial(_warm, learner(warm_start=True), X, y)
    for tie in ("mistake", "positive"):
        X = whole()
        yield f"kernels/ties/{tie}", partial(_fit, made(kernel="linear", tie=tie), X, X[:, 0] + X[:, 1] > 0)
    for gamma in ("auto", "scale"):
        yield f"kernels/gamma/{gamma}", partial(_fit, made(gamma=gamma), *_data())


def _budgets(task, multiclass, X, y):
    for policy in ("forget-oldest", "forgetron", "projectron"):
        if policy == "forgetron" and task == "joint":
            continue
        for kernel in ("rbf", "poly"):
            for budget in (3, 12):
                told = {"kernel": kernel, "budget": budget, "policy": policy, "multiclass": multiclass}
                learner = partial(made, **told, **KERNELS[kernel])
                at = f"budgets/{policy}/{kernel}/{budget}/{task}"
                yield at, partial(_fit, learner(), X, y)
                yield f"{at}/batches", partial(_cut, learner(), X, y, sorted(set(y)))
        told = {"budget": 8, "policy": policy, "gamma": 0.7, "multiclass": multiclass}
        at = f"budgets/{policy}/{task}"
        yield f"{at}/csr", partial(_fit, made(**told), stored(X, "float32", "csr"), y)
        yield f"{at}/no intercept", partial(_fit, made(fit_intercept=False, **told), X, y)
        yield f"{at}/warm", partial(_warm, made(warm_start=True, **told), X, y)
        if policy != "forgetron" or multiclass == "ovr":
            yield f"{at}/new classes", partial(_cut, made(**told), X, np.sort(y))
    for rule in ("PA", "PA-I", "PA-II"):
        learner = made(rule=rule, C=0.3, budget=6, policy="forget-oldest", gamma=0.7, multiclass=multiclass)
        yield f"budgets/forget-oldest/{rule}/{task}", partial(_fit, learner, X, y)


def _options(task, multiclass, X, y):
    weights = np.array([0.0, 1.0, 0.5, 2.0, 0.3] * 12)
    told = {
        "no intercept": {"fit_intercept": False},
        "no shuffle": {"shuffle": False},
        "balanced": {"class_weight": "balanced"},
        "early_stopping": {"early_stopping": True, "max_iter": 12},
        "no cache": {"cache_size": 0},
        "converged": {"max_iter": 200, "tol": None, "gamma": 3.0},
        "one epoch": {"max_iter": 1},
    }
    for option, given in told.items():
        for keep in ("last", "average"):
            learner = made(**{"keep": keep, "gamma": 0.7, "multiclass": multiclass, **given})
            yield f"kernels/options/{option}/{keep}/{task}", partial(_fit, learner, X, y)
    for keep in KEEPS:
        learner = made(keep=keep, gamma=0.7, multiclass=multiclass)
        yield f"kernels/options/sample_weight/{keep}/{task}", partial(_fit, learner, X, y, sample_weight=weights)


def _cut(learner, X, y, classes=None):
    learner, parts = clone(learner), []
    with quiet():
        for begin, end in pairwise(CUTS):
            learner.partial_fit(X[begin:end], y[begin:end], classes if begin == 0 else None)
            parts.append(answer(learner, X))
        return {**fitted(learner, X), "course": digest(parts)}


def _after_fit(learner, X, y):
    learner = clone(learner)
    with quiet():
        learner.fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
        return fitted(learner, X)


def _warm(learner, X, y):
    learner = clone(learner)
    with quiet():
        first = history(learner.fit(X, y))
        return {**fitted(learner.fit(X, y), X), "first": first}
