"""Servers that several tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from running import TOKENS, Server, running


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server that begins with nothing."""
    with running(tmp_path, "--learner", "averaged", "--learn", tmp_path / "log.sqlite") as found:
        yield found


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with tokens."""
    folder = tmp_path_factory.mktemp("guarded")
    tokens = folder / "tokens"
    lines = ["# who may do what", "", *(f"{role} {token}" for role, token in TOKENS.items())]
    tokens.write_text("\n".join(lines))
    tokens.chmod(0o600)
    words = ("--learner", "averaged", "--learn", folder / "log.sqlite", "--token-file", tokens)
    with running(folder, *words, "--host", "0.0.0.0") as found:
        yield found
