"""Chapter 1: the perceptron as lecture notes and papers print it, and which of its weights are the answer."""

from __future__ import annotations

from collections.abc import Sequence

from rosenblatt.textbook.vectors import Vector, dot, plus


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
