"""The learners for river: its pipelines, metrics and progressive validation take them as they are.

Invariant: nothing is learned here. An adapted learner learns and answers what the learner itself does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.errors import MissingExtraError, ParameterError

try:
    from river import base
except ImportError:
    raise MissingExtraError("river", "river") from None


class _Adapted:
    """What both kinds share: a learner, which river clones, and its clone, which learns."""

    learner: Any

    def __init__(self, learner: Any) -> None:
        from sklearn.base import clone, is_classifier

        self.learner = learner
        self.learner_ = clone(learner)
        if is_classifier(learner) != isinstance(self, base.Classifier):
            other = "Regressor" if isinstance(self, base.Classifier) else "Classifier"
            raise ParameterError(f"{type(self).__name__} cannot adapt {type(learner).__name__}: use {other}")

    @property
    def _has_learned(self) -> bool:
        return hasattr(self.learner_, "n_features_in_")

    def learn_one(self, x: dict[Any, float], y: Any, w: float = 1.0) -> None:
        """Learn from one example."""
        self.learner_.learn_one(x, y, w)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn from the rows of a frame, as `partial_fit` does."""
        self.learner_.partial_fit(X, np.asarray(y), sample_weight=w)

    def predict_one(self, x: dict[Any, float], **kwargs: Any) -> Any:
        """The answer for one example; None before anything was learned."""
        return self.learner_.predict_one(x) if self._has_learned else None

    def predict_many(self, X: Any) -> Any:
        """The answers for the rows of a frame."""
        import pandas as pd

        if not self._has_learned:
            return pd.Series(dtype=object)
        return pd.Series(self.learner_.predict(X), index=X.index)


class Classifier(_Adapted, base.MiniBatchClassifier):
    """A classifier of rosenblatt for river.

    Parameters
    ----------
    learner : classifier with `learn_one`
        Any of the family: linear, kernel or `Calibrated`. It stays as it is: a clone of it learns.

    Attributes
    ----------
    learner_ : classifier
        The one that learns.

    Notes
    -----
    A learner without probabilities is sure of its answer: `predict_proba_one` gives 1 for it and 0 for the others.
    Wrap it in `Calibrated` for probabilities.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from rosenblatt import AveragedPerceptron
    >>> from rosenblatt.river import Classifier
    >>> stream = [({"win": 1.0}, True), ({"lunch": 1.0}, False)] * 10
    >>> evaluate.progressive_val_score(stream, Classifier(AveragedPerceptron()), metrics.Accuracy())
    Accuracy: 89.47%
    """

    @property
    def _multiclass(self) -> bool:
        return True

    def predict_proba_one(self, x: dict[Any, float], **kwargs: Any) -> dict[Any, float]:
        """The probability of each class; nothing before anything was learned."""
        if not self._has_learned:
            return {}
        if hasattr(self.learner_, "predict_proba_one"):
            chances: dict[Any, float] = self.learner_.predict_proba_one(x)
            return chances
        answer = self.learner_.predict_one(x)
        return {label: float(label == answer) for label in self.learner_.classes_.tolist()}

    def predict_proba_many(self, X: Any) -> Any:
        """The probabilities for the rows of a frame, a column per class."""
        import pandas as pd

        if not self._has_learned:
            return pd.DataFrame(index=X.index)
        classes = self.learner_.classes_
        if hasattr(self.learner_, "predict_proba"):
            return pd.DataFrame(self.learner_.predict_proba(X), columns=classes, index=X.index)
        answers = np.asarray(self.learner_.predict(X))[:, None]
        return pd.DataFrame((answers == classes).astype(float), columns=classes, index=X.index)


class Regressor(_Adapted, base.MiniBatchRegressor):
    """A regression of rosenblatt for river; see `Classifier`.

    Parameters
    ----------
    learner : regressor with `learn_one`
        Such as `PassiveAggressiveRegression`.

    Examples
    --------
    >>> from rosenblatt import PassiveAggressiveRegression
    >>> from rosenblatt.river import Regressor
    >>> learner = Regressor(PassiveAggressiveRegression())
    >>> learner.learn_one({"size": 1.0}, 3.0)
    >>> learner.predict_one({"size": 1.0})
    2.0
    """

    def predict_one(self, x: dict[Any, float], **kwargs: Any) -> float:
        """The number of one example; 0 before anything was learned."""
        return float(self.learner_.predict_one(x)) if self._has_learned else 0.0
