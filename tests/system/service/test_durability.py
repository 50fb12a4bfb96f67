"""What may happen to a disk, a clock and a log, and what is left of the model then."""

import contextlib
import itertools
import json
import os
import random
import resource
import shutil
import socket
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from folding import plain_fold, same_bits, stored
from rejected import rejected
from running import Server, refused, running, wait_for
from written import put

from rosenblatt.service.config import ServiceLimits
from rosenblatt.service.event_log import EventLog, LearnerRecord
from rosenblatt.service.trainer import open_trainer


def rows_of(dice: random.Random, count: int) -> tuple[list[dict[str, float]], list[str]]:
    rows = [{f"w{dice.randrange(40)}": dice.gauss(0, 1) for _ in range(5)} for _ in range(count)]
    return rows, [dice.choice(("a", "b", "c")) for _ in rows]


def send(server: Server, dice: random.Random, requests: int) -> None:
    for _ in range(requests):
        rows, labels = rows_of(dice, dice.choice((1, 3, 7)))
        server.post("/learn", {"rows": rows, "labels": labels})


def filled(folder: Path, requests: int = 40, snapshots: int = 0) -> Path:
    """A log whose server was killed, with the newest examples in the WAL, and at least so many snapshots."""
    dice, log = random.Random(1), folder / "log.sqlite"
    with running(folder, "--learner", "averaged", "--learn", log, "--snapshot-every", 60) as server:
        for sent in itertools.count():
            if sent >= requests and len(list(folder.glob("log.sqlite.snapshots/*.snapshot"))) >= snapshots:
                break
            send(server, dice, 1)
        server.kill()
    return log


def learned(log: Path) -> Any:
    """What a server that starts on this log has learned."""
    trainer = open_trainer(str(log), ServiceLimits())
    trainer.log.close()
    return trainer.model.learner


def test_a_torn_or_altered_wal_gives_a_prefix_and_the_fold_of_it(tmp_path: Path) -> None:
    # A server that ends in peace has its log in the main file. The next one makes no snapshot and is killed: the WAL
    # holds all that it learned. A server killed while it moves the WAL into the main file needs the WAL whole; it is,
    # since SQLite waits for the disk before.
    log, dice = tmp_path / "log.sqlite", random.Random(1)
    for last, every in ((False, 60), (True, 1_000_000)):
        with running(tmp_path, "--learner", "averaged", "--learn", log, "--snapshot-every", every) as server:
            send(server, dice, 40)
            if not last:
                assert server.stop() == 0
    assert list(Path(f"{log}.snapshots").iterdir())
    whole = stored(log)
    wal = Path(f"{log}-wal")
    size = wal.stat().st_size
    assert size > 0
    dice = random.Random(2)
    lengths = set()
    for trial in range(25):
        folder = tmp_path / str(trial)
        folder.mkdir()
        copy = folder / log.name
        for path in tmp_path.glob("log.sqlite*"):
            (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / path.name)
        Path(f"{copy}-shm").unlink(missing_ok=True)
        torn = Path(f"{copy}-wal")
        if trial % 3 == 2:
            content = bytearray(torn.read_bytes())
            content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
            torn.write_bytes(content)
        else:
            os.truncate(torn, dice.randrange(size + 1))
        found = learned(copy)
        left = stored(copy)
        assert left == whole[: len(left)]
        assert same_bits(found, plain_fold(copy))
        lengths.add(len(left))
    assert len(lengths) > 3  # it was torn in more than one place


def test_a_snapshot_that_is_broken_foreign_or_ahead_is_not_believed(tmp_path: Path) -> None:
    log = filled(tmp_path, snapshots=2)
    snapshots = sorted(Path(f"{log}.snapshots").iterdir())
    assert len(snapshots) == 2
    snapshots[1].write_bytes(snapshots[1].read_bytes()[:-100])
    assert same_bits(learned(log), plain_fold(log))
    other = tmp_path / "other"
    other.mkdir()
    foreign = sorted(Path(f"{filled(other, 20, snapshots=1)}.snapshots").iterdir())[0]
    shutil.copy(foreign, snapshots[1])
    shutil.copy(foreign, snapshots[0].with_name("9" * 16 + ".snapshot"))
    assert same_bits(learned(log), plain_fold(log))
    shutil.rmtree(f"{log}.snapshots")
    assert same_bits(learned(log), plain_fold(log))


def test_a_second_server_on_the_same_log_is_refused(tmp_path: Path, server: Server) -> None:
    link = tmp_path / "another-name.sqlite"
    link.symlink_to(tmp_path / "log.sqlite")
    for name in ("log.sqlite", "another-name.sqlite"):
        assert "is in use" in refused(tmp_path, "--learn", tmp_path / name)
    assert server.post("/learn", {"row": {"a": 1}, "label": "x"})["first"] == 1


