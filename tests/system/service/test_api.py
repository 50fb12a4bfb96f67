"""Requests to the service, its replies, their description, and the client."""

import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import schemathesis
from command import python
from hypothesis import HealthCheck, given, settings
from length import up_to
from rejected import rejected
from running import TOKENS, Server, refused, running, wait_for
from schemathesis.specs.openapi import checks as openapi_checks
from written import put

import rosenblatt
from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.service.client import Client

LINES = "application/x-ndjson"


def test_learning_answers_with_numbers_predictions_and_mistakes(server: Server) -> None:
    assert server.post("/predict", {"row": {"a": 1}}) == {"seq": 0, "prediction": {"label": None}}
    assert server.post("/learn", {"row": {"a": 1}, "label": "x"}) == {
        "first": 1,
        "last": 1,
        "mistakes": 1,
        "predicted": [None],
        "mistaken": [True],
    }
    rows, labels = [{"b": 1}, {"a": 1}, {"b": 1}], ["y", "x", "y"]
    learned = server.post("/learn", {"rows": rows, "labels": labels, "weights": [1, 1, 0]})
    assert (learned["first"], learned["last"]) == (2, 4)
    by_hand = AveragedPerceptron().learn_one({"a": 1.0}, "x")
    for row, label, guess in zip(rows, labels, learned["predicted"], strict=True):
        assert guess == by_hand.predict_one(row)
        by_hand.learn_one(row, label, 0.0 if guess == learned["predicted"][2] and row == rows[2] else 1.0)
    wait_for(lambda: server.post("/predict", {"row": {"a": 1.0}})["seq"] == 4)  # published soon, without a min_seq
    assert server.get("/model")["examples"] == 3  # a row of weight 0 is ignored


def test_answers_have_what_was_asked_for(server: Server) -> None:
    rows = [{"a": 1.0, "b": 2.0}, {"c": 1.0}, {"a": -1.0, "c": 3.0}]
    server.post("/learn", {"rows": rows, "labels": ["x", "y", "z"]})
    learner = AveragedPerceptron()
    for row, label in zip(rows, "xyz", strict=True):
        learner.learn_one(row, label)
    asked = {"scores": True, "top": 2, "contributions": 2, "min_seq": 3}
    found = server.post("/predict", {"rows": rows, **asked})
    assert found["seq"] == 3
    for row, answer in zip(rows, found["predictions"], strict=True):
        expected = dict(zip("xyz", learner.scores_one(row).tolist(), strict=True))
        assert answer["label"] == learner.predict_one(row)
        assert answer["scores"] == pytest.approx(expected, rel=1e-12, abs=1e-12)
        ranked = sorted(expected, key=lambda label: -expected[label])
        assert [each["label"] for each in answer["top"]] == ranked[:2]
        weights = dict(zip(learner.feature_names_in_, learner.coef_["xyz".index(answer["label"])], strict=True))
        assert answer["contributions"]
        for reason in answer["contributions"]:
            assert reason["share"] == pytest.approx(weights[reason["feature"]] * row[reason["feature"]])


def test_a_request_may_ask_for_its_own_writes(server: Server) -> None:
    for at in range(20):
        last = server.post("/learn", {"row": {f"f{at}": 1.0}, "label": ("a", "b")[at % 2]})["last"]
        found = server.post("/predict", {"row": {f"f{at}": 1.0}, "min_seq": last, "contributions": 1})
        assert found["seq"] >= last
    status, content = server.ask("POST", "/predict", {"row": {"a": 1.0}, "min_seq": 10**6})
    assert status == 422
    assert "the last example has the number 20" in content["error"]["message"]


