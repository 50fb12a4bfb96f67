"""predict: answers that line up with the data, in every form."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from command import run, train

import rosenblatt


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    lines = [f"id{i},{i % 7},{(i * 3) % 5},{'abc'[(i % 7) // 3]}" for i in range(120)]
    path.write_text("id,p,q,kind\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture
def model(table: Path, tmp_path: Path) -> Path:
    train(table, "--label", "kind", "-o", tmp_path / "m", "--learner", "averaged", "--drop", "id")
    return tmp_path / "m"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A model of labelled lines."""
    (tmp_path / "texts").write_text("spam\twin money now\nham\tsee you at noon\n" * 10)
    train(tmp_path / "texts", "-o", tmp_path / "t", "--learner", "averaged")
    return tmp_path / "t"


def test_blank_lines_have_an_empty_answer(texts: Path) -> None:
    assert run("predict", texts, input="win money\n\nsee you\n   \n\n").stdout == "spam\n\nham\n\n\n"
    out = run("predict", texts, "--json", input="win money\n\n").stdout.splitlines()
    assert json.loads(out[1]) == {"label": None, "scores": {"ham": None, "spam": None}}


def test_blank_records_and_bad_ones_have_an_empty_answer(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_text("id,p,q\nx,0,1\n\ny,6,1\nbad\nz,0,3\n")
    said = run("predict", model, path, "--skip-bad")
    labels = said.stdout.split("\n")
    assert len(labels) == 6
    assert [bool(label) for label in labels] == [True, False, True, False, True, False]
    assert "skipped 1 bad line:" in said.stderr
    assert "new.csv, line 5: it has 1 cell instead of 3" in run("predict", model, path, check=1).stderr
    (tmp_path / "new.jsonl").write_text('{"p": 0, "q": 1}\n\n{"p": 6}\n{"q"\n{}\n')
    labels = run("predict", model, tmp_path / "new.jsonl", "--skip-bad").stdout.split("\n")
    assert [bool(label) for label in labels] == [True, False, True, False, True, False]


def test_bad_lines_of_text_formats_have_an_empty_answer(rows: Path, tmp_path: Path) -> None:
    train(rows, "-o", tmp_path / "s", "--learner", "averaged")
    out = run("predict", tmp_path / "s", "--skip-bad", input="1 1:1\n1 x\n# only a comment\n0 2:1\n").stdout
    assert out.split("\n")[:4] == ["0", "", "", "1"]


def test_answers_as_csv_and_parquet_have_a_header(model: Path, table: Path, tmp_path: Path) -> None:
    run("predict", model, table, "-o", tmp_path / "out.csv", "--scores", "--pass", "id")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert list(rows[0]) == ["id", "label", "score of a", "score of b", "score of c"]
    assert [row["id"] for row in rows] == [f"id{i}" for i in range(120)]
    best = [max("abc", key=lambda label: float(row[f"score of {label}"])) for row in rows]
    assert [row["label"] for row in rows] == best
    run("predict", model, table, "-o", tmp_path / "out.parquet", "--scores", "--pass", "id")
    found = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [{name: str(cell) for name, cell in row.items()} for row in found] == rows
    shown = run("predict", model, table, "--to", "csv").stdout.splitlines()
    assert shown[0] == "label"
    assert len(shown) == 121


def test_all_columns_and_whole_lines_can_be_passed(model: Path, table: Path, texts: Path, tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("predict", model, table, "--to", "csv", "--pass", "*").stdout)))
    assert [{name: row[name] for name in ("id", "p", "q", "kind")} for row in rows] == list(
        csv.DictReader(io.StringIO(table.read_text()))
    )
    out = run("predict", texts, "--pass", "*", input="win money\n\nsee you\r\n").stdout
    assert out == "win money\tspam\n\t\nsee you\tham\n"
    (tmp_path / "new.jsonl").write_text('{"p": 0, "q": 1, "id": 7}\n{"id": 8}\n')
    out = run("predict", model, tmp_path / "new.jsonl", "--pass", "id", "--to", "csv").stdout
    assert [line.split(",")[0] for line in out.splitlines()] == ["id", "7", "8"]
    said = run("predict", model, table, "--pass", "nothing", check=1).stderr
    assert said.endswith("there is no column 'nothing'; there are id, p, q, kind\n")


def test_both_classes_in_json(texts: Path) -> None:
    row = json.loads(run("predict", texts, "--json", input="win money\n").stdout)
    assert row["label"] == "spam"
    assert row["scores"]["spam"] == -row["scores"]["ham"] > 0


def test_the_top_classes(model: Path, table: Path) -> None:
    scores = [json.loads(line)["scores"] for line in run("predict", model, table, "--json").stdout.splitlines()]
    rows = run("predict", model, table, "--top", 2).stdout.splitlines()
    for row, each in zip(rows, scores, strict=True):
        first, high, second, low = row.split("\t")
        order = sorted(each, key=lambda label: -each[label])
        assert [first, second] == order[:2]
        assert [float(high), float(low)] == [each[label] for label in order[:2]]
    found = [json.loads(line)["top"] for line in run("predict", model, table, "--top", 2, "--json").stdout.splitlines()]
    assert [[f"{each['label']}\t{each['score']!r}" for each in top] for top in found] == [
        ["\t".join(row.split("\t")[:2]), "\t".join(row.split("\t")[2:])] for row in rows
    ]
    assert "--top" in run("predict", model, table, "--top", 0, check=2).stderr


