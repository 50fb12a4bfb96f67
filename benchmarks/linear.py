"""Training time of the linear learners beside scikit-learn, LIBLINEAR, a Numba loop and river.

    python benchmarks/linear.py [PART ...] [--quick] [--json FILE]

All learn from the same arrays for the same number of epochs, `tol=None, max_iter=10`, which means the same to all;
LIBLINEAR alone stops by a tolerance of its own. Every turn has another seed. `ratio` is the time over that of the first
of the table: above 1, the first is faster. Rosenblatt shuffles strips of 32 rows by default; `shuffle="rows"` draws
every row, as scikit-learn does. The error is that on rows that nobody has learned from, with half of its 95 % interval
over the seeds; last weights vary more than averaged ones, so both are shown. The Numba loop is what an expert would
write: no checks, no history, a drawn row at a time. With ten classes scikit-learn can only do one-vs-rest; rosenblatt
learns jointly by default, which is less work for the same answer, and one-vs-rest beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from liblinear import liblinearutil
from river.linear_model import Perceptron as RiverPerceptron
from scipy import sparse
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.linear_model import SGDClassifier

from fetch import read_a9a, read_mnist
from measure import SEEDS, Found, Row, as_rows, run_script, take_turns
from rosenblatt import AveragedPerceptron, PassiveAggressive, Perceptron
from rows import make_dense, make_dicts, make_text

FEW = 5  # turns of the contests that only show another type or order
Fit = Callable[[int], Any]
TASK = {"loss": "perceptron", "penalty": None, "learning_rate": "constant", "eta0": 1.0}  # scikit-learn's Perceptron


@numba.njit
def run_dense(X: Any, y: Any, epochs: int, dice: Any, shuffle: bool) -> Any:
    """A perceptron over dense rows, signs as labels."""
    weights, bias, order = np.zeros(X.shape[1], X.dtype), 0.0, np.arange(len(y))
    for _ in range(epochs):
        if shuffle:
            dice.shuffle(order)
        for i in order:
            if y[i] * (np.dot(X[i], weights) + bias) <= 0:
                weights += y[i] * X[i]
                bias += y[i]
    return weights, bias


@numba.njit
def run_sparse(values: Any, columns: Any, starts: Any, y: Any, width: int, epochs: int, dice: Any) -> Any:
    """The same over CSR rows, shuffled."""
    weights, bias, order = np.zeros(width), 0.0, np.arange(len(y))
    for _ in range(epochs):
        dice.shuffle(order)
        for i in order:
            score = bias
            for k in range(starts[i], starts[i + 1]):
                score += values[k] * weights[columns[k]]
            if y[i] * score <= 0:
                for k in range(starts[i], starts[i + 1]):
                    weights[columns[k]] += y[i] * values[k]
                bias += y[i]
    return weights, bias


class NumbaLoop:
    """What an expert would write, behind `fit` and `predict`; compiled before it is timed."""

    def __init__(self, max_iter: int, tol: None, random_state: int, shuffle: bool = True) -> None:
        self.epochs, self.shuffle, self.n_iter_ = max_iter, shuffle, max_iter
        self.dice = np.random.default_rng(random_state)

    def fit(self, X: Any, y: Any) -> NumbaLoop:
        signs = np.where(y == y.max(), 1, -1).astype(X.dtype)
        if sparse.issparse(X):
            told = (X.data, X.indices, X.indptr, signs, X.shape[1])
            self.weights, self.bias = run_sparse(*told, self.epochs, self.dice)
        else:
            self.weights, self.bias = run_dense(X, signs, self.epochs, self.dice, self.shuffle)
        return self

    def predict(self, X: Any) -> Any:
        return (X @ self.weights + self.bias > 0).astype(int)


class Liblinear:
    """LIBLINEAR's dual coordinate descent; its own copy of the rows is made before it is timed."""

    def __init__(self, X: Any, y: Any) -> None:
        self.problem = liblinearutil.problem(np.where(y == y.max(), 1.0, -1.0), sparse.csr_matrix(X), 1)

    def fit(self, seed: int) -> Liblinear:
        self.model = liblinearutil.train(self.problem, liblinearutil.parameter("-s 1 -B 1 -q"))
        return self

    def predict(self, X: Any) -> Any:
        return (liblinearutil.predict([], sparse.csr_matrix(X), self.model, "-q")[0] > np.zeros(X.shape[0])).astype(int)


