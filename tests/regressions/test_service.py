"""What once went wrong with a served model."""

import contextlib
import json
import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn
from packaging.requirements import Requirement
from rejected import rejected
from running import refused, running, wait_for

import rosenblatt
from rosenblatt import Perceptron
from rosenblatt.cli.main import main
from rosenblatt.models.file import load
from rosenblatt.params import make_params
from rosenblatt.service import trainer as trainer_module
from rosenblatt.service.client import Client
from rosenblatt.service.config import ServiceLimits
from rosenblatt.service.online_model import model_bytes
from rosenblatt.service.predictor import FixedModel
from rosenblatt.service.replay import compare, replay
from rosenblatt.service.schemas import Examples, PredictRequest
from rosenblatt.service.server import BoundedProtocol
from rosenblatt.service.trainer import Job, Trainer, model_record, new_record, open_trainer

HEAD = b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


def append(trainer: Trainer, rows: list[Any], labels: list[Any]) -> None:
    examples = json.dumps({"rows": rows, "labels": labels}).encode()
    trainer.log.append([(len(rows), 0.0, None, examples)])


def new_log(path: Path, **parameters: Any) -> Trainer:
    return open_trainer(str(path), ServiceLimits(), new_record(make_params("averaged", **parameters)))


def execute(database: Path, statement: str) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute(statement)
    connection.close()


def bytes_accepted(connection: socket.socket, part: bytes) -> int:
    """How much can be sent, 100 MB at most, before the connection is closed."""
    sent = 0
    with contextlib.suppress(OSError):
        while sent < 100 << 20:
            connection.sendall(part)
            sent += len(part)
    return sent


def table_model(folder: Path) -> Path:
    """A model that was trained on a CSV file."""
    dice, lines = np.random.default_rng(0), ["age,job,city,rich"]
    for _ in range(400):
        age, job = int(dice.integers(18, 80)), str(dice.choice(["clerk", "smith", "cook"]))
        lines.append(f"{age},{job},{dice.choice(['a', 'b'])},{'yes' if age > 40 and job != 'cook' else 'no'}")
    (folder / "people.csv").write_text("\n".join(lines))
    model = rosenblatt.train(str(folder / "people.csv"), "averaged", max_iter=5, bits=10)
    rosenblatt.save(model, folder / "people.model")
    return folder / "people.model"


