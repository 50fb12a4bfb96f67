"""Results as text, JSON and HTML.

Invariant: a report is one file that needs no other, no network and no script.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batches import Batch, Classes
from rosenblatt.errors import DataError, ModelError
from rosenblatt.models.linear import predict_codes
from rosenblatt.models.model import Model

_MOST_SHOWN = 30  # classes in a table


@dataclass(frozen=True)
class Evaluation:
    """Counts of true against predicted labels; a true label that the model does not know counts as an error.

    Attributes
    ----------
    classes : array
    confusion : array of shape (n_classes, n_classes)
        Rows of the true class i that were predicted as j.
    unknown : int
        Rows whose true label is none of the classes.
    """

    classes: NDArray[Any]
    confusion: NDArray[np.int64]
    unknown: int = 0

    @property
    def rows(self) -> int:
        return int(self.confusion.sum()) + self.unknown

    @property
    def errors(self) -> int:
        return self.rows - int(np.trace(self.confusion))

    @property
    def accuracy(self) -> float:
        return 1 - self.errors / self.rows

    @property
    def majority(self) -> float:
        """The accuracy of always naming the most frequent class."""
        return float(self.confusion.sum(axis=1).max() / self.rows)

    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the accuracy, for rows drawn independently."""
        n, p, z = self.rows, self.accuracy, 1.959963984540054
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return max(0.0, middle - half), min(1.0, middle + half)

    def by_class(self) -> list[tuple[Any, int, float, float, float]]:
        """For each class: label, rows, precision, recall and F1; 0 where there is nothing to divide by."""
        figures = []
        for k, label in enumerate(self.classes.tolist()):
            right = int(self.confusion[k, k])
            named, there = int(self.confusion[:, k].sum()), int(self.confusion[k].sum())
            precision, recall = right / named if named else 0.0, right / there if there else 0.0
            f1 = 2 * precision * recall / (precision + recall) if right else 0.0
            figures.append((label, there, precision, recall, f1))
        return figures

    def verdict(self) -> str:
        """One sentence."""
        low, high = self.interval()
        gain = (
            "well above"
            if low > self.majority
            else "below"
            if high < self.majority
            else "not told apart, on so few rows, from"
        )
        return (
            f"{self.accuracy:.2%} of {self.rows:,} rows right (95 % interval {low:.2%} to {high:.2%}), {gain} the "
            f"{self.majority:.2%} of always naming the most frequent class."
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "errors": self.errors,
            "accuracy": self.accuracy,
            "interval": list(self.interval()),
            "majority": self.majority,
            "macro_f1": float(np.mean([f1 for *_, f1 in self.by_class()])),
            "unknown_labels": self.unknown,
            "classes": self.classes.tolist(),
            "confusion": self.confusion.tolist(),
            "by_class": [
                dict(zip(("label", "rows", "precision", "recall", "f1"), each, strict=True)) for each in self.by_class()
            ],
            "verdict": self.verdict(),
        }


def evaluate_batches(model: Model, batches: Iterable[Batch]) -> Evaluation:
    """Predict every row of the batches and count."""
    classes, K = Classes(model.classes), len(model.classes)
    confusion, unknown = np.zeros(K * K, np.int64), 0
    for batch in batches:
        true = classes.codes(batch)
        known = true >= 0
        unknown += int((~known).sum())
        predicted = predict_codes(model.batch_scores(batch))
        confusion += np.bincount(true[known] * K + predicted[known], minlength=K * K)
    if confusion.sum() + unknown == 0:
        raise DataError("the data has no rows")
    return Evaluation(model.classes, confusion.reshape(K, K), unknown)


def render_text(result: Evaluation) -> str:
    """For a terminal."""
    lines = [result.verdict()]
    if result.unknown:
        lines.append(f"{result.unknown:,} rows have a label that the model does not know; they count as errors.")
    width = max(5, *(len(str(label)) for label in result.classes.tolist()))
    lines.append(f"\n{'class':<{width}}  {'rows':>9}  precision  recall      F1")
    for label, rows, precision, recall, f1 in result.by_class():
        lines.append(f"{label!s:<{width}}  {rows:>9,}  {precision:>9.2%}  {recall:>6.2%}  {f1:>6.2%}")
    if len(result.classes) <= 10:
        labels = [str(label)[:12] for label in result.classes.tolist()]
        cell = max(7, *(len(label) for label in labels), *(len(f"{n:,}") for n in result.confusion.ravel()))
        lines.append(f"\n{'true':<{width}}  " + "  ".join(f"{label:>{cell}}" for label in labels) + "   predicted")
        for label, row in zip(result.classes.tolist(), result.confusion.tolist(), strict=True):
            lines.append(f"{label!s:<{width}}  " + "  ".join(f"{n:>{cell},}" for n in row))
    return "\n".join(lines)


