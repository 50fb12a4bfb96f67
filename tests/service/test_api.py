"""What the service can be asked, and what it answers."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import TOKENS, Server, running, wait_for

import rosenblatt
from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.models.file import load

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
    facts = server.get("/model")
    assert facts["examples"] == 3  # a row of weight 0 is as if absent


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


@pytest.mark.parametrize("learner", ["averaged", "arow", "pa1", "pocket"])
def test_new_classes_that_bring_new_features_are_answered(tmp_path: Path, learner: str) -> None:
    """Each of them begins the learner's names anew; what is published must follow, and the limit on features too."""
    words = ("--learner", learner, "--learn", tmp_path / "log.sqlite", "--limit", "features=9")
    with running(tmp_path, *words) as server:
        for at in range(6):
            last = server.post("/learn", {"row": {f"f{at}": 1.0, "all": 1.0}, "label": f"c{at}"})["last"]
            found = server.post("/predict", {"row": {f"f{at}": 1.0}, "min_seq": last, "scores": True})["prediction"]
            assert set(found["scores"]) == {f"c{k}" for k in range(at + 1)}
        assert server.get("/model")["features"] == 7
        status, content = server.ask("POST", "/learn", {"row": dict.fromkeys("abc", 1.0), "label": "c0"})
        assert status == 422
        assert "features" in content["error"]["message"]


def test_what_was_learned_answers_soon_without_asking(server: Server) -> None:
    last = server.post("/learn", {"rows": [{"a": 1.0}, {"b": 1.0}], "labels": ["x", "y"]})["last"]
    wait_for(lambda: server.post("/predict", {"row": {"a": 1.0}})["seq"] == last)


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
        assert server.post("/learn", body, Idempotency_Key="one") == again
        assert server.stop() == 0
    with running(tmp_path, "--learn", log) as server:
        assert server.post("/learn", body, Idempotency_Key="one") == again
        assert server.post("/learn", body, Idempotency_Key="two")["first"] == 3


