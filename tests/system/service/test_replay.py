"""The log alone: replayed, compared, exported."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from command import run as run_command
from folding import plain_fold, same_bits, stored
from rejected import rejected
from running import running

from rosenblatt import AROW, AveragedPerceptron
from rosenblatt.models.file import load, save
from rosenblatt.params import make_params
from rosenblatt.service.config import ServiceLimits
from rosenblatt.service.event_log import LearnerRecord
from rosenblatt.service.replay import compare, replay
from rosenblatt.service.trainer import model_record, new_record, open_trainer


def learn(log: Path, seed: int, requested: LearnerRecord | None = None, requests: int = 30) -> None:
    """Let a log grow, as a server does."""
    dice = random.Random(seed)
    trainer = open_trainer(str(log), ServiceLimits(), requested)
    for _ in range(requests):
        count = dice.choice((1, 2, 5))
        rows = [{f"f{dice.randrange(20)}": dice.gauss(0, 1) for _ in range(4)} for _ in range(count)]
        labels = ["yes" if sum(row.values()) > 0 else "no" for row in rows]
        weights = [dice.choice((0.5, 1.0)) for _ in rows]
        examples = json.dumps({"rows": rows, "labels": labels, "weights": weights}).encode()
        trainer.log.append([(count, 0.0, None, examples)])
    trainer.log.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    found = tmp_path / "log.sqlite"
    learn(found, 0, new_record(make_params("averaged")))
    return found


def test_as_of_any_moment_and_by_another_learner(log: Path, tmp_path: Path) -> None:
    run_command("replay", log, "-o", tmp_path / "out.model")
    assert same_bits(load(tmp_path / "out.model"), plain_fold(log))
    examples = stored(log)
    for until in (1, 2, 17, len(examples)):
        learner: Any = AveragedPerceptron()
        for _, row, label, weight in examples[:until]:
            learner.learn_one(row, label, weight)
        assert same_bits(replay(str(log), until=until), learner)
    assert same_bits(replay(str(log), make_params("arow", r=0.1)), plain_fold(log, AROW(r=0.1)))
    with rejected("data", f"1 to {len(examples)}"):
        replay(str(log), until=len(examples) + 1)


def test_learners_are_compared_on_every_example_before_it_is_learned(log: Path) -> None:
    found = {each["learner"]: each for each in compare(str(log), [make_params(n) for n in ("perceptron", "arow")])}
    learner, mistakes = AROW(), 0
    for _, row, label, weight in stored(log):
        mistakes += not learner.has_learned or learner.predict_one(row) != label
        learner.learn_one(row, label, weight)
    assert abs(found["arow"]["mistakes"] - mistakes) <= 2  # a tie is a mistake, whatever was guessed
    assert found["arow"]["examples"] == len(stored(log))
    shown = run_command("replay", log, "--compare", "perceptron,arow,averaged")
    assert shown.stdout.split()[0] == "learner"
    assert len(shown.stdout.splitlines()) == 4


def test_an_exported_log_holds_every_example(log: Path, tmp_path: Path) -> None:
    target = tmp_path / "examples.ndjson"
    run_command("replay", log, "--export", target)
    rows = map(json.loads, target.read_text().splitlines())
    exported = [(seq, row["row"], row["label"], row["weight"]) for seq, row in enumerate(rows, start=1)]
    assert exported == stored(log)
    with running(tmp_path, "--learner", "averaged", "--learn", tmp_path / "new.sqlite") as server:
        assert server.ask("POST", "/learn", target.read_bytes(), Content_Type="application/x-ndjson")[0] == 200
    assert same_bits(replay(str(tmp_path / "new.sqlite")), replay(str(log)))


def test_a_log_can_be_replayed_while_its_server_writes(log: Path) -> None:
    trainer = open_trainer(str(log), ServiceLimits())
    try:
        assert same_bits(replay(str(log)), trainer.model.learner)
    finally:
        trainer.log.close()


def test_a_new_log_goes_on_where_the_old_one_ends(log: Path, tmp_path: Path) -> None:
    """`replay OLD -o M`, then `serve M --learn NEW`: bit-identical to one log."""
    model, new = tmp_path / "old.model", tmp_path / "new.sqlite"
    save(replay(str(log)), model)
    learn(new, 1, model_record(str(model)))
    learn(log, 1)
    assert same_bits(replay(str(new)), replay(str(log)))


@pytest.mark.parametrize(("words", "sentence"), [
    ([], "pass one of -o, --compare"),
    (["-o", "x.model", "--export", "y"], "pass one of"),
    (["-o", "x.model", "--eta0", "2"], "needs --learner"),
    (["--compare", "nobody"], "must be one of"),
])  # fmt: skip
def test_wrong_use_is_an_error(log: Path, words: list[str], sentence: str) -> None:
    found = run_command("replay", log, *words, check=2)
    assert sentence in found.stderr
