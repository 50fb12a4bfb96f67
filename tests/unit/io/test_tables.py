"""Tables as pandas, Excel, R, DuckDB, jq and Windows write them, and as people do by hand: what must come out."""

import datetime
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import written
from command import write_workbook
from fsspec import filesystem
from rejected import rejected

import rosenblatt
from rosenblatt.encode.cells import categories, convert
from rosenblatt.errors import ParameterError
from rosenblatt.io import open_dataset, read
from rosenblatt.io.dataset import Dataset

FRAME = pd.DataFrame({"age": [39, 50, 38, 53], "pay": [1.5, 2.5, 0.5, 4.0], "class": ["low", "high", "low", "high"]})


def put(folder: Path, content: str | bytes, name: str = "x.csv") -> Path:
    return written.put(folder / name, content)


def kinds(reader: Dataset) -> dict[str, str]:
    return {column.name: column.kind for column in reader.encoder.columns}


def raw(reader: Dataset) -> list[list[float | None]]:
    """The numbers of each row as they stand in the file, None where they are missing."""
    reader.encoder = reader.encoder.plain()
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


@pytest.mark.parametrize(("text", "expected"), HEADERS.values(), ids=HEADERS)
def test_a_header_is_seen(tmp_path: Path, text: str, expected: dict[str, str]) -> None:
    reader = open_dataset(put(tmp_path, text))
    assert kinds(reader) == expected
    assert sum(map(len, reader)) == len(text.strip().splitlines()) - 1
    assert "a header" in reader.notes[0]


@pytest.mark.parametrize("text", NO_HEADERS.values(), ids=NO_HEADERS)
def test_no_header_is_seen_where_there_is_none(tmp_path: Path, text: str) -> None:
    reader = open_dataset(put(tmp_path, text))
    assert sum(map(len, reader)) == len(text.splitlines())
    assert reader.notes[0] == "no header: the columns are called 1 to 3"


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


@pytest.mark.parametrize(("text", "numbers", "expected"), NUMBERS.values(), ids=NUMBERS)
def test_numbers_and_labels_as_people_write_them(tmp_path: Path, text: str, numbers: Any, expected: Any) -> None:
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
    assert kinds(open_dataset(path, category=["a"], text=["b"])) == {"a": "category", "b": "text"}
    assert kinds(open_dataset(path, drop=["b"])) == {"a": "number", "b": "drop"}
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
    with rejected("data", "60,000", "120,000 cells"):
        list(open_dataset(path))
    assert kinds(open_dataset(path, category=["code"])) == {"code": "category"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    text = "größe,stadt,klasse\n1,Köln,gut\n2,Malmö,schön\n3,Köln,gut\n4,Malmö,schön\n"
    options = {"encoding": encoding} if encoding == "utf-16-le" else {}
    reader = open_dataset(put(tmp_path, text.encode(encoding)), label="klasse", **options)
    assert kinds(reader) == {"größe": "number", "stadt": "category"}
    assert labels(reader) == ["gut", "schön"] * 2
    reader.load()
    assert reader.classes.values.tolist() == ["gut", "schön"]


def test_time_stamps(tmp_path: Path) -> None:
    stamps = ["2020-01-02T10:00:00Z", "2020-01-03T11:30:00+02:00", "2021-05-06 12:00:00.123456789", "2021-05-07"]
    text = "when,x,y\n" + "".join(f"{stamp},{i},{i % 2}\n" for i, stamp in enumerate(stamps))
    reader = open_dataset(put(tmp_path, text))
    assert kinds(reader) == {"when": "date", "x": "number"}
    names = reader.find_names(np.unique(np.concatenate([batch.indices for batch in reader]))).values()
    assert {"when.hour=10", "when.hour=11", "when.hour=12", "when.year=2021"} <= set(names)
    assert "when.hour=0" not in names  # of a day without a time
    text = text.replace("2021-05-07", "2021-02-31") + "2021-05-07,4,1\n" * 30
    assert "when: date; 1 of 34 cells treated as missing: '2021-02-31'" in open_dataset(put(tmp_path, text)).fit().notes


def test_time_stamps_with_a_zone_in_parquet(tmp_path: Path) -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    when = [datetime.datetime(2020, 1, 2, 10, tzinfo=zone), datetime.datetime(2021, 3, 4, 5, tzinfo=zone)]
    pd.DataFrame({"when": when, "y": [0, 1]}).to_parquet(tmp_path / "x.parquet")
    assert kinds(open_dataset(tmp_path / "x.parquet")) == {"when": "date"}
    assert len(read(tmp_path / "x.parquet")) == 2
    by_clock = [moment.replace(tzinfo=None) for moment in when]
    with_zone, without = (convert(pa.array(moments), "date")[0] for moments in (when, by_clock))
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
    "pandas' lines": ("json", pd.DataFrame(ROWS).to_json(orient="records", lines=True)),
    "lists": ("json", json.dumps({name: [row.get(name) for row in ROWS] for name in ROWS[0]})),
    "no ending": ("", json.dumps(ROWS)),
}


