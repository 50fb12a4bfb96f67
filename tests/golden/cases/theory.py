"""Certificates, ledgers, traces and bounds. What numpy sums or solves is rounded; what is exact or ours is not."""

from __future__ import annotations

from functools import partial

import numpy as np

from cases.data import labels, rows, separable, stored, whole
from cases.digest import digest, quiet, rounded
from cases.linear import FEW_PAIRS, RULES, learner
from rosenblatt import theory


def iter_cases():
    yield from _certificates()
    yield from _runs()


def _certificates():
    small = whole(24, 3)
    data = {
        "two": separable(2),
        "three": separable(3),
        "four": separable(4),
        "overlapping": (rows(24, 4, 1.0, 5), labels(2, 24, 4, 1.0, 5, 3.0)),
        "overlapping three": (rows(24, 4, 1.0, 5), labels(3, 24, 4, 1.0, 5, 3.0)),
        "twins": (small, np.arange(24) % 2),
        "whole": (small, small[:, 0] + small[:, 1] > 0),
        "and": (np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 0, 0, 1])),
        "xor": (np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])),
    }
    for name, (X, y) in data.items():
        for storage in ("dense", "csr"):
            for intercept in (True, False):
                at = f"{name}/{storage}{'' if intercept else '/no intercept'}"
                yield f"theory/certify/{at}", partial(_certify, stored(X, storage=storage), y, intercept)
                if len(set(y)) == 2:
                    for dtype in ("float64", "float32"):
                        made = stored(X, dtype, storage)
                        yield f"theory/separate/{at}/{dtype}", partial(_separate, made, y, intercept)


def _certify(X, y, intercept):
    found = theory.certify(X, y, fit_intercept=intercept)
    said = [found.kind, found.fit_intercept, found.check(X, y)]
    if found.kind == "separable":
        said += [rounded(found.gamma), rounded(found.radius), int(found.mistake_bound)]
    return {"certificate": digest(said)}


def _separate(X, y, intercept):
    found = theory.separate(X, y, fit_intercept=intercept, max_updates=3000)
    counted = [found.converged, found.updates, found.passes, found.visits, found.support]
    return {"plane": digest(found.w, found.b), "counted": digest(counted)}


def _runs():
    yield "theory/trace/default", partial(_trace, *separable(2), None)
    yield "theory/trace/whole", partial(_trace, whole(24, 3), whole(24, 3)[:, 0] > 0, None)
    for rule in RULES:
        if rule == "AROW":
            continue
        for classes in (2, 3):
            X, y = rows(20, 4, 1.0, 5), labels(classes, 20, 4, 1.0, 5)
            for option, given in {
                "shuffled": {},
                "in order": {"shuffle": False},
                "random": {"init": "random"},
                "weighted": {"class_weight": "balanced"},
                "tol": {"tol": 0.1, "max_iter": 30, "n_iter_no_change": 2},
                "no intercept": {"fit_intercept": False},
            }.items():
                yield f"theory/trace/{rule}/{classes}/{option}", partial(_trace, X, y, learner(rule, **given))
    for keep in ("last", "average", "vote", "pocket"):
        for rule in ("perceptron", "margin", "eta0"):
            for classes in (2, 3):
                made = learner(rule, keep, tol=None, max_iter=40)
                yield f"theory/ledger/{rule}/{keep}/{classes}", partial(_ledger, *separable(classes), made)
    for rule, keep in FEW_PAIRS:
        if keep != "vote":
            yield (
                f"theory/bounds/{rule}/{keep}",
                partial(_bounds, *separable(2), learner(rule, keep, tol=None, max_iter=100)),
            )


def _trace(X, y, made):
    with quiet():
        found = theory.trace(X, y, made)
    renderings = digest(found.render_jsonl(), found.render_csv(), found.render_table(10))
    return {"steps": renderings, "learner": digest(found.learner, found.mistakes, found.classes)}


def _ledger(X, y, made):
    with quiet():
        book = theory.ledger(X, y, made)
    lines = [
        [line.k, line.row, rounded([line.progress, line.squared_length, line.cosine, *line.bracket])] for line in book
    ]
    return {
        "lines": digest(lines),
        "ends": digest(rounded([book.gamma, book.radius, book.bound]), book.converged, book.holds),
    }


def _bounds(X, y, made):
    with quiet():
        w, b = made.fit(X, y).coef_[0], float(made.intercept_[0])
    measured = [theory.margin(X, y, w, b), theory.radius(X), theory.training_error(X, y, w, b)]
    measured += [theory.perceptron_loss(X, y, w, b), theory.deviation_bound(X, y, w, b, gamma=0.5)]
    measured += [theory.passive_aggressive_bound(X, y, w, b, variant=v) for v in ("PA-I", "PA-II")]
    return {"bounds": digest(rounded(measured))}
