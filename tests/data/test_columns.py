"""Columns to features."""

import datetime
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from rosenblatt.encode.table import TableEncoder
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io import open_dataset, read

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
        "when.hour=0": 1.0,
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
    for data in (
        pl.from_arrow(table),
        table.to_pandas(),
        tmp_path / "x.parquet",
        tmp_path / "x.feather",
        tmp_path / "x.csv",
        tmp_path / "x.tsv",
    ):
        found = read(data)
        assert found.values.tolist() == expected.values.tolist(), data
        assert found.indices.tolist() == expected.indices.tolist(), data
        assert found.y.tolist() == ["yes", "no", "no", "yes"]
    # JSON has no dates: they come as strings that are seen as timestamps.
    assert read(tmp_path / "x.jsonl").y.tolist() == ["yes", "no", "no", "yes"]


@pytest.mark.parametrize(
    ("name", "label"), [("uci_spambase/spambase.data.gz", 57), ("uci_banknote/banknote_authentication.csv.gz", 4)]
)
def test_csv_of_numbers_as_pandas_reads_it(real_data, name, label):
    frame = pd.read_csv(real_data / name, header=None)
    rows = read(real_data / name, label=str(label + 1))
    X = frame.drop(columns=label).to_numpy(float)
    np.testing.assert_allclose(rows.X.toarray(), (X - X.mean(axis=0)) / X.std(axis=0), rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(rows.y, frame[label])


def test_the_label_column(tmp_path):
    (tmp_path / "x.csv").write_text("class,a,b\n1,2,x\n0,3,y\n")
    assert open_dataset(tmp_path / "x.csv").fit().encoder.label == "class"
    assert open_dataset(tmp_path / "x.csv", label="b").fit().encoder.label == "b"
    assert open_dataset(tmp_path / "x.csv", label="2").fit().encoder.label == "a"
    with pytest.raises(ParameterError, match="label='z': there is no such column; the 3 are class, a, b"):
        list(open_dataset(tmp_path / "x.csv", label="z"))
    (tmp_path / "y.csv").write_text("p,q\n1,2\n3,4\n")
    assert open_dataset(tmp_path / "y.csv").fit().encoder.label == "q"


def test_what_is_named_overrides_the_guess(tmp_path):
    (tmp_path / "x.csv").write_text("a,b,c,y\n" + "".join(f"{i % 3},{i},w{i % 4},{i % 2}\n" for i in range(200)))
    kinds = {c.name: c.kind for c in open_dataset(tmp_path / "x.csv").fit().encoder.columns}
    assert kinds == {"a": "number", "b": "number", "c": "category"}
    kinds = {
        c.name: c.kind
        for c in open_dataset(tmp_path / "x.csv", category=["a"], drop=["b"], text=["c"]).fit().encoder.columns
    }
    assert kinds == {"a": "category", "b": "drop", "c": "text"}
    with pytest.raises(ParameterError, match="drop: there is no column 'q'"):
        list(open_dataset(tmp_path / "x.csv", drop=["q"]))


def test_a_column_of_different_words_is_left_out(tmp_path):
    (tmp_path / "x.csv").write_text("id,a,y\n" + "".join(f"id{i},{i},{i % 2}\n" for i in range(200)))
    encoder = open_dataset(tmp_path / "x.csv").fit().encoder
    assert [(c.name, c.kind) for c in encoder.columns] == [("id", "drop"), ("a", "number")]
    assert "left out: id (every value is different)" in encoder.describe()


def test_quoted_newlines_and_windows_line_ends(tmp_path):
    (tmp_path / "x.csv").write_bytes(b'\xef\xbb\xbfa,"b ""q""",y\r\n1,"line\r\nbreak",p\r\n2,"x, y",q\r\n')
    reader = open_dataset(tmp_path / "x.csv", text=['b "q"'])
    reader.chunk = 8
    assert [c.name for c in reader.encoder.columns] == ["a", 'b "q"']
    assert [set(row) - {"a"} for row in named(reader)] == [
        {'b "q": line', 'b "q": break', 'b "q": line break'},
        {'b "q": x', 'b "q": y', 'b "q": x y'},
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1,2,3,4", "line 3: it has 4 cells instead of 3"),
        ("1", "line 3: it has 1 cell instead of 3"),
        ('1,"2,0', "line 3: a quote is opened and never closed"),
        ("1,1e400,0", "line 3: column 'b' has inf: a number must be finite"),
        ("1,2,", "line 3: the label 'y' is missing"),
    ],
)
def test_bad_csv_lines(tmp_path, line, why):
    good = "".join(f"{i},{i},{i % 2}\n" for i in range(9))
    (tmp_path / "x.csv").write_text(f"a,b,y\n0,1,1\n{line}\n{good}")
    with pytest.raises(DataError, match=why):
        read(tmp_path / "x.csv", encoder=TableEncoder.from_json(plain_encoder()))
    reader = open_dataset(tmp_path / "x.csv", encoder=TableEncoder.from_json(plain_encoder()), skip_bad=True)
    assert sum(len(batch) for batch in reader) == 10
    assert reader.report.bad == 1