@pytest.mark.parametrize(("ending", "text"), JSON.values(), ids=JSON)
@pytest.mark.parametrize("size", [7, 1 << 20])
def test_json_in_any_layout(tmp_path: Path, ending: str, text: str, size: int) -> None:
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
            row = among.take(np.array([at]))
            assert row.indices.tolist() == alone.indices.tolist()
            assert row.values.tolist() == alone.values.tolist()
            assert among.y[at] == 1


def test_blank_json_lines_keep_their_places(tmp_path: Path) -> None:
    reader = open_dataset(put(tmp_path, '{"a": 1, "y": 0}\n\n  \n{"a": 2, "y": 1}\n', "x.jsonl"), label="y")
    reader.keep_blank = True
    assert [(len(batch), batch.blank) for batch in reader] == [(2, (1, 1))]


def test_a_workbook_holds_the_numbers_of_its_csv(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["age", "pay", "kind"], [39, 1.5, "low"], [50, 2.0, "high"], [38, 1e20, True]]
    write_workbook(tmp_path / "x.xlsx", {"sheet": rows})
    reader = open_dataset(tmp_path / "x.xlsx", label="kind")
    assert raw(reader) == [[39, 1.5], [50, 2], [38, 1e20]]
    assert labels(reader) == ["low", "high", "true"]


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("{" * 20_000, "JSON"),
        ('{"a": ' + "[" * 50_000 + "]" * 50_000 + "}", "nested"),
        ('{"a": 1', "JSON"),
        ("[1, 2]", "object"),
        ("5", "object"),
        ("null", "object"),
        ('null{"a": 1, "y": 1}', "extra data"),
        ('{"a": 1, "y": 1}null{"a": 1, "y": 1}', "extra data"),
        ('{"a": 1} {"a": 2}', "extra data"),
        ('{"a": 1e999, "y": 1}', "'a'"),
        ("{'a': 1}", "JSON"),
    ],
)
def test_a_bad_json_line_is_one_sentence(tmp_path: Path, line: str, fact: str) -> None:
    good = '{"a": 1, "y": 0}\n{"a": 2, "y": 1}\n'
    path = put(tmp_path, f"{good}{line}\n{good}", "x.jsonl")
    with rejected("data", "x.jsonl, line 3", fact) as error:
        list(open_dataset(path))
    assert len(str(error.value)) < 300
    reader = open_dataset(path, skip_bad=True)
    assert sum(map(len, reader)) == 4
    assert reader.report.bad == 1


def test_archives_that_are_no_single_file(tmp_path: Path) -> None:
    for names, fact in ((("a.csv", "b.csv"), "2 files"), (("[Content_Types].xml",), "workbook")):
        with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
            for name in names:
                archive.writestr(name, "a,b\n1,2\n")
        with rejected("data", "x.zip", fact):
            read(tmp_path / "x.zip")


