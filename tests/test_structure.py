"""How CSR arrays lie, as the engine looks at them before it reads them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from rosenblatt import engine


def rows_of(columns: list[int], starts: list[int], features: int = 3) -> engine.Rows:
    return engine.sparse_rows(np.ones(2), np.array(columns, np.int32), np.array(starts, np.int32), features)


@pytest.mark.parametrize(
    ("columns", "starts", "expected"),
    [
        ([0, 2], [0, 2], "sound"),
        ([2, 0], [0, 1, 2], "sound"),
        ([2, 0], [0, 2], "unsorted"),
        ([1, 1], [0, 2], "unsorted"),
        ([0, 3], [0, 2], "broken"),
        ([0, -1], [0, 2], "broken"),
        ([0, 1], [0, 3], "broken"),
        ([0, 1], [0, 2, 1], "broken"),
        ([0, 1], [-1, 2], "broken"),
    ],
)
def test_sparse_structure_is_checked(columns: list[int], starts: list[int], expected: str) -> None:
    assert engine.structure(rows_of(columns, starts)) == expected


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("count", [1, 68, 69, 137])
def test_sparse_structure_is_checked_to_the_last_value(kind: type, count: int) -> None:
    length, features = 30, 5000
    starts = np.arange(count + 1, dtype=kind) * length
    drawn = np.random.default_rng(count).permuted(np.tile(np.arange(features), (count, 1)), axis=1)
    good = np.sort(drawn[:, :length])

    def structure(columns: NDArray[np.int64]) -> str:
        rows = engine.sparse_rows(np.ones(columns.size), columns.ravel().astype(kind), starts, features)
        return engine.structure(rows)

    assert structure(good) == "sound"
    for row in {0, count // 2, count - 1}:
        for place in (1, length // 2, length - 1):
            other = good.copy()
            other[row, place] = features
            assert structure(other) == "broken"
            other[row, place] = other[row, place - 1]
            assert structure(other) == "unsorted"


def test_rows_found_broken_are_refused_from_then_on() -> None:
    rows = rows_of([0, 9], [0, 2], 2)
    assert engine.structure(rows) == "broken"
    with pytest.raises(ValueError, match="rows"):
        engine.scores(rows, np.zeros(2), np.zeros(1))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 3000])
def test_values_that_are_not_all_one_are_read(kind: type, count: int) -> None:
    starts, columns = np.array([0, count], np.int32), np.arange(count, dtype=np.int32)
    weights = np.ones(count, kind)

    def score(values: NDArray[np.floating]) -> float:
        return engine.scores(engine.sparse_rows(values, columns, starts, count), weights, np.zeros(1)).item()

    assert score(np.ones(count, kind)) == count
    for place in {0, count // 2, count - 1}:
        values = np.ones(count, kind)
        values[place] = 3
        assert score(values) == count + 2
        values[place] = np.nan
        assert engine.find_unusable(engine.sparse_rows(values, columns, starts, count)) == (0, place)
