"""Defects of reading, encoding and storing, and of memory limits."""

import datetime
import json
import random
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from command import python
from rejected import rejected
from written import put, reloaded

import rosenblatt
from rosenblatt.cli.main import main
from rosenblatt.data import table
from rosenblatt.data.labels import Classes, encode_labels
from rosenblatt.data.table import is_sparse
from rosenblatt.encode.cells import read_number
from rosenblatt.errors import LabelError
from rosenblatt.io import open_dataset, read
from rosenblatt.io.arrow import open_arrow
from rosenblatt.models.file import save
from rosenblatt.select.scoring import ACCURACY
from rosenblatt.training.holdout import read_split, score_parts
from rosenblatt.training.train import continue_training

ROWS = [f"{i},{(i * 37) % 11},{'ab'[i % 2]}" for i in range(60)]


def trained(data: Any, path: Path, **options: Any) -> bytes:
    save(rosenblatt.train(data, "averaged", max_iter=3, **options), path)
    return path.read_bytes()


def hashed_names(dataset: Any) -> set[str]:
    encoder = dataset.encoder
    return set(dataset.find_names(np.arange(encoder.base, encoder.features)).values())


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
    for labels in (["a", "a\0"], [2**53 + 1, 1.0], [-1, 2**63], [1, "1"], [True, "True"]):
        with pytest.raises(LabelError):
            encode_labels(labels)


def test_large_integers_of_two_types_are_not_merged() -> None:
    X, large = [[-1.0], [1.0]], [2**60, 2**60 + 1]
    learner = rosenblatt.Perceptron().partial_fit(X, np.array(large)).partial_fit(X, np.array(large, np.uint64))
    assert learner.classes_.tolist() == large
    with rejected("label", "use strings"):
        learner.partial_fit(X, [1.0, 2.0])


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


def test_a_partition_is_a_first_column_as_it_was_before_its_path(tmp_path: Path) -> None:
    for city in ("New%20York", "Oslo", "__HIVE_DEFAULT_PARTITION__"):
        put(tmp_path / f"city={city}" / "p.csv", "a,kind\n" + "1,x\n2,y\n" * 9)
    dataset = open_dataset(tmp_path)
    dataset.load()
    assert dataset.encoder.label == "kind"
    assert sorted(hashed_names(dataset)) == ["city=New York", "city=Oslo"]


@pytest.mark.parametrize(
    "beside", ["_SUCCESS", "SHA256SUMS", "data_dictionary.txt", "index.html", "a.csv.md5", "desktop.ini"]
)
def test_files_without_a_suffix_of_data_are_ignored_beside_data(tmp_path: Path, beside: str) -> None:
    put(tmp_path / "a.csv", "a,kind\n1,x\n2,y\n")
    put(tmp_path / beside, "words and more words")
    assert read(tmp_path).y.tolist() == ["x", "y"]


def test_files_of_two_formats_are_not_read_as_one(tmp_path: Path) -> None:
    put(tmp_path / "a.csv", "a,kind\n1,x\n2,y\n")
    put(tmp_path / "b.tsv", "a\tkind\n1\tx\n")
    assert len(read(tmp_path).y) == 3
    put(tmp_path / "c.jsonl", '{"a": 1, "kind": "x"}\n')
    with rejected("data", "c.jsonl"):
        open_dataset(tmp_path)
    (tmp_path / "c.jsonl").unlink()
    for label in "pq":
        put(tmp_path / label / "1.txt", "some words")
    with rejected("data", "folders"):
        open_dataset(tmp_path)


def test_a_column_gone_bad_stops_a_model_that_continues(tmp_path: Path) -> None:
    encoder = open_dataset(put(tmp_path / "x.csv", "a,b,y\n" + "\n".join(ROWS))).fit().encoder
    bad = put(tmp_path / "bad.csv", "a,b,y\n" + "\n".join(row.replace(",", " years old,", 1) for row in ROWS))
    with rejected("data", "column 'a'") as caught:
        open_dataset(bad, encoder=encoder).load()
    assert "--number" not in str(caught.value)  # no option of a command that continues a model


DAYS = pd.date_range("2024-01-01", periods=2, freq="36h")


@pytest.mark.parametrize("pair", [[False, True], ["1", "2"], [*DAYS.date], [*DAYS], [-1, 1]], ids=repr)
def test_labels_of_a_frame_stay_what_they_are(pair: list[Any], tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [float(k % 7) for k in range(42)], "y": [pair[k % 7 > 3] for k in range(42)]})
    model = rosenblatt.train(frame, "perceptron", label="y")
    assert model.score(frame, frame["y"]) == model.partial_fit(frame, frame["y"]).score(frame, frame["y"]) == 1.0
    save(model, tmp_path / "m")
    assert rosenblatt.load(tmp_path / "m").score(frame, frame["y"]) == 1.0
    frame.to_csv(tmp_path / "x.csv", index=False)  # where labels are text
    arguments = [str(tmp_path / "m"), str(tmp_path / "x.csv")]
    assert main(["evaluate", *arguments]) == 0
    assert main(["train", arguments[1], "--from", arguments[0], "-o", str(tmp_path / "n")]) == 0
    assert rosenblatt.load(tmp_path / "n").score(frame, frame["y"]) == 1.0


