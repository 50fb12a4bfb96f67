"""train, predict, evaluate, inspect and export, as a user runs them."""

import contextlib
import hashlib
import json
import os
import re
import sqlite3
import subprocess
from pathlib import Path

import pytest
from command import COMMAND, run, train, write_workbook
from written import put

REAL = [
    # data, what evaluate reads, options, the share that always naming one class gets right (from the data's own counts)
    ("sms_spam/SMSSpamCollection.gz", "sms_spam/SMSSpamCollection.gz", [], 4827 / 5574),
    ("uci_spambase/spambase.data.gz", "uci_spambase/spambase.data.gz", ["--label", "58"], 2788 / 4601),
    ("stream_elec/elec.csv.xz", "stream_elec/elec.csv.xz", ["--label", "class"], 26075 / 45312),
    ("libsvm_a9a/a9a.xz", "libsvm_a9a/a9a.t.gz", [], 12435 / 16281),
]


@pytest.mark.parametrize(("data", "test", "options", "majority"), REAL, ids=[r[0].split("/")[0] for r in REAL])
def test_real_data_with_one_command_each(real_data, tmp_path, data, test, options, majority):
    facts = train(real_data / data, "-o", tmp_path / "m", *options)
    result = json.loads(run("evaluate", tmp_path / "m", real_data / test, "--json").stdout)
    assert result["baseline"] == pytest.approx(majority)
    assert result["interval"][0] > majority
    labels = run("predict", tmp_path / "m", real_data / test).stdout.split("\n")[:-1]
    assert len(labels) == result["rows"]
    assert set(labels) <= {str(label) for label in facts["classes"]}
    shown = run("inspect", tmp_path / "m").stdout
    assert facts["choice"] in shown
    assert len(facts["tried"]) > 1


def test_an_option_of_its_own_needs_a_learner_or_means_averaged(rows, tmp_path):
    assert train(rows, "-o", tmp_path / "m", "--eta0", 2)["learner"] == "averaged"
    said = run("train", rows, "-o", tmp_path / "m", "--learner", "auto", "--eta0", 2, check=2).stderr
    assert said.startswith("rosenblatt: --eta0 cannot be combined with --learner auto")


