"""predict: answers that line up with the data, in every form, also of pipes."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from command import COMMAND, run, train
from written import put

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
    """A model of labeled lines."""
    (tmp_path / "texts").write_text("spam\twin money now\nham\tsee you at noon\n" * 10)
    train(tmp_path / "texts", "-o", tmp_path / "t", "--learner", "averaged")
    return tmp_path / "t"


def test_blank_records_and_bad_ones_have_an_empty_answer(model: Path, tmp_path: Path) -> None:
    path = put(tmp_path / "new.csv", "id,p,q\nx,0,1\n\ny,6,1\nbad\nz,0,3\n")
    said = run("predict", model, path, "--skip-bad")
    labels = said.stdout.split("\n")
    assert len(labels) == 6
    assert [bool(label) for label in labels] == [True, False, True, False, True, False]
    assert "skipped 1 bad line:" in said.stderr
    assert "new.csv, line 5: it has 1 cell instead of 3" in run("predict", model, path, check=1).stderr
    (tmp_path / "new.jsonl").write_text('{"p": 0, "q": 1}\n\n{"p": 6}\n{"q"\n{}\n')
    labels = run("predict", model, tmp_path / "new.jsonl", "--skip-bad").stdout.split("\n")
    assert [bool(label) for label in labels] == [True, False, True, False, True, False]


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


def test_tags_of_vw_can_be_passed(tmp_path: Path) -> None:
    rows, learned = tmp_path / "rows.vw", tmp_path / "vw.model"
    rows.write_text("1 'one|w free\n-1 2.0 two|w lunch\n1 |w free\n-1 ' |w lunch\n")
    run("train", rows, "-o", learned, "--learner", "perceptron", "--quiet")
    assert run("predict", learned, rows, "--pass", "tag").stdout == "one\t1\ntwo\t-1\n\t1\n\t-1\n"
    assert run("predict", learned, rows, "--pass", "tag", "--pass", "*").stdout.startswith("one\t1 'one|w free\t1\n")
    said = run("predict", learned, "-", input="a,b\n", check=1).stderr
    assert "standard input, line 1: there is no '|'; the model reads vw lines; --skip-bad" in said
    said = run("predict", learned, rows, "--pass", "id", check=1).stderr
    assert said.endswith("there is no column 'id'; lines of vw have *, the whole line, and tag\n")


def test_the_top_classes(model: Path, table: Path) -> None:
    scores = [json.loads(line)["scores"] for line in run("predict", model, table, "--json").stdout.splitlines()]
    rows = run("predict", model, table, "--top", 2).stdout.splitlines()
    lines = run("predict", model, table, "--top", 2, "--json").stdout.splitlines()
    for row, line, each in zip(rows, lines, scores, strict=True):
        expected = [{"label": label, "score": each[label]} for label in sorted(each, key=lambda label: -each[label])]
        first, high, second, low = row.split("\t")
        assert [{"label": first, "score": float(high)}, {"label": second, "score": float(low)}] == expected[:2]
        assert json.loads(line)["top"] == expected[:2]
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


SVM = "".join(f"{i % 3} 1:{i % 7} 2:{i * i % 11}\n" for i in range(200)).encode()
CSV = ("size,kind,late\n" + "".join(f"{i % 9},{'ab'[i % 2]},{'ny'[i % 3 > 0]}\n" for i in range(99))).encode()


@pytest.fixture
def pipe(tmp_path: Path) -> Any:
    """Makes pipes that give these bytes, once."""
    writers = []

    def make(content: bytes, name: str = "pipe") -> Path:
        path = tmp_path / name
        os.mkfifo(path)
        writers.append(threading.Thread(target=path.write_bytes, args=(content,), daemon=True))
        writers[-1].start()
        return path

    yield make
    for writer in writers:
        writer.join(20)


@pytest.mark.parametrize("content", [SVM, CSV], ids=["svmlight", "csv"])
@pytest.mark.parametrize(
    ("learner", "pack"),
    [
        ("averaged", bytes),
        ("auto", bytes),
        ("auto", gzip.compress),
        ("averaged", lzma.compress),
        ("averaged", bz2.compress),
    ],
)
def test_a_pipe_gives_the_bytes_of_a_file(tmp_path: Path, pipe: Any, content: bytes, learner: str, pack: Any) -> None:
    file, model = put(tmp_path / "file", content), tmp_path / "m"
    run("train", file, "--learner", learner, "-o", tmp_path / "expected")
    run("train", pipe(pack(content)), "--learner", learner, "-o", model)
    assert model.read_bytes() == (tmp_path / "expected").read_bytes()
    for verb in ("predict", "evaluate"):
        assert run(verb, model, pipe(pack(content), verb)).stdout == run(verb, model, file).stdout
    done = subprocess.run([*COMMAND, "predict", model, "-"], input=pack(content), capture_output=True)
    assert done.stdout.decode() == run("predict", model, file).stdout


@pytest.mark.parametrize("content", [SVM, CSV], ids=["svmlight", "csv"])
def test_rows_that_judge_may_come_through_a_pipe(tmp_path: Path, pipe: Any, content: bytes) -> None:
    file = put(tmp_path / "file", content)
    words = ["train", file, "--learner", "averaged", "--json"]
    expected = json.loads(run(*words, "--validation", file, "-o", tmp_path / "expected").stdout)
    found = json.loads(run(*words, "--validation", pipe(content), "-o", tmp_path / "m").stdout)
    assert found["held_out"]["figures"] == expected["held_out"]["figures"]
    assert (tmp_path / "m").read_bytes() == (tmp_path / "expected").read_bytes()


@pytest.mark.parametrize(("content", "words", "fact"), [(SVM, ["--checkpoint", "c"], "resumed"), (b"", [], "is empty")])
def test_a_pipe_cannot_be_resumed_or_empty(
    tmp_path: Path, pipe: Any, content: bytes, words: list[str], fact: str
) -> None:
    path = pipe(content)
    said = run("train", path, "--learner", "averaged", "--quiet", "-o", tmp_path / "m", *words, check=1).stderr
    assert said.startswith(f"rosenblatt: {path} ")
    assert fact in said
    assert not (tmp_path / "m").exists()
