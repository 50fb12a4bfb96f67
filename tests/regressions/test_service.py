"""What once went wrong with a served model."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folding import plain_fold, same_bits
from running import Server, running

import rosenblatt
from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.models.file import load
from rosenblatt.params import make_params
from rosenblatt.service import trainer as trainer_module
from rosenblatt.service.config import ServiceLimits
from rosenblatt.service.event_log import EventLog, LearnerRecord
from rosenblatt.service.replay import compare, replay
from rosenblatt.service.schemas import Examples
from rosenblatt.service.startup import model_record, new_record, open_trainer
from rosenblatt.service.trainer import Job, Trainer

HEAD = b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


def append(trainer: Trainer, rows: list[Any], labels: list[Any]) -> None:
    examples = json.dumps({"rows": rows, "labels": labels}).encode()
    trainer.log.append([(len(rows), 0.0, examples, None, b"")])


def new_log(path: Path, **parameters: Any) -> Trainer:
    return open_trainer(str(path), ServiceLimits(), new_record(make_params("averaged", **parameters)))


def refused(folder: Path, *words: Any) -> str:
    """What a server prints that does not start."""
    server = Server([str(word) for word in words], folder)
    server.process.join()
    assert server.process.exitcode in (1, 2)
    assert "Traceback" not in server.text()
    return server.text()


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


# -- class weights (1)


def test_balanced_class_weight_is_an_error_at_start(tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite"
    assert "class_weight" in refused(tmp_path, "--learner", "averaged", "--class-weight", "balanced", "--learn", log)
    assert not list(tmp_path.glob("log.sqlite*"))


def test_class_weights_are_learned_replayed_and_saved(tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite"
    words = ("--learner", "averaged", "--class-weight", "spam=2.5", "--learn", log, "--snapshot-every", 1)
    rows = [{"a": 1.0}, {"b": 1.0}, {"a": 0.5, "b": 1.0}, {"c": 1.0, "a": -1.0}]
    labels = ["spam", "ham", "spam", "ham"]
    with running(tmp_path, *words) as server:
        for row, label in zip(rows, labels, strict=True):
            server.post("/learn", {"row": row, "label": label})
        (tmp_path / "served.model").write_bytes(server.get("/model/file"))
        server.kill()
    expected = plain_fold(log, AveragedPerceptron(class_weight={"spam": 2.5}))
    assert not same_bits(expected, plain_fold(log))
    assert same_bits(load(tmp_path / "served.model"), expected)
    assert same_bits(replay(str(log)), expected)
    trainer = open_trainer(str(log), ServiceLimits())
    trainer.log.close()
    assert same_bits(trainer.model.learner, expected)


def test_a_replay_with_balanced_class_weight_is_an_error(tmp_path: Path) -> None:
    trainer = new_log(tmp_path / "log.sqlite")
    append(trainer, [{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    trainer.log.close()
    with pytest.raises(ParameterError, match="class_weight"):
        replay(str(tmp_path / "log.sqlite"), make_params("averaged", class_weight="balanced"))


@pytest.mark.parametrize("parameter", ["early_stopping", "warm_start"])
def test_a_parameter_that_a_stream_cannot_honor_is_an_error(tmp_path: Path, parameter: str) -> None:
    with pytest.raises(ParameterError, match=parameter):
        new_log(tmp_path / "log.sqlite", **{parameter: True})


# -- models with an encoder (2, 46)


def test_a_model_with_an_encoder_is_the_same_served_saved_and_replayed(tmp_path: Path) -> None:
    path, log = table_model(tmp_path), tmp_path / "log.sqlite"
    dice = np.random.default_rng(1)
    rows: list[dict[str, Any]] = [
        {"age": int(dice.integers(18, 80)), "job": str(dice.choice(["clerk", "smith", "cook"])), "city": "a"}
        for _ in range(300)
    ]
    labels = ["yes" if row["age"] > 40 and row["job"] != "cook" else "no" for row in rows]
    with running(tmp_path, path, "--learn", log) as server:
        last = server.post("/learn", {"rows": rows, "labels": labels})["last"]
        served = server.post("/predict", {"rows": rows, "scores": True, "min_seq": last})["predictions"]
        (tmp_path / "served.model").write_bytes(server.get("/model/file"))
        assert server.stop() == 0
    rosenblatt.save(replay(str(log)), tmp_path / "replayed.model")
    assert (tmp_path / "replayed.model").read_bytes() == (tmp_path / "served.model").read_bytes()
    for again in (("served.model",), ("replayed.model", "--learn", "new.sqlite")):
        with running(tmp_path, *(word if word.startswith("--") else tmp_path / word for word in again)) as server:
            assert server.post("/predict", {"rows": rows, "scores": True})["predictions"] == served
    # Another learner that replays the log reads the same columns.
    rosenblatt.save(replay(str(log), make_params("arow")), tmp_path / "arow.model")
    (error,) = compare(str(log), [make_params("arow")])
    with running(tmp_path, tmp_path / "arow.model") as server:
        found = [each["label"] for each in server.post("/predict", {"rows": rows})["predictions"]]
    assert np.mean(np.array(found) != np.array(labels)) <= max(0.1, error["progressive_error"])


def test_a_loaded_model_reads_raw_rows_as_the_server_does(tmp_path: Path) -> None:
    path, rows = (
        table_model(tmp_path),
        [{"age": 60, "job": "smith", "city": None}, {"age": 30, "job": "cook", "city": "b"}],
    )
    with running(tmp_path, path) as server:
        served = [each["label"] for each in server.post("/predict", {"rows": rows})["predictions"]]
    assert load(path).predict(rows).tolist() == served


def test_columns_are_treated_as_in_files(tmp_path: Path) -> None:
    with running(tmp_path, table_model(tmp_path)) as server:
        row = {"age": 30, "job": "clerk", "city": None}
        label = server.post("/predict", {"row": row})["prediction"]
        assert server.post("/predict", {"row": row | {"shoe size": 43}})["prediction"] == label
        status, content = server.ask("POST", "/predict", {"row": {"age": 30, "job": "clerk"}})
        assert status == 422
        assert "city" in content["error"]["message"]


# -- bodies of another shape (49)


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
                assert server.ask("POST", "/predict", json.loads(example))[0] == 200


# -- many names (32)


def test_a_new_name_costs_no_look_at_all_known_names(tmp_path: Path) -> None:
    class Names(dict[Any, int]):
        looks = 0

        def __iter__(self) -> Iterator[Any]:
            Names.looks += 1
            return super().__iter__()

    trainer = new_log(tmp_path / "log.sqlite")
    append(trainer, [{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    trainer.catch_up(trainer.model.hash_chain)
    names = Names({f"name {at}": at for at in range(1000)})
    trainer.schema.names = names
    seconds = []
    for size in (1000, 400_000):
        names.update({f"name {at}": at for at in range(size)})
        begun = time.perf_counter()
        for at in range(200):
            assert trainer._new_names([{f"new {at}": 1.0, "name 5": 1.0}]) == {f"new {at}"}
        seconds.append(time.perf_counter() - begun)
    trainer.log.close()
    assert Names.looks == 0
    assert seconds[1] < 20 * seconds[0] + 0.05


@pytest.mark.parametrize("learner", ["averaged", "arow", "pocket"])
def test_the_columns_of_a_server_are_those_of_its_learner(tmp_path: Path, learner: str) -> None:
    dice, log = np.random.default_rng(0), tmp_path / "log.sqlite"
    trainer = open_trainer(str(log), ServiceLimits(), new_record(make_params(learner)))
    for at in range(60):
        row = {f"f{dice.integers(at + 5)}": float(dice.normal()) for _ in range(3)}
        append(trainer, [row, {}], [f"class {dice.integers(at // 12 + 1)}"] * 2)
        trainer.catch_up(trainer.model.hash_chain)
        assert trainer.schema.names == trainer.model.learner.columns_by_name()
        assert trainer.schema.names is trainer.model.names
    trainer.log.close()


# -- connections without a token (35)


def test_trailers_without_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("admin " + "a" * 20)
    words = ("--learner", "averaged", "--learn", tmp_path / "log.sqlite", "--token-file", tmp_path / "tokens")
    with running(tmp_path, *words) as server:
        before = server.memory()
        for trailer in (b"X: " + b"y" * 65536, b"X: y\r\n" * 10_000):
            with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
                connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n \r\n0\r\n")
                assert bytes_accepted(connection, trailer) < 20 << 20
        assert server.memory() - before < 40 << 20


def test_pipelined_requests_do_not_pile_up(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("admin " + "a" * 20)
    words = ("--learner", "averaged", "--learn", tmp_path / "log.sqlite", "--token-file", tmp_path / "tokens")
    with running(tmp_path, *words) as server:
        before = server.memory()
        request = b"GET /model HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 5000
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            assert bytes_accepted(connection, request) < 20 << 20
        assert server.memory() - before < 40 << 20
        assert server.ask("GET", "/health")[0] == 200


def test_a_few_pipelined_requests_are_answered(tmp_path: Path) -> None:
    with running(tmp_path, "--learner", "averaged", "--learn", tmp_path / "log.sqlite") as server:
        request = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(request * 3 + request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            found = b""
            while part := connection.recv(65536):
                found += part
        assert found.count(b"HTTP/1.1 200") == 4


# -- starts that fail (37), damaged logs (38), what cannot be learned (41b)


@pytest.mark.parametrize("words", [
    ["--learner", "perceptron", "--keep", "vote"],
    ["--learner", "averaged", "--early-stopping"],
    ["--learner", "averaged", "--tie", "positive", "--classes", "a,b,c"],
    ["--learner", "averaged", "--token-file", "nothing"],
    ["--learner", "averaged", "--host", "203.0.113.7"],
    ["some.model"],
])  # fmt: skip
def test_a_start_that_fails_leaves_no_log(tmp_path: Path, words: list[str]) -> None:
    log = tmp_path / "log.sqlite"
    y = np.arange(4.0)
    rosenblatt.save(rosenblatt.PassiveAggressiveRegression().fit(np.eye(4), y), tmp_path / "some.model")
    refused(tmp_path, *(tmp_path / word if word.endswith(".model") else word for word in words), "--learn", log)
    assert not list(tmp_path.glob("log.sqlite*"))
    with running(tmp_path, "--learner", "averaged", "--learn", log) as server:
        server.post("/learn", {"row": {"a": 1.0}, "label": "x"})


@pytest.mark.parametrize("damage", [
    "UPDATE entries SET examples = replace(examples, 'yes', 'no') WHERE seq > 10",
    "DELETE FROM entries WHERE seq = 3",
    "UPDATE entries SET hash_chain = zeroblob(16) WHERE seq = 20",
    "UPDATE entries SET count = 2 WHERE seq = 5",
    "UPDATE about SET value = replace(value, '1.0', '2.0') WHERE name = 'params'",
])  # fmt: skip
@pytest.mark.parametrize("snapshot", [False, True])
def test_a_damaged_log_is_not_served(tmp_path: Path, damage: str, snapshot: bool) -> None:
    log = tmp_path / "log.sqlite"
    trainer = new_log(log)
    for at in range(30):
        append(trainer, [{f"f{at % 3}": 1.0}], [("yes", "no")[at % 2]])
    trainer.catch_up(trainer.model.hash_chain)
    if snapshot:
        trainer.snapshot()
    trainer.log.close()
    with sqlite3.connect(log) as connection:
        connection.execute(damage)
    connection.close()
    before = log.read_bytes()
    for read in (lambda: open_trainer(str(log), ServiceLimits()), lambda: replay(str(log))):
        with pytest.raises(DataError, match="damaged"):
            read()
    assert log.read_bytes() == before


def test_examples_that_need_too_much_memory_are_not_stored(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(trainer_module, "free_memory", lambda: 100 << 20)
    trainer = new_log(tmp_path / "log.sqlite")
    trainer.schema.use({f"f{at}": at for at in range(900_000)})
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
    assert (again.model.skipped, again.model.seq, again.model.tracker.examples) == (1, 4, 3)
    assert "weights" in capsys.readouterr().err


# -- replies and waits (39), hosts and modes (40)


def test_replies_are_bounded(tmp_path: Path) -> None:
    words = ("--learner", "averaged", "--learn", tmp_path / "log.sqlite", "--limit", "reply=100K")
    with running(tmp_path, *words) as server:
        labels = ["x" * 900, "y" * 900, "z" * 900]
        last = server.post("/learn", {"rows": [{"a": 1.0}, {"b": 1.0}, {"c": 1.0}], "labels": labels})["last"]
        body = {"rows": [{"a": 1.0}] * 50, "scores": True, "min_seq": last}
        assert server.ask("POST", "/predict", body)[0] == 413
        assert server.ask("POST", "/predict", body | {"rows": [{"a": 1.0}]})[0] == 200
        assert server.ask("POST", "/learn", {"rows": [{"a": 1.0}] * 200, "labels": [labels[0]] * 200})[0] == 413


def test_waiting_for_examples_does_not_publish_per_request(tmp_path: Path) -> None:
    trainer = new_log(tmp_path / "log.sqlite")
    append(trainer, [{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    trainer.catch_up(trainer.model.hash_chain)
    trainer._publish_cost, trainer._published_at = 0.5, time.monotonic()  # a large model
    trainer._waiters = [(2, None)] * 100  # type: ignore[list-item]
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


# -- a read-only disk (41c)


def test_a_log_on_a_read_only_disk_left_by_a_kill_can_be_replayed(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4M", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a disk")
    log = disk / "log.sqlite"
    try:
        with running(tmp_path, "--learner", "averaged", "--learn", log) as server:
            server.post("/learn", {"rows": [{"a": 1.0}, {"b": 1.0}], "labels": ["x", "y"]})
            server.kill()
        expected = plain_fold(log)
        Path(f"{log}-shm").unlink(missing_ok=True)
        assert os.path.getsize(f"{log}-wal")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        assert same_bits(replay(str(log)), expected)
        assert "cannot be used as a log" in refused(tmp_path, "--learn", log)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


# -- lineage, reload, input drift (56)


def test_a_model_is_reloaded_without_a_restart(tmp_path: Path) -> None:
    import signal

    path = tmp_path / "some.model"
    rosenblatt.save(Perceptron().fit([[-1.0], [1.0]], ["no", "yes"]), path)
    with running(tmp_path, path) as server:
        first = server.get("/model")
        rosenblatt.save(Perceptron().fit([[-1.0, 0.0], [1.0, 0.0]], ["yes", "no"]), path)
        assert server.get("/model") == first
        second = server.post("/reload", None)
        assert second["features"] == 2
        assert second["lineage"]["sha256"] != first["lineage"]["sha256"]
        assert server.post("/predict", {"row": [1.0, 0.0]})["prediction"]["label"] == "no"
        path.write_bytes(b"not a model")
        assert server.ask("POST", "/reload")[0] == 409
        assert server.get("/model") == second  # the old model stays
        rosenblatt.save(Perceptron().fit([[-1.0], [1.0]], ["no", "yes"]), path)
        os.kill(server.pid, signal.SIGHUP)
        until = time.monotonic() + 60
        while server.get("/model")["features"] != 1 and time.monotonic() < until:
            time.sleep(0.02)
        assert server.get("/model")["lineage"] == first["lineage"]


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


def test_the_start_of_the_hash_chain_depends_on_the_learner(tmp_path: Path) -> None:
    digests = {LearnerRecord("{}").digest(), LearnerRecord("{} ").digest(), LearnerRecord("{}", b"state").digest()}
    assert len(digests) == 3
    EventLog(str(tmp_path / "log.sqlite"), create=LearnerRecord("{}")).close()
