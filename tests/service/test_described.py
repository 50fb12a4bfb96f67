"""The OpenAPI description holds: whatever it allows gets an answer that it names, and nothing gets a 5xx."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from running import Server, running

from length import up_to

schemathesis = pytest.importorskip("schemathesis", reason="the description is tested with schemathesis")
openapi_checks = pytest.importorskip("schemathesis.specs.openapi.checks")


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


PATHS = (
    "POST /predict",
    "POST /learn",
    "POST /feedback",
    "POST /reload",
    "GET /model",
    "GET /model/file",
    "GET /live",
    "GET /health",
    "GET /ready",
    "GET /metrics",
)


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


def test_the_description_is_a_sound_one(described: Server) -> None:
    found = described.get("/openapi.json")
    assert found["openapi"].startswith("3.1")
    names = set(found["components"]["schemas"])
    parts = str(found).split("#/components/schemas/")[1:]
    assert len(parts) > 10
    assert {part.split("'")[0] for part in parts} <= names
