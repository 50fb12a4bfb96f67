"""`load`: a model that answers, and that goes on where its file holds the learning state.

Invariant: a model that was loaded answers and learns with the bits of the learner that was saved.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, Self

from rosenblatt.errors import ModelError
from rosenblatt.models import file
from rosenblatt.models.encoded import encoded_rows
from rosenblatt.models.model import Model, model_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def load(path: str | os.PathLike[str]) -> LoadedModel:
    """Read a model that `save` or the command ``train`` wrote. No code is run, whatever the file holds.

    Raises
    ------
    ModelError
        The file is truncated, altered, of another kind or of a newer version.

    Examples
    --------
    >>> import tempfile, os, rosenblatt
    >>> path = os.path.join(tempfile.mkdtemp(), "spam.model")
    >>> learner = rosenblatt.Perceptron().learn_one({"win": 1.0}, "spam").learn_one({"lunch": 1.0}, "ham")
    >>> rosenblatt.save(learner, path)
    >>> rosenblatt.load(path).learn_one({"lunch": 1.0}, "ham").predict_one({"lunch": 1.0})
    'ham'
    """
    return LoadedModel(file.load(path))


class LoadedModel:
    """What `load` returns: a `Model`, and the learner that it was made of, as soon as it learns.

    It has the attributes and methods of `rosenblatt.models.Model`. Learning changes it in place: what is asked
    afterwards is answered by what was learned.

    >>> import os, tempfile, rosenblatt
    >>> path = os.path.join(tempfile.mkdtemp(), "sign.model")
    >>> rosenblatt.save(rosenblatt.Perceptron().fit([[-1.0], [1.0]], ["no", "yes"]), path)
    >>> model = rosenblatt.load(path)
    >>> model.partial_fit([[-3.0], [2.0]], ["no", "yes"]).predict([[5.0]]).tolist()
    ['yes']
    """

    def __init__(self, model: Model) -> None:
        self._model: Model | None = model
        self._encoder, self._names = model.encoder, model.names
        self._learner: Any = None
        self._lock = threading.RLock()

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these rows once, in their order, going on from what the file holds."""
        with self._learning() as learner:
            more = {} if classes is None else {"classes": classes}  # a regression has none
            learner.partial_fit(self._rows(X), y, sample_weight=sample_weight, **more)
        return self

    def learn_one(self, features: dict[Any, float], label: Any, weight: float = 1.0) -> Self:
        """Learn from one example, a dict from names to numbers, going on from what the file holds."""
        if self._encoder is not None:
            raise ModelError("the model reads raw data by an encoder: examples as dicts are for models trained on rows")
        with self._learning() as learner:
            learner.learn_one(features, label, weight)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row."""
        labels: NDArray[Any] = self._reader().predict(self._rows(X))
        return labels

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: of shape (n_rows,) with two classes, above or at 0 for the larger; else (n_rows, n_classes)."""
        reader = self._reader()
        if not hasattr(reader, "decision_function"):  # a regression, whose model has its numbers for scores
            reader = self.as_model()
        scores: NDArray[np.float64] = reader.decision_function(self._rows(X))
        return scores

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, of shape (n_rows, n_classes), for a model that has probabilities."""
        reader = self._reader()
        if not hasattr(reader, "predict_proba"):
            reader = self.as_model()  # which says why it has none
        chances: NDArray[np.float64] = reader.predict_proba(self._rows(X))
        return chances

    def predict_one(self, features: dict[Any, float]) -> Any:
        """The label of one example, a dict from names to numbers; names that training never saw count for nothing."""
        reader = self._reader()
        return (reader if hasattr(reader, "predict_one") else self.as_model()).predict_one(features)

    def predict_proba_one(self, features: dict[Any, float]) -> dict[Any, float]:
        """The probability of each class for one example, for a model that has probabilities."""
        reader = self._reader()
        found = reader if hasattr(reader, "predict_proba_one") else self.as_model()
        chances: dict[Any, float] = found.predict_proba_one(features)
        return chances

    @property
    def learner_(self) -> Any:
        """The learner that goes on: a scikit-learn estimator of rosenblatt."""
        if self._learner is None:
            with self._lock:
                if self._learner is None:
                    from rosenblatt.select.kept import revive

                    assert self._model is not None
                    self._learner = revive(self._model)
        return self._learner

    def as_model(self) -> Model:
        """What has been learned up to now, ready to be saved or exported; it does not change any more."""
        with self._lock:
            if self._model is None:
                names = None if self._encoder is None else self._names
                self._model = model_of(self._learner, self._encoder, names, state=True)
            return self._model

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_model" not in vars(self):
            raise AttributeError(name)
        return getattr(self.as_model(), name)

    def __repr__(self) -> str:
        return repr(self.as_model())

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_lock": None}

    def __setstate__(self, known: dict[str, Any]) -> None:
        vars(self).update(known)
        self._lock = threading.RLock()

    def _reader(self) -> Any:
        """Who answers: the model of the file until it has learned, then the learner."""
        model = self._model
        return self._learner if model is None else model

    def _rows(self, X: Any) -> Any:
        """Rows for the learner: a frame goes through the encoder of a model that was trained on files."""
        return X if self._encoder is None else encoded_rows(X, self._encoder, self._reader().n_features_in_)

    def _learning(self) -> _Learning:
        return _Learning(self)


class _Learning:
    """While a loaded model learns: whatever happens, the next answer is that of what was learned."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded = loaded

    def __enter__(self) -> Any:
        self.loaded._lock.acquire()
        try:
            return self.loaded.learner_
        except BaseException:
            self.loaded._lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        self.loaded._model = None
        self.loaded._lock.release()
