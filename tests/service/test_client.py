"""The client: it asks again where that is safe, and says what went wrong where it is not."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from running import TOKENS, Server, running

from rosenblatt.service.client import Client, ServiceError


def address(server: Server) -> str:
    return f"http://127.0.0.1:{server.port}"


def test_all_that_it_can_ask(guarded: Server) -> None:
    with Client(address(guarded), TOKENS["admin"]) as client:
        learned = client.learn([{"a": 1.0}, {"b": np.float64(1.0)}], ["x", "y"], [1.0, 2.0])
        assert learned["last"] - learned["first"] == 1
        answers = client.predictions([{"a": 1.0}], scores=True, return_id=True, min_seq=learned["last"])
        assert set(answers[0]) == {"label", "scores", "id"}
        assert client.feedback(answers[0]["id"], "y")["first"] == learned["last"] + 1
        assert client.predict([{"a": 1.0}, {"b": 1.0}])[1] in ("x", "y")
        assert client.model()["learns"] is True
        assert len(client.file()) > 100


def test_it_goes_on_where_the_server_was_restarted(tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite"
    first = Server(["--learner", "averaged", "--learn", str(log)], tmp_path).wait()
    with Client(address(first), patience=120) as client:
        client.learn([{"a": 1.0}], ["x"])
        first.kill()
        second: list[Server] = []

        def restart() -> None:
            second.append(Server(["--learn", str(log), "--port", str(first.port)], tmp_path).wait())

        thread = threading.Thread(target=restart)
        thread.start()
        assert client.learn([{"b": 1.0}], ["y"])["first"] == 2  # asked until there was an answer
        thread.join()
    second[0].kill()


def test_what_is_refused_is_raised_at_once(tmp_path: Path, server: Server) -> None:
    with Client(address(server)) as client:
        with pytest.raises(ServiceError, match="there are no rows") as refused:
            client.predict([])
        assert (refused.value.status, refused.value.code) == (422, "invalid")
        with pytest.raises(TypeError, match="cannot be sent"):
            client.predict([{"a": object()}])
        with pytest.raises(ValueError, match="JSON"):
            client.learn([{"a": float("nan")}], ["x"])
    with pytest.raises(ServiceError, match="does not answer") as unreachable:
        Client("http://127.0.0.1:1", patience=0).model()
    assert unreachable.value.status is None
    with pytest.raises(ServiceError, match="is no address"):
        Client("ftp://somewhere")


def test_it_needs_nothing_but_the_standard_library() -> None:
    code = "import sys, rosenblatt.service.client; print(sorted({'numpy', 'msgspec', 'sklearn'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_tls_by_file(tmp_path: Path) -> None:
    import shutil
    import ssl

    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate of this test")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    make += ["-keyout", str(key), "-out", str(certificate), "-subj", "/CN=localhost"]
    subprocess.run([*make, "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    words = ["--learner", "averaged", "--learn", tmp_path / "log.sqlite", "--tls-cert", certificate, "--tls-key", key]
    with running(tmp_path, *words) as server:
        context = ssl.create_default_context(cafile=str(certificate))
        with Client(f"https://localhost:{server.port}", context=context) as client:
            client.learn([{"a": 1.0}], ["x"])
            assert client.predict([{"a": 1.0}]) in (["x"], [None])
        with pytest.raises(ServiceError, match="does not answer"):
            Client(f"https://localhost:{server.port}", patience=0).model()  # a certificate that nobody vouches for


def test_a_body_that_is_too_large_is_refused_at_once(tmp_path: Path) -> None:
    words = ("--learner", "averaged", "--learn", tmp_path / "log.sqlite", "--limit", "body=1000000")
    with running(tmp_path, *words) as server, Client(address(server), patience=20.0) as client:
        rows = [{f"f{j}": float(j) for j in range(3000)}] * 400
        with pytest.raises(ServiceError, match="body") as refused:
            client.learn(rows, ["a"] * 400)
        assert refused.value.status == 413
