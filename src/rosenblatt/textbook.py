"""The perceptron family in plain Python, to be read with the mathematics beside it.

Invariant: this module imports nothing but the standard library and knows nothing of the rest of the
package, so it can judge the rest. Vectors are lists of floats, labels are -1/+1 (classes 0..K-1 where
there are more than two), and a score of exactly 0 is a mistake unless a docstring says otherwise.

The first part holds the algorithms as lecture notes and papers print them, each a few lines. The second
part, from `Rule` on, is the whole family as one procedure, :func:`learn`: a *rule* (how far to step) and a
*keep* (which weights are the answer). It is slow and obvious; the engine must equal it, mistake for mistake.

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
    multiclass_perceptron      one weight row a class
    passive_aggressive         PA, PA-I, PA-II                           Crammer et al. 2006
    penalised_perceptron       weights that shrink after every row
    arow                       a variance beside every weight            Crammer et al. 2009
    kernel_perceptron          a weight a row instead of a weight a feature
    learn                      all of the linear ones, step by step
    strip_order                the order of a shuffled epoch

>>> w = perceptron([[2.0, 1.0], [-1.0, -1.0]], [+1, -1], T=10)
>>> w
[2.0, 1.0]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

Vector = list[float]


def dot(w: Sequence[float], x: Sequence[float]) -> float:
    """The sum of the products, from left to right.

    >>> dot([1.0, 2.0], [3.0, 4.0])
    11.0
    """
    total = 0.0
    for w_j, x_j in zip(w, x, strict=True):
        total += w_j * x_j
    return total


def plus(w: Sequence[float], tau: float, x: Sequence[float]) -> Vector:
    """The vector ``w + tau * x``.

    >>> plus([1.0, 1.0], 2.0, [0.0, 1.0])
    [1.0, 3.0]
    """
    return [w_j + tau * x_j for w_j, x_j in zip(w, x, strict=True)]


def extended(x: Sequence[float]) -> Vector:
    """The row with a constant 1 behind it: an offset is then one more weight.

    >>> extended([3.0, 4.0])
    [3.0, 4.0, 1.0]
    """
    return [*x, 1.0]


# ---------------------------------------------------------------------------------------------------
# As the notes and the papers print them


def perceptron(X: Sequence[Sequence[float]], y: Sequence[int], T: int) -> Vector:
    """The perceptron through the origin: T passes, ``w += y x`` whenever ``y (w·x) <= 0``.

    >>> perceptron([[1.0, 2.0], [2.0, 1.0]], [+1, -1], T=100)
    [-1.0, 1.0]
    """
    w = [0.0] * len(X[0])
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * dot(w, x_i) <= 0:
                w = plus(w, y_i, x_i)
    return w


def perceptron_with_offset(X: Sequence[Sequence[float]], y: Sequence[int], T: int) -> tuple[Vector, float]:
    """The perceptron with an offset: also ``b += y``.

    It is :func:`perceptron` on rows extended by a constant 1.

    >>> perceptron_with_offset([[1.0], [3.0]], [-1, +1], T=100)
    ([2.0], -4.0)
    """
    w, b = [0.0] * len(X[0]), 0.0
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * (dot(w, x_i) + b) <= 0:
                w = plus(w, y_i, x_i)
                b += y_i
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


def step_perceptron(
    X: Sequence[Sequence[float]], y: Sequence[int], T: int, alpha: float = 0.1, theta: Sequence[float] | None = None
) -> Vector:
    """Labels 0 and 1: ``theta_j += alpha (y - h(x)) x_j`` with ``h(x) = step(theta·x)``.

    A score of 0 predicts 1, so it is a mistake only on a row of class 0.

    >>> [round(t, 12) for t in step_perceptron([[1.0, 2.0]], [1], T=1, alpha=0.1, theta=[0.5, 0.3])]
    [0.5, 0.3]
    >>> [round(t, 12) for t in step_perceptron([[-1.0, -2.0]], [0], T=1, alpha=0.1, theta=[-0.5, -0.3])]
    [-0.4, -0.1]
    """
    theta = [0.0] * len(X[0]) if theta is None else list(theta)
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            theta = plus(theta, alpha * (y_i - step(dot(theta, x_i))), x_i)
    return theta


def averaged_perceptron(X: Sequence[Sequence[float]], y: Sequence[int], T: int) -> Vector:
    """The mean of the weights after each example: ``(w_1 + … + w_N) / N``, ``N = T n``.

    >>> averaged_perceptron([[1.0], [2.0]], [+1, -1], T=1)
    [0.0]
    """
    w = [0.0] * len(X[0])
    total, N = [0.0] * len(w), 0
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * dot(w, x_i) <= 0:
                w = plus(w, y_i, x_i)
            total = plus(total, 1.0, w)
            N += 1
    return [t / N for t in total]


def averaged_perceptron_train(X: Sequence[Sequence[float]], y: Sequence[int], max_iter: int) -> Vector:
    """AveragedPerceptronTrain(D, MaxIter): cached weights ``u``, answer ``w - u/c``.

    With ``c`` starting at 1 this is the mean of ``w_0, …, w_N``: the direction of
    :func:`averaged_perceptron`, since ``w_0 = 0``, times ``N / (N + 1)``.

    >>> averaged_perceptron_train([[1.0], [2.0], [2.0]], [+1, -1, -1], max_iter=1)
    [-0.25]
    """
    w, u, c = [0.0] * len(X[0]), [0.0] * len(X[0]), 1
    for _ in range(max_iter):
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * dot(w, x_i) <= 0:
                w = plus(w, y_i, x_i)
                u = plus(u, y_i * c, x_i)
            c += 1
    return plus(w, -1.0 / c, u)


def voted_perceptron(X: Sequence[Sequence[float]], y: Sequence[int], T: int) -> list[tuple[Vector, int]]:
    """Every weight vector that lived, with the number of examples it survived.

    A vector made by a mistake starts with a count of 1.

    >>> voted_perceptron([[1.0], [2.0]], [+1, -1], T=1)
    [([0.0], 0), ([1.0], 1), ([-1.0], 1)]
    """
    w, c = [0.0] * len(X[0]), 0
    lived: list[tuple[Vector, int]] = []
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * dot(w, x_i) <= 0:
                lived.append((w, c))
                w, c = plus(w, y_i, x_i), 1
            else:
                c += 1
    return [*lived, (w, c)]


def vote(lived: Sequence[tuple[Sequence[float], int]], x: Sequence[float]) -> int:
    """The votes for +1 less the votes for -1; a score of 0 votes for +1.

    >>> vote([([1.0], 2), ([-1.0], 3)], [1.0])
    -1
    """
    return sum(c if dot(w, x) >= 0 else -c for w, c in lived)


def mistaken_rows(w: Sequence[float], X: Sequence[Sequence[float]], y: Sequence[int]) -> int:
    """How many rows the weights get wrong; a score of 0 is wrong.

    >>> mistaken_rows([1.0], [[1.0], [0.0], [-1.0]], [+1, +1, +1])
    2
    """
    return sum(y_i * dot(w, x_i) <= 0 for x_i, y_i in zip(X, y, strict=True))


def pocket_perceptron(X: Sequence[Sequence[float]], y: Sequence[int], T: int) -> Vector:
    """The pocket algorithm with ratchet: the best weights seen so far are kept in the pocket.

    A challenger is checked on all rows once, when its run of correct answers beats the pocket's run,
    and replaces the pocket only if it makes fewer mistakes. The starting weights have no run (-1), so
    the first update challenges them at once. An epoch without a mistake ends the search.

    >>> X, y = [[2.0, 1.0], [1.0, 1.0], [-1.0, 1.0], [-2.0, 1.0], [3.0, 1.0]], [+1, +1, -1, -1, -1]
    >>> mistaken_rows(pocket_perceptron(X, y, T=20), X, y), mistaken_rows(perceptron(X, y, T=20), X, y)
    (1, 4)
    """
    w, run, checked = [0.0] * len(X[0]), 0, True
    pocket, pocket_run, pocket_mistakes = w, -1, mistaken_rows(w, X, y)
    for _ in range(T):
        mistakes = 0
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * dot(w, x_i) <= 0:
                w, run, checked = plus(w, y_i, x_i), 0, False
                mistakes += 1
            else:
                run += 1
            if run > pocket_run and not checked:
                checked = True
                challenge = mistaken_rows(w, X, y)
                if challenge < pocket_mistakes:
                    pocket, pocket_mistakes = w, challenge
                pocket_run = max(pocket_run, 0)
            if pocket is w:
                pocket_run = max(pocket_run, run)
        if mistakes == 0:
            return w
    return pocket


def multiclass_perceptron(X: Sequence[Sequence[float]], y: Sequence[int], K: int, T: int) -> list[Vector]:
    """One weight row a class; the right row gains ``x``, the highest wrong row loses it.

    A wrong class that ties with the right one is a mistake. Predict the class with the highest score.

    >>> multiclass_perceptron([[1.0, 0.0], [0.0, 1.0]], [0, 1], K=3, T=1)
    [[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]]
    """
    W = [[0.0] * len(X[0]) for _ in range(K)]
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            scores = [dot(w, x_i) for w in W]
            wrong = highest_wrong(scores, y_i)
            if scores[y_i] - scores[wrong] <= 0:
                W[y_i] = plus(W[y_i], +1.0, x_i)
                W[wrong] = plus(W[wrong], -1.0, x_i)
    return W


def highest_wrong(scores: Sequence[float], right: int) -> int:
    """The class other than `right` with the highest score; the first one if several tie.

    >>> highest_wrong([0.5, 2.0, 1.0], right=1)
    2
    """
    return max((k for k in range(len(scores)) if k != right), key=lambda k: scores[k])


def passive_aggressive(
    X: Sequence[Sequence[float]], y: Sequence[int], T: int, variant: str = "PA", C: float = 1.0
) -> Vector:
    """PA: the smallest change of ``w`` that gives the row a margin of 1; C limits it.

    With the hinge loss ``l = max(0, 1 - y w·x)`` and ``q = ‖x‖²`` the step is ``l/q`` (PA),
    ``min(C, l/q)`` (PA-I), ``l/(q + 1/(2C))`` (PA-II).

    >>> passive_aggressive([[2.0, 0.0]], [+1], T=1)
    [0.5, 0.0]
    """
    w = [0.0] * len(X[0])
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            loss, q = max(0.0, 1.0 - y_i * dot(w, x_i)), dot(x_i, x_i)
            if loss > 0 and q > 0:
                tau = {"PA": loss / q, "PA-I": min(C, loss / q), "PA-II": loss / (q + 1 / (2 * C))}[variant]
                w = plus(w, tau * y_i, x_i)
    return w


def passive_aggressive_regression(
    X: Sequence[Sequence[float]],
    y: Sequence[float],
    T: int,
    variant: str = "PA",
    C: float = 1.0,
    epsilon: float = 0.1,
) -> Vector:
    """PA for numbers: the smallest change of ``w`` that brings the prediction within epsilon of the target.

    With the loss ``l = max(0, |y - w·x| - epsilon)`` the steps are those of `passive_aggressive`, towards ``y``.

    >>> passive_aggressive_regression([[2.0, 0.0]], [1.1], T=1, epsilon=0.1)
    [0.5, 0.0]
    """
    w = [0.0] * len(X[0])
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            away, q = y_i - dot(w, x_i), dot(x_i, x_i)
            loss = max(0.0, abs(away) - epsilon)
            if loss > 0 and q > 0:
                tau = {"PA": loss / q, "PA-I": min(C, loss / q), "PA-II": loss / (q + 1 / (2 * C))}[variant]
                w = plus(w, math.copysign(tau, away), x_i)
    return w


def shrunk(w: Sequence[float], shrink: float, cut: float) -> Vector:
    """Every weight towards 0: ``|w_j|`` becomes ``shrink |w_j| - cut``, or 0 where that is not above 0.

    >>> shrunk([1.0, -2.0, 0.25], shrink=0.5, cut=0.25)
    [0.25, -0.75, 0.0]
    """
    sizes = [shrink * abs(w_j) - cut for w_j in w]
    return [math.copysign(size, w_j) if size > 0 else 0.0 for size, w_j in zip(sizes, w, strict=True)]


def penalised_perceptron(
    X: Sequence[Sequence[float]], y: Sequence[int], T: int, penalty: str, alpha: float, l1_ratio: float = 0.15
) -> tuple[Vector, float]:
    """The perceptron with a penalty: after each row every weight shrinks, and the offset does not.

    "l2" takes the share ``alpha`` of every weight, "l1" takes ``alpha`` itself and stops at 0, so that a weight nobody
    needs is truly zero; "elasticnet" takes ``l1_ratio`` of the one and the rest of the other.

    >>> penalised_perceptron([[1.0, 0.25], [-1.0, 0.25]], [+1, -1], T=1, penalty="l1", alpha=0.5)
    ([1.0, 0.0], 0.0)
    """
    ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": l1_ratio}[penalty]
    w, b = [0.0] * len(X[0]), 0.0
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * (dot(w, x_i) + b) <= 0:
                w = plus(w, y_i, x_i)
                b += y_i
            w = shrunk(w, 1 - (1 - ratio) * alpha, ratio * alpha)
    return w, b


def arow(
    X: Sequence[Sequence[float]],
    y: Sequence[int],
    order: Sequence[int],
    *,
    r: float = 1.0,
    classes: int = 2,
    fit_intercept: bool = True,
    weights: Sequence[float] | None = None,
) -> Arow:
    """AROW with a diagonal covariance: every weight has a variance, 1 at first, that falls as it is used.

    On a margin below 1, with ``v = sum Σ_j x_j²`` and ``β = 1/(v + r)``: ``w_j += (1 - m) β y Σ_j x_j`` and
    ``Σ_j -= β (Σ_j x_j)²``. With more classes the right row gains and the highest wrong row loses, ``v`` is the sum
    over both, and each row has its own variances. A sample weight s makes it ``r/s``; a row of zeros gets no step.

    >>> arow([[1.0, 0.0], [1.0, 1.0]], [+1, -1], order=[0], fit_intercept=False).W
    [[0.5, 0.0, 0.0]]
    """
    rows, d = 1 if classes == 2 else classes, len(X[0])
    W, V = [[0.0] * (d + 1) for _ in range(rows)], [[1.0] * (d + 1) for _ in range(rows)]
    found = Arow(W, V, [[0.0] * (d + 1) for _ in range(rows)])
    for i in order:
        s = 1.0 if weights is None else weights[i]
        if s == 0:
            continue
        x = [*X[i], 1.0 if fit_intercept else 0.0]
        scores = [dot(w, x) for w in W]
        if classes == 2:
            margin, moved = y[i] * scores[0], [(0, y[i])]
        else:
            wrong = highest_wrong(scores, y[i])
            margin, moved = scores[y[i]] - scores[wrong], [(y[i], +1), (wrong, -1)]
        found.mistakes += margin <= 0
        W, V, alpha = arow_step(W, V, moved, x, margin, r / s)
        found.W, found.V = W, V
        found.updates += alpha != 0
        found.margins.append(margin)
        found.total = [plus(t, 1.0, w) for t, w in zip(found.total, W, strict=True)]
    return found


def arow_step(
    W: list[Vector], V: list[Vector], moved: Sequence[tuple[int, int]], x: Sequence[float], margin: float, r: float
) -> tuple[list[Vector], list[Vector], float]:
    """Weights and variances after one example, and ``α = (1 - m) β``: 0 if nothing moved.

    `moved` are the weight rows that may move, each with its sign.

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


