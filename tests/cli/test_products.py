"""A model of products, from a file to answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import run, train

import rosenblatt
from rosenblatt.cli.main import main
from rosenblatt.models.predictors import Quadratic
from rosenblatt.select import search
from rosenblatt.training import checkpoint
from rosenblatt.training import select as choice


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """A ring and what is inside it; a third column of names, and a missing value here and there."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 2))
    y = np.where(np.sum(X**2, axis=1) + 0.1 * rng.normal(size=700) > 1.4, "out", "in")
    path = tmp_path / "ring.csv"
    lines = [f"{a!r},{b!r},{'ab'[i % 2]},{label}" for i, ((a, b), label) in enumerate(zip(X.tolist(), y, strict=True))]
    lines[5] = f",0.5,a,{y[5]}"
    path.write_text("\n".join(["length,width,kind,where", *lines]))
    return path


def test_a_ring_from_a_file(ring: Path, tmp_path: Path) -> None:
    words = (ring, "--label", "where", "-o", tmp_path / "m", "--report", tmp_path / "r.html")
    facts = train(*words)
    assert "columns standardized, and their products" in facts["choice"]
    assert any(name.endswith(", products") for name in facts["tried"])
    result = json.loads(run("evaluate", tmp_path / "m", ring, "--json").stdout)
    assert result["errors"] / result["rows"] < 0.06
    labels = run("predict", tmp_path / "m", ring).stdout.split()
    expected = [line.split(",")[-1] for line in ring.read_text().split()[1:]]
    assert sum(a != b for a, b in zip(labels, expected, strict=True)) == result["errors"]
    shown = run("inspect", tmp_path / "m").stdout
    assert "length²" in shown
    assert "columns and products with a weight" in shown
    assert facts["choice"] in shown
    assert "width²" in (tmp_path / "r.html").read_text()
    run("export", tmp_path / "m", "--to", "json", "-o", tmp_path / "json")
    assert "length·width" in (tmp_path / "json").read_text()
    train(*words, "--no-products")
    assert rosenblatt.load(tmp_path / "m").linear().weights.shape[0] == 1


def test_no_products_is_for_auto(ring: Path, tmp_path: Path) -> None:
    words = ("train", ring, "--label", "where", "-o", tmp_path / "m", "--learner", "arow", "--no-products")
    said = run(*words, check=2).stderr
    assert said == "rosenblatt: --no-products needs --learner auto: arow never multiplies columns\n"


def test_the_file_becomes_what_auto_perceptron_makes_of_its_rows(
    ring: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rosenblatt.models.predictors.TERMS_AT_ONCE", 1000)  # several parts a group
    facts = train(ring, "--label", "where", "-o", tmp_path / "m", "--seed", 3)
    data = rosenblatt.read(ring, label="where")
    used = np.flatnonzero(np.diff(data.X.tocsc().indptr))
    auto = rosenblatt.AutoPerceptron(random_state=3).fit(data.X[:, used], data.y)
    model = rosenblatt.load(tmp_path / "m")
    assert facts["choice"] == auto.choice_
    assert facts["tried"] == auto.scores_
    part = model.parts[0]
    assert isinstance(part, Quadratic)
    np.testing.assert_array_equal(part.products.columns, used)
    np.testing.assert_array_equal(part.linear.weights, auto.best_.coef_)
    np.testing.assert_array_equal(
        model.decision_function(data.matrix(model.features)), auto.decision_function(data.X[:, used])
    )


def test_the_same_bytes_by_any_number_of_jobs(ring: Path, tmp_path: Path) -> None:
    train(ring, "--label", "where", "-o", tmp_path / "m")
    train(ring, "--label", "where", "-o", tmp_path / "n", "--jobs", 1)
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()


def test_many_rows_are_decided_by_some_and_learned_from_all(
    ring: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "SAMPLE_BYTES", 20_000)
    monkeypatch.setattr(search, "MOST_VALUES", 1200)
    facts = train(ring, "--label", "where", "-o", tmp_path / "m", "--block", 64)
    assert "and their products" in facts["choice"]
    assert "-th row)" in facts["choice"]
    assert facts["rows"] == 700
    assert facts["mistakes"][-1] < 70


@pytest.mark.slow
@pytest.mark.parametrize("stop_after", [1, 3, 8])
def test_a_run_over_products_is_resumed_with_the_same_bytes(
    ring: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_after: int
) -> None:
    words = (ring, "--label", "where", "-o", tmp_path / "m", "--block", 64)
    facts = train(*words)
    expected = (tmp_path / "m").read_bytes()
    (tmp_path / "m").unlink()
    save, calls = checkpoint.save_checkpoint, []

    def save_and_stop(*given: Any) -> None:
        save(*given)
        calls.append(1)
        if len(calls) > stop_after:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "save_checkpoint", save_and_stop)
        assert (
            main(
                ["train", *map(str, words), "--checkpoint", str(tmp_path / "c"), "--checkpoint-every", "0s", "--quiet"]
            )
            == 130
        )
    assert not (tmp_path / "m").exists()
    again = train("--resume", tmp_path / "c", "-o", tmp_path / "m")
    assert again["mistakes"] == facts["mistakes"]
    assert (tmp_path / "m").read_bytes() == expected