def fit_with(kind: Any, X: Any, y: Any, epochs: int, **params: Any) -> Fit:
    """A fit of exactly so many epochs."""

    def fit(seed: int) -> Any:
        learner = kind(tol=None, max_iter=epochs, random_state=seed, **params).fit(X, y)
        assert learner.n_iter_ == epochs, "it stopped early: the times would not compare"
        return learner

    return fit


def compare(
    data: str, X: Any, y: Any, held: int, epochs: int, turns: int, *, full: bool = True, order: str = "shuffled"
) -> list[Row]:
    """Two classes: fits of all rows but the last `held`, which give the error; `full`: with every contestant."""
    train, labels, test, expected = X[:-held], y[:-held], X[-held:], y[-held:]
    how: dict[str, Any] = {"shuffle": order == "shuffled"}
    contestants = {
        "rosenblatt Perceptron": fit_with(Perceptron, train, labels, epochs, **how),
        "scikit-learn Perceptron": fit_with(TheirPerceptron, train, labels, epochs, **how),
    }
    if order == "shuffled":
        contestants["rosenblatt, shuffle='rows'"] = fit_with(Perceptron, train, labels, epochs, shuffle="rows")
    if order == "shuffled" or not sparse.issparse(X):
        NumbaLoop(1, None, 0).fit(train[:10], labels[:10])
        contestants["Numba loop"] = fit_with(NumbaLoop, train, labels, epochs, **how)
    if full:
        contestants |= {
            "rosenblatt, averaged": fit_with(AveragedPerceptron, train, labels, epochs),
            "scikit-learn SGD, perceptron loss, averaged": fit_with(
                SGDClassifier, train, labels, epochs, average=True, **TASK
            ),
            "rosenblatt PA-I": fit_with(PassiveAggressive, train, labels, epochs),
            "scikit-learn SGD, pa1": fit_with(
                SGDClassifier, train, labels, epochs, loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0
            ),
        }
    if full and sparse.issparse(X):
        contestants["LIBLINEAR -s 1"] = Liblinear(train, labels).fit
    times = take_turns(contestants, turns, lambda model: 100 * float(np.mean(model.predict(test) != expected)))
    return as_rows(times, {"data": data, "type": str(X.dtype), "order": order}, visits=len(labels) * epochs)


def turns_of(quick: bool) -> tuple[int, int]:
    """Epochs and turns."""
    return (3, 3) if quick else (10, SEEDS)


