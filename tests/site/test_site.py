"""The built site: no broken link, nothing from another host, and pages that fit a telephone in both themes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest


class Page(HTMLParser):
    """The links, anchors and loaded files of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in ("script", "img", "iframe", "source") and "src" in found:
            self.loads.append(found["src"])
        elif tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(found["href"])


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, Page]:
    found = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    assert len(found) > 80
    return {path: Page(path) for path in found}


def test_every_link_leads_to_a_file_and_an_anchor(site: Path, pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            if link.startswith(("http:", "https:", "mailto:")) or "play" in path.parts:
                continue
            name, _, anchor = unquote(link).partition("#")
            goal = (path.parent / name.partition("?")[0]).resolve() if name else path
            anchors = pages[goal].anchors if goal in pages and "play" not in goal.parts else {anchor}
            if not goal.is_file() or (anchor and anchor not in anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_another_host(site: Path, pages: dict[Path, Page]) -> None:
    foreign = [load for page in pages.values() for load in page.loads if load.startswith(("http:", "https:", "//"))]
    assert foreign == []


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright_api = pytest.importorskip("playwright.sync_api")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not path:
        pytest.skip("no browser: apt-get install chromium, or set CHROMIUM to one")
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_scrolls_sideways_on_a_telephone(theme: str, site: Path, pages: dict[Path, Page], browser: Any) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=theme)
    tab = context.new_page()
    wide, colors = [], set()
    for path in pages:
        if path == site / "index.html" or "play" in path.parts or "_modules" in path.parts:
            continue
        tab.goto(path.as_uri(), wait_until="domcontentloaded")
        if tab.evaluate("document.documentElement.scrollWidth") > 390:
            wide.append(str(path.relative_to(site)))
        colors.add(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
    context.close()
    assert wide == []
    assert len(colors) == 1
    brightness = sum(int(part) for part in colors.pop().strip("rgba()").split(",")[:3])
    assert (brightness > 600) == (theme == "light")


def test_search_works_without_a_server(site: Path, browser: Any) -> None:
    tab = browser.new_page()
    tab.goto((site / "search.html").as_uri() + "?q=certify")
    tab.wait_for_selector("#search-results li a", timeout=20_000)
    found = tab.locator("#search-results li a").all_text_contents()
    tab.close()
    assert any("certify" in title for title in found), found


def test_the_playground_works_without_a_server(site: Path, browser: Any) -> None:
    tab = browser.new_page()
    complaints: list[str] = []
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    tab.goto((site / "play" / "index.html").as_uri() + "#scene=1")
    tab.wait_for_selector("#essay svg", timeout=20_000)
    assert "perceptron" in tab.locator("#essay").inner_text().lower()
    tab.goto((site / "docs" / "play.html").as_uri())
    inner = tab.frame_locator("iframe.play").locator("#main svg").first
    inner.wait_for(timeout=20_000)
    tab.close()
    assert complaints == []