def test_feedback_learns_the_row_of_a_prediction_once(tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite"
    with running(tmp_path, "--learner", "averaged", "--learn", log) as server:
        server.post("/learn", {"rows": [{"a": 1}, {"b": 1}], "labels": ["x", "y"]})
        ids = [
            each["id"] for each in server.post("/predict", {"rows": [{"c": 1}] * 2, "return_id": True})["predictions"]
        ]
        learned = server.post("/feedback", {"id": ids[0], "label": "y"})
        assert server.post("/feedback", {"id": ids[0], "label": "y"})["first"] == learned["first"]
        assert server.ask("POST", "/feedback", {"id": ids[0], "label": "x"})[0] == 409
        assert server.ask("POST", "/feedback", {"id": "nobody", "label": "x"})[0] == 404
        assert server.stop() == 0
    with running(tmp_path, "--learn", log) as server:  # a proper end forgets nothing
        assert server.post("/feedback", {"id": ids[1], "label": "y"})["first"] == 4


def test_lines_learn_what_json_learns(tmp_path: Path) -> None:
    dice = np.random.default_rng(0)
    X = dice.normal(size=(50, 4)).round(3)
    labels = ["pos" if row.sum() > 0 else "neg" for row in X]
    names = ["a", "b", "c", "d"]
    rows = [dict(zip(names, row.tolist(), strict=True)) for row in X]
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
    assert [each["label"] for each in found] == [each["label"] for each in one_by_one]
    assert by_number["label"] == one_by_one[0]["label"]
    assert by_number["scores"] == pytest.approx(one_by_one[0]["scores"])  # another order of sums
    assert found == one_by_one
    status, content = server.ask("POST", "/learn", {"row": {"a": 1.0}, "label": 1})
    assert status == 422
    assert "by position" in content["error"]["message"]


def test_a_model_that_does_not_learn_answers_like_itself(tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    X = dice.normal(size=(300, 5))
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
    learner = rosenblatt.Calibrated(AveragedPerceptron()).fit(X, y)
    path = tmp_path / "abc.model"
    rosenblatt.save(learner, path)
    model = load(path)
    with running(tmp_path, path) as server:
        rows = X[:20].tolist()
        found = server.post("/predict", {"rows": rows, "scores": True, "probabilities": True, "top": 1})["predictions"]
        assert [each["label"] for each in found] == model.predict(X[:20]).tolist()
        P = model.predict_proba(X[:20])
        for each, chances in zip(found, P, strict=True):
            assert each["probabilities"] == pytest.approx(dict(zip("abc", chances, strict=True)))
            assert each["top"][0]["label"] == "abc"[int(np.argmax(chances))]
        assert server.post("/predict", {"row": rows[0]})["prediction"]["label"] == found[0]["label"]
        assert server.ask("POST", "/learn", {"row": rows[0], "label": "a"})[0] == 409
        assert server.ask("POST", "/predict", {"row": [1.0]})[0] == 422
        assert server.get("/model")["learns"] is False
        assert server.get("/ready") == {"ready": True, "learning": "off", "seq": 0}
        (tmp_path / "again.model").write_bytes(server.get("/model/file"))
    assert load(tmp_path / "again.model").predict(X).tolist() == model.predict(X).tolist()


def test_a_model_of_hashed_names_answers(tmp_path: Path) -> None:
    learner = AveragedPerceptron(hash_bits=6)
    rows = [{"win": 1.0, "money": 2.0}, {"lunch": 1.0}, {"win": 1.0}, {"noon": 1.0}]
    for row, label in zip(rows, ("spam", "ham", "spam", "ham"), strict=True):
        learner.learn_one(row, label)
    rosenblatt.save(learner, tmp_path / "hashed.model")
    with running(tmp_path, tmp_path / "hashed.model") as server:
        found = server.post("/predict", {"rows": rows, "scores": True})["predictions"]
    for row, answer in zip(rows, found, strict=True):
        assert answer["scores"]["spam"] == pytest.approx(float(learner.scores_one(row)[0]))


def test_a_model_of_raw_columns_answers_and_learns_on(tmp_path: Path) -> None:
    dice, lines = np.random.default_rng(2), ["age,job,note,rich"]
    for _ in range(300):
        age, job = int(dice.integers(18, 80)), str(dice.choice(["clerk", "smith", "cook"]))
        note = "many words here" if age > 50 else "few"
        lines.append(f"{age},{job},{note} {int(dice.integers(99))},{'yes' if age > 40 and job != 'cook' else 'no'}")
    table = tmp_path / "people.csv"
    table.write_text("\n".join(lines))
    model = rosenblatt.train(str(table), "averaged", max_iter=5, bits=10)
    path, log = tmp_path / "people.model", tmp_path / "log.sqlite"
    rosenblatt.save(model, path)
    row = {"age": 60, "job": "smith", "note": "many words here 7"}
    with running(tmp_path, path, "--learn", log) as server:
        assert server.post("/predict", {"row": row, "scores": True})["prediction"]["label"] == "yes"
        before = server.post("/predict", {"rows": [row, {"age": None, "job": "cook", "note": None}], "scores": True})[
            "predictions"
        ]
        for _ in range(20):
            last = server.post("/learn", {"row": row, "label": "no"})["last"]
        after = server.post("/predict", {"row": row, "scores": True, "min_seq": last})["prediction"]
        assert after["scores"]["no"] > before[0]["scores"]["no"]
        status, content = server.ask("POST", "/predict", {"row": row | {"age": "old"}})
        assert status == 422
        assert "row 0: column 'age' has 'old'" in content["error"]["message"]
        served = server.get("/model/file")
        server.kill()
    with running(tmp_path, "--learn", log) as server:
        assert server.get("/model/file") == served  # from the model's own state and the log


def test_a_model_of_lines_answers_and_learns_on(tmp_path: Path) -> None:
    text = tmp_path / "spam.txt"
    text.write_text("__label__spam win money now\n__label__ham lunch at noon\n" * 20)
    rosenblatt.save(rosenblatt.train(str(text), "perceptron", max_iter=3, bits=10), tmp_path / "spam.model")
    with running(tmp_path, tmp_path / "spam.model", "--learn", tmp_path / "log.sqlite") as server:
        found = server.post("/predict", {"rows": ["win money", "lunch at noon"]})["predictions"]
        assert [each["label"] for each in found] == ["spam", "ham"]
        last = server.post("/learn", {"rows": ["win a lunch"] * 9, "labels": ["prize"] * 9})["last"]
        assert server.post("/predict", {"row": "win a lunch", "min_seq": last})["prediction"]["label"] == "prize"
        assert server.ask("POST", "/predict", {"row": "two\nlines"})[0] == 422


def test_a_log_goes_on_only_with_what_it_began_with(tmp_path: Path) -> None:
    log, path = tmp_path / "log.sqlite", tmp_path / "other.model"
    with running(tmp_path, "--learner", "averaged", "--classes", "x,y", "--learn", log) as server:
        assert server.get("/model")["classes"] == ["x", "y"]
        assert server.post("/predict", {"row": {"a": 1}, "scores": True})["prediction"]["scores"] == {
            "x": 0.0,
            "y": 0.0,
        }
        assert server.post("/predict", {"rows": [[1.0], [2.0]]})["predictions"] == [{"label": "y"}] * 2
        assert server.post("/learn", {"row": {"a": 1}, "label": "y"})["predicted"] == ["y"]
        assert server.stop() == 0
    rosenblatt.save(Perceptron().fit([[0.0], [1.0]], ["a", "b"]), path)
    for words in (["--learner", "arow"], [str(path)], ["--learner", "averaged", "--classes", "p,q"]):
        refused = Server([*words, "--learn", str(log)], tmp_path)
        refused.process.join()
        assert refused.process.exitcode == 1
        assert "was started with another model or learner" in refused.text()
    with running(tmp_path, "--learner", "averaged", "--classes", "x,y", "--learn", log) as server:
        assert server.post("/learn", {"row": {"a": 1}, "label": "y"})["first"] == 2


@pytest.mark.parametrize(("words", "sentence"), [
    ([], "nothing to serve"),
    (["--learner", "averaged"], "nothing to serve"),
    (["nothing.model", "--learner", "averaged"], "need --learn LOG"),
    (["--learn", "new.sqlite"], "is a new log: pass a MODEL or a --learner"),
    (["--learn", "new.sqlite", "--learner", "perceptron", "--keep", "vote"], "its memory has no bound"),
    (["--learn", "new.sqlite", "--learner", "averaged", "--host", "0.0.0.0"], "only this machine can be served"),
    (["--learn", "new.sqlite", "--learner", "averaged", "--limit", "bodies"], "limit 'bodies': write"),
    (["--learn", "new.sqlite", "--learner", "averaged", "--tls-cert", "x"], "go together"),
    (["nothing.model"], "there is no such file"),
])  # fmt: skip
def test_wrong_use_is_refused_with_a_sentence(tmp_path: Path, words: list[str], sentence: str) -> None:
    words = [str(tmp_path / word) if word.endswith((".sqlite", ".model")) else word for word in words]
    server = Server(words, tmp_path)
    server.process.join()
    assert server.process.exitcode in (1, 2)
    assert sentence in server.text()
    assert "Traceback" not in server.text()


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
    for path in ("/health", "/ready", "/", "/docs", "/openapi.json"):
        assert guarded.ask("GET", path)[0] == 200
    assert not any(token in guarded.text() for token in TOKENS.values())


@pytest.mark.parametrize("hosts", [["localhost:80@evil.com"], ["localhost", "localhost"], ["evil.com", "localhost"]])
def test_odd_hosts_are_refused(server: Server, hosts: list[str]) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        lines = ["GET /model HTTP/1.1", *(f"Host: {host}" for host in hosts), "Connection: close", "", ""]
        connection.sendall("\r\n".join(lines).encode())
        assert connection.recv(100).split()[1] in (b"400", b"403")
