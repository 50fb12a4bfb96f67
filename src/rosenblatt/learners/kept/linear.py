"""The state of a linear learner as a file holds it.

Invariant: what is read is what was written, to the bit; a file that was made up is refused, or learns without harm.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from rosenblatt import engine
from rosenblatt.errors import ModelError
from rosenblatt.learners.state.arrays import COUNTERS, KEEPS, Array, Arrays, matrices
from rosenblatt.learners.state.remembered import NOTHING, Remembered
from rosenblatt.learners.state.state import State, declare
from rosenblatt.models.container import (
    Tensors,
    check_columns,
    check_finite,
    check_shapes,
    check_types,
    count_of,
    rows_from,
    rows_to,
)
from rosenblatt.models.predictors import Updates
from rosenblatt.params import NO_PENALTY, Penalty

MOST_COUNTED = 2**62


def state_to(state: State, tensors: Tensors) -> dict[str, Any]:
    """The arrays of a state; of matrices only columns that are not to the bit what a new feature begins with."""
    wide = {array.name: array for array in matrices(state.declared)}
    for name, values in state.arrays.items():
        if name not in wide:
            tensors[name] = values
            continue
        bits = f"i{values.itemsize}"
        begun = np.array(_begin(wide[name]), values.dtype).view(bits)
        columns = np.flatnonzero((np.ascontiguousarray(values).view(bits) != begun).any(axis=0))
        tensors[f"{name}.columns"] = columns
        tensors[name] = np.ascontiguousarray(values[:, columns])
    header = {
        "keep": state.keep.name,
        "fit_intercept": state.fit_intercept,
        "features": state.features,
        "penalty": None if state.penalty == NO_PENALTY else asdict(state.penalty),
    }
    if state.stores_rows:
        state.remembered.updates.to_tensors("log.", tensors)
    return header


def state_from(header: dict[str, Any], tensors: Tensors, remembered: Remembered = NOTHING) -> State:
    """The state of a header and tensors."""
    features, keep = header["features"], header["keep"]
    penalty = NO_PENALTY if header["penalty"] is None else Penalty(**header["penalty"])
    declared = declare(keep, "variances" in tensors, penalty != NO_PENALTY)
    arrays: Arrays = {}
    for array in declared:
        arrays[array.name] = tensors[array.name]
        if array.shape == "weights":
            stored, begin = tensors[array.name], _begin(array)
            arrays[array.name] = np.full((stored.shape[0], features), begin, stored.dtype, order="F")
            if begin == 0.0:  # whose pages stay untouched
                arrays[array.name] = np.zeros((stored.shape[0], features), stored.dtype, order="F")
            arrays[array.name][:, tensors[f"{array.name}.columns"]] = stored
    for name in ("counters", "generator"):
        arrays[name] = tensors[name]
    return State(KEEPS[keep], declared, header["fit_intercept"], arrays, remembered, penalty)


def linear_to(state: State, prefix: str, tensors: Tensors) -> dict[str, Any]:
    """A state for a model file: its arrays lie as those of an answer do, so that equal ones are stored once."""
    own: Tensors = {}
    header = state_to(state, own)
    for array in matrices(state.declared):
        own[array.name] = own[array.name].ravel(order="F")
    if state.stores_rows:
        header["support"] = rows_to(state.remembered.rows, prefix, tensors)
    tensors |= {f"{prefix}{name}": tensor for name, tensor in own.items()}
    return header


def linear_from(header: dict[str, Any], prefix: str, tensors: Tensors, features: int, K: int) -> State:
    """The state of a model file, over so many features and weight rows, every value checked."""
    own = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    if header["keep"] not in KEEPS or header["features"] != features or not isinstance(header["fit_intercept"], bool):
        raise ModelError("its learning state does not fit its answer")
    declared = declare(header["keep"], "variances" in own, header["penalty"] is not None)
    check_tally(own)
    for array in declared:
        _check_array(array, own, features, K)
        if array.shape == "weights":
            own[array.name] = own[array.name].reshape((K, -1), order="F")
    _check_penalty(header["penalty"], own)
    remembered = NOTHING
    if KEEPS[header["keep"]].stores_rows:
        rows, count = rows_from(header["support"], prefix, tensors, features)
        remembered = Remembered(rows, Updates.from_tensors("log.", own, count, K))
    state = state_from(header, own, remembered)
    return state.copy()  # what a file holds may be read-only


def check_tally(own: Tensors) -> None:
    """Raise unless counters and generator are some."""
    check_types([own["counters"], own["generator"], own["mistake_weight"]], ["<i8", "<u8", "<f8"])
    check_shapes(own["counters"].shape == (len(COUNTERS),) and own["mistake_weight"].shape == (1,))
    check_shapes(own["generator"].shape == engine.seed_generator(0).shape)
    if own["counters"].min() < -1 or own["counters"].max() >= MOST_COUNTED or not own["generator"].any():
        raise ModelError("its counters are out of range")
    check_finite(own["mistake_weight"])


def _check_array(array: Array, own: Tensors, features: int, K: int) -> None:
    found = own[array.name]
    if array.as_rows:
        check_types([found], [own["weights"].dtype.str])
        if found.dtype.str not in ("<f4", "<f8"):
            raise ModelError("its tensors have other types than those of a model")
    else:
        check_types([found], ["<f8"])
    if array.shape == "weights":
        columns = own[f"{array.name}.columns"]
        check_types([columns], ["<i8"])
        check_shapes(columns.ndim == 1 and len(columns) <= features and found.shape == (K * len(columns),))
        check_columns(columns, features)
    else:
        check_shapes(found.shape == {"classes": (K,), "features": (features,), "one": (1,)}[array.shape])
    if array.name == "pocket_mistakes":
        if np.isnan(found[0]) or found[0] < 0:
            raise ModelError("its counters are out of range")
    else:
        check_finite(found)
    if array.inherits and len(found) and found.min() < 0:
        raise ModelError("its variances are negative")


def _check_penalty(header: Any, own: Tensors) -> None:
    if header is None:
        return
    shrink, cut = header["shrink"], header["cut"]
    if set(header) != {"shrink", "cut"} or not (isinstance(shrink, float) and isinstance(cut, float)):
        raise ModelError("its penalty cannot be read")
    if not (0.0 <= shrink <= 1.0 and 0.0 <= cut < np.inf):
        raise ModelError("its penalty is out of range")
    seen = count_of(int(own["counters"][COUNTERS.index("seen")]))
    check_moments(own, seen)


def check_moments(arrays: Arrays, seen: int) -> None:
    """Raise unless weights and sums are those of examples that were seen."""
    for name in ("settled_at", "summed_at"):
        moments = arrays.get(name)
        if moments is not None and moments.size and not (moments.min() >= 0 and moments.max() <= seen):
            raise ModelError("its counters are out of range")


def _begin(array: Array) -> float:
    """What a feature begins with that comes later."""
    return 0.0 if array.copy_of else array.begin
