"""The features of a learner of weights, by name and number: its stream's, while one is under way.

Invariant: names outlive a stream. What it knew goes back into the learner when it is closed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.learners.base import Learner
from rosenblatt.learners.hearing import Hearing
from rosenblatt.learners.learned import Learned
from rosenblatt.learners.one import columns_of
from rosenblatt.learners.stream import Columns, Stream


class NamedLearner(Learner):
    """A learner whose features may have names, and grow in number."""

    @property
    def n_features_in_(self) -> int:
        """How many features the learner has seen."""
        stream = self._stream()
        if stream is not None:
            return stream.width
        if "_n_features" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no features yet: call fit first")
        return self._n_features

    @n_features_in_.setter
    def n_features_in_(self, value: int) -> None:
        self._n_features = value

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the features, if they all have one."""
        stream = self._stream()
        if stream is not None:
            names = list(stream.names)
            if not names or not all(isinstance(name, str) for name in names):
                raise AttributeError("the features of this stream have no names")
            return np.array(names, dtype=object)
        if "_feature_names" not in vars(self):
            raise AttributeError(f"{type(self).__name__} was not fitted with feature names")
        return self._feature_names

    @feature_names_in_.setter
    def feature_names_in_(self, value: NDArray[Any]) -> None:
        self._feature_names = value

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        if "_feature_names" not in vars(self) and self._stream() is None:
            raise AttributeError("feature_names_in_")
        self.__dict__.pop("_feature_names", None)  # those of a stream go with it

    def feature_columns(self) -> Columns:
        """The column of each feature, by its name, or the bits of its hash."""
        bits = self.learned.told.get("hash_bits")
        return bits if bits and self.n_features_in_ == 1 << bits else self.columns_by_name()

    def columns_by_name(self) -> dict[Any, int]:
        """The column of each feature, by its name, or by its number where there are no names."""
        stream = self._stream()
        if stream is not None:
            return stream.names
        bits = getattr(self.params(), "hash_bits", None)
        if bits and self.n_features_in_ == 1 << bits:
            return {}
        return columns_of(self)

    def close_stream(self) -> None:
        """What the stream holds goes back into states and names."""
        if self._stream() is not None:
            with Hearing():
                self._close_now(self.learned)

    def _close_now(self, learned: Learned) -> None:
        stream = learned.stream
        assert stream is not None
        stream.close()
        names, mistakes_updates = getattr(self, "feature_names_in_", None), stream.unrecorded()
        learned.states[:] = stream.trimmed()
        self._n_features = stream.width
        self.__dict__.pop("_feature_names", None)
        self.__dict__.pop("_stream_names", None)
        if names is not None:
            self._feature_names = names
        elif stream.names:  # numbers of columns among names: no names for scikit-learn, and names for dicts
            self._stream_names = stream.names
        learned.stream = None
        if any(mistakes_updates):
            self.history_.append(*mistakes_updates)

    def _unrecorded(self) -> tuple[int, int]:
        stream = self._stream()
        return (0, 0) if stream is None else stream.unrecorded()

    def _stream(self) -> Stream | None:
        return None if self._learned is None else self._learned.stream
