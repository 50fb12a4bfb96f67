"""The limits are those of the two tables that name them."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from rosenblatt.errors import ParameterError
from rosenblatt.io.limits import Limits

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("page", ["docs/files.md", "SECURITY.md"])
def test_the_tables_name_every_limit(page: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| (\d+[KMGT]?) \|$", (ROOT / page).read_text(), re.MULTILINE)
    assert [name for name, _ in rows] == [each.name for each in fields(Limits)]
    assert Limits.parse([f"{name}={size}" for name, size in rows]) == Limits()


@pytest.mark.parametrize("word", ["line", "line=", "line=0", "line=-1", "line=1.5G", "line=1X", "=5", "width=5"])
def test_a_limit_that_means_nothing(word: str) -> None:
    with pytest.raises(ParameterError, match="write line=, expansion= or classes="):
        Limits.parse([word])
