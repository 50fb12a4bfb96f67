"""Interactions of namespaces: the products and columns of Vowpal Wabbit, by its rules written out."""

from __future__ import annotations

import random
from itertools import combinations_with_replacement, product
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.encode import interactions as module
from rosenblatt.encode.interactions import PRIME, Products
from rosenblatt.encode.lines import LineEncoder
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io import open_dataset, read

BITS = 16
MASK = (1 << BITS) - 1


def lines_of(seed: int, count: int = 30) -> list[str]:
    draw = random.Random(seed)
    lines = []
    for _ in range(count):
        parts = []
        for space in ("user", "item:2", "ignored", "uplink", ""):
            words = [
                f"{draw.choice('xyz')}{draw.randint(0, 9)}:{draw.randint(1, 9)}" for _ in range(draw.randint(0, 4))
            ]
            if draw.random() < 0.8:
                parts.append(f"|{space} {' '.join(dict.fromkeys(words))}")
        lines.append(f"{draw.choice((1, -1))} 2 'tag{''.join(parts) or '|'}")
    return lines


def plain(text: str) -> dict[int, float]:
    """The features of a line without interactions: column and value."""
    batch = LineEncoder("vw", BITS).transform(text.encode(), require_label=False).batch
    return dict(zip(batch.indices.tolist(), batch.values.tolist(), strict=True))


def by_hand(line: str, terms: list[str]) -> dict[int, float]:
    """VW's rule, factor by factor, for letters only."""
    head, *spaces = line.split("|")
    groups: dict[str, list[tuple[int, float]]] = {}
    for space in spaces:
        letter = space[0] if space and space[0] != " " else " "
        groups.setdefault(letter, []).extend(plain(f"{head}|{space}").items())
    found = plain(line)
    for term in terms:
        if len(term) == 2 and term[0] == term[1]:
            members = sorted(groups.get(term[0], []))
            tuples = list(combinations_with_replacement(members, 2))
        else:
            tuples = list(product(*(sorted(groups.get(letter, [])) for letter in term)))  # type: ignore[arg-type]
        for factors in tuples:
            column, value = factors[0]
            for other, times in factors[1:]:
                column, value = ((PRIME * column) ^ other) & MASK, value * times
            found[column] = found.get(column, 0.0) + value
    return found


@pytest.mark.parametrize("terms", [["ui"], ["iu"], ["ui", "ii"], ["uiu"], ["zz"]])
@pytest.mark.parametrize("seed", range(3))
def test_products_are_those_of_vowpal_wabbit(tmp_path: Path, terms: list[str], seed: int) -> None:
    # No line has two namespaces that begin with the same letter and share a column: then the sums would differ.
    lines = [line.replace("|uplink", "|other") for line in lines_of(seed)]
    path = tmp_path / "x.vw"
    path.write_text("\n".join(lines))
    rows = read(path, interactions=terms, bits=BITS)
    for i, line in enumerate(lines):
        span = slice(rows.starts[i], rows.starts[i + 1])
        own = dict(zip(rows.indices[span].tolist(), rows.values[span].tolist(), strict=True))
        assert own == pytest.approx(by_hand(line, terms))
    assert rows.weights is not None
    assert set(rows.weights.tolist()) == {2.0}


def test_any_namespace_stands_for_each_pair_once() -> None:
    chunk = b"1 |a x |b y | z\n"
    assert Products(chunk, ["::"], BITS).terms == ["  ", " a", " b", "aa", "ab", "bb"]
    assert Products(chunk, ["a:"], BITS).terms == ["a ", "aa", "ab"]


def test_where_the_file_is_cut_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "x.vw"
    path.write_text("\n\n".join(lines_of(7)))
    reader = open_dataset(path, interactions=["ui", "uu"], bits=BITS)
    whole = read(path, interactions=["ui", "uu"], bits=BITS)
    for size in (64, 300):
        reader.chunk = size
        assert np.concatenate([batch.indices for batch in reader]).tolist() == whole.indices.tolist()
        assert np.concatenate([batch.values for batch in reader]).tolist() == whole.values.tolist()


def test_names_of_products_are_found(tmp_path: Path) -> None:
    path = tmp_path / "x.vw"
    path.write_text("1 |user old |item book\n-1 |user young |item pen\n")
    reader = open_dataset(path, interactions=["ui"], bits=BITS)
    rows = read(path, interactions=["ui"], bits=BITS)
    names = set(reader.find_names(np.unique(rows.indices)).values())
    assert {"user^old", "item^pen", "user^old*item^book", "user^young*item^pen"} <= names


def test_a_line_with_too_many_products_is_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 5)
    path = tmp_path / "x.vw"
    path.write_text("1 |a p q |b r\n-1 |a p q r |b s t\n\n1 |a p |b s\n")
    with pytest.raises(DataError, match=r"x\.vw, line 2: its interactions ab make 6 features, and the most are 5"):
        read(path, interactions=["ab"])
    reader = open_dataset(path, interactions=["ab"], skip_bad=True)
    reader.keep_blank = True
    (batch,) = reader
    assert (len(batch), batch.blank, reader.report.bad) == (2, (1, 1), 1)


def test_what_means_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.vw"
    path.write_text("1 |a x |b y\n-1 |a z |b y\n")
    for term in ("a", "a|", "a b", ""):
        with pytest.raises(ParameterError, match="must be the first letters of two namespaces or more"):
            list(open_dataset(path, interactions=[term]))
    for name, text in (("x.svm", "1 1:1\n-1 1:2\n"), ("x.csv", "a,b,y\n1,2,p\n3,4,q\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(ParameterError, match="interactions join namespaces, which"):
            list(open_dataset(tmp_path / name, interactions=["ab"]))
    encoder = LineEncoder("vw", BITS, interactions=("ab", "ab"))
    assert LineEncoder.from_json(encoder.to_json()) == encoder
    assert "the interactions ab" in encoder.describe()
