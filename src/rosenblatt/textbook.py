"""The perceptron family in plain Python, to be read with the mathematics beside it.

Invariant: it imports nothing but the standard library. It knows nothing of the rest of the package, so it can judge
the rest. Vectors are lists of floats, labels are -1/+1 (with more than two classes 0..K-1), and a score of exactly 0 is
a mistake unless a docstring says otherwise. Of two classes, labels 0/1 are for :func:`step_perceptron`
alone: elsewhere a row of label 0 has a margin and a step of 0.

The first three chapters hold the algorithms as lecture notes and papers print them, each a few lines. Chapter four is
the whole family as one procedure, :func:`learn`: a *rule* (how far to step) and a *keep* (which weights are the
answer). It is slow and obvious; the engine must equal it, mistake for mistake. Chapter five shuffles.

Contents::

    perceptron                 through the origin                        Rosenblatt 1958
    perceptron_with_offset     with an offset
    perceptron_train           PerceptronTrain(D, MaxIter)
    step_perceptron            labels 0/1, step function, learning rate
    averaged_perceptron        the mean of all weight vectors
    averaged_perceptron_train  the same direction from cached weights, w - u/c
    tail_average               the mean of the latest weight vectors
    voted_perceptron           every vector votes                        Freund & Schapire 1999
    pocket_perceptron          the best vector so far                    Gallant 1990
    multiclass_perceptron      one weight row per class
    passive_aggressive         PA, PA-I, PA-II                           Crammer et al. 2006
    penalized_perceptron       weights that shrink after every row
    arow                       a variance for every weight               Crammer et al. 2009
    kernel_perceptron          one coefficient per row instead of one weight per feature
    learn                      all of the linear ones, step by step
    strip_order                the order of a shuffled epoch

>>> w = perceptron([[2.0, 1.0], [-1.0, -1.0]], [+1, -1], T=10)
>>> w
[2.0, 1.0]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

Vector = list[float]
Row = Sequence[float]
Rows = Sequence[Row]
Labels = Sequence[int]


def dot(w: Row, x: Row) -> float:
    """The sum of the products, from left to right.

    >>> dot([1.0, 2.0], [3.0, 4.0])
    11.0
    """
    total = 0.0
    for w_j, x_j in zip(w, x, strict=True):
        total += w_j * x_j
    return total


def plus(w: Row, tau: float, x: Row) -> Vector:
    """The vector ``w + tau * x``.

    >>> plus([1.0, 1.0], 2.0, [0.0, 1.0])
    [1.0, 3.0]
    """
    return [w_j + tau * x_j for w_j, x_j in zip(w, x, strict=True)]


def extended(x: Row) -> Vector:
    """The row with a constant 1 behind it: an offset is then one more weight.

    >>> extended([3.0, 4.0])
    [3.0, 4.0, 1.0]
    """
    return [*x, 1.0]


def mean(vectors: Rows) -> Vector:
    """The mean of some vectors.

    >>> mean([[1.0, 2.0], [2.0, 4.0]])
    [1.5, 3.0]
    """
    total = [0.0] * len(vectors[0])
    for v in vectors:
        total = plus(total, 1.0, v)
    return [t / len(vectors) for t in total]


def passes(X: Rows, y: Sequence[Any], T: int) -> Iterator[tuple[Row, Any]]:
    """T passes over the examples: each row with its label.

    >>> list(passes([[1.0], [2.0]], [+1, -1], T=1))
    [([1.0], 1), ([2.0], -1)]
    """
    for _ in range(T):
        yield from zip(X, y, strict=True)


# -- Chapter 1: the perceptron as lecture notes and papers print it, and which of its weights are the answer


def perceptron(X: Rows, y: Labels, T: int) -> Vector:
    """The perceptron through the origin: T passes, ``w += y x`` whenever ``y (w·x) <= 0``.

    >>> perceptron([[1.0, 2.0], [2.0, 1.0]], [+1, -1], T=100)
    [-1.0, 1.0]
    """
    w = [0.0] * len(X[0])
    for x_i, y_i in passes(X, y, T):
        if y_i * dot(w, x_i) <= 0:
            w = plus(w, y_i, x_i)
    return w


def perceptron_with_offset(X: Rows, y: Labels, T: int) -> tuple[Vector, float]:
    """The perceptron with an offset, which is :func:`perceptron` on rows extended by a constant 1: also ``b += y``.

    >>> perceptron_with_offset([[1.0], [3.0]], [-1, +1], T=100)
    ([2.0], -4.0)
    """
    *w, b = perceptron([extended(x) for x in X], y, T)
    return w, b


def perceptron_train(D: Sequence[tuple[Sequence[float], int]], max_iter: int) -> tuple[Vector, float]:
    """PerceptronTrain(D, MaxIter), but it stops after an epoch in which nothing changed.

    >>> perceptron_train([([1.0], -1), ([3.0], +1)], max_iter=1000)
    ([2.0], -4.0)
    """
    w, b = [0.0] * len(D[0][0]), 0.0
    for _ in range(max_iter):
        changed = False
        for x, y in D:
            a = dot(w, x) + b
            if y * a <= 0:
                w = plus(w, y, x)
                b = b + y
                changed = True
        if not changed:
            break
    return w, b


def step(z: float) -> int:
    """The step function: 1 if ``z >= 0``, else 0.

    >>> step(0.0), step(-0.5)
    (1, 0)
    """
    return 1 if z >= 0 else 0


def step_perceptron(X: Rows, y: Labels, T: int, alpha: float = 0.1, theta: Row | None = None) -> Vector:
    """Labels 0 and 1: ``theta_j += alpha (y - h(x)) x_j`` with ``h(x) = step(theta·x)``.

    A score of 0 predicts 1, so it is a mistake only on a row of class 0.

    >>> [round(t, 12) for t in step_perceptron([[1.0, 2.0]], [1], T=1, alpha=0.1, theta=[0.5, 0.3])]
    [0.5, 0.3]
    >>> [round(t, 12) for t in step_perceptron([[-1.0, -2.0]], [0], T=1, alpha=0.1, theta=[-0.5, -0.3])]
    [-0.4, -0.1]
    """
    theta = [0.0] * len(X[0]) if theta is None else list(theta)
    for x_i, y_i in passes(X, y, T):
        theta = plus(theta, alpha * (y_i - step(dot(theta, x_i))), x_i)
    return theta


def averaged_perceptron(X: Rows, y: Labels, T: int) -> Vector:
    """The mean of the weights after each example: ``(w_1 + … + w_N) / N``, ``N = T n``.

    >>> averaged_perceptron([[1.0], [2.0]], [+1, -1], T=1)
    [0.0]
    """
    w, weights_after = [0.0] * len(X[0]), []
    for x_i, y_i in passes(X, y, T):
        if y_i * dot(w, x_i) <= 0:
            w = plus(w, y_i, x_i)
        weights_after.append(w)
    return mean(weights_after)


def averaged_perceptron_train(X: Rows, y: Labels, max_iter: int) -> Vector:
    """AveragedPerceptronTrain(D, MaxIter): cached weights ``u``, answer ``w - u/c``.

    With ``c`` starting at 1 this is the mean of ``w_0, …, w_N``: the direction of
    :func:`averaged_perceptron`, since ``w_0 = 0``, times ``N / (N + 1)``.

    >>> averaged_perceptron_train([[1.0], [2.0], [2.0]], [+1, -1, -1], max_iter=1)
    [-0.25]
    """
    w, u, c = [0.0] * len(X[0]), [0.0] * len(X[0]), 1
    for x_i, y_i in passes(X, y, max_iter):
        if y_i * dot(w, x_i) <= 0:
            w = plus(w, y_i, x_i)
            u = plus(u, y_i * c, x_i)
        c += 1
    return plus(w, -1.0 / c, u)


def voted_perceptron(X: Rows, y: Labels, T: int) -> list[tuple[Vector, int]]:
    """Every weight vector of the run, with the number of examples it survived.

    A vector made by a mistake starts with a count of 1.

    >>> voted_perceptron([[1.0], [2.0]], [+1, -1], T=1)
    [([0.0], 0), ([1.0], 1), ([-1.0], 1)]
    """
    w, c = [0.0] * len(X[0]), 0
    lived: list[tuple[Vector, int]] = []
    for x_i, y_i in passes(X, y, T):
        if y_i * dot(w, x_i) <= 0:
            lived.append((w, c))
            w, c = plus(w, y_i, x_i), 1
        else:
            c += 1
    return [*lived, (w, c)]


def vote(lived: Sequence[tuple[Row, int]], x: Row) -> int:
    """The votes for +1 less the votes for -1; a score of 0 votes for +1.

    >>> vote([([1.0], 2), ([-1.0], 3)], [1.0])
    -1
    """
    return sum(c if dot(w, x) >= 0 else -c for w, c in lived)


def pocket_perceptron(X: Rows, y: Labels, T: int) -> Vector:
    """The pocket algorithm: the best weights checked so far stay in the pocket, by the :func:`ratchet`.

    An epoch without a mistake ends the search.

    >>> X, y = [[2.0, 1.0], [1.0, 1.0], [-1.0, 1.0], [-2.0, 1.0], [3.0, 1.0]], [+1, +1, -1, -1, -1]
    >>> w = pocket_perceptron(X, y, T=20)
    >>> [y_i * dot(w, x_i) > 0 for x_i, y_i in zip(X, y)]
    [True, True, True, True, False]
    """
    return learn(X, y, orders=[range(len(X))] * T, fit_intercept=False).pocket[0][:-1]


def multiclass_perceptron(X: Rows, y: Labels, K: int, T: int) -> list[Vector]:
    """One weight row per class; the right row gains ``x``, the highest wrong row loses it.

    A wrong class that ties with the right one is a mistake. Predict the class with the highest score.

    >>> multiclass_perceptron([[1.0, 0.0], [0.0, 1.0]], [0, 1], K=3, T=1)
    [[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]]
    """
    W = [[0.0] * len(X[0]) for _ in range(K)]
    for x_i, y_i in passes(X, y, T):
        scores = [dot(w, x_i) for w in W]
        wrong = highest_wrong(scores, y_i)
        if scores[y_i] - scores[wrong] <= 0:
            W[y_i] = plus(W[y_i], +1.0, x_i)
            W[wrong] = plus(W[wrong], -1.0, x_i)
    return W


def highest_wrong(scores: Row, right: int) -> int:
    """The class other than `right` with the highest score; the first one if several tie.

    >>> highest_wrong([0.5, 2.0, 1.0], right=1)
    2
    """
    return max((k for k in range(len(scores)) if k != right), key=lambda k: scores[k])


def tail_average(weights_after: Sequence[Vector]) -> Vector:
    """The mean of the latest weight vectors: with N of them and 2^k <= N < 2^(k+1), those from 2^(k-1) + 1 on.

    It leaves out the first quarter to half, where the weights were still far from their place.

    >>> tail_average([[8.0], [4.0], [2.0], [1.0], [3.0]])
    [2.0]
    """
    N = len(weights_after)
    first = 2 ** (N.bit_length() - 1) // 2
    return mean(weights_after[first:])


# -- Chapter 2: steps whose length depends on the loss, weights that shrink, and a variance for every weight


def passive_aggressive_step(loss: float, q: float, variant: str = "PA", C: float = 1.0) -> float:
    """The step length ``tau`` for a loss and ``q = ‖x‖²``: ``l/q``, ``min(C, l/q)`` or ``l/(q + 1/(2C))``.

    It is 0 without a loss, and for a row of zeros, whose score no step changes.

    >>> [passive_aggressive_step(1.0, 2.0, variant, C=0.25) for variant in ("PA", "PA-I", "PA-II")]
    [0.5, 0.25, 0.25]
    """
    if loss == 0 or q == 0:
        return 0.0
    return {"PA": loss / q, "PA-I": min(C, loss / q), "PA-II": loss / (q + 1 / (2 * C))}[variant]


def passive_aggressive(X: Rows, y: Labels, T: int, variant: str = "PA", C: float = 1.0) -> Vector:
    """PA: the smallest change of ``w`` that gives the row a margin of 1; C limits it.

    The loss is the hinge loss ``l = max(0, 1 - y w·x)``, the step that of :func:`passive_aggressive_step`.

    >>> passive_aggressive([[2.0, 0.0]], [+1], T=1)
    [0.5, 0.0]
    """
    w = [0.0] * len(X[0])
    for x_i, y_i in passes(X, y, T):
        loss = max(0.0, 1.0 - y_i * dot(w, x_i))
        w = plus(w, passive_aggressive_step(loss, dot(x_i, x_i), variant, C) * y_i, x_i)
    return w


def passive_aggressive_regression(
    X: Rows, y: Sequence[float], T: int, variant: str = "PA", C: float = 1.0, epsilon: float = 0.1
) -> Vector:
    """PA for numbers: the smallest change of ``w`` that brings the prediction within epsilon of the target.

    With the loss ``l = max(0, |y - w·x| - epsilon)`` the steps are those of `passive_aggressive`, towards ``y``.

    >>> passive_aggressive_regression([[2.0, 0.0]], [1.1], T=1, epsilon=0.1)
    [0.5, 0.0]
    """
    w = [0.0] * len(X[0])
    for x_i, y_i in passes(X, y, T):
        away = y_i - dot(w, x_i)
        tau = passive_aggressive_step(max(0.0, abs(away) - epsilon), dot(x_i, x_i), variant, C)
        w = plus(w, math.copysign(tau, away), x_i)
    return w


def shrunk(w: Row, shrink: float, cut: float) -> Vector:
    """Every weight towards 0: ``|w_j|`` becomes ``shrink |w_j| - cut``, or 0 if that is not above 0.

    >>> shrunk([1.0, -2.0, 0.25], shrink=0.5, cut=0.25)
    [0.25, -0.75, 0.0]
    """
    sizes = [shrink * abs(w_j) - cut for w_j in w]
    return [math.copysign(size, w_j) if size > 0 else 0.0 for size, w_j in zip(sizes, w, strict=True)]


def penalized_perceptron(
    X: Rows, y: Labels, T: int, penalty: str, alpha: float, l1_ratio: float = 0.15
) -> tuple[Vector, float]:
    """The perceptron with a penalty: after each row every weight shrinks, and the offset does not.

    "l2" takes the share ``alpha`` of every weight, "l1" takes ``alpha`` itself and stops at 0, so that a weight nobody
    needs is truly zero; "elasticnet" takes ``l1_ratio`` of the one and the rest of the other.

    >>> penalized_perceptron([[1.0, 0.25], [-1.0, 0.25]], [+1, -1], T=1, penalty="l1", alpha=0.5)
    ([1.0, 0.0], 0.0)
    """
    ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": l1_ratio}[penalty]
    w, b = [0.0] * len(X[0]), 0.0
    for x_i, y_i in passes(X, y, T):
        if y_i * (dot(w, x_i) + b) <= 0:
            w = plus(w, y_i, x_i)
            b += y_i
        w = shrunk(w, 1 - (1 - ratio) * alpha, ratio * alpha)
    return w, b


def arow(X: Rows, y: Labels, T: int, r: float = 1.0) -> tuple[Vector, Vector]:
    """AROW with a diagonal covariance: every weight has a variance, 1 at first, that falls as it is used.

    On a margin below 1, with ``v = sum Σ_j x_j²`` and ``β = 1/(v + r)``: ``w_j += (1 - m) β y Σ_j x_j`` and
    ``Σ_j -= β (Σ_j x_j)²``. Returns the weights and their variances.

    >>> arow([[1.0, 0.0], [1.0, 1.0]], [+1, +1], T=1)
    ([0.6, 0.2], [0.4, 0.6])
    """
    w, variances = [0.0] * len(X[0]), [1.0] * len(X[0])
    for x_i, y_i in passes(X, y, T):
        (w,), (variances,), _ = arow_step([w], [variances], [(0, y_i)], x_i, y_i * dot(w, x_i), r)
    return w, variances


def arow_step(
    W: list[Vector], V: list[Vector], moved: Sequence[tuple[int, int]], x: Row, margin: float, r: float
) -> tuple[list[Vector], list[Vector], float]:
    """Weights and variances after one example, and ``α = (1 - m) β``: 0 if nothing moved.

    `moved` are the weight rows that may move, each with its sign: with more classes the right row gains, the highest
    wrong row loses, and ``v`` is the sum over both.

    >>> arow_step([[0.0]], [[1.0]], [(0, +1)], [1.0], margin=0.0, r=1.0)
    ([[0.5]], [[0.5]], 0.5)
    """
    v = sum(V[k][j] * x[j] ** 2 for k, _ in moved for j in range(len(x)))
    if margin >= 1 or v == 0:
        return W, V, 0.0
    beta = 1.0 / (v + r)
    W, V = list(W), list(V)
    for k, sign in moved:
        W[k] = [W[k][j] + (1.0 - margin) * beta * sign * V[k][j] * x[j] for j in range(len(x))]
        V[k] = [V[k][j] - beta * (V[k][j] * x[j]) ** 2 for j in range(len(x))]
    return W, V, (1.0 - margin) * beta


# -- Chapter 3: one coefficient per row instead of one weight per feature

Kernel = Callable[[Row, Row], float]


def polynomial(degree: int, coef0: float = 1.0, gamma: float = 1.0) -> Kernel:
    """The kernel ``(coef0 + gamma x·z)^degree``.

    >>> polynomial(2)([1.0, 0.0], [2.0, 5.0])
    9.0
    """
    return lambda x, z: (coef0 + gamma * dot(x, z)) ** degree


def rbf(gamma: float) -> Kernel:
    """The kernel ``exp(-gamma ‖x - z‖²)``.

    >>> rbf(1.0)([1.0], [1.0])
    1.0
    """
    return lambda x, z: math.exp(-gamma * sum((x_j - z_j) ** 2 for x_j, z_j in zip(x, z, strict=True)))


def kernel_perceptron(X: Rows, y: Labels, T: int, kernel: Kernel = dot) -> list[int]:
    """One weight per row: ``alpha_i`` counts the mistakes on row i, and ``w = sum_i alpha_i y_i x_i``.

    A mistake on the same row again is ``alpha_i += 1``, not a second copy of the row.

    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [-1, +1, +1, -1]
    >>> alpha = kernel_perceptron(X, y, T=100, kernel=polynomial(2))
    >>> [kernel_score(alpha, X, y, x, polynomial(2)) > 0 for x in X]
    [False, True, True, False]
    """
    alpha = [0] * len(X)
    for _ in range(T):
        for i, (x_i, y_i) in enumerate(zip(X, y, strict=True)):
            if y_i * kernel_score(alpha, X, y, x_i, kernel) <= 0:
                alpha[i] += 1
    return alpha


def kernel_score(alpha: Row, X: Rows, y: Labels, x: Row, kernel: Kernel) -> float:
    """The score ``sum_i alpha_i y_i K(x_i, x)``, over the rows that were ever mistaken.

    >>> kernel_score([1, 2], [[1.0], [2.0]], [+1, -1], [1.0], dot)
    -3.0
    """
    total = 0.0
    for alpha_i, x_i, y_i in zip(alpha, X, y, strict=True):
        if alpha_i:
            total += alpha_i * y_i * kernel(x_i, x)
    return total


# -- Chapter 4: the whole family as one procedure


@dataclass(frozen=True)
class Rule:
    """How far to step: ``tau(margin, q)``.

    ``perceptron``: ``eta0`` on a mistake, or if ``margin <= beta`` (the margin perceptron). ``normalized``:
    ``eta0/q`` on a mistake. ``PA``, ``PA-I``,
    ``PA-II``: from the loss ``1 - margin``. A row with ``q = 0`` (all zeros, no offset) gets no step: it can be a
    mistake, but not an update. A sample weight ``s`` makes it ``s eta0``, ``min(s C, l/q)``, ``l/(q + 1/(2 s C))``.
    `shrink` and `cut` are a penalty: what :func:`shrunk` does to all weights after each row. ``AROW`` with its `r` has
    a step of its own, :func:`arow_step`.

    >>> Rule("PA-I", C=0.5).tau(margin=0.0, q=1.0, mistake=True)
    0.5
    """

    name: str = "perceptron"
    eta0: float = 1.0
    beta: float = 0.0
    C: float = 1.0
    r: float = 1.0
    shrink: float = 1.0
    cut: float = 0.0

    @property
    def shrinks(self) -> bool:
        return (self.shrink, self.cut) != (1.0, 0.0)

    def tau(self, margin: float, q: float, mistake: bool, s: float = 1.0) -> float:
        if q == 0:
            return 0.0
        if self.name == "perceptron":
            return s * self.eta0 if mistake or (self.beta > 0 and margin <= self.beta) else 0.0
        if self.name == "normalized":
            return s * self.eta0 / q if mistake else 0.0
        return passive_aggressive_step(max(0.0, 1.0 - margin), q, self.name, s * self.C)


@dataclass(frozen=True)
class Step:
    """One example of a run: the scores, the step, and the weights after it.

    Weight rows are extended by the offset as their last entry. With two classes there is one row and
    ``score`` is its score; with more, ``score`` is that of the right class and ``wrong`` the highest
    wrong one. AROW has a variance beside every weight, and its ``tau`` is ``α``.

    >>> first = next(steps([[2.0]], [+1], orders=[[0]]))
    >>> first.mistake, first.tau, first.after
    (True, 1.0, [[2.0, 1.0]])
    """

    epoch: int
    row: int
    x: Vector
    label: int
    score: float
    margin: float
    mistake: bool
    tau: float
    wrong: int
    before: list[Vector]
    after: list[Vector]
    variances_before: list[Vector] | None = None
    variances_after: list[Vector] | None = None

    @property
    def update(self) -> bool:
        return self.tau != 0


@dataclass
class Run:
    """The result of :func:`learn`: its steps, and the weights by every keep.

    >>> learn([[1.0], [-1.0]], [+1, -1], orders=[[0, 1]]).mistakes
    2
    """

    steps: list[Step]
    mistakes_per_epoch: list[int]
    updates_per_epoch: list[int]
    converged: bool
    pocket: list[Vector]
    pocket_mistakes: float

    @property
    def epochs(self) -> int:
        return len(self.mistakes_per_epoch)

    @property
    def mistakes(self) -> int:
        return sum(self.mistakes_per_epoch)

    @property
    def updates(self) -> int:
        return sum(self.updates_per_epoch)

    @property
    def last(self) -> list[Vector]:
        return self.steps[-1].after

    @property
    def average(self) -> list[Vector]:
        return [mean(rows) for rows in zip(*(s.after for s in self.steps), strict=True)]

    @property
    def lived(self) -> list[tuple[list[Vector], int]]:
        """The weights of the run, each with the number of examples it survived."""
        lived = [(self.steps[0].before, 0)]
        for s in self.steps:
            W, survived = lived[-1]
            if s.update:
                lived.append((s.after, 1))
            else:
                lived[-1] = (W, survived + 1)
        return lived


def scores_of(W: Rows, x: Row) -> Vector:
    """One score per weight row, for a row without its constant 1.

    >>> scores_of([[1.0, 0.5]], [2.0])
    [2.5]
    """
    return [dot(w[:-1], x) + w[-1] for w in W]


def is_mistake(scores: Row, label: int, tie: str = "mistake") -> bool:
    """True if the prediction is wrong. A tie is wrong, but ``tie="positive"`` reads a score of 0 as +1.

    >>> is_mistake([0.0], +1), is_mistake([0.0], +1, tie="positive")
    (True, False)
    """
    if len(scores) > 1:
        return scores[label] - scores[highest_wrong(scores, label)] <= 0
    if tie == "positive":
        return (scores[0] >= 0) != (label == 1)
    return label * scores[0] <= 0


def steps(
    X: Rows,
    y: Labels,
    *,
    orders: Iterable[Sequence[int]],
    rule: Rule = Rule(),
    classes: int = 2,
    fit_intercept: bool = True,
    tie: str = "mistake",
    weights: Sequence[float] | None = None,
    start: Rows | None = None,
) -> Iterator[Step]:
    """Every step of learning, one example at a time, in the given order of each epoch.

    Labels are -1/+1 with two classes and 0..K-1 with more. `weights` are sample weights; a row of
    weight 0 is ignored. `start` are the weights to start from, zeros by default.

    >>> [step.mistake for step in steps([[1.0], [-1.0]], [+1, -1], orders=[[0, 1, 0]])]
    [True, True, False]
    """
    d = len(X[0])
    W = [list(w) for w in start] if start is not None else [[0.0] * (d + 1)] * (1 if classes == 2 else classes)
    V = [[1.0] * (d + 1) for _ in W] if rule.name == "AROW" else None
    for epoch, order in enumerate(orders, start=1):
        for i in order:
            s = 1.0 if weights is None else weights[i]
            if s == 0:
                continue
            x, label = list(X[i]), y[i]
            row = [*x, 1.0 if fit_intercept else 0.0]
            scores = scores_of(W, x)
            mistake = is_mistake(scores, label, tie)
            before, variances_before = W, V
            if classes == 2:
                wrong, score = -1, scores[0]
                margin, moved = label * score, [(0, label)]
            else:
                wrong, score = highest_wrong(scores, label), scores[label]
                margin, moved = score - scores[wrong], [(label, +1), (wrong, -1)]
            if V is not None:
                W, V, tau = arow_step(W, V, moved, row, margin, rule.r / s)
            else:
                tau = rule.tau(margin, len(moved) * dot(row, row), mistake, s)
                if tau:
                    W = list(W)
                    for k, sign in moved:
                        W[k] = plus(W[k], tau * sign, row)
            if rule.shrinks:
                W = [[*shrunk(w[:-1], rule.shrink, rule.cut), w[-1]] for w in W]
            yield Step(epoch, i, x, label, score, margin, mistake, tau, wrong, before, W, variances_before, V)


def ratchet(
    start: list[Vector], steps: Sequence[Step], mistakes_of: Callable[[list[Vector]], float]
) -> tuple[list[Vector], float]:
    """The weights in the pocket after the steps, and their mistakes.

    A challenger is checked on all rows once, when its run of correct answers beats the pocket's run,
    and replaces the pocket only if it makes fewer mistakes. The starting weights have no run (-1), so
    the first update challenges them at once.

    >>> run = list(steps([[1.0], [2.0], [3.0]], [+1, -1, -1], orders=[range(3)], fit_intercept=False))
    >>> [step.after for step in run]
    [[[1.0, 0.0]], [[-1.0, 0.0]], [[-1.0, 0.0]]]
    >>> ratchet([[0.0, 0.0]], run, lambda W: {0.0: 3, 1.0: 2, -1.0: 1}[W[0][0]])
    ([[-1.0, 0.0]], 1)
    """
    pocket, fewest, pocket_run = start, mistakes_of(start), -1
    run, is_pocket, is_checked = 0, True, True
    for s in steps:
        if s.update:
            run, is_pocket, is_checked = 0, False, False
        else:
            run = 0 if s.mistake else run + 1
        if run > pocket_run and not is_checked:
            is_checked, pocket_run, mistakes = True, max(pocket_run, 0), mistakes_of(s.after)
            if mistakes < fewest:
                pocket, fewest, is_pocket = s.after, mistakes, True
        if is_pocket:
            pocket_run = max(pocket_run, run)
    return pocket, fewest


def learn(
    X: Rows,
    y: Labels,
    *,
    orders: Sequence[Sequence[int]],
    rule: Rule = Rule(),
    tie: str = "mistake",
    weights: Sequence[float] | None = None,
    **how: Any,
) -> Run:
    """Learn until an epoch without a mistake and an update, or until the orders run out; keep every step.

    Converged means: a whole epoch without a mistake and without an update; if a penalty shrinks the weights after every
    row, they must also separate the rows at its end. The pocket counts each mistaken row with its sample weight. All
    arguments are those of :func:`steps`.

    >>> AND, labels = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [-1, -1, -1, +1]
    >>> run = learn(AND, labels, orders=[range(4)] * 100)
    >>> run.converged, run.mistakes, run.last
    (True, 18, [[3.0, 2.0, -4.0]])
    """
    given = [1.0] * len(X) if weights is None else weights

    def mistakes_of(W: list[Vector]) -> float:
        return sum(s for x, label, s in zip(X, y, given, strict=True) if s and is_mistake(scores_of(W, x), label, tie))

    run = Run([], [], [], False, [], 0)
    every = steps(X, y, orders=orders, rule=rule, tie=tie, weights=weights, **how)
    for _, epoch in groupby(every, key=lambda s: s.epoch):
        taken = list(epoch)
        run.steps += taken
        run.mistakes_per_epoch.append(sum(s.mistake for s in taken))
        run.updates_per_epoch.append(sum(s.update for s in taken))
        is_clean = not any(s.mistake or s.update for s in taken)
        if is_clean and (not rule.shrinks or mistakes_of(run.last) == 0):
            run.converged = True
            break
    run.pocket, run.pocket_mistakes = ratchet(run.steps[0].before, run.steps, mistakes_of)
    if run.converged:
        run.pocket, run.pocket_mistakes = run.last, 0
    return run


# -- Chapter 5: the order of a shuffled epoch


@dataclass
class Draws:
    """Random numbers: xoshiro256++ (Blackman and Vigna 2019), seeded by splitmix64.

    >>> Draws.seeded(0).below(6)
    1
    """

    state: list[int]

    @classmethod
    def seeded(cls, seed: int) -> Draws:
        """The numbers of a seed."""
        words, z = [], seed
        for _ in range(4):
            z = (z + 0x9E3779B97F4A7C15) % 2**64
            x = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
            x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
            words.append(x ^ (x >> 31))
        return cls(words)

    def next(self) -> int:
        """The next 64 bits."""
        a, b, c, d = self.state
        result = (_rotated((a + d) % 2**64, 23) + a) % 2**64
        c, d = c ^ a, d ^ b
        self.state = [a ^ d, b ^ c, c ^ (b << 17) % 2**64, _rotated(d, 45)]
        return result

    def below(self, bound: int) -> int:
        """A whole number from 0 to bound - 1, each as likely as any other (Lemire 2019)."""
        while True:
            product = (self.next() >> 32) * bound
            if product % 2**32 >= 2**32 % bound:
                return product >> 32

    def shuffle(self, items: list[int]) -> list[int]:
        """The items in random order (Fisher and Yates)."""
        items = list(items)
        for i in range(len(items) - 1):
            j = i + self.below(len(items) - i)
            items[i], items[j] = items[j], items[i]
        return items


def _rotated(x: int, k: int) -> int:
    return (x << k | x >> (64 - k)) % 2**64


def strip_order(n: int, draws: Draws, window: int = 8192) -> list[int]:
    """Strips of consecutive rows in random order, and the rows of a window of strips shuffled again.

    A window has up to 256 strips. Of as many neighbors as there are windows each window gets one, so that it has rows
    from all over. Rows that fit into one window are one strip: they are simply shuffled.

    >>> sorted(strip_order(10, Draws.seeded(0), window=4)) == list(range(10))
    True
    """
    length = max(1, n if n <= window else window // 256)
    strips = [list(range(at, min(at + length, n))) for at in range(0, n, length)]
    most = max(1, window // length)
    windows: list[list[int]] = [[] for _ in range(0, max(1, len(strips)), most)]
    for at in range(0, len(strips), len(windows)):
        neighbors = list(range(at, min(at + len(windows), len(strips))))
        for rows, strip in zip(windows, draws.shuffle(neighbors), strict=False):
            rows += strips[strip]
    return [row for rows in windows for row in draws.shuffle(rows)]
