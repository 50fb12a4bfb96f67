"""The commands of README.md and docs/command.md, word for word, in a shell.

The folder has the files that they name; the environment has what `pip install` brings along, and nothing else.
"""

import gzip
import os
import random
import re
import signal
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from command import hide, run
from packaging.requirements import Requirement
from written import put

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAGES = ("README.md", "docs/command.md")
# Verbs that run until they are stopped; these three have tests of their own. The overview's words are placeholders.
ELSEWHERE = ("rosenblatt play", "rosenblatt serve", "rosenblatt demo")
ENDLESS = "tail -f"
PLACEHOLDER = re.compile(r"\b(DATA|MODEL|TABLE|SHELL)\b")


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
    houses = [f"{k % 7},{k % 5},{3 * (k % 7) - k % 5 + draw.gauss(0, 0.1):.3f}" for k in range(200)]
    (place / "houses.csv").write_text("rooms,age,price\n" + "\n".join(houses) + "\n")
    for name in ("big.svm", "monday.svm", "tuesday.svm"):
        lines = [f"{k % 2} {1 + k % 2}:1 {3 + draw.randrange(9)}:0.5\n" for k in range(300)]
        (place / name).write_text("".join(lines))
    return place


def requirements_of(name: str, known: set[str]) -> set[str]:
    """The distributions that `pip install` brings along, no extras among them."""
    known.add(name)
    for line in PROJECT["dependencies"] if name == "rosenblatt" else metadata.requires(name) or []:
        needed = Requirement(line)
        wanted = needed.marker is None or needed.marker.evaluate({"extra": ""})
        if wanted and needed.name not in known:
            requirements_of(needed.name, known)
    return known


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables of a shell whose Python finds the package, what it requires, and nothing else."""
    place, required = tmp_path_factory.mktemp("environment"), requirements_of("rosenblatt", set())
    others = [top for top, names in metadata.packages_distributions().items() if not required & set(names)]
    others = [top for top in others if not top.startswith("_") and top != "rosenblatt"]
    put(place / "sitecustomize.py", hide(others))
    start = "import sys\nfrom rosenblatt.__main__ import main\nsys.exit(main())\n"
    put(place / "rosenblatt", f"#!{sys.executable}\n{start}").chmod(0o755)
    found = os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])
    return {"PATH": f"{place}:/usr/bin:/bin", "PYTHONPATH": found, "LANG": "C.UTF-8"}


def type_in(environment: dict[str, str], folder: Path, command: str) -> subprocess.Popen[str]:
    """A command as it is typed into a shell that knows nothing of this one."""
    outputs: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    shell = environment | {"HOME": str(folder)}
    return subprocess.Popen(["bash", "-c", command], cwd=folder, env=shell, start_new_session=True, **outputs)


@pytest.mark.parametrize("page", ["README.md", pytest.param("docs/command.md", marks=pytest.mark.slow)])
def test_the_commands_of_a_page_run_in_its_order(environment: dict[str, str], folder: Path, page: str) -> None:
    told = [command for where, command in commands() if where == page]
    assert len(told) >= 3
    for command in told:
        if command.startswith(ELSEWHERE):
            continue
        with type_in(environment, folder, command) as process:
            if command.startswith(ENDLESS):
                assert process.stdout is not None
                answers = [process.stdout.readline() for _ in range(10)]
                os.killpg(process.pid, signal.SIGTERM)
                assert all(answers), command
                continue
            _, said = process.communicate()
        assert process.returncode == 0, f"{command}\n{said}"
        assert "Traceback" not in said
        assert "Warning" not in said


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        ("serve spam.model", "serve"),
        ("replay spam.log -o again.model", "serve"),
        ("export table.model --to onnx -o table.onnx", "export"),
        ("certify s3://bucket/table.csv", "remote"),
        ("train table.csv -o table.model --cluster tcp://127.0.0.1:1", "cluster"),
    ],
)
def test_what_needs_an_extra_says_which(environment: dict[str, str], folder: Path, words: str, extra: str) -> None:
    if not (folder / "table.model").exists():
        run("train", folder / "table.csv", "-o", folder / "table.model", "--learner", "averaged", "--quiet")
    with type_in(environment, folder, f"rosenblatt {words}") as process:
        _, said = process.communicate()
    assert process.returncode == 1
    assert said.splitlines()[-1].endswith(f"is not installed: pip install 'rosenblatt[{extra}]'")
