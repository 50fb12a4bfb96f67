"""A learner's run, step by step, as the textbook makes it.

Invariant: the steps are those of ``learner.fit(X, y)``: the same rule, order, start and stopping. They are made by
``rosenblatt.textbook``, so they differ from the engine's only if a margin is within rounding of 0.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from rosenblatt import engine, textbook
from rosenblatt.data.labels import Labels, encode_labels
from rosenblatt.data.table import as_table
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.learners.fit import check_lengths
from rosenblatt.learners.stopping import Epoch, StoppingCriterion
from rosenblatt.learners.targets import row_weights
from rosenblatt.learners.weights import seed_of, starting_weights
from rosenblatt.params import LinearParams, PerceptronParams
from rosenblatt.textbook import Step, Vector

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
        counts = [0] * self.steps[-1].epoch
        for step in self.steps:
            counts[step.epoch - 1] += step.mistake
        return counts

    def records(self) -> list[dict[str, Any]]:
        """A flat record per step: ``epoch, row, x, y, score, margin, mistake, tau, w, b`` before and after.

        With more than two classes `w` is a list of weight rows, `b` of offsets, `wrong` the highest wrong class. AROW
        has a ``w_variance`` and a ``b_variance`` as well, and its `tau` is the paper's ``α``.
        """
        return list(self.iter_records(self.steps))

    def iter_records(self, steps: Iterable[Step]) -> Iterator[dict[str, Any]]:
        """The records of `steps` one by one, of a run over the same rows."""
        return (self._record(step) for step in steps)

    def render_jsonl(self) -> str:
        """One JSON object per line."""
        return "".join(map(json_line, self.records()))

    def render_csv(self) -> str:
        """A column for each number; rows, features, weights and weight rows are counted from 1."""
        return "".join(csv_lines(self.records()))

    def render_table(self, most: int | None = None) -> str:
        """Columns to read, the first `most` steps or all; rows are counted from 1."""
        heads = ["step", "epoch", "row", "x", "y", "score", "margin", "mistake", "w after", "b after"]
        names = ["epoch", "row", "x", "y", "score", "margin", "mistake", "w_after", "b_after"]
        records = self.iter_records(islice(self.steps, most))
        lines = [[n, *((r | {"row": r["row"] + 1})[name] for name in names)] for n, r in enumerate(records, start=1)]
        left = len(self.steps) - len(lines)
        return render_columns(heads, lines) + (f"\n… {left} more steps" if left else "")

    def __str__(self) -> str:
        return self.render_table()

    def _record(self, step: Step) -> dict[str, Any]:
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
    run = make_run(X, y, learner)
    classes = run.labels.classes.tolist()
    return Trace([], classes, run.X, [classes[i] for i in run.labels.codes.tolist()], run.params.written()), run.steps()


@dataclass(frozen=True)
class Run:
    """A learner's parameters and the data of one run."""

    params: LinearParams
    X: list[list[float]]
    labels: Labels

    @property
    def rule(self) -> textbook.Rule:
        rule = self.params.update_rule
        return textbook.Rule(rule.name, eta0=rule.eta0, beta=rule.beta, C=rule.C, r=rule.r)

    def steps(self) -> Iterator[Step]:
        """Every step until the learner stops."""
        params, classes = self.params, len(self.labels.classes)
        y = (self.labels.signs() if classes == 2 else self.labels.codes).tolist()
        weights = row_weights(None, params.class_weight, self.labels)
        given = [1.0] * len(self.X) if weights is None else weights.tolist()
        present = np.flatnonzero(given).astype(np.uint32)  # a row of weight 0 is as if absent
        generator = engine.seed_generator(seed_of(params.random_state), 0)
        shape = (1 if classes == 2 else classes, len(self.X[0]))
        start = starting_weights(params.init, shape, np.dtype(np.float64), generator, params.fit_intercept)
        W, variances = np.hstack([start[0], start[1][:, None]]).tolist(), None
        total, mistaken = float(np.sum(np.array(given)[present])), 0.0
        stopping = StoppingCriterion.of(params)
        while stopping.stop_reason is None:
            order = present.copy()
            if params.shuffle:
                window = max(len(order), 1) if params.shuffle == "rows" else engine.WINDOW
                engine.draw_order(order, generator, present, window)
            mistakes, updates, before = 0, 0, mistaken
            for step in textbook.steps(
                self.X,
                y,
                rule=self.rule,
                orders=[order.tolist()],
                classes=classes,
                fit_intercept=bool(params.fit_intercept),
                tie=params.tie,
                weights=given,
                start=W,
                variances=variances,
            ):
                W, variances = step.after, step.variances_after
                mistakes += step.mistake
                mistaken += given[step.row] if step.mistake else 0.0
                updates += step.update
                yield replace(step, epoch=len(stopping.history) + 1)
            stopping.update(Epoch(mistakes, updates, mistaken - before, total, len(present)), lambda: True)


def make_run(X: Any, y: Any, learner: LinearParams | None) -> Run:
    """Check that the learner's fit is a single run over all rows, and prepare to make it step by step."""
    params = PerceptronParams(shuffle=False, tol=None) if learner is None else learner
    if not isinstance(params, LinearParams):
        raise ParameterError(f"{type(params).__name__} is not one of the linear learners of the textbook")
    if params.n_init != 1:
        raise ParameterError(f"n_init={params.n_init}: only a single run can be traced")
    if params.update_rule.shrinks:
        raise ParameterError("penalty: a run with a penalty cannot be traced")
    if params.early_stopping or params.warm_start:
        raise ParameterError("early_stopping and warm_start: only a whole run over all rows can be traced")
    table, labels = as_table(X), encode_labels(y)
    check_lengths(table, labels)
    if len(labels.classes) < 2:
        raise LabelError("y has one class only; two or more are needed")
    if len(labels.classes) > 2 and params.multiclass == "ovr":
        raise ParameterError("multiclass='ovr' is one run per class: trace each with the labels y == class")
    if table.count * table.features > MOST_VALUES:
        raise DataError(f"{table.count:,} rows of {table.features:,} columns are too many for a trace: use fewer")
    dense = table.values.toarray() if table.sparse else table.values
    return Run(params, dense.astype(np.float64).tolist(), labels)


def json_line(record: dict[str, Any]) -> str:
    """A record as one line of JSON; its row is an index, from 0."""
    return json.dumps(record) + "\n"


def csv_lines(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A header, then a line for each record; rows are counted from 1."""
    for number, record in enumerate(records):
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        flat = [pair for name, value in (record | {"row": record["row"] + 1}).items() for pair in _flat(name, value)]
        writer.writerows(list(zip(*flat, strict=True))[number > 0 :])
        yield out.getvalue()


def _flat(name: str, value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, list):
        return [(name, value)]
    return [pair for j, part in enumerate(value, start=1) for pair in _flat(f"{name}_{j}", part)]


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
