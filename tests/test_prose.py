"""Markdown that reads well: short lines, and none of the phrases that readers stumble over."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 100
# RESULTS.md is made by the benchmarks. The other pages are still to be gone over: take a page out when it was.
EXEMPT = (
    "benchmarks/README.md",
    "benchmarks/RESULTS.md",
    "docs/command.md",
    "docs/files.md",
    "docs/playground.md",
)

MANY = (
    "bytes|dicts|examples|features|frames|instructions|kB|lines|MB|megabytes|mistakes|ms|ns|numbers|once|rows|seconds"
    "|steps|times|twice|updates|us|values|weights"
)
ONE = "call|document|file|label|lane|line|meaning|number|object|problem|product|row|subfolder|weight"
EACH = (
    "block|call|class|column|core|epoch|example|feature|file|fold|format|learner|line|mistake|mistaken row|row"
    "|second(?! time)|stored row|thread|update|verb|word"
)
STUMBLES = (
    rf"\b(?:{MANY}) an? (?:{EACH})\b",  # "mistakes an epoch": say "per epoch"
    rf"\b(?:an?|one) (?:\w+ )?(?:{ONE}) an? (?:{EACH})\b",  # "a label a row": say "one label for each row"
    r"\blive on to be\b",
    r"\brights? more\b.*\bwrongs?\b",
    r"\bnothing to be mistaken for\b",
    r"\bcounts? -1\b",
)
STUMBLE = re.compile("|".join(STUMBLES), re.IGNORECASE)
LONE_LINK = re.compile(r"\s*(?:[-*] |\d+\. )?!?\[[^\]]*\]\([^)]*\)\S*")


def tracked_pages() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=False)
    return listed.stdout.split()


PAGES = tracked_pages()
READ = [page for page in PAGES if page not in EXEMPT]


def iter_prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines outside code, numbered from 1: fenced, indented after an empty line, or a doctest."""
    fenced = doctest = indented = False
    before = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            doctest = bool(line.strip()) and (doctest or line.startswith(">>>"))
            indented = line.startswith("    ") and (indented or not before.strip())
            if not doctest and not indented:
                yield number, line
        before = line


def long_lines(text: str) -> list[int]:
    """Lines that could have been broken: table rows and links that stand alone could not."""
    return [
        number
        for number, line in iter_prose(text)
        if len(line) > LONGEST and not line.startswith("|") and not LONE_LINK.fullmatch(line)
    ]


def stumbles(text: str) -> list[str]:
    """Phrases to write otherwise, also where a line ends inside one."""
    prose = " ".join(line.strip() for _, line in iter_prose(text))
    return [found.group() for found in STUMBLE.finditer(prose)]


def test_the_exempt_pages_are_there() -> None:
    if not PAGES:
        pytest.skip("not a git checkout: which pages belong to the project is not known")
    assert set(EXEMPT) <= set(PAGES)


@pytest.mark.parametrize("page", READ)
def test_lines_are_short(page: str) -> None:
    assert long_lines((ROOT / page).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", READ)
def test_nobody_stumbles(page: str) -> None:
    assert stumbles((ROOT / page).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "it keeps a weight a mistaken row",
        "the bar shows megabytes a second",
        "computed once an epoch)",
        "| `joint` | one weight row a class |",
        "a chart of mistakes\nan epoch",
        "taken if it rights more of them than it wrongs",
    ],
)
def test_a_stumbling_phrase_is_found(text: str) -> None:
    assert len(stumbles(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "an epoch without a mistake",
        "the held-out rows are looked at a second time, and the rows a second time",
        "the margin of a row, and a step on a row",
        "from a file to a model",
        "to label a row by hand",
        "mistakes per epoch, and one weight for each class",
        "```\nns a row\n```",
        "\n    mistakes an epoch",
        ">>> f()\nmistakes an epoch",
    ],
)
def test_an_innocent_sentence_is_left_alone(text: str) -> None:
    assert stumbles(text) == []


def test_only_lines_that_could_be_broken_are_too_long() -> None:
    words = "word " * 30
    text = f"{words}\n- {words}\n| {words}|\n```\n{words}\n```\n\n    {words}\n\n>>> {words}\n{words}\n\n"
    assert long_lines(text) == [1, 2]
    assert long_lines(f"![{words}]({'x' * 100})\n- [x]({'x' * 100}).\n") == []
    assert long_lines(f"See [x]({'x' * 100}).") == [1]
