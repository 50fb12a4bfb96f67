"""Pages are true: names, defaults, links, figures and examples that they show are those of the code."""

import importlib
import inspect
import re
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command import run, write_workbook
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt
from rosenblatt import AutoPerceptron, KernelPerceptron, Perceptron, VotedPerceptron
from rosenblatt.datasets import make_moons, make_ring
from rosenblatt.models.export import to_c, to_json, to_onnx

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"


def test_defaults_in_the_table_for_scikit_learn_are_those_of_the_class() -> None:
    defaults = {name: p.default for name, p in inspect.signature(rosenblatt.Perceptron).parameters.items()}
    compared = 0
    for line in (DOCS / "moving.md").read_text().splitlines():
        said = re.match(r"\| `(\w+)(?:=[^`]*)?` \|[^|]*default (?:is )?`?([\w.]+)", line)
        if said and said[1] in defaults:
            assert str(defaults[said[1]]) == said[2].rstrip("."), line
            compared += 1
    assert compared


def test_every_argument_on_a_page_is_one_of_its_class() -> None:
    compared = 0
    for page in DOCS.glob("*.md"):
        text = page.read_text()
        for name, arguments in re.findall(r"(?<![.\w])([A-Z]\w+)\(((?:[^()`]|\([^()`]*\))*)\)", text):
            kind = getattr(rosenblatt, name, None)
            if not inspect.isclass(kind) or f"import {name} as" in text:
                continue
            outer = re.sub(r"\w+\([^()]*\)", "", arguments)  # without the arguments of wrapped learners
            for argument in re.findall(r"(\w+)=(?!=)", outer):
                assert argument in inspect.signature(kind).parameters, f"{page.name}: {name}({arguments})"
                compared += 1
    assert compared > 20


