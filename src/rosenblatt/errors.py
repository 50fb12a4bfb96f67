"""The exceptions, as one tree.

Every message names the problem and its place: the row, column, file or parameter. Each class is also the built-in
error that code written for scikit-learn expects, and has a `code` that stays the same if the message changes.

::

    class                 also         code           problem
    RosenblattError                    error
    ├── ClusterError      RuntimeError cluster        the cluster is gone, or has no workers
    ├── DataError         ValueError   data           invalid rows or labels
    │   └── LabelError                 label          invalid labels
    ├── ModelError        ValueError   model          not a model file, corrupt, or not writable
    ├── ParameterError    ValueError   parameter      an invalid value of a parameter
    └── MissingExtraError ImportError  missing-extra  an optional dependency is not installed
"""

from __future__ import annotations

__all__ = [
    "ClusterError",
    "DataError",
    "LabelError",
    "MissingExtraError",
    "ModelError",
    "ParameterError",
    "RosenblattError",
]


class RosenblattError(Exception):
    """The root of all errors raised on purpose.

    >>> from rosenblatt import Perceptron
    >>> try:
    ...     Perceptron(max_iter=0).fit([[1.0]], [1])
    ... except RosenblattError as error:
    ...     print(error.code, error, sep=": ")
    parameter: max_iter=0: must be at least 1
    """

    code: str = "error"


class ClusterError(RosenblattError, RuntimeError):
    """The cluster is gone, has no workers, or its workers keep failing.

    >>> issubclass(ClusterError, RosenblattError)
    True
    """

    code = "cluster"


class DataError(RosenblattError, ValueError):
    """Rows or labels that cannot be learned from or predicted.

    >>> from rosenblatt import Perceptron
    >>> try:
    ...     Perceptron().fit([[float("nan")], [1.0]], [0, 1])
    ... except DataError as error:
    ...     print(error)
    X contains NaN in row 0, column 0: fill in missing values, or pass a frame to AutoPerceptron
    """

    code = "data"


class LabelError(DataError):
    """Labels that cannot be used.

    >>> from rosenblatt import Perceptron
    >>> try:
    ...     Perceptron().fit([[0.0], [1.0]], ["only", "only"])
    ... except LabelError as error:
    ...     print(error)
    y has one class only, 'only': a classifier needs at least 2 classes
    """

    code = "label"


class ModelError(RosenblattError, ValueError):
    """A model file that is not one, is corrupt, or does not support the call.

    >>> from rosenblatt import load
    >>> try:
    ...     load("/dev/null")
    ... except ModelError as error:
    ...     print(error)
    /dev/null is not a rosenblatt model, or it is truncated
    """

    code = "model"


class ParameterError(RosenblattError, ValueError):
    """A parameter has an invalid value.

    >>> from rosenblatt import PassiveAggressive
    >>> try:
    ...     PassiveAggressive(C=-1).fit([[0.0], [1.0]], [0, 1])
    ... except ParameterError as error:
    ...     print(error)
    C=-1: must be above 0
    """

    code = "parameter"


def first_line(error: BaseException) -> str:
    """The first line of another library's error, short enough for a sentence."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


class MissingExtraError(RosenblattError, ImportError):
    """An optional dependency is not installed.

    >>> raise MissingExtraError("matplotlib", "plot")
    Traceback (most recent call last):
        ...
    rosenblatt.errors.MissingExtraError: matplotlib is not installed: pip install 'rosenblatt[plot]'
    """

    code = "missing-extra"

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'rosenblatt[{extra}]'")
