"""`--resume`: the data to the byte, as it was read, and no file but the one that is named."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from command import run

import rosenblatt.cli.job  # noqa: F401 - which binds save_checkpoint before it is patched
from rosenblatt.models.container import read_container, write_container
from rosenblatt.training import checkpoint as checkpoints


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "x.svm"
    path.write_text("".join(f"{i % 3} 1:{i % 7} 2:{i * i % 11}\n" for i in range(200)))
    return path


def stop_at_once(path: Path, *words: Any) -> Path:
    """A checkpoint of a run that has learned one group."""
    save, calls = checkpoints.save_checkpoint, []

    def save_and_stop(*given: Any) -> None:
        save(*given)
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "save_checkpoint", save_and_stop)
        run("train", *words, "--checkpoint", path, "--checkpoint-every", "0s", check=130)
    return path


def test_the_output_is_named_again(data: Path, tmp_path: Path) -> None:
    expected = tmp_path / "expected"
    words = [data, "--learner", "pa1", "--block", 64]
    run("train", *words, "-o", expected)
    held = stop_at_once(tmp_path / "c", *words, "-o", tmp_path / "m")
    (tmp_path / "m").write_bytes(b"precious")
    told = run("train", "--resume", held, check=2).stderr
    assert told.count("\n") == 1
    assert f"name the model file again: rosenblatt train --resume {held} -o MODEL" in told
    assert str(tmp_path / "m") in told
    assert (tmp_path / "m").read_bytes() == b"precious"
    run("train", "--resume", held, "-o", tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == expected.read_bytes()


@pytest.mark.parametrize("weights", ["balanced", "0=2,1=1.5"])
def test_a_run_with_class_weights_ends_as_if_it_had_not_been_stopped(data: Path, tmp_path: Path, weights: str) -> None:
    words = [data, "--learner", "perceptron", "--block", 64, "--class-weight", weights]
    run("train", *words, "-o", tmp_path / "expected")
    held = stop_at_once(tmp_path / "c", *words, "-o", tmp_path / "m")
    run("train", "--resume", held, "-o", tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "expected").read_bytes()


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
    words = [data, "--learner", learner, "--block", 64, *judged]
    expected = json.loads(run("train", *words, "--json", "-o", tmp_path / "expected").stdout)
    held = stop_at_once(tmp_path / "c", *words, "-o", tmp_path / "m")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = json.loads(run("train", "--resume", held, "--json", "-o", tmp_path / "m").stdout)
    assert found["held_out"]["accuracy"] == expected["held_out"]["accuracy"]
    assert found["held_out"].get("figures") == expected["held_out"].get("figures")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "expected").read_bytes()


def test_other_rows_may_judge_a_resumed_run_and_missing_ones_are_said_before_it_learns(
    data: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.svm", tmp_path / "second.svm"
    for path in (first, second):
        path.write_bytes(data.read_bytes()[:900])
    held = stop_at_once(tmp_path / "c", data, "--block", 64, "--validation", first, "-o", tmp_path / "m")
    first.unlink()
    told = run("train", "--resume", held, "-o", tmp_path / "m", check=1).stderr
    assert told == f"rosenblatt: {first}: there is no such file\n"
    assert not (tmp_path / "m").exists()
    found = json.loads(run("train", "--resume", held, "--validation", second, "--json", "-o", tmp_path / "m").stdout)
    assert str(second) in found["held_out"]["rows"]


@pytest.mark.parametrize(
    "extra", [{"folds": -1}, {"folds": 1}, {"folds": True}, {"folds": "3"}, {"validation": "x"}, {"validation": [3]},
              {"class_weight": {"a": 1}}]
)  # fmt: skip
def test_a_checkpoint_that_says_nonsense_of_what_judges_is_refused(
    data: Path, tmp_path: Path, extra: dict[str, Any]
) -> None:
    held = stop_at_once(tmp_path / "c", data, "--block", 64, "-o", tmp_path / "m")
    header, tensors = read_container(held, "checkpoint")
    write_container(held, "checkpoint", header | {"extra": header["extra"] | extra}, tensors)
    told = run("train", "--resume", held, "-o", tmp_path / "m", check=1).stderr
    assert "is not a valid checkpoint" in told


@pytest.mark.parametrize("rows", [2**32, 2**63 - 1, 10**20])
def test_more_rows_than_can_be_shuffled_together_are_refused(data: Path, tmp_path: Path, rows: int) -> None:
    told = run("train", data, "--learner", "pa1", "--block", rows, "--quiet", "-o", tmp_path / "m", check=2).stderr
    assert told == f"rosenblatt: block={rows}: must be at most 4294967295\n"
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("option", ["-o", "--report", "--checkpoint"])
def test_nothing_that_the_run_reads_is_overwritten(data: Path, tmp_path: Path, option: str) -> None:
    held, before = stop_at_once(tmp_path / "c", data, "--block", 64, "-o", tmp_path / "m"), data.read_bytes()
    more = [] if option == "-o" else ["-o", tmp_path / "m"]
    (tmp_path / "link").symlink_to(data)
    told = run("train", "--resume", held, *more, option, tmp_path / "link", check=2).stderr
    assert "is an input file" in told
    assert data.read_bytes() == before
    if option != "--checkpoint":
        kept = held.read_bytes()
        told = run("train", "--resume", held, *more, option, held, check=2).stderr
        assert "is an input file" in told
        assert held.read_bytes() == kept


def test_another_checkpoint_may_be_written(data: Path, tmp_path: Path) -> None:
    held = stop_at_once(tmp_path / "c", data, "--learner", "pa1", "--block", 64, "-o", tmp_path / "m")
    before = held.read_bytes()
    run("train", "--resume", held, "-o", tmp_path / "m", "--checkpoint", tmp_path / "d")
    assert held.read_bytes() == before
    assert read_container(tmp_path / "d", "checkpoint")[0]["stop_reason"] is not None


def test_changed_bytes_of_the_same_size_and_time_are_seen(data: Path, tmp_path: Path) -> None:
    os.utime(data, ns=(10**18, 10**18))
    held = stop_at_once(tmp_path / "c", data, "--block", 64, "-o", tmp_path / "m")
    text = data.read_text()
    data.write_text(text.replace("0 1:0", "1 1:0", 1))
    os.utime(data, ns=(10**18, 10**18))
    assert data.stat().st_size == len(text)
    told = run("train", "--resume", held, "-o", tmp_path / "m", check=1).stderr
    assert "the data has changed since the checkpoint was written" in told
    assert not (tmp_path / "m").exists()
    data.write_text(text)
    run("train", "--resume", held, "-o", tmp_path / "m")


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
    data = tmp_path / "x.csv"
    data.write_bytes(text.encode(encoding))
    words = [str(data), "--learner", "pa1", "--block", "64", *words]
    run("train", *words, "-o", tmp_path / "expected")
    held = stop_at_once(tmp_path / "c", *words, "-o", tmp_path / "m")
    run("train", "--resume", held, "-o", tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "expected").read_bytes()
    header = read_container(held, "checkpoint")[0]
    assert Path(header["data"][0]) == data


@pytest.mark.parametrize("every", [None, "x", -1, [], {}])
def test_what_lies_beside_a_run_is_checked_too(data: Path, tmp_path: Path, every: Any) -> None:
    held = stop_at_once(tmp_path / "c", data, "--block", 64, "-o", tmp_path / "m")
    header, tensors = read_container(held, "checkpoint")
    write_container(held, "checkpoint", header | {"extra": {"every": every}}, tensors)
    told = run("train", "--resume", held, "-o", tmp_path / "m", check=1).stderr
    assert "is not a valid checkpoint" in told
