"""Memory limits of control groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from rosenblatt.data import table


def test_free_memory_respects_the_limit_of_a_control_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("900000\n")
    (tmp_path / "memory.stat").write_text("anon 500000\ninactive_file 100000\n")
    monkeypatch.setattr(table, "_CGROUPS", ((str(tmp_path), "memory.max", "memory.current", "inactive_file"),))
    assert table.free_memory() == 200_000
    (tmp_path / "memory.max").write_text("max\n")
    assert table.free_memory() > 1_000_000