def test_addresses(tmp_path: Path) -> None:
    memory = filesystem("memory")
    for k in (2, 10, 1):
        memory.pipe(f"/nasty/part{k:02}.csv", f"a,b,y\n{k},1,{k % 2}\n".encode())
    assert raw(open_dataset("memory://nasty/part*.csv")) == [[1, 1], [2, 1], [10, 1]]
    put(tmp_path, FRAME.to_csv(index=False))
    assert len(read(f"file://{tmp_path}/x.csv")) == 4
    for address in ("memory://nasty/none.csv", "nonsense://x.csv"):
        with rejected("data", address):
            read(address)


def test_several_files_with_headers_in_another_order_and_without(tmp_path: Path) -> None:
    one = put(tmp_path, "a,b,y\n1,2,p\n3,4,q\n", "1.csv")
    two = put(tmp_path, "y,b,a\np,6,5\n", "2.csv")
    three = put(tmp_path, "7,8,q\n9,10,p\n", "3.csv")
    assert raw(open_dataset([one, two, three])) == [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]
    other = put(tmp_path, "c,d,y\n1,2,p\n", "4.csv")
    with rejected("data", "4.csv", "column 'a'"):
        read([one, other])
    wide = put(tmp_path, "1,2,3,4\n", "5.csv")
    with rejected("data", "5.csv", "4 columns", "3"):
        read([one, wide])


@pytest.mark.parametrize("line", ['1,"2,p', "1,2,3,p", "1,p"])
@pytest.mark.parametrize("behind", ["plain", "quoted"])
def test_a_stray_line_is_said_with_its_number(tmp_path: Path, line: str, behind: str) -> None:
    good = "1,2,p\n3,4,q\n" if behind == "plain" else '1,"2","p"\n"3","4","q, r"\n'
    path = put(tmp_path, "a,b,y\n" + good * 8 + line + "\n" + good * 2000)
    with rejected("data", "x.csv, line 18"):
        read(path)
    reader = open_dataset(path, skip_bad=True)
    assert sum(map(len, reader)) == 4016
    assert reader.report.bad == 1
    assert "line 18: " in reader.report.first_bad[0]


def test_names_are_said_in_one_line(tmp_path: Path) -> None:
    """Excel puts line breaks into headers."""
    path = put(tmp_path, '"unit\nprice","' + "long " * 100 + '",y\n1,2,p\n3,4,q\n')
    reader = open_dataset(path)
    names = [column.name for column in reader.encoder.columns]
    assert names[0] == "unit price"
    assert len(names[1]) == 200
    with rejected("parameter", "unit price, long long") as error:
        list(open_dataset(path, label="z"))
    assert len(str(error.value)) < 200


def test_a_label_that_is_not_a_number_among_numbers_is_missing(tmp_path: Path) -> None:
    labels = [float("nan") if i == 7 else float(i % 2) for i in range(40)]
    pd.DataFrame({"a": np.arange(40.0), "y": labels}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"a": np.arange(40.0), "y": labels}).to_feather(tmp_path / "a.feather")
    for ending in ("parquet", "feather"):
        with rejected("data", "row 8", "'y'"):
            rosenblatt.train(tmp_path / f"a.{ending}")


HEADER = "width,height,kind"
LINES = [(f"{i}.5", f"{i * 7 % 11}", "ham" if i % 2 else "eggs and spam") for i in range(12)]
BODY = "".join(",".join(row) + "\n" for row in LINES)
TWELVE = pd.DataFrame({"a": np.arange(12) % 5 + 0.5, "b": np.arange(12) % 3 + 0.25, "kind": ["p", "q"] * 6})


ABOVE = {
    "Excel's sep=": ("sep=,\n", "skipped 1 line above"),
    "a comment": ("# made by me\n", "skipped 1 line above"),
    "comments with as many cells": ("# made, by, me\n# on, some, day\n", "skipped 2 lines above"),
    "a title": ("All kinds\n\n", "skipped 2 lines above"),
    "a title as a spreadsheet writes it": ("All kinds,,\n,,\nof spring,,\n", "skipped 3 lines above"),
}


