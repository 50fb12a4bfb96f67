"""The weights that learning starts from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.errors import ParameterError


def seed_of(random_state: Any) -> int:
    """A seed from an int, None (another one each time) or a NumPy generator (drawn from it)."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    is_integer = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if is_integer and 0 <= random_state < 2**64:
        return int(random_state)
    raise ParameterError(
        f"random_state={random_state!r}: must be an integer from 0 to 2**64 - 1, a NumPy generator or None"
    )


def starting_weights(
    init: Any, shape: tuple[int, int], dtype: np.dtype[Any], generator: NDArray[np.uint64], fit_intercept: bool
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Weight rows and intercepts: zeros, uniform in [-1, 1), or the user's own arrays."""
    rows, features = shape
    if isinstance(init, str):
        if init == "zeros":
            return np.zeros(shape, dtype), np.zeros(rows)
        if init == "random":
            drawn = engine.symmetric_uniform(rows * (features + 1), generator).reshape(rows, features + 1)
            intercept = drawn[:, -1].copy() if fit_intercept else np.zeros(rows)
            return np.ascontiguousarray(drawn[:, :-1], dtype), intercept
        raise ParameterError(f"init={init!r}: must be 'zeros', 'random', weights, or (weights, intercept)")
    given: tuple[Any, Any] = init if isinstance(init, tuple) and len(init) == 2 else (init, None)
    weights = np.zeros(shape) if given[0] is None else _shaped("weights", given[0], shape)
    intercept = np.zeros(rows) if given[1] is None else _shaped("intercept", given[1], (rows,))
    return weights.astype(dtype), intercept


def _shaped(name: str, values: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"init: the {name} must be an array of numbers of shape {shape}") from None
    if array.size != int(np.prod(shape)) or array.ndim > len(shape):
        raise ParameterError(f"init: the {name} must have shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise ParameterError(f"init: the {name} must be finite")
    return array.reshape(shape)
