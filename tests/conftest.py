"""What all tests share: where real data lie, how Hypothesis runs, and one browser.

The browser is Debian's ``chromium`` (or ``CHROMIUM``, a path), driven by Playwright. Without it the tests that need
it are skipped with a sentence; with ``CI=true`` they fail instead.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from length import up_to
from missing import missing

settings.register_profile(
    "rosenblatt",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    max_examples=up_to(100, short=30),
)
settings.load_profile("rosenblatt")

ROOT = Path(__file__).resolve().parent.parent


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[Any]:
    """A command that was interrupted in this process still listens for Ctrl-C: that of a later test would end it."""
    handler, told = signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    try:
        return (yield)
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.set_wakeup_fd(-1)
        with contextlib.suppress(OSError, ValueError):  # closed meanwhile
            signal.set_wakeup_fd(told, warn_on_full_buffer=False)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of published data sets; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("ROSENBLATT_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"the published data sets are not at {folder}: set ROSENBLATT_DATA to their folder")
    return folder


FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


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
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS, headless=True)
        yield browser
        browser.close()
