"""What all tests share: published data, how Hypothesis runs, one browser, and that nothing is skipped if ``CI=true``.

Tests of programs that are not installed are skipped; `tools/packages.sh` installs them. Tests of published data run
only if the data are found (CONTRIBUTING, "Published data").
"""

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

settings.register_profile(
    "rosenblatt",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    max_examples=up_to(100, short=30),
)
settings.load_profile("rosenblatt")
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background ignores: tests send it

ROOT = Path(__file__).resolve().parent.parent
# Few epochs do for most tests; those of the warning itself use `pytest.warns`.
UNFINISHED = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Any:
    return not_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Any:
    return not_skipped((yield))


def not_skipped(report: Any) -> Any:
    """With ``CI=true`` what is skipped has failed."""
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"{report.longrepr[2]}, and CI=true: nothing may be skipped"
    return report


DATA = Path(os.environ.get("ROSENBLATT_DATA", ROOT.parent / "shared" / "data")).resolve()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if not DATA.is_dir():
        terminalreporter.write_line(f"no published data at {DATA}: the tests of them were left out")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "ROSENBLATT_DATA" in os.environ and not DATA.is_dir():
        raise pytest.UsageError(f"ROSENBLATT_DATA={DATA}: there is no such folder")
    without = [] if DATA.is_dir() else [item for item in items if "real_data" in getattr(item, "fixturenames", ())]
    if without:
        config.hook.pytest_deselected(items=without)
        items[:] = [item for item in items if item not in without]
    for item in items:
        if item.path.is_relative_to(ROOT / "tests"):  # examples of the docs converge, or say that they do not
            item.add_marker(UNFINISHED)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of published data sets."""
    return DATA


FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("Playwright is not installed: pip install playwright")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not path or not Path(path).exists():
        pytest.skip("no browser: apt-get install chromium, or set CHROMIUM to one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS, headless=True)
        yield browser
        browser.close()
