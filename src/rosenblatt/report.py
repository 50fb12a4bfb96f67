"""Results as text, JSON and HTML.

Invariant: a report is one file that needs no other, no network and no script.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from rosenblatt.errors import ModelError
from rosenblatt.evaluation import Evaluation, RegressionEvaluation
from rosenblatt.evaluation import evaluate as evaluate
from rosenblatt.models.model import Model

if TYPE_CHECKING:
    from rosenblatt.select.comparison import Comparison
    from rosenblatt.select.scoring import Reliability

_MAX_SHOWN = 30  # classes in a table
_MAX_LISTED = 100  # classes in a list


def render_text(result: Evaluation | RegressionEvaluation) -> str:
    """For a terminal.

    >>> from rosenblatt import Perceptron
    >>> rows, labels = [[-2.0], [-1.0], [1.0], [2.0]] * 10, [0, 0, 1, 1] * 10
    >>> text = render_text(evaluate(Perceptron().fit(rows, labels), rows, labels))
    >>> text.startswith("100.00% of 40 rows right")
    True
    """
    lines = [result.verdict()]
    if isinstance(result, RegressionEvaluation):
        names = {"mean absolute error": "mean_absolute_error", "RMSE": "root_mean_squared_error", "bias": "bias"}
        figures = {name: getattr(result, key) for name, key in names.items()} | {"R²": result.r2}
        return "\n".join(
            [*lines, "", *(f"{name:<24}{value:.6g}" for name, value in figures.items() if value is not None)]
        )
    if result.unknown:
        unknown, known = (_first_five(labels) for labels in (result.unknown_labels, map(str, result.classes.tolist())))
        lines.append(
            f"{result.unknown:,} rows have a label that the model does not know ({unknown}); they count as errors. "
            f"It knows {known}."
        )
    if not result.support.any():
        return "\n".join(lines)
    figures = {"macro F1": result.macro_f1, "AUC": result.auc, "PR-AUC": result.pr_auc, "log loss": result.log_loss}
    figures |= {"Brier score": result.brier}
    if result.reliability is not None:
        figures["calibration error"] = result.reliability.ece
    lines.append(", ".join(f"{name} {value:.4f}" for name, value in figures.items() if value is not None))
    width = max(5, *(len(str(label)) for label in result.classes.tolist()[:_MAX_LISTED]))
    lines.append(f"\n{'class':<{width}}  {'rows':>9}  precision  recall      F1")
    for label, rows, precision, recall, f1 in result.by_class()[:_MAX_LISTED]:
        lines.append(f"{label!s:<{width}}  {rows:>9,.10g}  {precision:>9.2%}  {recall:>6.2%}  {f1:>6.2%}")
    if len(result.classes) > _MAX_LISTED:
        lines.append(f"… {len(result.classes) - _MAX_LISTED:,} more; --json has them all")
    if result.thresholds:
        measure = "score" if result.reliability is None else "probability"
        lines.append(
            f"\n{result.classes[1]} from this {measure} on\n{measure:>11}  {'rows':>9}  precision  recall      F1"
        )
        lines += [
            f"{t.threshold:>11.6g}  {t.rows:>9,.10g}  {t.precision:>9.2%}  {t.recall:>6.2%}  {t.f1:>6.2%}"
            for t in result.thresholds
        ]
    if len(result.classes) <= 10 and result.confusion is not None:
        labels = [str(label)[:12] for label in result.classes.tolist()]
        cell = max(7, *(len(label) for label in labels), *(len(f"{n:,.10g}") for n in result.confusion.ravel()))
        lines.append(f"\n{'true':<{width}}  " + "  ".join(f"{label:>{cell}}" for label in labels) + "   predicted")
        for label, row in zip(result.classes.tolist(), result.confusion.tolist(), strict=True):
            lines.append(f"{label!s:<{width}}  " + "  ".join(f"{n:>{cell},.10g}" for n in row))
    elif result.pairs:
        lines.append("\nmost often confused")
        for i, j, n in result.pairs[:10]:
            lines.append(f"{result.classes[i]} predicted as {result.classes[j]}: {n:,.10g}")
    return "\n".join(lines)


def _first_five(labels: Iterable[str]) -> str:
    first = list(islice(labels, 6))
    return ", ".join(repr(label) for label in first[:5]) + (", …" if len(first) > 5 else "")


def render_html(
    title: str,
    result: Evaluation,
    model: Model | None = None,
    *,
    headline: Sequence[str] = (),
    footnote: str = "",
    on: str = "",
) -> str:
    """A page: the verdict, the confusion matrix, the probabilities; of a model also its epochs and top features.

    A `headline` stands for the verdict; `on` says which rows the tables are about, where that is not clear from it.

    >>> from rosenblatt import Perceptron
    >>> rows, labels = [[-2.0], [-1.0], [1.0], [2.0]] * 10, [0, 0, 1, 1] * 10
    >>> page = render_html("my rows", evaluate(Perceptron().fit(rows, labels), rows, labels))
    >>> "<title>" in page
    True
    """
    which = f", on the {on}" if on else ""
    parts = [
        f"<h1>{escape(title)}</h1>",
        *(f"<p class=verdict>{escape(line)}</p>" for line in headline or [result.verdict()]),
        "" if model is None else _model_html(model),
        f"<h2>Confusion matrix{escape(which)}</h2>",
        _confusion_html(result),
        f"<h2>By class{escape(which)}</h2>",
        _classes_html(result),
    ]
    if result.reliability is not None:
        parts += ["<h2>Probabilities</h2>", _reliability_html(result.reliability, result.brier)]
    if model is not None and model.history.get("mistakes"):
        parts += ["<h2>Mistakes per epoch</h2>", _mistakes_html(model.history)]
    if model is not None:
        parts += ["<h2>Features that speak most for each class</h2>", _features_html(model)]
    if footnote:
        parts += [f"<p class=footnote>{escape(footnote)}</p>"]
    return _page(title, parts)


def render_comparison(title: str, found: Comparison) -> str:
    """A page with a comparison as a table, the most accurate first.

    >>> from rosenblatt import AveragedPerceptron, compare
    >>> rows, labels = [[-2.0], [-1.0], [1.0], [2.0]] * 10, [0, 0, 1, 1] * 10
    >>> page = render_comparison("my rows", compare(rows, labels, classifiers={"averaged": AveragedPerceptron()}))
    >>> "averaged" in page
    True
    """
    head = "".join(f"<th scope=col>{escape(name)}</th>" for name in found.COLUMNS)
    rows = "".join(
        f"<tr><th scope=row>{escape(name)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for name, *cells in found.cells()
    )
    return _page(
        title,
        [
            f"<h1>{escape(title)}</h1>",
            f"<p>{escape(found.heading())}.</p>",
            f"<div class=scroll><table><tr>{head}</tr>{rows}</table></div>",
            "<p>± is the standard error of the mean over the folds. The margin is the smallest over the training rows: "
            "below 0 if one is wrong. Seconds are those of a fold, microseconds those of a row.</p>",
        ],
    )


def _page(title: str, parts: list[str]) -> str:
    return (
        "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{escape(title)}</title><style>{_STYLE}</style>\n<main>\n" + "\n".join(parts) + "\n</main></html>\n"
    )


# The colors are those of the pictures and of the playground; none of them means a class.
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2230; background: #fff; margin: 0 }
main { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem } h3 { font-size: 1rem; margin: .5rem 0 }
.verdict { font-size: 1.1rem; border-left: 4px solid #1a6b3c; padding: .3rem 1rem; background: #f2f7f4 }
.footnote { font-size: .85rem; color: #555; margin-top: 2rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem }
td, th { padding: .2rem .6rem; text-align: right; border: 1px solid #e3e6e8 }
th { font-weight: 600; background: #f6f7f8 } th[scope=row], td.name { text-align: left }
.scroll { overflow-x: auto } .columns { display: flex; flex-wrap: wrap; gap: 1.5rem }
svg text { font: 12px system-ui, sans-serif; fill: #1c2230 }
"""


