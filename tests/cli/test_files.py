"""train, predict, evaluate, inspect and export, as a user runs them."""

import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import COMMAND, run, train, write_workbook

import rosenblatt
from rosenblatt import load

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


def test_words_are_shown_not_numbers(real_data, tmp_path):
    train(real_data / "sms_spam/SMSSpamCollection.gz", "-o", tmp_path / "m", "--learner", "averaged")
    tops = json.loads(run("inspect", tmp_path / "m", "--json").stdout)["top_features"]
    assert {"txt", "call", "free"} <= {name for name, _ in tops["spam"]}


@pytest.mark.parametrize("learner", ["perceptron", "averaged", "voted", "pocket", "pa", "pa1", "pa2", "arow", "kernel"])
def test_every_learner(rows, tmp_path, learner):
    facts = train(rows, "-o", tmp_path / "m", "--learner", learner, "--max-iter", 3)
    wants_more = learner in ("pa2", "arow")  # their margins come near 1 only in the limit
    assert facts["stop_reason"] == ("max_iter" if wants_more else "converged")
    assert facts["mistakes"][-1] == 0
    result = json.loads(run("evaluate", tmp_path / "m", rows, "--json").stdout)
    assert result["errors"] == 0


def test_options_that_need_all_rows_go_through_the_class(rows, tmp_path):
    words = ["--multiclass", "ovr", "--class-weight", "balanced", "--early-stopping", "--n-init", "2", "--seed", "3"]
    assert train(rows, "-o", tmp_path / "m", *words)["rows"] == 400
    parameters = load(tmp_path / "m").parameters
    assert parameters["n_init"] == 2
    assert parameters["early_stopping"] is True


def test_an_option_of_its_own_needs_a_learner_or_means_averaged(rows, tmp_path):
    assert train(rows, "-o", tmp_path / "m", "--eta0", 2)["learner"] == "averaged"
    said = run("train", rows, "-o", tmp_path / "m", "--learner", "auto", "--eta0", 2, check=2).stderr
    assert said.startswith("rosenblatt: --eta0 cannot be combined with --learner auto")


def test_a_kernel_model_from_a_file(tmp_path):
    """Exclusive or: no hyperplane separates it, the kernel does."""
    data = tmp_path / "xor.csv"
    data.write_text("a,b,y\n" + "0,0,same\n0,1,other\n1,0,other\n1,1,same\n" * 3)
    words = ["--learner", "kernel", "--gamma", "1", "--keep", "average", "--report", tmp_path / "r.html"]
    facts = train(data, "-o", tmp_path / "m", *words)
    assert facts["stop_reason"] == "converged"
    assert run("predict", tmp_path / "m", data).stdout == "same\nother\nother\nsame\n" * 3
    shown = json.loads(run("inspect", tmp_path / "m", "--json").stdout)
    assert shown["support_rows"] == 4
    assert shown["parameters"]["gamma"] == 1.0
    assert "4 support rows" in run("inspect", tmp_path / "m").stdout
    assert "a kernel model has support rows instead of weights" in (tmp_path / "r.html").read_text()
    for to in ("json", "c", "onnx"):
        said = run("export", tmp_path / "m", "--to", to, check=1).stderr
        why = "a kernel model has support rows instead of weights: only rosenblatt itself can predict with it"
        assert said == f"rosenblatt: {why}\n"
    budget = ["--learner", "kernel", "--budget", 2, "--policy", "forget-oldest", "--rule", "PA-I", "--C", "0.5"]
    train(data, "-o", tmp_path / "m", *budget)
    assert load(tmp_path / "m").support_rows == 2


def test_options_of_another_learner_are_refused(rows, tmp_path):
    for words, why in [
        (["--learner", "averaged", "--C", "1"], "--C is not an option of --learner averaged"),
        (["--learner", "pa1", "--r", "1"], "--r is not an option of --learner pa1; use --learner arow"),
        (["--learner", "arow", "--eta0", "1"], "--eta0 is not an option of --learner arow"),
        (["--learner", "kernel", "--eta0", "1"], "--eta0 is not an option of --learner kernel"),
        (["--learner", "kernel", "--n-init", "2"], "--n-init is not an option of --learner kernel"),
    ]:
        assert run("train", rows, "-o", tmp_path / "m", *words, check=2).stderr.startswith(f"rosenblatt: {why}")


