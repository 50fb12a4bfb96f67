"""`partial_fit` in any cut, and one example at a time, in any order with `fit`; features and labels as they come."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
from sklearn.base import clone

from cases.data import labels, rows, stored, uniform
from cases.digest import answer, digest, fitted, history, quiet
from cases.linear import FEW_PAIRS, PAIRS, TASKS, learner

CUTS = (0, 1, 8, 31, 60)


def iter_cases():
    yield from _batches()
    yield from _ones()
    yield from _mixtures()


def _batches():
    for rule, keep in PAIRS:
        for task, (classes, multiclass) in TASKS.items():
            made = learner(rule, keep, multiclass=multiclass)
            for storage in ("dense", "csr") if (rule, keep) in FEW_PAIRS else ("dense",):
                X = stored(rows(), storage=storage)
                name = f"batches/{rule}/{keep}/{task}/{storage}"
                yield name, partial(_cut, made, X, labels(classes), classes=sorted(set(labels(classes))))
    weights = np.array([0.0, 1.0, 0.5, 2.0, 0.3] * 12)
    for rule, keep in FEW_PAIRS:
        for multiclass in ("joint", "ovr"):
            make = partial(learner, rule, keep, multiclass=multiclass)
            at = f"batches/{rule}/{keep}/{multiclass}"
            late = np.sort(labels(4))  # one class after the other comes
            yield f"{at}/new classes", partial(_cut, make(), rows(), late)
            yield f"{at}/new classes float32", partial(_cut, make(), rows().astype("float32"), late)
            yield f"{at}/weights", partial(_cut, make(), rows(), labels(4), weights=weights)
            some = {"ant": 0.5, "bee": 2.0, "cat": 1.0, "dog": 3.0}
            yield f"{at}/class_weight", partial(_cut, make(class_weight=some), rows(), labels(4), sorted(some))
            for first, then in (("float32", "float64"), ("float64", "float32")):
                yield f"{at}/{first} then {then}", partial(_types, make(), first, then)
            yield f"{at}/after fit", partial(_after_fit, make(), rows(), labels(4))
            yield (
                f"{at}/init random",
                partial(_cut, make(init="random"), rows(), labels(4), classes=sorted(set(labels(4)))),
            )
    for penalty in ("l1", "l2", "elasticnet"):
        for keep in ("last", "average"):
            for multiclass in ("joint", "ovr"):
                made = learner("eta0", keep, penalty=penalty, alpha=0.004, multiclass=multiclass)
                yield f"batches/{penalty}/{keep}/{multiclass}", partial(_cut, made, rows(), np.sort(labels(4)))


def _cut(made, X, y, classes=None, weights=None):
    made, parts = clone(made), []
    with quiet():
        for begin, end in pairwise(CUTS):
            some = None if weights is None or not weights[begin:end].any() else weights[begin:end]
            made.partial_fit(X[begin:end], y[begin:end], classes if begin == 0 else None, some)
            parts.append(answer(made, X))
        return {**fitted(made, X), "course": digest(parts)}


def _types(made, first, then):
    made, X, y = clone(made), rows(), labels(4)
    with quiet():
        made.partial_fit(X[:30].astype(first), y[:30], sorted(set(y)))
        made.partial_fit(X[30:].astype(then), y[30:])
        return fitted(made, X)


def _after_fit(made, X, y):
    made = clone(made)
    with quiet():
        made.fit(X[:40], y[:40])
        before = answer(made, X)
        made.partial_fit(stored(X[40:], storage="csr"), y[40:])
        return {**fitted(made, X), "before": before}


def examples(count=150):
    """Dicts of names and numbers: early ones have few names and labels, later ones more."""
    names, values = uniform(6 * count, 31).reshape(count, 6), uniform(6 * count, 32).reshape(count, 6)
    found = []
    for k in range(count):
        reach = 6 + k
        chosen = ((names[k] + 1) / 2 * reach).astype(int)
        features = {f"word{j}": float(value) for j, value in zip(chosen, values[k], strict=True)}
        total = sum(value if int(name[4:]) % 3 else -value for name, value in features.items())
        label = "ham" if total > 0 else "spam"
        if k > 60 and total > 1.0:
            label = "news"
        if k > 100 and total < -1.0:
            label = "an ad"
        found.append((features, label))
    return found


def _ones():
    for rule, keep in PAIRS:
        for multiclass in ("joint", "ovr"):
            for intercept in (True, False) if (rule, keep) in FEW_PAIRS else (True,):
                made = learner(rule, keep, multiclass=multiclass, fit_intercept=intercept)
                name = f"ones/{rule}/{keep}/{multiclass}{'' if intercept else '/no intercept'}"
                yield name, partial(_one_by_one, made, examples())
    for rule, keep in FEW_PAIRS:
        two = [(features, label in ("ham", "news")) for features, label in examples()]
        yield f"ones/{rule}/{keep}/two", partial(_one_by_one, learner(rule, keep), two)
        yield f"ones/{rule}/{keep}/tie", partial(_one_by_one, learner(rule, keep, tie="positive"), two)
        yield f"ones/{rule}/{keep}/one class", partial(_one_by_one, learner(rule, keep), [(f, 1) for f, _ in two[:9]])
    for penalty in ("l1", "l2", "elasticnet"):
        for keep in ("last", "average"):
            made = learner("PA-I", keep, penalty=penalty, alpha=0.004)
            yield f"ones/{penalty}/{keep}", partial(_one_by_one, made, examples(60))


def _one_by_one(made, stream):
    made = clone(made)
    said = _learn(made, stream)
    probe = rows(12, int(made.n_features_in_), 0.5, 40)
    with quiet():
        return {**fitted(made, probe), "predicted": said, "names": digest(made.feature_names_in_)}


def _numbered(X, y):
    return [({j: float(v) for j, v in enumerate(x) if v}, label) for x, label in zip(X, y.tolist(), strict=True)]


def _mixtures():
    for rule, keep in FEW_PAIRS:
        for task, (classes, multiclass) in TASKS.items():
            make = partial(learner, rule, keep, multiclass=multiclass)
            X, y = rows(), labels(classes)
            at = f"mixtures/{rule}/{keep}/{task}"
            yield f"{at}/fit, ones", partial(_fit_then_ones, make(), X, y)
            yield f"{at}/fit float32, ones", partial(_fit_then_ones, make(), X.astype("float32"), y)
            yield f"{at}/ones, batch, ones", partial(_ones_and_batches, make(), X, y)
            yield f"{at}/ones, fit", partial(_ones_then_fit, make(), X, y)
            yield f"{at}/ones, warm fit", partial(_ones_then_fit, make(warm_start=True), X, y)


def _learn(made, stream):
    said = []
    for features, label in stream:
        said.append(made.predict_one(features) if hasattr(made, "classes_") else None)
        made.learn_one(features, label)
    return digest(said)


def _fit_then_ones(made, X, y):
    made = clone(made)
    with quiet():
        made.fit(X[:30], y[:30])
        said = _learn(made, _numbered(X[30:], y[30:]))
        return {**fitted(made, X), "predicted": said}


def _ones_and_batches(made, X, y):
    """Every column is named at once, so that a batch has as many features as the stream."""
    made = clone(made)
    first = [({j: float(v) for j, v in enumerate(x)}, label) for x, label in zip(X[:12], y[:12].tolist(), strict=True)]
    with quiet():
        said = [_learn(made, first)]
        made.partial_fit(X[12:30], y[12:30])
        between = history(made)
        said.append(_learn(made, _numbered(X[30:45], y[30:45])))
        made.partial_fit(stored(X[45:], storage="csr"), y[45:])
        return {**fitted(made, X), "predicted": digest(said), "between": between}


def _ones_then_fit(made, X, y):
    made = clone(made)
    stream = [({j: float(v) for j, v in enumerate(x)}, label) for x, label in zip(X, y.tolist(), strict=True)]
    with quiet():
        said = _learn(made, stream)
        return {**fitted(made.fit(X, y), X), "predicted": said}