def _model_html(model: Model) -> str:
    encoder = "" if model.encoder is None else escape(model.encoder.describe())
    return f"<p>{escape(model.learner)}, {len(model.classes)} classes, {model.features:,} features. {encoder}</p>"


def _reliability_html(found: Reliability, brier: float | None) -> str:
    """The reliability diagram: on the diagonal, answers are right as often as they are sure."""
    size, edge = 320, 60

    def at(x: float, y: float) -> tuple[float, float]:
        return edge + x * size, size * (1.0 - y) + 10

    most = max(float(found.count.max()), 1e-300)
    (left, bottom), (right, top) = at(0.0, 0.0), at(1.0, 1.0)
    marks = []
    for n, confidence, accuracy in zip(found.count, found.confidence, found.accuracy, strict=True):
        x, y = at(float(confidence), float(accuracy))
        words = f"{n:,.10g} rows, {confidence:.1%} sure, {accuracy:.1%} right"
        marks.append(
            f"<line x1='{x:.1f}' y1='{y:.1f}' x2='{x:.1f}' y2='{at(0.0, float(confidence))[1]:.1f}' stroke='#a61b2b'/>"
            f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{3 + 7 * math.sqrt(n / most):.1f}' fill='#545d6c'>"
            f"<title>{words}</title></circle>"
        )
    ticks = "".join(
        f"<text x='{at(t, 0)[0]:.0f}' y='{bottom + 18:.0f}' text-anchor='middle'>{t:.0%}</text>"
        f"<text x='{left - 6:.0f}' y='{at(0, t)[1] + 4:.0f}' text-anchor='end'>{t:.0%}</text>"
        for t in (0.0, 0.5, 1.0)
    )
    return (
        f"<p>Expected calibration error {found.ece:.4f}, Brier score {brier:.4f}. A circle is a tenth of the "
        "confidence, larger with more rows; on the diagonal, answers are right as often as they are sure.</p>"
        f"<svg viewBox='0 0 {size + edge + 30} {size + 55}' width='{size + edge + 30}' role='img' "
        "aria-label='reliability diagram'>"
        f"<rect x='{left}' y='{top}' width='{size}' height='{size}' fill='none' stroke='#c8cdd2'/>"
        f"<line x1='{left}' y1='{bottom}' x2='{right}' y2='{top}' stroke='#c8cdd2' stroke-dasharray='4 4'/>"
        f"{''.join(marks)}{ticks}<text x='{(left + right) / 2:.0f}' y='{bottom + 38:.0f}' text-anchor='middle'>how sure"
        f"</text><text x='12' y='{(top + bottom) / 2:.0f}' text-anchor='middle' transform='rotate(-90 12 "
        f"{(top + bottom) / 2:.0f})'>how often right</text></svg>"
    )


