"""Versions that are claimed are versions that are tested: pyproject.toml has the bounds of `make test-oldest`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def bounds() -> dict[str, str]:
    """The lowest version of each package that is needed to run or test."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["test"]]
    for name in re.findall(r"rosenblatt\[([\w,]+)\]", " ".join(extras["test"]))[0].split(","):
        needed += extras[name]
    found = (re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+).*", each) for each in needed)
    return {each[1]: each[2] for each in found if each}


def test_the_oldest_versions_that_are_tested_are_those_that_are_claimed() -> None:
    lines = (ROOT / "requirements" / "oldest.txt").read_text().splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    claimed = bounds()
    assert len(claimed) > 15
    assert tested.keys() == claimed.keys()
    for name, version in claimed.items():
        # Of 2.2 and 2.2.0 the first is meant; a later patch is tested where the first is not there.
        assert parts(tested[name])[: len(parts(version))] == parts(version), name
