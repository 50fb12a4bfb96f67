"""--resume, --group, --time and --scoring: the same data to the byte, and the figures of the library."""

import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from command import run, train
from sklearn.metrics import f1_score
from written import put

import rosenblatt
from rosenblatt import AveragedPerceptron, cross_validate
from rosenblatt.select import compare
from rosenblatt.training import checkpoint as checkpoints


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return put(tmp_path / "x.svm", "".join(f"{i % 3} 1:{i % 7} 2:{i * i % 11}\n" for i in range(200)))


def stop_at_once(path: Path, *words: Any) -> list[Any]:
    """Stop a run that has learned one epoch; the command that resumes it."""
    save, calls = checkpoints.save_checkpoint, []

    def save_and_stop(*given: Any) -> None:
        save(*given)
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "save_checkpoint", save_and_stop)
        run("train", *words, "--checkpoint", path, "--checkpoint-every", "0", check=130)
    return ["train", *words, "--checkpoint", path, "--resume"]


@pytest.mark.parametrize(
    "judged",
    [
        ["--folds", 3],
        ["--folds", 4, "--class-weight", "balanced"],
        ["--folds", 3, "--class-weight", "0=2,1=1.5"],
        ["--validation", "other.svm"],
        ["--validation", "other.svm", "--folds", 2],
    ],
    ids=lambda words: " ".join(map(str, words)),
)
@pytest.mark.parametrize("learner", ["perceptron", "auto"])
def test_a_resumed_run_is_judged_as_the_first_one_wanted_it(
    data: Path, tmp_path: Path, judged: list[Any], learner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.svm").write_bytes(data.read_bytes()[:900])
    monkeypatch.chdir(tmp_path)
    words = [data, "--learner", learner, *judged]
    expected = json.loads(run("train", *words, "--json", "-o", tmp_path / "expected").stdout)
    again = stop_at_once(tmp_path / "c", *words, "-o", tmp_path / "m")
    found = json.loads(run(*again, "--json").stdout)
    assert found["held_out"]["accuracy"] == expected["held_out"]["accuracy"]
    assert found["held_out"].get("figures") == expected["held_out"].get("figures")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "expected").read_bytes()


