"""Servers that several tests share, and a browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running import TOKENS, Server, missing, running


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
    words = ("--learner", "averaged", "--learn", folder / "log.sqlite", "--shadow", "arow", "--token-file", tokens)
    with running(folder, *words, "--host", "0.0.0.0") as found:
        yield found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("Playwright is not installed: pip install playwright")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not path or not Path(path).exists():
        missing("no browser: apt-get install chromium, or set CHROMIUM to one")
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        found = playwright.chromium.launch(executable_path=path, args=flags, headless=True)
        yield found
        found.close()
