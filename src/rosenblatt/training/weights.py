"""How much the rows of each class count, where rows are learned as they are read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Classes
from rosenblatt.data.labels import Labels
from rosenblatt.errors import ParameterError
from rosenblatt.io.dataset import Dataset, check_classes
from rosenblatt.learners.targets import class_weights


def count_class_weights(reader: Dataset, class_weight: Any, known: Any = None) -> NDArray[np.float64]:
    """One weight per class, of the data or of those that are known; for 'balanced', by one more reading of the data."""
    classes = check_classes(reader.scan_classes()) if known is None else Classes(known)
    counts = np.zeros(len(classes))
    if isinstance(class_weight, str):
        for batch in reader:
            counts += np.bincount(classes.codes(batch), batch.weights, len(classes))
    # Each class as one row of its weight: all that 'balanced' asks for.
    labels = Labels(classes.values, np.arange(len(classes), dtype=np.int32))
    weights = class_weights(class_weight, labels, counts)
    if not weights.all():
        raise ParameterError("class_weight: a class of weight 0 is as if absent: leave its rows out of the data")
    return weights