@pytest.mark.parametrize(("above", "said"), ABOVE.values(), ids=ABOVE)
@pytest.mark.parametrize("size", [16, 1 << 20])
def test_lines_above_the_header(tmp_path: Path, above: str, said: str, size: int) -> None:
    reader = open_dataset(put(tmp_path, f"{above}{HEADER}\n{BODY}"))
    assert reader.notes[0].endswith(said)
    assert kinds(reader) == {"width": "number", "height": "number"}
    reader.chunk = size
    assert labels(reader) == [row[2] for row in LINES]
    encoder = reader.encoder
    assert labels(open_dataset(tmp_path / "x.csv", encoder=encoder)) == [row[2] for row in LINES]


def test_a_line_of_words_above_rows_without_a_header(tmp_path: Path) -> None:
    """As the test half of a well known census table begins."""
    encoder = open_dataset(put(tmp_path, BODY)).fit().encoder
    path = put(tmp_path, f"|1x3 Cross validator\n{BODY}")
    for options in ({}, {"header": False}, {"encoder": encoder}):
        reader = open_dataset(path, **options)
        assert labels(reader) == [row[2] for row in LINES]
        assert reader.notes[0] == "skipped 1 line above, no header: the columns are called 1 to 3"
    with rejected("data", "line 2", "3 cells", "1"):  # a number may be a row cut short
        labels(open_dataset(put(tmp_path, f"17\n{BODY}")))
    numbers = open_dataset(put(tmp_path, "a,b,y\n" + "1,2,0\n3,4,1\n" * 6)).fit().encoder
    assert labels(open_dataset(put(tmp_path, "1,2,0\n3,4,1\n"), encoder=numbers)) == [0, 1]


def test_units_below_the_header(tmp_path: Path) -> None:
    reader = open_dataset(put(tmp_path, f"{HEADER}\ncm,kg,-\n{BODY}"))
    assert reader.notes[0] == "a header, skipped a units row below it"
    assert labels(reader) == [row[2] for row in LINES]
    # What the user says ends the guess.
    assert len(labels(open_dataset(tmp_path / "x.csv", header=True))) == 13


NO_PREAMBLE = {
    "a header that begins with #": ("#id,b,y\n1.5,2,p\n3.5,4,q\n5.5,6,p\n", 3),
    "rows that begin with #": ('"#fun day",1,p\n"#sad day",2,q\nno tag,3,p\nnothing,4,q\n', 4),
    "a first row with missing cells": ("a,b,c,y\n,,,p\n1,2,3,q\n4,5,6,p\n7,8,9,q\n", 4),
    "a first row of words for missing": ("a,b,y\nunknown,-,p\n1,2,q\n4,5,p\n7,8,q\n", 4),
    "a category below the header": ("a,b,y\nx,2,p\nz,4,q\nx,6,p\nz,8,q\n", 4),
}


@pytest.mark.parametrize(("text", "count"), NO_PREAMBLE.values(), ids=NO_PREAMBLE)
def test_rows_are_not_passed_over(tmp_path: Path, text: str, count: int) -> None:
    reader = open_dataset(put(tmp_path, text))
    assert sum(map(len, reader)) == count
    assert "skipped" not in reader.notes[0]
    assert not any(column.name.startswith("#") for column in reader.encoder.columns)


@pytest.mark.parametrize("header", [f"{HEADER},", HEADER])
def test_a_delimiter_at_the_end_of_each_line(tmp_path: Path, header: str) -> None:
    reader = open_dataset(put(tmp_path, f"{header}\n" + BODY.replace("\n", ",\n")))
    assert kinds(reader) == {"width": "number", "height": "number", "Unnamed: 3": "drop"}
    assert labels(reader) == [row[2] for row in LINES]


