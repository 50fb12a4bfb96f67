"""`cross_validate`, `tune` and `compare`: scores on held-out folds, with a standard error.

Invariant: all learners of a call see the same rows of the same folds, scaled in the same way.
"""

from __future__ import annotations

import math
import time as clock
import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import has_fit_parameter

from rosenblatt import learners
from rosenblatt.data.labels import Labels, Numbers, encode_labels, one_label_of
from rosenblatt.data.table import as_table
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learners.fit import check_lengths
from rosenblatt.learners.targets import rows_with_weight
from rosenblatt.learners.weights import seed_of
from rosenblatt.params import Params
from rosenblatt.select.auto import AutoPerceptron, table_of
from rosenblatt.select.calibrated import ProbabilisticClassifier
from rosenblatt.select.choice import Choice, Sample
from rosenblatt.select.folds import CrossValidation, check_learner
from rosenblatt.select.scaling import Scaling, describe_scaling, find_scaling, typical_squared_norm
from rosenblatt.select.scoring import check_defined, make_scorer, nan_last
from rosenblatt.select.search import try_params, tuning_grid

MOST_KERNEL_ROWS = 5_000  # the time of kernels and votes grows with the square of the rows


def cross_validate(
    X: Any,
    y: Any,
    learner: Any,
    *,
    folds: int = 5,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    scoring: Any = None,
    random_state: Any = 0,
    n_jobs: int = -1,
) -> CrossValidation:
    """Fit the learner once per fold, on the other folds, and score it on the fold.

    No row is copied: the folds are index ranges into the same memory, learned from in parallel. The score of a fold is
    that of ``fit`` with a sample weight of 0 on the fold.

    Parameters
    ----------
    X, y : rows and labels
        As for `fit`.
    learner : linear or kernel learner, Calibrated or AutoPerceptron
        Cloned once per fold; a regression too. One with probabilities takes scores of probabilities.
    folds : int, default=5
        The number of folds; every class is spread evenly over them.
    groups : array-like, optional
        One value per row, such as a patient or a user; rows of one group are never in two folds. Pass it if a model
        will meet new groups: rows of a known group are easier than those of a new one.
    time : array-like, optional
        One value per row that can be sorted. A model of the earlier rows then predicts each fold.
        Pass it if a model will meet later rows.
    sample_weight : array-like, optional
        Weights for learning and, with the class weights of the learner, for the score; rows of weight 0 are in no fold.
    scoring : str, function or None, default=None
        As for `Sweep`: accuracy, R² for a regression, or a score of your choice.
    random_state : int, default=0
        The seed of the folds.
    n_jobs : int, default=-1
        Threads over the folds; all CPUs by default.

    Returns
    -------
    CrossValidation
        `scores`, one per fold; their `mean` and its `standard_error`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rosenblatt import AveragedPerceptron
    >>> from rosenblatt.select import cross_validate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = cross_validate(X, y, AveragedPerceptron(max_iter=20, tol=0.01), folds=4)
    >>> result.scores.shape
    (4,)
    """
    wrapped = isinstance(learner, ProbabilisticClassifier)
    if not wrapped:
        check_learner(learner)
    labels = one_label_of(y, type(learner).__name__) if wrapped else learner.labels_of(y)
    sample = _sample(X, labels, sample_weight, learner.class_weight, scoring, random_state, n_jobs)
    split: dict[str, Any] = {"groups": groups, "time": time}
    return _cross_validate(learner, sample.split(folds, **split), **split)


def _sample(
    X: Any, labels: Labels, sample_weight: Any, class_weight: Any, scoring: Any, random_state: Any, n_jobs: int
) -> Sample:
    """The rows with their weights and the scorer."""
    table = table_of(X, labels)[1]
    check_lengths(table, labels)
    scorer = make_scorer(scoring, regression=isinstance(labels, Numbers))
    sample = Sample(table, labels, seed=seed_of(random_state), n_jobs=n_jobs, scorer=scorer)
    return sample.weighed(sample_weight, class_weight)


