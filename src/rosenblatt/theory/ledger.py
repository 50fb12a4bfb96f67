"""The proof of the mistake bound as a ledger: one line per mistake, with both inequalities of the proof.

The proof follows two numbers while the weights ``w`` take one step ``z = y x`` per mistake; ``u`` are weights of
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
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.errors import DataError, ParameterError
from rosenblatt.params import LinearParams
from rosenblatt.theory.certificate import Interval, NotSeparable, Separable
from rosenblatt.theory.certify import certify
from rosenblatt.theory.exact import Floats
from rosenblatt.theory.margin import Constraints, as_vector, make_constraints
from rosenblatt.theory.trace import IN_ORDER, begin_trace, render_columns

_ROUNDING = 1e-9  # relative error allowed for the sums of a long run


@dataclass(frozen=True)
class Line:
    """The state of the proof after mistake `k`; the weights are counted in steps of length 1 (divided by eta0).

    Attributes
    ----------
    k, row : the number of the mistake, and its row.
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
        """Whether both inequalities hold here."""
        slack = _ROUNDING * self.most_squared_length
        return (
            self.progress >= self.least_progress - math.sqrt(slack * _ROUNDING) - _ROUNDING * abs(self.progress)
            and self.squared_length <= self.most_squared_length + slack
        )


@dataclass(frozen=True)
class Ledger:
    """The lines of one run, with gamma, R and the bound.

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
        """Whether both inequalities hold at every line, and the bound is not exceeded."""
        return all(line.holds for line in self.lines) and len(self.lines) <= self.bound

    @property
    def gamma_bracket(self) -> Interval:
        """The tightest bracket of the best margin that the run gave, from both sides."""
        lower = max((line.bracket.lower for line in self.lines), default=-math.inf)
        return Interval(lower, min((line.bracket.upper for line in self.lines), default=math.inf))

    def render_table(self, most: int | None = None) -> str:
        """Columns to read, the first `most` lines or all; rows are counted from 1."""
        heads = ["k", "row", "w·u", "k·gamma", "‖w‖²", "k·R²", "cos", "margin of w", "‖w‖/k"]
        lines = [[x.k, x.row + 1, *astuple(x)[2:-1], *x.bracket] for x in self.lines[:most]]
        left = len(self.lines) - len(lines)
        return render_columns(heads, lines) + (f"\n… {left:,} more lines" if left else "")

    def verdict(self) -> str:
        """The result in one sentence."""
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
    """The proof of the mistake bound beside a learner's run: a line per mistake.

    Parameters
    ----------
    X, y : rows and labels
    learner : a linear learner with the perceptron's rule, not yet fitted; any keep, order, eta0, tie and beta
        By default ``Perceptron(shuffle=False, tol=None)``.
    w, b : weights of any length that separate the data, to compare with
        By default those of :func:`certify`, with the best margin.

    Returns
    -------
    Ledger
        ``.holds`` says that both inequalities hold at every line. With ``beta > 0`` a line is an update.

    Raises
    ------
    ParameterError, DataError
        If this theorem does not apply; the message names the function for the theorem that does.

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
    learner = learner or IN_ORDER
    run, steps = begin_trace(X, y, learner)
    _check_theorem(learner)
    rule = learner.update_rule
    constraints = make_constraints(X, y, bool(learner.fit_intercept))
    u = _comparison(constraints, X, y, w, b)
    margins = constraints.margins(u)
    gamma = float(margins.min())
    if gamma <= 0:
        row = int(np.argmin(margins)) // (len(constraints.classes) - 1)
        raise DataError(f"w and b do not separate the data: row {row} has a margin of 0 or less")
    squared_radius = float(constraints.X.power(2).sum(axis=1).max())
    reach = squared_radius * (1 if constraints.is_binary else 2) + 2 * rule.beta / rule.eta0
    lines: list[Line] = []
    clean = 0
    for step in steps:
        clean = 0 if step.mistake else clean + 1
        if step.update:
            v = (np.array(step.after)[:, : constraints.shape[1]] / rule.eta0).ravel()
            k, length, progress = len(lines) + 1, float(np.linalg.norm(v)), float(v @ u)
            lower = float(constraints.margins(v).min()) / length if length else -math.inf
            cosine, bracket = progress / length if length else 0.0, Interval(lower, length / k)
            lines.append(Line(k, step.row, progress, k * gamma, float(v @ v), k * reach, cosine, bracket))
    return Ledger(lines, gamma, math.sqrt(squared_radius), reach / gamma**2, clean >= len(run.X))


def _comparison(constraints: Constraints, X: Any, y: Any, w: ArrayLike | None, b: ArrayLike | None) -> Floats:
    """The weights to compare with, of length 1."""
    if w is None:
        verdict = certify(X, y, fit_intercept=constraints.fit_intercept)
        if isinstance(verdict, NotSeparable):
            raise DataError("the data are not separable, so this theorem does not apply; use deviation_bound")
        if not isinstance(verdict, Separable):
            raise DataError(f"no separating weights are known: {verdict.reason}")
        w, b = verdict.w.astype(np.float64), verdict.b
    offsets = np.zeros(constraints.shape[0]) if b is None else b
    u = as_vector(constraints, w, offsets if constraints.fit_intercept else None)
    return np.asarray(u / np.linalg.norm(u))


def _check_theorem(learner: LinearParams) -> None:
    """Raise ParameterError if the theorem does not apply to this learner."""
    rule, why = learner.update_rule.name, None
    if rule == "AROW":
        why = "AROW scales each feature's step by its variance; no function here bounds its mistakes (trace follows it)"
    elif rule.startswith("PA"):
        why = f"PassiveAggressive ({rule}) takes steps of many lengths; use passive_aggressive_bound"
    elif rule != "perceptron":
        why = f"{rule} takes steps of many lengths, and the theorem is about steps of one length"
    elif learner.class_weight is not None:
        why = "class_weight makes steps of several lengths, and the theorem is about steps of one length"
    elif not isinstance(learner.init, str) or learner.init != "zeros":
        why = "init: the theorem is about a start from zero weights"
    if why is not None:
        raise ParameterError(why)