def compare_dense(rows: int, features: int, quick: bool) -> Found:
    epochs, turns = turns_of(quick)
    rows = rows // 10 if quick else rows
    X, y = make_dense(rows + rows // 10, features)
    data = f"dense {rows:,} x {features}"
    lines = compare(data, X, y, rows // 10, epochs, turns)
    lines += compare(data, X.astype(np.float32), y, rows // 10, epochs, FEW, full=False)
    return {"Two classes": lines + compare(data, X, y, rows // 10, epochs, FEW, full=False, order="in order")}


def compare_text(quick: bool) -> Found:
    epochs, turns = turns_of(quick)
    rows = 20_000 if quick else 200_000
    X, y = make_text(rows + rows // 10, 200_000)
    data = f"text {rows:,} x 200,000"
    lines = compare(data, X, y, rows // 10, epochs, turns)
    how = (y, rows // 10, epochs, FEW)
    if not quick:
        lines += compare(data, X.astype(np.float32), *how, full=False)
        lines += compare(data, X, *how, full=False, order="in order")
        X.data[:] = 1.0
        lines += compare(f"all-ones {data}", X, *how, full=False)
    return {"Two classes": lines}


def compare_a9a(quick: bool) -> Found:
    if quick:
        return {}
    X, y, held = read_a9a()
    return {"Two classes": compare("a9a", X, (y > 0).astype(int), held, *turns_of(quick))}


def compare_mnist(quick: bool) -> Found:
    """Ten classes, in three types."""
    if quick:
        return {}
    X, y, held = read_mnist()
    epochs = 3
    lines = []
    for table in (X / 255.0, (X / 255.0).astype(np.float32), X):
        rows = (table[:-held], y[:-held], epochs)
        contestants = {
            "rosenblatt Perceptron, joint": fit_with(Perceptron, *rows),
            "rosenblatt Perceptron, one-vs-rest": fit_with(Perceptron, *rows, multiclass="ovr"),
            "rosenblatt, joint, averaged": fit_with(AveragedPerceptron, *rows),
            "scikit-learn Perceptron, one-vs-rest": fit_with(TheirPerceptron, *rows),
        }
        if table.dtype == np.float64:
            contestants["scikit-learn SGD, perceptron loss, averaged"] = fit_with(
                SGDClassifier, *rows, average=True, **TASK
            )

        def score(model: Any, table: Any = table) -> float:
            return 100 * float(np.mean(model.predict(table[-held:]) != y[-held:]))

        times = take_turns(contestants, SEEDS if table.dtype == np.float64 else FEW, score)
        lines += as_rows(times, {"data": "MNIST", "type": str(table.dtype)}, visits=epochs * (len(y) - held))
    return {"Ten classes": lines}


def compare_penalties(quick: bool) -> Found:
    """Penalized sparse rows beside plain ones."""
    epochs, turns = turns_of(quick)
    X, y = make_text(10_000 if quick else 100_000, 200_000)
    contestants = {
        f"rosenblatt Perceptron, penalty={penalty!r}": fit_with(Perceptron, X, y, epochs, alpha=1e-6, penalty=penalty)
        for penalty in (None, "l2", "l1", "elasticnet")
    }
    times = take_turns(contestants, turns)
    return {"Penalties": as_rows(times, {"data": f"text {len(y):,} x 200,000"}, visits=epochs * len(y))}


def compare_stream(quick: bool) -> Found:
    """One example at a time, predicted and then learned, on names that are known and on many new ones."""
    examples, turns = (2_000, 2) if quick else (20_000, 5)
    lines = []
    for vocabulary in (1_000, 100_000):
        stream = make_dicts(examples, 60, vocabulary)

        def run(kind: Any, stream: Any = stream) -> Fit:
            def once(seed: int) -> float:
                learner, mistakes = kind(), 0
                learner.learn_one(*stream[0])
                predict_one, learn_one = learner.predict_one, learner.learn_one
                for features, label in stream[1:]:
                    mistakes += predict_one(features) != label
                    learn_one(features, label)
                return 100 * mistakes / examples

            return once

        contestants = {"rosenblatt Perceptron": run(Perceptron), "river Perceptron": run(RiverPerceptron)}
        data = f"{examples:,} dicts of 60 out of {vocabulary:,} features"
        lines += as_rows(take_turns(contestants, turns, float), {"data": data}, visits=examples)
    return {"One example at a time": lines}


def compare_predictions(quick: bool) -> Found:
    """Answers for rows in batches of three sizes, each contestant's own `predict`."""
    turns = 3 if quick else 7
    lines = []
    X, y = make_dense(100_000, 20)
    T, z = make_text(20_000, 200_000)
    tables = (("dense 20", X, y), ("dense 20, ten classes", *make_dense(100_000, 20, 10)), ("text", T, z))
    for data, rows, labels in tables:
        ours, theirs = Perceptron(max_iter=3).fit(rows, labels), TheirPerceptron(max_iter=3).fit(rows, labels)
        for batch in (1, 100, rows.shape[0]):
            parts = [rows[start : start + batch] for start in range(0, min(rows.shape[0], 1000 * batch), batch)]

            def run(model: Any, parts: Any = parts) -> Fit:
                return lambda seed: [model.predict(part) for part in parts]

            times = take_turns({"rosenblatt Perceptron": run(ours), "scikit-learn Perceptron": run(theirs)}, turns)
            about = {"data": data, "batch": batch}
            lines += as_rows(times, about, visits=sum(part.shape[0] for part in parts), clock="wall")
    return {"Predictions, by wall time": lines}


if __name__ == "__main__":
    run_script(
        __doc__,
        {
            "narrow": lambda quick: compare_dense(1_000_000, 20, quick),
            "wide": lambda quick: compare_dense(60_000, 784, quick),
            "text": compare_text,
            "a9a": compare_a9a,
            "mnist": compare_mnist,
            "penalties": compare_penalties,
            "stream": compare_stream,
            "predictions": compare_predictions,
        },
    )
