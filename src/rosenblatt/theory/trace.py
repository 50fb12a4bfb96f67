"""A learner's run, step by step, as the textbook makes it.

Invariant: the steps are those of ``learner.fit(X, y)``: the same rule, order, start and stopping. They are made by
``rosenblatt.textbook``, so they differ from the engine's only if a margin is within rounding of 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rosenblatt import textbook
from rosenblatt.data.labels import encode_labels
from rosenblatt.data.table import as_table
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learners.fit import FitTask, plan_fit
from rosenblatt.learners.stopping import Counters
from rosenblatt.params import LinearParams, PerceptronParams
from rosenblatt.textbook import Step, Vector

IN_ORDER = PerceptronParams(shuffle=False, tol=None)
MOST_VALUES = 50_000_000  # of the rows, held as Python's floats


@dataclass(frozen=True)
class Trace:
    """The steps of one run, in order.

    Attributes
    ----------
    steps : one `textbook.Step` per example, its weight rows extended by the offset.
    classes : the labels, sorted; with two, ``step.label`` is -1 or +1, else a place in this list.
    X, y : the rows and their labels.
    learner : the learner, written as in Python.

    Examples
    --------
    >>> run = trace([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> len(run.steps), run.steps[0].mistake
    (36, True)
    """

    steps: list[Step]
    classes: list[Any]
    X: list[Vector]
    y: list[Any]
    learner: str

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def mistakes(self) -> list[int]:
        """Mistakes per epoch."""
        counts = Counter(step.epoch for step in self.steps if step.mistake)
        return [counts[epoch] for epoch in range(1, self.steps[-1].epoch + 1)]

    def records(self) -> list[dict[str, Any]]:
        """A flat record per step: ``epoch, row, x, y, score, margin, mistake, tau, w, b`` before and after.

        With more than two classes `w` is a list of weight rows, `b` of offsets, `wrong` the highest wrong class. AROW
        has a ``w_variance`` and a ``b_variance`` as well, and its `tau` is the paper's ``α``.
        """
        return [self.record(step) for step in self.steps]

    def render_table(self, most: int | None = None) -> str:
        """Columns to read, the first `most` steps or all; rows are counted from 1."""
        heads = ["step", "epoch", "row", "x", "y", "score", "margin", "mistake", "w after", "b after"]
        names = ["epoch", "row", "x", "y", "score", "margin", "mistake", "w_after", "b_after"]
        records = [self.record(step) | {"row": step.row + 1} for step in self.steps[:most]]
        lines = [[number, *map(record.get, names)] for number, record in enumerate(records, start=1)]
        left = len(self.steps) - len(lines)
        return render_columns(heads, lines) + (f"\n… {left:,} more steps" if left else "")

    def __str__(self) -> str:
        return self.render_table()

    def record(self, step: Step) -> dict[str, Any]:
        """One of the `records`, of a step over the same rows."""
        two = len(self.classes) == 2
        record: dict[str, Any] = {"epoch": step.epoch, "row": step.row, "x": step.x, "y": self.y[step.row]}
        if not two:
            record["wrong"] = self.classes[step.wrong]
        record |= {"score": step.score, "margin": step.margin, "mistake": step.mistake, "tau": step.tau}
        parts = {"before": step.before, "after": step.after}
        if step.variances_before is not None and step.variances_after is not None:
            parts |= {"variance_before": step.variances_before, "variance_after": step.variances_after}
        for name, rows in parts.items():
            w, b = [row[:-1] for row in rows], [row[-1] for row in rows]
            record |= {f"w_{name}": w[0] if two else w, f"b_{name}": b[0] if two else b}
        return record


def trace(X: Any, y: Any, learner: LinearParams | None = None) -> Trace:
    """Follow a learner through every step of its run.

    For reading, teaching and pictures: it runs in plain Python and keeps every weight vector. For long runs on many
    rows, use ``learner.history_`` or :func:`ledger`, which has one line per mistake.

    Parameters
    ----------
    X, y : rows and labels
    learner : a linear learner, not yet fitted
        Its parameters decide the rule, the order and the stopping. By default ``Perceptron(shuffle=False, tol=None)``:
        the rows in the order given, until an epoch without a mistake or 1000 epochs.

    Examples
    --------
    >>> from rosenblatt.theory import trace
    >>> print(trace([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]).render_table(5))
    step  epoch  row       x  y  score  margin  mistake  w after  b after
       1      1    1  (0, 0)  0      0       0      yes   (0, 0)       -1
       2      1    2  (0, 1)  0     -1       1            (0, 0)       -1
       3      1    3  (1, 0)  0     -1       1            (0, 0)       -1
       4      1    4  (1, 1)  1     -1      -1      yes   (1, 1)        0
       5      2    1  (0, 0)  0      0       0      yes   (1, 1)       -1
    … 31 more steps
    """
    found, steps = begin_trace(X, y, learner)
    return replace(found, steps=list(steps))


def begin_trace(X: Any, y: Any, learner: LinearParams | None = None) -> tuple[Trace, Iterator[Step]]:
    """A trace without steps yet, and an iterator over the steps: a long run need not fit in memory."""
    learner = learner or IN_ORDER
    if not isinstance(learner, LinearParams) or learner.is_regression:
        raise ParameterError(f"{type(learner).__name__} is not one of the linear classifiers of the textbook")
    learner.check()
    if learner.n_init != 1:
        raise ParameterError(f"n_init={learner.n_init}: only a single run can be traced")
    if learner.update_rule.shrinks:
        raise ParameterError("penalty: a run with a penalty cannot be traced")
    if learner.early_stopping or learner.warm_start:
        raise ParameterError("early_stopping and warm_start: only a whole run over all rows can be traced")
    table, labels = as_table(X), encode_labels(y)
    tasks = plan_fit(learner, table, labels).tasks
    if len(tasks) > 1:
        raise ParameterError("multiclass='ovr' is one run per class: trace each with the labels y == class")
    if table.count * table.features > MOST_VALUES:
        raise DataError(f"{table.count:,} rows of {table.features:,} columns are too many for a trace: use fewer")
    rows = (table.values.toarray() if table.sparse else table.values).astype(np.float64).tolist()
    classes = labels.classes.tolist()
    found = Trace([], classes, rows, [classes[i] for i in labels.codes.tolist()], learner.written())
    return found, _steps(learner, rows, tasks[0])


def _steps(learner: LinearParams, X: list[Vector], task: FitTask) -> Iterator[Step]:
    """Every step of a fit until its stopping criterion stops."""
    rule, targets, start, stopping = learner.update_rule, task.targets, task.state, task.stopping
    weights = np.ones(len(X)) if targets.sample_weight is None else targets.sample_weight
    seen = Counters(0, 0, 0.0)

    def orders() -> Iterator[Sequence[int]]:
        while stopping.stop_reason is None:
            before, order = seen, task.draw_order()
            yield range(len(X)) if order is None else order.tolist()
            stopping.update(seen.since(before, targets.total(task.rows), task.count), lambda: True)

    for step in textbook.steps(
        X,
        targets.y.tolist(),
        orders=orders(),
        rule=textbook.Rule(rule.name, eta0=rule.eta0, beta=rule.beta, C=rule.C, r=rule.r),
        classes=max(targets.weight_rows, 2),
        fit_intercept=bool(learner.fit_intercept),
        tie=learner.tie,
        weights=weights.tolist(),
        start=np.hstack([start.weights, start.intercept[:, None]]).tolist(),
    ):
        weight = weights[step.row] if step.mistake or step.update else 0.0
        seen = Counters(seen.mistakes + step.mistake, seen.updates + step.update, seen.weight + weight)
        yield step


def render_columns(heads: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """Columns flush right, floats with six significant digits.

    >>> print(render_columns(["k", "cos"], [[1, 0.5], [10, 1 / 3]]))
     k       cos
     1       0.5
    10  0.333333
    """
    rows = [list(heads), *([_show(value) for value in line] for line in lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _show(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}" if value else "0"
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(_show, value)) + ")"
    return str(value)
