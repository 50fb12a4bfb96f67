"""Defects of the command that use has found, each as it was met."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from command import options_of, run, train
from rejected import rejected
from written import put

import rosenblatt
from rosenblatt.cli.console import print_json
from rosenblatt.cli.main import main, verb_contexts
from rosenblatt.cli.options import InputFile, OutputFile
from rosenblatt.models.container import read_container, write_container


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    rows = [f"{k % 7},{k * k % 11},{'yes' if k % 7 + k * k % 11 > 9 else 'no'}" for k in range(120)]
    path.write_text("a,b,y\n" + "\n".join(rows) + "\n")
    return path


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


@pytest.mark.parametrize(
    "address", ["http://[::1]:1/x.csv", "http://[::1/x.csv", "http://127.0.0.1:1/*.csv", "s3://[x/*.csv", "http://["]
)
def test_an_address_that_cannot_be_read_is_one_sentence(tmp_path: Path, address: str) -> None:
    said = run("train", address, "-o", tmp_path / "m", check=1).stderr
    assert said.count("\n") == 1
    assert address in said


@pytest.mark.parametrize("unit", ["", "€ "])
def test_a_numeric_label_with_many_values_hints_at_regression(unit: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,price\n" + "".join(f"{k},{unit}{k * 3}\n" for k in range(186)))
    said = run("train", tmp_path / "x.csv", "-o", tmp_path / "m", "--learner", "averaged", "--max-iter", "1").stderr
    assert said.count("--task regression") == said.count("--label") == 1
    assert "--bits" not in said


def test_train_reports_cells_once(tmp_path: Path) -> None:
    cells = ["huh" if k == 60 else str(k % 9) for k in range(90)]
    data = put(tmp_path / "x.csv", "a,y\n" + "".join(f"{cell},{k % 9 > 4}\n" for k, cell in enumerate(cells)))
    assert run("train", data, "-o", tmp_path / "m").stderr.count("huh") == 1


@pytest.mark.parametrize("how", [[], ["--learner", "arow", "--folds", "3"]])
def test_an_accuracy_that_counts_class_weights_is_by_weight(table: Path, tmp_path: Path, how: list[str]) -> None:
    for weights, count in (([], 0), (["--class-weight", "balanced"], 1)):
        last = run("train", table, "-o", tmp_path / "m", *how, *weights).stderr.splitlines()[-2]
        assert last.count("right by weight") == count


def test_the_baseline_stands_beside_the_accuracy(tmp_path: Path) -> None:
    rows = [f"{k % 13},{k % 7},{int(k % 50 == 0)}\n" for k in range(1000)]
    path = put(tmp_path / "rare.csv", "a,b,y\n" + "".join(rows))
    for words in ([], ["--folds", "3"], ["--learner", "pa1", "--validation", path]):
        facts = train(path, "-o", tmp_path / "m", *words)
        assert facts["held_out"]["baseline"] == pytest.approx(0.98, abs=0.005)
    said = run("train", path, "-o", tmp_path / "m", "--learner", "pa1", "--folds", "3").stderr
    assert "baseline 98.00%" in said


def test_a_threshold_says_what_it_cuts_and_is_a_probability_if_the_model_has_them(table: Path, tmp_path: Path) -> None:
    train(table, "-o", tmp_path / "scores", "--learner", "perceptron")
    train(table, "-o", tmp_path / "m", "--folds", "3")
    for name, kind in (("scores", "score"), ("m", "probability")):
        assert kind in run("predict", tmp_path / name, table, "--threshold", "0.5").stderr
    for threshold in ("5", "-0.1", "nan"):
        assert "--threshold" in run("predict", tmp_path / "m", table, "--threshold", threshold, check=2).stderr


def test_predict_cuts_at_the_thresholds_that_evaluate_shows(tmp_path: Path) -> None:
    rows = [f"{k % 13},{k * k % 7},{int(k % 13 > 9 - k % 3)}\n" for k in range(600)]
    path = put(tmp_path / "rare.csv", "a,b,y\n" + "".join(rows))
    train(path, "-o", tmp_path / "m", "--learner", "perceptron", "--folds", "3")
    thresholds = json.loads(run("evaluate", tmp_path / "m", path, "--json").stdout)["thresholds"]
    assert thresholds
    for each in thresholds:
        labels = run("predict", tmp_path / "m", path, "--threshold", repr(each["threshold"])).stdout.split()
        assert labels.count("1") == each["rows"]


def test_a_tuned_model_has_probabilities_and_its_options_learn_the_same(table: Path, tmp_path: Path) -> None:
    last = run("tune", table, "-o", tmp_path / "m").stdout.splitlines()[-1]
    options = last.removeprefix("Options for train, after yours for the data: ")
    tuned = (tmp_path / "m").read_bytes()
    run("predict", tmp_path / "m", table, "--probabilities")
    run("train", table, "-o", tmp_path / "m", *options.split())
    assert (tmp_path / "m").read_bytes() == tuned


def test_the_options_of_tune_name_the_score_that_its_best_learner_chooses_by(tmp_path: Path) -> None:
    rows = [f"{k % 7 - 3},{k % 11 - 5},{int((k % 7 - 3) * (k % 11 - 5) > 0)}" for k in range(300)]
    path = put(tmp_path / "xor.csv", "a,b,y\n" + "\n".join(rows) + "\n")
    options = json.loads(run("tune", path, "--scoring", "f1", "--json").stdout)["options"]
    assert options[:2] == ["--learner", "auto"]  # only products separate the classes
    assert options[-2:] == ["--scoring", "f1"]


def test_a_continued_model_names_its_parent(table: Path, tmp_path: Path) -> None:
    sha256 = train(table, "-o", tmp_path / "m", "--learner", "averaged")["sha256"]
    train(table, "--from", tmp_path / "m", "-o", tmp_path / "n")
    assert json.loads(run("inspect", tmp_path / "n", "--json").stdout)["lineage"]["parent"] == sha256
    assert sha256 in run("inspect", tmp_path / "n").stdout


def test_a_prediction_is_explained_but_not_of_a_kernel(table: Path, tmp_path: Path) -> None:
    train(table, "-o", tmp_path / "k", "--learner", "kernel")
    assert "kernel" in run("predict", tmp_path / "k", table, "--explain", "2", check=1).stderr
    train(table, "-o", tmp_path / "m", "--learner", "averaged")
    first = json.loads(run("predict", tmp_path / "m", table, "--explain", "2", "--json").stdout.splitlines()[0])
    assert {each["feature"] for each in first["contributions"]} <= {"a", "b"}
    assert all(each["contribution"] for each in first["contributions"])
    assert run("predict", tmp_path / "m", table, "--explain", "1").stdout.splitlines()[0].count("\t") == 1


def test_a_prediction_by_threshold_explains_the_label_it_prints(table: Path, tmp_path: Path) -> None:
    train(table, "-o", tmp_path / "m", "--learner", "averaged")
    shares: dict[str, dict[str, float]] = {}
    for threshold, label in (("-1e9", "yes"), ("1e9", "no")):
        lines = run("predict", tmp_path / "m", table, "--explain", "9", "--threshold", threshold, "--to", "json").stdout
        first = json.loads(lines.splitlines()[1])
        assert first["label"] == label
        shares[label] = {each["feature"]: each["contribution"] for each in first["contributions"]}
    assert shares["yes"] == {name: -share for name, share in shares["no"].items()}


def test_a_local_cluster_listens_on_loopback_only() -> None:
    from rosenblatt.cluster import connect

    with connect("local:1") as client:
        addresses = [client.scheduler.address, client.dashboard_link, *client.scheduler_info()["workers"]]
    assert all("//127.0.0.1:" in address for address in addresses), addresses


def test_a_prediction_by_products_is_explained(tmp_path: Path) -> None:
    rows = [f"{i % 7 - 3},{i % 11 - 5},{'ab'[(i % 7 - 3) * (i % 11 - 5) > 0]}" for i in range(600)]
    path = put(tmp_path / "rows.csv", "\n".join(["u,v,y", *rows]))
    train(path, "-o", tmp_path / "m")
    assert "u·v" in run("predict", tmp_path / "m", path, "--explain", "1").stdout


def test_class_weights_name_labels_as_they_are_written(table: Path, tmp_path: Path) -> None:
    text = table.read_text().replace("yes", "007").replace("no", "7")
    (tmp_path / "texts.csv").write_text(text)
    (tmp_path / "numbers.csv").write_text(text.replace("007", "8"))
    for name, weights in (("texts.csv", "007=2,7=3"), ("numbers.csv", "8.0=2,7=3")):
        run("train", tmp_path / name, "-o", tmp_path / "m", "--class-weight", weights)
    twice = ("train", table, "-o", tmp_path / "m", "--class-weight", "yes=2,yes=3")
    assert "two weights" in run(*twice, check=2).stderr
    assert "two weights" in run("train", tmp_path / "numbers.csv", *twice[2:-1], "7=2,7.0=3", check=2).stderr


def test_an_interrupt_while_a_compiled_module_loads(monkeypatch: Any, capsys: Any) -> None:
    def interrupted(*_: object) -> None:
        raise ImportError("initialization failed") from KeyboardInterrupt()

    monkeypatch.setattr("rosenblatt.cli.main.command.invoke", interrupted)
    assert main(["train", "x", "-o", "m"]) == 130
    assert capsys.readouterr().err == "rosenblatt: interrupted\n"


@pytest.mark.parametrize("words", [
    "train x.csv -o m --shards 2",
    "train x.csv -o m --checkpoint-every 5",
    "train x.csv -o m --learner pa1 --group a",
    "train x.csv -o m --learner pa1 --scoring f1",
    "train x.csv -o m2 --resume",
    "train x.csv -o m2 --from m --shuffle",
    "train x.csv -o m2 --from m --drop a",
    "train x.csv -o m2 --from m --scoring f1",
    "train x.csv -o m --cluster threads --folds 3",
    "predict m x.csv --json --to csv",
    "predict m x.csv --top 2 --scores",
    "predict m x.csv --top 2 --explain 2",
    "evaluate m x.csv --label a",
    "certify x.csv --check x.csv --budget 3",
    "trace x.csv --ledger --html page.html",
    "replay x.csv -o m2 --json",
    "replay x.csv --compare arow --learner pa1",
    "replay x.csv --export m2 --eta0 2",
    "serve m --snapshot-every 5",
    "serve m --learner pa1",
    "serve --learn log --eta0 2",
    "play --label y",
    "teach --grade folder --solutions",
])  # fmt: skip
def test_no_option_is_dropped_silently(table: Path, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.chdir(table.parent)
    table.rename("x.csv")
    train("x.csv", "-o", "m", "--learner", "averaged")
    before = sorted(table.parent.iterdir())
    said = run(*words.split(), check=2).stderr
    assert any(word in said for word in words.split() if word.startswith("--")), said
    assert sorted(table.parent.iterdir()) == before


def test_balanced_weights_of_a_cluster_go_on_with_the_model(table: Path, tmp_path: Path) -> None:
    words = [table, "--learner", "averaged", "--class-weight", "balanced"]
    run("train", *words, "-o", tmp_path / "m")
    run("train", *words, "-o", tmp_path / "n", "--cluster", "threads:1", "--shards", "1")
    one, other = (rosenblatt.load(tmp_path / name) for name in "mn")
    assert one.parameters == other.parameters
    for model in (one, other):
        model.partial_fit([{"a": 1, "b": 2}], ["yes"])
    assert one.explain({"a": 1, "b": 2}) == other.explain({"a": 1, "b": 2})


@pytest.mark.parametrize("where", [[], ["--cluster", "threads:1"]])
def test_a_run_that_ran_out_of_patience_is_resumed_with_more_epochs(tmp_path: Path, where: list[str]) -> None:
    rows = np.random.default_rng(0).integers(0, 9, (60, 3)).tolist()
    data = put(tmp_path / "x.csv", "a,b,y\n" + "".join(f"{a},{b},{'yes' if c > 4 else 'no'}\n" for a, b, c in rows))
    words = [data, "--learner", "perceptron", "-o", tmp_path / "m", *where]
    assert train(*words, "--max-iter", "20", "--checkpoint", tmp_path / "c")["stop_reason"] == "no_change"
    resumed = train(*words, "--max-iter", "40", "--checkpoint", tmp_path / "c", "--resume")
    assert resumed["mistakes"] == train(*words, "--max-iter", "40")["mistakes"]


def test_a_split_by_the_label_names_no_other_option(table: Path, tmp_path: Path) -> None:
    with rejected("parameter", "'y'", "label column", "split") as caught:
        rosenblatt.train(table, group="y")
    assert "drop:" not in str(caught.value)


def test_a_regression_is_explained_and_inspected(tmp_path: Path) -> None:
    data = put(tmp_path / "x.csv", "a,b,price\n" + "".join(f"{k % 9},{k % 5},{k % 9 * 2 + 0.5}\n" for k in range(90)))
    run("train", data, "--task", "regression", "-o", tmp_path / "m")
    line = json.loads(run("predict", tmp_path / "m", data, "--explain", "2", "--json").stdout.splitlines()[8])
    assert line["contributions"][0]["feature"] == "a"
    assert line["contributions"][0]["contribution"] > 1
    low = json.loads(run("predict", tmp_path / "m", data, "--explain", "1", "--json").stdout.splitlines()[9])
    assert low["contributions"][0]["feature"] == "a"
    assert low["contributions"][0]["contribution"] < -1
    assert "accuracy" not in run("evaluate", tmp_path / "m", data, "--group", "b").stdout
    shown = run("inspect", tmp_path / "m").stdout
    assert "classes" not in shown
    assert "mistakes" not in shown


@pytest.mark.parametrize("how", [[], ["--folds", "3", "--learner", "averaged"], ["--validation", "table.csv"]])
def test_thresholds_of_train_are_those_that_predict_cuts_by(table: Path, tmp_path: Path, how: list[str]) -> None:
    how = [str(table) if word == "table.csv" else word for word in how]
    facts = json.loads(run("train", table, "-o", tmp_path / "m", "--json", *how).stdout)
    cuts = [each["threshold"] for each in facts["held_out"]["figures"]["thresholds"]]
    assert cuts
    assert rosenblatt.load(tmp_path / "m").calibrator is not None
    assert all(0 <= cut <= 1 for cut in cuts)


@pytest.mark.parametrize("changed", [{"mistakes": {}}, {"mistakes": [-1]}, {"seconds": ["now"]}, {"updates": []}])
def test_a_checkpoint_with_an_invalid_history_is_refused(table: Path, tmp_path: Path, changed: dict[str, Any]) -> None:
    words = ["train", table, "--learner", "pa1", "--checkpoint", tmp_path / "c", "-o", tmp_path / "m"]
    run(*words)
    content = read_container(tmp_path / "c", "checkpoint")
    content["stopping"]["history"] |= changed
    write_container(tmp_path / "c", "checkpoint", content)
    said = run(*words[:-1], tmp_path / "n", "--resume", check=1).stderr
    assert "not a valid checkpoint: its history cannot be read" in said


def test_an_interrupt_in_a_destructor_is_not_lost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupting:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def run(words: object) -> int:
        Interrupting()
        with pytest.raises(KeyboardInterrupt):
            time.sleep(20)
        return 130

    monkeypatch.setattr("rosenblatt.cli.main._run", run)
    assert main([]) == 130
    assert capsys.readouterr().err == ""


def test_a_score_that_is_not_defined_is_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"scores": [float("nan"), 0.5], "kept": "NaN"})
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == {"scores": [None, 0.5], "kept": "NaN"}
