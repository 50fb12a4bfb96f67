"""Columns, words and namespaces to features."""

import datetime
import json
import math
import random
from itertools import combinations_with_replacement, product
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from rejected import rejected
from written import put, reloaded

import rosenblatt
from rosenblatt.data.batch import join_batches
from rosenblatt.encode import interactions as module
from rosenblatt.encode.interactions import PRIME, Products
from rosenblatt.encode.lines import LineEncoder
from rosenblatt.errors import DataError
from rosenblatt.io import open_dataset, read
from rosenblatt.models.export import to_json

COLUMNS = {
    "size": [1.0, None, 3.0, 5.0],
    "color": ["red", "blue", None, "red"],
    "when": [datetime.date(2020, 2, 29), datetime.date(2021, 1, 1), None, datetime.date(2020, 2, 29)],
    "note": ["a nice red one", "the other one is nice", "no idea about it", None],
    "label": ["yes", "no", "no", "yes"],
}


def named(reader):
    """Every row as a dict from name to value."""
    rows = []
    for batch in reader:
        names = reader.find_names(np.unique(batch.indices))
        for a, b in zip(batch.starts[:-1], batch.starts[1:], strict=True):
            rows.append(
                {names[j]: v for j, v in zip(batch.indices[a:b].tolist(), batch.values[a:b].tolist(), strict=True)}
            )
    return rows


def test_a_slice_of_a_table_is_read_as_its_own_rows():
    table = pa.table(COLUMNS)
    encoder = open_dataset(table).fit().encoder
    whole = encoder.encode(table, require_label=True)
    labels = [whole.labels[code] for code in whole.codes]
    for begin in range(4):
        for length in range(5 - begin):
            part = encoder.encode(table.slice(begin, length), require_label=True)
            np.testing.assert_array_equal(
                part.matrix(encoder.features).toarray(),
                whole.matrix(encoder.features)[begin : begin + length].toarray(),
            )
            assert [part.labels[code] for code in part.codes] == labels[begin : begin + length]


def test_every_kind_of_column_by_hand():
    rows = named(open_dataset(pa.table(COLUMNS)))
    scale = math.sqrt(8 / 3)
    note = 1 / math.sqrt(7)
    assert rows[0] == {
        "size": pytest.approx(-2 / scale, rel=1e-8),
        "color=red": 1.0,
        "when.year=2020": 1.0,
        "when.month=2": 1.0,
        "when.day_of_week=5": 1.0,
        **dict.fromkeys(
            ["note: a", "note: nice", "note: red", "note: one", "note: a nice", "note: nice red", "note: red one"], note
        ),
    }
    assert "size" not in rows[1]
    assert rows[1]["size is missing"] == 1.0
    assert rows[2]["color is missing"] == rows[2]["when is missing"] == 1.0
    assert rows[3] == {
        "size": pytest.approx(2 / scale, rel=1e-8),
        "note is missing": 1.0,
        **{name: v for name, v in rows[0].items() if name.startswith(("color", "when"))},
    }


def test_every_container_gives_the_same_rows(tmp_path):
    table = pa.table(COLUMNS)
    pa.parquet.write_table(table, tmp_path / "x.parquet", row_group_size=3)
    pa.feather.write_feather(table, tmp_path / "x.feather")
    pl.from_arrow(table).write_csv(tmp_path / "x.csv")
    pl.from_arrow(table).write_csv(tmp_path / "x.tsv", separator="\t")
    with open(tmp_path / "x.jsonl", "w") as file:
        for row in table.to_pylist():
            file.write(json.dumps(row, default=str) + "\n")
    expected = read(table)
    files = [tmp_path / f"x.{ending}" for ending in ("parquet", "feather", "csv", "tsv")]
    for data in (pl.from_arrow(table), table.to_pandas(), *files):
        found = read(data)
        assert found.values.tolist() == expected.values.tolist(), data
        assert found.indices.tolist() == expected.indices.tolist(), data
        assert found.y.tolist() == ["yes", "no", "no", "yes"]
    # JSON has no dates: they come as strings that are seen as timestamps.
    assert read(tmp_path / "x.jsonl").y.tolist() == ["yes", "no", "no", "yes"]


def test_the_label_column(tmp_path):
    (tmp_path / "x.csv").write_text("class,a,b\n1,2,x\n0,3,y\n")
    assert open_dataset(tmp_path / "x.csv").fit().encoder.label == "class"
    assert open_dataset(tmp_path / "x.csv", label="b").fit().encoder.label == "b"
    assert open_dataset(tmp_path / "x.csv", label="2").fit().encoder.label == "a"
    with rejected("parameter", "label='z'", "class, a, b"):
        list(open_dataset(tmp_path / "x.csv", label="z"))


def test_quoted_newlines_and_windows_line_ends(tmp_path):
    (tmp_path / "x.csv").write_bytes(b'\xef\xbb\xbfa,"b ""q""",y\r\n1,"line\r\nbreak",p\r\n2,"x, y",q\r\n')
    reader = open_dataset(tmp_path / "x.csv", text=['b "q"'])
    reader.chunk = 8
    assert [c.name for c in reader.encoder.columns] == ["a", 'b "q"']
    assert [set(row) - {"a"} for row in named(reader)] == [
        {'b "q": line', 'b "q": break', 'b "q": line break'},
        {'b "q": x', 'b "q": y', 'b "q": x y'},
    ]


