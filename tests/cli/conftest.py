"""Data that several commands read."""

import pytest


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{i % 2} {1 + i % 2}:1 {3 + i % 7}:0.5\n" for i in range(400)))
    return path
