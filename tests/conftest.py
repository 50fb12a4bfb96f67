"""What the tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared():
    """The folder of real data sets; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("ROSENBLATT_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))
    if not (folder / "README.md").exists():
        pytest.skip(f"needs the real data sets, and there are none in {folder} (set ROSENBLATT_DATA)")
    return folder
