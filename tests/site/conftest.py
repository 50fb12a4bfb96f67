"""The site as it was built, and a browser that opens it from its folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest_plugins: list[str] = []
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the site; `make docs` builds it."""
    folder = Path(os.environ.get("ROSENBLATT_SITE", ROOT / "build" / "site"))
    if not (folder / "docs" / "index.html").is_file():
        pytest.skip(f"no site at {folder}: make docs builds it and runs this")
    return folder
