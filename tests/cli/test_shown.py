"""Nothing that a file or a name holds drives the terminal of who looks at it."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rosenblatt.cli.console import escape
from rosenblatt.cli.main import main

EVIL = "\x1b]0;mine\x07\x1b[31m\x9b2J\u202e\r"
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Columns, words and labels with control characters, and a model of them."""
    folder = tmp_path_factory.mktemp("shown")
    name = json.dumps(f"b{EVIL}")
    rows = [f'{{"a": {k % 5}, {name}: "w{k % 3}", "y": {json.dumps("no" + EVIL * (k % 2))}}}\n' for k in range(40)]
    (folder / "x.jsonl").write_text("".join(rows))
    words = ["train", str(folder / "x.jsonl"), "-o", str(folder / "m"), "--learner", "averaged", "--bits", "8"]
    assert main(words) == 0
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["train", "x.jsonl", "-o", "n", "--learner", "pa1", "--bits", "8"],
        ["inspect", "m"],
        ["inspect", "m", "--json"],
        ["evaluate", "m", "x.jsonl"],
        ["evaluate", "m", "x.jsonl", "--json"],
        ["certify", "x.jsonl"],
        ["trace", "x.jsonl"],
        ["predict", f"no{EVIL}"],
        ["predict", "m", f"no{EVIL}"],
        ["inspect", "m", f"--no{EVIL}"],
    ],
    ids=lambda words: escape(" ".join(words)),
)
def test_no_control_character_is_printed(
    words: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    with contextlib.suppress(SystemExit):
        main(words)
    said = capsys.readouterr()
    assert said.out + said.err
    assert HARMFUL.search(said.out + said.err) is None
    if "--json" in words and said.out:
        assert any(EVIL in text for text in _texts(json.loads(said.out)))


def _texts(value: object) -> list[str]:
    """All texts in a JSON value."""
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in _texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return [value] if isinstance(value, str) else []


def test_predictions_are_data_for_a_pipe_and_spelled_for_a_terminal(folder: Path) -> None:
    words = [sys.executable, "-m", "rosenblatt", "predict", str(folder / "m"), str(folder / "x.jsonl")]
    piped = subprocess.run(words, capture_output=True, check=True).stdout.decode()
    assert EVIL.rstrip("\r") in piped  # a line of an answer ends where the answer ends
    ours, theirs = pty.openpty()
    with subprocess.Popen(words, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        seen = b""
        try:
            while more := os.read(ours, 65536):
                seen += more
        except OSError:  # how a terminal says that nothing follows
            pass
        os.close(ours)
    assert process.returncode == 0
    text = seen.decode().replace("\r\n", "\n")
    assert text == escape(piped)
    assert HARMFUL.search(text) is None
