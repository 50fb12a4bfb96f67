"""The compiled engine by itself: what it refuses, and its generator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rosenblatt import engine


def arguments(**changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "sample_weight": None,
        "order": None,
        "weights": np.zeros(2),
        "intercept": np.zeros(1),
        "fit_intercept": True,
        "rule": "perceptron",
        "eta0": 1.0,
        "beta": 0.0,
        "C": 1.0,
        "r": 1.0,
        "tie_positive": False,
        "keep": "last",
        "sums": None,
        "intercept_sums": None,
        "pocket": None,
        "pocket_intercept": None,
        "pocket_mistakes": None,
        "variances": None,
        "intercept_variances": None,
        "ratchet": False,
        "counters": np.zeros(len(engine.COUNTERS), np.int64),
        "mistake_weight": np.zeros(1),
    }
    return {**given, **changes}


ROWS = engine.dense_rows(np.ones((3, 2)))
SIGNS = np.ones(3, np.int8)


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"weights": np.zeros(3)}, ValueError, "weights: its size does not fit"),
        ({"weights": np.zeros(2, np.float32)}, TypeError, "weights: its dtype"),
        ({"order": np.array([0, 3], np.uint32)}, ValueError, "order: names a row that is not there"),
        ({"sample_weight": np.ones(2)}, ValueError, "sample_weight"),
        ({"rule": "hebb"}, ValueError, "rule: must be"),
        ({"keep": "average"}, ValueError, "keep: must be"),
        ({"keep": "pocket"}, ValueError, "keep: must be"),
        ({"rule": "AROW"}, ValueError, "variances: AROW needs them"),
        ({"counters": np.zeros(2, np.int64)}, ValueError, "counters"),
        ({"weights": np.zeros(6), "intercept": np.zeros(3)}, TypeError, "y: classes must be int32"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        engine.Pass(ROWS, SIGNS, **arguments(**changes))


def test_passes_side_by_side_share_an_order() -> None:
    passes = [engine.Pass(ROWS, SIGNS, **arguments(order=np.arange(n, dtype=np.uint32))) for n in (2, 3)]
    with pytest.raises(ValueError, match="passes: they must go over the same order"):
        engine.run_passes(passes)


def test_labels_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="y: its size"):
        engine.Pass(ROWS, SIGNS[:2], **arguments())
    with pytest.raises(ValueError, match="y: names a class that is not there"):
        engine.Pass(ROWS, np.array([0, 1, 3], np.int32), **arguments(weights=np.zeros(6), intercept=np.zeros(3)))


def test_arrays_are_never_copied_silently() -> None:
    with pytest.raises(TypeError):
        engine.dense_rows(np.ones((3, 2), np.int64))
    with pytest.raises(ValueError, match="C order"):
        engine.dense_rows(np.ones((3, 2), order="F"))
    with pytest.raises(TypeError):
        engine.Pass(ROWS, SIGNS, **arguments(intercept=np.zeros(1, np.float32)))


def test_the_generator_is_xoshiro_seeded_by_splitmix() -> None:
    """The first four outputs of splitmix64 from 0, as its authors publish them."""
    state = engine.seed_generator(0)
    assert [hex(word) for word in state] == [
        "0xe220a8397b1dcdaf",
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
        "0xf88bb8a8724c81ec",
    ]


def test_shuffles_are_permutations_and_every_place_is_equally_likely() -> None:
    state = engine.seed_generator(7)
    counts = np.zeros((5, 5))
    for _ in range(4000):
        items = np.arange(5, dtype=np.uint32)
        engine.shuffle(items, state)
        assert sorted(items.tolist()) == [0, 1, 2, 3, 4]
        counts[np.arange(5), items] += 1
    expected = 800.0
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert chi_square < 40  # 16 degrees of freedom: exceeded once in a thousand seeds; this one is fixed


def test_uniform_numbers_lie_in_their_range() -> None:
    numbers = engine.symmetric_uniform(10_000, engine.seed_generator(1))
    assert numbers.min() >= -1
    assert numbers.max() < 1
    assert abs(numbers.mean()) < 0.03


def test_sparse_structure_is_checked() -> None:
    values = np.ones(2)

    def structure(indices: list[int], starts: list[int]) -> str:
        rows = engine.sparse_rows(values, np.array(indices, np.int32), np.array(starts, np.int32), 3)
        return engine.structure(rows, 2)

    assert structure([0, 2], [0, 2]) == "sound"
    assert structure([2, 0], [0, 2]) == "unsorted"
    assert structure([1, 1], [0, 2]) == "unsorted"
    assert structure([0, 3], [0, 2]) == "broken"
    assert structure([0, -1], [0, 2]) == "broken"
    assert structure([0, 1], [0, 3]) == "broken"
    assert structure([0, 1], [0, 2, 1]) == "broken"
    assert structure([0, 1], [-1, 2]) == "broken"
