"""Results as text, JSON and HTML.

Invariant: a report is one file that needs no other, no network and no script.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib import resources
from itertools import islice
from string import Template
from typing import Any

import numpy as np

from rosenblatt.errors import ModelError
from rosenblatt.evaluation import Evaluation, RegressionEvaluation, Reliability, Result
from rosenblatt.evaluation import evaluate as evaluate
from rosenblatt.models.model import Model

_MAX_SHOWN = 30  # classes in a table
_MAX_LISTED = 100  # classes in a list
_BY_CLASS = ("class", "rows", "precision", "recall", "F1")


def render_text(result: Result) -> str:
    """For a terminal.

    >>> from rosenblatt import Perceptron
    >>> rows, labels = [[-2.0], [-1.0], [1.0], [2.0]] * 10, [0, 0, 1, 1] * 10
    >>> text = render_text(evaluate(Perceptron().fit(rows, labels), rows, labels))
    >>> text.startswith("100.00% of 40 rows right")
    True
    """
    lines = [result.verdict()]
    if isinstance(result, RegressionEvaluation):
        return f"{lines[0]}\nbias {result.bias:+.6g}, the mean of prediction minus target"
    classes = [str(label) for label in result.classes.tolist()]
    if result.unknown:
        unknown, known = (_first_five(labels) for labels in (result.unknown_labels, classes))
        lines.append(
            f"{result.unknown:,} rows have a label that the model does not know ({unknown}); they count as errors. "
            f"It knows {known}."
        )
    if not any(result.support):
        return "\n".join(lines)
    figures = {"macro F1": result.macro_f1, "AUC": result.auc, "PR-AUC": result.pr_auc, "log loss": result.log_loss}
    figures |= {"Brier score": result.brier, "calibration error": result.ece}
    lines.append(", ".join(f"{name} {value:.4f}" for name, value in figures.items() if value is not None))
    lines += ["", *_columns(_BY_CLASS, [_cells(*each) for each in result.by_class()[:_MAX_LISTED]])]
    if len(classes) > _MAX_LISTED:
        lines.append(f"… {len(classes) - _MAX_LISTED:,} more; --json has them all")
    if result.thresholds:
        measure = "score" if result.reliability is None else "probability"
        lines += ["", f"{classes[1]}, if the {measure} is at least:"]
        lines += _columns((measure, *_BY_CLASS[1:]), [_cells(f"{t[0]:.6g}", *t[1:]) for t in result.thresholds])
    if len(classes) <= 10 and result.confusion is not None:
        lines += ["", *_columns(*_confusion(result))]
    elif result.pairs:
        lines.append("\nmost often confused")
        lines += [f"{classes[i]} predicted as {classes[j]}: {n:,.10g}" for i, j, n in result.pairs[:10]]
    return "\n".join(lines)


def _first_five(labels: Iterable[str]) -> str:
    first = list(islice(labels, 6))
    return ", ".join(repr(label) for label in first[:5]) + (", …" if len(first) > 5 else "")


def _cells(name: Any, rows: float, *shares: float) -> list[str]:
    return [str(name), f"{rows:,.10g}", *(f"{share:.2%}" for share in shares)]


def _confusion(result: Evaluation) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of the confusion matrix."""
    labels, counts = [str(label) for label in result.classes.tolist()], np.asarray(result.confusion).tolist()
    rows = [[label, *(f"{n:,.10g}" for n in row)] for label, row in zip(labels, counts, strict=True)]
    return ["true \\ predicted", *labels], rows


def _columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of text: the names flush left, the figures flush right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in (head, *rows)]


def render_html(
    title: str,
    result: Result,
    model: Model | None = None,
    *,
    headline: Sequence[str] = (),
    footnote: str = "",
    on: str = "",
) -> str:
    """A page: the verdict, the confusion matrix, the probabilities; of a model also its epochs and top features.

    A `headline` stands for the verdict; `on` says which rows the tables are about, if that is not clear from it.

    >>> from rosenblatt import Perceptron
    >>> rows, labels = [[-2.0], [-1.0], [1.0], [2.0]] * 10, [0, 0, 1, 1] * 10
    >>> page = render_html("a < b", evaluate(Perceptron().fit(rows, labels), rows, labels))
    >>> "<title>a &lt; b</title>" in page
    True
    """
    which = escape(f", on the {on}" if on else "")
    parts = [f"<h1>{escape(title)}</h1>"]
    parts += [f"<p class=verdict>{escape(line)}</p>" for line in headline or [result.verdict()]]
    if isinstance(result, RegressionEvaluation):
        parts += [f"<h2>Errors{which}</h2>", f"<pre class=scroll>{escape(render_text(result))}</pre>"]
    else:
        parts += _classes_html(result, model, which)
    if footnote:
        parts.append(f"<p class=footnote>{escape(footnote)}</p>")
    return _fill("report.html", title=escape(title), body="\n".join(parts))


