"""Defects of reading, encoding and storing."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rosenblatt
from rosenblatt.data.labels import Classes, encode_labels
from rosenblatt.errors import DataError, LabelError
from rosenblatt.io import open_dataset, read
from rosenblatt.io.csv_sniffer import unique_names
from rosenblatt.models.file import save

ROWS = [f"{i},{(i * 37) % 11},{'ab'[i % 2]}" for i in range(60)]


def put(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def trained(data: Any, path: Path, **options: Any) -> bytes:
    save(rosenblatt.train(data, "averaged", max_iter=3, **options), path)
    return path.read_bytes()


@pytest.mark.parametrize("name", ["x.txt", "docs"])
def test_latin_1_in_labeled_lines_and_documents_is_text(tmp_path: Path, name: str) -> None:
    if name == "docs":
        for k in range(6):
            put(tmp_path / "docs" / "good" / str(k), "schöner Tag".encode("latin-1"))
            put(tmp_path / "docs" / "bad" / str(k), "böser Tag".encode("latin-1"))
    else:
        put(tmp_path / name, "".join("good\tschöner Tag\nbad\tböser Tag\n" for _ in range(6)).encode("latin-1"))
    model = rosenblatt.train(tmp_path / name, "averaged", max_iter=3)
    assert {"schöner", "böser"} <= set(model.names.values())


def test_lists_of_labels_in_json_lines_are_several_labels(tmp_path: Path) -> None:
    rows = [{"a": 1.0, "labels": ["sport", "tech"]}, {"a": 2.0, "labels": ["tech"]}, {"a": 3.0, "labels": "sport"}]
    path = put(tmp_path / "x.jsonl", "\n".join(map(json.dumps, rows)))
    batch = read(path)
    assert sorted(set(batch.y.tolist())) == ["sport", "tech"]
    assert batch.sample_weight.tolist() == [0.5, 0.5, 1.0, 1.0]


def test_labels_in_files_are_text_unless_they_are_plain_numbers() -> None:
    assert Classes.of([b"1_1", b"11"]).values.tolist() == ["11", "1_1"]
    assert Classes.of([b"1e3", b"1000"]).values.tolist() == ["1000", "1e3"]
    assert Classes.of([b"9007199254740993", b"1.0"]).values.tolist() == [1, 9007199254740993]


def test_labels_that_numpy_would_merge_are_refused() -> None:
    for labels in (["a", "a\0"], [2**53 + 1, 1.0], [-1, 2**63]):
        with pytest.raises(LabelError):
            encode_labels(labels)


def test_timestamps_are_the_same_labels_in_a_series_and_in_a_list() -> None:
    series = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02"]))
    assert (encode_labels(series).classes == encode_labels(list(series)).classes).all()


def test_missing_markers_and_decimals_are_part_of_the_model(tmp_path: Path) -> None:
    text = "a,y\n" + "".join(f"{-999 if i % 5 == 0 else i},{'pq'[i % 2]}\n" for i in range(40))
    encoder = open_dataset(put(tmp_path / "x.csv", text), missing=["-999"]).fit().encoder
    one = read(put(tmp_path / "one.csv", "a,y\n-999,p\n"), encoder=type(encoder).from_json(encoder.to_json()))
    assert one.indices.tolist() == [1]  # the missing-value indicator
    text = "a;y\n" + "".join(f"{i}.400,5;{'pq'[i % 2]}\n" for i in range(1, 40))
    encoder = open_dataset(put(tmp_path / "c.csv", text)).fit().encoder
    one = read(put(tmp_path / "d.csv", "a;y\n1.400;p\n"), encoder=type(encoder).from_json(encoder.to_json()))
    column = encoder.numbers[0]
    assert one.values[0] == (1400.0 - column.mean) / column.scale


def test_training_and_test_rows_are_read_alike(tmp_path: Path) -> None:
    train = put(tmp_path / "train.svm", "1 1:1 5:2\n0 2:1\n")
    test = put(tmp_path / "test.svm", "1 1:1\n")
    one, two = rosenblatt.read(train, test)
    assert one.X.shape[1] == two.X.shape[1] == 6


def test_one_file_and_four_give_the_same_model(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{x!r},{y!r},{'ab'[int(x > y)]}" for x, y in rng.lognormal(size=(9000, 2)).tolist()]
    header = "a,b,class\n"
    whole = put(tmp_path / "whole.csv", header + "\n".join(lines))
    for k in range(4):
        put(tmp_path / "parts" / f"{k}.csv", header + "\n".join(lines[k * 2250 : (k + 1) * 2250]))
    assert trained(whole, tmp_path / "m") == trained(tmp_path / "parts", tmp_path / "n")


def test_hive_partitions_are_columns(tmp_path: Path) -> None:
    for day in ("1", "2"):
        put(tmp_path / "d" / f"day={day}" / "x.csv", "a,class\n1,p\n2,q\n")
    put(tmp_path / "d" / "_SUCCESS", "")
    dataset = open_dataset(tmp_path / "d")
    assert [column.name for column in dataset.encoder.columns] == ["a", "day"]
    assert len(read(tmp_path / "d")) == 4


def test_a_column_gone_bad_stops_a_model_that_continues(tmp_path: Path) -> None:
    encoder = open_dataset(put(tmp_path / "x.csv", "a,b,y\n" + "\n".join(ROWS))).fit().encoder
    bad = put(tmp_path / "bad.csv", "a,b,y\n" + "\n".join(row.replace(",", " years old,", 1) for row in ROWS))
    with pytest.raises(DataError, match="column 'a'"):
        open_dataset(bad, encoder=encoder).load()


def test_an_estimator_without_a_seed_trains_from_a_file(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", "a,b,y\n" + "\n".join(ROWS))
    rosenblatt.train(path, rosenblatt.Perceptron(random_state=None, max_iter=2))


def test_infinity_in_a_header_is_a_name(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", "inf,b,y\n1,2,p\n3,4,q\n")
    with pytest.raises(DataError):  # a row with infinity, or a header: never a traceback
        list(open_dataset(path, header=False))


def test_a_readme_beside_class_folders_is_ignored(tmp_path: Path) -> None:
    for label in "ab":
        put(tmp_path / "d" / label / "1", f"words of {label}")
    put(tmp_path / "d" / "Summary.txt", "about")
    assert sorted(read(tmp_path / "d").y.tolist()) == ["a", "b"]


def test_a_header_of_many_columns_takes_linear_time() -> None:
    assert len(unique_names(["a"] * 50_000)) == 50_000


def test_a_huge_column_number_is_refused_without_its_memory(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="features"):
        rosenblatt.train(put(tmp_path / "x.svm", "1 2000000000:1\n0 1:1\n" * 3), "averaged")


def test_frames_lazy_frames_and_datasets_are_trained_from() -> None:
    import polars
    import pyarrow.dataset as ds

    frame = polars.DataFrame({"a": [0.0, 1.0] * 20, "late": ["n", "y"] * 20, "z": [1, 2] * 20})
    for data in (frame, frame.lazy(), ds.dataset(frame.to_arrow())):
        assert rosenblatt.train(data, "averaged", label="late").classes.tolist() == ["n", "y"]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["12.638,49 €", "1.200,10 €", "3,5 €"], "number"),
        (["USD 12,638", "USD 5", "USD 7.5"], "number"),
        (["18.4 kg", "3 kg", "1.25 kg"], "number"),
        (["12/31/2024", "1/2/2023", "7/30/2022"], "date"),
        (["a1", "b2", "c3"], "category"),
    ],
)
def test_money_units_and_dates_as_people_write_them(tmp_path: Path, cells: list[str], kind: str) -> None:
    rows = [{"x": cells[i % 3], "y": "pq"[i % 2]} for i in range(30)]
    path = put(tmp_path / "x.jsonl", "\n".join(map(json.dumps, rows)))
    assert [column.kind for column in open_dataset(path).encoder.columns] == [kind]


def test_sqlite_and_excel(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.5, 2.5, 3.5, 4.5], "y": ["p", "q", "p", "q"]})
    with sqlite3.connect(tmp_path / "x.db") as database:
        frame.to_sql("people", database, index=False)
    rows = read(f"sqlite:///{tmp_path}/x.db?table=people")
    assert rows.y.tolist() == ["p", "q", "p", "q"]
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    frame.to_excel(tmp_path / "x.xlsx", index=False)
    assert read(tmp_path / "x.xlsx").X.toarray().tolist() == rows.X.toarray().tolist()


def test_a_file_is_opened_twice_and_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rosenblatt.io.csv import CsvChunk
    from rosenblatt.io.source import Source

    path = put(tmp_path / "x.csv", "a,b,y\n" + "\n".join(ROWS * 20))
    opens, parsed = [], []
    opened, parse = Source.open, CsvChunk.parse
    monkeypatch.setattr(Source, "open", lambda self: opens.append(1) or opened(self))

    def count(chunk: CsvChunk, encoder: Any = None) -> Any:
        parsed.append(chunk.size if encoder else 0)
        return parse(chunk, encoder)

    monkeypatch.setattr(CsvChunk, "parse", count)
    rosenblatt.train(path, "averaged")
    assert len(opens) <= 2
    assert sum(parsed) == path.stat().st_size
