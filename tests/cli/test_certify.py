"""The verbs `certify` and `trace`, from files to text, JSON, pages and pictures."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess

import pytest
from command import COMMAND

from rosenblatt.cli.load import read_matrix
from rosenblatt.cli.main import main
from rosenblatt.errors import RosenblattError

AND = "height,weight,label\n0,0,no\n0,1,no\n1,0,no\n1,1,yes\n"
XOR = "0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "and.csv").write_text(AND)
    (tmp_path / "xor.csv").write_text(XOR)
    return tmp_path


def run(verb, *words):
    return main([verb, *map(str, words)])


def test_the_command_knows_both_verbs(files, capsys):
    assert main(["certify", str(files / "xor.csv")]) == 0
    assert capsys.readouterr().out.startswith("not separable")
    assert main(["trace", str(files / "and.csv"), "--max-lines", "1"]) == 0
    assert "18 mistakes in 9 epochs" in capsys.readouterr().out
    assert main(["certify", str(files / "nothing.csv")]) == 1
    assert "nothing.csv" in capsys.readouterr().err


def test_certify_tells_the_margin_the_bound_and_the_weights_by_name(files, capsys):
    assert run("certify", files / "and.csv") == 0
    told = capsys.readouterr().out
    assert "separable" in told
    assert "0.242536 to 0.242536" in told
    assert "mistakes at most    51" in told
    assert "height" in told


def test_certify_prints_the_exact_combination(files, capsys):
    assert run("certify", files / "xor.csv") == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  1/4 of row 1 (no)",
        "  1/4 of row 2 (yes)",
        "  1/4 of row 3 (yes)",
        "  1/4 of row 4 (no)",
    ]


def test_weights_too_long_to_read_are_said_to_be_rounded(files, capsys):
    path = files / "t.csv"
    path.write_text("0.1,0.7,a\n0.9,0.3,a\n0.4,0.4,b\n0.6,0.62,b\n")
    assert run("certify", path) == 0
    assert capsys.readouterr().out.endswith("the weights are rounded here; --json has them exactly\n")


@pytest.mark.parametrize("name", ["and", "xor"])
def test_a_saved_certificate_is_checked_against_the_data(files, capsys, name):
    assert run("certify", files / f"{name}.csv", "--json") == 0
    proof = files / "proof.json"
    proof.write_text(capsys.readouterr().out)
    assert run("certify", files / f"{name}.csv", "--check", proof) == 0
    assert "proved: the rows are" in capsys.readouterr().out
    changed = files / "changed.csv"
    changed.write_text((files / f"{name}.csv").read_text().replace("1,0,no", "1,0,yes").replace("1,0,yes", "1,2,yes"))
    assert run("certify", changed, "--check", proof) == 1
    assert "not proved" in capsys.readouterr().out
    values = json.loads(proof.read_text())
    values["weights"][0] *= 2
    proof.write_text(json.dumps(values))
    assert run("certify", files / f"{name}.csv", "--check", proof) == 1


def test_no_verdict_is_an_exit_code_of_its_own(files, capsys):
    assert run("certify", files / "xor.csv", "--budget", "0") == 1
    assert capsys.readouterr().out.startswith("unknown")
    assert run("certify", files / "xor.csv", "--budget", "0", "--json") == 1
    proof = files / "proof.json"
    proof.write_text(capsys.readouterr().out)
    assert run("certify", files / "xor.csv", "--check", proof) == 1
    assert "verdict is unknown" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_files_that_are_no_certificates_are_refused(files, capsys, text):
    (files / "proof.json").write_text(text)
    assert run("certify", files / "and.csv", "--check", files / "proof.json") == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_certify_draws_and_writes_a_page(files, capsys):
    assert run("certify", files / "and.csv", "--plot", files / "and.png", "--html", files / "and.html") == 0
    assert (files / "and.png").read_bytes().startswith(b"\x89PNG")
    assert "mistakes at most    51" in (files / "and.html").read_text()
    assert run("certify", files / "xor.csv", "--plot", files / "xor.png") == 1
    assert "not separable" in capsys.readouterr().err
    assert run("certify", files / "and.csv", "--no-intercept") == 0
    assert "not separable" in capsys.readouterr().out


def test_trace_tells_every_step(files, capsys):
    assert run("trace", files / "and.csv", "--max-lines", "3") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "18 mistakes in 9 epochs, the last without a mistake"
    assert lines[-2] == "… 33 more steps"
    assert run("trace", files / "xor.csv", "--max-iter", "2") == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("the last still with mistakes")


def test_trace_in_json_and_csv(files, capsys):
    run("trace", files / "and.csv", "--json")
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    run("trace", files / "and.csv", "--csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(records) == len(rows) == 36
    assert records[-1]["w_after"] == [3.0, 2.0] == [float(rows[-1]["w_after_1"]), float(rows[-1]["w_after_2"])]


def test_trace_keeps_the_ledger(files, capsys):
    assert run("trace", files / "and.csv", "--ledger", "--plot", files / "ledger.png", "--html", files / "l.html") == 0
    assert "18 mistakes of at most 51" in capsys.readouterr().out
    assert (files / "ledger.png").read_bytes().startswith(b"\x89PNG")
    assert "18 mistakes of at most 51" in (files / "l.html").read_text()


def test_trace_draws_and_animates(files):
    run("trace", files / "and.csv", "--max-iter", "2", "--plot", files / "steps.gif", "--html", files / "steps.html")
    run("trace", files / "and.csv", "--plot", files / "mistakes.svg")
    assert (files / "steps.gif").read_bytes().startswith(b"GIF89a")
    assert '"text": "epoch 2, row 3' in (files / "steps.html").read_text()
    assert "<svg" in (files / "mistakes.svg").read_text()


def test_more_than_two_features_make_a_page_of_text(files, capsys):
    path = files / "three.csv"
    path.write_text("0,0,1,no\n0,1,0,yes\n")
    run("trace", path, "--html", files / "steps.html")
    assert capsys.readouterr().out.strip() in (files / "steps.html").read_text()
    assert run("trace", path, "--plot", files / "steps.gif") == 1
    assert "two features" in capsys.readouterr().err


def read(path, *words):
    options = dict(zip([word[2:] for word in words[::2]], words[1::2], strict=True))
    return read_matrix([str(path)], options, {}, raw=True)


def test_the_label_may_be_any_column(files):
    path = files / "t.csv"
    path.write_text("kind,a\ngood,1\nbad,2\n")
    X, y, names = read(path, "--label", "kind")
    assert (X.tolist(), y.tolist(), names) == ([[1.0], [2.0]], ["good", "bad"], ["a"])
    assert read(path, "--label", "1")[1].tolist() == ["good", "bad"]


def test_every_verb_takes_the_same_column_for_the_label(files, capsys):
    path = files / "t.csv"
    path.write_text("x,y,c\n1,p,3\n2,q,4\n3,p,5\n4,q,9\n")
    assert main(["train", str(path), "-o", str(files / "m"), "--learner", "perceptron"]) == 0
    assert "label: y" in capsys.readouterr().err
    for verb in ("certify", "trace"):
        assert main([verb, str(path)]) == 0
        assert "label: y; numbers: x, c" in capsys.readouterr().err
    path.write_text("x,y,c\n0,0,p\n0,1,q\n1,0,q\n1,1,p\n")  # here y is a coordinate
    assert main(["certify", str(path)]) == 0
    assert "label: c; numbers: x, y" in capsys.readouterr().err


def test_pipes_and_compressed_files_are_read(files):
    packed = files / "and.csv.gz"
    packed.write_bytes(gzip.compress(AND.encode()))
    assert read(packed)[0].tolist() == read(files / "and.csv")[0].tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    words = [*COMMAND, "certify", "-"]
    done = subprocess.run(words, input=XOR, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "  1/4 of row 1 (no)"
    (files / "and.svm").write_text("0 1:0 2:0\n0 1:0 2:1\n0 1:1 2:0\n1 1:1 2:1\n")
    assert main(["certify", str(files / "and.svm")]) == 0


@pytest.mark.parametrize(
    ("text", "label", "sentence"),
    [
        ("", None, "is empty"),
        ("a\n1\n2\n", None, "has only one column, 'a'"),
        ("a,b\n", None, "has a header and no rows"),
        ("1,2,x\n1,y\n", None, "line 2: it has 2 cells instead of 3"),
        ("1,2,x\n1,z,y\n3,4,x\n", None, "line 2: there is no number in the column '2'"),
        ("a,b\n1,x\n", "c", "there is no such column; the 2 are a, b"),
        ("a,b\n1,x\n", "3", "there is no such column; the 2 are a, b"),
    ],
)
def test_a_bad_file_is_named_with_its_line(files, text, label, sentence):
    path = files / "bad.csv"
    path.write_text(text)
    with pytest.raises(RosenblattError, match=sentence):
        read(path, "--format", "csv", *(["--label", label] if label else []))