def render_html(title: str, result: Evaluation, model: Model, *, on: str = "") -> str:
    """A page with the verdict, the confusion matrix, the mistakes of every epoch and the top features."""
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p class=verdict>{escape((on + ' ' if on else '') + result.verdict())}</p>",
        f"<p>{escape(model.learner)}, {len(model.classes)} classes, {model.features:,} features. "
        f"{escape(model.encoder.describe()) if model.encoder is not None else ''}</p>",
        "<h2>Confusion matrix</h2>",
        _confusion_html(result),
        "<h2>By class</h2>",
        _classes_html(result),
    ]
    if model.history.get("mistakes"):
        parts += ["<h2>Mistakes an epoch</h2>", _mistakes_html(model.history)]
    parts += ["<h2>Features that speak most for each class</h2>", _features_html(model)]
    return (
        "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{escape(title)}</title><style>{_STYLE}</style>\n<main>\n" + "\n".join(parts) + "\n</main></html>\n"
    )


_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1f24; background: #fff; margin: 0 }
main { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem } h3 { font-size: 1rem; margin: .5rem 0 }
.verdict { font-size: 1.1rem; border-left: 4px solid #2f6f4f; padding: .3rem 1rem; background: #f2f7f4 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem }
td, th { padding: .2rem .6rem; text-align: right; border: 1px solid #e3e6e8 }
th { font-weight: 600; background: #f6f7f8 } th[scope=row], td.name { text-align: left }
.scroll { overflow-x: auto } .columns { display: flex; flex-wrap: wrap; gap: 1.5rem }
svg text { font: 12px system-ui, sans-serif; fill: #1b1f24 }
"""


def _confusion_html(result: Evaluation) -> str:
    labels = [escape(str(label)) for label in result.classes.tolist()]
    if len(labels) > _MOST_SHOWN:
        return f"<p>{len(labels)} classes are too many to draw; the figures by class are below.</p>"
    head = "".join(f"<th scope=col>{label}</th>" for label in labels)
    rows = []
    for k, (label, row) in enumerate(zip(labels, result.confusion.tolist(), strict=True)):
        total = max(sum(row), 1)
        cells = []
        for j, n in enumerate(row):
            colour = "47,111,79" if j == k else "178,58,46"
            cells.append(f"<td style='background:rgba({colour},{0.75 * n / total:.3f})'>{n:,}</td>")
        rows.append(f"<tr><th scope=row>{label}</th>{''.join(cells)}</tr>")
    return f"<div class=scroll><table><tr><th>true \\ predicted</th>{head}</tr>{''.join(rows)}</table></div>"


def _classes_html(result: Evaluation) -> str:
    rows = "".join(
        f"<tr><th scope=row>{escape(str(label))}</th>"
        f"<td>{n:,}</td><td>{p:.2%}</td><td>{r:.2%}</td><td>{f:.2%}</td></tr>"
        for label, n, p, r, f in result.by_class()
    )
    return (
        "<div class=scroll><table><tr><th>class</th><th>rows</th><th>precision</th><th>recall</th><th>F1</th></tr>"
        f"{rows}</table></div>"
    )


def _mistakes_html(history: dict[str, Any]) -> str:
    mistakes = history["mistakes"]
    width, height, most = 640, 160, max(max(mistakes), 1)
    step = width / len(mistakes)
    bars = "".join(
        f"<rect x='{k * step + 0.1 * step:.1f}' y='{20 + (height - 20) * (1 - m / most):.1f}' width='{0.8 * step:.1f}' "
        f"height='{(height - 20) * m / most:.1f}' fill='#3b6ea5'><title>epoch {k + 1}: {m:,}</title></rect>"
        + (
            f"<text x='{(k + 0.5) * step:.1f}' y='{15 + (height - 20) * (1 - m / most):.1f}' "
            f"text-anchor='middle'>{m:,}</text>"
            if len(mistakes) <= 15
            else ""
        )
        for k, m in enumerate(mistakes)
    )
    return (
        f"<svg viewBox='0 0 {width} {height + 20}' width='100%' role='img' aria-label='mistakes an epoch'>{bars}"
        f"<text x='0' y='{height + 16}'>epoch 1</text><text x='{width}' y='{height + 16}' text-anchor='end'>epoch "
        f"{len(mistakes)}</text></svg><p>Stopped by {escape(str(history.get('stop_reason')))}.</p>"
    )


def _features_html(model: Model) -> str:
    try:
        tops = model.top_features(10)
    except ModelError as error:
        return f"<p>{escape(str(error))}.</p>"
    tables = []
    for label, features in list(tops.items())[:_MOST_SHOWN]:
        rows = "".join(f"<tr><td class=name>{escape(name)}</td><td>{weight:.4g}</td></tr>" for name, weight in features)
        tables.append(f"<div><h3>{escape(label)}</h3><table>{rows}</table></div>")
    return f"<div class=columns>{''.join(tables)}</div>"
