"""The live page and the page of the interface, in a real browser."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from running import TOKENS, Server, running, wait_for


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("live")
    words = ("--learner", "perceptron", "--learn", folder / "log.sqlite")
    with running(folder, *words) as server:
        rows = [{"height": float(at % 7 - 3), "<b>weight</b>": 1.0} for at in range(3000)]
        labels = ["tall" if row["height"] > 0 else "short" for row in rows]
        server.post("/learn", {"rows": rows, "labels": labels})
        # From here on nothing is to be learned any more.
        labels = ["tall" if at // 3 % 2 else "short" for at in range(400)]
        server.post("/learn", {"rows": rows[:400], "labels": labels})
        server.post("/predict", {"row": rows[0], "min_seq": 3400})
        yield server


class Pages:
    """Opens pages, and keeps what no page may do: log errors, or ask another host."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.contexts: list[Any] = []
        self.complaints: list[str] = []

    def open(self, server: Server, path: str = "/", **options: Any) -> Any:
        address = f"http://127.0.0.1:{server.port}"
        self.contexts.append(self.browser.new_context(**options))
        page = self.contexts[-1].new_page()
        page.on("console", lambda said: said.type == "error" and self.complaints.append(said.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda asked: asked.url.startswith(address) or self.complaints.append(asked.url))
        page.goto(address + path)
        return page


@pytest.fixture
def pages(browser: Any) -> Iterator[Pages]:
    found = Pages(browser)
    yield found
    for context in found.contexts:  # and no other one: the browser is shared
        context.close()


def test_the_live_page_shows_how_it_goes(pages: Pages, live: Server) -> None:
    page = pages.open(live)
    page.wait_for_selector("#state.good")
    assert page.inner_text("#state") == "predicts and learns"
    figures = page.inner_text("#figures")
    for name in ("examples", "error of all", "error of the latest 1,000", "features", "log"):
        assert name in figures
    assert "3,400" in figures
    assert page.locator("#curves path:not(.grid):not(.mark)").count() == 2
    assert page.locator("#curves path.mark").count() >= 1
    assert "Drift: mistakes became more frequent at example 3,0" in page.inner_text("#alarm")
    newest = page.inner_text("#mistakes tbody tr:first-child")
    assert "<b>weight</b>" in newest  # a client's text, not markup
    assert re.search(r"^3,\d\d\d\s+(tall|short)\s+(tall|short)", newest)
    assert not pages.complaints


def test_it_goes_on_by_itself(pages: Pages, live: Server) -> None:
    page = pages.open(live)
    page.wait_for_selector("#state.good")
    before = live.get("/model")["examples"]
    live.post("/learn", {"row": {"height": 1.0}, "label": "short"})
    wait_for(lambda: f"{before + 1:,}" in page.inner_text("#figures"))
    assert not pages.complaints


def test_with_tokens_the_page_asks_for_one(pages: Pages, guarded: Server) -> None:
    page = pages.open(guarded)
    page.wait_for_selector("#ask:not([hidden])")
    assert "Authorization" in page.inner_text("#state")
    page.fill("#token", TOKENS["learn"])
    page.click("#ask button")
    page.wait_for_selector("#state.good")
    assert page.is_hidden("#ask")
    assert all("401" in complaint for complaint in pages.complaints)  # what the browser says of the first request


def test_the_page_of_the_interface_lists_every_path(pages: Pages, live: Server) -> None:
    page = pages.open(live, "/docs")
    page.wait_for_selector("section.panel")
    text = page.inner_text("main")
    for path in live.get("/openapi.json")["paths"]:
        assert path in text
    assert not pages.complaints
