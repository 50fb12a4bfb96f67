"""`compare`: the family beside scikit-learn's linear classifiers, measured on the user's own rows.

Invariant: every classifier sees the same rows of the same folds, scaled in the same way.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from rosenblatt.data.labels import Labels, encode_labels
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import DataError
from rosenblatt.learners.arow import AROW
from rosenblatt.learners.fit import check_lengths
from rosenblatt.learners.kernel_perceptron import KernelPerceptron
from rosenblatt.learners.passive_aggressive import PassiveAggressive
from rosenblatt.learners.perceptron import AveragedPerceptron, Perceptron, PocketPerceptron, VotedPerceptron
from rosenblatt.learners.targets import row_weights
from rosenblatt.learners.weights import seed_of
from rosenblatt.select.auto import AutoPerceptron
from rosenblatt.select.folds import Fold, make_folds
from rosenblatt.select.scaling import find_scaling

MOST_KERNEL_ROWS = 5_000  # the time of kernels and votes grows with the square of the rows


@dataclass(frozen=True)
class Measured:
    """One classifier on all folds."""

    name: str
    accuracy: float
    standard_error: float
    # The smallest geometric margin on the training rows, the mean over the folds; None: no weights.
    margin: float | None
    fit_seconds: float  # a fold
    predict_microseconds: float  # a row
    parameters: int | None  # numbers in the model
    probabilities: bool
    online: bool
    kernels: bool


@dataclass(frozen=True)
class Comparison:
    """The measurements, the most accurate first.

    >>> from rosenblatt import AveragedPerceptron
    >>> rows, labels = [[-2.0], [-1.0], [1.0], [2.0]] * 10, [0, 0, 1, 1] * 10
    >>> found = compare(rows, labels, classifiers={"averaged": AveragedPerceptron()})
    >>> found.rows, found.folds, found.measured[0].accuracy
    (40, 5, 1.0)
    """

    rows: int
    features: int
    classes: int
    folds: int
    scaling: str
    measured: list[Measured]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "classifier",
        "accuracy %",
        "±",
        "margin",
        "fit s",
        "predict µs",
        "numbers",
        "offers",
    )

    def heading(self) -> str:
        """What was compared on."""
        size = f"{self.rows:,} rows, {self.features:,} features, {self.classes} classes"
        return f"{size}; {self.folds} folds; {self.scaling}"

    def cells(self) -> list[tuple[str, ...]]:
        """The table as text, a line a classifier."""
        return [_cells(each) for each in self.measured]

    def __str__(self) -> str:
        lines = [self.COLUMNS, *self.cells()]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.COLUMNS))]
        return "\n".join([self.heading(), "", *("  ".join(_aligned(line, widths)).rstrip() for line in lines)])


def family(rows: int = 0) -> dict[str, Any]:
    """The learners of rosenblatt that `compare` tries on so many rows, by name.

    The kernel perceptron is tried on up to 5,000 rows; above, the voted perceptron learns for one epoch.
    """
    few = rows <= MOST_KERNEL_ROWS
    kernel = {"KernelPerceptron rbf": KernelPerceptron(kernel="rbf")}
    voted = {"VotedPerceptron": VotedPerceptron()} if few else {"VotedPerceptron, 1 epoch": VotedPerceptron(max_iter=1)}
    return {
        "AutoPerceptron": AutoPerceptron(n_jobs=1),
        "Perceptron": Perceptron(),
        "AveragedPerceptron": AveragedPerceptron(),
        **voted,
        "PocketPerceptron": PocketPerceptron(),
        "PassiveAggressive": PassiveAggressive(),
        "PassiveAggressive averaged": PassiveAggressive(keep="average"),
        "AROW": AROW(),
        **(kernel if few else {}),
    }


def baselines() -> dict[str, Any]:
    """scikit-learn's linear classifiers at their defaults, by name."""
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.linear_model import Perceptron as SklearnPerceptron
    from sklearn.svm import LinearSVC

    return {
        "sklearn LogisticRegression": LogisticRegression(),
        "sklearn LinearSVC": LinearSVC(random_state=0),
        "sklearn SGDClassifier": SGDClassifier(random_state=0),
        "sklearn Perceptron": SklearnPerceptron(random_state=0),
    }