def _cross_validate(learner: Any, sample: Sample, **split: Any) -> CrossValidation:
    """The score of a learner on each fold; `groups` or `time` split the rows."""
    if not isinstance(learner, ProbabilisticClassifier):
        scores = Choice(learner.params()).fold_scores(sample)
        return sample.cross_validation(scores, [None] * len(scores))
    scores, calibrators, table = [], [], sample.table
    for fold in sample.folds:
        fitted = clone(learner)
        fitted._begin(table.values, sample.labels, sample.training_weights(fold), **split)
        scores.append(fitted._predictor.scores(table, fold[1]))
        calibrators.append(fitted.calibrator())
    return sample.cross_validation(scores, calibrators)


@dataclass(frozen=True)
class Tuning:
    """Learners with their cross-validation, the best first.

    >>> rows, labels = [[-2.0], [-1.0], [1.0], [2.0]] * 10, [0, 0, 1, 1] * 10
    >>> found = tune(rows, labels)
    >>> len(found.tried), found.tried[0][1].mean, found.fit(rows, labels).predict_proba([[5.0]]).shape
    (19, 1.0, (1, 2))
    """

    scaling: Scaling | None  # of the rows that all but AutoPerceptron, which scales by itself, learned from
    tried: list[tuple[Any, CrossValidation]]

    @property
    def best(self) -> Any:
        """The best learner, not fitted yet; it takes scaled rows."""
        return self.tried[0][0]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The best learner, fitted on unscaled rows: an `AutoPerceptron`, which scales them and has probabilities.

        For a regression it is a pipeline of scikit-learn, which scales the columns if they need it.

        Parameters
        ----------
        X, y, sample_weight
            As for `tune`.
        """
        best = clone(self.best)
        if isinstance(best, AutoPerceptron):
            return best.fit(X, y, sample_weight)
        if not best.is_regression:
            auto = AutoPerceptron(products=False, random_state=best.random_state)
            auto._begin(X, one_label_of(y, "tune").weighed(sample_weight), sample_weight, params=best.params())
            return auto
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        scaler = "passthrough" if self.scaling is None else StandardScaler(with_mean=not as_table(X).sparse)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # these epochs were the best
            return make_pipeline(scaler, best).fit(X, y, passiveaggressiveregression__sample_weight=sample_weight)

    def to_json(self) -> list[dict[str, Any]]:
        """The learners and their scores as plain values."""
        return [
            {"learner": _name(learner), found.scoring: found.mean, "standard_error": found.standard_error}
            for learner, found in self.tried
        ]

    def __str__(self) -> str:
        width = max(len(_name(learner)) for learner, _ in self.tried)
        lines = [f"{_name(learner).ljust(width)}  {found}" for learner, found in self.tried]
        return "\n".join([describe_scaling(self.scaling), "", *lines, "", f"best: {_name(self.best)}"])


def _name(learner: Any) -> str:
    """The learner as Python code, without parameters at their defaults."""
    return learner.written() if isinstance(learner, Params) else repr(learner)


def tune(
    X: Any,
    y: Any,
    *,
    task: Literal["classification", "regression"] = "classification",
    folds: int = 5,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    scoring: Any = None,
    scale: bool = True,
    random_state: Any = 0,
    n_jobs: int = -1,
) -> Tuning:
    """Cross-validate averaged PA-I, AROW, the averaged perceptron and `AutoPerceptron` over parameters and epochs.

    Choose it to see how much parameters matter; `AutoPerceptron`, which is tried too, takes a fraction of the time.

    Parameters
    ----------
    X, y : rows and labels
        As for `fit`.
    task : {"classification", "regression"}, default="classification"
        "regression": the labels are numbers; PA-I regression is tried over C, epsilon and epochs.
    scale : bool, default=True
        Scale columns first if `AutoPerceptron` would scale them.
    folds, groups, time, sample_weight, scoring, random_state, n_jobs
        As for `cross_validate`. Scores of probabilities are of a sigmoid fitted on the held-out rows.

    Returns
    -------
    Tuning
        `tried`, a list of learners with their CrossValidation, the best first; `best`, the best learner; `scaling`, how
        the columns were scaled; and `fit`, which fits the best one on unscaled rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt.select import tune
    >>> found = tune(*load_iris(return_X_y=True), folds=3)
    >>> len(found.tried)
    19
    """
    if task not in ("classification", "regression"):
        raise ParameterError(f"task={task!r}: must be 'classification' or 'regression'")
    is_regression = task == "regression"
    labels = Numbers.of(y, 0.0) if is_regression else one_label_of(y, "tune").weighed(sample_weight)
    sample = _sample(X, labels, sample_weight, None, scoring, random_state, n_jobs)
    if (rows := rows_with_weight(sample.weights)) is not None:  # others are ignored, also for the size of the steps
        sample = sample.take(rows)
        groups, time = (None if each is None else np.asarray(each)[rows] for each in (groups, time))
    split: dict[str, Any] = {"groups": groups, "time": time}
    sample = sample.split(folds, **split)
    scaling = find_scaling(sample.table) if scale else None
    scaled = sample.scaled(scaling)
    grid = tuning_grid(typical_squared_norm(scaled.table), seed=sample.seed, is_regression=is_regression)
    found = try_params(grid, scaled)
    tried = [(getattr(learners, params.learner)(**params.values()), each) for params, each in found]
    if not is_regression:
        auto = AutoPerceptron(scoring=scoring, random_state=random_state, n_jobs=n_jobs)
        tried.append((auto, _cross_validate(auto, sample, **split)))
    tried.sort(key=lambda pair: nan_last(pair[1].mean))
    check_defined(sample.scorer, tried[0][1].mean)
    return Tuning(scaling, tried)


@dataclass(frozen=True)
class Measured:
    """One classifier on all folds."""

    name: str
    accuracy: float
    standard_error: float
    fit_seconds: float  # per fold
    predict_microseconds: float  # per row
    score: float  # by the `scoring` of the comparison, the mean over the folds


@dataclass(frozen=True)
class Comparison:
    """The measurements, the best first; ``print`` it for a table.

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
    scoring: str = "accuracy"

    def __str__(self) -> str:
        width = max(10, *(len(each.name) for each in self.measured))
        named = "" if self.scoring == "accuracy" else f"  {self.scoring:>17}"
        size = f"{self.rows:,} rows, {self.features:,} features, {self.classes} classes"
        lines = [f"{size}; {self.folds} folds; {self.scaling}", ""]
        lines.append(f"{'classifier':<{width}}  accuracy %      ±    fit s  predict µs{named}")
        for each in self.measured:
            score = f"  {each.score:>17.4f}" if named else ""
            figures = f"{100 * each.accuracy:>10.2f}  {100 * each.standard_error:>5.2f}  {each.fit_seconds:>7.4f}"
            lines.append(f"{each.name:<{width}}  {figures}  {each.predict_microseconds:>10.2f}{score}")
        return "\n".join(lines)


