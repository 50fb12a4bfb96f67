"""Chapter 4: the whole family as one procedure, a rule (how far to step) and a keep (which weights are the answer)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rosenblatt.textbook.margins import arow_step, passive_aggressive_step, shrunk
from rosenblatt.textbook.perceptrons import highest_wrong
from rosenblatt.textbook.vectors import Vector, dot, plus


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
    """One score per weight row, for a row without its constant 1.

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
