"""Clients learn and predict while the server is killed again and again: nothing acknowledged is lost or learned twice.

`make test` kills it 6 times, `make test-all` 20 times, ROSENBLATT_KILLS=200 in the environment 200 times.
"""

import os
import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from folding import plain_fold, same_bits, stored
from length import up_to
from running import Server, wait_for
from written import put

from rosenblatt.models.file import load
from rosenblatt.service.client import Client, ServiceError
from rosenblatt.service.online_model import model_bytes
from rosenblatt.service.replay import replay

KILLS = int(os.environ.get("ROSENBLATT_KILLS", up_to(20, short=6)))
CLIENTS = 4
LABELS = ("spam", "ham", "eggs")


class Crowd:
    """Clients that run until stopped; each knows what was acknowledged."""

    def __init__(self) -> None:
        self.address = ""
        self.stop = threading.Event()
        self.abandoned = threading.Event()  # the server will not come back
        self.acknowledged: list[tuple[int, int, int]] = []  # who, its how-manieth, the number in the log
        self.answers = 0
        self.errors: list[BaseException] = []
        self.threads = [threading.Thread(target=self.run, args=(self.learn, who)) for who in range(CLIENTS)]
        self.threads.append(threading.Thread(target=self.run, args=(self.predict, CLIENTS)))

    def run(self, what: Any, who: int) -> None:
        try:
            what(who, random.Random(who))
        except BaseException as error:
            self.errors.append(error)

    def asked(self, ask: Any) -> Any:
        """The same request until it is answered, wherever the server is by then."""
        while True:
            try:
                with Client(self.address, patience=0.0, timeout=20) as client:
                    return ask(client)
            except ServiceError as error:
                if self.abandoned.is_set() or (error.status is not None and error.status != 503):
                    raise
                time.sleep(0.02)

    def learn(self, who: int, dice: random.Random) -> None:
        sent = 0
        while not self.stop.is_set():
            size = dice.choice((1, 1, 1, 5, 40))
            rows = [
                {f"w{dice.randrange(30)}": dice.gauss(0, 1) for _ in range(5)} | {"who": who, "sent": sent + at}
                for at in range(size)
            ]
            labels = [dice.choice(LABELS) for _ in rows]
            key = f"{who}-{sent}"
            reply = self.asked(lambda client, r=rows, y=labels, k=key: client.learn(r, y, key=k))
            assert reply["last"] - reply["first"] == size - 1
            self.acknowledged += [(who, sent + at, reply["first"] + at) for at in range(size)]
            sent += size

    def predict(self, who: int, dice: random.Random) -> None:
        while not self.stop.is_set():
            labels = self.asked(lambda client: client.predict([{f"w{dice.randrange(30)}": 1.0}]))
            assert labels[0] in (None, *LABELS)
            self.answers += 1


@pytest.mark.long
@pytest.mark.parametrize("kills", [KILLS])
def test_nothing_acknowledged_is_lost_or_learned_twice(tmp_path: Path, kills: int) -> None:
    log, dice, crowd = tmp_path / "log.sqlite", random.Random(0), Crowd()
    words = ["--learn", str(log), "--snapshot-every", "97"]
    server = Server(["--learner", "averaged", *words], tmp_path).wait()
    crowd.address = f"http://127.0.0.1:{server.port}"
    for thread in crowd.threads:
        thread.start()
    try:
        for _ in range(kills):
            heard = len(crowd.acknowledged)
            wait_for(lambda heard=heard: len(crowd.acknowledged) > heard or crowd.errors)
            crowd.stop.wait(dice.uniform(0.0, 0.15))  # somewhere in a commit, a snapshot, an answer
            server.kill()
            server = Server(words, tmp_path).wait()
            crowd.address = f"http://127.0.0.1:{server.port}"
    except BaseException:
        crowd.abandoned.set()
        raise
    finally:
        crowd.stop.set()
        for thread in crowd.threads:
            thread.join()
    assert not crowd.errors
    assert crowd.answers > 0
    server.post("/predict", {"row": {"w1": 1.0}, "min_seq": max(seq for *_, seq in crowd.acknowledged)})  # published
    served = put(tmp_path / "served.model", server.get("/model/file"))
    facts = server.get("/model")
    assert server.stop() == 0, server.text()

    examples = stored(log)
    assert [seq for seq, *_ in examples] == list(range(1, len(examples) + 1))
    found = Counter((row["who"], row["sent"]) for _, row, _, _ in examples)
    assert set(found.values()) == {1}
    places = {(row["who"], row["sent"]): seq for seq, row, _, _ in examples}
    assert all(places[who, sent] == seq for who, sent, seq in crowd.acknowledged)
    # Everything that was sent was tried until it was acknowledged.
    assert len(crowd.acknowledged) == len(examples) == facts["examples"]
    assert same_bits(load(served), plain_fold(log))
    assert same_bits(replay(str(log)), plain_fold(log))
    assert served.read_bytes() == model_bytes(replay(str(log)))