def family(rows: int = 0) -> dict[str, Any]:
    """The learners of rosenblatt that `compare` tries on so many rows, by name.

    The kernel perceptron is tried on up to 5,000 rows; above, the voted perceptron learns for one epoch.
    """
    few = rows <= MOST_KERNEL_ROWS
    voted, epochs = ("VotedPerceptron", {}) if few else ("VotedPerceptron, 1 epoch", {"max_iter": 1})
    found = {
        "AutoPerceptron": AutoPerceptron(n_jobs=1),
        "Perceptron": learners.Perceptron(),
        "AveragedPerceptron": learners.AveragedPerceptron(),
        voted: learners.VotedPerceptron(**epochs),
        "PocketPerceptron": learners.PocketPerceptron(),
        "PassiveAggressive": learners.PassiveAggressive(),
        "PassiveAggressive averaged": learners.PassiveAggressive(keep="average"),
        "AROW": learners.AROW(),
    }
    return found | ({"KernelPerceptron rbf": learners.KernelPerceptron(kernel="rbf")} if few else {})


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
    groups: Any = None,
    time: Any = None,
    scoring: Any = None,
) -> Comparison:
    """Measure the family and scikit-learn's linear classifiers on the same folds.

    Parameters
    ----------
    X, y : rows and labels
        As for `fit`. Columns are scaled for all if `AutoPerceptron` would scale them.
    classifiers : dict of name: classifier, optional
        The classifiers to measure, instead of ``{**family(len(y)), **baselines()}``.
    folds : int, default=5
        The number of folds; every class is spread evenly over them.
    sample_weight : array-like, optional
        Weights for learning, if the classifier accepts them, and for counting; rows of weight 0 are in no fold.
    random_state : int, default=0
        The seed of the folds.
    groups, time : array-like, optional
        One value per row: rows of one group share a fold, or each part is held out from earlier rows.
    scoring : str, function or None, default=None
        The score that ranks, by scikit-learn's name; None: accuracy. A classifier without the probabilities that the
        score needs comes last.

    Returns
    -------
    Comparison
        ``print`` it for a table, `dataclasses.asdict` for JSON.

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
    if classifiers is not None and not isinstance(classifiers, dict):
        raise ParameterError(f"classifiers must be a dict of names and classifiers, not {type(classifiers).__name__}")
    labels = encode_labels(y)
    sample = _sample(X, labels, sample_weight, None, scoring, random_state, n_jobs=1)
    sample = sample.split(folds, groups=groups, time=time)
    scaling = find_scaling(sample.table)
    for training, _ in sample.folds:
        known = np.unique(labels.codes[training])
        if len(known) < 2:
            rare = np.delete(labels.classes, known).tolist()[0]
            raise DataError(f"the label {rare!r} has too few rows: every training part needs two labels")
    scaled, (count, features) = sample.scaled(scaling), (sample.table.count, sample.table.features)
    chosen = {**family(count), **baselines()} if classifiers is None else classifiers
    measured = [_measure(name, each, scaled) for name, each in chosen.items()]
    measured.sort(key=lambda each: nan_last(each.score))
    sizes = count, features, len(labels.classes), folds
    return Comparison(*sizes, describe_scaling(scaling), measured, sample.scorer.name)


def _measure(name: str, classifier: Any, sample: Sample) -> Measured:
    table, scorer, classes, measured = sample.table, sample.scorer, sample.labels.classes, []
    y = classes[sample.labels.codes]
    for (training, held), (labels, weights) in zip(sample.folds, sample.parts, strict=True):
        X_train, X_held, fitted, more = table.take(training), table.take(held), clone(classifier), {}
        if sample.weights is not None and has_fit_parameter(fitted, "sample_weight"):
            more = {"sample_weight": sample.weights[training]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a classifier that stops at its last epoch is measured as it is
            started = clock.perf_counter()
            fitted.fit(X_train, y[training], **more)
        learned = clock.perf_counter()
        right = fitted.predict(X_held) == y[held]
        seconds = (clock.perf_counter() - learned) / len(held)
        score = accuracy = np.average(right, weights=weights)
        if not scorer.is_accuracy:
            score, known = math.nan, getattr(fitted, "classes_", classes)
            methods = [scorer.response] + ["predict_proba"] * (scorer.response == "decision_function")
            respond = next((getattr(fitted, method) for method in methods if hasattr(fitted, method)), None)
            if respond is not None and (scorer.response == "predict" or len(known) == len(classes)):
                score = scorer.of_response(respond(X_held), labels, weights)
        measured.append((accuracy, learned - started, seconds, score))
    accuracies, learning, predicting, scores = np.array(measured, float).T
    accuracy = CrossValidation(accuracies, None if sample.weights is None else np.array(sample.shares))
    times = float(np.median(learning)), 1e6 * float(np.median(predicting))
    return Measured(name, accuracy.mean, accuracy.standard_error, *times, replace(accuracy, scores=scores).mean)