def compare(
    X: Any,
    y: Any,
    *,
    classifiers: dict[str, Any] | None = None,
    folds: int = 5,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> Comparison:
    """Measure the family and scikit-learn's linear classifiers on the same folds.

    Parameters
    ----------
    X, y : rows and labels
        As for `fit`. Columns are scaled for all if `AutoPerceptron` would scale them.
    classifiers : dict of name: classifier, optional
        What to measure, instead of ``{**family(len(y)), **baselines()}``.
    folds : int, default=5
        How many parts; every class is spread evenly over them.
    sample_weight : array-like, optional
        Weighs the learning, of those that take it, and the counting; rows of weight 0 are in no fold.
    random_state : int, default=0
        The seed of the folds.

    Returns
    -------
    Comparison
        ``print`` it for a table, `as_dict` for JSON.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import AROW, AveragedPerceptron
    >>> from rosenblatt.select import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare(X, y, classifiers={"AROW": AROW(), "averaged": AveragedPerceptron()}, folds=3)
    >>> sorted(each.name for each in found.measured)
    ['AROW', 'averaged']
    """
    table, labels = as_table(X), encode_labels(y)
    check_lengths(table, labels)
    scaling = find_scaling(table)
    scaled = table if scaling is None else scaling.apply(table)
    weights = row_weights(sample_weight, None, labels)
    parts = make_folds(labels, weights, folds, seed_of(random_state))
    for part in parts:
        _check_part(labels, part)
    chosen = {**family(table.count), **baselines()} if classifiers is None else classifiers
    measured = [_measure(name, classifier, scaled, labels, parts, weights) for name, classifier in chosen.items()]
    return Comparison(
        table.count,
        table.features,
        len(labels.classes),
        folds,
        "columns as they are" if scaling is None else f"columns scaled ({scaling.kind})",
        sorted(measured, key=lambda each: -each.accuracy),
    )


def _check_part(labels: Labels, part: Fold) -> None:
    """Raise if the training rows lack a second class, before anything is measured."""
    known = np.unique(labels.codes[part[0]])
    if len(known) < 2:
        rare = np.delete(labels.classes, known).tolist()[0]
        raise DataError(f"the label {rare!r} has too few rows: some of them must be learned from, some held out")


def _measure(
    name: str,
    classifier: Any,
    table: Table,
    labels: Labels,
    parts: list[Fold],
    weights: NDArray[np.float64] | None,
) -> Measured:
    y = labels.classes[labels.codes]
    scores, seconds, predicting, margins, fitted = [], [], [], [], classifier
    for training, held in parts:
        X_train, X_held = table.take(training), table.take(held)
        fitted = clone(classifier)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a classifier that stops at its last epoch is measured as it is
            started = time.perf_counter()
            if weights is not None and has_fit_parameter(fitted, "sample_weight"):
                fitted.fit(X_train, y[training], sample_weight=weights[training])
            else:
                fitted.fit(X_train, y[training])
            seconds.append(time.perf_counter() - started)
        started = time.perf_counter()
        answers = fitted.predict(X_held)
        predicting.append((time.perf_counter() - started) / len(held))
        scores.append(float(np.average(answers == y[held], weights=None if weights is None else weights[held])))
        # A class may have no row in this part.
        codes = np.searchsorted(fitted.classes_, y[training]).astype(np.int32)
        margins.append(_smallest_margin(fitted, X_train, codes))
    return Measured(
        name,
        float(np.mean(scores)),
        float(np.std(scores, ddof=1) / np.sqrt(len(scores))),
        None if None in margins else float(np.mean(np.array(margins, float))),
        float(np.median(seconds)),
        1e6 * float(np.median(predicting)),
        _count_numbers(fitted),
        hasattr(fitted, "predict_proba"),
        hasattr(fitted, "partial_fit"),
        hasattr(fitted, "kernel"),
    )


def _count_numbers(fitted: Any) -> int | None:
    """How many numbers a model holds: weights, or support rows and their coefficients; None: neither."""
    fitted = getattr(fitted, "best_", fitted)
    for names in (("coef_", "intercept_"), ("support_vectors_", "dual_coef_", "intercept_")):
        arrays: list[Any] = [getattr(fitted, name, None) for name in names]
        if all(array is not None for array in arrays):
            return sum(int(array.nnz if sp.issparse(array) else np.size(array)) for array in arrays)
    return None


def _smallest_margin(fitted: Any, X: Any, codes: NDArray[np.int32]) -> float | None:
    """``min m/‖w‖`` over the rows: below 0 if one is wrong. More classes: the right row less the highest wrong one."""
    coef = getattr(fitted, "coef_", None)
    if coef is None:
        return None
    scores = np.asarray(fitted.decision_function(X), float)
    if scores.ndim == 1:
        norm = float(np.linalg.norm(coef))
        return float(np.min(np.where(codes == 1, scores, -scores)) / norm) if norm else 0.0
    every = np.arange(len(codes))
    right = scores[every, codes].copy()
    scores[every, codes] = -np.inf
    wrong = scores.argmax(axis=1)
    gram = coef @ coef.T
    squares = np.diag(gram)
    distance = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * gram, 0.0))[codes, wrong]
    margins = (right - scores[every, wrong]) / np.where(distance > 0, distance, 1.0)
    return float(margins.min())


def _cells(each: Measured) -> tuple[str, ...]:
    can = {"probabilities": each.probabilities, "online": each.online, "kernels": each.kernels}
    offers = [word for word, has in can.items() if has]
    return (
        each.name,
        f"{100 * each.accuracy:.2f}",
        f"{100 * each.standard_error:.2f}",
        "-" if each.margin is None else f"{each.margin:.3g}",
        f"{each.fit_seconds:.4f}",
        f"{each.predict_microseconds:.2f}",
        "-" if each.parameters is None else f"{each.parameters:,}",
        ", ".join(offers),
    )


def _aligned(line: tuple[str, ...], widths: list[int]) -> list[str]:
    first, *middle, last = line
    return [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(middle, widths[1:], strict=False)), last]
