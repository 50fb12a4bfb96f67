"""What `train` can be told beside the learner: weights, held-out rows, folds, a model to go on from."""

from __future__ import annotations

import json
import random
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from command import run, train
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import AveragedPerceptron
from rosenblatt.io import read
from rosenblatt.models import load


def weights_of(path: Path) -> dict[str, object]:
    tensors: dict[str, object] = {}
    load(path).parts[0].to_tensors("", tensors)
    return tensors


def assert_same_weights(one: Path, other: Path) -> None:
    found, expected = weights_of(one), weights_of(other)
    assert found.keys() == expected.keys()
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two numbers, a weight and a label that they tell up to some noise."""
    draw = random.Random(1)
    lines = ["a,b,w,y"]
    for _ in range(300):
        a, b = draw.gauss(0, 1), draw.gauss(0, 1)
        y = "pos" if a + b + draw.gauss(0, 0.7) > 0.6 else "neg"
        lines.append(f"{a:.4f},{b:.4f},{draw.choice([0, 1, 2.5])},{y}")
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def streams(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A, B, and both one after the other."""
    draw = random.Random(3)

    def line() -> str:
        label = draw.randrange(3)
        columns = sorted(draw.sample(range(1, 30), 6))
        return f"{label} " + " ".join(f"{j}:{draw.random() + (j % 3 == label):.3f}" for j in columns) + "\n"

    first, second = [line() for _ in range(200)], [line() for _ in range(100)]
    paths = tmp_path / "A.svm", tmp_path / "B.svm", tmp_path / "AB.svm"
    for path, lines in zip(paths, (first, second, first + second), strict=True):
        path.write_text("".join(lines))
    return paths


def test_a_column_of_weights(table: Path, tmp_path: Path) -> None:
    facts = train(table, "-o", tmp_path / "m", "--weight", "w", "--learner", "averaged")
    there = [line for line in table.read_text().splitlines() if ",0," not in line]
    assert facts["rows"] == len(there) - 1
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("\n".join(there) + "\n")
    train(fewer, "-o", tmp_path / "fewer", "--weight", "w", "--learner", "averaged")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "fewer").read_bytes()
    rows = read(table, weight="w")
    learner = AveragedPerceptron(max_iter=10)
    with pytest.warns(ConvergenceWarning):
        learner.fit(rows.X, rows.y, sample_weight=rows.sample_weight)
    np.testing.assert_array_equal(load(tmp_path / "m").linear().weights[:, :2], learner.coef_)
    figures = json.loads(run("evaluate", tmp_path / "m", table, "--json").stdout)
    assert figures["weight"] == rows.sample_weight.sum()