def test_a_table_without_rows_or_columns():
    with rejected("data", "label"):
        read(pa.table({"y": [1, 2]}))
    with rejected("data"):
        read(pa.table({"a": pa.array([], pa.int64()), "y": pa.array([], pa.int64())}))


TEXTS = ["the cat", "the dog", "the cat the dog", "bird", "the bird sings"]


@pytest.fixture(params=["tabbed", "csv"])
def data(request, tmp_path):
    path = tmp_path / "x"
    texts = TEXTS * 8
    if request.param == "csv":
        rows = [f"{text} and so on,{k % 7},{'ab'[k % 2]}" for k, text in enumerate(texts)]
        path.write_text("message,size,y\n" + "\n".join(rows) + "\n")
    else:
        path.write_text("".join(f"{'ab'[k % 2]}\t{text}\n" for k, text in enumerate(texts)))
    return path


def dense(batch):
    return batch.matrix(batch.features).toarray()


def test_words_weigh_by_the_formula(tmp_path):
    (tmp_path / "x").write_text("".join(f"{'ab'[k % 2]}\t{text}\n" for k, text in enumerate(TEXTS)))
    plain = dense(next(iter(open_dataset(tmp_path / "x", grams="words"))))
    found = dense(next(iter(open_dataset(tmp_path / "x", grams="words", idf=True))))
    frequency = (plain > 0).sum(axis=0)
    expected = plain * (np.log((1 + len(TEXTS)) / (1 + frequency)) + 1)
    expected /= np.sqrt((expected**2).sum() / len(TEXTS))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_pass_gives_the_rows_that_load_stores_in_any_cut(data):
    dataset = open_dataset(data, idf=True)
    stored = dataset.load().batch()
    for chunk in (50, 1 << 20):
        again = open_dataset(data, idf=True)
        again.chunk = chunk
        rows = join_batches(list(again))
        assert rows.values.tobytes() == stored.values.tobytes()
        assert again.encoder.idf.tobytes() == dataset.encoder.idf.tobytes()


def test_the_model_keeps_the_weights(data):
    model = rosenblatt.train(data, "averaged", idf=True, max_iter=2)
    loaded = reloaded(model)
    rows = ["the cat", "a bird"] if data.read_text()[1] == "\t" else [{"message": "the bird so", "size": 3}]
    assert loaded.decision_function(rows).tolist() == model.decision_function(rows).tolist()
    plain = rosenblatt.train(data, "averaged", max_iter=2)
    assert model.decision_function(rows).tolist() != plain.decision_function(rows).tolist()
    assert "idf weights" in loaded.encoder.describe()
    exported = json.loads(to_json(model))
    weights = {column: weight for column, _, weight in exported["weights"]}
    batch = next(iter(open_dataset(data, encoder=plain.encoder)))  # without idf: the export has it in the weights
    scores = [exported["intercept"][0]] * len(batch)
    for row in range(len(batch)):
        for at in range(batch.starts[row], batch.starts[row + 1]):
            scores[row] += weights.get(int(batch.indices[at]), 0.0) * batch.values[at]
    np.testing.assert_allclose(scores, model.batch_scores(next(iter(open_dataset(data, encoder=model.encoder))))[:, 0])
    with pytest.raises((DataError, rosenblatt.errors.ModelError)):
        reloaded(model, lambda content: content["encoder"].update(idf=content["encoder"]["idf"][:40]))


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
    batch = LineEncoder("vw", bits=BITS).transform(text.encode(), require_label=False).batch
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
    path = put(tmp_path / "x.vw", "\n".join(lines))
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


def test_names_of_products_are_found(tmp_path: Path) -> None:
    path = put(tmp_path / "x.vw", "1 |user old |item book\n-1 |user young |item pen\n")
    reader = open_dataset(path, interactions=["ui"], bits=BITS)
    rows = read(path, interactions=["ui"], bits=BITS)
    names = set(reader.find_names(np.unique(rows.indices)).values())
    assert {"user^old", "item^pen", "user^old*item^book", "user^young*item^pen"} <= names


def test_a_line_with_too_many_products_is_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 5)
    path = put(tmp_path / "x.vw", "1 |a p q |b r\n-1 |a p q r |b s t\n\n1 |a p |b s\n")
    with rejected("data", "x.vw, line 2", "ab", "6 features", "5"):
        read(path, interactions=["ab"])
    reader = open_dataset(path, interactions=["ab"], skip_bad=True)
    reader.keep_blank = True
    (batch,) = reader
    assert (len(batch), batch.blank, reader.report.bad) == (2, (1, 1), 1)


def test_what_means_nothing_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "x.vw", "1 |a x |b y\n-1 |a z |b y\n")
    for term in ("a", "a|", "a b", ""):
        with rejected("parameter", "interactions"):
            list(open_dataset(path, interactions=[term]))
    for name, text in (("x.svm", "1 1:1\n-1 1:2\n"), ("x.csv", "a,b,y\n1,2,p\n3,4,q\n")):
        put(tmp_path / name, text)
        with rejected("parameter", "interactions"):
            list(open_dataset(tmp_path / name, interactions=["ab"]))
        with rejected("parameter", "idf"):  # which is for texts
            open_dataset(tmp_path / name, idf=True)
    encoder = LineEncoder("vw", bits=BITS, interactions=("ab", "ab"))
    assert LineEncoder.from_json(encoder.to_json()) == encoder
    assert "the interactions ab" in encoder.describe()