@dataclass
class Arow:
    """What :func:`arow` found: weight rows and variances, extended by the offset, and the sum of all weights.

    >>> arow([[1.0], [2.0]], [+1, -1], order=[0, 1], fit_intercept=False).mistakes
    2
    """

    W: list[Vector]
    V: list[Vector]
    total: list[Vector]
    mistakes: int = 0
    updates: int = 0
    margins: list[float] = field(default_factory=list)


Kernel = Callable[[Sequence[float], Sequence[float]], float]


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


def kernel_perceptron(X: Sequence[Sequence[float]], y: Sequence[int], T: int, kernel: Kernel = dot) -> list[int]:
    """A weight a row: ``alpha_i`` counts the mistakes on row i, and ``w = sum_i alpha_i y_i x_i``.

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


def kernel_score(
    alpha: Sequence[float],
    X: Sequence[Sequence[float]],
    y: Sequence[int],
    x: Sequence[float],
    kernel: Kernel,
) -> float:
    """The score ``sum_i alpha_i y_i K(x_i, x)``, over the rows that were ever mistaken.

    >>> kernel_score([1, 2], [[1.0], [2.0]], [+1, -1], [1.0], dot)
    -3.0
    """
    total = 0.0
    for alpha_i, x_i, y_i in zip(alpha, X, y, strict=True):
        if alpha_i:
            total += alpha_i * y_i * kernel(x_i, x)
    return total


def tail_average(weights_after: Sequence[Vector]) -> Vector:
    """The mean of the latest weight vectors: with N of them and 2^k <= N < 2^(k+1), those from 2^(k-1) + 1 on.

    It leaves out the first quarter to half, where the weights were still far from their place.

    >>> tail_average([[8.0], [4.0], [2.0], [1.0], [3.0]])
    [2.0]
    """
    N = len(weights_after)
    first = 2 ** (N.bit_length() - 1) // 2
    latest = weights_after[first:]
    return [sum(column) / len(latest) for column in zip(*latest, strict=True)]


# ---------------------------------------------------------------------------------------------------
# The whole family as one procedure


@dataclass(frozen=True)
class Rule:
    """How far to step: ``tau(margin, q)``.

    ``perceptron``: ``eta0`` on a mistake, or where ``margin <= beta`` (the margin perceptron). ``normalised``:
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

    def tau(self, margin: float, q: float, mistake: bool, s: float = 1.0) -> float:
        if q == 0:
            return 0.0
        if self.name == "perceptron":
            return s * self.eta0 if mistake or (self.beta > 0 and margin <= self.beta) else 0.0
        if self.name == "normalised":
            return s * self.eta0 / q if mistake else 0.0
        loss = max(0.0, 1.0 - margin)
        if self.name == "PA":
            return loss / q
        if self.name == "PA-I":
            return min(s * self.C, loss / q)
        if self.name == "PA-II":
            return loss / (q + 1.0 / (2.0 * s * self.C))
        raise ValueError(f"unknown rule {self.name!r}")