def test_every_path_and_target_on_a_page_exists() -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)
    missing = []
    for page in [*DOCS.rglob("*.md"), *ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md"]:
        text = page.read_text()
        paths = re.findall(r"`((?:tools|tests|benchmarks|docs|src|engine|deploy|packaging|examples)/[\w./-]+)`", text)
        missing += [f"{page.name}: {path}" for path in paths if not (ROOT / path).exists()]
        missing += [f"{page.name}: make {name}" for name in re.findall(r"`make ([\w-]+)", text) if name not in targets]
    assert missing == []


def _table(tmp_path: Path, cells: list[str]) -> rosenblatt.models.Model:
    lines = ["size,other,label", *(f"{i},{cells[i % len(cells)]},{'pq'[i % 2]}" for i in range(60))]
    (tmp_path / "table.csv").write_text("\n".join(lines))
    return rosenblatt.train(tmp_path / "table.csv", "averaged")


def _lines(tmp_path: Path, line: str, **options: object) -> rosenblatt.models.Model:
    (tmp_path / "lines").write_text("".join(line.format(label=1 + i % 2, word="ab"[i % 2]) + "\n" for i in range(60)))
    return rosenblatt.train(tmp_path / "lines", "averaged", **options)


def test_the_table_of_exports(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    X, y = make_moons(200, noise=0.1)
    vw = "{label} |a {word} |b other"
    models = {
        "a vote, a kernel, several labels per row": [
            VotedPerceptron().partial_fit(X, y),
            KernelPerceptron(gamma=1.0).partial_fit(X, y),
            Perceptron().partial_fit(X, np.column_stack([y, 1 - y])),
        ],
        "numbers, svmlight columns, dicts": [
            _table(tmp_path, ["1", "2", "3"]),
            _lines(tmp_path, "{label} {label}:1 5:0.5"),
            Perceptron().learn_many([{"a": 1}, {"b": 1}], ["p", "q"]),
        ],
        "tables with categories": [_table(tmp_path, ["x", "y", "z"])],
        "tables with dates or text": [
            _table(tmp_path, ["2024-01-03", "2024-02-14", "2023-07-02"]),
            _table(tmp_path, ["a word or two", "some other words here", "no words at all"]),
        ],
        "lines of labeled text, Vowpal Wabbit": [_lines(tmp_path, "{label}\tsome {word} here"), _lines(tmp_path, vw)],
        "Vowpal Wabbit with `--interactions`": [_lines(tmp_path, vw, interactions=["ab"])],
        "[products of columns](choosing.md#products-of-columns)": [AutoPerceptron().fit(*make_ring(400))],
    }
    found = re.search(r"\| model \| `json` .*?\n\n", (DOCS / "command.md").read_text(), re.S)
    assert found is not None
    rows = [line.strip("| ").split(" | ") for line in found[0].strip().splitlines()[2:]]
    assert [row[0] for row in rows] == list(models)
    for name, *answers in rows:
        for model in models[name]:
            for to, answer in zip((to_json, to_onnx, to_c), answers, strict=True):
                if answer == "yes":
                    assert to(model)
                else:
                    with pytest.raises(rosenblatt.errors.ModelError):
                        to(model)


# These wait for a browser or for requests, or need the log of a server: they have tests of their own.
WAITING = ("play", "serve", "replay")
# Names without a docstring of their own: a union of three classes that have one.
UNIONS = {"Certificate"}


@pytest.fixture
def site_pages(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(DOCS / "site")
    return importlib.import_module("site_pages")


def test_every_class_and_function_has_an_example(site_pages) -> None:
    missing = [
        f"{module}.{name}"
        for module, name in site_pages.documented()
        if name not in UNIONS and ">>>" not in (getattr(importlib.import_module(module), name).__doc__ or "")
    ]
    assert missing == []


def test_every_verb_and_option_has_an_example(site_pages) -> None:
    missing = [
        f"{verb} {each.opts[0]}"
        for verb, ctx in site_pages.verb_contexts().items()
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
    frame = pd.read_csv(folder / "people.csv")
    plain = rosenblatt.AveragedPerceptron().partial_fit(frame[["age", "pay"]], frame["late"])
    rosenblatt.save(plain, folder / "plain.model")
    (folder / "and.proof").write_text(run("certify", folder / "and.csv", "--json").stdout)


@pytest.mark.slow
def test_every_example_of_the_command_runs(site_pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_data(tmp_path)
    write_models(tmp_path)
    lines = [line for each in site_pages.examples().values() for line in each]
    for line in lines:
        words = shlex.split(line)
        if words[1] in WAITING and words[1:3] != ["play", "--export"]:
            continue
        if "--grade" not in words:  # tests/system/teaching collects notebooks and grades them
            run(*words[1:])


README = (ROOT / "README.md").read_text(encoding="utf-8")
TARGETS = re.findall(r"\]\(([^)#]+)", README)


def test_every_link_leads_to_a_file() -> None:
    assert [target for target in TARGETS if "://" not in target and not (ROOT / target).exists()] == []


def test_on_pypi_links_and_pictures_are_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "packaging")
    text = importlib.import_module("readme").with_addresses(README, "https://example.org/a/b")
    found = re.findall(r"(!?)\[[^]]*\]\(([^)]+)", text)
    kinds = {"!": "https://example.org/a/b/raw/main/", "": "https://example.org/a/b/blob/main/"}
    assert len(found) == len(TARGETS)
    assert all(address.startswith(kinds[mark]) for mark, address in found)


CLAIMS = (DOCS / "claims.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in CLAIMS.splitlines() if line.startswith("| ") and "---" not in line]


def test_every_proof_exists() -> None:
    missing = []
    for claim, proof in ((row[-2], row[-1]) for row in ROWS if row[-1] != "proved by"):
        folder = ROOT
        for name in re.findall(r"`([^`]+)`", proof):
            if name.startswith("test_") and not name.endswith(".py"):
                found = any(f"def {name}(" in path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
            else:  # a path, or a second file in the folder of the first
                path = ROOT / name if "/" in name else folder / name
                found, folder = path.exists(), path.parent
            missing += [] if found else [f"{claim}: {name}"]
    assert missing == []


def test_every_figure_of_the_readme_is_a_claim() -> None:
    figures = set(re.findall(r"\b\d[\d.,]*(?: %|x)(?=[ ,;.)\]])", README))
    assert len(figures) > 5
    assert [figure for figure in sorted(figures) if figure not in CLAIMS] == []


@pytest.mark.parametrize(("scaler", "percent"), [([], "79.6"), ([StandardScaler()], "95.4")])
def test_the_accuracy_of_scikit_learn_in_the_readme(scaler: list[object], percent: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    found = make_pipeline(*scaler, linear_model.Perceptron()).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    assert f"{100 * found:.1f}" == percent
    assert f"{percent} %" in README
