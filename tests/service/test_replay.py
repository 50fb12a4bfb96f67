"""The log alone: replayed, compared, exported, shortened, rotated."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from command import run as run_command
from folding import plain_fold, same_bits, stored

from rosenblatt import AROW, AveragedPerceptron
from rosenblatt.errors import DataError
from rosenblatt.models.file import load
from rosenblatt.params.family import make_params
from rosenblatt.service.limits import Limits
from rosenblatt.service.opening import Wanted, open_learning
from rosenblatt.service.replay import compare, replay
from rosenblatt.service.upkeep import rotate, shorten


def learn(log: Path, seed: int, requests: int = 30, begin: str | None = "averaged") -> None:
    """Let a log grow, as a server would do it."""
    dice = random.Random(seed)
    learning, clock = open_learning(str(log), Limits(), None if begin is None else Wanted(make_params(begin)))
    for _ in range(requests):
        count = dice.choice((1, 2, 5))
        rows = [{f"f{dice.randrange(20)}": dice.gauss(0, 1) for _ in range(4)} for _ in range(count)]
        labels = ["yes" if sum(row.values()) > 0 else "no" for row in rows]
        weights = [dice.choice((0.5, 1.0)) for _ in rows]
        examples = json.dumps({"rows": rows, "labels": labels, "weights": weights}).encode()
        (entry,) = learning.log.append([(count, clock(), examples, None, b"")])
        learning.take(entry, rows, labels, weights)
    learning.log.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    found = tmp_path / "log.sqlite"
    learn(found, 0)
    return found


def test_a_replay_is_the_plain_fold(log: Path, tmp_path: Path) -> None:
    run_command("replay", log, "-o", tmp_path / "out.model")
    assert same_bits(load(tmp_path / "out.model"), plain_fold(log))


def test_as_of_any_moment_and_by_another_learner(log: Path) -> None:
    examples = stored(log)
    for until in (1, 2, 17, len(examples)):
        learner: Any = AveragedPerceptron()
        for _, row, label, weight in examples[:until]:
            learner.learn_one(row, label, weight)
        assert same_bits(replay([str(log)], until=until), learner)
    assert same_bits(replay([str(log)], make_params("arow", r=0.1)), plain_fold(log, AROW(r=0.1)))
    with pytest.raises(DataError, match=f"holds the examples from 1 to {len(examples)}"):
        replay([str(log)], until=len(examples) + 1)


def test_learners_are_compared_on_every_example_before_it_is_learned(log: Path) -> None:
    found = {each["learner"]: each for each in compare([str(log)], [make_params(n) for n in ("perceptron", "arow")])}
    learner, mistakes = AROW(), 0
    for _, row, label, weight in stored(log):
        mistakes += not learner.has_learned or learner.predict_one(row) != label
        learner.learn_one(row, label, weight)
    assert abs(found["arow"]["mistakes"] - mistakes) <= 2  # a tie is a mistake, whatever was guessed
    assert found["arow"]["examples"] == len(stored(log))
    shown = run_command("replay", log, "--compare", "perceptron,arow,averaged")
    assert shown.stdout.splitlines()[0].split() == [
        "learner",
        "examples",
        "mistakes",
        "error",
        "last",
        "1,000",
        "drift",
    ]
    assert len(shown.stdout.splitlines()) == 4


def test_a_shortened_log_goes_on_with_the_same_bits(log: Path, tmp_path: Path) -> None:
    whole = plain_fold(log)
    count = len(stored(log))
    assert shorten(str(log), 20) <= 20
    left = len(stored(log))
    assert 0 < left < count
    assert same_bits(replay([str(log)]), whole)
    assert shorten(str(log)) == left
    assert stored(log) == []
    learn(log, 1, begin=None)
    for _, row, label, weight in stored(log):
        whole.learn_one(row, label, weight)
    assert stored(log)[0][0] == count + 1
    learning, _ = open_learning(str(log), Limits())
    learning.log.close()
    assert same_bits(learning.fold.answering.learner, whole)
    assert learning.fold.answering.progress.examples == count + len(stored(log))
    with pytest.raises(DataError, match=f"holds the examples from {count + 1}"):
        replay([str(log)], until=5)


def test_a_request_that_is_sent_again_finds_its_reply_in_a_shortened_log(log: Path) -> None:
    learning, _ = open_learning(str(log), Limits())
    rows, labels = [{"f1": 1.0}, {"f2": -1.0}], ["yes", "no"]
    examples = json.dumps({"rows": rows, "labels": labels}).encode()
    (entry,) = learning.log.append([(2, 0.0, examples, "a key", b"digest")])
    predicted, mistaken = learning.take(entry, rows, labels, None)
    learning.log.close()  # as if killed: the reply was not stored
    shorten(str(log))
    again, _ = open_learning(str(log), Limits())
    seq, digest, reply = again.log.known_keys(["a key"])["a key"]
    again.log.close()
    assert (seq, digest) == (entry.seq, b"digest")
    assert reply is not None
    found = json.loads(reply)
    assert (found["last"], found["predicted"], found["mistaken"]) == (entry.last, predicted, mistaken)


def test_rotated_logs_follow_one_another(log: Path, tmp_path: Path) -> None:
    archive, second = tmp_path / "first.sqlite", tmp_path / "second.sqlite"
    run_command("replay", log, "--rotate", archive)
    learn(log, 1, begin=None)
    rotate(str(log), str(second))
    learn(log, 2, begin=None)
    logs = [str(archive), str(second), str(log)]
    learner: Any = AveragedPerceptron()
    for path in logs:
        for _, row, label, weight in stored(Path(path)):
            learner.learn_one(row, label, weight)
    assert same_bits(replay(logs), learner)
    assert same_bits(replay(logs[2:]), learner)
    assert same_bits(replay(logs, make_params("averaged")), learner)
    with pytest.raises(DataError, match="does not go on where"):
        replay([logs[0], logs[2]])
    with pytest.raises(DataError, match="exists already"):
        rotate(str(log), str(second))


def test_an_exported_log_holds_every_example(log: Path, tmp_path: Path) -> None:
    target = tmp_path / "examples.parquet"
    run_command("replay", log, "--export", target)
    rows = pyarrow.parquet.read_table(target).to_pylist()
    exported = [(row["seq"], dict(row["row"]), row["label"], row["weight"]) for row in rows]
    assert exported == stored(log)


@pytest.mark.parametrize("kind", ["BLOB", "TEXT"])
def test_an_altered_log_is_found_out(log: Path, kind: str) -> None:
    with sqlite3.connect(log) as connection:
        connection.execute(
            f"UPDATE entries SET examples = CAST(replace(examples, 'yes', 'no') AS {kind}) WHERE seq > 10"
        )
    connection.close()
    with pytest.raises(DataError, match=r"is damaged: example \d+ is not what was stored"):
        replay([str(log)])


def test_a_log_can_be_replayed_while_its_server_writes(log: Path) -> None:
    learning, _ = open_learning(str(log), Limits())
    try:
        assert same_bits(replay([str(log)]), learning.fold.answering.learner)
        with pytest.raises(DataError, match="is in use by another server"):
            shorten(str(log))
    finally:
        learning.log.close()


@pytest.mark.parametrize(("words", "sentence"), [
    ([], "say one of -o, --compare"),
    (["-o", "x.model", "--shorten"], "say one of"),
    (["-o", "x.model", "--eta0", "2"], "need --learner"),
    (["--rotate", "x.sqlite", "--until", "3"], "leave --until out"),
    (["--compare", "nobody"], "must be one of"),
])  # fmt: skip
def test_wrong_use_is_refused_with_a_sentence(log: Path, words: list[str], sentence: str) -> None:
    found = run_command("replay", log, *words, check=2)
    assert sentence in found.stderr
