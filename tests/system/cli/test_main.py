"""The command: help, errors, exit status, redirections, terminals, the demo."""

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import COMMAND, run, train

from rosenblatt.cli.console import escape
from rosenblatt.cli.main import VERBS, main, verb_contexts
from rosenblatt.cli.options import ELSEWHERE


def test_help_names_every_verb() -> None:
    shown = run("--help").stdout
    assert all(verb in shown for verb in VERBS)
    assert run(check=2).stderr == shown


def test_a_bug_report_has_the_versions_the_engine_and_the_machine() -> None:
    for words in (["--version", "--verbose"], ["--verbose", "--version"]):
        shown = run(*words).stdout
        named = [line.split()[0] for line in shown.splitlines()]
        assert named[:4] == ["rosenblatt", "engine", "python", "system"]
        assert {"numpy", "scipy", "scikit-learn", "pyarrow"} <= set(named)
        assert str(Path.home()) not in shown


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        ("train x --passes 3", "--max-iter"),
        ("train x -C 1", "--C"),
        ("train x -b 18", "--bits"),
        ("predict x -p y", "--output"),
    ],
)
def test_an_option_of_another_tool_names_ours(words: str, ours: str) -> None:
    assert f"'{ours}'" in run(*words.split(), check=2).stderr


def test_every_such_option_names_one_of_train() -> None:
    context = verb_contexts()["train"]
    known = {name for param in context.command.params for name in (*param.opts, *param.secondary_opts)}
    assert set(ELSEWHERE.values()) <= known
    assert not known & set(ELSEWHERE)


@pytest.mark.parametrize(
    ("words", "expected"),
    [("cert", "certify"), ("train --max", "--max-iter"), ("train --penalty l", "l1")],
)
def test_a_shell_completes_verbs_and_options(words: str, expected: str) -> None:
    line = {"COMP_WORDS": f"rosenblatt {words}", "COMP_CWORD": str(len(words.split()))}
    asked = os.environ | line | {"_ROSENBLATT_COMPLETE": "bash_complete"}
    done = subprocess.run([sys.executable, "-m", "rosenblatt"], env=asked, capture_output=True, text=True)
    assert f"plain,{expected}" in done.stdout.split(), done.stderr


@pytest.mark.parametrize(
    "words",
    ["train --seed -1", "train --max-iter 0", f"tune --seed {2**64}", "compare --seed x", "trace --max-lines -1",
     "certify --budget -1", "train --jobs 0", "train --checkpoint-every 3x"],
)  # fmt: skip
def test_numbers_out_of_bounds_are_refused_before_reading(words: str) -> None:
    verb, option, value = words.split()
    said = run(verb, "none.csv", option, value, check=2).stderr
    assert option in said
    assert said.count("\n") == 1


def test_codes_of_errors_are_distinct_and_do_not_change() -> None:
    from rosenblatt import errors

    kinds = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)]
    codes = {each.__name__: each.code for each in kinds}
    assert codes == {
        "RosenblattError": "error",
        "ClusterError": "cluster",
        "DataError": "data",
        "LabelError": "label",
        "ModelError": "model",
        "ParameterError": "parameter",
        "MissingExtraError": "missing-extra",
    }


def test_the_demo_tells_its_story_in_one_screen() -> None:
    lines = run("demo").stdout.splitlines()
    words = ["569 rows", "classifier ", "Mistakes ", "Verdict   separable, and proved", "Next "]
    assert [word for line in lines for word in words if line.startswith(word)] == words
    assert len(lines) <= 26
    assert max(map(len, lines)) <= 80


@pytest.fixture
def model(rows: Path, tmp_path: Path) -> Path:
    train(rows, "-o", tmp_path / "m", "--learner", "averaged")
    return tmp_path / "m"


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
        assert repr(EVIL.strip())[1:-1] in repr(json.loads(said.out))


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
