"""The columns of a model by their names.

Invariant: a name in a file is the name that the learner knew: text stays text and a number stays a number. Rows whose
columns have other names, or the same in another order, are refused, never scored.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rosenblatt import engine
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import DataError, ModelError

Name = str | int | float


def names_of(learner: Any) -> dict[int, Name]:
    """The name of each column that a fitted learner has seen; nothing for rows without names."""
    if not hasattr(learner, "learned"):  # one around another has its columns
        learner = getattr(learner, "learner_", learner)
    stream = getattr(getattr(learner, "learned", None), "stream", None)
    if stream is not None:
        return {column: plain_name(name) for name, column in stream.names.items()}
    own = vars(learner).get("_stream_names", {})
    if own and len(own) == learner.n_features_in_:
        return {column: plain_name(name) for name, column in own.items()}
    known = getattr(learner, "feature_names_in_", None)
    return {} if known is None else {column: plain_name(name) for column, name in enumerate(known)}


def plain_name(name: Any) -> Name:
    """A name as a file can hold it."""
    found = name.item() if isinstance(name, np.generic) else name
    if isinstance(found, str):
        return str(found)
    if isinstance(found, int) or (isinstance(found, float) and math.isfinite(found)):
        return found
    raise ModelError(f"a feature has the name {name!r}: only texts and numbers can be saved as names")


def check_names(given: tuple[str, ...] | None, known: list[Any] | None) -> None:
    """Raise unless a frame has the columns that the model was trained on, in their order."""
    if given is None or known is None or list(given) == known:
        return
    unknown = [name for name in given if name not in set(known)]
    missing = [name for name in known if name not in set(given)]
    if unknown:
        raise DataError(f"X has the column {unknown[0]!r}, which the model was not trained on")
    if missing:
        raise DataError(f"X lacks the column {missing[0]!r}, which the model was trained on")
    at = next(j for j, (left, right) in enumerate(zip(given, known, strict=False)) if left != right)
    raise DataError(
        f"X has the column {given[at]!r} at place {at}, where the model was trained on {known[at]!r}: "
        "give it X[model.feature_names_in_]"
    )


def example_table(
    features: dict[Any, float], columns: dict[Any, int], count: int, hash_bits: int | None = None
) -> Table:
    """One example of a stream as a table of `count` columns; features that the model does not know are left out."""
    engine.Stream.check(features)
    if hash_bits:
        import scipy.sparse as sp

        hashed, values = engine.Stream.hashed(features, hash_bits)
        return as_table(sp.csr_array((values, hashed, [0, len(hashed)]), shape=(1, count)))
    known = {columns[name]: value for name, value in features.items() if name in columns}
    places = sorted(known)
    values = np.array([known[j] for j in places], np.float64)
    import scipy.sparse as sp

    return as_table(sp.csr_array((values, places, [0, len(places)]), shape=(1, count)))
