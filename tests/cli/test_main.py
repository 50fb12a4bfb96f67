"""The command: help, errors, exit codes, the demo."""

from __future__ import annotations

import pytest

from rosenblatt import __version__
from rosenblatt.cli import demo
from rosenblatt.cli.main import VERBS, main


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


def test_the_bars_of_the_demo_show_means_of_neighbouring_epochs() -> None:
    assert demo._bars([4, 2, 0]) == "█▄ "
    assert len(demo._bars(list(range(1000)))) == demo.BARS
    assert demo._bars([100] * demo.BARS + [1] * demo.BARS).endswith("▁")
