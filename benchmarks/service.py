"""The service, beside FastAPI with scikit-learn and beside a bare server.

    pip install fastapi
    python benchmarks/service.py [--quick] [--json FILE]

Servers and the client share this machine's cores, over loopback. Every stack is measured in the same run, by turns:
`rosenblatt serve`; the same model of scikit-learn, unpickled, behind a plain FastAPI handler; and uvicorn with an ASGI
application that returns a constant. The client is one process with as many connections as the table says, each of which
sends its next request when it has the answer. Durable learning is answered when the example is on disk and learned.
Predictions beside learning come at a fixed pace, since a full machine makes every answer wait for every other.
`CPU us` is the CPU time that the server spends on a request, and `ratio` that of FastAPI over it: on a busy machine it
says more than the clock does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from measure import save, show

FEATURES, BULK = 10, 1000
CONNECTIONS = 32

FASTAPI = """
import pickle, sys
import numpy as np
from fastapi import FastAPI
from pydantic import BaseModel
model = pickle.load(open(sys.argv[1], "rb"))
app = FastAPI()
class Rows(BaseModel):
    rows: list[list[float]]
@app.post("/predict")
async def predict(body: Rows):
    X = np.array(body.rows)
    return {"labels": model.predict(X).tolist(), "scores": model.decision_function(X).tolist()}
import uvicorn
uvicorn.run(app, port=int(sys.argv[2]), loop="uvloop", http="httptools", log_level="error")
"""
BARE = """
import sys, uvicorn
BODY = b'{"label":"yes"}'
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"15")]
async def app(scope, receive, send):
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": BODY})
uvicorn.run(app, port=int(sys.argv[2]), loop="uvloop", http="httptools", log_level="error", lifespan="off")
"""


class Connection(asyncio.Protocol):
    """Sends a request when it has the answer to the last one, or when its turn comes."""

    def __init__(self, requests: Callable[[], bytes], latencies: list[float], pace: float | None) -> None:
        self.requests, self.latencies, self.pace = requests, latencies, pace
        self.waiting, self.stopped, self.sent, self.due, self.found = -1, False, 0.0, 0.0, b""
        self.failed = 0

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.due = time.perf_counter()
        self.send()

    def send(self) -> None:
        if self.stopped:
            self.transport.close()
            return
        # A request that is late because the one before it was late has waited since its turn came.
        self.sent = time.perf_counter() if self.pace is None else self.due
        self.transport.write(self.requests())

    def data_received(self, data: bytes) -> None:
        self.found += data
        if self.waiting < 0:
            end = self.found.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self.found[:end].lower()
            self.failed += not head.startswith(b"http/1.1 200")
            at = head.index(b"content-length:") + 15
            self.waiting = end + 4 + int(head[at : at + 12].split(b"\r")[0])
        if len(self.found) < self.waiting:
            return
        self.found, self.waiting = b"", -1
        now = time.perf_counter()
        self.latencies.append(now - self.sent)
        if self.pace is None:
            self.send()
        else:
            self.due += self.pace
            asyncio.get_running_loop().call_later(max(0.0, self.due - now), self.send)


def cpu_of(process: subprocess.Popen[str]) -> float:
    """The CPU seconds that a process has used."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _load(
    server: tuple[subprocess.Popen[str], int],
    loads: list[tuple[Callable[[], bytes], int, float | None]],
    seconds: float,
) -> list[Any]:
    process, port = server
    loop = asyncio.get_running_loop()
    found = []
    everyone = []
    for requests, connections, pace in loads:
        latencies: list[float] = []
        for _ in range(connections):
            _, each = await loop.create_connection(
                lambda r=requests, p=pace, kept=latencies: Connection(r, kept, p), "127.0.0.1", port
            )
            everyone.append(each)
        found.append(latencies)
    await asyncio.sleep(0.3)  # warm
    for latencies in found:
        latencies.clear()
    begun, used = time.perf_counter(), cpu_of(process)
    await asyncio.sleep(seconds)
    passed, used = time.perf_counter() - begun, cpu_of(process) - used
    answered = max(1, sum(len(latencies) for latencies in found))
    results = [{**figures(list(latencies), passed), "CPU us": 1e6 * used / answered} for latencies in found]
    for each in everyone:
        each.stopped = True
    await asyncio.sleep(0.2)
    failed = sum(each.failed for each in everyone)
    if failed:
        raise RuntimeError(f"{failed} requests failed")
    for each in everyone:
        each.transport.abort()
    await asyncio.sleep(0.1)  # until they are closed: a server that ends waits for open ones
    return results


