"""Every link between the pages leads somewhere: to a file that is there, and to a heading that it has."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def pages() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=False)
    return listed.stdout.split()


def without_code(text: str) -> str:
    """The page without fenced blocks and code in lines, where brackets are no links."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"(?ms)^```.*?^```$", "", text))


@cache
def headings(path: Path) -> set[str]:
    """The anchors of a page, as its host and the site make them."""
    lines = re.findall(r"(?m)^#{1,6} (.+)$", re.sub(r"(?ms)^```.*?^```$", "", path.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in lines}


@pytest.mark.parametrize("page", pages())
def test_links_lead_somewhere(page: str) -> None:
    path = ROOT / page
    wrong = []
    for found in LINK.finditer(without_code(path.read_text(encoding="utf-8"))):
        link = found[1] or found[2]
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        goal = (path.parent / name).resolve() if name else path
        if not goal.exists() or (anchor and goal.suffix == ".md" and anchor not in headings(goal)):
            wrong.append(link)
    assert wrong == []


def test_a_link_is_seen_and_code_is_not() -> None:
    text = "[a](b.md#c) `[no](d)`\n```\n[no](e)\n```\n![f](g.svg)"
    assert [found[1] or found[2] for found in LINK.finditer(without_code(text))] == ["b.md#c", "g.svg"]


def test_every_page_of_docs_has_its_place_on_the_site() -> None:
    listed = set(re.findall(r"(?m)^([\w./-]+)$", (ROOT / "docs" / "index.md").read_text(encoding="utf-8")))
    places = {(ROOT / "docs" / name).resolve().with_suffix(".md") for name in listed}
    for page in pages():
        if page.startswith("docs/") and not page.startswith(("docs/decisions/", "docs/index.md")):
            assert ROOT / page in places, f"{page} is in no toctree of docs/index.md"
