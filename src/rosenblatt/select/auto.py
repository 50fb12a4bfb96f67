"""`AutoPerceptron`: scales if needed, tries the family side by side, keeps the best, says what it chose and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt import engine
from rosenblatt.data.labels import Labels, merge_classes, sorted_classes
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.learners.arow import AROW
from rosenblatt.learners.epochs import Orders, Problem, Stopping
from rosenblatt.learners.passive_aggressive import PassiveAggressive
from rosenblatt.learners.perceptron import AveragedPerceptron
from rosenblatt.learners.start import check_count, seed_of
from rosenblatt.learners.state import State
from rosenblatt.learners.validation import hold_out
from rosenblatt.learners.weighting import row_weights
from rosenblatt.learners.weights import LinearLearner
from rosenblatt.models.linear import Linear, predict_codes
from rosenblatt.select.calibration import Calibration, Kind
from rosenblatt.select.folds import assign_folds
from rosenblatt.select.scaling import Scaling, find_scaling, mean_squared_norm
from rosenblatt.select.together import Course, run_together

FOLDS = ((1_000, 5), (10_000, 3))  # below so many rows, so many folds: a single held-out part would be too small
FEWEST_ROWS = 5
HELD_OUT = 0.2
MOST_HELD_OUT = 10_000
ROUNDS = ((1, 3), (3, 1))  # after so many epochs in all, so many candidates go on
PATIENCE = 3
CHANCE = 0.5  # differences of accuracy below so many standard errors count as none


@dataclass
class Candidate:
    """A learner with its courses, one a fold."""

    learner: LinearLearner
    name: str
    held: int  # rows to judge by
    courses: list[Course] = field(default_factory=list)

    def curve(self) -> NDArray[np.float64]:
        """The mean validation score after each epoch; a fold that ended earlier keeps its last score."""
        scores = [course.history.validation_score for course in self.courses]
        longest = max(map(len, scores))
        padded = np.array([each + [each[-1]] * (longest - len(each)) for each in scores])
        mean: NDArray[np.float64] = padded.mean(axis=0)
        return mean

    @property
    def score(self) -> float:
        return float(self.curve().max())

    @property
    def epochs(self) -> int:
        """The last epoch that is as good as the best one, but for chance: more passes settle the weights further."""
        return int(np.flatnonzero(self.curve() >= self.floor)[-1]) + 1

    @property
    def floor(self) -> float:
        """The lowest score that is as good as this one, but for chance."""
        score = self.score
        return score - CHANCE * float(np.sqrt(score * (1.0 - score) / self.held))


class AutoPerceptron(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A good linear classifier without options: scaling, rule, parameters and epochs are chosen by held-out rows.

    Averaged perceptrons, averaged PA-I and AROW learn side by side, each row read once for all; the weaker half leaves
    after the first epoch, the best goes on until its held-out accuracy stops rising, and is then learned again from all
    rows. The steps of the candidates are set by the length of the rows, so nothing depends on units. Use a named
    learner where you want to know the algorithm beforehand.

    Parameters
    ----------
    max_iter : int, default=20
        The most epochs.
    class_weight : dict, "balanced" or None, default=None
        As for `Perceptron`.
    calibrate : {"auto", "sigmoid", "isotonic"}, default="auto"
        How the held-out scores become the probabilities of `predict_proba`; "auto" is isotonic from 1,000 of them on.
    random_state : int, default=0
        The seed of the held-out part and of the shuffling; the same seed gives the same bits.
    n_jobs : int, default=-1
        Threads over the candidates; the result is the same for any number.
    verbose : int, default=0
        1 prints `choice_`.

    Attributes
    ----------
    best_ : learner
        The chosen learner, fitted on the scaled rows.
    choice_ : str
        What was chosen, and why, in one line.
    scores_ : dict
        The held-out accuracy of every candidate.
    scaling_ : Scaling or None
        What was done to the columns.
    coef_, intercept_
        The weights for unscaled rows.

    Examples
    --------
    >>> from rosenblatt import AutoPerceptron
    >>> rows, labels = [[0.0], [1.0], [5.0], [6.0]] * 5, ["low", "low", "high", "high"] * 5
    >>> AutoPerceptron().fit(rows, labels).predict([[0.5], [7.0]]).tolist()
    ['low', 'high']
    """

    def __init__(
        self,
        *,
        max_iter: int = 20,
        class_weight: Any = None,
        calibrate: Kind = "auto",
        random_state: Any = 0,
        n_jobs: int | None = -1,
        verbose: int = 0,
    ) -> None:
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose a learner and fit it on all rows."""
        check_count("max_iter", self.max_iter)
        if self.calibrate not in ("auto", "sigmoid", "isotonic"):
            raise ParameterError(f"calibrate={self.calibrate!r}: must be 'auto', 'sigmoid' or 'isotonic'")
        table, labels = as_table(X), AveragedPerceptron()._labels(y)
        if table.count != len(labels.codes):
            raise DataError(
                f"Found input variables with inconsistent numbers of samples: X has {table.count} rows, "
                f"y has {len(labels.codes)} labels"
            )
        if len(labels.classes) < 2:
            raise LabelError(
                f"y has one class only, {labels.classes.tolist()[0]!r}: a classifier needs at least 2 classes"
            )
        weights = row_weights(sample_weight, self.class_weight, labels)
        seed = seed_of(self.random_state)
        scaling = find_scaling(table)
        scaled = table if scaling is None else scaling.apply(table)
        folds = _folds(labels, weights, seed)
        held = sum(len(rows) for _, rows in folds)
        candidates = self._candidates(scaled, seed, held)
        if folds:
            ranked = self._rank(candidates, scaled, labels, weights, folds, seed)
        else:
            ranked = candidates
        best = ranked[0]
        epochs = best.epochs if folds else int(self.max_iter)
        learner = best.learner.set_params(max_iter=epochs, tol=None)
        fitting = learner._prepare(scaled, labels, "zeros", weights)
        orders = Orders()
        course = Course(fitting.restarts[0][0], fitting.problems[0], fitting.stoppings[0], orders)
        run_together([course], orders)
        assert course.outcome is not None
        learner._conclude(scaled.values, fitting, [course.outcome])
        validate_data(self, X, skip_check_array=True, reset=True)
        self.classes_, self.best_, self.scaling_ = labels.classes, learner, scaling
        self.scores_ = {each.name: each.score for each in ranked} if folds else {}
        self.choice_ = _sentence(ranked, epochs, folds, scaling)
        self.n_iter_ = learner.n_iter_
        self._fold()
        self._calibration = self._calibrated(best, folds, scaled, labels)
        if self.verbose:
            print(self.choice_)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on with the chosen learner on more rows, scaled as before; the first call chooses, as `fit` does.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`; labels may be new.
        classes : array-like, optional
            Labels that may come. Not needed: new labels are taken as they come.
        """
        if not hasattr(self, "best_"):
            self.fit(X, y, sample_weight)
            if classes is not None:
                known = merge_classes(self.classes_, sorted_classes(classes))
                self.best_._states = self.best_._states_over(known, self.best_._rule())
                self.best_.classes_ = self.classes_ = known
                self.best_._answers = []
                self._fold()
                if len(known) > 2:  # the scores may have other columns now
                    self._recalibrate(X, y)
            return self
        table = as_table(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        scaled = table if self.scaling_ is None else self.scaling_.apply(table)
        before = self._folded.scores(table)
        self.best_.partial_fit(scaled.values, y, classes, sample_weight)
        self._fold()
        if len(self.best_.classes_) == len(self.classes_):
            codes = self.best_._labels(y).among(self.classes_)
            self._calibration = self._calibration.followed_by(before, codes)
        else:
            self.classes_ = self.best_.classes_
            self._recalibrate(X, y)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of every class, of shape (n_rows, n_classes)."""
        scores = self._scores(X)
        return self._calibration.probabilities(scores)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: of shape (n_rows,) with two classes, above or at 0 for the larger; else (n_rows, n_classes)."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row."""
        codes = predict_codes(self._scores(X))
        return self.classes_[codes]

    @property
    def coef_(self) -> NDArray[Any]:
        """The weights for unscaled rows."""
        return self._linear().weights

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The intercepts for unscaled rows."""
        return self._linear().intercept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _linear(self) -> Linear:
        if "best_" not in vars(self):
            raise AttributeError("AutoPerceptron has no weights yet: call fit first")
        return self._folded

    def _fold(self) -> None:
        """The chosen learner's weights for unscaled rows."""
        model = Linear(self.best_.coef_, self.best_.intercept_)
        self._folded = model if self.scaling_ is None else self.scaling_.folded(model)

    def _recalibrate(self, X: Any, y: Any) -> None:
        """Start the map again from these rows, after classes have come and the scores have other columns."""
        codes = self.best_._labels(y).among(self.classes_)
        scores = self._folded.scores(as_table(X))
        self._calibration = Calibration(self.calibrate, scores, codes, len(self.classes_))

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self, "best_")
        table = as_table(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        return self._linear().scores(table)

    def _calibrated(
        self,
        best: Candidate,
        folds: list[tuple[NDArray[np.uint32], NDArray[np.uint32]]],
        table: Table,
        labels: Labels,
    ) -> Calibration:
        """The map to probabilities, from the winner's scores of held-out rows; of all rows where none were held out."""
        if not folds:
            return Calibration(
                self.calibrate,
                Linear(self.best_.coef_, self.best_.intercept_).scores(table),
                labels.codes,
                len(labels.classes),
            )
        found, codes = [], []
        for course, (_, held) in zip(best.courses, folds, strict=True):
            state = course.state if course.outcome is None else course.outcome.state
            found.append(state.answer().scores(table, held))
            codes.append(labels.codes[held])
        return Calibration(self.calibrate, np.vstack(found), np.concatenate(codes), len(labels.classes))

    def _candidates(self, table: Table, seed: int, held: int) -> list[Candidate]:
        """The family, its steps set by the mean ‖x‖² + 1 of the rows."""
        q = mean_squared_norm(table) + 1.0
        common: dict[str, Any] = {"random_state": seed, "max_iter": int(self.max_iter)}
        found: list[Candidate] = []
        for share in (1.0, 10.0, 0.1):
            C = float(f"{share / q:.2g}")
            learner = PassiveAggressive(C=C, keep="average", **common)
            found.append(Candidate(learner, f"PassiveAggressive(C={C:g}, keep='average')", held))
        for share in (0.5, 0.05):
            r = float(f"{share * q:.2g}")
            found.append(Candidate(AROW(r=r, **common), f"AROW(r={r:g})", held))
        found.append(Candidate(AveragedPerceptron(**common), "AveragedPerceptron()", held))
        return found

    def _rank(
        self,
        candidates: list[Candidate],
        table: Table,
        labels: Labels,
        weights: NDArray[np.float64] | None,
        folds: list[tuple[NDArray[np.uint32], NDArray[np.uint32]]],
        seed: int,
    ) -> list[Candidate]:
        """The candidates by their held-out accuracy, the best first."""
        y: NDArray[Any] = labels.signs() if len(labels.classes) == 2 else labels.codes
        orders = Orders()
        for candidate in candidates:
            learner = candidate.learner
            for training, held in folds:
                problem = Problem(table, y, learner._rule(), False, weights, training)
                validation = partial(_accuracy, table=table, codes=labels.codes, rows=held, weights=weights)
                stopping = Stopping(int(self.max_iter), 0.0, PATIENCE, True, validation, keep_best=False)
                generator = engine.seed_generator(seed)
                state = learner._new_states("zeros", table, labels.classes, learner._kept(), generator)[0]
                candidate.courses.append(Course(state, problem, stopping, orders))
        left, done = candidates, 0
        for epochs, go_on in ROUNDS:
            run_together(_courses(left), orders, epochs=epochs - done, n_jobs=self.n_jobs)
            left, done = _best(left)[:go_on], epochs
        run_together(_courses(left), orders, n_jobs=self.n_jobs)
        return [left[0], *(each for each in _best(candidates) if each is not left[0])]


def _accuracy(
    state: State,
    *,
    table: Table,
    codes: NDArray[np.int32],
    rows: NDArray[np.uint32],
    weights: NDArray[np.float64] | None,
) -> float:
    """The share of the rows that the answer so far gets right, each counted with its sample weight."""
    right = predict_codes(state.answer().scores(table, rows)) == codes[rows]
    return float(np.mean(right) if weights is None else np.average(right, weights=weights[rows]))


def _courses(candidates: list[Candidate]) -> list[Course]:
    return [course for candidate in candidates for course in candidate.courses]


def _best(candidates: list[Candidate]) -> list[Candidate]:
    """The best first; those as good as the best, but for chance, in their given order."""
    scores = [candidate.score for candidate in candidates]
    floor = candidates[int(np.argmax(scores))].floor
    order = np.argsort([-min(score, floor) for score in scores], kind="stable")
    return [candidates[place] for place in order]


def _folds(
    labels: Labels, weights: NDArray[np.float64] | None, seed: int
) -> list[tuple[NDArray[np.uint32], NDArray[np.uint32]]]:
    """Rows to learn from and rows to judge by: one held-out part, or folds of few rows; none where too few."""
    generator = engine.seed_generator(seed, 2**63)
    rows = np.arange(len(labels.codes), dtype=np.uint32)
    if weights is not None:
        rows = rows[weights > 0]
    counts = np.bincount(labels.codes[rows], minlength=len(labels.classes))
    if counts.min() < 2 or len(rows) < FEWEST_ROWS:
        return []
    folds = next((folds for below, folds in FOLDS if len(rows) < below), 1)
    if folds == 1:
        return [hold_out(labels, rows, min(HELD_OUT, MOST_HELD_OUT / len(rows)), generator)]
    fold_of = assign_folds(labels, rows, folds, seed)
    parts = [(rows[fold_of[rows] != fold], rows[fold_of[rows] == fold]) for fold in range(folds)]
    return [(training, held) for training, held in parts if len(held)]


def _sentence(ranked: list[Candidate], epochs: int, folds: list[Any], scaling: Scaling | None) -> str:
    best = ranked[0]
    ways = {"standard": "columns standardised", "max-abs": "columns divided by their largest value"}
    how = "columns as they are" if scaling is None else ways[scaling.kind]
    passes = f"{epochs} epoch{'s' if epochs > 1 else ''}"
    if not folds:
        return f"{best.name}, {passes}, {how}: too few rows to compare learners"
    return (
        f"{best.name}, {passes}, {how}: {100 * best.score:.2f} % of {best.held:,} held-out rows right; none of "
        f"{len(ranked)} learners did better, but for chance (next: {ranked[1].name}, {100 * ranked[1].score:.2f} %)"
    )
