"""What scores rows, as tensors: weights, votes, and support rows with a kernel.

Invariant: a part that comes back from its tensors scores with the same bits; one whose tensors do not fit one another
is refused, so that the engine is never led outside of its arrays.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.table import as_table, is_sparse
from rosenblatt.errors import DataError, ModelError
from rosenblatt.models.container import Tensors
from rosenblatt.models.kernel import Dual, Kernel, KernelName, VotedDual
from rosenblatt.models.linear import Linear
from rosenblatt.models.quadratic import Products, Quadratic, count_terms
from rosenblatt.models.voted import Updates, Voted

Part = Linear | Quadratic | Voted | Dual | VotedDual

MOST_COLUMNS = 1000  # to multiply: half a million terms
_PRODUCTS = ("columns", "center", "scale")
_UPDATES = ("which", "steps", "gains", "loses", "survived")
_UPDATE_TYPES = ["<i8", "<f8", "<i4", "<i4", "<i8"]


def width_of(part: Part) -> int:
    """How many scores a part gives a row."""
    if isinstance(part, VotedDual):
        return part.K * len(part.logs)
    return len(part.start.intercept if isinstance(part, Voted) else part.intercept)


def part_to(part: Part, prefix: str, tensors: Tensors) -> dict[str, Any]:
    """A part's header; its arrays go among the tensors."""
    if isinstance(part, Linear):
        _weights_to(part, prefix, tensors)
        return {"kind": "linear"}
    if isinstance(part, Quadratic):
        _weights_to(part.linear, prefix, tensors)
        products_to(part.products, f"{prefix}products.", tensors)
        return {"kind": "products"}
    header = {"support": _support_to(part.support, prefix, tensors)}
    if isinstance(part, Voted):
        _weights_to(part.start, prefix, tensors)
        _updates_to(part.updates, prefix, tensors)
        return header | {
            "kind": "voted",
            "survived_last": int(part.survived_last),
            "fit_intercept": bool(part.fit_intercept),
        }
    header["kernel"] = _kernel_to(part.kernel)
    if isinstance(part, Dual):
        tensors[f"{prefix}coefficients"], tensors[f"{prefix}intercept"] = part.coefficients, part.intercept
        return header | {"kind": "kernel"}
    for at, log in enumerate(part.logs):
        _updates_to(log, f"{prefix}{at}.", tensors)
    return header | {
        "kind": "voted kernel",
        "survived_last": [int(last) for last in part.survived_last],
        "K": part.K,
        "fit_intercept": bool(part.fit_intercept),
    }


