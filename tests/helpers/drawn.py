"""Data that Hypothesis draws: rows of small whole numbers, in which every class comes."""

from typing import Any

from hypothesis import strategies as st


@st.composite
def labeled_integers(draw: st.DrawFn, classes: int = 2, most: int = 12, columns: int = 3, size: int = 5) -> Any:
    """At most so many rows of at most so many columns of values from -size to size, and their labels from 0 on."""
    n, d = draw(st.integers(classes, most)), draw(st.integers(1, columns))
    X = draw(st.lists(st.lists(st.integers(-size, size), min_size=d, max_size=d), min_size=n, max_size=n))
    labels = st.lists(st.integers(0, classes - 1), min_size=n, max_size=n)
    return X, draw(labels.filter(lambda y: len(set(y)) == classes))
