"""Keyboard, screen reader, contrast, size: the page is for everyone, on every screen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rosenblatt.playground.page import page_files, slim

HERE = Path(__file__).parent
IDS = [
    "learn",
    "guess",
    "move",
    "arrow",
    "score",
    "and",
    "race",
    "xor",
    "noise",
    "lift",
    "kernel",
    "many",
    "history",
    "yours",
]
COMPARE = (
    "#data=noise&n=100&noise=0.16&held=0.3&seed=2&learner=perceptron&learner=perceptron,keep:average"
    "&learner=perceptron,keep:vote&learner=perceptron,keep:pocket&epochs=8&step=300&speed=30"
)
# The states of the lab: a link, a size, a theme.
STATES: dict[str, tuple[str, dict[str, Any]]] = {
    "proof": ("#data=and&learner=perceptron&epochs=100&step=24", {}),
    "mistake-dark": (
        "#data=blobs&n=60&margin=0.1&seed=1&learner=perceptron&epochs=100&step=7&shade=yes",
        {"dark": True},
    ),
    "xor": ("#data=xor&learner=perceptron&epochs=12&step=46&proof=yes", {}),
    "compare": (COMPARE, {}),
    "kernel-dark": (
        "#data=moons&n=120&noise=0.1&seed=1&learner=perceptron,kernel:rbf,gamma:2&learner=PA-I&epochs=20&step=100",
        {"dark": True},
    ),
    "classes": ("#data=three&n=60&margin=0.6&seed=1&learner=perceptron&epochs=100&step=4", {}),
    "phone": (
        "#data=blobs&n=60&margin=0.3&seed=1&learner=perceptron&epochs=100&step=90",
        {"width": 390, "height": 844},
    ),
    "phone-dark": (
        "#data=circles&n=80&noise=0.12&seed=1&learner=perceptron,kernel:rbf&epochs=100&step=90",
        {"width": 390, "height": 844, "dark": True},
    ),
    "projector": (COMPARE, {"width": 1920, "height": 1080}),
    "zoomed": ("#data=and&learner=perceptron&step=9", {"width": 640, "height": 360}),
    "tablet": ("#data=drift&learner=perceptron&learner=PA&epochs=5&step=120", {"width": 820, "height": 1180}),
}
SIZES = {"laptop": (1280, 720), "phone": (390, 844), "projector": (1920, 1080)}


def call(page: Any, function: str, *arguments: Any) -> Any:
    page.route("**/tests/access.js", lambda route: route.fulfill(path=HERE / "access.js"))
    return page.evaluate("async ([f, a]) => (await import('/tests/access.js'))[f](...a)", [function, arguments])


def seen(page: Any, least: int = 12) -> list[str]:
    """What is wrong with what is shown, once the page has come to rest."""
    found: list[str] = []

    def is_right() -> bool:
        found[:] = [*call(page, "faults", least), *call(page, "overlaps"), *call(page, "collisions")]
        return not found

    comes(page, is_right)
    return found


def comes(page: Any, holds: Callable[[], bool]) -> bool:
    """Is it so, once the page has come to rest? A change of size is drawn later, on a busy machine much later."""
    for _ in range(200):
        if holds():
            return True
        page.wait_for_timeout(150)
    return False


@pytest.mark.parametrize("name", STATES)
def test_the_main_states_of_the_lab(screen: Any, name: str) -> None:
    """Names, contrast, no text under 12 px, nothing over anything else."""
    link, options = STATES[name]
    page = screen(link, **options)
    assert seen(page) == []


@pytest.mark.parametrize(
    ("size", "dark"),
    [
        pytest.param(size, dark, marks=[pytest.mark.slow] * ((size, dark) not in (("phone", False), ("laptop", True))))
        for size in SIZES
        for dark in (False, True)
    ],
)
def test_every_screen_of_the_story(screen: Any, size: str, dark: bool) -> None:
    """All figures at once: every name, contrast and size, no text over another, no scrolling sideways."""
    width, height = SIZES[size]
    page = screen("#scene=1", width=width, height=height, dark=dark)
    for name in IDS:
        page.evaluate("(name) => (location.hash = `#scene=${name}`)", name)
        page.locator(f"#screen-{name} .task").wait_for()
    page.evaluate("location.hash = '#scene=1'")
    assert seen(page) == []
    # One screen at a time: what belongs together fits into the window, or stays in sight.
    for name in IDS:
        box = page.locator(f"#screen-{name}").bounding_box()
        figure = page.locator(f"#screen-{name} .figure").bounding_box()
        assert figure["height"] <= height, name
        assert box["height"] <= (height + 2 if size != "phone" else 1.5 * height), name


@pytest.mark.parametrize("size", ["laptop", "projector"])
def test_a_presentation_has_no_text_under_16_pixels(screen: Any, size: str) -> None:
    width, height = SIZES[size]
    page = screen("#data=and&learner=perceptron&epochs=100&step=24", width=width, height=height)
    page.keyboard.press("f")
    page.locator("#data").wait_for(state="hidden")
    assert page.locator("#learners").is_hidden()
    assert seen(page, 16) == []
    page.get_by_role("button", name="End presentation").click()
    assert page.locator("#data").is_visible()


def test_the_story_can_be_presented(screen: Any) -> None:
    """On a projector every screen fits, and no text has less than 16 pixels."""
    width, height = SIZES["projector"]
    page = screen("#scene=1", width=width, height=height)
    page.keyboard.press("f")
    for name in IDS:
        page.evaluate("(name) => (location.hash = `#scene=${name}`)", name)
        page.locator(f"#screen-{name} .task").wait_for()
        assert page.locator(f"#screen-{name}").bounding_box()["height"] <= height + 2, name
    assert seen(page, 16) == []
    page.get_by_role("button", name="End presentation").click()


@pytest.mark.slow
def test_forced_colors_keep_the_moment_in_sight(visit: Any) -> None:
    page = visit("#data=and&learner=perceptron&step=20", forced_colors="active")
    color = "(id) => getComputedStyle(document.getElementById(id)).backgroundColor"
    assert page.evaluate(color, "now") != page.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.slow
def test_the_tools_are_beside_the_plane_on_every_screen(screen: Any) -> None:
    for width, height in [(1280, 720), (640, 360), (390, 844), (820, 1180)]:
        page = screen("#data=blobs&step=9", width=width, height=height)
        tools, board = (page.locator(id).bounding_box() for id in ("#toolbar", "#board"))
        assert 0 <= board["y"] - (tools["y"] + tools["height"]) < 20
    # At 200 % zoom the sentence is beside the plane.
    page = screen("#data=blobs&step=9", width=640, height=360)
    said, board = (page.locator(id).bounding_box() for id in ("#said", "#board"))
    assert said["y"] < board["y"] + board["height"]
    # On a phone the sentence is read with the plane still in sight.
    page = screen("#data=blobs&step=9", width=390, height=844)
    page.evaluate("scrollTo(0, 400)")
    page.wait_for_timeout(200)
    assert page.evaluate("scrollY") > 100

    def between(name: str | None = None) -> bool:
        plane, time = (page.locator(id).bounding_box() for id in ("#board .plane", "#transport"))
        box = page.locator(name).bounding_box() if name else {"y": time["y"] - 1, "height": 0}
        end = plane["y"] + plane["height"]
        return 0 <= plane["y"] < 300 and end <= box["y"] <= box["y"] + box["height"] <= time["y"] + 1 < 845

    assert comes(page, between)
    # What has the focus comes to lie between the two, not under one of them.
    for name in ("#ledger-open", "#form [name=kernel]", "#csv-load"):
        page.locator(name).focus()
        assert comes(page, partial(between, name)), name


@pytest.mark.parametrize("dark", [False, True])
def test_dialogs_menus_and_messages(screen: Any, dark: bool) -> None:
    page = screen("#data=and&learner=perceptron&step=20", dark=dark)
    found = call(page, "marks")["found"]
    assert {name: ratio for name, ratio in found.items() if ratio < 3} == {}
    page.locator("#save").click()
    assert call(page, "faults") == []
    page.get_by_role("button", name="Python lines").click()
    assert call(page, "faults") == []
    page.keyboard.press("Escape")
    for opener in ["Help and keys", "Ledger"]:
        page.get_by_role("button", name=opener).click()
        assert call(page, "faults") == []
        page.keyboard.press("Escape")
    page.evaluate("location.hash = '#step=many'")
    page.get_by_text("This link is broken").wait_for()
    assert call(page, "faults") == []


def test_the_theme_is_chosen_and_kept(visit: Any) -> None:
    page = visit()
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Dark theme").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (light, dark) == ("rgb(246, 244, 238)", "rgb(17, 21, 28)")
    page.reload()
    page.wait_for_selector("#board .plane", state="attached")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    page.get_by_role("button", name="Light theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == light


def test_keys_alone_do_everything(screen: Any) -> None:
    page = screen("#data=and&learner=perceptron&epochs=100&step=0&speed=5")
    press = page.keyboard.press
    text = page.locator("#transport .where")
    press("ArrowRight")
    press("ArrowRight")
    press("ArrowLeft")
    assert "step 1 / 36" in text.inner_text()
    assert "Row 1: x = (0, 0), class 0, so y = −1." in page.inner_text("#status")
    press("m")
    assert "step 4 / 36" in text.inner_text()
    press("End")
    assert page.inner_text("#status") == "Converged at step 36 after 18 mistakes."
    press("Home")
    assert "step 0 / 36" in text.inner_text()
    press("Space")
    page.get_by_role("button", name="Pause").wait_for()
    press("Space")
    page.get_by_role("button", name="Play").wait_for()
    # The plane: add, pick, move and delete points.
    page.locator("#board").focus()
    for _ in range(3):
        press("ArrowRight")
    press("Enter")
    points = page.locator("#board .points path")
    assert points.count() == 5
    assert "Added a point of class 1" in page.inner_text("#status")
    press("n")
    assert page.inner_text("#status") == "Row 1, class 0, at 0, 0."
    press("p")
    assert page.inner_text("#status").startswith("Row 5, class 1")
    before = points.nth(4).get_attribute("d")
    press("ArrowUp")
    assert points.nth(4).get_attribute("d") != before
    press("Delete")
    assert points.count() == 4
    press("Control+z")
    assert points.count() == 5
    press("Control+Shift+z")
    assert points.count() == 4
    press("Escape")
    press("1")
    assert page.locator("#tools .tool input").nth(0).is_checked()
    press("e")
    assert page.locator(".tool input[value=erase]").is_checked()
    press("?")
    assert page.locator("#help").is_visible()
    press("Escape")


@pytest.mark.slow
def test_tab_reaches_every_control_in_a_visible_place(visit: Any) -> None:
    page = visit("#data=blobs&n=60&margin=0.3&seed=1&learner=perceptron&learner=PA-I&step=9")
    reached = []
    for _ in range(90):
        page.keyboard.press("Tab")
        told = page.evaluate(
            """() => { const n = document.activeElement; const b = n.getBoundingClientRect();
            return [n.id || n.getAttribute('aria-label') || n.name || n.textContent.trim(), b.width * b.height,
              getComputedStyle(n).outlineStyle + getComputedStyle(n.parentElement).outlineStyle
              + (n.nextElementSibling ? getComputedStyle(n.nextElementSibling).outlineStyle : '')]; }"""
        )
        if page.evaluate("document.activeElement === document.body"):
            break
        reached.append(told[0])
        assert told[1] > 0, told
        assert "solid" in told[2] or "auto" in told[2], f"{told[0]}: the focus cannot be seen"
    names = " ".join(reached)
    controls = (
        "to-essay to-lab link-copy present theme help-open AND Gap tool shuffle csv-load board Learner compare rule "
        "keep kernel axis first play mistake speed time"
    )
    assert [control for control in controls.split() if control not in names] == []


def test_the_page_is_small() -> None:
    """Everything that is served or exported, in bytes, before a web server packs it."""
    assert sum(len(slim(path)) for path in page_files().values()) < 205_000
