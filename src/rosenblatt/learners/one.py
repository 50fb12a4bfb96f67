"""One example at a time, as a dict, for learners whose columns are rows of a table.

Invariant: `learn_one` does what `partial_fit` does with the same row, and costs as much.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.errors import DataError
from rosenblatt.learners.base import Learner
from rosenblatt.learners.stream import Columns, row_table
from rosenblatt.learners.targets import check_weight


class OneByOne(Learner):
    """A learner of tables that takes dicts; features that come later get a column of their own."""

    def learn_one(self, features: dict[Any, float], label: Any, weight: float = 1.0) -> Self:
        """Learn from one example, as `partial_fit` does from its row.

        Parameters
        ----------
        features : dict
            Names and numbers; a feature that is not there is 0, one that was never seen gets a column of its own.
            After a fit on an array without column names, the names are the column numbers.
        label
            Any label; a new one is taken as it comes.
        weight : float, default=1.0
            Scales the step, as a sample weight does.

        Returns
        -------
        self
        """
        engine.Stream.check(features)
        self.labels_of([label])
        if check_weight(weight) == 0:
            return self
        before, states = dict(vars(self)), list(self.learned.states) if self.has_learned else []
        names = dict(self.columns_by_name()) if self.has_learned else {}
        for name in features:
            names.setdefault(name, len(names))
        try:
            self._take_columns(names)
            weights = None if weight == 1.0 else [weight]
            self._go_on(row_table(features, names).values, [label], None, weights, named=False)
        except KeyboardInterrupt:
            raise
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            if states:
                self.learned.states[:] = states
                self.learned.changed()
            raise
        return self

    def predict_one(self, features: dict[Any, float]) -> Any:
        """The label of one example; features that were never seen count for nothing."""
        reading = self.learned.reading()
        scores = reading.score_one(features, self.columns_by_name)[None]
        return reading.predictions(scores).one

    def scores_one(self, features: dict[Any, float]) -> NDArray[np.float64]:
        """The scores of one example: one with two classes, else one per class."""
        return self.learned.reading().score_one(features, self.columns_by_name)

    def columns_by_name(self) -> dict[Any, int]:
        """The column of each feature, by its name, or by its number where there are no names."""
        return columns_of(self)

    def feature_columns(self) -> Columns:
        """Where a feature of an example is: here always by its name."""
        return self.columns_by_name()

    def _take_columns(self, names: dict[Any, int]) -> None:
        """From now on these are the columns; the first of them are those that were known."""
        width = max(len(names), 1)
        known = getattr(self, "n_features_in_", None)
        self._stream_names = names
        if known == width:
            return
        if known is not None and self.has_learned:
            self._widen(width)
        self.n_features_in_ = width
        self.__dict__.pop("feature_names_in_", None)

    def _widen(self, width: int) -> None:
        """Give the support rows more columns, which are 0."""
        raise NotImplementedError


def columns_of(learner: Any) -> dict[Any, int]:
    """The column of each feature that a learner has seen, by its name, or by its number where there are no names."""
    own = vars(learner).get("_stream_names")
    if own is not None and len(own) == learner.n_features_in_:
        found: dict[Any, int] = own
        return found
    names = getattr(learner, "feature_names_in_", None)
    return {name: at for at, name in enumerate(range(learner.n_features_in_) if names is None else names)}


def known_row(learner: Any, features: dict[Any, float]) -> NDArray[np.float64]:
    """One example as a dense row over the columns that were fitted; a feature beyond them is refused."""
    engine.Stream.check(features)
    names = columns_of(learner)
    row = np.zeros((1, learner.n_features_in_))
    for name, value in features.items():
        if name not in names:
            raise DataError(f"feature {name!r} is not among the columns that {type(learner).__name__} was fitted on")
        row[0, names[name]] = value
    return row
