"""The reference: everything that is exported has an example, and every example of the command runs."""

from __future__ import annotations

import importlib
import shlex
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from command import run, write_workbook

from length import LONG

DOCS = Path(__file__).resolve().parents[2] / "docs"
# These wait for a browser or for requests, or need the log of a server: they have tests of their own.
WAITING = ("play", "serve", "replay")
# Names without a docstring of their own: a union of three classes that have one.
UNIONS = {"Certificate"}


@pytest.fixture(scope="module")
def site_pages() -> Iterator[object]:
    sys.path.insert(0, str(DOCS / "site"))
    yield importlib.import_module("site_pages")
    sys.path.remove(str(DOCS / "site"))


def test_every_class_and_function_has_an_example(site_pages) -> None:
    found = list(site_pages.documented())
    assert len(found) > 80
    missing = [
        f"{module}.{name}"
        for module, name in found
        if name not in UNIONS and ">>>" not in (getattr(importlib.import_module(module), name).__doc__ or "")
    ]
    assert missing == []


def test_every_verb_and_option_has_an_example(site_pages) -> None:
    known = site_pages.examples()
    contexts = site_pages.verb_contexts()
    assert set(known) == set(contexts)
    missing = [
        f"{verb} {each.opts[0]}"
        for verb, ctx in contexts.items()
        for each in site_pages.options_of(ctx.command)
        if site_pages.example_of(verb, [*each.opts, *each.secondary_opts]) is None
    ]
    assert missing == []


def write_data(folder: Path) -> None:
    """The files that the examples name."""
    towns = ("Bonn", "Kiel", "Ulm")
    people = [f"{20 + i % 40},{i % 90}.5,{towns[i % 3]},{'yes' if i % 90 > 45 else 'no'}" for i in range(180)]
    for name, some in (("people.csv", people), ("later.csv", people[:60])):
        (folder / name).write_text("age,pay,town,late\n" + "\n".join(some) + "\n")
    cells = [line.split(",") for line in ["age,pay,town,late", *people]]
    write_workbook(folder / "people.xlsx", {"notes": [["none"]], "people": cells})
    with closing(sqlite3.connect(folder / "people.db")) as database:
        database.execute("create table people (age real, pay real, town text, late text)")
        database.executemany("insert into people values (?, ?, ?, ?)", cells[1:])
        database.commit()
    german = [f"{20 + i % 40};{i % 90},5;{'ja' if i % 90 > 45 else 'nein'}" for i in range(180)]
    (folder / "german.csv").write_text("alter;lohn;spaet\n" + "\n".join(german) + "\n")
    (folder / "bare.csv").write_text("".join(f"{i % 7},{i % 11},{i % 2}\n" for i in range(60)))
    (folder / "messages.tsv").write_text("spam\twin a free prize now\nham\tlunch at noon today\n" * 30)
    rows = "".join(f"{i % 2} {1 + i % 2}:1 {3 + i % 7}:0.5\n" for i in range(120))
    (folder / "rows.svm").write_text(rows)
    (folder / "more.svm").write_text(rows[: rows.index("\n") + 1])
    (folder / "bad.svm").write_text(rows + "1 1:nan\n")
    clicks = "".join(f"{1 - 2 * (i % 2)} |user u{i % 3} |page p{(i + i // 3) % 4}\n" for i in range(60))
    (folder / "clicks.vw").write_text(clicks)
    (folder / "and.csv").write_text("a,b,class\n0,0,no\n0,1,no\n1,0,no\n1,1,yes\n")


def write_models(folder: Path) -> None:
    import rosenblatt

    data = rosenblatt.read(folder / "rows.svm")
    learner = rosenblatt.Calibrated(rosenblatt.AveragedPerceptron()).fit(data.X, data.y)
    rosenblatt.save(learner, folder / "sure.model")
    (folder / "and.proof").write_text(run("certify", folder / "and.csv", "--json").stdout)


@pytest.mark.slow
@pytest.mark.long
def test_every_example_of_the_command_runs(site_pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_data(tmp_path)
    write_models(tmp_path)
    lines = [line for each in site_pages.examples().values() for line in each]
    assert len(lines) > 80
    for line in lines:
        words = shlex.split(line)
        if words[1] in WAITING and words[1:3] != ["play", "--export"]:
            continue
        if "--grade" in words:
            continue  # tests/teaching collects notebooks and grades them
        if words[1] == "compare" and not LONG and words[1:] != ["compare", "people.csv"]:
            continue  # every learner in all folds, for each option
        try:
            run(*words[1:])
        except AssertionError as error:
            raise AssertionError(f"{line}: {error}") from None