def test_a_model_of_codes_continues_with_numbers(tmp_path: Path) -> None:
    for name, labels in (("a", ["007", "7"]), ("b", ["7", "8"])):
        put(tmp_path / f"{name}.csv", "x,y\n" + "".join(f"{k % 9},{labels[k % 9 > 4]}\n" for k in range(90)))
    model = rosenblatt.train(tmp_path / "a.csv", "perceptron")
    again = continue_training(model, open_dataset(tmp_path / "b.csv", encoder=model.encoder)).model
    assert again.classes.tolist() == ["007", "7", "8"]


def test_a_regression_says_that_it_cannot_continue_with_files(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", "a,y\n" + "".join(f"{k % 7},{k % 7}.25\n" for k in range(30)))
    model = rosenblatt.train(path, "pa-regression")
    with rejected("model", "numbers"):
        continue_training(model, open_dataset(path, encoder=model.encoder))


def test_a_readme_beside_class_folders_is_ignored(tmp_path: Path) -> None:
    for label in "ab":
        put(tmp_path / "d" / label / "1", f"words of {label}")
    put(tmp_path / "d" / "Summary.txt", "about")
    assert sorted(read(tmp_path / "d").y.tolist()) == ["a", "b"]


def test_a_huge_column_number_is_refused_without_its_memory(tmp_path: Path) -> None:
    with rejected("data", "features"):
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
        (["R$ 1.234,50", "R$ 3,10", "R$ 1.000,00"], "number"),
        (["1 234,50 zł", "3,10 zł", "7 zł"], "number"),
        (["Rs. 1,23,456.50", "Rs. 7", "Rs. 20,000"], "number"),
        (["$1.2M", "$350K", "$7"], "number"),
        (["1.50-", "2.25", "3.00-"], "number"),
        (["3 kg", "5 lb", "7 m"], "category"),
        (["31.12.24", "1.2.23", "30.7.99"], "date"),
        (["8:30", "17:05", "23:59"], "date"),
        (["CHF 5'000.-", "CHF 120.-", "CHF 3.50"], "number"),
        (["12,- €", "1.250,- €", "7,50 €"], "number"),
        (["Rs. 500/-", "Rs. 1,200/-", "Rs. 7/-"], "number"),
        (["$(1,234.56)", "$25.00", "$7"], "number"),
        (["€350k", "€1.2m", "€7m"], "number"),
        (["$350 million", "$1.2 billion", "$7 million"], "number"),
        (["1\u2009234,56", "12,00", "7,5"], "number"),
        (["1 year", "2 years", "10 years"], "number"),
        (["1,200 sq ft", "850 sq ft", "90 sq ft"], "number"),
        (["120 m2", "85,5 m2", "40 m2"], "number"),
        (["5,6 l/100 km", "7,1 l/100 km", "8 l/100 km"], "number"),
        (["1inf", "binf", "/inf"], "category"),
        (["31 décembre 2024", "1er février 2023", "14 août 2022"], "date"),
        (["31 de diciembre de 2024", "1 de enero de 2023", "2 de marzo de 2021"], "date"),
        (["December 31st, 2024", "March 2nd, 2023", "Jan 3rd, 2022"], "date"),
        (["Wed, 31 Jan 2024 10:00:00 GMT", "Thu, 1 Feb 2024 10:00:00 +0100", "Fri, 2 Feb 2024 08:00:00 Z"], "date"),
        (["31-DEC-24", "01-JAN-23", "07-MAY-22"], "date"),
        (["31. 12. 2024", "1. 2. 2023", "7. 5. 2022"], "date"),
        (["12. März 2024", "1. Okt. 2024", "7. Mai 2024"], "date"),
        (["2024年12月31日", "2023年1月1日", "2022年5月7日"], "date"),
        (["Dec 2024", "Jan 2023", "May 2022"], "date"),
        (["31.12.2024, 14:30 Uhr", "01.02.2023, 09:00 Uhr", "7.5.2022, 7:00 Uhr"], "date"),
        (["0000-00-00", "2024-12-31", "2023-01-01"], "date"),
        (["12 Marius 2024", "3 Maryland 2023", "6 Augsburg 1999"], "text"),
        (["2:1", "0:0", "3:2"], "category"),
    ],
)
def test_money_units_and_dates_as_people_write_them(tmp_path: Path, cells: list[str], kind: str) -> None:
    rows = [{"x": cells[i % 3], "y": "pq"[i % 2]} for i in range(30)]
    path = put(tmp_path / "x.jsonl", "\n".join(map(json.dumps, rows)))
    assert [column.kind for column in open_dataset(path).encoder.columns] == [kind]


