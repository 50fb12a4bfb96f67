"""`load`: a model that answers, and that goes on where its file holds the learning state.

Invariant: a model that was loaded answers and learns with the bits of the learner that was saved.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

from rosenblatt import select
from rosenblatt.errors import ModelError
from rosenblatt.learners.serialization import learner_from_tensors
from rosenblatt.models import file
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.rows import encode_rows


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
    model = file.load(path)
    return LoadedModel(model, None if model.state is None else file.sha256_of(path))


class LoadedModel:
    """What `load` returns: a `Model`, and the learner that it was made of, as soon as it learns.

    It has the attributes and methods of `rosenblatt.models.Model`, which predict, explain and describe. Learning
    changes it in place: later predictions follow what it has learned.

    >>> import os, tempfile, rosenblatt
    >>> path = os.path.join(tempfile.mkdtemp(), "sign.model")
    >>> rosenblatt.save(rosenblatt.Perceptron().fit([[-1.0], [1.0]], ["no", "yes"]), path)
    >>> model = rosenblatt.load(path)
    >>> model.partial_fit([[-3.0], [2.0]], ["no", "yes"]).predict([[5.0]]).tolist()
    ['yes']
    """

    def __init__(self, model: Model, sha256: str | None = None) -> None:
        self._model: Model | None = model
        self._encoder, self._names = model.encoder, model.names
        self._lineage = {} if sha256 is None else {"parent": sha256}
        self._learner: Any = None
        self._lock = threading.RLock()

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these rows once, in their order; they are as for `predict`."""
        with self._learning() as learner:
            more = {} if classes is None else {"classes": classes}  # a regression has none
            rows = X if self._encoder is None else encode_rows(X, self._encoder, learner.n_features_in_)
            learner.partial_fit(rows, y, sample_weight=sample_weight, **more)
        return self

    def learn_one(self, row: Any, label: Any, weight: float = 1.0) -> Self:
        """Learn from one row; it is as for `predict_one`."""
        if self._encoder is not None:
            return self.partial_fit([row], [label], sample_weight=None if weight == 1.0 else [weight])
        with self._learning() as learner:
            learner.learn_one(row, label, weight)
        return self

    def predict_one(self, row: Any) -> Any:
        """The label of one row, as `Model.predict_one` gives it; while examples are learned, without a new model."""
        learner = self._learner
        if self._model is None and self._encoder is None and hasattr(learner, "predict_one"):
            return learner.predict_one(row)
        return self.as_model().predict_one(row)

    @property
    def learner_(self) -> Any:
        """The learner that goes on: a scikit-learn estimator of rosenblatt."""
        if self._learner is None:
            with self._lock:
                if self._learner is None:
                    assert self._model is not None
                    self._learner = revive(self._model)
        return self._learner

    def as_model(self) -> Model:
        """What has been learned up to now, ready to be saved or exported; it does not change any more."""
        with self._lock:
            if self._model is None:
                names = None if self._encoder is None else self._names
                model = model_of(self._learner, self._encoder, names, state=True)
                self._model = replace(model, lineage=self._lineage)
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

    @contextmanager
    def _learning(self) -> Iterator[Any]:
        """The learner, for one thread; whatever happens, the next prediction is that of what was learned."""
        with self._lock:
            learner = self.learner_
            try:
                yield learner
            finally:
                self._model = None


def revive(model: Model) -> Any:
    """The learner that goes on from a model, checked."""
    if (saved := model.state) is None:
        raise ModelError("the model holds what it answers with, but no learning state: save it with state=True")
    try:
        kind = saved.header.get("wrapper")
        if kind is None:
            names = {} if model.encoder is not None else model.names
            return learner_from_tensors(saved, model.classes, model.features, names)
        if kind not in ("Calibrated", "AutoPerceptron"):
            raise ModelError(f"it was learned by {str(kind)[:40]!r}, which is not a learner of rosenblatt")
        return getattr(select, kind).from_model(model, saved)
    except ModelError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        why = (str(error).splitlines() or ["it cannot be read"])[0][:200]
        raise ModelError(f"the learning state is not valid: {why}") from None
    except MemoryError:
        raise ModelError("the learning state needs more memory than there is") from None