def _fill(name: str, **values: str) -> str:
    """A file of this folder, with values."""
    return Template(resources.files("rosenblatt").joinpath(name).read_text(encoding="utf-8")).substitute(values)


def _classes_html(result: Evaluation, model: Model | None, which: str) -> Iterator[str]:
    if model is not None:
        encoder = "" if model.encoder is None else model.encoder.describe()
        size = f"{model.learner}, {len(model.classes)} classes, {model.features:,} features."
        yield f"<p>{escape(f'{size} {encoder}')}</p>"
    yield f"<h2>Confusion matrix{which}</h2>"
    if len(result.classes) > _MAX_SHOWN or result.confusion is None:
        yield f"<p>{len(result.classes)} classes are too many to draw; the figures by class are below.</p>"
    else:
        weights = np.maximum(result.confusion.sum(axis=1, keepdims=True), 1)
        yield _table(*_confusion(result), (result.confusion / weights).tolist())
    yield f"<h2>By class{which}</h2>"
    yield _table(_BY_CLASS, [_cells(*each) for each in result.by_class()[:1000]])
    if result.reliability is not None:
        yield f"<h2>Probabilities</h2>{_reliability_html(result.reliability, result.brier)}"
    if model is not None and model.history.get("mistakes"):
        counts = ", ".join(f"{count:,}" for count in model.history["mistakes"])
        reason = escape(str(model.history.get("stop_reason")))
        yield f"<h2>Mistakes per epoch</h2><p>{counts}. Stopped by {reason}.</p>"
    if model is not None:
        yield f"<h2>Features that contribute most to each class</h2>{_features_html(model)}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], shares: Sequence[Sequence[float]] = ()) -> str:
    """A table of text; the first cell of each row is its name. Shares of the row color the others of a square table."""
    lines = []
    for j, (name, *cells) in enumerate(rows):
        styles = [""] * len(cells)
        if shares:
            colors = ["26,107,60" if j == k else "166,27,43" for k in range(len(cells))]
            styles = [f" style='background:rgba({c},{0.6 * n:.3f})'" for c, n in zip(colors, shares[j], strict=True)]
        values = "".join(f"<td{style}>{escape(cell)}</td>" for cell, style in zip(cells, styles, strict=True))
        lines.append(f"<tr><th scope=row>{escape(name)}</th>{values}</tr>")
    columns = "".join(f"<th scope=col>{escape(name)}</th>" for name in head)
    return f"<div class=scroll><table><tr>{columns}</tr>{''.join(lines)}</table></div>"


def _reliability_html(found: Reliability, brier: float | None) -> str:
    """The reliability diagram: on the diagonal, answers are right as often as they are sure."""
    most = max(float(found.count.max()), 1e-300)
    marks = "".join(
        f"<path d='M{sure:.4f} {right:.4f}V{sure:.4f}' stroke='#a61b2b'/>"
        f"<circle cx='{sure:.4f}' cy='{right:.4f}' r='{(3 + 7 * math.sqrt(n / most)) / 320:.4f}' fill='#545d6c'>"
        f"<title>{n:,.10g} rows, {sure:.1%} sure, {right:.1%} right</title></circle>"
        for n, sure, right in zip(found.count, found.confidence, found.accuracy, strict=True)
    )
    return _fill("reliability.html", ece=f"{found.ece:.4f}", brier=f"{brier:.4f}", marks=marks)


def _features_html(model: Model) -> str:
    try:
        tops = model.top_features(10)
    except ModelError as error:
        return f"<p>{escape(str(error))}.</p>"
    tables = (
        _table((label, "weight"), [(name, f"{weight:.4g}") for name, weight in features])
        for label, features in list(tops.items())[:_MAX_SHOWN]
    )
    return f"<div class=columns>{''.join(tables)}</div>"
