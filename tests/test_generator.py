"""The engine's generator, and the orders that it draws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rosenblatt import engine, textbook


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


@pytest.mark.parametrize(
    ("count", "window"), [(0, 8192), (1, 8192), (8192, 8192), (8193, 8192), (20_001, 8192), (300, 130), (96, 37)]
)
def test_an_order_of_strips_is_that_of_the_textbook(count: int, window: int) -> None:
    state, draws = engine.seed_generator(3), textbook.Draws.seeded(3)
    for _ in range(2):  # the generators go on alike
        order, expected = np.empty(count, np.uint32), textbook.strip_order(count, draws, window)
        engine.draw_order(order, state, None, window)
        assert order.tolist() == expected
        assert sorted(expected) == list(range(count))


@pytest.mark.parametrize("count", [8193, 20_001, 60_000, 100_003])
def test_every_window_has_rows_from_all_over_the_table(count: int) -> None:
    """So that rows sorted by label come in their shares, the last window among them."""
    order, state = np.empty(count, np.uint32), engine.seed_generator(1)
    engine.draw_order(order, state)
    bounds = engine.window_bounds(count, engine.WINDOW)
    assert np.ptp(np.diff(bounds)) <= 1
    assert bounds[-1] == engine.strips_of(count, engine.WINDOW)[1]
    for begin, end in itertools.pairwise(32 * bounds):
        tenths = np.bincount(order[begin:end].astype(np.int64) * 10 // count, minlength=10) / (end - begin)
        assert np.abs(tenths - 0.1).max() < 0.03


def test_windows_drawn_one_by_one_are_the_order_drawn_at_once() -> None:
    rows, window = np.arange(500, 0, -1).astype(np.uint32), 100
    at_once, one_by_one = engine.seed_generator(3), engine.seed_generator(3)
    order = np.empty(500, np.uint32)
    engine.draw_order(order, at_once, rows, window)
    turns = engine.draw_strips(500, one_by_one, window)
    windows = engine.strips_of(500, window)[2]
    parts = [engine.draw_windows(turns, one_by_one, 500, window, k, k + 1) for k in range(windows)]
    assert rows[np.concatenate(parts)].tolist() == order.tolist()
    assert at_once.tolist() == one_by_one.tolist()


def test_rows_of_one_window_are_shuffled_as_single_rows() -> None:
    state, order = engine.seed_generator(5), np.empty(100, np.uint32)
    engine.draw_order(order, state)
    items = np.arange(100, dtype=np.uint32)
    engine.shuffle(items, engine.seed_generator(5))
    assert order.tolist() == items.tolist()


def test_uniform_numbers_lie_in_their_range() -> None:
    numbers = engine.symmetric_uniform(10_000, engine.seed_generator(1))
    assert numbers.min() >= -1
    assert numbers.max() < 1
    assert abs(numbers.mean()) < 0.03
