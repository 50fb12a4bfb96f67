"""Every rule with every keep, on every kind of rows; penalties; and every option of `fit`."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.base import clone

import rosenblatt
from cases.data import labels, rows, separable, stored, whole
from cases.digest import answer, digest, fitted, history, quiet

RULES = {
    "perceptron": (rosenblatt.Perceptron, {}),
    "margin": (rosenblatt.Perceptron, {"beta": 0.5}),
    "eta0": (rosenblatt.Perceptron, {"eta0": 0.3}),
    "PA": (rosenblatt.PassiveAggressive, {"variant": "PA"}),
    "PA-I": (rosenblatt.PassiveAggressive, {"variant": "PA-I", "C": 0.3}),
    "PA-II": (rosenblatt.PassiveAggressive, {"variant": "PA-II", "C": 0.3}),
    "AROW": (rosenblatt.AROW, {"r": 0.7}),
}
KEEPS = ("last", "average", "vote", "pocket")
PAIRS = [(rule, keep) for rule in RULES for keep in KEEPS if rule != "AROW" or keep in ("last", "average")]
FEW_PAIRS = [
    ("perceptron", "last"),
    ("margin", "average"),
    ("eta0", "vote"),
    ("perceptron", "pocket"),
    ("PA", "vote"),
    ("PA-I", "average"),
    ("PA-II", "last"),
    ("AROW", "last"),
    ("AROW", "average"),
]
TASKS = {"two": (2, "joint"), "joint": (3, "joint"), "ovr": (4, "ovr")}


def learner(rule, keep="last", **options):
    """A learner by the name of its rule and its keep."""
    kind, own = RULES[rule]
    return kind(**{"keep": keep, "max_iter": 5, "random_state": 3, **own, **options})


def iter_cases():
    yield from _rules()
    yield from _ties()
    yield from _penalties()
    yield from _options()
    yield from _classes_of_their_own()


def _fit(learner, X, y, **given):
    with quiet():
        return fitted(clone(learner).fit(X, y, **given), X)


def _rules():
    for rule, keep in PAIRS:
        for task, (classes, multiclass) in TASKS.items():
            for storage in ("dense", "csr"):
                for dtype, intercept in (("float64", True), ("float32", True), ("float64", False)):
                    made = learner(rule, keep, multiclass=multiclass, fit_intercept=intercept)
                    X = stored(rows(), dtype, storage)
                    name = f"rules/{rule}/{keep}/{task}/{storage}/{dtype}{'' if intercept else '/no intercept'}"
                    yield name, partial(_fit, made, X, labels(classes))
    for rule, keep in FEW_PAIRS:  # wide rows, most of which are 0
        for task, (classes, multiclass) in TASKS.items():
            shape = (80, 300, 0.03, 8)
            X, y = stored(rows(*shape), "float64", "csr"), labels(classes, *shape)
            yield f"rules/{rule}/{keep}/{task}/wide", partial(_fit, learner(rule, keep, multiclass=multiclass), X, y)
    for keep in KEEPS:  # a single column, and rows of one lane more than a register
        for features in (1, 8, 33):
            shape = (40, features, 1.0, 4)
            made = learner("perceptron", keep, multiclass="joint")
            yield f"rules/perceptron/{keep}/{features} columns", partial(_fit, made, rows(*shape), labels(3, *shape))


def _ties():
    X = whole()
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, 0)
    three = (X[:, 0] + X[:, 1]).astype(int) % 3
    for rule, keep in FEW_PAIRS:
        for tie in ("mistake", "positive"):
            for storage in ("dense", "csr"):
                made = learner(rule, keep, tie=tie)
                yield f"ties/{rule}/{keep}/{tie}/{storage}", partial(_fit, made, stored(X, storage=storage), y)
            made = learner(rule, keep, tie=tie, multiclass="ovr")
            yield f"ties/{rule}/{keep}/{tie}/ovr", partial(_fit, made, X, three)
        yield f"ties/{rule}/{keep}/mistake/joint", partial(_fit, learner(rule, keep), X, three)


def _penalties():
    for rule in ("perceptron", "eta0", "PA-II"):
        for penalty in ("l1", "l2", "elasticnet"):
            for keep in ("last", "average"):
                for task, (classes, multiclass) in TASKS.items():
                    for storage, dtype in (("dense", "float64"), ("csr", "float64"), ("csr", "float32")):
                        made = learner(rule, keep, penalty=penalty, alpha=0.003, multiclass=multiclass)
                        name = f"penalties/{rule}/{penalty}/{keep}/{task}/{storage}/{dtype}"
                        yield name, partial(_fit, made, stored(rows(), dtype, storage), labels(classes))
    yield "penalties/sparsify", _sparsified


def _sparsified():
    X, y = rows(), labels(3)
    with quiet():
        made = learner("perceptron", penalty="l1", alpha=0.01).fit(X, y).sparsify()
        sparse = answer(made, X)
        return {"sparse": sparse, "later": answer(made.partial_fit(X, y).densify(), X)}


def _options():
    weights = np.array([0.0, 1.0, 0.5, 2.0, 0.3] * 12)
    for rule, keep in FEW_PAIRS[:4] + FEW_PAIRS[5:7] + FEW_PAIRS[8:]:
        for task, (classes, multiclass) in TASKS.items():
            X, y = rows(), labels(classes)
            width = 1 if classes == 2 else classes
            start = rows(width, 19, 1.0, 6), rows(width, 1, 1.0, 7)[:, 0]
            weighted = {name: 0.5 + k for k, name in enumerate(sorted(set(y)))}
            told = {
                "init random": {"init": "random"},
                "init arrays": {"init": start},
                "init weights": {"init": start[0]},
                "n_init": {"n_init": 3},
                "n_init random": {"n_init": 2, "init": "random", "shuffle": False},
                "class_weight": {"class_weight": weighted},
                "balanced": {"class_weight": "balanced"},
                "early_stopping": {"early_stopping": True, "max_iter": 20, "validation_fraction": 0.3},
                "early n_init": {"early_stopping": True, "n_init": 2, "n_iter_no_change": 2},
                "no shuffle": {"shuffle": False},
                "no tol": {"tol": None, "max_iter": 12},
                "tol": {"tol": 0.05, "max_iter": 50},
                "n_iter_no_change": {"n_iter_no_change": 1, "max_iter": 50},
                "one epoch": {"max_iter": 1},
                "seed": {"random_state": 12345678901},
                "threads": {"n_jobs": 2, "n_init": 2},
            }
            for option, given in told.items():
                made = learner(rule, keep, **{"multiclass": multiclass, **given})
                yield f"options/{rule}/{keep}/{task}/{option}", partial(_fit, made, X, y)
            plain = partial(learner, rule, keep, multiclass=multiclass)
            data = {"sample_weight": weights}
            yield f"options/{rule}/{keep}/{task}/sample_weight", partial(_fit, plain(), X, y, **data)
            both = plain(class_weight="balanced", early_stopping=True)
            yield f"options/{rule}/{keep}/{task}/both weights", partial(_fit, both, X, y, **data)
            validation = {"X_val": rows(30, 19, 0.6, 21), "y_val": labels(classes, 30, 19, 0.6, 21)}
            yield f"options/{rule}/{keep}/{task}/X_val", partial(_fit, plain(max_iter=15), X, y, **validation)
            given = {"coef_init": start[0], "intercept_init": start[1]}
            yield f"options/{rule}/{keep}/{task}/coef_init", partial(_fit, plain(), X, y, **given)
            warm = plain(warm_start=True, max_iter=3)
            yield f"options/{rule}/{keep}/{task}/warm_start", partial(_warm, warm, X, y)
            sure = plain(max_iter=1000, tol=None)
            yield f"options/{rule}/{keep}/{task}/converged", partial(_fit, sure, *separable(classes))


def _warm(made, X, y):
    made = clone(made)
    with quiet():
        first = history(made.fit(X, y))
        second = fitted(made.fit(X, y), X)
        third = history(made.set_params(max_iter=2, shuffle=False).fit(X, y))
    return {**second, "first": first, "third": third}


def _classes_of_their_own():
    """Classes named for their keep, and scikit-learn's parameters."""
    for name in (
        "AveragedPerceptron",
        "VotedPerceptron",
        "PocketPerceptron",
        "Perceptron",
        "PassiveAggressive",
        "AROW",
    ):
        for classes in (2, 3):
            made = getattr(rosenblatt, name)()
            yield f"classes/{name}/{classes}", partial(_fit, made, rows(), labels(classes))
        shown = {name: repr(value) for name, value in made.get_params().items()}
        yield f"classes/{name}/parameters", lambda shown=shown: {"parameters": digest(shown)}
    for loss in ("hinge", "squared_hinge"):
        for average in (False, True):
            for classes in (2, 3):
                made = rosenblatt.PassiveAggressiveClassifier(loss=loss, average=average, random_state=1)
                name = f"classes/PassiveAggressiveClassifier/{loss}/{average}/{classes}"
                yield name, partial(_fit, made, rows(), labels(classes))
    for kind, y in {"numbers": 0, "floats": -1.0, "booleans": False}.items():
        other = {"numbers": 7, "floats": 2.0, "booleans": True}[kind]
        named = np.where(labels(2) == "no", y, other)
        yield f"classes/labels/{kind}", partial(_fit, learner("perceptron"), rows(), named)
