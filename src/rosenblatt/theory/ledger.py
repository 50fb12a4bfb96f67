"""The mistake bound's proof, kept as a book: one line a mistake, with both of its inequalities.

The proof follows two numbers while the weights ``w`` take one step ``z = y x`` a mistake, ``u`` being weights of
length 1 and margin ``gamma``::

    w·u   grows by at least gamma:    w·u  >= k gamma       since every z·u >= gamma
    ‖w‖²  grows by at most R²:       ‖w‖² <= k R²          since w·z <= 0 on a mistake, and ‖z‖ <= R

So ``k gamma <= w·u <= ‖w‖ <= sqrt(k) R``, and no more than ``R²/gamma²`` mistakes are possible. And since ``w/k`` is
a mean of signed rows, ``‖w‖/k`` is never below the best margin, as the margin of ``w`` is never above it.

Invariant: the numbers of a line come from the learner's weights after that mistake, not from the proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.errors import DataError, ParameterError
from rosenblatt.params.base import LinearParams
from rosenblatt.theory.certificate import NotSeparable, Separable
from rosenblatt.theory.certify import certify
from rosenblatt.theory.columns import render_columns
from rosenblatt.theory.margin import vector_of
from rosenblatt.theory.replay import Replay, replay
from rosenblatt.theory.rows import Floats, SignedRows, signed_rows
from rosenblatt.theory.written import Interval

_ROUNDING = 1e-9  # the relative error that the sums of a long run may have gathered


@dataclass(frozen=True)
class Line:
    """The state of the proof after mistake `k`; the weights are counted in steps of length 1 (divided by eta0).

    Attributes
    ----------
    k, row : the number of the mistake, and the row that it was made on.
    progress : ``w·u``
    least_progress : ``k gamma``
    squared_length : ``‖w‖²``
    most_squared_length : ``k R²``; ``2 k R²`` with more than two classes, ``k (R² + 2 beta)`` for the margin perceptron
    cosine : of the angle between ``w`` and ``u``
    bracket : the margin of ``w``, negative until it separates, and ``‖w‖/k``: the best margin lies between them.

    Examples
    --------
    >>> first = ledger([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]).lines[0]
    >>> first.k, first.row, first.squared_length, first.most_squared_length, first.holds
    (1, 0, 1.0, 3.0, True)
    """

    k: int
    row: int
    progress: float
    least_progress: float
    squared_length: float
    most_squared_length: float
    cosine: float
    bracket: Interval

    @property
    def holds(self) -> bool:
        """Do both inequalities hold here?"""
        slack = _ROUNDING * self.most_squared_length
        return (
            self.progress >= self.least_progress - math.sqrt(slack * _ROUNDING) - _ROUNDING * abs(self.progress)
            and self.squared_length <= self.most_squared_length + slack
        )


@dataclass(frozen=True)
class Ledger:
    """The lines of one run, with what they are measured against.

    >>> book = ledger([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> len(book), len(book) <= book.bound, book.holds
    (18, True, True)
    """

    lines: list[Line]
    gamma: float
    radius: float
    bound: float
    converged: bool

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    @property
    def holds(self) -> bool:
        """Do both inequalities hold at every line, and is the bound not exceeded?"""
        return all(line.holds for line in self.lines) and len(self.lines) <= self.bound

    @property
    def gamma_bracket(self) -> Interval:
        """The tightest bracket of the best margin that the run gave, from both sides."""
        lower = max((line.bracket.lower for line in self.lines), default=-math.inf)
        return Interval(lower, min((line.bracket.upper for line in self.lines), default=math.inf))

    def render_table(self, most: int | None = None) -> str:
        """Columns to read, the first `most` lines or all; rows are counted from 1."""
        heads = ["k", "row", "w·u", "k·gamma", "‖w‖²", "k·R²", "cos", "margin of w", "‖w‖/k"]
        lines = [
            [
                line.k,
                line.row + 1,
                line.progress,
                line.least_progress,
                line.squared_length,
                line.most_squared_length,
                line.cosine,
                *line.bracket,
            ]
            for line in self.lines[:most]
        ]
        left = len(self.lines) - len(lines)
        return render_columns(heads, lines) + (f"\n… {left} more lines" if left else "")

    def verdict(self) -> str:
        """One sentence."""
        verdict = "both inequalities hold at every line" if self.holds else "AN INEQUALITY FAILS"
        return (
            f"{len(self.lines)} mistakes of at most {math.floor(self.bound)}: "
            f"R = {self.radius:.6g}, gamma = {self.gamma:.6g}; {verdict}"
        )

    def __str__(self) -> str:
        return f"{self.render_table()}\n{self.verdict()}"


def ledger(
    X: Any, y: Any, learner: LinearParams | None = None, *, w: ArrayLike | None = None, b: ArrayLike | None = None
) -> Ledger:
    """Keep the proof's book while a learner learns: a line a mistake.

    Parameters
    ----------
    X, y : rows and labels
    learner : a linear learner with the perceptron's rule, not yet fitted; any keep, order, eta0, tie and beta
        By default ``Perceptron(shuffle=False, tol=None)``.
    w, b : the weights to measure against, of any length
        They must separate the data. By default those of :func:`certify`, with the best margin.

    Returns
    -------
    Ledger
        ``.holds`` says that both inequalities hold at every line. With ``beta > 0`` a line is an update.

    Raises
    ------
    ParameterError, DataError
        Where this theorem says nothing, with the name of the one that does, if it is here.

    Examples
    --------
    >>> from rosenblatt.theory import ledger
    >>> book = ledger([[2.0, 1.0], [-1.0, -1.0], [1.0, -1.0]], [+1, -1, -1])
    >>> print(book)
    k  row      w·u  k·gamma  ‖w‖²  k·R²       cos  margin of w    ‖w‖/k
    1    1  1.03775  1.03775     6     6  0.423659    -0.816497  2.44949
    2    3   2.0755   2.0755     5    12  0.928191     0.447214  1.11803
    2 mistakes of at most 5: R = 2.44949, gamma = 1.03775; both inequalities hold at every line
    >>> book.holds
    True
    """
    run = replay(X, y, learner)
    _check_theorem(run)
    rows = signed_rows(X, y, bool(run.params.fit_intercept))
    u = _comparison(rows, X, y, w, b)
    margins = rows.margins(u)
    gamma = float(margins.min())
    if gamma <= 0:
        raise DataError(
            "the weights to measure against do not separate the data: row "
            f"{rows.row(np.array([int(np.argmin(margins))]))[0]} has a margin of 0 or less"
        )
    eta0, beta = run.rule.eta0, run.rule.beta
    squared_radius = float(rows.X.power(2).sum(axis=1).max()) + rows.fit_intercept
    reach = squared_radius * (1 if rows.two else 2) + 2 * beta / eta0
    lines: list[Line] = []
    clean = 0
    for step in run.steps():
        clean = 0 if step.mistake else clean + 1
        if not step.update:
            continue
        k = len(lines) + 1
        V = np.array(step.after) / eta0
        vector = (V if rows.fit_intercept else V[:, :-1]).ravel()
        lines.append(_line(k, step.row, vector, u, gamma, reach, rows))
    return Ledger(lines, gamma, math.sqrt(squared_radius), reach / gamma**2, clean >= len(run.X))


def _line(k: int, row: int, vector: Floats, u: Floats, gamma: float, reach: float, rows: SignedRows) -> Line:
    length = float(np.linalg.norm(vector))
    progress = float(vector @ u)
    lower = float(rows.margins(vector).min()) / length if length else -math.inf
    return Line(
        k=k,
        row=row,
        progress=progress,
        least_progress=k * gamma,
        squared_length=float(vector @ vector),
        most_squared_length=k * reach,
        cosine=progress / length if length else 0.0,
        bracket=Interval(lower, length / k),
    )


def _comparison(rows: SignedRows, X: Any, y: Any, w: ArrayLike | None, b: ArrayLike | None) -> Floats:
    """Weights of length 1 to measure against."""
    if w is None:
        verdict = certify(X, y, fit_intercept=rows.fit_intercept)
        if isinstance(verdict, NotSeparable):
            raise DataError(
                "the data are not separable, so no gamma has k gamma <= w·u: deviation_bound is the theorem for them"
            )
        if not isinstance(verdict, Separable):
            raise DataError(f"no separating weights to measure against are known: {verdict.reason}")
        w, b = verdict.w.astype(np.float64), verdict.b
    if not rows.fit_intercept:
        b = None
    elif b is None:
        b = np.zeros(1 if rows.two else len(rows.classes))
    u = vector_of(rows, w, b)
    return np.asarray(u / np.linalg.norm(u))


def _check_theorem(run: Replay) -> None:
    if run.params.is_regression:
        raise ParameterError("a regression has numbers to come close to, and this proof is about classes to tell apart")
    if run.rule.name == "AROW":
        raise ParameterError(
            "AROW steps by a variance of each feature, and this proof is about steps along the row itself: "
            "no theorem here bounds its mistakes (trace follows its steps)"
        )
    if run.rule.name != "perceptron":
        theorem = ": passive_aggressive_bound is its theorem" if run.rule.name.startswith("PA") else ""
        raise ParameterError(
            f"{run.rule.name} takes steps of many lengths, and this proof is about steps of one{theorem}"
        )
    if run.params.class_weight is not None:
        raise ParameterError("class_weight gives steps of several lengths, and this proof is about steps of one")
    if not isinstance(run.params.init, str) or run.params.init != "zeros":
        raise ParameterError("init: this proof starts from zero weights")
