"""Pictures: every function returns a figure that shows the numbers it was given."""

from __future__ import annotations

import gzip
import inspect
import json
import re
import sys
import warnings
from importlib import resources

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import plot, report
from rosenblatt.errors import DataError, LabelError, MissingExtraError, ParameterError
from rosenblatt.learners import Perceptron
from rosenblatt.plot.figure import INK, MISTAKE, NEGATIVE, POSITIVE, PROOF
from rosenblatt.theory import ledger, margin, trace

SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]
AND = ["no", "no", "no", "yes"]


def test_the_boundary_is_where_the_score_is_zero():
    figure = plot.boundary(SQUARE, AND, [3.0, 2.0], -4.0)
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


def test_classes_have_the_colors_and_shapes_of_the_playground():
    (ax,) = plot.boundary(SQUARE, AND, [3.0, 2.0], -4.0).axes
    negative, positive = ax.collections[:2]
    css = resources.files("rosenblatt.playground").joinpath("page.css").read_text()
    for code, marks in enumerate((negative, positive)):
        assert f"--c{code}: light-dark({to_hex(marks.get_facecolor()[0])}," in css
    # A square has four corners; the circle is the one with curves.
    assert [len(marks.get_paths()[0].vertices) <= 5 for marks in (negative, positive)] == [True, False]
    for name, color in (("ink", INK), ("bad", MISTAKE), ("proof", PROOF)):
        assert f"--{name}: light-dark({color}," in css


def test_reports_have_the_same_ink_and_the_same_red_for_mistakes_and_no_color_of_a_class():
    source = inspect.getsource(report)
    assert {INK, MISTAKE} <= set(re.findall("#[0-9a-f]{6}", source))
    assert not {NEGATIVE, POSITIVE} & set(re.findall("#[0-9a-f]{6}", source))


def test_features_of_different_units_are_not_flattened():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2)) * [1.0, 5000.0] + [0, 20_000]
    w, b = np.array([1.0, 1 / 5000]), -4.0
    (ax,) = plot.boundary(X, X @ w + b > 0, w, b).axes
    for shown, values in zip((ax.get_xlim(), ax.get_ylim()), X.T, strict=True):
        assert np.ptp(values) > 0.6 * (shown[1] - shown[0]), "the rows fill the picture both ways"
    assert ax.get_aspect() == "auto"
    x, y = (np.array(v) for v in ax.lines[0].get_data())
    np.testing.assert_allclose(x + y / 5000, 4, atol=1e-6)
    # Alike units keep one scale for both.
    (ax,) = plot.boundary(X / [1, 5000], X @ w + b > 0, w * [1, 5000], b).axes
    assert ax.get_aspect() == 1


def test_the_ledger_of_real_rows_has_no_empty_panel(real_data):
    with gzip.open(real_data / "uci_sonar" / "sonar.csv.gz", "rt") as file:
        lines = [line.split(",") for line in file.read().split()]
    X, y = np.array([line[:-1] for line in lines], dtype=float), [line[-1] for line in lines]
    # The best margin is tiny: two hundred epochs come nowhere near it.
    learner = Perceptron(shuffle=False, tol=None, max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        book = ledger(X, y, learner)
    assert book.lines[-1].bracket.upper > 6 * book.gamma
    for ax in plot.ledger(book).axes:
        low, high = ax.get_ylim()
        for line in ax.lines[:2]:
            values = np.array(line.get_ydata())
            assert ((values >= low) & (values <= high)).mean() > 0.4, line.get_label()


def test_zero_weights_have_no_line():
    (ax,) = plot.boundary(SQUARE, AND, [0.0, 0.0], 1.0).axes
    assert len(ax.lines) == 0


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


def test_learning_curves_show_the_four_keeps_of_one_run():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = X @ [1, -1, 2, 0] + rng.normal(size=80) > 0
    left, right = plot.learning_curves(X[:50], y[:50], X[50:], y[50:], epochs=6, random_state=3).axes
    assert [line.get_label() for line in right.lines] == ["last", "average", "vote", "pocket"]
    with pytest.warns(UserWarning, match="max_iter"):
        learner = Perceptron(max_iter=6, tol=None, random_state=3).fit(X[:50], y[:50])
    assert left.lines[0].get_ydata()[-1] == pytest.approx(100 * (1 - learner.score(X[:50], y[:50])))
    assert right.lines[0].get_ydata()[-1] == pytest.approx(100 * (1 - learner.score(X[50:], y[50:])))


def test_an_animation_has_a_frame_a_step(tmp_path):
    told = trace(SQUARE, AND, Perceptron(shuffle=False, tol=None, max_iter=2))
    figure = plot.animate(told, tmp_path / "and.gif")
    assert isinstance(figure, Figure)
    with Image.open(tmp_path / "and.gif") as film:
        assert film.n_frames == len(told)
    plot.animate(told, tmp_path / "updates.gif", only_updates=True)
    with Image.open(tmp_path / "updates.gif") as film:
        assert film.n_frames == sum(told.mistakes)


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
    with pytest.raises(MissingExtraError, match=r"pip install 'rosenblatt\[plot\]'"):
        plot.mistakes([1, 0])


def test_what_cannot_be_drawn_is_said(tmp_path):
    with pytest.raises(DataError, match="two features"):
        plot.boundary([[1.0], [2.0]], [0, 1], [1.0])
    with pytest.raises(DataError, match="w has 3 weights"):
        plot.boundary(SQUARE, AND, [1.0, 2.0, 3.0])
    with pytest.raises(LabelError, match="3 classes"):
        plot.animate(trace(SQUARE, [0, 1, 2, 2]))
    with pytest.raises(DataError, match="4 rows and y has 2"):
        plot.boundary(SQUARE, [0, 1], [1.0, 1.0])
    with pytest.raises(ParameterError, match=r"must end in \.gif or \.html"):
        plot.animate(trace(SQUARE, AND), tmp_path / "and.avi")
