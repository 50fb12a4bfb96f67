"""The textbook against numbers worked out by hand, and against itself."""

import ast
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt import textbook
from rosenblatt.textbook import Rule, dot, extended, learn, steps

AND = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]


def binary_sets(d: int = 2) -> st.SearchStrategy[tuple[list[list[float]], list[int]]]:
    row = st.lists(st.integers(-3, 3).map(float), min_size=d, max_size=d)
    return st.lists(st.tuples(row, st.sampled_from([-1, 1])), min_size=1, max_size=8).map(
        lambda rows: ([x for x, _ in rows], [y for _, y in rows])
    )


def test_it_imports_nothing_of_the_package() -> None:
    tree = ast.parse(Path(textbook.__file__).read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert modules <= {"__future__", "math", "collections.abc", "dataclasses", "itertools", "typing"}


def test_and_step_by_step_with_the_step_function() -> None:
    """Learning rate 0.1, weights (bias, x1, x2) from zero: the first four examples."""
    X, y = [[1.0, *x] for x in AND], [0, 0, 0, 1]
    expected = [[-0.1, 0.0, 0.0], [-0.1, 0.0, 0.0], [-0.1, 0.0, 0.0], [0.0, 0.1, 0.1]]
    for seen, theta in enumerate(expected, start=1):
        assert textbook.step_perceptron(X[:seen], y[:seen], T=1, alpha=0.1) == pytest.approx(theta)


def test_the_zero_start_is_a_mistake_and_one_update_mends_it() -> None:
    x = [3.0, -4.0]
    first, second = steps([x], [1], orders=[[0], [0]], fit_intercept=False)
    assert first.mistake
    assert first.score == 0
    assert dot(first.after[0][:-1], x) == 25.0  # y (0 + y x)·x = ‖x‖²
    assert not second.mistake


@given(binary_sets())
def test_an_offset_is_a_constant_feature(data: tuple[list[list[float]], list[int]]) -> None:
    X, y = data
    w, b = textbook.perceptron_with_offset(X, y, T=5)
    assert textbook.perceptron([extended(x) for x in X], y, T=5) == [*w, b]


@given(binary_sets())
def test_the_printed_algorithms_are_the_family(data: tuple[list[list[float]], list[int]]) -> None:
    X, y = data
    T = 4
    assume(all(any(x) for x in X))  # a row of zeros: the printed ones "update" by nothing, the family does not count it
    run = learn(X, y, orders=[range(len(X))] * T, fit_intercept=False)
    through_origin = [row[:-1] for row in run.last]
    assert textbook.perceptron(X, y, T) == through_origin[0]
    with_offset = learn(X, y, orders=[range(len(X))] * T)
    w, b = textbook.perceptron_train(list(zip(X, y, strict=True)), T)
    assert with_offset.last[0] == [*w, b]
    assert textbook.pocket_perceptron(X, y, T) == run.pocket[0][:-1]
    if not run.converged:  # `learn` stops there, the printed ones keep counting
        assert textbook.averaged_perceptron(X, y, T) == pytest.approx(run.average[0][:-1])
        lived = [(row[0][:-1], c) for row, c in run.lived]
        assert textbook.voted_perceptron(X, y, T) == lived


@given(binary_sets())
def test_cached_weights_give_the_mean_with_the_start(data: tuple[list[list[float]], list[int]]) -> None:
    """``w - u/c`` is the mean of w_0 … w_N: the average times N / (N + 1)."""
    X, y = data
    N = 3 * len(X)
    mean = textbook.averaged_perceptron(X, y, T=3)
    assert textbook.averaged_perceptron_train(X, y, 3) == pytest.approx([m * N / (N + 1) for m in mean])


@given(binary_sets(), st.sampled_from(["PA", "PA-I", "PA-II"]), st.floats(0.1, 10))
def test_passive_aggressive_is_the_family(data: tuple[list[list[float]], list[int]], variant: str, C: float) -> None:
    X, y = data
    w = textbook.passive_aggressive(X, y, 1, variant, C)
    run = learn(X, y, rule=Rule(variant, C=C), orders=[range(len(X))], fit_intercept=False)
    assert run.last[0][:-1] == pytest.approx(w)


@given(binary_sets(), st.integers(0, 5))
def test_multiclass_is_the_family(data: tuple[list[list[float]], list[int]], seed: int) -> None:
    X, _ = data
    y = [(seed + 2 * i) % 3 for i in range(len(X))]
    run = learn(X, y, orders=[range(len(X))] * 2, classes=3, fit_intercept=False)
    expected = textbook.multiclass_perceptron(X, y, 3, 1 if run.converged and run.epochs == 1 else 2)
    assert [row[:-1] for row in run.last] == expected


@given(binary_sets())
def test_a_linear_kernel_is_the_linear_perceptron(data: tuple[list[list[float]], list[int]]) -> None:
    X, y = data
    alpha = textbook.kernel_perceptron(X, y, T=3)
    w = textbook.perceptron(X, y, T=3)
    dual = [sum(a * y_i * x[j] for a, y_i, x in zip(alpha, y, X, strict=True)) for j in range(2)]
    assert dual == w


def test_a_row_of_zeros_without_an_offset_is_a_mistake_but_no_update() -> None:
    run = learn([[0.0, 0.0]], [1], orders=[[0]] * 3, fit_intercept=False)
    assert (run.mistakes, run.updates) == (3, 0)
