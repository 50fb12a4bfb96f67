"""Pictures: every function returns a figure that shows the numbers it was given."""

import json
import re
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from rejected import rejected

from rosenblatt import Perceptron, plot
from rosenblatt.theory import ledger, margin, trace

SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]
AND = ["no", "no", "no", "yes"]


def test_the_boundary_is_where_the_score_is_zero():
    figure = plot.boundary(SQUARE, AND, [[3.0, 2.0]], [-4.0])  # as `coef_` and `intercept_` are
    assert isinstance(figure, Figure)
    (ax,) = figure.axes
    x, y = ax.lines[0].get_data()
    np.testing.assert_allclose(3 * np.array(x) + 2 * np.array(y), 4)
    (band,) = (patch for patch in ax.patches if "margin" in str(patch.get_label()))
    corners = band.get_xy()
    distance = np.abs(corners @ [3, 2] - 4) / np.sqrt(13)
    np.testing.assert_allclose(distance, margin(SQUARE, AND, [3.0, 2.0], -4.0))


def test_the_band_is_drawn_only_if_the_weights_separate_and_wrong_rows_are_hollow():
    (ax,) = plot.boundary(SQUARE, AND, [1.0, 1.0], 0.0).axes
    rings = [c for c in ax.collections if c.get_label() == "wrong, or on the line"]
    assert sorted(map(tuple, rings[0].get_offsets().tolist())) == [(0, 0), (0, 1), (1, 0)]
    assert {tuple(color[:3]) for color in rings[0].get_facecolors()} == {(1, 1, 1)}
    assert not any("margin" in str(patch.get_label()) for patch in ax.patches)


def test_mistakes_an_epoch_from_a_history_a_trace_or_counts():
    told = trace(SQUARE, AND)
    learner = Perceptron(shuffle=False, tol=None).fit(SQUARE, AND)
    for run in (told, learner.history_, told.mistakes):
        (ax,) = plot.mistakes(run).axes
        assert [bar.get_height() for bar in ax.patches] == told.mistakes
    (ax,) = plot.mistakes([3] * 100).axes
    assert len(ax.patches) == 0


def test_the_ledger_s_four_curves_are_in_order():
    book = ledger(SQUARE, AND)
    left, right = plot.ledger(book).axes
    most, length, progress, least = (np.array(line.get_data()) for line in left.lines)
    k = length[0]
    assert (np.interp(k, *most) >= length[1] - 1e-2).all()
    assert (length[1] >= progress[1] - 1e-9).all()
    assert (progress[1] >= np.interp(k, *least) - 1e-9).all()
    # The outer curves end where they cross: at the bound.
    assert most[0, -1] == least[0, -1] == book.bound
    assert most[1, -1] == pytest.approx(least[1, -1])
    assert len(right.lines) == 3


def test_the_page_holds_the_trace_and_needs_nothing_else(tmp_path):
    labels = ["</script><b>no", "no", "no", "yes"]
    told = trace(SQUARE, ["</script><b>" if label != "yes" else label for label in labels])
    plot.animate(told, tmp_path / "and.html")
    page = (tmp_path / "and.html").read_text(encoding="utf-8")
    assert "{{DATA}}" not in page
    assert not re.search(r"(src|href)=", page)
    assert page.count("</script>") == 1
    data = json.loads(re.search(r"const data = (.*);\n", page)[1].replace("<\\/", "</"))
    assert [step["after"] for step in data["steps"]] == [step.after[0] for step in told.steps]
    assert data["names"] == told.classes


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with rejected("missing-extra", "'rosenblatt[plot]'"):
        plot.mistakes([1, 0])


def test_what_cannot_be_drawn_is_said():
    with rejected("data", "two features"):
        plot.boundary([[1.0], [2.0]], [0, 1], [1.0])
    with rejected("data", "3 weights"):
        plot.boundary(SQUARE, AND, [1.0, 2.0, 3.0])
    with rejected("data", "2 numbers"):
        plot.boundary(SQUARE, AND, [1.0, 2.0], [1.0, 2.0])
    with rejected("label", "3 classes"):
        plot.animate(trace(SQUARE, [0, 1, 2, 2]))
    with rejected("data", "4 rows", "2"):
        plot.boundary(SQUARE, [0, 1], [1.0, 1.0])
