"""Tables with more in them than rows and a header, and what must come out all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rosenblatt.errors import DataError
from rosenblatt.io import open_dataset, read
from rosenblatt.io.dataset import Dataset

HEADER = "width,height,kind"
ROWS = [(f"{i}.5", f"{i * 7 % 11}", "ham" if i % 2 else "eggs and spam") for i in range(12)]
BODY = "".join(",".join(row) + "\n" for row in ROWS)
FRAME = pd.DataFrame({"a": np.arange(12) % 5 + 0.5, "b": np.arange(12) % 3 + 0.25, "kind": ["p", "q"] * 6})


def put(folder: Path, content: str | bytes, name: str = "x.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def kinds(reader: Dataset) -> dict[str, str]:
    return {column.name: column.kind for column in reader.encoder.columns}


def labels(reader: Dataset) -> list[Any]:
    return [label for batch in reader for label in batch.y.tolist()]


def semicolons(text: str) -> str:
    return text.replace(",", ";").replace(".", ",")


ABOVE = {
    "Excel's sep=": ("sep=,\n", "skipped 1 line above"),
    "a comment": ("# made by me\n", "skipped 1 line above"),
    "comments with as many cells": ("# made, by, me\n# on, some, day\n", "skipped 2 lines above"),
    "a title": ("All kinds\n\n", "skipped 1 line above"),
    "a title as a spreadsheet writes it": ("All kinds,,\n,,\nof spring,,\n", "skipped 2 lines above"),
}


@pytest.mark.parametrize("name", ABOVE)
@pytest.mark.parametrize("size", [16, 1 << 20])
def test_lines_above_the_header(tmp_path: Path, name: str, size: int) -> None:
    above, said = ABOVE[name]
    reader = open_dataset(put(tmp_path, f"{above}{HEADER}\n{BODY}"))
    assert reader.notes[0].endswith(said)
    assert kinds(reader) == {"width": "number", "height": "number"}
    reader.chunk = size
    assert labels(reader) == [row[2] for row in ROWS]
    encoder = reader.encoder
    assert labels(open_dataset(tmp_path / "x.csv", encoder=encoder)) == [row[2] for row in ROWS]


def test_a_line_of_words_above_rows_without_a_header(tmp_path: Path) -> None:
    """As the test half of a well known census table begins."""
    encoder = open_dataset(put(tmp_path, BODY)).fit().encoder
    path = put(tmp_path, f"|1x3 Cross validator\n{BODY}")
    for options in ({}, {"header": False}, {"encoder": encoder}):
        reader = open_dataset(path, **options)
        assert labels(reader) == [row[2] for row in ROWS]
        assert reader.notes[0] == "skipped 1 line above, no header: the columns are called 1 to 3"
    with pytest.raises(DataError, match="line 2: it has 3 cells instead of 1"):  # a number may be a row cut short
        labels(open_dataset(put(tmp_path, f"17\n{BODY}")))


def test_excels_hint_in_another_country(tmp_path: Path) -> None:
    reader = open_dataset(put(tmp_path, f"sep=;\r\n{semicolons(HEADER)}\r\n{semicolons(BODY)}".replace("\n", "\r\n")))
    assert kinds(reader) == {"width": "number", "height": "number"}
    assert len(labels(reader)) == 12


def test_units_below_the_header(tmp_path: Path) -> None:
    reader = open_dataset(put(tmp_path, f"{HEADER}\ncm,kg,-\n{BODY}"))
    assert reader.notes[0] == "a header, skipped a units row below it"
    assert labels(reader) == [row[2] for row in ROWS]
    # What the user says ends the guess.
    assert len(labels(open_dataset(tmp_path / "x.csv", header=True))) == 13


def test_a_frame_with_two_rows_of_names(tmp_path: Path) -> None:
    frame = FRAME[["a", "b"]].copy()
    frame.columns = pd.MultiIndex.from_tuples([("size", "wide"), ("size", "high")])
    frame["kind", ""] = FRAME["kind"]
    frame.to_csv(tmp_path / "x.csv")
    reader = open_dataset(tmp_path / "x.csv")
    assert kinds(reader) == {"Unnamed: 0": "drop", "size": "number", "size.1": "number"}
    assert labels(reader) == ["p", "q"] * 6


NO_PREAMBLE = {
    "a header that begins with #": ("#id,b,y\n1.5,2,p\n3.5,4,q\n5.5,6,p\n", 3),
    "rows that begin with #": ('"#fun day",1,p\n"#sad day",2,q\nno tag,3,p\nnothing,4,q\n', 4),
    "a first row with missing cells": ("a,b,c,y\n,,,p\n1,2,3,q\n4,5,6,p\n7,8,9,q\n", 4),
    "a first row of words for missing": ("a,b,y\nunknown,-,p\n1,2,q\n4,5,p\n7,8,q\n", 4),
    "a category below the header": ("a,b,y\nx,2,p\nz,4,q\nx,6,p\nz,8,q\n", 4),
}


@pytest.mark.parametrize("name", NO_PREAMBLE)
def test_rows_are_not_passed_over(tmp_path: Path, name: str) -> None:
    text, count = NO_PREAMBLE[name]
    reader = open_dataset(put(tmp_path, text))
    assert sum(map(len, reader)) == count
    assert "skipped" not in reader.notes[0]
    assert not any(column.name.startswith("#") for column in reader.encoder.columns)


@pytest.mark.parametrize("header", [f"{HEADER},", HEADER])
def test_a_delimiter_at_the_end_of_each_line(tmp_path: Path, header: str) -> None:
    reader = open_dataset(put(tmp_path, f"{header}\n" + BODY.replace("\n", ",\n")))
    assert kinds(reader) == {"width": "number", "height": "number", "Unnamed: 3": "drop"}
    assert labels(reader) == [row[2] for row in ROWS]


SPACES = {
    "one space": "a b kind\n" + "".join(f"{i} {i % 3} {'pq'[i % 2]}\n" for i in range(12)),
    "columns of spaces": "    a  b  kind\n" + "".join(f"{i:>5} {i % 3:>4}  {'pq'[i % 2]}  \n" for i in range(12)),
    "R's write.table": '"a" "b" "kind"\n' + "".join(f'"{i + 1}" {i} {i % 3} "{"pq"[i % 2]}"\n' for i in range(12)),
    "no header": "".join(f"{i}   {i % 3} {'pq'[i % 2]}\n" for i in range(12)),
    "pandas": FRAME.assign(b=[None, *FRAME["b"][1:]]).to_csv(sep=" ", index=False),
}


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("ending", [".csv", ".txt", ".data", ""])
def test_spaces_between_cells(tmp_path: Path, name: str, ending: str) -> None:
    reader = open_dataset(put(tmp_path, SPACES[name], f"x{ending}"))
    assert "a space between cells" in reader.notes[0]
    assert [kind for kind in kinds(reader).values() if kind != "drop"] == ["number", "number"]
    for size in (20, 1 << 20):
        reader.chunk = size
        assert labels(reader) == ["p", "q"] * 6


def test_text_is_no_table_with_spaces(tmp_path: Path) -> None:
    for text in ("one two three\nfour five six\nseven eight nine\n", "win money __label__a\nsee you __label__b\n"):
        with pytest.raises(DataError, match="its format cannot be told"):
            list(open_dataset(put(tmp_path, text, "x.txt")))


def test_tabs_with_line_ends_in_cells_whatever_it_is_called(tmp_path: Path) -> None:
    frame = FRAME.assign(note=[f"one line\nand another of {i}" for i in range(12)])[["a", "note", "kind"]]
    for name in ("x", "x.txt"):
        frame.to_csv(tmp_path / name, sep="\t", index=False)
        assert kinds(open_dataset(tmp_path / name)) == {"a": "number", "note": "text"}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark(tmp_path: Path, encoding: str) -> None:
    assert labels(open_dataset(put(tmp_path, f"{HEADER}\n{BODY}".encode(encoding)))) == [row[2] for row in ROWS]


LABELS = {
    "a label and its text": ("".join(f'{"pq"[i % 2]},"win some money, {i}"\n' for i in range(12)), "1"),
    "the SMS collection of Kaggle": (
        "v1,v2,,,\n" + "".join(f'{"pq"[i % 2]},"win some money, {i}",,,{"" if i else "x"}\n' for i in range(12)),
        "v1",
    ),
    "classes of several words": ("".join(f"{i},the city of {'pq'[i % 2]}\n" for i in range(12)), "2"),
    "a text in the middle": ("a,t,k\n" + "".join(f"{i},some words {i} here,{'pq'[i % 2]}\n" for i in range(12)), "k"),
}


@pytest.mark.parametrize("name", LABELS)
def test_the_label_is_the_last_column_that_can_be_one(tmp_path: Path, name: str) -> None:
    text, label = LABELS[name]
    reader = open_dataset(put(tmp_path, text))
    assert reader.encoder.label == label
    assert len(set(labels(reader))) == 2


def test_a_column_that_counts_the_rows_is_no_feature(tmp_path: Path) -> None:
    """The irises are sorted by kind, and so their number would tell it."""
    text = "Id,size,Species\n" + "".join(f"{i + 1},{i % 7},{'ab'[i > 10]}\n" for i in range(20))
    reader = open_dataset(put(tmp_path, text))
    assert kinds(reader) == {"Id": "drop", "size": "number"}
    assert "Id (it counts the rows)" in reader.encoder.describe()
    assert kinds(open_dataset(tmp_path / "x.csv", number=["Id"])) == {"Id": "number", "size": "number"}
    assert kinds(open_dataset(put(tmp_path, text.replace("Id", "time"))))["time"] == "number"


def test_several_words_for_a_missing_number(tmp_path: Path) -> None:
    words = ["unknown", "-", ".", "N.A.", "missing", "#DIV/0!"]
    text = "a,y\n" + "".join(f"{words[i % 6] if i % 3 == 0 else i},{'pq'[i % 2]}\n" for i in range(18))
    reader = open_dataset(put(tmp_path, text))
    assert kinds(reader) == {"a": "number"}
    assert "6 of 18 cells" in reader.fit().notes[1]


def test_money_with_decimal_commas(tmp_path: Path) -> None:
    text = "p;q;y\n" + "".join(f"{i + 1}.{i:03}.000,50 €;{i},5 %;{'pq'[i % 2]}\n" for i in range(12))
    assert kinds(open_dataset(put(tmp_path, text))) == {"p": "number", "q": "number"}


def test_dates_with_points_are_day_month_and_year(tmp_path: Path) -> None:
    days = [(k % 28 + 1, k % 12 + 1) for k in range(40)]

    def table(written: str) -> Any:
        lines = [f"{written.format(d=d, m=m)};{(d * m) % 5};{'ab'[m % 2]}" for d, m in days]
        return put(tmp_path, "\n".join(["day;x;y", *lines]) + "\n")

    usual = read(table("2024-{m:02}-{d:02} 10:30"))
    for written in ("{d:02}.{m:02}.2024 10:30", "{d}.{m}.2024 10:30:00", "{d:02}.{m}.2024, 10:30"):
        reader = open_dataset(table(written))
        assert kinds(reader)["day"] == "date"
        found = read(tmp_path / "x.csv")
        assert found.indices.tolist() == usual.indices.tolist()
        assert found.values.tolist() == usual.values.tolist()


def test_dates_with_slashes_are_read_and_their_order_is_said(tmp_path: Path) -> None:
    text = "d,y\n" + "".join(f"{i % 3 + 1}/12/2024,{'pq'[i % 2]}\n" for i in range(12))
    assert "dates: d (month first)" in open_dataset(put(tmp_path, text)).fit().encoder.describe()


OBJECTS = [{"user": {"age": i, "at": {"x": i % 3}}, "tags": [1], "kind": "pq"[i % 2]} for i in range(12)]


@pytest.mark.parametrize("layout", ["lines", "array", "within", "parquet"])
def test_objects_within_objects_are_columns(tmp_path: Path, layout: str) -> None:
    path = tmp_path / f"x.{'parquet' if layout == 'parquet' else 'json'}"
    if layout == "parquet":
        pq.write_table(pa.Table.from_pylist(OBJECTS), path)
    else:
        text = {"lines": "\n".join(map(json.dumps, OBJECTS)), "array": json.dumps(OBJECTS)}
        path.write_text(text.get(layout, json.dumps({"page": 1, "data": OBJECTS, "more": False})))
    reader = open_dataset(path)
    assert kinds(reader) == {"user.age": "number", "user.at.x": "number", "tags": "drop"}
    assert "tags (it holds lists)" in reader.encoder.describe()
    assert labels(reader) == ["p", "q"] * 6
    reader.passthrough = ("user.age",)
    assert [age for batch in reader for age in (batch.passthrough or {})["user.age"]] == list(range(12))


@pytest.mark.parametrize("orient", ["records", "columns", "index", "split", "table", "values"])
def test_every_layout_of_pandas_json(tmp_path: Path, orient: Any) -> None:
    FRAME.to_json(tmp_path / "x.json", orient=orient)
    reader = open_dataset(tmp_path / "x.json")
    assert labels(reader) == ["p", "q"] * 6
    assert sorted(kind for kind in kinds(reader).values() if kind != "drop") == ["number", "number"]


REFUSED: dict[str, tuple[bytes, str]] = {
    "header only": (b"a,b,y\n", r"x\.csv has a header and no rows"),
    "another delimiter": (b"a^b^y\n1^2^p\n3^4^q\n", r"x\.csv has only one column, 'a\^b\^y': --delimiter"),
    "a zero byte": (b"a,y\n1,p\n\0,q\n", r"x\.csv is neither text \(there is a zero byte in line 3\) nor"),
    "an old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), r"an old Excel workbook: save the sheet"),
    "a web page": (b"<!DOCTYPE html>\n<html>\n", r"x\.csv is a web page, not data"),
    "Weka's format": (b"@RELATION x\n@attribute a numeric\n@data\n1\n", r"an ARFF file: what stands behind @data"),
    "a tar archive": (bytes(257) + b"ustar" + bytes(250), r"x\.csv is a tar archive: unpack it first"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_said_for_what_it_is(tmp_path: Path, name: str) -> None:
    content, why = REFUSED[name]
    with pytest.raises(DataError, match=why) as error:
        read(put(tmp_path, content))
    assert "\n" not in str(error.value)
