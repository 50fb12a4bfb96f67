"""The commands of README.md and docs/command.md, word for word, in a folder with the files that they name."""

from __future__ import annotations

import gzip
import random
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command import run

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/command.md")
# What goes on until it is stopped; these three have tests of their own. The overview's words are placeholders.
ELSEWHERE = ("rosenblatt play", "rosenblatt serve", "rosenblatt demo")
ENDLESS = "tail -f"
PLACEHOLDER = re.compile(r"\b(DATA|MODEL|TABLE)\b")


def commands() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for line in (ROOT / page).read_text().splitlines():
            match = re.match(r"    (?:\$ )?(rosenblatt (?!:).*|tail .*)", line)
            if match and not PLACEHOLDER.search(match[1]) and "..." not in match[1]:
                found.append((page, re.split(r"\s{2,}", match[1])[0]))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that the pages name."""
    place = tmp_path_factory.mktemp("documented")
    draw = random.Random(0)
    words = {"spam": "win cash prize now free call", "ham": "see you at lunch home later", "": "the a is to"}

    def message() -> str:
        label = draw.choice(["spam", "ham"])
        text = " ".join(draw.choice((words[label] + " " + words[""]).split()) for _ in range(8))
        return f"{label}\t{text}\n"

    for name in ("messages.tsv", "more.tsv", "spam.tsv", "held-out.tsv"):
        (place / name).write_text("".join(message() for _ in range(120)))
    (place / "messages").write_text("".join(message().split("\t")[1] for _ in range(10)))
    (place / "SMSSpamCollection.gz").write_bytes(gzip.compress("".join(message() for _ in range(200)).encode()))
    flights = ["flight,carrier,delay,late"]
    for k in range(200):
        delay = draw.gauss(5, 10)
        flights.append(f"F{k},{draw.choice('ABC')},{delay:.1f},{'yes' if delay + draw.gauss(0, 3) > 8 else 'no'}")
    (place / "flights.csv").write_text("\n".join(flights) + "\n")
    (place / "table.csv").write_text("a,b,class\n" + "".join(f"{k},{k * k % 7},{int(k > 9)}\n" for k in range(20)))
    for name in ("big.svm", "monday.svm", "tuesday.svm"):
        lines = [f"{k % 2} {1 + k % 2}:1 {3 + draw.randrange(9)}:0.5\n" for k in range(300)]
        (place / name).write_text("".join(lines))
    return place


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run_in_its_order(
    folder: Path, page: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    told = [command for where, command in commands() if where == page]
    assert len(told) >= 3
    for command in told:
        if command.startswith(ELSEWHERE):
            continue
        if command.startswith(ENDLESS):
            assert len(_first_lines(command)) == 10, command
            continue
        wrong_use = "--passes" in command  # shown for its hint
        run(*shlex.split(command)[1:], check=2 if wrong_use else 0)


def _first_lines(command: str) -> list[str]:
    """What a command that never ends has answered after all lines that there are."""
    words = f'rosenblatt() {{ {shlex.join([sys.executable, "-m", "rosenblatt.cli.start"])} "$@"; }}; {command}'
    with subprocess.Popen(["bash", "-c", words], stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(10)]
        subprocess.run(["kill", "--", f"-{process.pid}"], check=True)
    return [line for line in lines if line]


def test_every_verb_has_its_place_in_the_page() -> None:
    from rosenblatt.cli.main import VERBS

    page = (ROOT / "docs/command.md").read_text()
    for verb in VERBS:
        assert f"rosenblatt {verb}" in page, verb


def test_every_option_of_train_is_named_or_is_a_learners_own() -> None:
    from rosenblatt.cli.main import _build_parsers
    from rosenblatt.cli.parameters import _parameters, option

    page = (ROOT / "docs/command.md").read_text()
    own = {option(name) for name in _parameters()}
    for action in _build_parsers("train")[1]["train"]._actions:
        names = [name for name in action.option_strings if name.startswith("--") and not name.startswith("--no-")]
        for name in names:
            assert name in own or name in page or name in ("--help", "--output", "--quiet", "--jobs"), name
