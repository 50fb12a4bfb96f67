"""The built site: nothing from another host, and pages that fit a phone in both themes."""

import os
import re
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the site, which `make docs` builds."""
    folder = Path(os.environ.get("ROSENBLATT_SITE", Path(__file__).resolve().parents[3] / "build" / "site"))
    if not (folder / "docs" / "index.html").is_file():
        pytest.skip(f"no site at {folder}: run make docs")
    return folder


@pytest.fixture(scope="session")
def pages(site: Path) -> list[Path]:
    """The pages, without those of the playground."""
    return [path for path in site.rglob("*.html") if not {"_static", "play"} & set(path.relative_to(site).parts)]


def test_nothing_is_loaded_from_another_host(pages: list[Path]) -> None:
    loaded = re.compile(r"<(?:script|img|iframe|source|link)\b[^>]*?(?:src|href)=\"((?:https?:)?//[^\"]*)\"")
    found = {load for path in pages for load in loaded.findall(path.read_text(encoding="utf-8"))}
    assert found == set()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_scrolls_sideways_on_a_phone(theme: str, site: Path, pages: list[Path], browser: Any) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=theme)
    tab = context.new_page()
    wide, colors = [], set()
    for path in pages:
        if path == site / "index.html":  # forwards to docs/index.html
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
    tab.goto((site / "docs" / "playground.html").as_uri())
    inner = tab.frame_locator("iframe.play").locator("#main svg").first
    inner.wait_for(timeout=20_000)
    tab.close()
    assert complaints == []
