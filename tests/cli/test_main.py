"""The command: help, errors, exit codes, the demo."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import run

import rosenblatt
from rosenblatt import __version__
from rosenblatt.cli import demo
from rosenblatt.cli.main import VERBS, main
from rosenblatt.cli.manual import options_of, render_manual, verb_contexts
from rosenblatt.errors import ParameterError


def test_help_names_every_verb() -> None:
    shown = run("--help").stdout
    assert all(verb in shown for verb in VERBS)
    assert run(check=2).stderr == shown


def test_version() -> None:
    assert run("--version").stdout.strip() == f"rosenblatt {__version__}"


def test_a_bug_report_has_the_versions_the_engine_and_the_machine() -> None:
    for words in (["--version", "--verbose"], ["--verbose", "--version"]):
        shown = run(*words).stdout
        named = [line.split()[0] for line in shown.splitlines()]
        assert named[:4] == ["rosenblatt", "engine", "python", "system"]
        assert {"numpy", "scipy", "scikit-learn", "pyarrow"} <= set(named)
        assert str(Path.home()) not in shown


@pytest.mark.parametrize(
    ("words", "expected"),
    [("cert", "certify"), ("train --max", "--max-iter"), ("train --penalty l", "l1")],
)
def test_a_shell_completes_verbs_and_options(words: str, expected: str) -> None:
    line = {"COMP_WORDS": f"rosenblatt {words}", "COMP_CWORD": str(len(words.split()))}
    asked = os.environ | line | {"_ROSENBLATT_COMPLETE": "bash_complete"}
    done = subprocess.run([sys.executable, "-m", "rosenblatt"], env=asked, capture_output=True, text=True)
    assert f"plain,{expected}" in done.stdout.split(), done.stderr


def test_the_manual_has_every_verb_and_option() -> None:
    page = render_manual()
    assert page.isascii()
    plain = page.replace("\\-", "-")
    for verb, ctx in verb_contexts().items():
        part = plain.partition(f"\n.SS {verb}\n")[2].partition("\n.SS ")[0]
        for each in options_of(ctx.command):
            assert each.opts[-1] in part, f"{verb}: {each.opts}"
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""


def test_a_wrong_option_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--sead", "1"]) == 2
    assert "--sead" in capsys.readouterr().err


def test_the_demo_tells_its_story_in_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    words = ["Data ", "Mistakes ", "learner ", "Verdict   separable, and proved", "Next "]
    assert [shown.count(word) for word in words] == [1] * len(words)
    assert [shown.index(word) for word in words] == sorted(shown.index(word) for word in words)
    for name in ("Perceptron", "AveragedPerceptron", "VotedPerceptron", "PocketPerceptron", "PassiveAggressive"):
        assert name in shown
    lines = shown.splitlines()
    assert len(lines) <= 24
    assert max(len(line) for line in lines) <= 80


def test_the_bars_of_the_demo_show_means_of_neighboring_epochs() -> None:
    assert demo._bars([4, 2, 0]) == "█▄ "
    assert len(demo._bars(list(range(1000)))) == demo.BARS
    assert demo._bars([100] * demo.BARS + [1] * demo.BARS).endswith("▁")


@pytest.mark.parametrize(("wrong", "meant"), [("--max", "--max-iter"), ("--lerner", "--learner"), ("--prob", "")])
def test_an_unknown_option_names_one_that_comes_close(wrong: str, meant: str) -> None:
    said = run("train", "x.csv", "-o", "m", wrong, "3", check=2).stderr
    assert f"No such option '{wrong}'" in said
    assert meant in said


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


def test_a_seed_that_is_none_is_refused_in_python(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,y\n1,2,p\n2,1,q\n" * 5)
    for learner in ("auto", "averaged"):
        with pytest.raises(ParameterError, match="random_state=-1: must be an integer from 0"):
            rosenblatt.train(tmp_path / "x.csv", learner, random_state=-1)
