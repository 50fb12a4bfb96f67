"""What can go wrong, as one tree of exceptions.

Every error says in one sentence what is wrong and where: the row, column, file or parameter. Each class is also
the built-in (or scikit-learn) error that code written for scikit-learn expects.

::

    RosenblattError
    ├── ClusterError      RuntimeError a cluster that is gone, or has no workers
    ├── DataError         ValueError   rows or labels that cannot be learned from
    │   └── LabelError                 the labels are the problem
    ├── ModelError        ValueError   a model file that is not one, is broken, or cannot be written
    ├── ParameterError    ValueError   a parameter with a value that means nothing
    └── MissingExtraError ImportError  an optional dependency is not installed
"""

from __future__ import annotations


class RosenblattError(Exception):
    """The root of all errors raised on purpose.

    >>> from rosenblatt import Perceptron
    >>> try:
    ...     Perceptron(max_iter=0).fit([[1.0]], [1])
    ... except RosenblattError as error:
    ...     print(error)
    max_iter=0: must be at least 1
    """


class ClusterError(RosenblattError, RuntimeError):
    """The machines that were to do the work are not there, or keep failing.

    >>> issubclass(ClusterError, RosenblattError)
    True
    """


class DataError(RosenblattError, ValueError):
    """Rows or labels that cannot be learned from or predicted.

    >>> from rosenblatt import Perceptron
    >>> try:
    ...     Perceptron().fit([[float("nan")], [1.0]], [0, 1])
    ... except DataError as error:
    ...     print(error)
    X contains NaN in row 0, column 0
    """


class LabelError(DataError):
    """Labels that cannot be used.

    >>> from rosenblatt import Perceptron
    >>> try:
    ...     Perceptron().fit([[0.0], [1.0]], ["only", "only"])
    ... except LabelError as error:
    ...     print(error)
    y has one class only, 'only': a classifier needs at least 2 classes
    """


class ModelError(RosenblattError, ValueError):
    """A model file that is not one, is broken, or cannot do what is asked.

    >>> from rosenblatt import load
    >>> try:
    ...     load("/dev/null")
    ... except ModelError as error:
    ...     print(error)
    /dev/null is not a rosenblatt model, or it is truncated
    """


class ParameterError(RosenblattError, ValueError):
    """A parameter has a value that means nothing here.

    >>> from rosenblatt import PassiveAggressive
    >>> try:
    ...     PassiveAggressive(C=-1).fit([[0.0], [1.0]], [0, 1])
    ... except ParameterError as error:
    ...     print(error)
    C=-1: must be above 0
    """


class MissingExtraError(RosenblattError, ImportError):
    """An optional dependency is not installed.

    >>> raise MissingExtraError("matplotlib", "plot")
    Traceback (most recent call last):
        ...
    rosenblatt.errors.MissingExtraError: matplotlib is not installed: pip install 'rosenblatt[plot]'
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'rosenblatt[{extra}]'")
