"""The service, beside FastAPI with scikit-learn and beside a bare server.

    python benchmarks/service.py [PART ...] [--quick] [--json FILE]

Servers and the client share this machine's cores, over loopback, alternately: `rosenblatt serve`; the same model of
scikit-learn, unpickled, behind a plain FastAPI handler; and uvicorn with an ASGI application that returns a constant.
The client is one process with as many connections as the table says, each of which sends its next request when it has
the answer. Durable learning is answered when the example is on disk and learned. `CPU us` is the CPU time that the
server spends on a request, and `ratio` that of the row over ours: on a busy machine it says more than the clock does.
Predictions beside learning come at a fixed pace, since a full machine makes every answer wait for every other.
"""

from __future__ import annotations

import asyncio
import itertools
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
from urllib.request import Request, urlopen

import numpy as np

from measure import Found, Row, run_script

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
    """A request, answered in the format of its body."""
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


def measure_predictions(quick: bool) -> Found:
    """Requests of one row and of many, every stack alternately."""
    from sklearn.linear_model import Perceptron as Peer

    import rosenblatt

    turns, seconds = (1, 1.0) if quick else (5, 2.0)
    dice = np.random.default_rng(0)
    X = dice.normal(size=(5000, FEATURES))
    y = np.where(X @ dice.normal(size=FEATURES) > 0, "yes", "no")
    lines: list[Row] = []
    servers: dict[str, tuple[subprocess.Popen[str], int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        rosenblatt.save(rosenblatt.Perceptron().fit(X, y), f"{folder}/ours.model")
        Path(folder, "peer.pickle").write_bytes(pickle.dumps(Peer().fit(X, y)))
        try:
            servers["rosenblatt serve"] = ours([f"{folder}/ours.model"])
            servers["FastAPI + scikit-learn"] = theirs(FASTAPI, f"{folder}/peer.pickle")
            servers["bare uvicorn"] = theirs(BARE, "")
            for rows, connections in ((1, CONNECTIONS), (BULK, 4)):
                bodies = {name: {"rows": X[:rows].tolist()} for name in servers}
                bodies["rosenblatt serve"]["scores"] = True
                requests = {name: post("/predict", json.dumps(body).encode()) for name, body in bodies.items()}
                runs: dict[str, list[Row]] = {name: [] for name in servers}
                for _ in range(turns):
                    for name, server in servers.items():
                        ask = (lambda name=name, requests=requests: requests[name], connections, None)
                        runs[name] += load(server, ask, seconds=seconds)
                middles = {name: middle(found) for name, found in runs.items()}
                base = middles["rosenblatt serve"]["CPU us"]
                lines += [
                    {"rows per request": rows, "stack": name, **each, "ratio": each["CPU us"] / base}
                    for name, each in middles.items()
                ]
        finally:
            for process, _ in servers.values():
                process.kill()
                process.wait()
    return {"Predictions": lines}


def make_examples() -> Callable[[], bytes]:
    """Requests to learn one row each, 2,000 in rotation."""
    dice = np.random.default_rng(1)
    made = []
    for _ in range(2000):
        row = {f"f{j}": round(float(v), 4) for j, v in enumerate(dice.normal(size=FEATURES))}
        made.append(post("/learn", json.dumps({"row": row, "label": "yes" if row["f0"] > 0 else "no"}).encode()))
    rotation = itertools.cycle(made)
    return lambda: next(rotation)


def measure_learning(quick: bool) -> Found:
    """Durable learning by so many clients, and predictions beside it."""
    seconds = 1.0 if quick else 3.0
    predict = post("/predict", json.dumps({"row": {f"f{j}": 0.1 for j in range(FEATURES)}}).encode())
    learn = make_examples()
    with tempfile.TemporaryDirectory() as folder:
        server = ours(["--learner", "averaged", "--learn", f"{folder}/log.sqlite"])
        try:
            durable = [
                {"clients": clients, **load(server, (learn, clients, None), seconds=seconds)[0]}
                for clients in (1, CONNECTIONS, 256)
            ]
            asks = (lambda: predict, 8, 8 / 500)
            beside = []
            for name, others in (("alone", []), ("while 32 clients learn 1,000 examples/s", [(learn, 32, 32 / 1000)])):
                turns = [load(server, asks, *others, seconds=seconds)[0] for _ in range(1 if quick else 3)]
                beside.append({"predictions, 500 per second": name, **middle(turns)})
        finally:
            server[0].terminate()
            server[0].wait()
    return {"Durable learning, one example per request": durable, "Predictions beside learning": beside}


def measure_vocabulary(quick: bool) -> Found:
    """Durable learning of rows of ten names each, if the model knows a thousand names or a million."""
    seconds, lines = (1.0 if quick else 3.0), list[Row]()
    for count in (1_000, 100_000 if quick else 1_000_000):
        dice, made = np.random.default_rng(2), []
        for _ in range(2000):
            names, values = dice.integers(count, size=FEATURES).tolist(), dice.normal(size=FEATURES).tolist()
            row = {f"n{name}": round(value, 4) for name, value in zip(names, values, strict=True)}
            made.append(post("/learn", json.dumps({"row": row, "label": "yes" if values[0] > 0 else "no"}).encode()))
        rotation = itertools.cycle(made)
        with tempfile.TemporaryDirectory() as folder:
            process, port = ours(["--learner", "averaged", "--learn", f"{folder}/log.sqlite"])
            try:
                for start in range(0, count, 50_000):
                    rows = [
                        {f"n{name}": 1.0 for name in range(at, at + 1000)}
                        for at in range(start, min(start + 50_000, count), 1000)
                    ]
                    body = {"rows": rows, "labels": [("yes", "no")[at % 2] for at in range(len(rows))]}
                    url, kind = f"http://127.0.0.1:{port}/learn", {"Content-Type": "application/json"}
                    urlopen(Request(url, json.dumps(body).encode(), kind)).read()
                found = load(
                    (process, port), (lambda rotation=rotation: next(rotation), CONNECTIONS, None), seconds=seconds
                )
                lines.append({"names known": count, "clients": CONNECTIONS, **found[0]})
            finally:
                process.terminate()
                process.wait()
    return {"Durable learning by the size of the vocabulary": lines}


if __name__ == "__main__":
    parts = {"predictions": measure_predictions, "learning": measure_learning, "vocabulary": measure_vocabulary}
    run_script(__doc__, parts)
