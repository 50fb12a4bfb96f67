"""The lock files name a version and hashes for everything that the tests need, and no place where it is fetched."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def locked(name: str) -> dict[str, tuple[Version, list[str]]]:
    text = (ROOT / "requirements" / name).read_text().replace("\\\n", " ")
    found = {}
    for line in text.splitlines():
        if match := re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", line):
            hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", line)
            found[match[1].lower()] = (Version(match[2]), hashes)
    return found


def wanted(extras: tuple[str, ...]) -> list[Requirement]:
    found, todo, done = [], list(PROJECT["project"]["dependencies"]), set()
    for extra in extras:
        todo += PROJECT["project"]["optional-dependencies"][extra]
    while todo:
        requirement = Requirement(todo.pop())
        if requirement.name == "rosenblatt":
            for extra in requirement.extras - done:
                done.add(extra)
                todo += PROJECT["project"]["optional-dependencies"][extra]
        else:
            found.append(requirement)
    return found


@pytest.mark.parametrize(("name", "extras"), [("run.txt", ()), ("test.txt", ("test", "lint"))])
def test_everything_is_locked(name: str, extras: tuple[str, ...]) -> None:
    """If this fails after a dependency was added: `make lock`."""
    held = locked(name)
    build = [Requirement(each) for each in PROJECT["build-system"]["requires"]]
    for requirement in [*wanted(extras), *build]:
        version, _ = held[requirement.name.lower().replace("_", "-")]
        assert requirement.specifier.contains(version, prereleases=True), requirement


@pytest.mark.parametrize("name", ["run.txt", "tools.txt", "test.txt", "fuzz.txt"])
def test_every_version_has_hashes_and_no_address(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text()
    assert "://" not in text
    assert "index-url" not in text
    assert "find-links" not in text
    held = locked(name)
    assert held
    assert all(hashes for _, hashes in held.values())


def test_both_files_say_the_same_versions() -> None:
    run, test = locked("run.txt"), locked("test.txt")
    assert all(test[name][0] == version for name, (version, _) in run.items())
