"""Numbers against mistakes and epochs: the history, the ledger, and the four keeps side by side."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.errors import DataError
from rosenblatt.learners.perceptron import AveragedPerceptron, Perceptron, PocketPerceptron, VotedPerceptron
from rosenblatt.learners.stopping import History
from rosenblatt.plot.figure import INK, MISTAKE, PROOF, SERIES, new_figure
from rosenblatt.theory.ledger import Ledger
from rosenblatt.theory.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def mistakes(run: History | Trace | Sequence[int]) -> Figure:
    """Draw the mistakes of each epoch.

    Parameters
    ----------
    run : ``learner.history_``, a trace, or the counts themselves

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> figure = mistakes(Perceptron().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]).history_)
    >>> figure.axes[0].get_xlabel()
    'epoch'
    """
    counts = run.mistakes if isinstance(run, History | Trace) else list(run)
    figure, (ax,) = new_figure()
    epochs = np.arange(1, len(counts) + 1)
    if len(counts) <= 60:
        ax.bar(epochs, counts, color=MISTAKE)
    else:
        ax.fill_between(epochs, counts, step="mid", color=MISTAKE, linewidth=0)
    ax.set(xlabel="epoch", ylabel="mistakes", ylim=(0, None), title=f"{sum(counts):,} mistakes in {len(counts)} epochs")
    ax.set_xlim(0.4, len(counts) + 0.6)
    ax.locator_params(integer=True)
    return figure


def ledger(book: Ledger) -> Figure:
    """Draw the proof: ``k gamma <= w·u <= ‖w‖ <= sqrt(k) R`` on the left, the bracket of the best margin on the right.

    The two outer curves cross where the bound is: no run can get past that point.

    >>> from rosenblatt import theory
    >>> len(ledger(theory.ledger([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])).axes)
    2
    """
    if not book.lines:
        raise DataError("the ledger has no lines: the run made no mistake")
    figure, (left, right) = new_figure(2)
    k = np.array([line.k for line in book])
    # The outer curves continue to their crossing, unless that is far away.
    beyond = np.linspace(1, book.bound if book.bound <= 5 * len(book) else len(book), 300)
    most = np.sqrt(beyond * book.lines[0].most_squared_length)
    left.plot(beyond, most, color=INK, linestyle="--", label=r"$\sqrt{k}\,R$")
    left.plot(k, np.sqrt([line.squared_length for line in book]), color=INK, label=r"$\|w\|$")
    left.plot(k, [line.progress for line in book], color=PROOF, label=r"$w\cdot u$")
    left.plot(beyond, beyond * book.gamma, color=PROOF, linestyle="--", label=r"$k\gamma$")
    left.fill_between(beyond, beyond * book.gamma, most, color=PROOF, alpha=0.09, linewidth=0)
    left.set(xlabel="mistake $k$", ylabel="length", title=f"{len(book)} mistakes; the bound is {int(book.bound):,}")
    left.legend(frameon=False)
    right.plot(k, [line.bracket.upper for line in book], color=INK, label=r"$\|w\|/k$")
    right.plot(k, [line.bracket.lower for line in book], color=PROOF, label="margin of $w$")
    right.axhline(book.gamma, color=INK, linewidth=1, linestyle=":", label=rf"$\gamma$ = {book.gamma:.4g}")
    # Far below 0 the margin of w says nothing, and at first neither does ‖w‖/k; both are to be seen at the end.
    highest = max(6 * book.gamma, 1.5 * book.lines[-1].bracket.upper)
    lowest = max(min(line.bracket.lower for line in book.lines[len(book) // 2 :]), -10 * highest)
    right.set(xlabel="mistake $k$", ylabel="margin", title="the best margin lies between", ylim=(lowest, highest))
    right.legend(frameon=False)
    for ax in (left, right):
        ax.locator_params(axis="x", integer=True)
    return figure


def learning_curves(X: Any, y: Any, X_test: Any, y_test: Any, *, epochs: int = 20, **parameters: Any) -> Figure:
    """Draw the error of the four keeps, last, average, vote and pocket, after each epoch of the same run.

    Parameters
    ----------
    X, y, X_test, y_test : training rows with labels, and test rows with labels
    epochs : how many
    **parameters : of the learners, as `random_state` or `fit_intercept`

    Returns
    -------
    matplotlib.figure.Figure
        Training error on the left, test error on the right.

    Examples
    --------
    >>> rows, labels = [[-2.0], [-1.0], [1.0], [2.0]] * 10, [0, 0, 1, 1] * 10
    >>> len(learning_curves(rows, labels, rows, labels).axes)
    2
    """
    kinds: tuple[Any, ...] = (Perceptron, AveragedPerceptron, VotedPerceptron, PocketPerceptron)
    figure, (left, right) = new_figure(2)
    steps = range(1, epochs + 1)
    for kind, color in zip(kinds, SERIES, strict=True):
        learner = kind(**parameters | {"max_iter": 1, "warm_start": True, "tol": None})
        errors, name = [], learner.params().keep
        for _ in steps:
            with warnings.catch_warnings():
                # One epoch at a time is the point, and no failure to converge.
                warnings.simplefilter("ignore", ConvergenceWarning)
                learner.fit(X, y)
            errors.append((100 * (1 - learner.score(X, y)), 100 * (1 - learner.score(X_test, y_test))))
        for ax, values in zip((left, right), zip(*errors, strict=True), strict=True):
            ax.plot(steps, values, color=color, label=name, marker="o" if epochs <= 30 else "", markersize=3)
    for ax, title in ((left, "training rows"), (right, "test rows")):
        ax.set(xlabel="epoch", ylabel="error, %", title=title, ylim=(0, None))
        ax.locator_params(axis="x", integer=True)
    right.legend(frameon=False)
    return figure
