"""The command: help, errors, exit codes, the demo."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

import pytest
from command import run

import rosenblatt
from rosenblatt import __version__
from rosenblatt.cli import demo
from rosenblatt.cli.main import VERBS, build_parser, main
from rosenblatt.cli.manual import render_manual
from rosenblatt.errors import ParameterError


def test_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert all(verb in shown for verb in VERBS)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.strip() == f"rosenblatt {__version__}"


def test_a_bug_report_has_the_versions_the_engine_and_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--version", "--verbose"], ["--verbose", "--version"]):
        with pytest.raises(SystemExit) as stop:
            main(words)
        assert stop.value.code == 0
        shown = capsys.readouterr().out
        named = [line.split()[0] for line in shown.splitlines()]
        assert named[:4] == ["rosenblatt", "engine", "python", "system"]
        assert {"numpy", "scipy", "scikit-learn", "pyarrow"} <= set(named)
        assert str(Path.home()) not in shown


def test_a_shell_completes_verbs_and_options(tmp_path: Path) -> None:
    pytest.importorskip("shtab")
    script = tmp_path / "completion"
    script.write_text(run("completion", "bash").stdout)
    ask = f"""source {script}; COMP_WORDS=(rosenblatt "$@"); COMP_CWORD=$#; COMP_LINE="rosenblatt $*"
    $(complete -p rosenblatt | grep -oP '(?<=-F )\\S+'); echo "${{COMPREPLY[@]}}" """
    for words, expected in (
        (["cert"], "certify"),
        (["train", "--max"], "--max-iter"),
        (["train", "--penalty", "l"], "l1"),
    ):
        done = subprocess.run(["bash", "-c", ask, "bash", *words], capture_output=True, text=True, check=False)
        assert expected in done.stdout.split(), done.stderr


def test_the_manual_has_every_verb_and_option() -> None:
    page = render_manual()
    assert page.isascii()
    plain = page.replace("\\-", "-")
    actions = build_parser()._actions
    verbs = next(each for each in actions if isinstance(each, argparse._SubParsersAction)).choices
    for verb, parser in verbs.items():
        part = plain.partition(f"\n.SS {verb}\n")[2].partition("\n.SS ")[0]
        for action in parser._actions:
            if action.option_strings and action.dest != "help" and action.help != argparse.SUPPRESS:
                assert action.option_strings[-1] in part, f"{verb}: {action.option_strings}"
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""


def test_a_wrong_option_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["demo", "--sead", "1"])
    assert stop.value.code == 2
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
    assert f"there is no option {wrong}" in said
    assert (f"; {meant} comes close" in said) if meant else ("comes close" not in said)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["train", "none.csv", "-o", "m", "--seed", "-1"], "--seed: '-1': must be a whole number, from 0 to"),
        (["train", "none.csv", "-o", "m", "--max-iter", "0"], "--max-iter: '0': must be a whole number, 1 or more"),
        (["tune", "none.csv", "--seed", str(2**64)], "must be a whole number, from 0 to"),
        (["compare", "none.csv", "--seed", "x"], "--seed: 'x': must be a whole number"),
        (["trace", "none.csv", "--most", "-1"], "--most: '-1': must be a whole number, 0 or more"),
        (["certify", "none.csv", "--budget", "-1"], "--budget: '-1': must be a number, 0 or more"),
    ],
)
def test_numbers_out_of_bounds_are_refused_before_reading(words: list[str], sentence: str) -> None:
    assert sentence in run(*words, check=2).stderr


def test_a_seed_that_is_none_is_refused_in_python(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,y\n1,2,p\n2,1,q\n" * 5)
    for learner in ("auto", "averaged"):
        with pytest.raises(ParameterError, match="random_state=-1: must be an integer from 0"):
            rosenblatt.train(tmp_path / "x.csv", learner, random_state=-1)