@dataclass(frozen=True)
class Step:
    """One example as it was met: what was computed, and what became of the weights.

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
    """What :func:`learn` found: the weights by every keep, and the counters.

    >>> learn([[1.0], [-1.0]], [+1, -1], orders=[[0, 1]]).mistakes
    2
    """

    last: list[Vector]
    average: list[Vector]
    lived: list[tuple[list[Vector], int]]
    pocket: list[Vector]
    pocket_mistakes: float
    mistakes: int
    updates: int
    epochs: int
    converged: bool
    mistakes_per_epoch: list[int] = field(default_factory=list)
    updates_per_epoch: list[int] = field(default_factory=list)


def scores_of(W: Sequence[Sequence[float]], x: Sequence[float]) -> Vector:
    """A score a weight row, of a row without its constant 1.

    >>> scores_of([[1.0, 0.5]], [2.0])
    [2.5]
    """
    return [dot(w[:-1], x) + w[-1] for w in W]


def is_mistake(scores: Sequence[float], label: int, tie: str = "mistake") -> bool:
    """Is the answer wrong? A tie is wrong, but ``tie="positive"`` reads a score of 0 as +1.

    >>> is_mistake([0.0], +1), is_mistake([0.0], +1, tie="positive")
    (True, False)
    """
    if len(scores) > 1:
        return scores[label] - scores[highest_wrong(scores, label)] <= 0
    if tie == "positive":
        return (scores[0] >= 0) != (label == 1)
    return label * scores[0] <= 0


def steps(
    X: Sequence[Sequence[float]],
    y: Sequence[int],
    *,
    rule: Rule = Rule(),
    orders: Sequence[Sequence[int]],
    classes: int = 2,
    fit_intercept: bool = True,
    tie: str = "mistake",
    weights: Sequence[float] | None = None,
    start: Sequence[Sequence[float]] | None = None,
    variances: Sequence[Sequence[float]] | None = None,
) -> Iterator[Step]:
    """Every step of learning, one example at a time, in the given order of each epoch.

    Labels are -1/+1 with two classes and 0..K-1 with more. `weights` are sample weights; a row of
    weight 0 is as if absent. `start` and `variances` (1 by default, and AROW's alone) are what to go on from.

    >>> [step.mistake for step in steps([[1.0], [-1.0]], [+1, -1], orders=[[0, 1, 0]])]
    [True, True, False]
    """
    d = len(X[0])
    W = [list(w) for w in start] if start is not None else [[0.0] * (d + 1)] * (1 if classes == 2 else classes)
    V: list[Vector] | None = None
    if rule.name == "AROW":
        V = [list(v) for v in variances] if variances is not None else [[1.0] * (d + 1) for _ in W]
    for epoch, order in enumerate(orders, start=1):
        for i in order:
            s = 1.0 if weights is None else weights[i]
            if s == 0:
                continue
            x, label = list(X[i]), y[i]
            q = dot(x, x) + (1.0 if fit_intercept else 0.0)
            offset = 1.0 if fit_intercept else 0.0
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
                W, V, tau = arow_step(W, V, moved, [*x, offset], margin, rule.r / s)
            else:
                tau = rule.tau(margin, len(moved) * q, mistake, s)
                if tau:
                    W = list(W)
                    for k, sign in moved:
                        W[k] = plus(W[k], tau * sign, [*x, offset])
            if (rule.shrink, rule.cut) != (1.0, 0.0):
                W = [[*shrunk(w[:-1], rule.shrink, rule.cut), w[-1]] for w in W]
            yield Step(epoch, i, x, label, score, margin, mistake, tau, wrong, before, W, variances_before, V)


def learn(
    X: Sequence[Sequence[float]],
    y: Sequence[int],
    *,
    rule: Rule = Rule(),
    orders: Sequence[Sequence[int]],
    classes: int = 2,
    fit_intercept: bool = True,
    tie: str = "mistake",
    weights: Sequence[float] | None = None,
    start: Sequence[Sequence[float]] | None = None,
) -> Run:
    """Learn until an epoch in which nothing was left to do, or until the orders run out; keep everything.

    Converged means: a whole epoch in which the rule had nothing left to do, neither a mistake nor an update;
    where a penalty shrinks the weights after every row, they must also separate the rows at its end. The
    pocket counts each mistaken row with its sample weight.

    >>> AND, labels = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [-1, -1, -1, +1]
    >>> run = learn(AND, labels, orders=[range(4)] * 100)
    >>> run.converged, run.mistakes, run.last
    (True, 18, [[3.0, 2.0, -4.0]])
    """
    present = [i for i in range(len(X)) if weights is None or weights[i] != 0]
    d, rows = len(X[0]), 1 if classes == 2 else classes
    W = [list(w) for w in start] if start is not None else [[0.0] * (d + 1) for _ in range(rows)]

    def wrong_rows(candidate: list[Vector]) -> float:
        wrong = 0.0
        for i in present:
            if is_mistake(scores_of(candidate, X[i]), y[i], tie):
                wrong += 1.0 if weights is None else weights[i]
        return wrong

    total, seen = [[0.0] * (d + 1) for _ in W], 0
    lived: list[tuple[list[Vector], int]] = []
    survived, run_length, checked = 0, 0, True
    run = Run(W, W, lived, W, wrong_rows(W), 0, 0, 0, False)
    pocket_run, pocket_is_current = -1, True
    for epoch_order in orders:
        mistakes = updates = 0
        for s in steps(
            X,
            y,
            rule=rule,
            orders=[epoch_order],
            classes=classes,
            fit_intercept=fit_intercept,
            tie=tie,
            weights=weights,
            start=W,
        ):
            W = s.after
            seen += 1
            total = [plus(t, 1.0, w) for t, w in zip(total, W, strict=True)]
            mistakes += s.mistake
            if s.update:
                updates += 1
                lived.append((s.before, survived))
                survived, run_length, checked, pocket_is_current = 1, 0, False, False
            else:
                survived += 1
                run_length = 0 if s.mistake else run_length + 1
            if run_length > pocket_run and not checked:
                checked = True
                challenge = wrong_rows(W)
                if challenge < run.pocket_mistakes:
                    run.pocket, run.pocket_mistakes, pocket_is_current = W, challenge, True
                pocket_run = max(pocket_run, 0)
            if pocket_is_current:
                pocket_run = max(pocket_run, run_length)
        run.epochs += 1
        run.mistakes += mistakes
        run.updates += updates
        run.mistakes_per_epoch.append(mistakes)
        run.updates_per_epoch.append(updates)
        shrinks = (rule.shrink, rule.cut) != (1.0, 0.0)
        if mistakes == 0 and updates == 0 and (not shrinks or wrong_rows(W) == 0):
            run.converged = True
            run.pocket, run.pocket_mistakes = W, 0
            break
    run.last = W
    run.average = [[t / seen for t in row] for row in total] if seen else W
    run.lived = [*lived, (W, survived)]
    return run


# The order of a shuffled epoch.


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

    A window has 256 strips. Rows that fit into one window are one strip: they are simply shuffled.

    >>> sorted(strip_order(10, Draws.seeded(0), window=4)) == list(range(10))
    True
    """
    length = n if n <= window else max(1, window // 256)
    strips = [list(range(at, min(at + length, n))) for at in range(0, n, max(length, 1))]
    turns = draws.shuffle(list(range(len(strips))))
    together = max(1, window // max(length, 1))
    order = []
    for at in range(0, len(turns), together):
        order += draws.shuffle([row for strip in turns[at : at + together] for row in strips[strip]])
    return order