def plain_encoder():
    columns = [["a", "number", 0.0, 1.0], ["b", "number", 0.0, 1.0]]
    return {"kind": "columns", "columns": columns, "label": "y", "bits": 10, "grams": "pairs"}


def test_a_bad_line_is_named_by_the_scan_too(tmp_path):
    lines = [f"{i},{i},{i % 2}" for i in range(20_000)]
    lines[15_000] = "1e300,1,1"
    (tmp_path / "x.csv").write_text("a,b,y\n" + "\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"x\.csv, line 15002: column 'a' has 1e\+300: a number must be finite"):
        list(open_dataset(tmp_path / "x.csv"))
    reader = open_dataset(tmp_path / "x.csv", skip_bad=True)
    assert sum(len(batch) for batch in reader) == 19_999
    assert reader.encoder.numbers[0].mean == pytest.approx(np.delete(np.arange(20_000), 15_000).mean(), rel=1e-8)


def test_bad_json_lines(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"a": 1, "y": 0}\n{"a": 2, "y": 1}\n{"a": 3, "y"\n{"a": 4, "y": 1}\n')
    with pytest.raises(DataError, match=r"x\.jsonl, line 3: it is not JSON: expecting ':' delimiter"):
        read(tmp_path / "x.jsonl")
    reader = open_dataset(tmp_path / "x.jsonl", skip_bad=True)
    assert sum(len(batch) for batch in reader) == 3
    assert reader.report.bad == 1


def test_a_column_that_the_model_knows_is_missing(tmp_path):
    (tmp_path / "x.csv").write_text("a,y\n1,0\n")
    with pytest.raises(DataError, match="the column 'b' is missing"):
        read(tmp_path / "x.csv", encoder=TableEncoder.from_json(plain_encoder()))


def test_where_a_csv_is_cut_does_not_matter(tmp_path):
    rng = np.random.default_rng(0)
    words = ["red", "green", "blue", ""]
    lines = [f"{rng.standard_normal()!r},{words[rng.integers(4)]},{i % 3}" for i in range(500)]
    (tmp_path / "x.csv").write_text("a,b,y\n" + "\n".join(lines))
    reader = open_dataset(tmp_path / "x.csv").fit()
    whole = read(tmp_path / "x.csv", encoder=reader.encoder)
    for chunk, jobs in ((50, 1), (333, 3)):
        reader.chunk, reader.jobs = chunk, jobs
        batches = list(reader)
        assert len(batches) > 10
        assert np.concatenate([batch.values for batch in batches]).tolist() == whole.values.tolist()
        assert np.concatenate([batch.indices for batch in batches]).tolist() == whole.indices.tolist()


def test_an_encoder_survives_json():
    encoder = open_dataset(pa.table(COLUMNS)).fit().encoder
    again = TableEncoder.from_json(json.loads(json.dumps(encoder.to_json())))
    assert read(pa.table(COLUMNS), encoder=again).values.tolist() == read(pa.table(COLUMNS)).values.tolist()


def test_a_table_without_rows_or_columns():
    with pytest.raises(DataError, match="there is no column to learn from"):
        read(pa.table({"y": [1, 2]}))
    with pytest.raises(DataError, match="is empty"):
        read(pa.table({"a": pa.array([], pa.int64()), "y": pa.array([], pa.int64())}))
