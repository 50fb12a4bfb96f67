"""Tables as pandas, Excel, R, DuckDB, jq and Windows write them, and as people do by hand: what must come out."""

from __future__ import annotations

import bz2
import datetime
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rosenblatt
from rosenblatt.encode.cells import MISSING, categories, convert
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io import open_dataset, read
from rosenblatt.io.dataset import Dataset

FRAME = pd.DataFrame({"age": [39, 50, 38, 53], "pay": [1.5, 2.5, 0.5, 4.0], "class": ["low", "high", "low", "high"]})


def put(folder: Path, content: str | bytes, name: str = "x.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def kinds(reader: Dataset) -> dict[str, str]:
    return {column.name: column.kind for column in reader.encoder.columns}


def raw(reader: Dataset) -> list[list[float | None]]:
    """The numbers of each row as they stand in the file, None where they are missing."""
    reader.encoder, reader.is_fitted = reader.encoder.plain(), True
    wide = len(reader.encoder.numbers)
    rows: list[list[float | None]] = []
    for batch in reader:
        for begin, end in zip(batch.starts[:-1], batch.starts[1:], strict=True):
            row: list[float | None] = [None] * wide
            for j, value in zip(batch.indices[begin:end], batch.values[begin:end], strict=True):
                if j < wide:
                    row[j] = float(value)
            rows.append(row)
    return rows


def labels(reader: Dataset) -> list[Any]:
    return [label for batch in reader for label in batch.y.tolist()]


HEADERS = {
    "pandas writes its index without a name": (
        FRAME.to_csv(),
        {"Unnamed: 0": "drop", "age": "number", "pay": "number"},
    ),
    "pandas without an index": (FRAME.to_csv(index=False), {"age": "number", "pay": "number"}),
    "pandas names columns 0, 1, 2": (
        pd.DataFrame(np.c_[FRAME["age"], FRAME["pay"], [0, 1, 0, 1]]).to_csv(),
        {"Unnamed: 0": "drop", "0": "number", "1": "number"},
    ),
    "pandas names columns 0, 1, 2 and writes no index": (
        pd.DataFrame({0: [1.5, 2.5, 3.5], 1: [0.5, 0.25, 1.0], 2: ["a", "b", "a"]}).to_csv(index=False),
        {"0": "number", "1": "number"},
    ),
    "a name twice": ("a,a,y\n1,2,p\n3,4,q\n5,6,p\n", {"a": "number", "a.1": "number"}),
    "an empty name": ("a,,y\n1,2,p\n3,4,q\n5,6,p\n", {"a": "number", "Unnamed: 1": "number"}),
    "R's write.csv": (
        '"","age","pay","class"\n"1",39,1.5,"low"\n"2",50,2.5,"high"\n"3",38,NA,"low"\n',
        {"Unnamed: 0": "drop", "age": "number", "pay": "number"},
    ),
    "R's write.table, whose header is a cell shorter": (
        '"age"\t"class"\n"1"\t39\t"low"\n"2"\t50\t"high"\n"3"\t38\t"low"\n',
        {"Unnamed: 0": "drop", "age": "number"},
    ),
    "only words": (
        "color,shape,kind\nred,round,a\nblue,flat,b\nred,flat,a\nblue,round,b\n",
        {"color": "category", "shape": "category"},
    ),
    "years as names": (
        "1990,1991,country\n1.5,2.5,x\n2.5,0.5,y\n1.0,1.5,x\n2.0,0.1,y\n",
        {"1990": "number", "1991": "number"},
    ),
    "a name that is a word for missing values": ("na,b,y\n1,2,p\n3,4,q\n", {"na": "number", "b": "number"}),
}
NO_HEADERS = {
    "numbers and a label": "5.1,3.5,a\n4.9,3.0,b\n4.7,3.2,a\n",
    "whole numbers": "5,3,0\n4,3,1\n4,3,0\n1,2,1\n",
    "a missing cell in the first line": "unknown,3.5,a\n4.9,3.0,b\n4.7,3.2,a\n",
    "a blank in the first line": ",3.5,a\n4.9,3.0,b\n4.7,3.2,a\n",
    "labels first": "a,5.1,3\nb,4.9,3\na,4.7,4\n",
    "words only": "red,round,a\nblue,flat,b\nred,flat,a\nblue,round,b\n",
    "exclusive or": "0,0,0\n0,1,1\n1,0,1\n1,1,0\n",
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_is_seen(tmp_path: Path, name: str) -> None:
    text, expected = HEADERS[name]
    reader = open_dataset(put(tmp_path, text))
    assert kinds(reader) == expected
    assert sum(map(len, reader)) == len(text.strip().splitlines()) - 1
    assert "a header" in reader.notes[0]


@pytest.mark.parametrize("name", NO_HEADERS)
def test_no_header_is_seen_where_there_is_none(tmp_path: Path, name: str) -> None:
    text = NO_HEADERS[name]
    reader = open_dataset(put(tmp_path, text))
    assert sum(map(len, reader)) == len(text.splitlines())
    assert reader.notes[0] == "no header: the columns are called 1 to 3"


def test_what_the_user_says_of_the_header_counts(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b,y\n1,2,0\n3,4,1\n")
    assert len(read(path, header=True)) == 2
    assert len(read(path, header=False, label="3")) == 3
    assert len(read(put(tmp_path, "1,2,0\n3,4,1\n5,6,0\n"), header=True)) == 2


NUMBERS = {
    "spaces after commas": ("a, b, y\n1, 2, p\n3, ?, q\n5, 6, p\n", [[1, 2], [3, None], [5, 6]], ["p", "q", "p"]),
    "spaces before quotes": ('a, b, y\n1, 2, "p, r"\n3, 4, "q"\n', [[1, 2], [3, 4]], ["p, r", "q"]),
    "unknown": ("a,b,y\n1,unknown,p\n3,4,q\n5,6,p\n", [[1, None], [3, 4], [5, 6]], ["p", "q", "p"]),
    "n/a": ("a,b,y\n1,n/a,p\n3,4,q\n", [[1, None], [3, 4]], ["p", "q"]),
    "#N/A": ("a,b,y\n1,#N/A,p\n3,4,q\n", [[1, None], [3, 4]], ["p", "q"]),
    "a dash": ("a,b,y\n1,-,p\n3,4,q\n5,6,p\n", [[1, None], [3, 4], [5, 6]], ["p", "q", "p"]),
    "a point": ("a,b,y\n1,.,p\n3,4,q\n5,6,p\n", [[1, None], [3, 4], [5, 6]], ["p", "q", "p"]),
    "blanks": ("a,b,y\n1,   ,p\n3,4,q\n", [[1, None], [3, 4]], ["p", "q"]),
    "thousands": ('a,b,y\n1,"1,234.5",p\n3,"12,000",q\n5,6,p\n', [[1, 1234.5], [3, 12000], [5, 6]], ["p", "q", "p"]),
    "money": ("a,b,y\n1,$5.00,p\n3,$4,q\n5,-$6.5,p\n", [[1, 5], [3, 4], [5, -6.5]], ["p", "q", "p"]),
    "percent": ("a,b,y\n1,5%,p\n3,12.5 %,q\n", [[1, 5], [3, 12.5]], ["p", "q"]),
    "brackets": ("a,b,y\n1,(5.00),p\n3,7,q\n", [[1, -5], [3, 7]], ["p", "q"]),
    "truth": ("a,b,y\n1,true,p\n3,False,q\n", [[1, 1], [3, 0]], ["p", "q"]),
    "semicolons": ("a;b;y\n1;2;p\n3;4;q\n", [[1, 2], [3, 4]], ["p", "q"]),
    "Excel in Germany": ("a;b;y\r\n1,5;1.234,5;p\r\n-2,25;0,5;q\r\n", [[1.5, 1234.5], [-2.25, 0.5]], ["p", "q"]),
    "bars": ("a|b|y\n1|2|p\n3|4|q\n", [[1, 2], [3, 4]], ["p", "q"]),
    "tabs in a .csv": ("a\tb\ty\n1\t2\tp\n3\t4\tq\n", [[1, 2], [3, 4]], ["p", "q"]),
    "old Macintosh": ("a,b,y\r1,2,p\r3,4,q\r", [[1, 2], [3, 4]], ["p", "q"]),
    "no last line end": ("a,b,y\n1,2,p\n3,4,q", [[1, 2], [3, 4]], ["p", "q"]),
    "blank lines": ("\n\na,b,y\n\n1,2,p\n   \n3,4,q\n,,\n\n", [[1, 2], [3, 4]], ["p", "q"]),
    "a quote within a cell": ('a,b,y\n1,2,5" pipe\n3,4,6" pipe\n', [[1, 2], [3, 4]], ['5" pipe', '6" pipe']),
    "quotes with backslashes": (
        'a,b,y\n1,2,"say \\"p\\", then q"\n3,4,"r"\n',
        [[1, 2], [3, 4]],
        ['say "p", then q', "r"],
    ),
    "a class called None": ("a,b,y\n1,2,None\n3,4,Some\n", [[1, 2], [3, 4]], ["None", "Some"]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_and_labels_as_people_write_them(tmp_path: Path, name: str) -> None:
    text, numbers, expected = NUMBERS[name]
    reader = open_dataset(put(tmp_path, text), label="y")
    assert labels(reader) == expected
    assert kinds(reader) == {"a": "number", "b": "number"}
    assert raw(reader) == numbers


def test_what_was_taken_as_missing_is_said(tmp_path: Path) -> None:
    lines = ["age,pay,class"] + [f"{20 + i % 50},{i},{'ab'[i % 2]}" for i in range(1000)]
    for i in range(14):
        lines[1 + 70 * i] = f"unknown,{i},a"
    reader = open_dataset(put(tmp_path, "\n".join(lines))).fit()
    assert "14 of 1,000 cells" in reader.notes[1]
    assert reader.report.invalid == {"age": {"unknown": 14}}


def test_a_guess_can_be_overruled(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b,y\n1,x1,p\n2,7,q\n3,8,p\n4,x2,q\n")
    assert kinds(open_dataset(path)) == {"a": "number", "b": "category"}
    assert "--number b?" in open_dataset(path).fit().encoder.describe()
    reader = open_dataset(path, number=["b"])
    assert raw(reader) == [[1, None], [2, 7], [3, 8], [4, None]]
    assert raw(open_dataset(put(tmp_path, "a,y\n1,p\n-9,q\n3,p\n"), missing=["-9"])) == [[1], [None], [3]]
    assert raw(open_dataset(put(tmp_path, "a:b:y\n1:2:p\n3:4:q\n"), delimiter=":")) == [[1, 2], [3, 4]]
    assert raw(open_dataset(put(tmp_path, "a;y\n1,5;p\n3,25;q\n"), decimal=",")) == [[1.5], [3.25]]
    for options in ({"delimiter": "::"}, {"decimal": "x"}, {"encoding": "klingon"}, {"number": ["z"]}):
        with pytest.raises(ParameterError):
            open_dataset(path, **options)  # type: ignore[arg-type]


def test_a_column_that_changes_its_mind_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    lines = [f"{i},{i % 2}" for i in range(60_000)] + [f"x{i},{i % 2}" for i in range(60_000)]
    path = put(tmp_path, "code,y\n" + "\n".join(lines))
    with pytest.raises(DataError, match="60,000 of 120,000 cells are not"):
        list(open_dataset(path))
    assert kinds(open_dataset(path, category=["code"])) == {"code": "category"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    text = "größe,stadt,klasse\n1,Köln,gut\n2,Malmö,schön\n3,Köln,gut\n4,Malmö,schön\n"
    options = {"encoding": encoding} if encoding == "utf-16-le" else {}
    reader = open_dataset(put(tmp_path, text.encode(encoding)), label="klasse", **options)
    assert kinds(reader) == {"größe": "number", "stadt": "category"}
    assert labels(reader) == ["gut", "schön"] * 2
    assert reader.read_classes().values.tolist() == ["gut", "schön"]


def test_a_latin_1_letter_far_down_in_the_file(tmp_path: Path) -> None:
    """Where the file is cut does not matter, nor how much of it was looked at."""
    lines = [f"{i},Oslo,{i % 2}".encode() for i in range(3000)]
    lines[2500] = "2500,Malmö,0".encode("latin-1")
    reader = open_dataset(put(tmp_path, b"a,b,y\n" + b"\n".join(lines)))
    for chunk in (64, 1000, 1 << 20):
        reader.chunk = chunk
        names = reader.find_names(np.unique(np.concatenate([batch.indices for batch in reader])))
        assert "b=Malmö" in names.values()
    with pytest.raises(DataError, match="the byte 0xf6 is not utf-8"):
        list(open_dataset(tmp_path / "x.csv", encoding="utf-8"))


def test_time_stamps(tmp_path: Path) -> None:
    stamps = ["2020-01-02T10:00:00Z", "2020-01-03T11:30:00+02:00", "2021-05-06 12:00:00.123456789", "2021-05-07"]
    text = "when,x,y\n" + "".join(f"{stamp},{i},{i % 2}\n" for i, stamp in enumerate(stamps))
    reader = open_dataset(put(tmp_path, text))
    assert kinds(reader) == {"when": "date", "x": "number"}
    names = reader.find_names(np.unique(np.concatenate([batch.indices for batch in reader]))).values()
    assert {"when.hour=10", "when.hour=11", "when.hour=12", "when.hour=0", "when.year=2021"} <= set(names)
    text = text.replace("2021-05-07", "2021-02-31") + "2021-05-07,4,1\n" * 30
    assert (
        "when: a date; 1 of 34 cells are not and count as missing: '2021-02-31'"
        in open_dataset(put(tmp_path, text)).fit().notes
    )


def test_time_stamps_with_a_zone_in_parquet(tmp_path: Path) -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    when = [datetime.datetime(2020, 1, 2, 10, tzinfo=zone), datetime.datetime(2021, 3, 4, 5, tzinfo=zone)]
    pd.DataFrame({"when": when, "y": [0, 1]}).to_parquet(tmp_path / "x.parquet")
    assert kinds(open_dataset(tmp_path / "x.parquet")) == {"when": "date"}
    assert len(read(tmp_path / "x.parquet")) == 2
    by_clock = [moment.replace(tzinfo=None) for moment in when]
    with_zone, without = (
        convert(pa.array(moments), "when", "date", decimal=".", missing=MISSING, format="")[0]
        for moments in (when, by_clock)
    )
    assert categories(with_zone, "when", "date") == categories(without, "when", "date")


ROWS = [
    {"age": 39, "pay": 1.5, "class": "low"},
    {"age": 50, "pay": 2.5, "class": "high"},
    {"age": None, "class": "low"},
]
JSON = {
    "lines": ("jsonl", "\n".join(map(json.dumps, ROWS))),
    "an array": ("json", json.dumps(ROWS)),
    "a pretty array": ("json", json.dumps(ROWS, indent=2)),
    "jq's way": ("json", "\n".join(json.dumps(row, indent=2) for row in ROWS)),
    "pandas' records": ("json", pd.DataFrame(ROWS).to_json(orient="records")),
    "pandas' columns": ("json", pd.DataFrame(ROWS).to_json()),
    "pandas' split": ("json", pd.DataFrame(ROWS).to_json(orient="split")),
    "pandas' lines": ("json", pd.DataFrame(ROWS).to_json(orient="records", lines=True)),
    "lists": ("json", json.dumps({name: [row.get(name) for row in ROWS] for name in ROWS[0]})),
    "no ending": ("", json.dumps(ROWS)),
}


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("size", [7, 1 << 20])
def test_json_in_any_layout(tmp_path: Path, name: str, size: int) -> None:
    ending, text = JSON[name]
    reader = open_dataset(put(tmp_path, text, f"x.{ending}" if ending else "x"), label="class")
    reader.chunk = size
    assert kinds(reader) == {"age": "number", "pay": "number"}
    assert labels(reader) == ["low", "high", "low"]
    assert raw(reader) == [[39, 1.5], [50, 2.5], [None, None]]


def test_a_json_line_does_not_depend_on_its_neighbors(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"a": 1, "b": "x", "c": True, "y": 0}, {"a": 2, "b": "z", "c": False, "y": 1}] * 3
    odd: list[dict[str, Any]] = [
        {"y": 1},
        {"a": "3", "b": 5, "c": None, "y": "1"},
        {"a": None, "b": None, "y": 1.0, "more": [1, {"deep": 2}]},
        {"a": "unknown", "b": "x", "c": True, "y": 1},
    ]
    encoder = open_dataset(put(tmp_path, "\n".join(map(json.dumps, rows)), "x.jsonl"), label="y").encoder
    for each in odd:
        alone = read(put(tmp_path, json.dumps(each), "x.jsonl"), encoder=encoder)
        for at in (0, 3, 6):
            mixed = [*rows[:at], each, *rows[at:]]
            among = read(put(tmp_path, "\n".join(map(json.dumps, mixed)), "x.jsonl"), encoder=encoder)
            row = among.slice(at, at + 1)
            assert row.indices.tolist() == alone.indices.tolist()
            assert row.values.tolist() == alone.values.tolist()
            assert among.y[at] == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{" * 20_000, "it is not JSON"),
        ('{"a": ' + "[" * 50_000 + "]" * 50_000 + "}", "it is nested too deeply"),
        ('{"a": 1', "it is not JSON"),
        ("[1, 2]", "it is not an object"),
        ("5", "it is not an object"),
        ("null", "it is not an object"),
        ('null{"a": 1, "y": 1}', "it is not JSON: extra data"),
        ('{"a": 1, "y": 1}null{"a": 1, "y": 1}', "it is not JSON: extra data"),
        ('{"a": 1} {"a": 2}', "it is not JSON: extra data"),
        ('{"a": 1e999, "y": 1}', "a number must be finite"),
        ("{'a': 1}", "it is not JSON"),
    ],
)
def test_a_bad_json_line_is_one_sentence(tmp_path: Path, line: str, why: str) -> None:
    good = '{"a": 1, "y": 0}\n{"a": 2, "y": 1}\n'
    path = put(tmp_path, f"{good}{line}\n{good}", "x.jsonl")
    with pytest.raises(DataError, match=rf"x\.jsonl, line 3: .*{why}") as error:
        list(open_dataset(path))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300
    reader = open_dataset(path, skip_bad=True)
    assert sum(map(len, reader)) == 4
    assert reader.report.bad == 1


def test_brackets_within_strings_are_not_nesting(tmp_path: Path) -> None:
    path = put(tmp_path, json.dumps({"a": "[" * 500, "y": 0}) + "\n" + json.dumps({"a": '"{' * 500, "y": 1}), "x.jsonl")
    assert len(read(path)) == 2


@pytest.mark.parametrize("pack", ["bz2", "zip", "gz"])
def test_packed_files(tmp_path: Path, pack: str) -> None:
    text = FRAME.to_csv(index=False).encode()
    if pack == "zip":
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("folder/x.csv", text)
        put(tmp_path, held.getvalue(), "x.csv.zip")
    else:
        FRAME.to_csv(tmp_path / f"x.csv.{pack}", index=False)
    assert read(tmp_path / f"x.csv.{pack}").y.tolist() == ["low", "high", "low", "high"]
    put(tmp_path, bz2.compress(text), "without-ending")
    assert len(read(tmp_path / "without-ending")) == 4


def test_archives_that_are_no_single_file(tmp_path: Path) -> None:
    for names, why in ((("a.csv", "b.csv"), "holds 2 files"), (("[Content_Types].xml",), "workbook")):
        with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
            for name in names:
                archive.writestr(name, "a,b\n1,2\n")
        with pytest.raises(DataError, match=why):
            read(tmp_path / "x.zip")


def test_addresses(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    for k in (2, 10, 1):
        files.pipe(f"/nasty/part{k:02}.csv", f"a,b,y\n{k},1,{k % 2}\n".encode())
    assert raw(open_dataset("memory://nasty/part*.csv")) == [[1, 1], [2, 1], [10, 1]]
    put(tmp_path, FRAME.to_csv(index=False))
    assert len(read(f"file://{tmp_path}/x.csv")) == 4
    for address, why in (("memory://nasty/none.csv", "no such file"), ("nonsense://x.csv", "cannot be read: ")):
        with pytest.raises(DataError, match=why) as error:
            read(address)
        assert "\n" not in str(error.value)


def test_several_files_with_headers_in_another_order_and_without(tmp_path: Path) -> None:
    one = put(tmp_path, "a,b,y\n1,2,p\n3,4,q\n", "1.csv")
    two = put(tmp_path, "y,b,a\np,6,5\n", "2.csv")
    three = put(tmp_path, "7,8,q\n9,10,p\n", "3.csv")
    assert raw(open_dataset([one, two, three])) == [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]
    other = put(tmp_path, "c,d,y\n1,2,p\n", "4.csv")
    with pytest.raises(DataError, match=r"4\.csv: the column 'a' is missing"):
        read([one, other])
    wide = put(tmp_path, "1,2,3,4\n", "5.csv")
    with pytest.raises(DataError, match=r"5\.csv has no header and 4 columns, but the model has 3"):
        read([one, wide])


def test_labelled_text_whatever_it_is_called(tmp_path: Path) -> None:
    text = "spam\twin money now\nham\tsee you at noon\nspam\tfree prizes for you\n"
    for name in ("x", "x.tsv", "x.txt", "x.csv", "SMSSpamCollection"):
        assert open_dataset(put(tmp_path, text, name)).format == "tabbed"
    assert open_dataset(put(tmp_path, "label\ttext\n" + text, "x.tsv")).format == "tsv"
    assert open_dataset(put(tmp_path, "__label__spam win\n__label__ham see\n", "x.csv")).format == "fasttext"
    assert open_dataset(put(tmp_path, "1\t2\n3\t4\n5\t4\n", "x.tsv")).format == "tsv"
    quoted = "label,text\n" + 'spam,"win, money now"\nham,"see you at noon"\n' * 3
    reader = open_dataset(put(tmp_path, quoted, "y.csv"))
    assert kinds(reader) == {"text": "text"}


STRAY = {
    "a quote that is never closed": ('1,"x,p', "a quote is opened and never closed"),
    "a cell too many": ("1,2,3,p", "it has 4 cells instead of 3"),
    "a cell too few": ("1,p", "it has 2 cells instead of 3"),
}


@pytest.mark.parametrize("name", STRAY)
@pytest.mark.parametrize("behind", ["plain", "quoted"])
def test_a_stray_line_is_said_with_its_number(tmp_path: Path, name: str, behind: str) -> None:
    line, why = STRAY[name]
    good = "1,2,p\n3,4,q\n" if behind == "plain" else '1,"2","p"\n"3","4","q, r"\n'
    path = put(tmp_path, "a,b,y\n" + good * 8 + line + "\n" + good * 2000)
    with pytest.raises(DataError, match=rf"x\.csv, line 18: {why}"):
        read(path)
    reader = open_dataset(path, skip_bad=True)
    assert sum(map(len, reader)) == 4016
    assert reader.report.bad == 1
    assert reader.report.first_bad[0].endswith(f"line 18: {why}")


def test_many_stray_lines_take_no_longer_than_as_many_good_ones(tmp_path: Path) -> None:
    """Steps are counted, not seconds: Arrow reads each good byte once, however many lines are bad."""
    import pyarrow.csv

    original, asked, count = pyarrow.csv.read_csv, 0, 8000

    def counted(data: Any, **options: Any) -> Any:
        nonlocal asked
        asked += data.size
        return original(data, **options)

    ragged = "a,b,y\n" + "".join(f"{i},{i},{i % 2}\n{i}\n" for i in range(count))
    quotes = "a,b,y\n" + "".join(f'{i},{i},{i % 2}\n{i},"{i},{i % 2}\n' for i in range(count))
    for text in (ragged, quotes):
        path, asked = put(tmp_path, text), 0

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pyarrow.csv, "read_csv", counted)
            reader = open_dataset(path, skip_bad=True)
            assert sum(map(len, reader)) == count
        assert reader.report.bad == count
        assert asked <= 4 * len(text)


def test_names_are_said_in_one_line(tmp_path: Path) -> None:
    """Excel puts line breaks into headers."""
    path = put(tmp_path, '"unit\nprice","' + "long " * 100 + '",y\n1,2,p\n3,4,q\n')
    reader = open_dataset(path)
    names = [column.name for column in reader.encoder.columns]
    assert names[0] == "unit price"
    assert len(names[1]) == 200
    with pytest.raises(ParameterError, match="there is no such column; the 3 are unit price, long long") as error:
        list(open_dataset(path, label="z"))
    assert len(str(error.value)) < 200


def test_a_quote_that_is_never_closed_is_named_in_the_first_row_too(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('a,b,y\n1,"2,p\n3,4,q\n5,6,p\n')
    with pytest.raises(DataError, match="line 2: a quote is opened and never closed"):
        rosenblatt.train(tmp_path / "a.csv")


def test_half_a_letter_is_the_sign_for_none_and_no_missing_label(tmp_path: Path) -> None:
    lines = ['{"a": 1, "y": "\\ud800"}', '{"a": 2, "y": "q"}'] * 20
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert rosenblatt.train(tmp_path / "a.jsonl").classes.tolist() == ["q", "\N{REPLACEMENT CHARACTER}"]


def test_a_label_that_is_not_a_number_among_numbers_is_missing(tmp_path: Path) -> None:
    labels = [float("nan") if i == 7 else float(i % 2) for i in range(40)]
    pd.DataFrame({"a": np.arange(40.0), "y": labels}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"a": np.arange(40.0), "y": labels}).to_feather(tmp_path / "a.feather")
    for ending in ("parquet", "feather"):
        with pytest.raises(DataError, match="row 8: the label 'y' is missing"):
            rosenblatt.train(tmp_path / f"a.{ending}")
