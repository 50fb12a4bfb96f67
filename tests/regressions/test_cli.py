"""Defects of the command that use has found, each as it was met."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command import run, train

import rosenblatt
from rosenblatt.cli.manual import options_of, verb_contexts
from rosenblatt.cli.options import InputFile, OutputFile


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    rows = [f"{k % 7},{k * k % 11},{'yes' if k % 7 + k * k % 11 > 9 else 'no'}" for k in range(120)]
    path.write_text("a,b,y\n" + "\n".join(rows) + "\n")
    return path


def test_two_labels_are_an_error(table: Path, tmp_path: Path) -> None:
    said = run("train", table, "--label", "a", "--label", "b", "-o", tmp_path / "m", check=2).stderr
    assert "a, b" in said


OUTPUTS = [
    (verb, each.opts[0])
    for verb, ctx in verb_contexts().items()
    for each in options_of(ctx.command)
    if isinstance(each.type, OutputFile) and any(isinstance(param.type, InputFile) for param in ctx.command.params)
]


@pytest.mark.parametrize("link", [os.link, os.symlink, None], ids=["hard", "soft", "same"])
@pytest.mark.parametrize(("verb", "option"), OUTPUTS, ids=" ".join)
def test_no_output_of_any_verb_replaces_an_input(table: Path, verb: str, option: str, link: object) -> None:
    before, output = table.read_bytes(), table.parent / "link.png"
    if link is None:
        output = table
    else:
        link(table, output)  # type: ignore[operator]
    ctx = verb_contexts()[verb]
    inputs = [
        table for each in ctx.command.params if isinstance(each.type, InputFile) and each.param_type_name == "argument"
    ]
    run(verb, *inputs, option, output, *(["--to", "json"] if verb == "export" else []), check=2)
    assert table.read_bytes() == before


def test_every_file_that_a_verb_names_is_an_input_or_an_output() -> None:
    names = ("FILE", "FILE.html", "MODEL", "LOG", "FOLDER", "DATA...", "[DATA]", "[MODEL]")
    for verb, ctx in verb_contexts().items():
        for each in ctx.command.params:
            if each.metavar in names:
                assert isinstance(each.type, InputFile | OutputFile), f"{verb} {each.name}"


def test_dates_as_classes_are_json(tmp_path: Path) -> None:
    dates = np.array(["2024-01-01", "2024-02-01"] * 20, dtype="M8[ns]")
    learner = rosenblatt.Perceptron().fit(pd.DataFrame({"a": [0.0, 1.0] * 20}), dates)
    rosenblatt.save(learner, tmp_path / "m")
    (tmp_path / "x.csv").write_text("a,day\n" + "1,2024-02-01\n1,never\n" * 4)
    found = json.loads(run("inspect", tmp_path / "m", "--json").stdout)
    assert all(name.startswith("2024-") for name in found["classes"])
    figures = json.loads(run("evaluate", tmp_path / "m", tmp_path / "x.csv", "--label", "day", "--json").stdout)
    assert figures["errors"] == 4


def test_a_label_that_opens_a_script_stays_data_in_a_page(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,y\n0,0,<!--<script>\n1,1,no\n")
    run("trace", tmp_path / "x.csv", "--html", tmp_path / "page.html")
    assert "<!--<script>" not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    "address", ["http://[::1]:1/x.csv", "http://[::1/x.csv", "http://127.0.0.1:1/*.csv", "s3://[x/*.csv", "http://["]
)
def test_an_address_that_cannot_be_read_is_one_sentence(tmp_path: Path, address: str) -> None:
    said = run("train", address, "-o", tmp_path / "m", check=1).stderr
    assert said.count("\n") == 1
    assert address in said


def test_a_numeric_label_with_many_values_hints_at_regression(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,price\n" + "".join(f"{k},{k * 3}\n" for k in range(186)))
    said = run("train", tmp_path / "x.csv", "-o", tmp_path / "m", "--learner", "averaged", "--max-iter", "1").stderr
    assert "pa1-regression" in said
    assert "--bits" not in said


def test_what_is_said_of_columns_is_true(table: Path, tmp_path: Path) -> None:
    said = run("train", table, "-o", tmp_path / "m").stderr
    assert "as they are" not in said
    assert "numbers, standardized: a, b" in said


def test_the_baseline_stands_beside_the_accuracy(tmp_path: Path) -> None:
    path = tmp_path / "rare.csv"
    path.write_text("a,b,y\n" + "".join(f"{k % 13},{k % 7},{int(k % 50 == 0)}\n" for k in range(1000)))
    for words in ([], ["--folds", "3"], ["--learner", "pa1", "--validation", path]):
        facts = train(path, "-o", tmp_path / "m", *words)
        assert facts["held_out"]["baseline"] == pytest.approx(0.98, abs=0.005)
    said = run("train", path, "-o", tmp_path / "m", "--learner", "pa1", "--folds", "3").stderr
    assert "baseline 98.00%" in said


def test_a_threshold_says_what_it_cuts(table: Path, tmp_path: Path) -> None:
    train(table, "-o", tmp_path / "m", "--folds", "3")
    words = ["predict", tmp_path / "m", table, "--threshold", "0.5"]
    assert "score" in run(*words).stderr
    assert "probability" in run(*words, "--probabilities").stderr


def test_a_tuned_model_has_probabilities_and_its_command_learns_the_same(table: Path, tmp_path: Path) -> None:
    command = run("tune", table, "-o", tmp_path / "m").stdout.splitlines()[-1]
    tuned = (tmp_path / "m").read_bytes()
    run("predict", tmp_path / "m", table, "--probabilities")
    run(*command.split()[1:], "--quiet")
    assert (tmp_path / "m").read_bytes() == tuned


def test_a_continued_model_names_its_parent(table: Path, tmp_path: Path) -> None:
    sha256 = train(table, "-o", tmp_path / "m", "--learner", "averaged")["sha256"]
    train(table, "--from", tmp_path / "m", "-o", tmp_path / "n")
    assert json.loads(run("inspect", tmp_path / "n", "--json").stdout)["history"]["parent"] == sha256
    assert sha256 in run("inspect", tmp_path / "n").stdout


def test_two_models_are_compared_on_the_same_rows(table: Path, tmp_path: Path) -> None:
    train(table, "-o", tmp_path / "m", "--learner", "averaged")
    train(table, "-o", tmp_path / "n", "--learner", "averaged", "--drop", "b")
    words = ["evaluate", tmp_path / "m", table, "--against", tmp_path / "n"]
    found = json.loads(run(*words, "--json").stdout)["against"]
    assert found["rows"] == 120
    assert found["interval"][1] < 0
    assert "the first is better" in run(*words).stdout


def test_a_prediction_is_explained(table: Path, tmp_path: Path) -> None:
    train(table, "-o", tmp_path / "m", "--learner", "averaged")
    first = json.loads(run("predict", tmp_path / "m", table, "--explain", "2", "--json").stdout.splitlines()[0])
    assert {each["feature"] for each in first["contributions"]} <= {"a", "b"}
    assert all(each["contribution"] for each in first["contributions"])
    assert run("predict", tmp_path / "m", table, "--explain", "1").stdout.splitlines()[0].count("\t") == 1


def test_a_local_cluster_listens_on_loopback_only() -> None:
    pytest.importorskip("distributed")
    from rosenblatt.cluster import connect

    with connect("local:1") as client:
        addresses = [client.scheduler.address, client.dashboard_link, *client.scheduler_info()["workers"]]
    assert all("//127.0.0.1:" in address for address in addresses), addresses