def part_from(header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> Part:
    """The part of a header and tensors, checked."""
    kind = header["kind"]
    if kind == "linear":
        return _weights_from(prefix, tensors, features)
    if kind == "products":
        products = products_from(f"{prefix}products.", tensors, features)
        return Quadratic(products, _weights_from(prefix, tensors, count_terms(len(products.columns))))
    if kind not in ("voted", "kernel", "voted kernel"):
        raise ModelError(f"it has a part of the unknown kind {kind!r}")
    if kind == "voted":
        start = _weights_from(prefix, tensors, features)
        support, count = _support_from(header["support"], prefix, tensors, features)
        updates = _updates_from(prefix, tensors, count, len(start.intercept))
        return Voted(start, support, updates, _count(header["survived_last"]), bool(header["fit_intercept"]))
    kernel = _kernel_from(header["kernel"])
    support, count = _support_from(header["support"], prefix, tensors, features, kernel.name == "precomputed")
    if kind == "kernel":
        coefficients, intercept = tensors[f"{prefix}coefficients"], tensors[f"{prefix}intercept"]
        if coefficients.dtype != np.float64 or intercept.dtype != np.float64:
            raise ModelError("its tensors have other types than those of a model")
        if intercept.ndim != 1 or not len(intercept) or coefficients.shape != (count, len(intercept)):
            raise ModelError("its tensors have other shapes than those of a model")
        if not (np.isfinite(coefficients).all() and np.isfinite(intercept).all()):
            raise ModelError("its weights are not finite")
        return Dual(kernel, support, coefficients, intercept)
    K, survived = _count(header["K"]), tuple(_count(last) for last in header["survived_last"])
    logs = tuple(_updates_from(f"{prefix}{at}.", tensors, count, K) for at in range(len(survived)))
    return VotedDual(kernel, support, logs, survived, K, bool(header["fit_intercept"]))


def products_to(products: Products, prefix: str, tensors: Tensors) -> None:
    """The arrays of products go among the tensors."""
    for name in _PRODUCTS:
        tensors[f"{prefix}{name}"] = getattr(products, name)


def products_from(prefix: str, tensors: Tensors, features: int) -> Products:
    """The products of some of so many columns, checked."""
    columns, center, scale = (tensors[f"{prefix}{name}"] for name in _PRODUCTS)
    if [tensor.dtype.str for tensor in (columns, center, scale)] != ["<i8", "<f8", "<f8"]:
        raise ModelError("its tensors have other types than those of a model")
    if columns.ndim != 1 or not 0 < len(columns) <= MOST_COLUMNS or not columns.shape == center.shape == scale.shape:
        raise ModelError("its tensors have other shapes than those of a model")
    if columns[0] < 0 or columns[-1] >= features or (np.diff(columns) <= 0).any():
        raise ModelError("its columns are out of order")
    if not (np.isfinite(center).all() and np.isfinite(scale).all() and (scale > 0).all()):
        raise ModelError("its columns cannot be standardised")
    return Products(columns, center, scale)


def _kernel_to(kernel: Kernel) -> dict[str, Any]:
    if kernel.name == "function":
        raise ModelError(
            "a kernel that is a function of yours cannot be saved, since loading runs no code: use one of the "
            "kernels with a name, or kernel='precomputed'"
        )
    return {"name": kernel.name, "gamma": kernel.gamma, "coef0": kernel.coef0, "degree": kernel.degree}


def _kernel_from(header: dict[str, Any]) -> Kernel:
    name, gamma, coef0, degree = (header[key] for key in ("name", "gamma", "coef0", "degree"))
    if name not in get_args(KernelName) or name == "function":
        raise ModelError(f"it has the unknown kernel {name!r}")
    if not (isinstance(gamma, float) and isinstance(coef0, float) and isinstance(degree, int)):
        raise ModelError("the numbers of its kernel are not numbers")
    if not (gamma > 0 and np.isfinite(gamma) and np.isfinite(coef0) and degree >= 1):
        raise ModelError("the numbers of its kernel are out of range")
    return Kernel(name, gamma, coef0, degree)


def _support_to(support: Any, prefix: str, tensors: Tensors) -> dict[str, Any]:
    if support is None:
        return {"storage": "none", "rows": 0}
    if is_sparse(support):
        for name in ("data", "indices", "indptr"):
            tensors[f"{prefix}support.{name}"] = getattr(support, name)
        return {"storage": "sparse", "rows": int(support.shape[0])}
    tensors[f"{prefix}support"] = np.asarray(support)
    return {"storage": "dense", "rows": int(support.shape[0])}


def _support_from(
    header: dict[str, Any], prefix: str, tensors: Tensors, features: int, places: bool = False
) -> tuple[Any, int]:
    """The support rows and their number; with `places`, columns of a precomputed kernel instead of rows."""
    storage, count = header["storage"], _count(header["rows"])
    if storage == "none":
        return None, 0
    if places:
        columns = tensors[f"{prefix}support"]
        if columns.dtype != np.int64 or columns.shape != (count,):
            raise ModelError("its tensors have other shapes than those of a model")
        if len(columns) and (columns.min() < 0 or columns.max() >= features):
            raise ModelError("its support names a column that is not there")
        return columns, count
    try:
        if storage == "sparse":
            arrays = tuple(tensors[f"{prefix}support.{name}"] for name in ("data", "indices", "indptr"))
            import scipy.sparse as sp

            support: Any = sp.csr_array(arrays, shape=(count, features))
        else:
            support = tensors[f"{prefix}support"]
            if support.shape != (count, features):
                raise ModelError("its tensors have other shapes than those of a model")
        if support.dtype not in (np.float32, np.float64):
            raise ModelError("its tensors have other types than those of a model")
        as_table(support, name="its support")
    except (DataError, ValueError) as error:
        raise ModelError(str(error)) from None
    return support, count


def _updates_to(updates: Updates, prefix: str, tensors: Tensors) -> None:
    for name in _UPDATES:
        tensors[f"{prefix}{name}"] = getattr(updates, name)


def _updates_from(prefix: str, tensors: Tensors, support: int, K: int) -> Updates:
    arrays = [tensors[f"{prefix}{name}"] for name in _UPDATES]
    if [array.dtype.str for array in arrays] != _UPDATE_TYPES:
        raise ModelError("its tensors have other types than those of a model")
    if any(array.shape != (len(arrays[0]),) for array in arrays):
        raise ModelError("its tensors have other shapes than those of a model")
    which, steps, gains, loses, survived = arrays
    if len(which) and (
        min(which.min(), gains.min(), loses.min() + 1, survived.min()) < 0
        or which.max() >= support
        or max(gains.max(), loses.max()) >= K
    ):
        raise ModelError("its updates name a row or a class that is not there")
    if not np.isfinite(steps).all():
        raise ModelError("its weights are not finite")
    return Updates(which, steps, gains, loses, survived)


def _count(value: Any) -> int:
    if not isinstance(value, int) or not 0 <= value < 2**62:
        raise ModelError(f"it counts {value!r} of something")
    return value


def _weights_to(linear: Linear, prefix: str, tensors: Tensors) -> None:
    """Only what is not 0: the columns with a weight, and of these the rows."""
    import scipy.sparse as sp

    columns = linear.columns()
    stored = sp.csc_array(linear.weights[:, columns])
    stored.sort_indices()
    tensors[f"{prefix}columns"] = columns.astype(np.int64)
    tensors[f"{prefix}counts"] = np.diff(stored.indptr).astype(np.int32)
    tensors[f"{prefix}rows"] = stored.indices.astype(np.int32)
    tensors[f"{prefix}weights"] = stored.data
    tensors[f"{prefix}intercept"] = linear.intercept


def _weights_from(prefix: str, tensors: Tensors, features: int) -> Linear:
    columns, counts, rows = (tensors[f"{prefix}{name}"] for name in ("columns", "counts", "rows"))
    stored, intercept = tensors[f"{prefix}weights"], tensors[f"{prefix}intercept"]
    if (
        stored.dtype not in (np.float32, np.float64)
        or intercept.dtype != np.float64
        or [tensor.dtype.str for tensor in (columns, counts, rows)] != ["<i8", "<i4", "<i4"]
    ):
        raise ModelError("its tensors have other types than those of a model")
    if any(tensor.ndim != 1 for tensor in (columns, counts, rows, stored, intercept)) or not (
        len(columns) == len(counts) <= features and len(rows) == len(stored) == counts.sum()
    ):
        raise ModelError("its tensors have other shapes than those of a model")
    if len(columns) and (
        columns[0] < 0 or columns[-1] >= features or (np.diff(columns) <= 0).any() or counts.min() < 0
    ):
        raise ModelError("its columns are out of order")
    if len(rows) and (rows.min() < 0 or rows.max() >= len(intercept)):
        raise ModelError("it has a weight for a class that is not there")
    if not (np.isfinite(stored).all() and np.isfinite(intercept).all()):
        raise ModelError("its weights are not finite")
    # Feature after feature, where a reader's rows look them up; pages of columns without a weight are never touched.
    weights: NDArray[Any] = np.zeros((len(intercept), features), stored.dtype, order="F")
    weights[rows, np.repeat(columns, counts)] = stored
    return Linear(weights, intercept)