def test_a_key_is_learned_once_also_after_a_restart(tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite"
    body = {"rows": [{"a": 1}, {"b": 1}], "labels": ["x", "y"]}
    with running(tmp_path, "--learner", "averaged", "--learn", log) as server:
        first = server.post("/learn", body, Idempotency_Key="one")
        again = {"first": first["first"], "last": first["last"], "repeated": True}
        assert server.post("/learn", body, Idempotency_Key="one") == again
        status, content = server.ask("POST", "/learn", body | {"labels": ["y", "x"]}, Idempotency_Key="one")
        assert (status, content["error"]["code"]) == (409, "conflict")
        server.kill()
    with running(tmp_path, "--learn", log) as server:
        assert f"{log}: 2;" in server.text()  # what the journal says of a restart
        assert server.post("/learn", body, Idempotency_Key="one") == again
        assert server.stop() == 0
    with running(tmp_path, "--learn", log) as server:
        assert server.post("/learn", body, Idempotency_Key="one") == again
        assert server.post("/learn", body, Idempotency_Key="two")["first"] == 3


def test_lines_learn_what_json_learns(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(50, 4)).round(3)
    labels = ["pos" if row.sum() > 0 else "neg" for row in X]
    rows = [dict(zip("abcd", row, strict=True)) for row in X.tolist()]
    lines = "\n".join(json.dumps({"row": r, "label": y}) for r, y in zip(rows, labels, strict=True)) + "\n\n"
    replies, answers = [], []
    for at, (path, body, kind) in enumerate([
        ("/learn", json.dumps({"rows": rows, "labels": labels}).encode(), "application/json"),
        ("/learn", lines.encode(), LINES),
    ]):  # fmt: skip
        with running(tmp_path, "--learner", "averaged", "--learn", tmp_path / f"{at}.sqlite") as server:
            replies.append(server.post(path, body, Content_Type=kind))
            asked = server.post("/predict", {"rows": rows, "scores": True, "min_seq": 50})
            answers.append(asked["predictions"])
            status, content = server.ask("POST", "/predict?scores=true", lines.encode(), Content_Type=LINES)
            assert status == 200
            assert [json.loads(line) for line in content.decode().splitlines()] == asked["predictions"]
    assert replies[0] == replies[1]
    assert answers[0] == answers[1]


def test_rows_as_arrays_are_numbered_features(server: Server) -> None:
    rows = [[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    server.post("/learn", {"rows": rows, "labels": [1, -1, 1]})
    found = server.post("/predict", {"rows": rows, "scores": True, "min_seq": 3})["predictions"]
    one_by_one = [server.post("/predict", {"row": row, "scores": True})["prediction"] for row in rows]
    by_number = server.post("/predict", {"row": {"0": 1.0, "2": 2.0}, "scores": True})["prediction"]
    assert by_number["label"] == one_by_one[0]["label"]
    assert by_number["scores"] == pytest.approx(one_by_one[0]["scores"])  # another order of sums
    assert found == one_by_one
    status, content = server.ask("POST", "/learn", {"row": {"a": 1.0}, "label": 1})
    assert status == 422
    assert "by position" in content["error"]["message"]


def test_a_model_that_does_not_learn(tmp_path: Path) -> None:
    path = tmp_path / "some.model"
    rosenblatt.save(AveragedPerceptron().fit(np.eye(3), ["a", "b", "c"]), path)
    with running(tmp_path, path) as server:
        assert server.post("/predict", {"row": [1.0, 0.0, 0.0]}) == {"seq": 0, "prediction": {"label": "a"}}
        assert server.ask("POST", "/learn", {"row": [1.0, 0.0, 0.0], "label": "a"})[0] == 409
        assert server.ask("POST", "/predict", {"row": [1.0]})[0] == 422
        assert server.get("/model")["learns"] is False
        assert server.get("/ready") == {"ready": True, "learning": "off", "seq": 0}
        assert server.get("/model/file") == path.read_bytes()


def test_a_model_of_lines_answers_and_learns_on(tmp_path: Path) -> None:
    text = put(tmp_path / "spam.txt", "__label__spam win money now\n__label__ham lunch at noon\n" * 20)
    rosenblatt.save(rosenblatt.train(str(text), "perceptron", max_iter=3, bits=10), tmp_path / "spam.model")
    with running(tmp_path, tmp_path / "spam.model", "--learn", tmp_path / "log.sqlite") as server:
        found = server.post("/predict", {"rows": ["win money", "lunch at noon"]})["predictions"]
        assert [each["label"] for each in found] == ["spam", "ham"]
        last = server.post("/learn", {"rows": ["win a lunch"] * 9, "labels": ["prize"] * 9})["last"]
        assert server.post("/predict", {"row": "win a lunch", "min_seq": last})["prediction"]["label"] == "prize"
        assert server.ask("POST", "/predict", {"row": "two\nlines"})[0] == 422
        served = server.get("/model/file")
        server.kill()
    with running(tmp_path, "--learn", tmp_path / "log.sqlite") as server:
        assert server.get("/model/file") == served  # from the model's own state and the log


def test_a_log_goes_on_only_with_what_it_began_with(tmp_path: Path) -> None:
    log, path = tmp_path / "log.sqlite", tmp_path / "other.model"
    with running(tmp_path, "--learner", "averaged", "--learn", log) as server:
        server.post("/learn", {"row": {"a": 1}, "label": "y"})
        assert server.stop() == 0
    rosenblatt.save(Perceptron().fit([[0.0], [1.0]], ["a", "b"]), path)
    for words in (["--learner", "arow"], [str(path)]):
        assert "another model or learner" in refused(tmp_path, *words, "--learn", log)
    with running(tmp_path, "--learner", "averaged", "--learn", log) as server:
        assert server.post("/learn", {"row": {"a": 1}, "label": "y"})["first"] == 2


@pytest.mark.parametrize(("words", "fact"), [
    ([], "nothing to serve"),
    (["--learner", "averaged"], "--learner needs --learn"),
    (["nothing.model", "--learner", "averaged"], "--learner needs --learn"),
    (["nothing.model"], "nothing.model"),
])  # fmt: skip
def test_wrong_use_is_an_error(tmp_path: Path, words: list[str], fact: str) -> None:
    assert fact in refused(tmp_path, *words)


def test_metrics_are_what_prometheus_reads(server: Server) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    server.post("/learn", {"rows": [{"a": 1}, {"b": 1}], "labels": ["x", "y"]})
    server.post("/predict", {"row": {"a": 1}, "min_seq": 2})
    server.ask("GET", "/made-up-by-a-client")
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(server.get("/metrics").decode())
        for sample in family.samples
    }
    assert found["rosenblatt_examples_total",] == 2
    assert found["rosenblatt_predictions_total",] == 1
    assert found["rosenblatt_requests_total", "/learn", "200"] == 1
    assert found["rosenblatt_requests_total", "other", "404"] == 1
    assert found["rosenblatt_log_writable",] == 1


def test_roles(guarded: Server) -> None:
    """Each role may do what those before it may, and no more."""
    learn = {"row": {"a": 1}, "label": "x"}
    asks: list[tuple[str, str, Any, set[str]]] = [
        ("POST", "/learn", learn, {"learn", "admin"}),
        ("POST", "/predict", {"row": {"a": 1}}, {"predict", "learn", "admin"}),
        ("GET", "/model", None, {"predict", "learn", "admin"}),
        ("GET", "/metrics", None, {"predict", "learn", "admin"}),
        ("GET", "/live", None, {"learn", "admin"}),
        ("GET", "/model/file", None, {"admin"}),
    ]
    for method, path, body, allowed in asks:
        assert guarded.ask(method, path, body)[0] == 401
        assert guarded.ask(method, path, body, Authorization="Bearer " + "x" * 20)[0] == 401
        assert guarded.ask(method, path, body, Authorization="Basic " + TOKENS["admin"])[0] == 401
        for role, token in TOKENS.items():
            status, _ = guarded.ask(method, path, body, Authorization=f"Bearer {token}")
            assert status == (200 if role in allowed else 403), (path, role)
    missing, unknown = (guarded.ask("GET", "/model", **sent)[1]["error"]["message"]
                        for sent in ({}, {"Authorization": "Bearer " + "x" * 20}))  # fmt: skip
    assert "Authorization: Bearer" in missing
    assert "unknown token" in unknown
    for path in ("/health", "/ready", "/", "/docs", "/openapi.json"):
        assert guarded.ask("GET", path)[0] == 200
    assert not any(token in guarded.text() for token in TOKENS.values())


def address(server: Server) -> str:
    return f"http://127.0.0.1:{server.port}"


def test_all_that_it_can_ask(guarded: Server) -> None:
    with Client(address(guarded), TOKENS["admin"]) as client:
        learned = client.learn([{"a": 1.0}, {"b": np.float64(1.0)}], ["x", "y"], [1.0, 2.0])
        assert learned["last"] - learned["first"] == 1
        answers = client.predictions([{"a": 1.0}], scores=True, min_seq=learned["last"])
        assert set(answers[0]) == {"label", "scores"}
        assert client.predict([{"a": 1.0}, {"b": 1.0}])[1] == "y"
        assert client.model()["learns"] is True
        assert len(client.file()) > 100


def test_what_is_refused_is_raised_at_once(tmp_path: Path, server: Server) -> None:
    with Client(address(server)) as client:
        with rejected("invalid", "rows") as refused:
            client.predict([])
        assert refused.value.status == 422
        with pytest.raises(TypeError, match="object"):
            client.predict([{"a": object()}])
        with pytest.raises(ValueError, match="JSON"):
            client.learn([{"a": float("nan")}], ["x"])
    with rejected("unreachable", "127.0.0.1:1") as unreachable:
        Client("http://127.0.0.1:1", patience=0).model()
    assert unreachable.value.status is None


def test_it_needs_nothing_but_the_standard_library() -> None:
    code = "import sys, rosenblatt.service.client; print(sorted({'numpy', 'msgspec', 'sklearn'} & set(sys.modules)))"
    assert python(code).stdout.strip() == "[]"


def test_tls_by_file(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    cert, key = certificate
    words = ["--learner", "averaged", "--learn", tmp_path / "log.sqlite", "--tls-cert", cert, "--tls-key", key]
    with running(tmp_path, *words) as server:
        context = ssl.create_default_context(cafile=str(cert))
        with Client(f"https://localhost:{server.port}", context=context) as client:
            last = client.learn([{"a": 1.0}], ["x"])["last"]
            assert client.predictions([{"a": 1.0}], min_seq=last)[0]["label"] == "x"
        with rejected("unreachable", f"localhost:{server.port}"):
            Client(f"https://localhost:{server.port}", patience=0).model()  # a certificate that nobody vouches for


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("described")
    with running(folder, "--learner", "averaged", "--learn", folder / "log.sqlite") as server:
        server.post("/learn", {"rows": [{"a": 1}, {"b": 1}], "labels": ["x", "y"]})
        yield server
        assert "Traceback" not in server.text()


@pytest.fixture(scope="module")
def api(described: Server) -> Any:
    config = schemathesis.Config.from_dict({})
    return schemathesis.openapi.from_url(f"http://127.0.0.1:{described.port}/openapi.json", config=config)


PATHS = ["POST /predict", "POST /learn"]
PATHS += [f"GET /{path}" for path in ("model", "model/file", "live", "health", "ready", "metrics")]


@pytest.mark.long
@pytest.mark.parametrize("name", PATHS)
def test_every_answer_is_as_described(api: Any, name: str) -> None:
    method, path = name.split()
    checks = [
        schemathesis.checks.not_a_server_error,
        openapi_checks.status_code_conformance,
        openapi_checks.content_type_conformance,
        openapi_checks.response_schema_conformance,
    ]

    @settings(
        max_examples=up_to(40, short=12) if method == "POST" else 5,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=api[path][method].as_strategy())
    def check(case: Any) -> None:
        case.validate_response(case.call(), checks=checks)

    check()


def test_no_path_is_left_out(described: Server) -> None:
    paths = described.get("/openapi.json")["paths"]
    assert {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods} == set(PATHS)


def test_every_error_code_is_documented() -> None:
    from rosenblatt.service.errors import ERRORS

    page = (Path(__file__).parents[3] / "docs/serve.md").read_text()
    assert all(f"| {status} | `{code}` |" in page for status, (code, _) in ERRORS.items())