def test_a_replay_with_balanced_class_weight_is_an_error(tmp_path: Path) -> None:
    trainer = new_log(tmp_path / "log.sqlite")
    append(trainer, [{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    trainer.log.close()
    with rejected("parameter", "class_weight"):
        replay(str(tmp_path / "log.sqlite"), make_params("averaged", class_weight="balanced"))


def test_a_model_with_an_encoder_is_served_as_loaded_and_replayed_by_another_learner(tmp_path: Path) -> None:
    path, log = table_model(tmp_path), tmp_path / "log.sqlite"
    dice = np.random.default_rng(1)
    rows: list[dict[str, Any]] = [
        {"age": int(dice.integers(18, 80)), "job": str(dice.choice(["clerk", "smith", "cook"])), "city": "a"}
        for _ in range(300)
    ]
    labels = ["yes" if row["age"] > 40 and row["job"] != "cook" else "no" for row in rows]
    with running(tmp_path, path, "--learn", log) as server:
        first = server.post("/predict", {"rows": rows})["predictions"]
        assert [each["label"] for each in first] == load(path).predict(rows).tolist()
        assert server.post("/predict", {"row": rows[0] | {"shoe size": 43}})["prediction"] == first[0]
        for odd, column in (({"age": 30, "job": "clerk"}, "city"), (rows[0] | {"age": "old"}, "age")):
            status, content = server.ask("POST", "/predict", {"row": odd})
            assert (status, column in content["error"]["message"]) == (422, True)
        server.post("/learn", {"rows": rows, "labels": labels})
        assert server.stop() == 0
    # Another learner that replays the log reads the same columns.
    rosenblatt.save(replay(str(log), make_params("arow")), tmp_path / "arow.model")
    (error,) = compare(str(log), [make_params("arow")])
    with running(tmp_path, tmp_path / "arow.model") as server:
        found = [each["label"] for each in server.post("/predict", {"rows": rows})["predictions"]]
    assert np.mean(np.array(found) != np.array(labels)) <= max(0.1, error["progressive_error"])


def test_a_body_of_another_shape_gets_an_example(tmp_path: Path) -> None:
    rosenblatt.save(Perceptron().fit(np.eye(4), [0, 1, 0, 1]), tmp_path / "plain.model")
    for path in (table_model(tmp_path), tmp_path / "plain.model"):
        with running(tmp_path, path) as server:
            for body in ({"rows": [[{"a": 1}]]}, {"row": 3}, {"data": [1]}, {"row": [[1.0]]}):
                status, content = server.ask("POST", "/predict", body)
                assert status == 422
                message = content["error"]["message"]
                example = message.split("send for example ")[1].replace(", ...", ", 0.0" if "[" in message else "")
                assert "\n" not in message
                assert ("rows" in json.loads(example)) == ("rows" in body)
                assert server.ask("POST", "/predict", json.loads(example))[0] == 200


def test_a_wrong_value_is_named_by_its_feature_and_every_mistake_gets_the_shape_that_was_sent(tmp_path: Path) -> None:
    with running(tmp_path, "--learner", "averaged", "--learn", tmp_path / "log.sqlite") as server:
        for body, facts in (
            ({"row": {"a": 1, "b": "2"}, "label": "x"}, ["feature 'b'", '"row": ']),
            ({"rows": [{"a": 1}, {"a": 1, "c": None}], "labels": ["x", "y"]}, ["row 1, feature 'c'", '"rows": ']),
            ({"rows": [{"a": 1}], "label": "x"}, ['"rows": ', '"labels": ']),
            (b'{"row": {"a": "1"}, "row": 3}', ["$.row", '"row": ']),
            (b'{"rows": [{"a": "1"}]', ["$.rows[0]", '"rows": ']),
            (b"", ["empty", '"row": ']),
        ):
            status, content = server.ask("POST", "/learn", body)
            message = content["error"]["message"]
            assert status in (400, 422)
            assert [fact for fact in facts if fact not in message.replace("`", "")] == []
            assert "\n" not in message


def test_a_new_name_costs_no_look_at_all_known_names(tmp_path: Path) -> None:
    class Names(dict[Any, int]):
        looks = 0

        def __iter__(self) -> Iterator[Any]:
            Names.looks += 1
            return super().__iter__()

    trainer = new_log(tmp_path / "log.sqlite")
    append(trainer, [{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    trainer.catch_up(trainer.model.progress.hash_chain)
    trainer.schema.names = Names({f"name {at}": at for at in range(1000)})
    assert trainer._new_names([{"new": 1.0, "name 5": 1.0}]) == {"new"}
    trainer.log.close()
    assert Names.looks == 0


@pytest.mark.parametrize("learner", ["averaged", "arow", "pocket"])
def test_the_columns_of_a_server_are_those_of_its_learner(tmp_path: Path, learner: str) -> None:
    dice, log = np.random.default_rng(0), tmp_path / "log.sqlite"
    trainer = open_trainer(str(log), ServiceLimits(), new_record(make_params(learner)))
    for at in range(60):
        row = {f"f{dice.integers(at + 5)}": float(dice.normal()) for _ in range(3)}
        append(trainer, [row, {}], [f"class {dice.integers(at // 12 + 1)}"] * 2)
        trainer.catch_up(trainer.model.progress.hash_chain)
        assert trainer.schema.names == trainer.model.learner.columns_by_name()
        assert trainer.schema.names is trainer.model.names
    trainer.log.close()


def test_trailers_and_pipelined_requests_without_end_do_not_pile_up(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("admin " + "a" * 20)
    words = ("--learner", "averaged", "--learn", tmp_path / "log.sqlite", "--token-file", tmp_path / "tokens")
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n \r\n0\r\n"
    with running(tmp_path, *words) as server:
        before = server.memory()
        for first, endless in (
            (chunked, b"X: " + b"y" * 65536),
            (chunked, b"X: y\r\n" * 10_000),
            (b"", b"GET /model HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 5000),
        ):
            with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
                connection.sendall(first)
                assert bytes_accepted(connection, endless) < 20 << 20
        assert server.memory() - before < 40 << 20
        request = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(request * 3 + request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            found = b""
            while part := connection.recv(65536):
                found += part
        assert found.count(b"HTTP/1.1 200") == 4


@pytest.mark.parametrize(("words", "fact"), [
    (["--learner", "perceptron", "--keep", "vote"], "vote"),
    (["--learner", "averaged", "--early-stopping"], "early"),
    (["--learner", "averaged", "--class-weight", "balanced"], "class_weight"),
    (["--learner", "averaged", "--class-weight", "spam=-1"], "class_weight"),
    (["--learner", "averaged", "--class-weight", "spam=nan"], "class_weight"),
    (["--learner", "averaged", "--tls-cert", "some.model"], "--tls-cert"),
    (["--learner", "averaged", "--tls-cert", "some.model", "--tls-key", "some.model"], "--tls-cert"),
    (["--learner", "averaged", "--token-file", "nothing"], "nothing"),
    (["--learner", "averaged", "--host", "203.0.113.7"], "203.0.113.7"),
    (["--learner", "averaged", "--host", "0.0.0.0"], "0.0.0.0"),
    (["--learner", "averaged", "--limit", "bodies"], "'bodies'"),
    ([], "a new log"),
    (["some.model"], "some.model"),
])  # fmt: skip
def test_a_start_that_fails_leaves_no_log(tmp_path: Path, words: list[str], fact: str) -> None:
    log = tmp_path / "log.sqlite"
    y = np.arange(4.0)
    rosenblatt.save(rosenblatt.PassiveAggressiveRegression().fit(np.eye(4), y), tmp_path / "some.model")
    words = [str(tmp_path / word) if word.endswith(".model") else word for word in words]
    assert fact in refused(tmp_path, *words, "--learn", log)
    assert not list(tmp_path.glob("log.sqlite*"))
    with running(tmp_path, "--learner", "averaged", "--learn", log) as server:
        server.post("/learn", {"row": {"a": 1.0}, "label": "x"})


@pytest.mark.parametrize("damage", [
    "UPDATE entries SET examples = CAST(replace(examples, 'yes', 'no') AS BLOB) WHERE seq > 10",
    "UPDATE entries SET examples = CAST(replace(examples, 'yes', 'no') AS TEXT) WHERE seq > 10",
    "DELETE FROM entries WHERE seq = 3",
    "UPDATE entries SET hash_chain = zeroblob(16) WHERE seq = 20",
    "UPDATE entries SET count = 2 WHERE seq = 5",
    "UPDATE about SET value = replace(value, '1.0', '2.0') WHERE name = 'params'",
    "UPDATE entries SET time = 5.0 WHERE seq = 20",
    "UPDATE entries SET key = 'other' WHERE seq = 20",
])  # fmt: skip
@pytest.mark.parametrize("snapshot", [False, True])
def test_a_damaged_log_is_not_served(tmp_path: Path, damage: str, snapshot: bool) -> None:
    log = tmp_path / "log.sqlite"
    trainer = new_log(log)
    for at in range(30):
        append(trainer, [{f"f{at % 3}": 1.0}], [("yes", "no")[at % 2]])
    trainer.catch_up(trainer.model.progress.hash_chain)
    if snapshot:
        trainer.snapshot()
    trainer.log.close()
    execute(log, damage)
    before = log.read_bytes()
    for read in (lambda: open_trainer(str(log), ServiceLimits()), lambda: replay(str(log))):
        with rejected("data", "damaged"):
            read()
    assert log.read_bytes() == before


def test_examples_that_need_too_much_memory_are_not_stored(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(trainer_module, "free_memory", lambda: 100 << 20)
    trainer = new_log(tmp_path / "log.sqlite")
    trainer.schema.names = {f"f{at}": at for at in range(900_000)}
    rows = [{"new 1": 1.0}, {"new 2": 1.0}, {"new 3": 1.0}]
    job = Job(None, decode=lambda: Examples(rows, ["a", "b", "c"]))  # type: ignore[arg-type]
    trainer._process([job])
    assert "memory" in str(job.error)
    assert trainer.log.last == 0
    trainer.log.close()


def test_a_start_passes_over_what_cannot_be_learned(tmp_path: Path, capsys: Any) -> None:
    log = tmp_path / "log.sqlite"
    trainer = new_log(log)
    append(trainer, [{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    append(trainer, [{f"n{at}": 1.0 for at in range(50)}], ["z"])
    append(trainer, [{"c": 1.0}], ["x"])
    trainer.log.close()
    again = open_trainer(str(log), ServiceLimits(weights=20))
    again.log.close()
    assert (again.model.progress.skipped, again.seq, again.model.progress.examples) == (1, 4, 3)
    assert "weights" in capsys.readouterr().err


def test_replies_are_bounded(tmp_path: Path) -> None:
    words = ("--learner", "averaged", "--learn", tmp_path / "log.sqlite", "--limit", "reply=100K")
    with running(tmp_path, *words) as server:
        labels = ["x" * 900, "y" * 900, "z" * 900]
        last = server.post("/learn", {"rows": [{"a": 1.0}, {"b": 1.0}, {"c": 1.0}], "labels": labels})["last"]
        body = {"rows": [{"a": 1.0}] * 50, "scores": True, "min_seq": last}
        assert server.ask("POST", "/predict", body)[0] == 413
        assert server.ask("POST", "/predict", body | {"rows": [{"a": 1.0}]})[0] == 200


def test_waiting_for_examples_does_not_publish_per_request(tmp_path: Path) -> None:
    trainer = new_log(tmp_path / "log.sqlite")
    append(trainer, [{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    trainer.catch_up(trainer.model.progress.hash_chain)
    trainer._publish_cost, trainer._published_at = 0.5, time.monotonic()  # a large model
    trainer._awaited_seq = 2
    before = trainer.predictor
    trainer._run_periodic()
    assert trainer.predictor is before
    assert trainer._seconds_until_due()[0] > 4
    trainer.log.close()


def test_the_health_check_of_an_image_passes_whatever_hosts_are_allowed(tmp_path: Path) -> None:
    words = ("--learner", "averaged", "--learn", tmp_path / "log.sqlite", "--allow-host", "model.example.org")
    with running(tmp_path, *words) as server:
        assert server.ask("GET", "/health")[0] == 200
        assert server.ask("GET", "/ready")[0] == 200
        assert server.ask("GET", "/model")[0] == 403
        assert server.ask("GET", "/model", Host="model.example.org")[0] == 200
        server.post("/learn", {"row": {"a": 1.0}, "label": "x"}, Host="model.example.org")
        for path in tmp_path.glob("log.sqlite*"):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_model_is_reloaded_without_a_restart(tmp_path: Path) -> None:
    import signal

    path = tmp_path / "some.model"
    rosenblatt.save(Perceptron().fit([[-1.0], [1.0]], ["no", "yes"]), path)
    with running(tmp_path, path) as server:
        first = server.get("/model")
        rosenblatt.save(Perceptron().fit([[-1.0, 0.0], [1.0, 0.0]], ["yes", "no"]), path)
        assert server.get("/model") == first
        os.kill(server.pid, signal.SIGHUP)
        second = wait_for(lambda: (found := server.get("/model"))["features"] == 2 and found)
        assert second["lineage"]["sha256"] != first["lineage"]["sha256"]
        assert server.post("/predict", {"row": [1.0, 0.0]})["prediction"]["label"] == "no"
        path.write_bytes(b"not a model")
        os.kill(server.pid, signal.SIGHUP)
        wait_for(lambda: "the old model stays" in server.text())
        assert server.get("/model") == second


def test_the_lineage_of_a_model_that_learns_on_names_its_parent(tmp_path: Path) -> None:
    import hashlib

    path, log = tmp_path / "some.model", tmp_path / "log.sqlite"
    rosenblatt.save(Perceptron().fit([[-1.0], [1.0]], ["no", "yes"]), path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    open_trainer(str(log), ServiceLimits(), model_record(str(path))).log.close()
    trainer = open_trainer(str(log), ServiceLimits())
    trainer.log.close()
    assert (trainer.lineage["file"], trainer.lineage["parent"]) == ("some.model", digest)
    assert trainer.lineage["created"]


def test_inputs_that_shift_are_seen_in_the_metrics(tmp_path: Path) -> None:
    with running(tmp_path, table_model(tmp_path)) as server:
        for age, low, high in ((49, -0.5, 0.5), (200, 2.0, 20.0)):
            rows = [{"age": age, "job": "clerk", "city": "a"}] * 2000
            server.post("/predict", {"rows": rows})
            text = server.get("/metrics").decode()
            shift = float(text.split('rosenblatt_input_shift{column="age"} ')[1].split("\n")[0])
            assert low < shift < high


def test_a_log_on_a_read_only_disk_left_by_a_kill_can_be_replayed(tmp_path: Path) -> None:
    disk, is_root = tmp_path / "disk", os.geteuid() == 0  # whom only a disk can keep from writing
    disk.mkdir()
    if is_root and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4M", "tmpfs", disk], check=False).returncode:
        pytest.skip("this container may not mount a disk")
    log = disk / "log.sqlite"
    try:
        with running(tmp_path, "--learner", "averaged", "--learn", log) as server:
            server.post("/learn", {"rows": [{"a": 1.0}, {"b": 1.0}], "labels": ["x", "y"]})
            server.kill()
        expected = model_bytes(replay(str(log)))
        Path(f"{log}-shm").unlink(missing_ok=True)
        assert os.path.getsize(f"{log}-wal")
        if is_root:
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        else:
            for path in (*disk.rglob("*"), disk):
                path.chmod(path.stat().st_mode & 0o555)
        assert model_bytes(replay(str(log))) == expected
        assert "cannot be used as a log" in refused(tmp_path, "--learn", log)
    finally:
        subprocess.run(["umount", "-l", disk] if is_root else ["chmod", "-R", "u+w", disk], check=True)


def test_an_example_that_its_class_weight_makes_too_large_is_not_stored(tmp_path: Path) -> None:
    words = ("--learner", "averaged", "--class-weight", "spam=1e250", "--learn", tmp_path / "log.sqlite")
    with running(tmp_path, *words) as server:
        body = {"rows": [{"win": 1e80}, {"lunch": 1.0}], "labels": ["spam", "ham"]}
        assert server.ask("POST", "/learn", body)[0] == 422


@pytest.mark.parametrize("part", ["", "-wal", "-shm", ".lock"])
def test_no_file_of_a_log_is_an_output(tmp_path: Path, part: str) -> None:
    log = tmp_path / "log.sqlite"
    new_log(log).log.close()
    path = Path(f"{log}{part}")
    path.touch()
    before = path.read_bytes()
    assert main(["replay", str(log), "-o", str(path)]) == 2
    assert path.read_bytes() == before
    assert main(["replay", str(log), "--compare", ""]) == 2


def test_a_large_model_with_few_weights_is_served_as_loaded(tmp_path: Path) -> None:
    learner = rosenblatt.AveragedPerceptron(hash_bits=20)
    rows = [{f"w{k % 7}": 1.0, f"w{k % 11}": 2.0} for k in range(50)]
    rosenblatt.save(learner.learn_many(rows, [f"c{k % 6}" for k in range(50)]), tmp_path / "m")
    model = load(tmp_path / "m")
    assert model.parts[0].stored is not None
    served = FixedModel(str(tmp_path / "m"), ServiceLimits()).predictor
    labels = [each.label for each in served.predict(rows, PredictRequest(rows=rows))]
    assert labels == [model.predict_one(row) for row in rows]


def test_a_table_model_that_learns_keeps_the_names_of_its_features(tmp_path: Path) -> None:
    rows = [f"{i % 50},{('Rome', 'Bonn')[i % 2]},{('no', 'yes')[i % 50 > 25]}" for i in range(200)]
    (tmp_path / "rows.csv").write_text("\n".join(["age,city,label", *rows]))
    begun = str(tmp_path / "begun.model")
    assert main(["train", str(tmp_path / "rows.csv"), "--learner", "averaged", "-o", begun, "--quiet"]) == 0
    log = tmp_path / "log.sqlite"
    with running(tmp_path, begun, "--learn", log) as server:
        row = {"age": 40, "city": "Rome"}
        last = server.post("/learn", {"row": row, "label": "yes"})["last"]
        found = server.post("/predict", {"row": row, "contributions": 5, "min_seq": last})
        assert {"age", "city=Rome"} <= {each["feature"] for each in found["prediction"]["contributions"]}
    assert {"age", "city=Rome"} <= set(replay(str(log)).names.values())


def test_a_log_that_lost_entries_which_a_snapshot_has_is_not_served(tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite"
    trainer = new_log(log)
    for label in ("x", "y", "x"):
        append(trainer, [{"a": 1.0}], [label])
    trainer.catch_up()
    trainer.snapshot()
    trainer.log.close()
    execute(log, "DELETE FROM entries WHERE seq = 3")
    with rejected("data", "2 examples", "3"):
        open_trainer(str(log), ServiceLimits())
    shutil.rmtree(f"{log}.snapshots")
    again = open_trainer(str(log), ServiceLimits())
    again.log.close()
    assert again.seq == 2


def test_snapshots_of_an_earlier_log_do_not_displace_new_ones(tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite"
    for examples in (9, 3):
        trainer = new_log(log)
        for _ in range(examples):
            append(trainer, [{"a": 1.0}], ["x"])
            trainer.catch_up(trainer.model.progress.hash_chain)
            trainer.snapshot()
        trainer.log.close()
        log.rename(tmp_path / f"{examples}.sqlite")
    numbers = sorted(int(path.stem) for path in Path(f"{log}.snapshots").iterdir())
    assert numbers == [2, 3, 8, 9]


def test_a_start_that_fails_leaves_the_write_ahead_log_of_a_killed_program(tmp_path: Path) -> None:
    (tmp_path / "killed").mkdir()
    foreign = sqlite3.connect(tmp_path / "foreign.sqlite")
    for statement in ("PRAGMA journal_mode = WAL", "CREATE TABLE people (name TEXT)"):
        foreign.execute(statement)
    trainer = new_log(tmp_path / "log.sqlite")
    append(trainer, [{"a": 1.0}], ["x"])
    paths = [shutil.copy(path, tmp_path / "killed") for path in tmp_path.glob("*.sqlite*")]
    foreign.close()
    trainer.log.close()
    databases = [Path(path) for path in paths if not path.endswith("-shm")]
    assert len([path for path in databases if path.stat().st_size and path.name.endswith("-wal")]) == 2
    before = [path.read_bytes() for path in databases]
    for name, record in (("foreign", None), ("foreign", "arow"), ("log", "arow")):
        with rejected("data"):
            requested = record and new_record(make_params(record))
            open_trainer(str(tmp_path / "killed" / f"{name}.sqlite"), ServiceLimits(), requested)
    assert [path.read_bytes() for path in databases] == before
    for path in tmp_path.glob("killed/*-[ws]*"):
        path.unlink()
    with rejected("data"):
        open_trainer(str(tmp_path / "killed" / "foreign.sqlite"), ServiceLimits())
    assert not [*tmp_path.glob("killed/foreign.sqlite-*")]


def test_a_replay_leaves_no_files_beside_a_backup(tmp_path: Path) -> None:
    trainer = new_log(tmp_path / "log.sqlite")
    append(trainer, [{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    (tmp_path / "backup").mkdir()
    with sqlite3.connect(tmp_path / "backup" / "log.sqlite") as copy:
        trainer.log.connection.backup(copy)
    copy.close()
    trainer.log.close()
    assert replay(str(tmp_path / "backup" / "log.sqlite")).features == 2
    assert [path.name for path in (tmp_path / "backup").iterdir()] == ["log.sqlite"]


def test_empty_labels_and_arrays_of_another_length_are_errors(tmp_path: Path) -> None:
    with running(tmp_path, "--learner", "averaged", "--learn", tmp_path / "log.sqlite") as server:
        for label in ("", " \t"):
            assert server.ask("POST", "/learn", {"row": [1, 2], "label": label})[0] == 422
        for rows in ([[1, 2, 3], [1, 2]], [[1, 2], [1, 2, 3]]):
            assert server.ask("POST", "/learn", {"rows": rows, "labels": ["x", "y"]})[0] == 422
        last = server.post("/learn", {"rows": [[1, 2, 3], [4, 5, 6]], "labels": ["x", "y"]})["last"]
        for path, body in (("/learn", {"label": "x"}), ("/predict", {"min_seq": last})):
            for row in ([1, 2], [1, 2, 3, 4], []):
                status, content = server.ask("POST", path, {"row": row} | body)
                assert (status, "expects 3" in content["error"]["message"]) == (422, True)
        server.post("/learn", {"row": {"7": 1.0}, "label": "x"})
        server.post("/learn", {"row": [1, 2, 3, 9], "label": "y"})
        assert server.get("/model")["examples"] == 4


def test_large_replies_that_nobody_reads_do_not_pile_up(tmp_path: Path) -> None:
    words = ("--learner", "averaged", "--learn", tmp_path / "log.sqlite", "--limit", "bodies=8M")
    with running(tmp_path, *words) as server, contextlib.ExitStack() as stack:
        labels = [f"class {at:0>40}" for at in range(100)]
        last = server.post("/learn", {"rows": [{f"f{at}": 1.0} for at in range(100)], "labels": labels})["last"]
        body = json.dumps({"rows": [{}] * 1000, "scores": True, "min_seq": last}).encode()  # the reply has 5 MB
        first = server.ask("POST", "/predict", body)[1]["predictions"]
        assert len(first) == 1000
        before = server.memory()
        for _ in range(20):
            slow = stack.enter_context(socket.socket())
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", server.port))
            slow.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        wait_for(lambda: b'path="/predict",status="503"' in server.get("/metrics"))
        assert server.post("/predict", {"row": {"f1": 1.0}})["prediction"]["label"] == labels[1]
        assert server.memory() < before + (64 << 20)


@pytest.mark.parametrize("host", ["*.example.org", "example.org:8000", "http://example.org", "[abc:80]"])
def test_a_host_that_no_request_can_name_is_an_error(tmp_path: Path, host: str) -> None:
    assert "--allow-host" in refused(tmp_path, table_model(tmp_path), "--allow-host", host)


def test_an_ipv6_address_is_served_by_its_name(tmp_path: Path) -> None:
    with running(tmp_path, table_model(tmp_path), "--allow-host", "[::1]") as server:
        for host, status in (("[::1]:80", 200), ("127.0.0.1", 403)):
            assert server.ask("GET", "/model", Host=host)[0] == status
    (tmp_path / "tokens").write_text(f"predict {'p' * 20}")
    words = ("--host", "a" * 70 + ".b", "--token-file", tmp_path / "tokens")
    assert "--host" in refused(tmp_path, table_model(tmp_path), *words)


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_a_token_file_that_others_can_read_is_named(tmp_path: Path, mode: int) -> None:
    (tmp_path / "tokens").write_text(f"predict {'p' * 20}")
    (tmp_path / "tokens").chmod(mode)
    words = ("--host", "a" * 70 + ".b", "--token-file", tmp_path / "tokens")
    assert ("chmod 600" in refused(tmp_path, table_model(tmp_path), *words)) == (mode != 0o600)


@pytest.mark.parametrize("address", ["http://[::1", "http://host:x", "host:80", "http://", "ftp://somewhere"])
def test_a_client_names_an_invalid_address(address: str) -> None:
    with rejected("unreachable", repr(address)):
        Client(address)


def test_uvicorn_has_an_upper_bound_and_what_is_overridden() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    (bound,) = [word for word in project["project"]["optional-dependencies"]["serve"] if word.startswith("uvicorn")]
    requirement = Requirement(bound)
    assert uvicorn.__version__ in requirement.specifier
    assert "1000" not in requirement.specifier
    base = BoundedProtocol.__bases__[0]
    overridden = {name for name, value in vars(BoundedProtocol).items() if callable(value)} - {"_refuse"}
    assert overridden - set(dir(base)) == {"close_if_overdue"}