def test_a_threshold(texts: Path, model: Path, table: Path) -> None:
    lines = "win money\nsee you\nmoney\n"
    answers = run("predict", texts, "--json", input=lines).stdout.splitlines()
    scores = [json.loads(line)["scores"]["spam"] for line in answers]
    for threshold in (-10.0, 0.0, max(scores), 10.0):
        expected = ["spam" if score >= threshold else "ham" for score in scores]
        assert run("predict", texts, "--threshold", threshold, input=lines).stdout.split() == expected
    assert set(run("predict", model, table, "--threshold", 1e9).stdout) == {"\n"}


def test_probabilities_of_a_model_that_has_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=300) > 0, "yes", "no")
    auto = rosenblatt.AutoPerceptron().fit(X, y)
    rosenblatt.save(auto, tmp_path / "m")
    loaded = rosenblatt.load(tmp_path / "m")
    np.testing.assert_allclose(loaded.predict_proba(X), auto.predict_proba(X), rtol=0, atol=1e-12)
    (tmp_path / "x.svm").write_text("".join(f"0:{a!r} 1:{b!r}\n" for a, b in X.tolist()))
    rows = [
        json.loads(line)
        for line in run("predict", tmp_path / "m", tmp_path / "x.svm", "--json", "--probabilities").stdout.splitlines()
    ]
    found = [row["probabilities"] for row in rows]
    np.testing.assert_allclose([each["yes"] for each in found], auto.predict_proba(X)[:, 1], atol=1e-12)
    np.testing.assert_allclose([each["yes"] + each["no"] for each in found], 1.0)
    sure = run("predict", tmp_path / "m", tmp_path / "x.svm", "--probabilities", "--threshold", 0.9).stdout.splitlines()
    assert [line.split("\t")[0] for line in sure] == ["yes" if each["yes"] >= 0.9 else "no" for each in found]
    words: list[Any] = ["predict", tmp_path / "m", tmp_path / "x.svm", "--probabilities", "--threshold"]
    assert "a probability is between 0 and 1" in run(*words, 2, check=2).stderr


def test_a_model_without_probabilities_says_so(model: Path, table: Path) -> None:
    said = run("predict", model, table, "--probabilities", check=1).stderr
    assert "m has scores but no probabilities: train it with --folds 5 or --validation FILE, or use --scores" in said


def test_documents_are_named_and_in_order(tmp_path: Path) -> None:
    for label, text in {"cat": "purr miaow", "dog": "woof wow"}.items():
        (tmp_path / "docs" / label).mkdir(parents=True)
        for k in range(6):
            (tmp_path / "docs" / label / f"{k}.txt").write_text(f"{text}\n{text} {k}\n")
    train(tmp_path / "docs", "-o", tmp_path / "m", "--learner", "averaged")
    out = [line.split("\t") for line in run("predict", tmp_path / "m", tmp_path / "docs").stdout.splitlines()]
    assert [name for name, _ in out] == [
        str(tmp_path / "docs" / label / f"{k}.txt") for label in ("cat", "dog") for k in range(6)
    ]
    assert [label for _, label in out] == ["cat"] * 6 + ["dog"] * 6
    one = tmp_path / "docs" / "dog" / "3.txt"
    assert run("predict", tmp_path / "m", one).stdout == f"{one}\tdog\n"  # one answer for a document of two lines
    assert json.loads(run("evaluate", tmp_path / "m", tmp_path / "docs", "--json").stdout)["errors"] == 0


def test_a_file_without_a_header_has_the_columns_of_the_training(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("kind,p,q\n" + "".join(f"{'ab'[i % 2]},{i % 2},{i % 3}\n" for i in range(60)))
    train(tmp_path / "rows.csv", "--label", "kind", "-o", tmp_path / "m", "--learner", "averaged")
    (tmp_path / "bare.csv").write_text("1,2\n0,1\n1,0\n")
    assert run("predict", tmp_path / "m", tmp_path / "bare.csv").stdout == "b\na\nb\n"
    (tmp_path / "whole.csv").write_text("a,1,2\nb,0,1\n")
    assert run("predict", tmp_path / "m", tmp_path / "whole.csv").stdout == "b\na\n"
    (tmp_path / "odd.csv").write_text("1\n2\n")
    said = run("predict", tmp_path / "m", tmp_path / "odd.csv", check=1).stderr
    assert said.endswith("odd.csv has no header and 1 columns, but the model has 3\n")


def test_cells_that_are_no_numbers_are_said(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("p,q,kind\n" + "".join(f"{i % 2},{i % 3},{'ab'[i % 2]}\n" for i in range(60)))
    train(tmp_path / "rows.csv", "-o", tmp_path / "m", "--learner", "averaged", "--label", "kind")
    (tmp_path / "new.csv").write_text("p,q\n1,unknown\n0,$2.00\n")
    done = run("predict", tmp_path / "m", tmp_path / "new.csv")
    assert done.stdout == "b\na\n"
    assert done.stderr == "rosenblatt: q: read 1 cell as missing: 'unknown'\n"


@pytest.mark.parametrize("name", ["p.xlsx", "p.csv.gz", "p.json"])
def test_an_ending_that_the_answers_do_not_have_is_refused(table: Path, model: Path, tmp_path: Path, name: str) -> None:
    said = run("predict", model, table, "-o", tmp_path / name, check=2).stderr
    assert ".csv, .tsv, .jsonl, .parquet" in said
    assert not (tmp_path / name).exists()
    run("predict", model, table, "-o", tmp_path / name, "--to", "csv")
    assert (tmp_path / name).read_text().startswith("label\n")


def test_the_likeliest_and_a_threshold_exclude_each_other(table: Path, model: Path) -> None:
    assert "--top and --threshold" in run("predict", model, table, "--top", 1, "--threshold", 0, check=2).stderr
