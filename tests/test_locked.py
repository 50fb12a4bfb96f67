"""requirements.lock names a version and hashes for everything in pyproject.toml, and no place where it is fetched."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parent.parent
LOCK = (ROOT / "requirements.lock").read_text()


def locked(text: str) -> dict[str, list[tuple[Version, list[str]]]]:
    found: dict[str, list[tuple[Version, list[str]]]] = {}
    for line in text.replace("\\\n", " ").splitlines():
        if match := re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", line):
            hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", line)
            found.setdefault(match[1].lower(), []).append((Version(match[2]), hashes))
    return found


def check(requirements: list[str], text: str) -> None:
    held = locked(text)
    for each in map(Requirement, requirements):
        versions = held[each.name.lower().replace("_", "-")]
        assert any(each.specifier.contains(version, prereleases=True) for version, _ in versions), each


def test_everything_is_locked() -> None:
    """If this fails after a dependency was added: tools/lock.sh."""
    file = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, groups = file["project"], file["dependency-groups"]
    check([*project["dependencies"], *groups["build"]], LOCK.split("# Development")[0])
    check([each for extra in (*project["optional-dependencies"].values(), *groups.values()) for each in extra], LOCK)


def test_every_version_has_hashes_and_no_address() -> None:
    assert "://" not in LOCK
    assert "index-url" not in LOCK
    assert all(hashes for versions in locked(LOCK).values() for _, hashes in versions)
