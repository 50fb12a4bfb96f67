"""The command: help, errors, exit codes, the demo."""

from __future__ import annotations

import pytest

from rosenblatt import __version__
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


def test_the_demo_shows_epochs_learners_and_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert "Mistakes an epoch" in shown
    for name in ("Perceptron", "AveragedPerceptron", "VotedPerceptron", "PocketPerceptron", "PassiveAggressive"):
        assert name in shown
    assert "Verdict: separable" in shown
