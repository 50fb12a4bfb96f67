"""Every step of learning as data.

Invariant: nothing is computed here; the steps are the textbook's and the renderings hold all of their numbers.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from rosenblatt.params.base import LinearParams
from rosenblatt.textbook import Step, Vector
from rosenblatt.theory.columns import render_columns
from rosenblatt.theory.replay import replay


@dataclass(frozen=True)
class Trace:
    """The steps of one run, in order.

    Attributes
    ----------
    steps : one `textbook.Step` an example met, its weight rows extended by the offset.
    classes : the labels, sorted; with two, ``step.label`` is -1 or +1, else a place in this list.
    X, y : the rows and their labels.
    learner : how it was made.

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
        """Mistakes an epoch."""
        counts = [0] * self.steps[-1].epoch
        for step in self.steps:
            counts[step.epoch - 1] += step.mistake
        return counts

    def records(self) -> list[dict[str, Any]]:
        """A flat record a step: ``epoch, row, x, y, score, margin, mistake, tau, w, b`` before and after.

        With more than two classes `w` is a list of weight rows, `b` of offsets, `wrong` the highest wrong class. AROW
        has a ``w_variance`` and a ``b_variance`` as well, and its `tau` is the paper's ``α``.
        """
        return list(self.iter_records(self.steps))

    def iter_records(self, steps: Iterable[Step]) -> Iterator[dict[str, Any]]:
        """The records of steps as they come, of a run over the same rows."""
        return (self._record(step) for step in steps)

    def render_jsonl(self) -> str:
        """One JSON object a line."""
        return "".join(map(json_line, self.records()))

    def render_csv(self) -> str:
        """A column for each number; rows, features, weights and weight rows are counted from 1."""
        return "".join(csv_lines(self.records()))

    def render_table(self, most: int | None = None) -> str:
        """Columns to read, the first `most` steps or all; rows are counted from 1."""
        heads = ["step", "epoch", "row", "x", "y", "score", "margin", "mistake", "w after", "b after"]
        lines = []
        for number, record in enumerate(self.iter_records(islice(self.steps, most)), start=1):
            fixed = [record[name] for name in ("x", "y", "score", "margin", "mistake")]
            lines.append([number, record["epoch"], record["row"] + 1, *fixed, record["w_after"], record["b_after"]])
        table = render_columns(heads, lines)
        left = len(self.steps) - len(lines)
        return f"{table}\n… {left} more steps" if left else table

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

    For reading, teaching and pictures: it is made in plain Python and keeps every weight vector. Long runs on many
    rows are better told by ``learner.history_`` or by :func:`ledger`, which keeps a line a mistake.

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
    """A trace without steps yet, and the steps as they are made: a long run need not be held."""
    run = replay(X, y, learner)
    labels = run.labels.classes.tolist()
    told = [labels[code] for code in run.labels.codes.tolist()]
    return Trace([], labels, run.X, told, run.params.written()), run.steps()


def json_line(record: dict[str, Any]) -> str:
    """A record as one line of JSON; its row is an index, from 0."""
    return json.dumps(record) + "\n"


def csv_lines(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A header, then a line for each record."""
    for number, record in enumerate(records):
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        flat = _flat(record | {"row": record["row"] + 1})
        if number == 0:
            writer.writerow(flat)
        writer.writerow(flat.values())
        yield out.getvalue()


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in record.items():
        if not isinstance(value, list):
            flat[name] = value
            continue
        for j, part in enumerate(value, start=1):
            if isinstance(part, list):
                flat |= {f"{name}_{j}_{i}": number for i, number in enumerate(part, start=1)}
            else:
                flat[f"{name}_{j}"] = part
    return flat