def load(
    server: tuple[subprocess.Popen[str], int],
    *loads: tuple[Callable[[], bytes], int, float | None],
    seconds: float,
) -> list[dict[str, float]]:
    """Requests per second, latencies and the server's CPU time per request, of several loads at once."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_load(server, list(loads), seconds))


def figures(latencies: list[float], seconds: float) -> dict[str, float]:
    if not latencies:
        raise RuntimeError("not one request was answered")
    latencies.sort()
    return {
        "per second": len(latencies) / seconds,
        "p50 ms": 1000 * latencies[len(latencies) // 2],
        "p99 ms": 1000 * latencies[int(0.99 * len(latencies))],
    }


def post(path: str, body: bytes, kind: str = "application/json") -> bytes:
    """A request, answered in the form in which it was asked."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nAccept: {kind}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def ours(words: list[str]) -> tuple[subprocess.Popen[str], int]:
    """Our server, and the port that it took."""
    command = [sys.executable, "-m", "rosenblatt", "serve", "--port", "0", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, int(process.stdout.readline().split("127.0.0.1:")[1].split("/")[0])


def theirs(code: str, *words: str) -> tuple[subprocess.Popen[str], int]:
    """Another server, once it answers."""
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", code, *words, str(port)], text=True)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port
        except OSError:
            if process.poll() is not None:
                raise RuntimeError("the other server did not start: pip install fastapi") from None
            time.sleep(0.05)


def middle(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def predictions(folder: Path, turns: int, seconds: float) -> tuple[list[Any], list[Any]]:
    """Single rows and bulk, every stack by turns."""
    from sklearn.linear_model import Perceptron as Peer

    import rosenblatt

    dice = np.random.default_rng(0)
    X = dice.normal(size=(5000, FEATURES))
    y = np.where(X @ dice.normal(size=FEATURES) > 0, "yes", "no")
    rosenblatt.save(rosenblatt.Perceptron().fit(X, y), folder / "ours.model")
    (folder / "peer.pickle").write_bytes(pickle.dumps(Peer().fit(X, y)))
    one = post("/predict", json.dumps({"rows": X[:1].tolist(), "scores": True}).encode())
    peer_one = post("/predict", json.dumps({"rows": X[:1].tolist()}).encode())
    many = post("/predict", json.dumps({"rows": X[:BULK].tolist(), "scores": True}).encode())
    peer_many = post("/predict", json.dumps({"rows": X[:BULK].tolist()}).encode())
    asks = {
        "single": {"rosenblatt serve": one, "FastAPI + scikit-learn": peer_one, "bare uvicorn": peer_one},
        "bulk": {"rosenblatt serve": many, "FastAPI + scikit-learn": peer_many},
    }
    runs: dict[str, dict[str, list[Any]]] = {kind: {name: [] for name in who} for kind, who in asks.items()}
    servers: dict[str, tuple[subprocess.Popen[str], int]] = {}
    try:
        servers["rosenblatt serve"] = ours([str(folder / "ours.model")])
        servers["FastAPI + scikit-learn"] = theirs(FASTAPI, str(folder / "peer.pickle"))
        servers["bare uvicorn"] = theirs(BARE, "")
        for _ in range(turns):
            for kind, who in asks.items():
                for name, request in who.items():
                    connections = CONNECTIONS if kind == "single" else 4
                    ask = (lambda body=request: body, connections, None)
                    runs[kind][name] += load(servers[name.split(",")[0]], ask, seconds=seconds)
    finally:
        for process, _ in servers.values():
            process.kill()
            process.wait()
    tables = []
    for kind, bar in (("single", 3.0), ("bulk", 10.0)):
        peer = middle(runs[kind]["FastAPI + scikit-learn"])
        rows = []
        for name, found in runs[kind].items():
            figure = middle(found)
            scale = BULK if kind == "bulk" else 1
            rows.append(
                {
                    "stack": name,
                    "rows/s": figure["per second"] * scale,
                    "p50 ms": figure["p50 ms"],
                    "p99 ms": figure["p99 ms"],
                    "CPU us": figure["CPU us"],
                    "ratio of rows/s": figure["per second"] / peer["per second"],
                    "ratio": peer["CPU us"] / figure["CPU us"],
                    "bar": bar if name.startswith("rosenblatt") else None,
                }
            )
        tables.append(rows)
    return tables[0], tables[1]


def examples() -> Callable[[], bytes]:
    """Requests to learn one row each, all different."""
    dice = np.random.default_rng(1)
    made = []
    for _ in range(2000):
        row = {f"f{j}": round(float(v), 4) for j, v in enumerate(dice.normal(size=FEATURES))}
        made.append(post("/learn", json.dumps({"row": row, "label": "yes" if row["f0"] > 0 else "no"}).encode()))
    state = [0]

    def following() -> bytes:
        state[0] = (state[0] + 1) % len(made)
        return made[state[0]]

    return following


def learning(folder: Path, seconds: float) -> tuple[list[Any], list[Any], list[Any]]:
    """Durable learning by so many clients, predictions beside it, and a replay of it all."""
    log = folder / "log.sqlite"
    row = {f"f{j}": 0.1 for j in range(FEATURES)}
    predict = post("/predict", json.dumps({"row": row}).encode())
    learn = examples()
    server = ours(["--learner", "averaged", "--learn", str(log)])
    durable, beside = [], []
    try:
        for clients in (1, CONNECTIONS, 256):
            (figure,) = load(server, (learn, clients, None), seconds=seconds)
            examples_per_second = figure.pop("per second")
            bar = 8000 if clients == CONNECTIONS else None
            durable.append({"clients": clients, "examples/s": examples_per_second, **figure, "bar": bar})
        asks = (lambda: predict, 8, 8 / 500)
        for name, others in (("alone", []), ("while 32 clients learn 1,000 examples/s", [(learn, 32, 32 / 1000)])):
            turns = [load(server, asks, *others, seconds=seconds)[0] for _ in range(3)]
            beside.append({"predictions, 500 per second": name, **middle(turns)})
        beside[1]["ratio of p99"] = beside[1]["p99 ms"] / beside[0]["p99 ms"]
        beside[1]["bar"] = 2.0
        beside[0] |= {"ratio of p99": None, "bar": None}
    finally:
        server[0].terminate()
        server[0].wait()
    from rosenblatt.service.replay import replay

    begun = time.perf_counter()
    replay(str(log))
    passed = time.perf_counter() - begun
    import sqlite3

    with sqlite3.connect(log) as connection:
        count = connection.execute("SELECT sum(count) FROM entries").fetchone()[0]
    replayed = [{"examples": count, "seconds": passed, "examples/s": count / passed}]
    return durable, beside, replayed


def vocabulary(folder: Path, seconds: float, turns: int) -> list[Any]:
    """Learning rows with a new name each, beside a small vocabulary and beside one of a million names."""
    import http.client

    servers: dict[int, tuple[subprocess.Popen[str], int]] = {}
    runs: dict[int, list[dict[str, float]]] = {}
    state = [0]

    def new_name() -> bytes:
        state[0] += 1
        row = {f"n{j}": 0.1 for j in range(FEATURES)} | {f"new {state[0]}": 1.0}
        return post("/learn", json.dumps({"row": row, "label": "yes" if state[0] % 3 else "no"}).encode())

    try:
        for names in (1000, 1_000_000):
            log = str(folder / f"{names}.sqlite")
            servers[names] = ours(["--learner", "averaged", "--learn", log, "--limit", "features=4M"])
            runs[names] = []
            connection = http.client.HTTPConnection("127.0.0.1", servers[names][1], timeout=600)
            for at in range(0, names, 20_000):
                row = {f"n{j}": 0.01 for j in range(at, min(names, at + 20_000))}
                body = json.dumps({"row": row, "label": "yes" if at % 40_000 else "no"})
                connection.request("POST", "/learn", body, {"Content-Type": "application/json"})
                assert connection.getresponse().read().startswith(b'{"first"')
        for _ in range(turns):
            for names, server in servers.items():
                runs[names] += load(server, (new_name, CONNECTIONS, None), seconds=seconds)
    finally:
        for process, _ in servers.values():
            process.terminate()
            process.wait()
    few = middle(runs[1000])
    return [
        {
            "names": names,
            "examples/s": (figure := middle(found))["per second"],
            "p50 ms": figure["p50 ms"],
            "p99 ms": figure["p99 ms"],
            "CPU us": figure["CPU us"],
            "ratio of examples/s": figure["per second"] / few["per second"],
            "bar": 0.5 if names > 1000 else None,
        }
        for names, found in runs.items()
    ]


def disk(folder: Path, seconds: float) -> list[Any]:
    """What this disk does by itself: an fsync after every 4 KB."""
    path = folder / "fsync"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    count, until = 0, time.perf_counter() + seconds
    while time.perf_counter() < until:
        os.write(descriptor, b"x" * 4096)
        os.fsync(descriptor)
        count += 1
    os.close(descriptor)
    return [{"fsyncs/s": count / seconds}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one short turn")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to this file")
    args = parser.parse_args()
    turns, seconds = (1, 1.0) if args.quick else (5, 3.0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        single, bulk = predictions(folder, turns, seconds)
        show("Predictions of single rows", single)
        show(f"Predictions of {BULK} rows in a request", bulk)
        found = disk(folder, seconds)
        show("The disk", found)
        durable, beside, replayed = learning(folder, seconds)
        show("Durable learning, one example in a request", durable)
        show("Predictions beside learning", beside)
        show("Replay", replayed)
        names = vocabulary(folder, seconds, turns)
        show("Durable learning of rows with a new name", names)
    save(
        args.json,
        {
            "single": single,
            "bulk": bulk,
            "disk": found,
            "durable": durable,
            "beside": beside,
            "replay": replayed,
            "vocabulary": names,
        },
    )


if __name__ == "__main__":
    main()
