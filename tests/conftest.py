"""What all tests share: where real data lie, and how Hypothesis runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("rosenblatt", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("rosenblatt")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of published data sets; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("ROSENBLATT_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"the published data sets are not at {folder}: set ROSENBLATT_DATA to their folder")
    return folder
