"""Data that several commands read."""

import pytest
from written import put


@pytest.fixture
def rows(tmp_path):
    return put(tmp_path / "rows.svm", "".join(f"{i % 2} {1 + i % 2}:1 {3 + i % 7}:0.5\n" for i in range(400)))