SPACES = {
    "one space": "a b kind\n" + "".join(f"{i} {i % 3} {'pq'[i % 2]}\n" for i in range(12)),
    "columns of spaces": "    a  b  kind\n" + "".join(f"{i:>5} {i % 3:>4}  {'pq'[i % 2]}  \n" for i in range(12)),
    "R's write.table": '"a" "b" "kind"\n' + "".join(f'"{i + 1}" {i} {i % 3} "{"pq"[i % 2]}"\n' for i in range(12)),
    "no header": "".join(f"{i}   {i % 3} {'pq'[i % 2]}\n" for i in range(12)),
    "pandas": TWELVE.assign(b=[None, *TWELVE["b"][1:]]).to_csv(sep=" ", index=False),
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
        with rejected("data"):
            list(open_dataset(put(tmp_path, text, "x.txt")))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark(tmp_path: Path, encoding: str) -> None:
    assert labels(open_dataset(put(tmp_path, f"{HEADER}\n{BODY}".encode(encoding)))) == [row[2] for row in LINES]


LABELS = {
    "a label and its text": ("".join(f'{"pq"[i % 2]},"win some money, {i}"\n' for i in range(12)), "1"),
    "the SMS collection of Kaggle": (
        "v1,v2,,,\n" + "".join(f'{"pq"[i % 2]},"win some money, {i}",,,{"" if i else "x"}\n' for i in range(12)),
        "v1",
    ),
    "classes of several words": ("".join(f"{i},the city of {'pq'[i % 2]}\n" for i in range(12)), "2"),
    "a text in the middle": ("a,t,k\n" + "".join(f"{i},some words {i} here,{'pq'[i % 2]}\n" for i in range(12)), "k"),
}


@pytest.mark.parametrize(("text", "label"), LABELS.values(), ids=LABELS)
def test_the_label_is_the_last_column_that_can_be_one(tmp_path: Path, text: str, label: str) -> None:
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
    words = "name,size,kind\n" + "".join(f"w{i},{i % 7},{'ab'[i % 2]}\n" for i in range(200))
    assert "name (every value is different)" in open_dataset(put(tmp_path, words)).encoder.describe()


def test_dates_with_points_are_day_month_and_year(tmp_path: Path) -> None:
    days = [(k % 28 + 1, k % 12 + 1) for k in range(40)]

    def table(form: str) -> Any:
        lines = [f"{form.format(d=d, m=m)};{(d * m) % 5};{'ab'[m % 2]}" for d, m in days]
        return put(tmp_path, "\n".join(["day;x;y", *lines]) + "\n")

    usual = read(table("2024-{m:02}-{d:02} 10:30"))
    for form in ("{d:02}.{m:02}.2024 10:30", "{d}.{m}.2024 10:30:00", "{d:02}.{m}.2024, 10:30"):
        reader = open_dataset(table(form))
        assert kinds(reader)["day"] == "date"
        found = read(tmp_path / "x.csv")
        assert found.indices.tolist() == usual.indices.tolist()
        assert found.values.tolist() == usual.values.tolist()


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
    TWELVE.to_json(tmp_path / "x.json", orient=orient)
    reader = open_dataset(tmp_path / "x.json")
    assert labels(reader) == ["p", "q"] * 6
    assert sorted(kind for kind in kinds(reader).values() if kind != "drop") == ["number", "number"]


REFUSED: dict[str, tuple[bytes, str]] = {
    "one column": (b"y\np\nq\n", "only one column"),
    "header only": (b"a,b,y\n", "a header and no rows"),
    "another delimiter": (b"a^b^y\n1^2^p\n3^4^q\n", "--delimiter"),
    "a zero byte": (b"a,y\n1,p\n\0,q\n", "line 3"),
    "an old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "Excel"),
    "a web page": (b"<!DOCTYPE html>\n<html>\n", "web page"),
    "Weka's format": (b"@RELATION x\n@attribute a numeric\n@data\n1\n", "ARFF"),
    "a tar archive": (bytes(257) + b"ustar" + bytes(250), "tar archive"),
}


@pytest.mark.parametrize(("content", "fact"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_said_for_what_it_is(tmp_path: Path, content: bytes, fact: str) -> None:
    with rejected("data", "x.csv", fact):
        read(put(tmp_path, content))
