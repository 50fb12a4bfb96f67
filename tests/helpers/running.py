"""Real servers for the tests: processes of their own, forked from one that has loaded everything already."""

import contextlib
import http.client
import json
import multiprocessing
import os
import signal
import ssl
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LOADED = ["rosenblatt.service.server", "rosenblatt.cli.serve"]
TOKENS = {"predict": "p" * 20, "learn": "l" * 20, "admin": "a" * 20}
PATIENCE = 120.0  # seconds: only what never comes is given up


def _context() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LOADED)
    return context


def _serve(words: list[str], output: str) -> None:
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    from rosenblatt.cli.main import main

    code = main(["serve", *words])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class Server:
    """A server process, and a way to ask it."""

    def __init__(self, words: list[str], folder: Path) -> None:
        self.output = folder / f"output-{time.monotonic_ns()}.txt"
        arguments = (["--port", "0", *map(str, words)], str(self.output))
        self.process = _context().Process(target=_serve, args=arguments, daemon=True)
        self.process.start()
        self.tls = "--tls-cert" in words

    def wait(self) -> "Server":
        """Until it listens."""
        self.port = int(wait_for(self._address).rsplit(":", 1)[1].split("/")[0])
        return self

    def _address(self) -> str:
        text = self.text()
        if "Serving at" in text:
            return text.split("Serving at ")[-1].split()[0]
        if not self.process.is_alive():
            raise AssertionError(f"the server ended with {self.process.exitcode}: {self.text()}")
        return ""

    def text(self) -> str:
        return self.output.read_text() if self.output.exists() else ""

    @property
    def pid(self) -> int:
        return int(self.process.pid)

    def connection(self, timeout: float = PATIENCE) -> http.client.HTTPConnection:
        if self.tls:
            context = ssl._create_unverified_context()
            return http.client.HTTPSConnection("localhost", self.port, timeout=timeout, context=context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """A request of its own connection: the status, and the body as JSON where it is some."""
        status, _, content = self.ask_raw(method, path, body, **headers)
        return status, content

    def ask_raw(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, dict[str, str], Any]:
        connection = self.connection()
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            if body is not None and not isinstance(body, bytes):
                body = json.dumps(body).encode()
            if body is not None:
                named = {"Content-Type": "application/json"} | named
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            content: Any = answer.read()
            if answer.headers.get_content_type() == "application/json":
                content = json.loads(content)
            return answer.status, {k.lower(): v for k, v in answer.headers.items()}, content
        finally:
            connection.close()

    def post(self, path: str, body: Any, *, method: str = "POST", **headers: str) -> Any:
        status, content = self.ask(method, path, body, **headers)
        assert status == 200, content
        return content

    def get(self, path: str) -> Any:
        return self.post(path, None, method="GET")

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self.process.join()

    def stop(self) -> int:
        """SIGTERM; what it ended with."""
        if self.process.is_alive():
            os.kill(self.pid, signal.SIGTERM)
        self.process.join(PATIENCE)
        assert not self.process.is_alive(), self.text()
        return int(self.process.exitcode)

    def memory(self) -> int:
        """The most bytes that it ever held."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024


@contextlib.contextmanager
def running(folder: Path, *words: Any) -> Iterator[Server]:
    """A server that listens, and is gone afterwards."""
    server = Server([str(word) for word in words], folder)
    try:
        yield server.wait()
    finally:
        if server.process.is_alive():
            server.kill()


def refused(folder: Path, *words: Any) -> str:
    """What a server prints that does not start."""
    server = Server([str(word) for word in words], folder)
    server.process.join()
    assert server.process.exitcode in (1, 2)
    assert "Traceback" not in server.text()
    return server.text()


def wait_for(found: Any, patience: float = PATIENCE) -> Any:
    """What the function gives, once that is something."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if value := found():
            return value
        time.sleep(0.005)
    raise AssertionError("it never came")
