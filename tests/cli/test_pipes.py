"""Pipes with a name, such as the `<(command)` of a shell: they come once, and are read like files."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from command import run

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
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("learner", ["averaged", "auto"])
def test_a_pipe_gives_the_bytes_of_a_file(
    tmp_path: Path, pipe: Any, content: bytes, packed: bool, learner: str
) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    run("train", file, "--learner", learner, "-o", tmp_path / "expected")
    run("train", pipe(gzip.compress(content) if packed else content), "--learner", learner, "-o", tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "expected").read_bytes()
    answers = run("predict", tmp_path / "m", file).stdout
    assert run("predict", tmp_path / "m", pipe(content, "other")).stdout == answers
    judged = run("evaluate", tmp_path / "m", file).stdout
    assert run("evaluate", tmp_path / "m", pipe(content, "third")).stdout == judged


@pytest.mark.parametrize("packed", [gzip.compress, lzma.compress, bz2.compress])
def test_packed_lines_are_predicted_and_evaluated_as_they_come(tmp_path: Path, pipe: Any, packed: Any) -> None:
    file = tmp_path / "file"
    file.write_bytes(SVM)
    run("train", file, "--learner", "averaged", "-o", tmp_path / "m")
    for verb, name in (("predict", "first"), ("evaluate", "second")):
        expected = run(verb, tmp_path / "m", file).stdout
        assert run(verb, tmp_path / "m", pipe(packed(SVM), name)).stdout == expected
    command = [sys.executable, "-m", "rosenblatt", "predict", str(tmp_path / "m"), "-"]
    done = subprocess.run(command, input=packed(SVM), capture_output=True)
    assert done.stdout.decode() == run("predict", tmp_path / "m", file).stdout


def test_a_learner_for_a_long_pipe_is_chosen_in_another_process(tmp_path: Path, pipe: Any) -> None:
    file, lines = tmp_path / "file", SVM * 400
    file.write_bytes(lines)
    run("train", file, "--max-iter", 2, "--quiet", "-o", tmp_path / "expected")
    run("train", pipe(lines), "--max-iter", 2, "--quiet", "-o", tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "expected").read_bytes()


def test_two_pipes_are_one_table(tmp_path: Path, pipe: Any) -> None:
    file, half = tmp_path / "file", SVM.index(b"\n", 900) + 1
    file.write_bytes(SVM)
    run("train", file, "--learner", "averaged", "-o", tmp_path / "expected")
    run("train", pipe(SVM[:half]), pipe(SVM[half:], "more"), "--learner", "averaged", "-o", tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "expected").read_bytes()


@pytest.mark.parametrize("content", [SVM, CSV], ids=["svmlight", "csv"])
def test_rows_that_judge_may_come_through_a_pipe(tmp_path: Path, pipe: Any, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    words = ["train", file, "--learner", "averaged", "--json"]
    expected = json.loads(run(*words, "--validation", file, "-o", tmp_path / "expected").stdout)
    found = json.loads(run(*words, "--validation", pipe(content), "-o", tmp_path / "m").stdout)
    assert found["held_out"]["figures"] == expected["held_out"]["figures"]
    assert (tmp_path / "m").read_bytes() == (tmp_path / "expected").read_bytes()


@pytest.mark.parametrize("content", [SVM, CSV], ids=["svmlight", "csv"])
def test_rows_that_judge_may_come_from_standard_input(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    words = ["train", file, "--learner", "averaged", "--quiet"]
    run(*words, "--validation", file, "-o", tmp_path / "expected")
    run(*words, "--validation", "-", "-o", tmp_path / "m", input=content.decode())
    assert (tmp_path / "m").read_bytes() == (tmp_path / "expected").read_bytes()


def test_a_run_on_a_pipe_cannot_be_resumed(tmp_path: Path, pipe: Any) -> None:
    path = pipe(SVM)
    words = ["train", path, "--learner", "averaged", "--quiet", "--checkpoint", tmp_path / "c", "-o", tmp_path / "m"]
    told = run(*words, check=1).stderr
    sentence = "cannot be read again, so a run on it cannot be resumed: save it to a file first"
    assert told == f"rosenblatt: {path} {sentence}\n"
    assert not (tmp_path / "m").exists()


def test_an_empty_pipe_is_said_to_be_empty(tmp_path: Path, pipe: Any) -> None:
    path = pipe(b"")
    assert run("train", path, "--quiet", "-o", tmp_path / "m", check=1).stderr == f"rosenblatt: {path} is empty\n"