@pytest.mark.parametrize(
    ("cell", "decimal", "unit", "number"),
    [
        ("(-12)", ".", "", -12),
        ("$(1,234.50)", ".", "", -1234.5),
        ("5'000.-", ".", "", 5000),
        ("1.250,- €", ",", "", 1250),
        ("1.250,-", ".", "", None),
        ("12-", ".", "", -12),
        ("3 years", ".", "year", 3),
        ("5 ms", ".", "m", None),
        ("7,1 l/100 km", ",", "l/100 km", 7.1),
    ],
)
def test_cells_of_money_and_units(cell: str, decimal: str, unit: str, number: float | None) -> None:
    assert read_number(cell, decimal, unit) == number


def test_numbers_with_leading_zeros_may_be_codes(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", "plz,size,y\n" + "01067,07,a\n10115,5,b\n" * 9)
    encoder = open_dataset(path, label="y").encoder
    assert [column.name for column in encoder.columns if "--category plz" in column.why] == ["plz"]
    assert [column.kind for column in encoder.columns] == ["number", "number"]


def test_the_user_says_whether_the_day_or_the_month_comes_first(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", "day,y\n" + "3/4/2024,a\n5/6/2023,b\n" * 9)
    months = []
    for day_first in (None, False, True):
        dataset = open_dataset(path, day_first=day_first)
        dataset.load()
        months.append({name for name in hashed_names(dataset) if "month" in name})
    assert months == [{"day.month=3", "day.month=5"}] * 2 + [{"day.month=4", "day.month=6"}]


@pytest.mark.parametrize("label", ['""', '"  "', "null", "[]", '[""]'])
def test_an_empty_label_is_missing_in_every_format(tmp_path: Path, label: str) -> None:
    path = put(tmp_path / "x.jsonl", '{"a": 1, "label": "x"}\n{"a": 2, "label": ' + label + "}\n")
    with rejected("data", "line 2", "'label'"):
        read(path)


def test_an_empty_label_hints_at_another_column_while_there_is_no_model(tmp_path: Path) -> None:
    with rejected("data", "line 3", "'left'", "--label"):
        read(put(tmp_path / "x.csv", "a,churn,left\n" + "1,yes,2024-01-02\n2,no,\n" * 9))


def test_a_word_that_means_no_label_is_named(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", "a,continent\n" + "1,EU\n2,NA\n3,AS\n" * 5)
    with rejected("data", "line 3", "'NA'", "--missing"):
        read(path)
    assert sorted(set(read(path, missing=["-"]).y.tolist())) == ["AS", "EU", "NA"]


def test_a_list_of_labels_is_a_set_and_no_target_of_a_regression(tmp_path: Path) -> None:
    rows = [{"a": k, "labels": ["x", "x", "", "y"] if k % 2 else [" x "]} for k in range(6)]
    dataset = open_dataset(put(tmp_path / "x.jsonl", "\n".join(map(json.dumps, rows))))
    assert dataset.load().weights.tolist() == [1.0, 0.5, 0.5] * 3  # type: ignore[union-attr]
    dataset.load()
    assert dataset.classes.values.tolist() == ["x", "y"]
    assert len(dataset.notes) == 1
    weighted = [row | {"w": 2 * (k < 3)} for k, row in enumerate(rows)]  # a row of weight 0 is ignored
    path = put(tmp_path / "w.jsonl", "\n".join(map(json.dumps, weighted)))
    assert open_dataset(path, weight="w", label="labels").load().weights.tolist() == [2.0, 1.0, 1.0, 2.0]  # type: ignore[union-attr]
    with rejected("label", "several labels"):
        open_dataset(put(tmp_path / "y.jsonl", '{"a": 1, "y": [1, 2]}\n')).load(is_regression=True)


def test_many_whole_numbers_as_classes_are_reported(tmp_path: Path) -> None:
    dataset = open_dataset(put(tmp_path / "x.csv", "a,price\n" + "".join(f"{i},{i % 30}\n" for i in range(90))))
    dataset.load()
    assert "30 whole numbers" in dataset.notes[-1]


def test_a_file_is_opened_twice_and_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.csv

    from rosenblatt.io.source import Source

    path = put(tmp_path / "x.csv", "a,b,y\n" + "\n".join(ROWS * 20))
    opens, parsed = [], []
    opened, parse = Source.iter_bytes, pyarrow.csv.read_csv
    monkeypatch.setattr(Source, "iter_bytes", lambda self, size: opens.append(1) or opened(self, size))

    def count(text: Any, **options: Any) -> Any:
        parsed.append(text.size)
        return parse(text, **options)

    monkeypatch.setattr(pyarrow.csv, "read_csv", count)
    rosenblatt.train(path, "averaged")
    assert len(opens) <= 2
    assert sum(parsed) == path.stat().st_size - len("a,b,y\n")


def test_letters_beyond_ascii_are_taken_in_lower_case_and_labels_are_not(tmp_path: Path) -> None:
    words = [("ÉCOLE Über", "école über"), ("ПРИВЕТ Ωμέγα", "привет ωμέγα")]
    for line in ("Élan\t{}", "__label__Élan {}"):
        for capital, small in words:
            rows = read(put(tmp_path / "x", "\n".join([line.format(capital), line.format(small)] * 2)))
            assert rows.y.tolist() == ["Élan"] * 4
            assert (rows.X.toarray() == rows.X.toarray()[0]).all()
    table = put(tmp_path / "x.csv", "text,y\n" + "".join(f"{a} is,p\n{b} is,q\n" for a, b in words))
    X = read(table, text=["text"]).X.toarray()
    assert (X[0] == X[1]).all()
    assert (X[2] == X[3]).all()


def test_a_label_that_comes_late_keeps_the_probabilities(tmp_path: Path) -> None:
    line = "a\t" + "one two three four " * 12 + "\n"
    other = line.replace("a\t", "b\t").replace("one", "five")
    with (tmp_path / "late.tsv").open("w") as file:
        file.writelines([line + other] * (5_000_000 // len(line + other)))
        file.write("c\tsix seven\n" * 20)
    model = rosenblatt.train(tmp_path / "late.tsv")
    assert model.classes.tolist() == ["a", "b", "c"]
    assert model.predict_proba(["six seven"]).shape == (1, 3)


def test_training_in_a_script_runs_the_script_once(tmp_path: Path) -> None:
    (tmp_path / "big.csv").write_text("u,v,y\n" + "".join(f"{i % 97},{i % 89},{i % 97 > 40}\n" for i in range(120_000)))
    script = "import rosenblatt\nprint('begins')\nprint(rosenblatt.train('big.csv').classes.tolist())\n"
    (tmp_path / "script.py").write_text(script)
    assert (tmp_path / "big.csv").stat().st_size > 1 << 20
    found = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stdout.split("\n")[:2] == ["begins", "['False', 'True']"]


def test_the_index_of_a_frame_that_was_split_or_sorted_is_left_out(tmp_path: Path) -> None:
    frame = pd.DataFrame({"size": [1.5, 2.5, 0.5, 3.5] * 30, "label": ["a", "b", "a", "b"] * 30})
    for name, part in (("sample", frame.sample(frac=0.7, random_state=0)), ("gaps", frame[::3])):
        part.to_csv(tmp_path / name)
        model = rosenblatt.train(tmp_path / name, format="csv")
        assert "size" in model.encoder.inputs[:1]
        assert model.predict_one({"size": 3.0}) == "b"


def test_names_stand_above_amounts_and_dates(tmp_path: Path) -> None:
    """Also if the name of one column is among its values."""
    rows = "".join(f"{i % 9}.5 kg,{1 + i % 28}/4/2024,{'ny'[i % 9 > 4]}\n" for i in range(60))
    model = rosenblatt.train(put(tmp_path / "s.csv", "size,day,y\n" + rows), "perceptron", label="y")
    assert set(model.encoder.inputs) >= {"size", "day"}


def test_a_name_that_is_also_a_value_is_a_name(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i % 7},{'spam' if i % 7 > 3 else 'ham'}\n" for i in range(60))
    model = rosenblatt.train(put(tmp_path / "s.csv", "len,caps,spam\n" + rows), "perceptron")
    assert set(model.encoder.inputs) >= {"len", "caps"}
    assert model.classes.tolist() == ["ham", "spam"]


@pytest.mark.parametrize("order", [["age", "day"], ["day", "age"]])
def test_dates_are_read_alike_in_frames_and_dicts(order: list[str]) -> None:
    rng = np.random.default_rng(3)
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, 300), unit="D")
    frame = pd.DataFrame({"age": rng.integers(18, 80, 300), "day": days})[order]
    learner = rosenblatt.AutoPerceptron().fit(frame, np.where(frame.day > "2024-12-15", "late", "early"))
    expected = learner.predict_proba(frame[:3])[:, 0].tolist()
    for convert in (lambda day: day, pd.Timestamp.to_pydatetime, pd.Timestamp.date, pd.Timestamp.to_datetime64, str):
        rows = [row | {"day": convert(row["day"])} for row in frame[:3].to_dict("records")]
        assert [learner.predict_proba_one(row)["early"] for row in rows] == pytest.approx(expected)


@pytest.mark.parametrize("show", ["${:,.2f}", "{:.2f} EUR", "{:.2f} %", "USD {:,.2f}"])
def test_a_regression_reads_money_and_units_as_numbers(tmp_path: Path, show: str) -> None:
    rows = [(k, 1200.0 + 3 * k) for k in range(60)]
    plain = put(tmp_path / "plain.csv", "size,pay\n" + "".join(f"{x},{y}\n" for x, y in rows))
    money = put(tmp_path / "money.csv", "size,pay\n" + "".join(f'{x},"{show.format(y)}"\n' for x, y in rows))
    one, two = (rosenblatt.train(path, "pa1-regression", max_iter=3) for path in (plain, money))
    cells = pd.DataFrame({"size": [1.0, 7.0, 50.0]})
    np.testing.assert_array_equal(one.predict(cells), two.predict(cells))
    save(two, tmp_path / "m")
    assert main(["evaluate", str(tmp_path / "m"), str(money), "--json"]) == 0


def test_each_column_has_its_own_decimal_mark(tmp_path: Path) -> None:
    """A file may mix decimal commas with points; one row to predict is read as the training rows were."""
    rows = [f"{k % 7},{k % 5};{k % 9}.{k % 4}5;{'ab'[k % 7 > 3]}" for k in range(60)]
    dataset = open_dataset(put(tmp_path / "x.csv", "a;b;kind\n" + "\n".join(rows) + "\n"))
    assert [column.kind for column in dataset.encoder.columns] == ["number", "number"]
    model = rosenblatt.train(tmp_path / "x.csv", "averaged", max_iter=3)
    encoder = reloaded(model).encoder
    for row, expected in (("1,5;2.25;a", (1.5, 2.25)), ("1;2.250;a", (1, 2.25)), ("1,500;2;a", (1.5, 2))):
        path = put(tmp_path / "one.csv", f"a;b;kind\n{row}\n")
        assert next(iter(open_dataset(path, encoder=encoder.plain()))).values.tolist() == list(expected)


def test_a_regression_reads_decimal_commas(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", "a;pay\n" + "".join(f"{k};{1000 + k},5\n" for k in range(30)))
    assert open_dataset(path).load(is_regression=True).y[:2].tolist() == [1000.5, 1001.5]


def test_rows_are_read_while_another_thread_loads_scipy(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", ModuleType("scipy.sparse"))
    assert not is_sparse([[1.0]])


WRAPPERS = rosenblatt.AutoPerceptron(), rosenblatt.Calibrated(rosenblatt.AROW()), rosenblatt.AROW


@pytest.mark.parametrize("params", WRAPPERS)
def test_what_cannot_be_trained_on_files_is_an_error(params: Any) -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0] * 9, "label": ["no", "yes"] * 9})
    with rejected("parameter", "not a learner"):
        rosenblatt.train(frame, params, label="label")
    random = np.random.default_rng(0)
    assert rosenblatt.train(frame, rosenblatt.AROW(random_state=random), label="label").predict_one({"a": 1.0}) == "yes"


def test_a_regression_keeps_no_table_of_its_targets(tmp_path: Path) -> None:
    def held(values: int) -> int:
        """The bytes that Python holds for 30,000 loaded rows whose targets have this many values."""
        lines = "".join(f"{i % 97},{i % 89},{i % values}.5\n" for i in range(30_000))
        dataset = open_dataset(put(tmp_path / "prices.csv", "a,b,price\n" + lines))
        tracemalloc.start()
        try:
            store = dataset.load(is_regression=True)
            assert len(store) == 30_000
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    held(7)  # what is imported on first use is not counted
    assert held(30_000) < held(7) + 20 * 30_000  # a table of labels takes some 100 bytes each


def test_a_refused_feather_file_ends_the_command_by_its_status(tmp_path: Path) -> None:
    """A Python file that Arrow's threads still held when the interpreter ended was an abort now and then."""
    pa.feather.write_feather(pa.table({"a": [1.0, 2.0], "y": ["a", "b"]}), tmp_path / "x.feather")
    whole = (tmp_path / "x.feather").read_bytes()
    put(tmp_path / "x.feather", whole[: len(whole) // 2])
    source = open_dataset(put(tmp_path / "x.csv", "a,y\n1,a\n2,b\n")).sources[0]
    with open_arrow(source, "Parquet") as file:
        assert isinstance(file, pa.MemoryMappedFile)
    command = [sys.executable, "-m", "rosenblatt", "train", str(tmp_path / "x.feather"), "-o", str(tmp_path / "m")]
    for _ in range(4):
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (found.returncode, found.stderr.count("\n")) == (1, 1), found


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_durations_are_seconds_and_times_are_hours(kind: str) -> None:
    rng = np.random.default_rng(0)
    spans = [datetime.timedelta(seconds=int(s)) for s in rng.integers(0, 500_000, 200)]
    times = [datetime.time(int(hour), 30) for hour in rng.integers(0, 24, 200)]
    y = ["long" if span.total_seconds() > 250_000 else "short" for span in spans]
    late = ["late" if time.hour > 11 else "early" for time in times]
    make: Any = pd.DataFrame if kind == "pandas" else polars.DataFrame
    for column, values, labels in (("span", spans, y), ("time", times, late)):
        frame = make({"size": rng.normal(size=200), column: values})
        auto = rosenblatt.AutoPerceptron(random_state=0).fit(frame, labels)
        assert auto.score(frame, labels) > 0.95
        rows = [{"size": 0.0, column: value} for value in values]
        assert [auto.predict_one(row) for row in rows] == auto.predict(make(rows)).tolist()
        with pytest.raises((TypeError, ValueError), match=r"span|time|not a number"):
            rosenblatt.Perceptron().fit(frame, labels)


def test_booleans_are_the_same_labels_in_every_format(tmp_path: Path) -> None:
    csv = put(tmp_path / "x.csv", "a,label\n" + "1,True\n2,False\n" * 10)
    lines = put(tmp_path / "x.jsonl", '{"a": 1, "label": true}\n{"a": 2, "label": false}\n' * 10)
    for data in (csv, lines, pd.DataFrame({"a": [1, 2] * 5, "label": [True, False] * 5})):
        assert sorted(set(map(str, read(data).y.tolist()))) == ["False", "True"]


@pytest.mark.parametrize(("written", "wrong"), [("%d.%m.%Y", "31.31.2023"), ("%m/%d/%Y", "soon")])
def test_dates_of_the_split_column_are_in_the_order_of_time(tmp_path: Path, written: str, wrong: str) -> None:
    days = pd.date_range("2023-01-01", periods=450)
    rows = [f"{day.strftime(written)};{k % 7};{'ab'[k % 2]}" for k, day in enumerate(days)]
    random.Random(0).shuffle(rows)
    data = put(tmp_path / "x.csv", "\n".join(["Datum;x;y", *rows]))
    split = read_split(open_dataset(data, drop=["Datum"]), None, "Datum")
    assert np.array_equal(np.sort(split["time"]), days.to_numpy().astype("M8[D]"))
    model = rosenblatt.train(data, max_iter=2)
    parts = score_parts(model, open_dataset(data, encoder=model.encoder), ACCURACY, time="Datum")
    assert parts[1].part == "2023-01-01 to 2023-03-31"
    put(data, "\n".join(["Datum;x;y", *rows, f"{wrong};1;a"]))
    with rejected("data", "'Datum'", repr(wrong)):
        read_split(open_dataset(data, drop=["Datum"]), None, "Datum")


def answers(model: Path, text: str, *, pause: float = 0.0) -> list[str]:
    """Predictions of lines that a pipe gives one by one."""
    words = [sys.executable, "-m", "rosenblatt", "predict", str(model)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in text.splitlines(keepends=True):
            process.stdin.write(line)
            process.stdin.flush()
            time.sleep(pause)
        process.stdin.close()
        return process.stdout.read().split()


def test_a_slow_pipe_is_read_as_the_file(tmp_path: Path) -> None:
    rows = [(k % 10, "red" if k % 3 else "blue", 9 - k % 10, "ab"[k % 10 > 4]) for k in range(90)]
    data = put(tmp_path / "x.csv", "size,color,weight,y\n" + "".join(f"{a}.5,{b},{c}.5,{y}\n" for a, b, c, y in rows))
    trained(data, tmp_path / "m", label="y")
    for title in ("Report 2024,,", "Report 2024", "", "Report 2024,,\n\nby hand,,"):
        text = f"{title}\nweight,color,size\n" + "".join(f"{c}.5,{b},{a}.5\n" for a, b, c, _ in rows[:8])
        assert answers(tmp_path / "m", text, pause=0.05) == [y for *_, y in rows[:8]], title
    few = put(tmp_path / "few.csv", "Report 2024,,\nweight,color,size\n1.5,red,8.5\n")
    model = rosenblatt.load(tmp_path / "m")
    assert [len(batch) for batch in open_dataset(few, encoder=model.encoder, require_label=False)] == [1]


def test_a_units_row_of_the_training_data_is_found_again(tmp_path: Path) -> None:
    head = "Messung;;\n\n;;\n\na;b;y\nkg;m;\n"
    rows = [f"{k},5;{k % 3},2;{'uv'[k > 9]}\n" for k in range(20)]
    data = put(tmp_path / "x.csv", head + "".join(rows))
    dataset = open_dataset(data)
    assert dataset.notes[0].endswith("a header on line 5, skipped 4 lines above and a units row below it")
    assert len(dataset.load()) == 20
    trained(data, tmp_path / "m")
    model = rosenblatt.load(tmp_path / "m")
    for count in (1, 2, 3):
        for text in (head + "".join(rows[:count]), "b;a\nm;kg\n" + "1,2;3,5\n" * count):
            few = open_dataset(put(tmp_path / "few.csv", text), encoder=model.encoder, require_label=False)
            assert sum(map(len, few)) == count


@pytest.mark.parametrize("prices", ["{},5", "{}.5", "1.2{},50 €"])
def test_prices_are_not_classes(tmp_path: Path, prices: str) -> None:
    data = put(tmp_path / "x.csv", "a;y\n" + "".join(f"{k},5;{prices.format(10 + k)}\n" for k in range(60)))
    with rejected("label", "--task regression", 'task="regression"'):
        rosenblatt.train(data)


def test_numbers_that_may_be_thousands_are_noted(tmp_path: Path) -> None:
    for cell, meant in (("1.234", "the point separates thousands"), ("1,234", "the comma is a decimal mark")):
        data = put(tmp_path / "x.csv", "n;y\n" + f"415;a\n{cell};b\n" * 20)
        value = "1.234" if "." in cell else "1234"
        note = f"n: {cell} is read as {value}; if {meant}, use --decimal ,"
        assert note in open_dataset(data).notes
        assert note not in open_dataset(data, decimal=".").notes
    for clear in ("1.25", "0.250", "1.234.567", "1,234.5", "0,250"):
        put(data, "n;y\n" + f"1.234;a\n{clear};b\n" * 20)
        assert not any("is read as" in note for note in open_dataset(data).notes), clear


@pytest.mark.parametrize("text", ["b,a\n1,2\n0,19\n", "2:1\n1:19\n"])
def test_a_model_without_an_encoder_reads_a_pipe_from_its_first_line(tmp_path: Path, text: str) -> None:
    X: Any = np.column_stack([np.arange(20.0), np.arange(20.0) % 3])
    X = pd.DataFrame(X, columns=["a", "b"]) if "," in text else np.column_stack([np.zeros(20), X])
    save(rosenblatt.AveragedPerceptron().fit(X, ["no"] * 10 + ["yes"] * 10), tmp_path / "m")
    assert answers(tmp_path / "m", text) == ["no", "yes"]


def test_codes_with_a_hyphen_are_not_amounts_below_zero() -> None:
    codes = [f"ORD-{1000 + row}" for row in range(200)]
    amounts = ["USD-5", "USD 7", "USD 9", "USD 11"] * 50
    frame = pa.table({"order": codes, "cost": amounts, "x": list(range(200)), "y": ["a", "b"] * 100})
    columns = {column.name: column for column in open_dataset(frame, label="y").encoder.columns}
    assert columns["order"].kind == "drop"
    assert (columns["cost"].kind, columns["cost"].format) == ("number", "USD")


def test_days_without_a_time_have_no_hour() -> None:
    days = [f"2024-0{1 + row % 9}-1{row % 10}" for row in range(60)]
    for stamps, has_hour in ((days, False), ([f"{day} 0{row % 7}:30" for row, day in enumerate(days)], True)):
        model = rosenblatt.train(pa.table({"when": stamps, "y": ["a", "b"] * 30}), "averaged", label="y")
        assert any(".hour=" in str(name) for name in model.names.values()) is has_hour


def test_the_order_of_dates_can_be_named_for_other_data_of_a_model() -> None:
    table = pa.table({"when": ["12/31/2024", "01/02/2024"] * 20, "y": ["a", "b"] * 20})
    encoder = open_dataset(table, label="y").encoder
    later = pa.table({"when": ["31/12/2024", "02/01/2024"], "y": ["a", "b"]})
    expected = next(iter(open_dataset(table.slice(0, 2), encoder=encoder))).X.toarray()
    found = next(iter(open_dataset(later, encoder=encoder, day_first=True))).X.toarray()
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    "first", ["CREATE TABLE t (a int, b text);", "--\n-- PostgreSQL database dump\n--", "-- MySQL dump 10"]
)
def test_an_sql_script_is_not_a_table(tmp_path: Path, first: str) -> None:
    text = first + "\n" + "".join(f"INSERT INTO t VALUES ({k}, '{k % 2}');\n" for k in range(60))
    with rejected("data", "SQL script"):
        open_dataset(put(tmp_path / "dump.sql", text))


def test_labels_that_differ_in_case_alone_are_noted(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", "a,ok\n" + "1,Yes\n2,yes\n3,No\n" * 9)
    dataset = open_dataset(path)
    dataset.load()  # all labels, as train does
    assert [note for note in dataset.notes if "'Yes'" in note and "'yes'" in note]


def test_a_missing_column_is_named_beside_those_that_are_there(tmp_path: Path) -> None:
    encoder = open_dataset(put(tmp_path / "x.csv", "size,ok\n" + "1,yes\n2,no\n" * 30)).fit().encoder
    other = put(tmp_path / "other.csv", "SIZE,OK\n" + "1,yes\n2,no\n" * 30)
    with rejected("data", "'size'", "SIZE, OK"):
        list(open_dataset(other, encoder=encoder))


def test_a_label_of_spaces_alone_is_missing(tmp_path: Path) -> None:
    with rejected("data", "x.txt, line 2"):
        read(put(tmp_path / "x.txt", "p\tone two\n \tthree four\nq\tfive six\n"), format="tabbed")


@pytest.mark.parametrize("day_first", [True, False])
def test_the_order_of_dates_holds_for_columns_that_it_fits(tmp_path: Path, day_first: bool) -> None:
    rows = [f"{1 + i % 28}/12/2024,12/{1 + i % 28}/2024,{1 + i % 12}/1/2024,{'pq'[i % 2]}\n" for i in range(60)]
    path = put(tmp_path / "x.csv", "day,month,unclear,y\n" + "".join(rows))
    columns = open_dataset(path, day_first=day_first).encoder.columns
    assert [column.kind for column in columns] == ["date"] * 3
    assert [column.format for column in columns] == ["", "month", "" if day_first else "month"]


def test_free_memory_respects_the_limits_of_control_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, root = {"/proc/self/cgroup": "3:cpu:/job\n0::/batch/job\n"}, str(tmp_path)
    monkeypatch.setattr(table, "_CGROUPS", {"": (root, "memory.max", "memory.current", "inactive_file")})
    monkeypatch.setattr(table, "_text_of", lambda *path: texts.get(str(Path(*path)), ""))

    def limit(group: str, most: str) -> None:
        files = {"memory.max": most, "memory.current": "900000", "memory.stat": "anon 500000\ninactive_file 100000\n"}
        texts.update({f"{root}{group}/{name}": text for name, text in files.items()})

    texts["/proc/meminfo"] = "MemAvailable: 5000 kB\n"
    limit("/batch/job", "max")
    assert table.free_memory() == 5000 * 1024
    limit("/batch/job", "1000000")
    assert table.free_memory() == 200_000
    limit("/batch", "950000")  # the parent group
    assert table.free_memory() == 150_000


def test_free_memory_respects_the_limit_of_the_address_space() -> None:
    program = """
import resource
from rosenblatt.data.table import free_memory
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
print(0 < free_memory() < 3 << 30)
"""
    assert python(program).stdout.split() == ["True"]


def test_shuffled_epochs_over_a_map_read_ahead_what_comes_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that reads megabytes around each page reads the file many times over."""
    draw = np.random.default_rng(0)
    X, read_ranges = draw.normal(size=(20_000, 5)), list[tuple[int, int]]()
    X.tofile(tmp_path / "rows")
    mapped = np.memmap(tmp_path / "rows", np.float64, "r", shape=X.shape)
    y = X @ draw.normal(size=5) + draw.normal(size=len(X)) > 0
    monkeypatch.setattr(table, "free_memory", lambda: 1 << 20)
    for learner in (rosenblatt.Perceptron, rosenblatt.VotedPerceptron, rosenblatt.PocketPerceptron):
        plain, other = (learner(max_iter=2, tol=None).fit(rows, y) for rows in (X, mapped))
        assert plain.decision_function(X).tobytes() == other.decision_function(X).tobytes()
        assert plain.history_.mistakes == other.history_.mistakes

    class Map:
        def madvise(self, advice: int, start: int = 0, length: int = 0) -> None:
            read_ranges.append((start, start + length))

    monkeypatch.setattr(table, "_map_of", lambda array: Map())
    monkeypatch.setattr(table, "_address", lambda array: 0)
    monkeypatch.setattr(np, "frombuffer", lambda *_: None)
    order = draw.permutation(20_000).astype(np.uint32)
    parts = list(table.as_table(X).windows(order))
    assert np.concatenate(parts).tolist() == order.tolist()
    assert len(parts) == 3
    covered = {row for start, end in read_ranges for row in range(-(-start // 40), end // 40)}
    assert covered == set(range(20_000))


def test_a_private_map_of_a_user_keeps_its_changes(tmp_path: Path) -> None:
    (tmp_path / "values").write_bytes(np.ones(4096).tobytes())
    mapped = np.memmap(tmp_path / "values", np.float64, "c")
    mapped[:] = 2.0
    table.release_maps(mapped)
    assert mapped.tolist() == [2.0] * 4096


def test_rows_of_a_store_beyond_its_memory_are_in_scratch_maps(tmp_path: Path) -> None:
    path = put(tmp_path / "rows.svm", "1 1:0.5 3:1\n-1 2:1\n" * 100)
    rows = open_dataset(path).load(memory=0).csr(4)
    assert all(isinstance(table._map_of(array), table.ScratchMap) for array in (rows.data, rows.indices))


def test_text_that_is_not_in_the_given_encoding_is_a_data_error(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", "a,b,y\n1,2,p\n3,4,é\n".encode("latin-1"))
    for encoding, fact in (("utf-8", "0xe9"), ("utf-16", "utf-16")):
        with rejected("data", "x.csv", fact, "--encoding"):
            read(path, encoding=encoding)


def test_a_column_name_that_occurs_twice_is_a_data_error_for_predictions_too(tmp_path: Path) -> None:
    values, labels = [1.0, 2.0, 3.0, 4.0], ["p", "q", "p", "q"]
    encoder = open_dataset(pa.table({"a": values, "b": values, "y": labels})).fit().encoder
    twice = pa.Table.from_arrays([pa.array(values)] * 3 + [pa.array(labels)], ["a", "a", "b", "y"])
    pyarrow.feather.write_feather(twice, tmp_path / "x.feather")
    pyarrow.parquet.write_table(twice, tmp_path / "x.parquet")
    for data in (twice, twice.to_pandas(), tmp_path / "x.feather", tmp_path / "x.parquet"):
        for options in ({}, {"encoder": encoder, "require_label": False}):
            with rejected("data", "'a'", "twice"):
                read(data, **options)


def test_the_cut_of_an_arrow_table_into_batches_changes_nothing(tmp_path: Path) -> None:
    words = [str(k) if k < 500 else f"w{k % 7}" for k in range(2000)]  # numbers at first
    table = pa.table({"a": words, "b": np.arange(2000.0), "y": ["p", "q"] * 1000})
    whole = open_dataset(table)
    rows = whole.load().batch()
    for size in (100, 700):
        cut = open_dataset(pa.Table.from_batches(table.to_batches(size)))
        batch = cut.load().batch()
        assert cut.encoder == whole.encoder
        assert (batch.indices.tobytes(), batch.values.tobytes()) == (rows.indices.tobytes(), rows.values.tobytes())
