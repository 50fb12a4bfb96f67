"""Servers that several tests share."""

import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import TOKENS, Server, running


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server that begins with nothing."""
    with running(tmp_path, "--learner", "averaged", "--learn", tmp_path / "log.sqlite") as found:
        yield found


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate of localhost, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: it makes the certificate of this test")
    key, made = tmp_path / "key.pem", tmp_path / "cert.pem"
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    told = [*shlex.split(words), "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(made)]
    subprocess.run(told, check=True, capture_output=True)
    return made, key


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
