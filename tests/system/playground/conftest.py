"""A real server, pages and the page's engine for the tests of the playground."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rosenblatt.playground import make_server, page_address

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with make_server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield page_address(server)
        server.shutdown()


class Visit:
    """Opens pages in fresh contexts, and remembers what no page may do: log errors, or ask another host.

    With a `clock`, what takes seconds is run in an instant: `page.clock.run_for(9000)`.
    """

    def __init__(self, browser: Any, address: str) -> None:
        self.browser = browser
        self.address = address
        self.complaints: list[str] = []
        self.contexts: list[Any] = []

    def __call__(
        self,
        link: str = "#data=blobs",
        *,
        width: int = 1280,
        height: int = 720,
        dark: bool = False,
        still: bool = True,
        clock: bool = False,
        **options: Any,
    ) -> Any:
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce" if still else "no-preference",
            **options,
        )
        context.set_default_timeout(30_000)
        self.contexts.append(context)
        page = context.new_page()
        if clock:
            page.clock.install()
        page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: self.complaints.append(str(e)))
        page.on("request", self.watch)
        page.goto(self.address + link)
        page.wait_for_selector("#board .plane, .screen .board", state="attached")
        return page

    def watch(self, request: Any) -> None:
        if not request.url.startswith((self.address, "blob:", "data:")):
            self.complaints.append(f"asked {request.url}")

    def leave(self) -> None:
        for context in self.contexts:
            context.close()
        assert self.complaints == []


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Visit]:
    visit = Visit(browser, address)
    yield visit
    visit.leave()


@pytest.fixture(scope="session")
def shared(browser: Any, address: str) -> Iterator[Any]:
    """One page for many tests: opening a page takes longer than most of them."""
    visit = Visit(browser, address)
    yield visit(permissions=["clipboard-read", "clipboard-write"])
    visit.leave()


@pytest.fixture
def screen(shared: Any) -> Any:
    """Follow a link in the shared page, in a size and a theme."""

    def go(link: str, *, width: int = 1280, height: int = 720, dark: bool = False) -> Any:
        shared.mouse.move(0, 0)  # or the hint of what it points at stays
        shared.bring_to_front()  # a page behind another draws no frames, so it would not see its new size
        shared.set_viewport_size({"width": width, "height": height})
        shared.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
        shared.evaluate(
            """() => { document.activeElement.blur(); document.querySelector('#message').hidden = true;
            document.querySelector('#options').open = false;
            document.querySelector('#tools input[value="1"]')?.click(); location.hash = '#scene=1'; }"""
        )
        shared.wait_for_selector("#screen-learn", state="visible")
        shared.evaluate("(link) => (location.hash = link)", link)
        shared.wait_for_selector("#board .plane" if "scene" not in link else ".screen .board")
        return shared

    return go


@pytest.fixture(scope="module")
def story(browser: Any, address: str) -> Iterator[Any]:
    """One page for the figures of all screens: each is used by one test alone."""
    visit = Visit(browser, address)
    yield visit("#scene=1", clock=True)
    visit.leave()


class Chromium:
    """Calls a function of a JavaScript module in the page."""

    def __init__(self, visit: Visit) -> None:
        self.page = visit()
        self.page.route("**/tests/*", lambda route: route.fulfill(path=HERE / route.request.url.rsplit("/", 1)[1]))
        self.address = visit.address

    def __call__(self, module: str, function: str, *arguments: Any) -> Any:
        call = "async ([m, f, b, a]) => JSON.stringify(await (await import(m))[f](b, ...JSON.parse(a)))"
        sent = [f"{self.address}tests/{module}", function, self.address, json.dumps(arguments)]
        return json.loads(self.page.evaluate(call, sent))


@pytest.fixture(scope="session")
def engine(browser: Any, address: str) -> Iterator[Chromium]:
    visit = Visit(browser, address)
    yield Chromium(visit)
    visit.leave()
