"""Hostile or broken clients: the server replies with an error, stays within its memory, and keeps serving."""

import json
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from running import Server, running, wait_for

HEAD = b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
MEMORY = 700 << 20  # libraries alone take nearly half of it


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with tight limits, which must be as well at the end as it was at the beginning."""
    folder = tmp_path_factory.mktemp("target")
    sizes = "body=1M bodies=8M rows=1000 cells=50K features=500 classes=5 weights=1500 name=100"
    limits = f"{sizes} connections=600 seconds=3 idle=30".split()
    words = [word for limit in limits for word in ("--limit", limit)]
    with running(folder, "--learner", "averaged", "--learn", folder / "log.sqlite", *words) as server:
        server.post("/learn", {"rows": [{"a": 1}, {"b": 1}] * 3, "labels": ["x", "y"] * 3})
        server.post("/predict", {"row": {"a": 1}, "min_seq": 6})  # which waits until it is published
        yield server
        assert server.post("/predict", {"row": {"a": 1}})["prediction"]["label"] == "x"
        assert server.memory() < MEMORY
        assert server.stop() == 0
        assert "Traceback" not in server.text()


def read_reply(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    connection.settimeout(120)
    found = b""
    while True:
        try:
            part = connection.recv(65536)
        except ConnectionResetError:
            return found
        if not part:
            return found
        found += part


def dialled(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=120)


def error_of(reply: bytes) -> tuple[int, str]:
    """The status and the code of an error, whose shape must be the one of all errors."""
    head, _, body = reply.partition(b"\r\n\r\n")
    error = json.loads(body)["error"]
    assert set(error) == {"code", "message"}
    return int(head.split()[1]), error["code"]


BOMBS: list[tuple[bytes, int]] = [
    (b"[" * 500_000, 422),
    (b'{"row":' + b"[" * 500_000, 422),
    (b'{"row":{"a":' + b'{"a":' * 100_000, 422),
    (b'{"rows":[' + b"[" * 100_000, 422),
    (b'{"row":[1e999]}', 422),
    (b'{"row":[NaN]}', 400),
    (b'{"row":[' + b"9" * 100_000 + b"]}", 422),
    (b'{"row":{"' + b"\\u0041" * 50_000 + b'":1}}', 200),
    (b'{"row":{"\\ud800":1}}', 400),
    (b'{"row":{"\xff":1}}', 400),
    (b'{"row":[1e200]}', 422),
    (b'{"row":null}', 422),
    (b"", 400),
    (b'{"row":[],"rows":[]}', 422),
    (b'{"rows":[]}', 422),
    (b'{"row":{"a":1},"top":0}', 422),
    (b'{"row":{"a":1},"top":true}', 422),
    (b'{"row":{"a":1},"min_seq":-1}', 422),
    (b'{"row":{"a":1},"min_seq":99999999999999999999}', 422),
    (b'{"row":{"a":1},"no such option":1}', 422),
    (b'{"row":{"a":1},"probabilities":true}', 422),
    (b'{"row":[' + b"0," * 300 + b"0]}", 422),
    (b'{"rows":[' + b'{"a":1},' * 1000 + b'{"a":1}]}', 413),
    (b'{"rows":[' + b"[]," * 300_000 + b"[]]}", 413),
    (b'{"rows":[' + b"[" + b"0," * 199 + b"0]," + (b"[" + b"0," * 199 + b"0],") * 399 + b"[0]]}", 413),
    (b'{"rows":[' + b'{"a":1},' * 999 + b'{"a":1}],"scores":true}', 200),
]


@pytest.mark.parametrize("at", range(len(BOMBS)))
def test_bombs_are_refused_with_a_sentence(target: Server, at: int) -> None:
    body, expected = BOMBS[at]
    status, content = target.ask("POST", "/predict", body)
    assert status == expected, content
    if status != 200:
        assert len(content["error"]["message"]) < 500


LESSONS: list[tuple[Any, str]] = [
    ({"row": {"a": 1}, "label": 3}, "another type"),
    ({"row": {"a": 1}, "label": True}, "another type"),
    ({"row": {"a": 1}, "label": 1.5}, "Expected"),
    ({"rows": [{"a": 1}] * 2, "labels": [1, True]}, "another type"),
    ({"row": {"a": 1}, "label": None}, "Expected"),
    ({"row": {"a": 1}, "label": "x" * 101}, "more than 100 bytes"),
    ({"row": {"a": 1}, "label": "nul\0"}, "cannot be a label"),
    ({"row": {"n" * 101: 1}, "label": "x"}, "more than 100 bytes"),
    ({"row": {"a": 1}, "label": "x", "weight": -1}, ">= 0.0"),
    ({"row": {"a": 1e100}, "label": "x", "weight": 1e200}, "too large to learn from"),
    ({"row": {"a": 1e101}, "label": "x"}, "too large to learn from"),
    ({"rows": [{"a": 1}], "labels": ["x", "y"]}, "1 rows, but 2 labels"),
    ({"rows": [{"a": 1}], "labels": ["x"], "weights": []}, "1 rows, but 0 weights"),
    ({"rows": [{"a": 1}], "label": "x"}, "rows and labels"),
    ({"row": {"a": 1}}, "row and label"),
    ({"rows": [], "labels": []}, "no rows; send for example"),
    ({"row": [1.0], "label": "x"}, "expects"),
    ({"rows": [{f"new {j}": 1} for j in range(600)], "labels": ["x"] * 600}, "can have 500 features"),
    ({"rows": [{"a": 1}] * 6, "labels": list("uvwxyz")}, "can have 5 classes"),
    ({"rows": [{f"new {j}": 1} for j in range(400)], "labels": list("wxyz") * 100}, "can have 1,500 weights"),
]


@pytest.mark.parametrize("at", range(len(LESSONS)))
def test_examples_that_cannot_be_learned_are_not_stored(target: Server, at: int) -> None:
    body, sentence = LESSONS[at]
    before = target.get("/metrics").decode().split("rosenblatt_log_seq ")[1].split("\n")[0]
    status, content = target.ask("POST", "/learn", body)
    assert status == 422
    assert re.search(sentence, content["error"]["message"]), content
    assert target.get("/metrics").decode().split("rosenblatt_log_seq ")[1].split("\n")[0] == before


WRONG: list[tuple[str, Any]] = [
    ("/predict", b'{"row":{"\xe9":1}}'),
    ("/predict", {"row": {"a": 1}, "score": True}),
    ("/predict?scores=true", {"row": {"a": 1}}),
    ("/learn", {"row": {"a": 1}, "label": 3}),
    ("/learn", {"row": {"a": 1}, "label": " "}),
    ("/learn", {"rows": [{"a": 1}], "labels": ["x", "y"]}),
    ("/learn", {"rows": [{"a": 1}], "labels": ["x"], "weights": []}),
]


@pytest.mark.parametrize("at", range(len(WRONG)))
def test_the_example_of_an_error_is_accepted(server: Server, at: int) -> None:
    path, body = WRONG[at]
    server.post("/learn", {"rows": [{"a": 1}, {"b": 1}], "labels": ["x", "y"]})
    status, content = server.ask("POST", path, body)
    assert status in (400, 422)
    example = re.search(r"; send for example (\{.+\})$", content["error"]["message"])
    assert example is not None, content
    assert server.ask("POST", path.partition("?")[0], json.loads(example[1].replace(", ...", "")))[0] == 200


def test_an_unknown_option_is_answered_with_the_known_ones(target: Server) -> None:
    _, content = target.ask("POST", "/predict", {"row": {"a": 1}, "score": True})
    for option in ("scores", "probabilities", "top", "contributions", "min_seq"):
        assert option in content["error"]["message"]
    _, content = target.ask("POST", "/predict?score=true", b'{"row":{"a":1}}', Content_Type="application/x-ndjson")
    assert "/predict?scores=true" in content["error"]["message"]


def test_lines_sent_as_json_are_answered_with_their_type(target: Server) -> None:
    status, content = target.ask("POST", "/learn", b'{"row":{"a":1},"label":"x"}\n' * 2)
    assert status == 400
    assert "application/x-ndjson" in content["error"]["message"]


def test_a_body_of_100_megabytes_is_refused_before_it_is_read(target: Server) -> None:
    with dialled(target) as connection:
        connection.sendall(HEAD + b"Content-Length: 100000000\r\n\r\n" + b" " * 10_000)
        assert error_of(read_reply(connection)) == (413, "too_large")
    with dialled(target) as connection:  # in pieces, of a length that nobody said
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
        try:
            for _ in range(1600):
                connection.sendall(piece)
        except (ConnectionError, TimeoutError):
            pass
        reply = read_reply(connection)
        assert not reply or error_of(reply) == (413, "too_large")


def test_many_large_bodies_at_once_are_refused_not_held(target: Server) -> None:
    body = b'{"rows":[' + b" " * 900_000
    connections = [dialled(target) for _ in range(30)]
    for connection in connections:
        connection.sendall(HEAD + b"Content-Length: 1000000\r\n\r\n" + body)
    replies = [read_reply(connection) for connection in connections]
    for connection in connections:
        connection.close()
    statuses = [error_of(reply)[0] for reply in replies if reply]
    assert 503 in statuses
    assert set(statuses) <= {503, 408}
    assert any(b"retry-after" in reply for reply in replies)


@pytest.mark.slow
def test_slow_and_silent_clients_are_cut_off_and_others_are_served(target: Server) -> None:
    slow = [dialled(target) for _ in range(20)]
    for at, connection in enumerate(slow):
        if at % 4 == 0:
            connection.sendall(HEAD)  # a head without an end
        elif at % 4 == 1:
            connection.sendall(HEAD + b"Content-Length: 20000\r\n\r\n{")  # a body that never comes
        elif at % 4 == 2:
            connection.sendall(b"P")
        # The others say nothing at all.
    assert target.post("/predict", {"row": {"a": 1}})["prediction"]["label"] == "x"
    for connection in slow:
        reply = read_reply(connection)  # which returns, since the server closes
        assert error_of(reply) == (408, "timeout")
        connection.close()


def test_a_client_that_does_not_read_is_cut_off(target: Server) -> None:
    body = json.dumps({"rows": [{"a": 1}] * 1000, "scores": True, "top": 5}).encode()
    with dialled(target) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        request = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
        connection.settimeout(1)
        gone = threading.Event()

        def send() -> None:
            try:
                while True:
                    connection.sendall(request)
            except OSError as error:
                if not isinstance(error, TimeoutError):
                    gone.set()

        def is_gone() -> bool:
            if not gone.is_set():
                send()
            return gone.is_set()

        wait_for(is_gone)
    assert target.post("/predict", {"row": {"a": 1}})["prediction"]["label"] == "x"


def test_hundreds_of_connections_are_served_and_more_are_refused(target: Server) -> None:
    connections = [dialled(target) for _ in range(500)]
    body = b'{"row":{"a":1}}'
    request = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    for connection in connections:
        connection.sendall(request)
    for connection in connections:
        connection.settimeout(120)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    more = [dialled(target) for _ in range(300)]
    refused = 0
    for connection in more:
        connection.settimeout(120)
        try:
            connection.sendall(request)
            reply = connection.recv(65536)
        except ConnectionError:
            reply = b""
        refused += not reply.startswith(b"HTTP/1.1 200")
    for connection in connections + more:
        connection.close()
    assert refused >= 1
    wait_for(lambda: _served(target))


def _served(target: Server) -> bool:
    try:
        return target.ask("GET", "/health")[0] == 200
    except OSError:
        return False


def test_heads_without_end_and_nonsense_are_refused(target: Server) -> None:
    for sent, expected in [
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: " + b"y" * 100_000, (431, "headers_too_large")),
        (b"GET / HTTP/1.1\r\n" + b"".join(b"X%d: y\r\n" % at for at in range(9000)), (431, "headers_too_large")),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10, (400, "bad_request")),
        (b"POST /learn HTTP/1.1\r\nContent-Length: -5\r\n\r\n", (400, "bad_request")),
        (b"POST /learn HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", (400, "bad_request")),
    ]:
        with dialled(target) as connection:
            try:
                connection.sendall(sent)
            except ConnectionError:
                continue
            reply = read_reply(connection)
            if reply or len(sent) < 10_000:  # of a longer head the reply may be lost: the server closes while it comes
                assert error_of(reply) == expected, (sent[:60], reply)


def test_trailers_are_not_headers(target: Server) -> None:
    body, trailers = b'{"row":{"a":1}}', b"Host: evil.example\r\nOrigin: http://evil.example\r\n"
    with dialled(target) as connection:
        head = HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head + b"f\r\n" + body + b"\r\n0\r\n" + trailers + b"\r\n")
        assert read_reply(connection).startswith(b"HTTP/1.1 200")


def test_other_sites_and_other_names_are_refused(target: Server) -> None:
    body = {"row": {"a": 1}}
    assert target.ask("POST", "/predict", body, Host="evil.example")[0] == 403
    assert target.ask("POST", "/predict", body, Host="127.0.0.1.evil.example:80")[0] == 403
    assert target.ask("GET", "/", Host="evil.example")[0] == 403
    assert target.ask("POST", "/predict", body, Host="localhost:1234")[0] == 200
    status, content = target.ask("POST", "/predict", body, Origin="http://evil.example")
    assert status == 403
    assert f"Origin 'http://evil.example', Host '127.0.0.1:{target.port}'" in content["error"]["message"]
    assert target.ask("POST", "/predict", body, Origin="null")[0] == 403
    assert target.ask("POST", "/predict", body, Origin=f"http://127.0.0.1:{target.port}")[0] == 200
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        assert target.ask("POST", "/learn", body | {"label": "x"}, Content_Type=kind)[0] == 415
    status, headers, _ = target.ask_raw("OPTIONS", "/learn", None, Origin=f"http://127.0.0.1:{target.port}")
    assert status == 405
    assert not any(name.startswith("access-control") for name in headers)
    assert target.ask("POST", "/predict", b"\x1f\x8b", Content_Encoding="gzip")[0] == 415
    assert target.ask("POST", "/learn", body, Idempotency_Key="k" * 300)[0] == 422