def test_a_pipe_in_and_a_pipe_out(rows, tmp_path):
    facts = json.loads(run("train", "-", "-o", tmp_path / "m", "--json", input=rows.read_text()).stdout)
    assert facts["rows"] == 400
    assert run("predict", tmp_path / "m", input="1:1\n\n1 2:1\n").stdout == "0\n\n1\n"
    out = run("predict", tmp_path / "m", "--json", input="1 2:1\n").stdout
    assert json.loads(out)["label"] == 1
    assert float(run("predict", tmp_path / "m", "--scores", input="1 2:1\n").stdout.split("\t")[1]) > 0


@pytest.mark.parametrize("kind", ["svmlight", "csv"])
def test_predict_answers_on_an_endless_pipe(rows, tmp_path, kind):
    head, lines = "", ["1 1:1", "1 2:1"]
    data = rows
    if kind == "csv":
        data = tmp_path / "rows.csv"
        data.write_text("a,b,y\n" + "".join(f"{i % 2},{i % 7},{i % 2}\n" for i in range(400)))
        head, lines = "a,b\n", ["0,3", "1,3"]
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
    assert "svmlight: a column a feature" in said
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
    for part in (rb"epoch 3/3", rb"[\d,]+ rows/s", rb"0\.00% mistakes", rb"(\d+:\d\d:\d\d|-:--:--)"):
        assert re.search(part, shown), shown


def test_errors_are_one_sentence_and_an_exit_code(rows, tmp_path):
    assert run("train", check=2).stderr == "rosenblatt: name the data: rosenblatt train DATA -o MODEL\n"
    assert run("train", tmp_path / "none", "-o", "m", check=1).stderr.endswith("none: there is no such file\n")
    assert "svm" in run("train", rows, "-o", "m", "--learner", "svm", check=2).stderr
    assert "eta0=-1.0: must be above 0" in run("train", rows, "-o", "m", "--eta0", "-1", check=2).stderr
    assert (
        "--gamma needs a learner; use --learner kernel" in run("train", rows, "-o", "m", "--gamma", 1, check=2).stderr
    )
    (tmp_path / "m").write_bytes(b"not a model")
    assert "is not a rosenblatt model" in run("predict", tmp_path / "m", rows, check=1).stderr
    rows.write_text("1 1:1\n0 x\n")
    assert run("train", rows, "-o", tmp_path / "m", check=1).stderr.endswith(
        "rows.svm, line 2: 'x' is not a feature: it must be index:value; --skip-bad goes on without such lines\n"
    )


def test_a_new_user_gets_one_sentence_each(rows, tmp_path):
    train(rows, "-o", tmp_path / "good", "--learner", "averaged")
    for name, content in {
        "empty": b"",
        "blank": b"\n\n",
        "header.csv": b"a,b,y\n",
        "ragged.csv": b"a,b,y\n1,2,p\n3,4\n",
        "binary": bytes(range(256)) * 8,
        "binary.csv": b"a\rb,\xff\r\n" + bytes(range(1, 256)),
        "binary.parquet": b"PAR1" + bytes(range(256)),
        "cut.gz": b"\x1f\x8bnothing",
        "half": (tmp_path / "good").read_bytes()[:200],
    }.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    at = {path.name: path for path in tmp_path.iterdir()}
    cases = [
        (1, ["train", at["empty"], "-o", "m"], "empty is empty"),
        (1, ["train", at["blank"], "-o", "m"], "blank is empty"),
        (1, ["train", at["header.csv"], "-o", "m"], "header.csv has a header and no rows"),
        (1, ["train", at["ragged.csv"], "-o", "m"], "ragged.csv, line 3: it has 2 cells instead of 3"),
        (1, ["train", at["binary"], "-o", "m"], "neither text nor a format that is known by its first bytes"),
        (1, ["train", at["binary.csv"], "-o", "m"], "binary.csv, line 2: it has 2 cells instead of 1"),
        (1, ["train", at["binary.parquet"], "-o", "m"], "binary.parquet"),
        (1, ["train", at["cut.gz"], "-o", "m"], "cut.gz cannot be decompressed"),
        (1, ["train", at["folder"], "-o", "m"], "folder: the folder has no data"),
        (1, ["train", rows, "-o", tmp_path / "no" / "m"], f"m cannot be written: there is no folder {tmp_path / 'no'}"),
        (1, ["train", rows, "-o", at["folder"]], "folder cannot be written: it is a folder"),
        (
            1,
            ["train", rows, "-o", "m", "--checkpoint", tmp_path / "no" / "c"],
            "c cannot be written: there is no folder",
        ),
        (2, ["train", rows, "-o", "m", "--label", "x"], "label names a column, and svmlight lines have none"),
        (2, ["train", rows, "-o", "m", "--max-iter", 0], "--max-iter"),
        (2, ["train", rows, "-o", "m", "--bits", 99], "bits=99: must be a whole number from 1 to 30"),
        (
            2,
            ["train", rows, "-o", "m", "--checkpoint-every", "3x"],
            "'3x': write 30s|5m|1h",
        ),
        (2, ["train", rows], "name the model file"),
        (1, ["train", "--resume", at["good"]], "good is a rosenblatt model, not a checkpoint"),
        (1, ["predict", at["half"], rows], "half is not a rosenblatt model, or it is truncated"),
        (1, ["predict", at["folder"], rows], "folder is a folder, not a rosenblatt model"),
        (
            1,
            ["predict", at["good"], rows, "-o", tmp_path / "no" / "x"],
            f"x cannot be written: there is no folder {tmp_path / 'no'}",
        ),
        (1, ["predict", at["good"], at["binary"]], "binary, line 1: "),
        (2, ["predict"], "MODEL"),
        (1, ["evaluate", at["good"], at["empty"]], "the data has no rows"),
        (2, ["inspect", at["good"], "--top", -1], "--top"),
        (2, ["export", at["good"]], "--to"),
        (1, ["compare", at["empty"]], "empty is empty"),
        (2, ["compare", rows, "--folds", 1], "--folds"),
        (1, ["tune", tmp_path / "none"], "none: there is no such file"),
        (1, ["certify", tmp_path / "none"], "none: there is no such file"),
        (1, ["certify", at["binary"]], "binary is neither text nor a format that is known by its first bytes"),
        (1, ["trace", at["folder"]], "folder: the folder has no data"),
        (2, ["tran"], "tran"),
    ]
    for code, words, why in cases:
        done = run(*words, check=code)
        assert why in done.stderr, words
        assert done.stderr.startswith("rosenblatt"), done.stderr
        last = done.stderr.splitlines()[-1]
        assert why in last, words
        assert "Traceback" not in done.stderr
        assert "Errno" not in done.stderr
    assert not (tmp_path / "m").exists()


