"""What the docs say of defaults and of what is not here is what the code has."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from command import run

import rosenblatt

DOCS = Path(__file__).resolve().parents[2] / "docs"


def rows_of_tables(page: str) -> list[list[str]]:
    """The cells of every row of every table."""
    lines = (DOCS / page).read_text().splitlines()
    table = [line for line in lines if line.startswith("|") and not re.fullmatch(r"[|\s:-]+", line)]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]


def numbers(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def helped_defaults() -> dict[str, list[float]]:
    """The numbers that `rosenblatt train --help` gives as defaults, by option."""
    text = " ".join(run("train", "--help").stdout.split())
    found: dict[str, list[float]] = {}
    for option, said in re.findall(r"--([a-z0-9-]+) (?:(?! --)[^()])*?\(default ([^)]*)\)", text):
        found[option] = numbers(said)
    return found


def test_defaults_of_options_in_the_docs_are_those_of_the_help() -> None:
    helped = helped_defaults()
    assert {"max-iter", "block"} <= helped.keys()
    compared = 0
    for option, meaning, *_ in (row for row in rows_of_tables("command.md") if len(row) > 1):
        named = re.findall(r"`--([a-z0-9-]+)", option)
        if "default" in meaning and len(named) == 1 and named[0] in helped:
            assert numbers(meaning) == helped[named[0]], f"{option}: {meaning}"
            compared += 1
    assert compared


def parameter_names(kind: Any) -> set[str]:
    return set(inspect.signature(kind).parameters)


PRESENT = {
    "l1": "penalty" in parameter_names(rosenblatt.Perceptron),
    "l2": "penalty" in parameter_names(rosenblatt.Perceptron),
    "--l1": "penalty" in parameter_names(rosenblatt.Perceptron),
    "--l2": "penalty" in parameter_names(rosenblatt.Perceptron),
    "predict_proba": hasattr(rosenblatt.Calibrated, "predict_proba"),
    "predict_proba_one": hasattr(rosenblatt.Calibrated, "predict_proba"),
    "-q": "products" in parameter_names(rosenblatt.AutoPerceptron),
}


@pytest.mark.parametrize("word", PRESENT)
def test_the_page_for_those_who_move_does_not_say_that_what_is_here_is_not(word: str) -> None:
    assert PRESENT[word]
    for row in rows_of_tables("moving.md"):
        if f"`{word}`" in row[0]:
            rest = " | ".join(row[1:])
            said = re.search(r"not here|scores only", rest) and not re.search(r"penalty|`Calibrated|products", rest)
            assert not said, " | ".join(row)
            if word == "-q":
                assert "products" in rest, " | ".join(row)
    if word in ("l1", "l2"):
        for row in rows_of_tables("moving.md"):
            assert not re.search(rf"`{word}`[^|.]*: not here", " | ".join(row)), " | ".join(row)


def test_every_default_that_the_page_for_those_who_move_gives_is_that_of_the_class() -> None:
    defaults = {name: p.default for name, p in inspect.signature(rosenblatt.Perceptron).parameters.items()}
    for row in rows_of_tables("moving.md"):
        named = re.match(r"`(\w+)(?:=[^`]*)?`$", row[0])
        said = re.search(r"default (?:is )?`?([\w.]+)", row[1])
        if named and said and named[1] in defaults:
            assert str(defaults[named[1]]) == said[1].rstrip("."), " | ".join(row)


# What pages say of defaults in a sentence of their own: the page, the words, and the default that they must be true of.
SAID: list[tuple[str, str, Any, str, Any]] = [
    ("moving.md", "the same name, default 0.0", rosenblatt.Perceptron, "tol", 0.0),
    ("moving.md", "`early_stopping=True`, default off", rosenblatt.Perceptron, "early_stopping", False),
    ("moving.md", "The default shuffles every epoch.", rosenblatt.Perceptron, "shuffle", True),
    ("moving.md", 'The default is `"joint"`', rosenblatt.Perceptron, "multiclass", "joint"),
    ("moving.md", "`PassiveAggressive` learns jointly", rosenblatt.PassiveAggressive, "multiclass", "joint"),
    ("moving.md", "multiplied by `AutoPerceptron()` where that helps", rosenblatt.AutoPerceptron, "products", True),
]


@pytest.mark.parametrize(("page", "words", "kind", "name", "default"), SAID, ids=[said[1] for said in SAID])
def test_a_default_that_a_page_tells_is_that_of_the_class(
    page: str, words: str, kind: Any, name: str, default: Any
) -> None:
    assert words in " ".join((DOCS / page).read_text().split())
    assert inspect.signature(kind).parameters[name].default == default


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_every_argument_that_a_page_writes_is_one_of_its_class(page: str) -> None:
    text = (DOCS / page).read_text()
    for name, told in re.findall(r"(?<![.\w])([A-Z]\w+)\(((?:[^()`]|\([^()`]*\))*)\)", text):
        kind = getattr(rosenblatt, name, None)
        if not inspect.isclass(kind) or f"import {name} as" in text:
            continue
        outer = re.sub(r"\w+\([^()]*\)", "", told)  # what others inside are told is theirs
        for argument in re.findall(r"(\w+)=(?!=)", outer):
            assert argument in inspect.signature(kind).parameters, f"{name}({told})"


def test_one_section_says_what_each_stop_reason_means_by_rule() -> None:
    text = "\n".join(path.read_text() for path in sorted(DOCS.glob("*.md")))
    sections = re.split(r"(?m)^#+ ", text)
    words = ("`converged`", "`no_change`", "`max_iter`", "update", "100,000", "PA", "`stop_reason_`")
    plain = [section.replace('"', "`").replace("``", "`") for section in sections]
    assert any(all(word in section for word in words) for section in plain)