def _confusion_html(result: Evaluation) -> str:
    labels = [escape(str(label)) for label in result.classes.tolist()]
    if len(labels) > _MAX_SHOWN or result.confusion is None:
        return f"<p>{len(labels)} classes are too many to draw; the figures by class are below.</p>"
    head = "".join(f"<th scope=col>{label}</th>" for label in labels)
    rows = []
    for k, (label, row) in enumerate(zip(labels, result.confusion.tolist(), strict=True)):
        total = max(sum(row), 1)
        cells = []
        for j, n in enumerate(row):
            color = "26,107,60" if j == k else "166,27,43"
            cells.append(f"<td style='background:rgba({color},{0.6 * n / total:.3f})'>{n:,.10g}</td>")
        rows.append(f"<tr><th scope=row>{label}</th>{''.join(cells)}</tr>")
    return f"<div class=scroll><table><tr><th>true \\ predicted</th>{head}</tr>{''.join(rows)}</table></div>"


def _classes_html(result: Evaluation) -> str:
    rows = "".join(
        f"<tr><th scope=row>{escape(str(label))}</th>"
        f"<td>{n:,.10g}</td><td>{p:.2%}</td><td>{r:.2%}</td><td>{f:.2%}</td></tr>"
        for label, n, p, r, f in result.by_class()[:1000]
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
        f"height='{(height - 20) * m / most:.1f}' fill='#a61b2b'><title>epoch {k + 1}: {m:,}</title></rect>"
        + (
            f"<text x='{(k + 0.5) * step:.1f}' y='{15 + (height - 20) * (1 - m / most):.1f}' "
            f"text-anchor='middle'>{m:,}</text>"
            if len(mistakes) <= 15
            else ""
        )
        for k, m in enumerate(mistakes)
    )
    return (
        f"<svg viewBox='0 0 {width} {height + 20}' width='100%' role='img' aria-label='mistakes per epoch'>{bars}"
        f"<text x='0' y='{height + 16}'>epoch 1</text><text x='{width}' y='{height + 16}' text-anchor='end'>epoch "
        f"{len(mistakes)}</text></svg><p>Stopped by {escape(str(history.get('stop_reason')))}.</p>"
    )


def _features_html(model: Model) -> str:
    try:
        tops = model.top_features(10)
    except ModelError as error:
        return f"<p>{escape(str(error))}.</p>"
    tables = []
    for label, features in list(tops.items())[:_MAX_SHOWN]:
        rows = "".join(f"<tr><td class=name>{escape(name)}</td><td>{weight:.4g}</td></tr>" for name, weight in features)
        tables.append(f"<div><h3>{escape(label)}</h3><table>{rows}</table></div>")
    return f"<div class=columns>{''.join(tables)}</div>"