def test_a_limit_on_the_size_of_files_stops_learning_only(tmp_path: Path) -> None:
    """Learn until the disk is full; predictions continue; with space, learning continues as if nothing had happened."""
    log, dice, sent, labels = tmp_path / "log.sqlite", random.Random(3), 0, ["a", "b", "a", "b", "b"]
    with running(tmp_path, "--learner", "averaged", "--learn", log) as server:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
        while True:
            rows = [{f"word {dice.random()}": 1.0 for _ in range(40)} for _ in range(5)]
            body, key = {"rows": rows, "labels": labels}, str(sent)
            status, headers, content = server.ask_raw("POST", "/learn", body, Idempotency_Key=key)
            if status != 200:
                break
            sent += 1
            assert sent < 10_000
        assert (status, "retry-after" in headers) == (503, True)
        assert content["error"]["message"].startswith("the examples cannot be stored")
        assert server.get("/ready")["learning"] != "on"
        for _ in range(3):
            found = server.post("/predict", {"row": {"word": 1.0}, "min_seq": 5 * sent})
            assert found["prediction"]["label"] in ("a", "b")
        assert len(stored(log)) >= 5 * sent
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        wait_for(lambda: server.ask("POST", "/learn", body, Idempotency_Key=key)[0] == 200)
        assert server.get("/ready")["learning"] == "on"
        assert server.stop() == 0, server.text()
    assert len(stored(log)) == 5 * sent + 5
    assert same_bits(learned(log), plain_fold(log))


def test_a_server_with_tighter_limits_still_learns_its_log(tmp_path: Path) -> None:
    log = filled(tmp_path, 10)
    tight = ServiceLimits(cells=1, features=1, classes=1, name=1)
    trainer = open_trainer(str(log), tight)
    trainer.log.close()
    assert same_bits(trainer.model.learner, plain_fold(log))


def test_a_client_that_hangs_up_during_a_commit_stops_nobody(server: Server, tmp_path: Path) -> None:
    body = json.dumps({"row": {"a": 1.0}, "label": "x"}).encode()
    head = b"POST /learn HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    for _ in range(30):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(head % len(body) + body)
            # A reset, at once: the reply finds nobody.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    assert server.post("/learn", {"row": {"b": 1.0}, "label": "y"})["predicted"] == ["x"]
    examples = server.get("/model")["examples"]
    assert server.stop() == 0, server.text()
    assert len(stored(tmp_path / "log.sqlite")) == examples
    assert "Traceback" not in server.text()
    assert same_bits(learned(tmp_path / "log.sqlite"), plain_fold(tmp_path / "log.sqlite"))


def test_sigterm_answers_what_was_accepted_and_saves_a_snapshot(tmp_path: Path, server: Server) -> None:
    import threading

    replies: list[int] = []

    def learn(who: int) -> None:
        rows, labels = rows_of(random.Random(who), 800)  # so large that it waits as bytes
        with contextlib.suppress(OSError):  # one that had not come whole was not accepted: it may be cut off
            replies.append(server.ask("POST", "/learn", {"rows": rows, "labels": labels})[0])

    threads = [threading.Thread(target=learn, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    wait_for(lambda: replies)
    assert server.stop() == 0, server.text()
    for thread in threads:
        thread.join()
    log = tmp_path / "log.sqlite"
    examples = stored(log)
    assert len(examples) >= 800 * replies.count(200)
    newest = max(Path(f"{log}.snapshots").iterdir())
    assert int(newest.stem) == len(examples)
    assert same_bits(learned(log), plain_fold(log))


def test_what_is_no_log_is_refused_with_a_sentence(tmp_path: Path) -> None:
    text = put(tmp_path / "notes.txt", "not a log, " * 1000)
    with rejected("data", "notes.txt"):
        EventLog(str(text))
    with rejected("data", "nothing.sqlite"):
        EventLog(str(tmp_path / "nothing.sqlite"), readonly=True)
    with rejected("data", str(tmp_path)):
        EventLog(str(tmp_path), create=LearnerRecord("{}"))
    with pytest.raises(FileNotFoundError, match="no folder"):
        EventLog(str(tmp_path / "no folder" / "log.sqlite"), create=LearnerRecord("{}"))
    newer = tmp_path / "newer.sqlite"
    EventLog(str(newer), create=LearnerRecord("{}")).close()
    with sqlite3.connect(newer) as connection:
        connection.execute("UPDATE about SET value = 99 WHERE name = 'version'")
    connection.close()
    with rejected("data", "version 99"):
        EventLog(str(newer))