def test_skip_bad_is_reported(rows, tmp_path):
    rows.write_text(rows.read_text() + "1 x\n")
    done = run("train", rows, "-o", tmp_path / "m", "--skip-bad", "--json")
    assert "skipped 1 bad line:" in done.stderr
    assert json.loads(done.stdout)["bad_lines"] == 1


def test_the_report_stands_alone(rows, tmp_path):
    run("train", rows, "-o", tmp_path / "m", "--report", tmp_path / "t.html")
    run("evaluate", tmp_path / "m", rows, "--report", tmp_path / "e.html")
    for name in "te":
        page = (tmp_path / f"{name}.html").read_text()
        assert "Confusion matrix" in page
        assert "Mistakes per epoch" in page
        assert "http" not in page
        assert "<script" not in page


def test_labels_are_escaped_in_the_report(tmp_path):
    (tmp_path / "x").write_text("<b>\thello\n&amp\tbye now\n" * 5)
    run("train", tmp_path / "x", "-o", tmp_path / "m", "--report", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


@pytest.mark.parametrize("to", ["json", "c"])
def test_export(rows, tmp_path, to):
    train(rows, "-o", tmp_path / "m")
    run("export", tmp_path / "m", "--to", to, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text() == run("export", tmp_path / "m", "--to", to).stdout


def test_a_reader_that_has_seen_enough_is_no_error(rows, tmp_path):
    train(rows, "-o", tmp_path / "m")
    many = tmp_path / "many.svm"
    many.write_text("1 1:1\n" * 200_000)
    words = " ".join(map(str, [*COMMAND, "predict", tmp_path / "m", many]))
    done = subprocess.run(
        f"set -o pipefail; {words} | head -1", shell=True, executable="/bin/bash", capture_output=True
    )
    assert done.stdout == b"0\n"
    assert done.stderr == b""
    assert done.returncode == 0


@pytest.mark.parametrize("verb", ["demo", "inspect"])
def test_a_pipe_that_is_closed_at_once_is_no_error(rows, tmp_path, verb):
    train(rows, "-o", tmp_path / "m", "--learner", "averaged")
    words = " ".join(map(str, [*COMMAND, verb, *([tmp_path / "m"] if verb == "inspect" else [])]))
    done = subprocess.run(f"set -o pipefail; {words} | true", shell=True, executable="/bin/bash", capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("verb", ["predict", "evaluate", "inspect"])
def test_what_only_predicts_loads_neither_learners_nor_scipy(rows, tmp_path, verb):
    train(rows, "-o", tmp_path / "m")
    code = (
        "import sys; from rosenblatt.cli.main import main; main(sys.argv[1:]); "
        "print([m for m in sys.modules if m.startswith(('sklearn', 'scipy', 'pandas', 'rosenblatt.learners.'))])"
    )
    words = [sys.executable, "-c", code, verb, str(tmp_path / "m"), *([str(rows)] if verb != "inspect" else [])]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.endswith("\n[]\n")


def test_a_model_that_was_trained_in_python_reads_files(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0], "y": ["n", "n", "p", "p"]})
    learner = rosenblatt.Perceptron(tol=None).fit(frame[["a", "b"]], frame["y"])
    rosenblatt.save(learner, tmp_path / "m")
    frame[["b", "y", "a"]].to_csv(tmp_path / "x.csv", index=False)
    assert run("predict", tmp_path / "m", tmp_path / "x.csv").stdout == "n\nn\np\np\n"
    out = run("evaluate", tmp_path / "m", tmp_path / "x.csv", "--label", "y", "--json").stdout
    assert json.loads(out)["errors"] == 0
    (tmp_path / "x.csv").write_text("a,b\n1,2\n,1\n")
    said = run("predict", tmp_path / "m", tmp_path / "x.csv", check=1).stderr
    assert said.endswith("x.csv, line 3: there is no number in the column 'a'; --skip-bad goes on without such lines\n")
    (tmp_path / "x.svm").write_text("0 0:3\n")
    assert run("predict", tmp_path / "m", tmp_path / "x.svm").stdout == "p\n"


def test_the_options_that_help_knows_are_those_of_the_readers():
    from rosenblatt.cli import options
    from rosenblatt.encode import lines
    from rosenblatt.io import formats

    assert options.FORMATS == formats.FORMATS
    assert options.GRAMS == lines.GRAMS
    assert options.BITS == lines.BITS


@pytest.mark.slow
def test_kill_at_any_moment_and_resume(tmp_path):
    """A few of the hundred moments that benchmarks/files.py tries."""
    data = tmp_path / "x.svm"
    data.write_text(
        "".join(
            f"{(i * 7919) % 3} " + " ".join(f"{j}:{(i * j) % 13}" for j in range(1, 20)) + "\n" for i in range(9000)
        )
    )
    words = [data, "--max-iter", 4, "--tol", "-1", "--block", 200]
    run("train", *words, "-o", tmp_path / "expected")
    expected = (tmp_path / "expected").read_bytes()
    for turn, wait in enumerate([0.6, 0.9, 1.2]):
        model, checkpoint = tmp_path / f"m{turn}", tmp_path / f"c{turn}"
        start = [*COMMAND, "train", *words, "-o", model, "--checkpoint", checkpoint, "--checkpoint-every", "0s"]
        process = subprocess.Popen([str(word) for word in start], stderr=subprocess.DEVNULL)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if model.exists():
            assert model.read_bytes() == expected
        if not checkpoint.exists():  # killed before the run began
            continue
        run("train", "--resume", checkpoint, "-o", model)
        assert model.read_bytes() == expected
        assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


def test_sheet_of_a_workbook(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    book, rows = tmp_path / "x.xlsx", [["size", "kind"], *([str(k), "ab"[k % 2]] for k in range(40))]
    write_workbook(book, {"first": [["u", "v"], ["1", "2"]], "second one": rows})
    words = [book, "--learner", "averaged", "--max-iter", "2", "--block", "8"]
    for sheet in ("2", "second one"):
        assert train(*words, "--sheet", sheet, "-o", tmp_path / "m")["classes"] == ["a", "b"]
    assert len(run("predict", tmp_path / "m", book, "--sheet", "2").stdout.splitlines()) == 40
    run("train", book, "--sheet", "3", "-o", tmp_path / "n", check=1)
    train(*words, "--sheet", "2", "-o", tmp_path / "m", "--checkpoint", tmp_path / "c")
    train("--resume", tmp_path / "c", "-o", tmp_path / "again")
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
    (tmp_path / "x.csv").write_text("size,kind\n1,b\n2,a\n")
    train(address, "--query", query, "--validation", tmp_path / "x.csv", "-o", tmp_path / "m")
    run("train", tmp_path / "x.csv", "--query", query, "-o", tmp_path / "n", check=2)
    before = base.read_bytes()
    run("train", address, "--query", query, "-o", base, check=2)
    assert base.read_bytes() == before