@pytest.mark.parametrize("kind", ["svmlight", "csv", "csv without a header"])
def test_predict_answers_on_an_endless_pipe(rows, tmp_path, kind):
    head, lines = "", ["1 1:1", "1 2:1"]
    data = rows
    if "csv" in kind:
        data = put(tmp_path / "rows.csv", "a,b,y\n" + "".join(f"{i % 2},{i % 7},{i % 2}\n" for i in range(400)))
        head, lines = "" if "without" in kind else "a,b\n", ["0,3", "1,3"]
    train(data, "-o", tmp_path / "m")
    process = subprocess.Popen(
        [*COMMAND, "predict", tmp_path / "m"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    process.stdin.write(head)
    for line, expected in zip(lines * 3, ["0\n", "1\n"] * 3, strict=True):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == expected  # before the next line is written
    process.stdin.close()
    assert process.wait() == 0
    process.stdout.close()


def test_what_it_guessed_is_said_and_the_verdict(rows, tmp_path):
    said = run("train", rows, "-o", tmp_path / "m").stderr
    assert "svmlight; features by number, a column each" in said
    assert "none in the last" in said
    assert "mistakes in the first pass" in said
    assert "\r" not in said  # no bar in a pipe


def test_a_terminal_shows_a_bar(rows, tmp_path):
    """The bar's last picture, drawn when the run is done."""
    outside, inside = os.openpty()
    words = [*COMMAND, "train", str(rows), "-o", str(tmp_path / "m"), "--learner", "averaged", "--max-iter", "3"]
    environment = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
    process = subprocess.Popen(words, stderr=inside, stdout=subprocess.DEVNULL, env=environment)
    os.close(inside)
    shown = b""
    with contextlib.suppress(OSError):  # how a terminal says that its other end is closed
        while piece := os.read(outside, 4096):
            shown += piece
    os.close(outside)
    assert process.wait() == 0
    for part in (rb"[23]/3", rb"0 mistakes", rb"(\d+:\d\d:\d\d|-:--:--)"):
        assert re.search(part, shown), shown


def test_a_new_user_gets_one_sentence_each(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train(rows, "-o", "good", "--learner", "averaged")
    for name, content in {
        "empty": b"",
        "header.csv": b"a,b,y\n",
        "table.csv": b"a,b,y\n1,2,p\n3,4,q\n",
        "half": Path("good").read_bytes()[:200],
    }.items():
        put(Path(name), content)
    Path("folder").mkdir()
    cases = [
        (1, "train empty -o m", "empty is empty"),
        (1, "train header.csv -o m", "header.csv has a header and no rows"),
        (1, "train folder -o m", "folder: the folder has no data"),
        (1, "train rows.svm -o no/m", "m cannot be written: there is no folder no"),
        (1, "train rows.svm -o m --checkpoint no/c", "c cannot be written: there is no folder no"),
        (2, "train rows.svm -o m --label x", "label names a column, and svmlight lines have none"),
        (2, "train rows.svm -o m --group x", "group or time names a column, and svmlight lines have none"),
        (2, "train rows.svm -o m --max-iter 0", "--max-iter"),
        (2, "train rows.svm -o m --checkpoint-every 3x", "--checkpoint-every"),
        (2, "train rows.svm", "--output"),
        (2, "train -o m", "DATA"),
        (2, "train rows.svm -o m --learner svm", "svm"),
        (2, "train header.csv --label a --label b -o m", "a, b"),
        (2, "train table.csv --label x -o m", "--label 'x'"),
        (1, "train rows.svm --checkpoint good --resume -o m", "is a rosenblatt model, not a checkpoint"),
        (1, "predict half rows.svm", "half is not a rosenblatt model, or it is truncated"),
        (1, "predict good rows.svm -o no/x", "x cannot be written: there is no folder no"),
        (2, "predict", "MODEL"),
        (1, "evaluate good empty", "the data has no rows"),
        (2, "evaluate good - --against good", "--against reads the data twice"),
        (2, "inspect good --top -1", "--top"),
        (2, "export good", "--to"),
        (2, "compare rows.svm --folds 1", "--folds"),
        (1, "certify none", "none: there is no such file"),
        (2, "trian", "'train'"),
        (2, "train rows.svm -o m --lable y", "No such option '--lable'. Did you mean '--label'?"),
        (2, "train rows.svm -o", "see `rosenblatt train --help`"),
    ]
    for code, words, why in cases:
        said = run(*words.split(), check=code).stderr
        assert said.startswith("rosenblatt"), words
        assert why in said.splitlines()[-1], words
        assert "Traceback" not in said
        assert "Errno" not in said
    assert not Path("m").exists()


def test_the_report_stands_alone(rows, tmp_path):
    run("train", rows, "-o", tmp_path / "m", "--report", tmp_path / "t.html")
    run("evaluate", tmp_path / "m", rows, "--report", tmp_path / "e.html")
    for name in "te":
        page = (tmp_path / f"{name}.html").read_text()
        assert "Confusion matrix" in page
        assert "Mistakes per epoch" in page
        assert "http" not in page
        assert "<script" not in page


def test_sheet_of_a_workbook(tmp_path: Path) -> None:
    book, rows = tmp_path / "x.xlsx", [["size", "kind"], *([str(k), "ab"[k % 2]] for k in range(40))]
    write_workbook(book, {"first": [["u", "v"], ["1", "2"]], "second one": rows})
    words = [book, "--learner", "averaged", "--max-iter", "2"]
    for sheet in ("2", "second one"):
        assert train(*words, "--sheet", sheet, "-o", tmp_path / "m")["classes"] == ["a", "b"]
    assert len(run("predict", tmp_path / "m", book, "--sheet", "2").stdout.splitlines()) == 40
    run("train", book, "--sheet", "3", "-o", tmp_path / "n", check=1)
    train(*words, "--sheet", "2", "-o", tmp_path / "m", "--checkpoint", tmp_path / "c")
    train(*words, "--sheet", "2", "-o", tmp_path / "again", "--checkpoint", tmp_path / "c", "--resume")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_query_of_a_database(tmp_path: Path) -> None:
    base = tmp_path / "x.db"
    with contextlib.closing(sqlite3.connect(base)) as database:
        database.execute("create table people (size real, kind text, note text)")
        database.executemany("insert into people values (?, ?, 'n')", [(k, "ab"[k % 2]) for k in range(40)])
        database.commit()
    address, query = f"sqlite:///{base}", "select size, kind from people where size < 30"
    found = train(address, "--query", query, "--learner", "averaged", "-o", tmp_path / "m")
    assert (found["rows"], found["classes"]) == (30, ["a", "b"])
    assert len(run("predict", tmp_path / "m", address, "--query", query).stdout.splitlines()) == 30
    assert "arrow" not in run("train", address, "--query", query, "-o", tmp_path / "m").stderr
    (tmp_path / "x.csv").write_text("size,kind\n1,b\n2,a\n")
    train(address, "--query", query, "--validation", tmp_path / "x.csv", "-o", tmp_path / "m")
    run("train", tmp_path / "x.csv", "--query", query, "-o", tmp_path / "n", check=2)
    before = base.read_bytes()
    run("train", address, "--query", query, "-o", base, check=2)
    assert base.read_bytes() == before


def test_train_and_inspect_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "x.svm").write_text("1 1:1\n0 2:1\n" * 20)
    model = tmp_path / "m"
    told = run("train", tmp_path / "x.svm", "-o", model).stderr
    expected = hashlib.sha256(model.read_bytes()).hexdigest()
    assert f"wrote {model} (SHA-256 {expected})" in told
    assert f"SHA-256     {expected}\n" in run("inspect", model).stdout
    assert json.loads(run("inspect", model, "--json").stdout)["sha256"] == expected
    facts = train(tmp_path / "x.svm", "-o", model)
    assert facts["sha256"] == expected
    assert train(tmp_path / "x.svm", "-o", "/dev/null")["sha256"] is None
