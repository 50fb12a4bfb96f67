"""The verbs `certify` and `trace`, from files to text, JSON, pages and pictures."""

import json

import pytest
from command import run
from written import put

AND = "height,weight,label\n0,0,no\n0,1,no\n1,0,no\n1,1,yes\n"
XOR = "0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n"


@pytest.fixture
def files(tmp_path):
    put(tmp_path / "xor.csv", XOR)
    return put(tmp_path / "and.csv", AND).parent


def test_certify_tells_the_margin_the_bound_and_the_weights_by_name(files):
    told = run("certify", files / "and.csv").stdout
    for fact in ("separable", "0.242536 to 0.242536", "mistakes at most    51", "height"):
        assert fact in told


@pytest.mark.parametrize("name", ["and", "xor"])
def test_a_saved_certificate_is_checked_against_the_data(files, name):
    data = files / f"{name}.csv"
    proof = put(files / "proof.json", run("certify", data, "--json").stdout)
    assert "proved: the rows are" in run("certify", data, "--check", proof).stdout
    text = data.read_text().replace("1,0,no", "1,2,yes").replace("1,0,yes", "1,2,yes")
    changed = put(files / "changed.csv", text)
    assert "not proved" in run("certify", changed, "--check", proof, check=1).stdout
    values = json.loads(proof.read_text())
    values["weights"][0] *= 2
    proof.write_text(json.dumps(values))
    run("certify", data, "--check", proof, check=1)


def test_no_verdict_is_an_exit_code_of_its_own(files):
    words = ["certify", files / "xor.csv", "--budget", "0"]
    assert run(*words, check=1).stdout.startswith("unknown")
    proof = put(files / "proof.json", run(*words, "--json", check=1).stdout)
    assert "verdict is unknown" in run("certify", files / "xor.csv", "--check", proof, check=1).stderr


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_files_that_are_no_certificates_are_refused(files, text):
    proof = put(files / "proof.json", text)
    assert run("certify", files / "and.csv", "--check", proof, check=1).stderr.count("\n") == 1


def test_trace_tells_every_step(files):
    shown = run("trace", files / "and.csv", "--max-lines", "3")
    assert shown.stdout.splitlines()[-2:] == ["… 33 more steps", "18 mistakes in 9 epochs, none in the last"]
    assert "converged" not in shown.stderr
    shown = run("trace", files / "xor.csv", "--max-iter", "2")
    assert shown.stdout.splitlines()[-1].endswith("mistakes in 2 epochs, 4 in the last")
    assert "not converged" in shown.stderr
    assert "18 mistakes of at most 51" in run("trace", files / "and.csv", "--ledger").stdout


def test_every_verb_takes_the_same_column_for_the_label(files):
    path = put(files / "t.csv", "x,y,c\n1,p,3\n2,q,4\n3,p,5\n4,q,9\n")
    assert "label: y" in run("train", path, "-o", files / "m", "--learner", "perceptron").stderr
    for verb in ("certify", "trace"):
        assert "label: y; numbers: x, c" in run(verb, path).stderr
    path.write_text("x,y,c\n0,0,p\n0,1,q\n1,0,q\n1,1,p\n")  # here y is a coordinate
    assert "label: c; numbers: x, y" in run("certify", path).stderr