@pytest.mark.parametrize(
    ("weight", "sentence"), [("-1", "is -1: it must be 0 or more"), ("x", "is not a number: it must be 0 or more")]
)
def test_a_bad_weight_is_said_with_its_line(tmp_path: Path, weight: str, sentence: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(f"a,w,y\n1,1,p\n2,{weight},q\n3,1,p\n")
    done = run("train", path, "-o", tmp_path / "m", "--weight", "w", check=1)
    assert f"line 3: the weight 'w' {sentence}" in done.stderr


def test_class_weights_of_the_chosen_learner(table: Path, tmp_path: Path) -> None:
    facts = train(table, "-o", tmp_path / "m", "--class-weight", "pos=50", "--drop", "w")
    assert facts["choice"]
    assert facts["parameters"]["class_weight"] == {"neg": 1.0, "pos": 50.0}
    train(table, "-o", tmp_path / "plain", "--drop", "w")
    counts = [run("predict", tmp_path / name, table).stdout.split().count("pos") for name in ("m", "plain")]
    assert counts[0] > counts[1] + 20


@pytest.mark.parametrize("weight", ["balanced", "pos=3"])
def test_class_weights_are_those_of_the_class(table: Path, tmp_path: Path, weight: str) -> None:
    rows = read(table, drop=["w"])
    told = weight if weight == "balanced" else {"pos": 3.0}
    learner = AveragedPerceptron(max_iter=10, class_weight=told)
    train(table, "-o", tmp_path / "m", "--class-weight", weight, "--drop", "w", "--learner", "averaged")
    learner.fit(rows.X, rows.y)
    np.testing.assert_array_equal(load(tmp_path / "m").linear().weights[:, :2], learner.coef_)


def test_rows_of_their_own_give_the_accuracy_and_the_probabilities(table: Path, tmp_path: Path) -> None:
    lines = table.read_text().splitlines(keepends=True)
    valid = tmp_path / "valid.csv"
    valid.write_text("".join([lines[0], *lines[201:]]))
    table.write_text("".join(lines[:201]))
    options = ("--learner", "arow", "--drop", "w")
    facts = train(table, "-o", tmp_path / "m", "--validation", valid, *options)
    figures = json.loads(run("evaluate", tmp_path / "m", valid, "--json").stdout)
    assert facts["held_out"]["accuracy"] == figures["accuracy"]
    assert "brier" in figures
    train(table, "-o", tmp_path / "plain", *options)
    assert_same_weights(tmp_path / "m", tmp_path / "plain")
    assert "--validation FILE" in run("predict", tmp_path / "plain", valid, "--probabilities", check=1).stderr


@pytest.mark.parametrize(
    "options", ["--learner averaged", "--learner kernel", "--learner arow --class-weight balanced"]
)
def test_folds_give_the_accuracy_and_the_probabilities(table: Path, tmp_path: Path, options: str) -> None:
    facts = train(table, "-o", tmp_path / "m", "--folds", 4, "--drop", "w", *options.split())
    held = facts["held_out"]
    assert held["rows"] == "300 rows, each judged by what was learned from the other 3 of 4 folds"
    assert 0.7 < held["accuracy"] < held["interval"][1] < 1
    answers = [line.split() for line in run("predict", tmp_path / "m", table, "--probabilities").stdout.splitlines()]
    assert all(abs(float(p) + float(q) - 1) < 1e-12 for _, p, q in answers)


def test_the_chosen_learner_has_probabilities(table: Path, tmp_path: Path) -> None:
    train(table, "-o", tmp_path / "m", "--drop", "w", "--seed", 3)
    figures = json.loads(run("evaluate", tmp_path / "m", table, "--json").stdout)
    assert figures["ece"] < 0.1


@pytest.mark.parametrize("options", ["", "--folds 3", "--class-weight pos=2"])
def test_the_command_to_paste_learns_the_same(table: Path, tmp_path: Path, options: str) -> None:
    done = run("train", table, "-o", tmp_path / "m", "--drop", "w", "--no-products", *options.split())
    (said,) = re.findall("the same weights again: (.*)", done.stderr)
    words = shlex.split(said)
    assert words[:2] == ["rosenblatt", "train"]
    assert "--learner" in words
    words[words.index("-o") + 1] = str(tmp_path / "again")
    run(*words[1:])
    assert_same_weights(tmp_path / "m", tmp_path / "again")


@pytest.mark.parametrize(
    "options",
    ["averaged", "perceptron", "pa1", "arow", "voted", "averaged --penalty l2", "averaged --class-weight 1=2"],
)
def test_going_on_is_one_stream(streams: tuple[Path, Path, Path], tmp_path: Path, options: str) -> None:
    first, second, both = streams
    told = ("--max-iter", 1, "--no-shuffle", "--learner", *options.split())
    train(first, "-o", tmp_path / "m1", *told)
    facts = train(second, "-o", tmp_path / "m2", "--from", tmp_path / "m1")
    assert facts["rows"] == 100
    whole = train(both, "-o", tmp_path / "whole", *told)
    assert_same_weights(tmp_path / "m2", tmp_path / "whole")
    assert facts["mistakes"][0] < whole["mistakes"][0]


def test_going_on_with_columns_labels_and_features_that_are_new(table: Path, tmp_path: Path) -> None:
    train(table, "-o", tmp_path / "m", "--drop", "w")
    new = tmp_path / "new.csv"
    new.write_text("a,b,y\n" + "1,1,pos\n-1,-1,neg\n9,9,far\n" * 3)
    facts = train(new, "-o", tmp_path / "m2", "--from", tmp_path / "m")
    assert facts["classes"] == ["far", "neg", "pos"]
    scores = json.loads(run("predict", tmp_path / "m2", new, "--json").stdout.splitlines()[2])["scores"]
    assert scores["far"] > scores["neg"]


def test_what_cannot_go_on_says_so(streams: tuple[Path, Path, Path], table: Path, tmp_path: Path) -> None:
    first, second, _ = streams
    train(first, "-o", tmp_path / "kernel", "--learner", "kernel")
    train(first, "-o", tmp_path / "m", "--learner", "averaged")
    for words, sentence in (
        ((second, "--from", tmp_path / "kernel"), "only a linear model whose classes are learned together"),
        ((second, "--from", tmp_path / "m", "--learner", "arow"), "--learner cannot be combined with --from"),
        ((table, "--from", tmp_path / "m"), "bad value"),
    ):
        done = run("train", *words, "-o", tmp_path / "other", check=2 if "--learner" in words else 1)
        assert sentence in done.stderr or "line 1" in done.stderr
        assert not (tmp_path / "other").exists()


def test_resume_learns_as_many_epochs_as_it_is_told(streams: tuple[Path, Path, Path], tmp_path: Path) -> None:
    told = (streams[2], "--learner", "averaged", "--max-iter")
    train(*told, 2, "-o", tmp_path / "m", "--checkpoint", tmp_path / "c")
    assert train("--resume", tmp_path / "c", "--max-iter", 4, "-o", tmp_path / "m4")["epochs"] == 4
    train(*told, 4, "-o", tmp_path / "whole")
    assert (tmp_path / "m4").read_bytes() == (tmp_path / "whole").read_bytes()
    done = run("train", "--resume", tmp_path / "c", "--max-iter", 3, "-o", tmp_path / "m3", check=2)
    assert "max_iter=3: 4 epochs have been learned already" in done.stderr
    done = run("train", "--resume", tmp_path / "c", "--eta0", 3, "-o", tmp_path / "m3", check=2)
    assert "--eta0 cannot be combined with --resume" in done.stderr


def test_the_verdict_of_a_kernel_names_no_hyperplane(tmp_path: Path) -> None:
    path = tmp_path / "xor.csv"
    path.write_text("x,y,c\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n")
    said = run("train", path, "-o", tmp_path / "m", "--learner", "kernel").stderr
    assert "so a curve of the rbf kernel over 4 support rows (not a hyperplane) separates" in said
    assert "label: c" in said


def test_a_report_begins_with_rows_that_were_not_learned(table: Path, tmp_path: Path) -> None:
    run("train", table, "-o", tmp_path / "m", "--report", tmp_path / "r.html", "--drop", "w")
    first, second, *_ = re.findall("<p class=verdict>(.*?)</p>", (tmp_path / "r.html").read_text())
    assert "held-out rows right, by which the learner was chosen (95 % interval" in first
    assert "rows right in the first pass, each predicted before it was learned (95 % interval" in second
    (footnote,) = re.findall("<p class=footnote>(.*?)</p>", (tmp_path / "r.html").read_text())
    assert footnote.startswith("On the training rows")


def test_labels_that_svmlight_does_not_know_are_said_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "words.svm"
    path.write_text("a 1:1\nb 2:1\n")
    assert "words.svm, line 1:" in run("train", path, "-o", tmp_path / "m", check=1).stderr


def test_tune_ends_with_the_command_that_learns_the_best(table: Path, tmp_path: Path) -> None:
    done = run("tune", table, "-o", tmp_path / "m", "--folds", 3, "--drop", "w", "--seed", 1)
    words = shlex.split(done.stdout.splitlines()[-1])
    assert words[:2] == ["rosenblatt", "train"]
    words[words.index("-o") + 1] = str(tmp_path / "again")
    run(*words[1:])
    assert_same_weights(tmp_path / "m", tmp_path / "again")
    told = json.loads(run("tune", table, "--folds", 3, "--drop", "w", "--json").stdout)
    accuracies = [each["accuracy"] for each in told["tried"]]
    assert len(accuracies) == 18
    assert accuracies == sorted(accuracies, reverse=True)
    assert "-o MODEL" in told["command"]
