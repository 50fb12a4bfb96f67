"""The command in the hands of people: options in any order, options of other programs, closed pipes, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import COMMAND, run, train


@pytest.fixture
def model(rows: Path, tmp_path: Path) -> Path:
    train(rows, "-o", tmp_path / "m", "--learner", "averaged")
    return tmp_path / "m"


def test_options_may_stand_between_files(rows: Path, model: Path, tmp_path: Path) -> None:
    (tmp_path / "more.svm").write_text("1 2:1\n")
    expected = run("predict", model, rows, tmp_path / "more.svm", "--scores").stdout
    assert run("predict", model, "--jobs", 1, rows, "--scores", tmp_path / "more.svm").stdout == expected
    assert run("predict", "--scores", model, rows, "--jobs", 1, tmp_path / "more.svm").stdout == expected
    facts = train("--learner", "averaged", rows, "-o", tmp_path / "n", tmp_path / "more.svm")
    assert facts["rows"] == 401


def test_options_are_not_abbreviated(rows: Path, tmp_path: Path) -> None:
    for words in (["--learn", "averaged"], ["--l1-rat", "0.5"], ["--max", "3"], ["--see", "1"]):
        said = run("train", rows, "-o", tmp_path / "m", *words, check=2).stderr
        assert words[0] in said
        assert said.count("\n") == 1


def test_outputs_over_inputs_are_refused_before_reading(rows: Path, model: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in (rows, model)}
    (tmp_path / "link").symlink_to(rows)
    for words in (
        ["predict", model, rows, "-o", rows],
        ["predict", model, rows, "-o", tmp_path / "link"],
        ["predict", model, rows, "-o", model],
        ["train", rows, "-o", rows],
        ["train", tmp_path / "*.svm", "-o", rows],
        ["train", rows, "-o", tmp_path / "n", "--report", tmp_path / "n"],
        ["train", rows, "-o", tmp_path / "n", "--checkpoint", rows],
        ["evaluate", model, rows, "--report", model],
        ["evaluate", model, rows, "--report", rows],
        ["export", model, "--to", "json", "-o", model],
        ["compare", rows, "--html", rows],
        ["certify", rows, "--html", rows],
        ["trace", rows, "--html", rows],
    ):
        said = run(*words, check=2).stderr
        assert "would be overwritten" in said or "are the same file: name two" in said, words
        assert said.count("\n") == 1
    assert {path: path.read_bytes() for path in before} == before
    assert not (tmp_path / "n").exists()


def test_a_failing_predict_leaves_the_earlier_output(rows: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("predict", model, rows, "-o", out)
    before = out.read_bytes()
    (tmp_path / "bad.svm").write_text(rows.read_text() + "1 x\n")
    run("predict", model, tmp_path / "bad.svm", "-o", out, check=1)
    assert out.read_bytes() == before
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_a_private_model_stays_private(rows: Path, model: Path) -> None:
    model.chmod(0o600)
    train(rows, "-o", model, "--learner", "averaged")
    assert model.stat().st_mode & 0o777 == 0o600


def test_standard_output_by_its_names(rows: Path, model: Path, tmp_path: Path) -> None:
    expected = run("predict", model, rows).stdout
    for name in ("-", "/dev/stdout"):
        done = subprocess.run(
            [*COMMAND, "predict", model, rows, "-o", name], capture_output=True, text=True, cwd=tmp_path
        )
        assert (done.returncode, done.stdout) == (0, expected)
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("predict model - -o io < io", "-o io is an input file"),
        ("train - -o io < soft", "-o io is an input file"),
        ("predict model io >> hard", "stdout, that is /dev/stdout is an input file"),
        ("predict model >> io < io", "stdout, that is /dev/stdout is an input file"),
        ("predict model io -o - >> io", "-o - is an input file"),
    ],
)
def test_a_redirection_that_would_overwrite_an_input_is_refused(
    rows: Path, model: Path, tmp_path: Path, words: str, sentence: str
) -> None:
    content = rows.read_bytes()
    (tmp_path / "io").write_bytes(content)
    (tmp_path / "hard").hardlink_to(tmp_path / "io")
    (tmp_path / "soft").symlink_to("io")
    if not (tmp_path / "model").exists():
        (tmp_path / "model").symlink_to(model)
    command = f"{' '.join(COMMAND)} {words}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"rosenblatt: {sentence}")
    assert (tmp_path / "io").read_bytes() == content


@pytest.mark.parametrize(("where", "code"), [(">&-", 1), ("> /dev/full", 1), ("| true", 0), ("2>&-", 0)])
@pytest.mark.parametrize("verb", ["predict", pytest.param("evaluate", marks=pytest.mark.slow), "inspect"])
def test_a_standard_output_that_is_closed_or_full(rows: Path, model: Path, where: str, code: int, verb: str) -> None:
    words = " ".join(map(str, [*COMMAND, verb, model, *([rows] if verb != "inspect" else [])]))
    done = subprocess.run(
        f"set -o pipefail; {words} {where}", shell=True, executable="/bin/bash", capture_output=True, text=True
    )
    assert done.returncode == code, done.stderr
    assert done.stderr.count("\n") == (1 if code else 0), done.stderr


@pytest.mark.parametrize(("where", "code"), [(">&-", 1), ("> /dev/full", 1), ("| true", 0)])
@pytest.mark.parametrize("word", ["--version", "train --help"])
def test_help_that_cannot_be_said(word: str, where: str, code: int) -> None:
    command = f"set -o pipefail; {' '.join(map(str, COMMAND))} {word} {where}"
    done = subprocess.run(command, shell=True, executable="/bin/bash", capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (code, code), done.stderr


@pytest.mark.parametrize("wait", [0.01, 0.02, 0.04, 0.08, 0.15, 0.3])
def test_ctrl_c_in_the_first_moments(model: Path, wait: float) -> None:
    """From the command's first line on: nothing, or one sentence."""
    code = "import os, sys; import rosenblatt.__main__ as s; os.write(1, b'!'); sys.exit(s.main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "predict", str(model)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.read(1)
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert said in (b"", b"rosenblatt: interrupted\n")
    assert process.returncode in (130, -signal.SIGINT)


def test_a_picture_of_an_unknown_kind_is_refused_before_reading(tmp_path: Path) -> None:
    (tmp_path / "and.csv").write_text("a,b,y\n0,0,0\n1,1,1\n")
    for verb in ("trace", "certify"):
        said = run(verb, tmp_path / "and.csv", "--plot", tmp_path / "and.xyz", check=2).stderr
        assert "and.xyz: the file name must end in ." in said