def test_other_rows_may_judge_a_resumed_run_and_missing_ones_are_said_before_it_learns(
    data: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.svm", tmp_path / "second.svm"
    for path in (first, second):
        path.write_bytes(data.read_bytes()[:900])
    again = stop_at_once(tmp_path / "c", data, "-o", tmp_path / "m", "--validation", first)
    first.unlink()
    told = run(*again, check=1).stderr
    assert told.endswith(f"rosenblatt: {first}: there is no such file\n")
    assert not (tmp_path / "m").exists()
    again[again.index(first)] = second
    found = json.loads(run(*again, "--json").stdout)
    assert str(second) in found["held_out"]["rows"]


def test_without_a_checkpoint_a_new_run_begins(data: Path, tmp_path: Path) -> None:
    words = ["train", data, "--learner", "pa1", "--checkpoint", tmp_path / "c", "--resume", "-o", tmp_path / "m"]
    assert "a new run begins" in run(*words).stderr
    first = (tmp_path / "m").read_bytes()
    assert "a new run begins" not in run(*words).stderr
    assert (tmp_path / "m").read_bytes() == first


def test_changed_bytes_of_the_same_size_and_time_are_seen(data: Path, tmp_path: Path) -> None:
    os.utime(data, ns=(10**18, 10**18))
    again = stop_at_once(tmp_path / "c", data, "-o", tmp_path / "m")
    text = data.read_text()
    data.write_text(text.replace("0 1:0", "1 1:0", 1))
    os.utime(data, ns=(10**18, 10**18))
    assert data.stat().st_size == len(text)
    told = run(*again, check=1).stderr
    assert "the data has changed since the checkpoint was written" in told
    assert not (tmp_path / "m").exists()
    data.write_text(text)
    run(*again)


READINGS = [
    ("a;b;y\n" + "1,5;é;p\n2,5;ö;q\n0,1;-;q\n" * 90, "latin-1", ["--encoding", "latin-1", "--decimal", ","]),
    ("1.5|x|p\n2.5|z|q\nnone|x|q\n" * 90, "utf-8", ["--no-header", "--delimiter", "|", "--missing", "none"]),
    (
        "a,y\n" + f"{'w ' * 60},p\nv,q\n" * 90,
        "utf-8",
        ["--text", "a", "--read-limit", "line=200", "--read-limit", "classes=3"],
    ),
]


@pytest.mark.parametrize(("text", "encoding", "words"), READINGS)
def test_the_data_is_read_as_it_was(tmp_path: Path, text: str, encoding: str, words: list[str]) -> None:
    data = put(tmp_path / "x.csv", text.encode(encoding))
    words = [str(data), "--learner", "pa1", *words]
    run("train", *words, "-o", tmp_path / "expected")
    run(*stop_at_once(tmp_path / "c", *words, "-o", tmp_path / "m"))
    assert (tmp_path / "m").read_bytes() == (tmp_path / "expected").read_bytes()


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Patients with a level of their own, which a model can learn by heart; days in no order; some rows of weight 0."""
    draw = random.Random(0)
    levels = [draw.gauss(0, 2) for _ in range(20)]
    lines = ["patient,day,a,b,w,y"]
    for _ in range(300):
        patient, a, b = draw.randrange(20), draw.gauss(0, 1), draw.gauss(0, 1)
        label = "yes" if a + b > 0.4 else "no"
        lines.append(
            f"p{patient},{draw.randrange(1000)},{a + levels[patient]:.3f},{b:.3f},{draw.choice([0, 1, 2])},{label}"
        )
    return put(tmp_path / "visits.csv", "\n".join(lines) + "\n")


@pytest.mark.parametrize(("option", "column", "name"), [("--group", "patient", "groups"), ("--time", "day", "time")])
def test_folds_by_group_or_time_are_those_of_cross_validate(
    visits: Path, tmp_path: Path, option: str, column: str, name: str
) -> None:
    words = [visits, "--label", "y", "--drop", "w", "--drop", "day", option, column]
    found = train(*words, "-o", tmp_path / "m", "--learner", "averaged", "--folds", 4, "--scoring", "f1_macro")
    frame = pd.read_csv(visits)
    rows = rosenblatt.read(visits, label="y", drop=["w", "day", *([column] if column != "day" else [])])
    how: dict[str, Any] = {name: frame[column].to_numpy(), "scoring": "f1_macro", "folds": 4, "random_state": 0}
    expected = cross_validate(rows.X, rows.y, AveragedPerceptron(max_iter=10), **how)
    held = 300 if option == "--group" else 240  # the earliest rows are only learned from
    assert found["held_out"]["figures"]["rows"] == held
    assert found["held_out"]["scores"]["f1_macro"] == pytest.approx(expected.mean, abs=0.05)
    again = train(*words, "-o", tmp_path / "n", "--learner", "averaged", "--folds", 4)
    assert "scores" not in again["held_out"]


def test_auto_chooses_as_auto_perceptron_with_the_same_groups_and_score(visits: Path, tmp_path: Path) -> None:
    words = ["--label", "y", "--drop", "w", "--drop", "day", "--group", "patient", "--scoring", "f1"]
    found = train(visits, "-o", tmp_path / "m", *words)
    rows = rosenblatt.read(visits, label="y", drop=["w", "day", "patient"])
    used = np.flatnonzero(np.diff(rows.X.tocsc().indptr))
    groups = pd.read_csv(visits)["patient"].to_numpy()
    auto = rosenblatt.AutoPerceptron(scoring="f1").fit(rows.X[:, used], rows.y, groups=groups)
    assert found["choice"] == auto.choice_
    assert "patient" not in run("inspect", tmp_path / "m").stdout.partition("left out")[0]


def test_groups_stay_with_their_rows_if_some_weigh_nothing(visits: Path, tmp_path: Path) -> None:
    words = ["--label", "y", "--drop", "day", "--group", "patient", "--folds", 3, "--learner", "pa1"]
    weighted = train(visits, "-o", tmp_path / "m", *words, "--weight", "w")
    frame = pd.read_csv(visits)
    frame[frame["w"] > 0].to_csv(tmp_path / "fewer.csv", index=False)
    fewer = train(tmp_path / "fewer.csv", "-o", tmp_path / "n", *words, "--weight", "w")
    assert weighted["held_out"] == fewer["held_out"]


@pytest.mark.parametrize("split", [["--group", "patient"], ["--time", "day"]])
def test_a_resumed_run_has_the_same_folds(visits: Path, tmp_path: Path, split: list[str]) -> None:
    words = [visits, "--label", "y", "--learner", "pa1", "--folds", 3, "--scoring", "f1", *split]
    words += ["--checkpoint", tmp_path / "c"]
    first = train(*words, "-o", tmp_path / "m")
    assert train(*words, "--resume", "-o", tmp_path / "n")["held_out"] == first["held_out"]
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()


def test_evaluate_measures_each_group_and_each_part_of_the_time(visits: Path, tmp_path: Path) -> None:
    train(visits, "-o", tmp_path / "m", "--label", "y", "--learner", "averaged", "--drop", "patient", "--drop", "day")
    frame = pd.read_csv(visits)
    frame["found"] = run("predict", tmp_path / "m", visits).stdout.split()
    words = ["evaluate", tmp_path / "m", visits, "--json"]
    parts = json.loads(run(*words, "--group", "patient", "--scoring", "f1").stdout)["parts"]
    expected = {name: f1_score(part["y"], part["found"], pos_label="yes") for name, part in frame.groupby("patient")}
    assert parts[0] == {"part": "all", "rows": 300, "score": f1_score(frame["y"], frame["found"], pos_label="yes")}
    assert {each["part"]: each["score"] for each in parts[1:]} == pytest.approx(expected)
    parts = json.loads(run(*words, "--time", "day").stdout)["parts"][1:]
    ordered = frame.sort_values("day", kind="stable")
    assert [each["score"] for each in parts] == pytest.approx(
        [(ordered["y"] == ordered["found"])[k : k + 60].mean() for k in range(0, 300, 60)]
    )


def test_compare_ranks_by_the_score_on_groups(visits: Path) -> None:
    words = ["--label", "y", "--drop", "w", "--drop", "day", "--group", "patient", "--scoring", "neg_log_loss"]
    found = json.loads(run("compare", visits, *words, "--folds", 3, "--json").stdout)
    scores = [each["score"] for each in found["measured"]]
    known = [score for score in scores if score is not None]
    assert known == sorted(known, reverse=True) == scores[: len(known)]  # those without probabilities come last
    rows = rosenblatt.read(visits, label="y", drop=["w", "day", "patient"])
    used = np.flatnonzero(np.diff(rows.X.tocsc().indptr))
    groups = pd.read_csv(visits)["patient"].to_numpy()
    one = compare(rows.X[:, used].toarray(), rows.y, folds=3, groups=groups, classifiers={"AROW": rosenblatt.AROW()})
    assert one.measured[0].accuracy == next(each for each in found["measured"] if each["name"] == "AROW")["accuracy"]


@pytest.mark.parametrize(
    ("words", "code", "fact"),
    [
        ("--group patient --time day", 2, "cannot be combined"),
        ("--group nothing", 2, "'nothing'"),
        ("--scoring nonsense", 2, "'nonsense'"),
        ("--group patient --cluster threads", 2, "--group"),
        ("--group patient --folds 21 --learner pa1", 1, "20 groups"),
    ],
)
def test_a_split_that_cannot_be_made(visits: Path, tmp_path: Path, words: str, code: int, fact: str) -> None:
    said = run("train", visits, "-o", tmp_path / "m", "--label", "y", *words.split(), check=code).stderr
    assert fact in said.splitlines()[-1]
    assert not (tmp_path / "m").exists()


def test_missing_values_cannot_be_split_by(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("g,a,y\n" + "p,1,n\n,2,m\n" * 20)
    assert "'g'" in run("train", tmp_path / "x.csv", "-o", tmp_path / "m", "--group", "g", check=1).stderr
