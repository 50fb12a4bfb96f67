"""Comparison and tuning: the same folds for all, figures that can be recomputed, and the verbs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from rosenblatt import AROW, AveragedPerceptron, Perceptron, compare, cross_validate, tune
from rosenblatt.cli.main import main
from rosenblatt.errors import DataError
from rosenblatt.select.comparison import baselines, family
from rosenblatt.select.tuning import to_source


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    X, y = load_iris(return_X_y=True)
    lines = [",".join([*map(str, row), f"kind{label}"]) for row, label in zip(X, y, strict=True)]
    path = tmp_path / "flowers.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_figures_are_those_of_cross_validation() -> None:
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = compare(X, y, classifiers={"AROW": AROW(), "mean": AveragedPerceptron()}, folds=4)
    by_hand = {
        "AROW": cross_validate(X, y, AROW(), folds=4),
        "mean": cross_validate(X, y, AveragedPerceptron(), folds=4),
    }
    for each in found.measured:
        assert each.accuracy == pytest.approx(by_hand[each.name].mean)
        assert each.standard_error == pytest.approx(by_hand[each.name].standard_error)
        assert each.parameters == 15
    assert found.measured[0].accuracy >= found.measured[1].accuracy


def test_the_margin_by_hand() -> None:
    """Two rows a class on a line, weights of the perceptron: w = 1 and b = 0 leave a margin of 1."""
    X, y = np.array([[-1.0], [1.0], [-3.0], [3.0]]), np.array([0, 1, 0, 1])
    found = compare(X, y, classifiers={"p": Perceptron(fit_intercept=False)}, folds=2).measured[0]
    assert found.accuracy == 1.0
    assert found.margin == pytest.approx(np.mean([1.0, 3.0]))


def test_what_each_offers() -> None:
    X, y = load_iris(return_X_y=True)
    found = compare(X, y, classifiers={"ours": AROW(), "theirs": LogisticRegression(max_iter=1000)}, folds=2)
    offers = {each.name: (each.probabilities, each.online, each.kernels) for each in found.measured}
    assert offers == {"ours": (False, True, False), "theirs": (True, False, False)}


def test_a_kernel_takes_part_where_there_are_few_rows() -> None:
    X, y = load_iris(return_X_y=True)
    name = "KernelPerceptron rbf"
    assert name in family(5_000)
    assert name not in family(5_001)
    found = compare(X, y, classifiers={name: family()[name]}, folds=3).measured[0]
    assert (found.kernels, found.online, found.margin) == (True, True, None)
    assert found.parameters is not None
    assert (found.parameters - 3) % (4 + 3) == 0  # support rows of 4 features, 3 coefficients each, 3 intercepts


def test_the_verb_compare_knows_the_family_and_the_baselines(
    flowers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(flowers), "--folds", "2", "--json", "--html", str(tmp_path / "page.html")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {each["name"] for each in told["measured"]} == {*family(), *baselines()}
    assert (told["rows"], told["features"], told["classes"]) == (150, 4, 3)
    page = (tmp_path / "page.html").read_text()
    assert all(f"<th scope=row>{name}</th>" in page for name in (*family(), *baselines()))


def test_the_verb_tune_names_what_to_take(flowers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(flowers), "--folds", "3"]) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[-1].startswith(f"rosenblatt train {flowers} -o MODEL --learner ")
    assert "±" in told


def test_compare_and_tune_read_what_train_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, rows, table = tmp_path / "text", tmp_path / "rows.svm", tmp_path / "table.csv"
    text.write_text("spam\twin a prize\nham\tlunch at noon\nspam\twin win\nham\tsee you\n" * 10)
    rows.write_text("1 1:1 7:0.5\n-1 3:1\n" * 20)
    table.write_text("size,color,kind\n" + "1,red,a\n9,blue,b\n,red,a\n" * 10)
    for path, features in ((text, 14), (rows, 3), (table, 4)):
        assert main(["compare", str(path), "--folds", "2", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["features"] == features  # of columns that are ever used
        assert max(each["accuracy"] for each in told["measured"]) == 1.0
        assert main(["tune", str(path), "--folds", "2", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["tried"][0]["accuracy"] == 1.0
    assert main(["tune", str(table), "--label", "color", "--drop", "kind", "--folds", "2"]) == 0
    assert "label: color; numbers, standardized: size" in capsys.readouterr().err
    (tmp_path / "x.vw").write_text("1 2.0 |f a\n-1 |f b\n" * 10)
    assert main(["tune", str(tmp_path / "x.vw"), "--folds", "2"]) == 0
    assert "left aside" not in capsys.readouterr().err  # weights count, here too


def test_the_best_is_the_highest_and_can_be_written_down() -> None:
    X, y = load_iris(return_X_y=True)
    found = tune(X, y, folds=3)
    means = [result.mean for _, result in found.tried]
    assert means == sorted(means, reverse=True)
    assert to_source(AROW(r=0.5, max_iter=3)) == "AROW(max_iter=3, r=0.5)"
    assert type(found.best)(**found.best.get_params()).get_params() == found.best.get_params()


def test_lengths_that_differ_are_named() -> None:
    with pytest.raises(DataError, match="X has 2 rows, y has 3 labels"):
        compare([[1.0], [2.0]], [0, 1, 0])


def test_a_class_that_a_part_lacks() -> None:
    X, y = np.arange(24.0).reshape(12, 2), np.array(["a"] * 5 + ["b"] * 6 + ["c"])
    found = compare(X, y, classifiers={"averaged": AveragedPerceptron()}, folds=3)
    assert found.measured[0].margin is not None
    with pytest.raises(DataError, match="the label 'c' has too few rows: some of them must be learned from"):
        compare(X[5:], y[5:], classifiers={"averaged": AveragedPerceptron()}, folds=3)
