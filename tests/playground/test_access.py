"""Keyboard, screen reader, contrast, size: the page is for everyone, on every screen."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from rosenblatt.playground.page import page_files

HERE = Path(__file__).parent
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
COMPARE = (
    "#data=noise&n=100&noise=0.16&seed=2&learner=perceptron&learner=perceptron,keep:average"
    "&learner=perceptron,keep:vote&learner=perceptron,keep:pocket&epochs=8&step=437&speed=30&scene=7"
)
STATES = {
    "proof": ("#data=and&learner=perceptron&epochs=100&step=24", {}),
    "mistake": ("#data=blobs&n=60&margin=0.1&seed=1&learner=perceptron&epochs=100&step=7", {}),
    "xor-dark": ("#data=xor&learner=perceptron&epochs=12&step=47&proof=yes", {"dark": True}),
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
        "#data=circles&n=80&noise=0.12&seed=1&learner=perceptron,kernel:rbf&epochs=100&step=90&scene=8",
        {"width": 390, "height": 844, "dark": True},
    ),
    "projector": (COMPARE, {"width": 1920, "height": 1080}),
    "tablet": ("#data=drift&learner=perceptron&learner=PA&epochs=5&step=120", {"width": 820, "height": 1180}),
}


def call(page: Any, function: str) -> Any:
    page.route("**/tests/access.js", lambda route: route.fulfill(path=HERE / "access.js"))
    return page.evaluate("async (f) => (await import('/tests/access.js'))[f]()", function)


@pytest.mark.parametrize("name", STATES)
def test_the_main_states(screen: Any, address: str, name: str, tmp_path: Path) -> None:
    """Names, contrast, nothing over anything else; and a picture, kept in docs where ``ROSENBLATT_PICTURES`` is set."""
    link, options = STATES[name]
    page = screen
    page.set_viewport_size({"width": options.get("width", 1280), "height": options.get("height", 720)})
    page.emulate_media(color_scheme="dark" if options.get("dark") else "light", reduced_motion="reduce")
    page.goto(address + link)
    page.wait_for_timeout(400)
    picture = tmp_path / f"playground-{name}.png"
    page.screenshot(path=picture)
    assert call(page, "faults") == []
    assert call(page, "overlaps") == []
    assert picture.stat().st_size > 20_000
    if os.environ.get("ROSENBLATT_PICTURES"):
        from PIL import Image

        Image.open(picture).convert("RGB").quantize(256, kmeans=1).save(PICTURES / picture.name, optimize=True)


@pytest.mark.parametrize("dark", [False, True])
def test_dialogs_menus_and_messages(visit: Any, dark: bool) -> None:
    page = visit("#data=and&learner=perceptron&step=20", dark=dark)
    found = call(page, "marks")["found"]
    assert {name: ratio for name, ratio in found.items() if ratio < 3} == {}
    page.locator("#save summary").click()
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
    page.wait_for_selector(".plane .origin", state="attached")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    page.get_by_role("button", name="Light theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == light


def test_keys_alone_do_everything(visit: Any) -> None:
    page = visit("#data=and&learner=perceptron&epochs=100&step=0&speed=5")
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
    points = page.locator(".plane .points path")
    assert points.count() == 5
    assert "Added a point of class 1" in page.inner_text("#status")
    press("n")
    assert page.inner_text("#status") == "Row 1, class 0, at 0, 0."
    press("p")
    assert page.inner_text("#status").startswith("Row 5, class 1")
    before = points.nth(4).get_attribute("transform")
    press("ArrowUp")
    assert points.nth(4).get_attribute("transform") != before
    press("Delete")
    assert points.count() == 4
    press("Control+z")
    assert points.count() == 5
    press("Control+Shift+z")
    assert points.count() == 4
    press("Escape")
    press("1")
    assert page.locator(".tool input").nth(0).is_checked()
    press("e")
    assert page.locator(".tool input[value=erase]").is_checked()
    press("t")
    assert "Scene 1 of 8" in page.inner_text("#tour")
    press("Escape")
    assert page.locator("#tour").is_hidden()
    press("?")
    assert page.locator("#help").is_visible()
    press("Escape")


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
        "tour-open link-copy theme help-open AND Margin tool shuffle csv-load board Learner compare rule keep kernel "
        "epochs axis first play mistake speed time"
    )
    assert [control for control in controls.split() if control not in names] == []


def test_the_tour_of_eight_scenes(visit: Any) -> None:
    page = visit()
    page.get_by_role("button", name="Guided tour").click()
    titles = []
    for scene in range(1, 9):
        assert f"Scene {scene} of 8" in page.inner_text("#tour")
        assert page.evaluate("document.activeElement.id") == "tour-title"
        titles.append(page.inner_text("#tour h2"))
        assert call(page, "overlaps") == []
        assert len(page.inner_text("#tour").split()) < 130
        page.locator("#tour-next").click()
    assert titles == [
        "A line that decides",
        "One update",
        "Why it helps",
        "Learning AND",
        "The theorem at work",
        "XOR: what no line can do",
        "Averaging and voting",
        "The kernel trick",
    ]
    assert page.locator("#tour").is_hidden()
    page.get_by_role("button", name="Guided tour").click()
    page.get_by_role("button", name="Scene 4: Learning AND").click()
    assert "18 mistakes · 0 wrong · converged" in page.inner_text("figcaption")
    assert "w = (3, 2), b = −4" in page.inner_text("#tour")
    page.locator("#tour-back").click()
    page.locator("#tour-close").click()
    assert page.evaluate("document.activeElement.id") == "tour-open"


def test_the_tour_says_what_is_true(visit: Any) -> None:
    page = visit("#scene=1")
    page.get_by_role("button", name="Scene 2: One update").click()
    assert "Row 2" in page.inner_text("#said")
    assert page.inner_text("#badge") == "✗ mistake"
    page.get_by_role("button", name="Scene 3: Why it helps").click()
    assert page.inner_text("#badge") == "✗ mistake"
    page.get_by_role("button", name="Scene 5: The theorem at work").click()
    assert page.locator("#chart .meet").count() == 1
    page.get_by_role("button", name="To convergence").click()
    assert "24 mistakes of at most 80" in page.inner_text("#proof")
    page.get_by_role("slider", name="Margin").fill("1")
    assert "Separable." in page.inner_text("#verdict")
    page.get_by_role("button", name="Scene 6: XOR").click()
    assert "Not separable." in page.inner_text("#verdict")
    page.get_by_role("button", name="Scene 7: Averaging and voting").click()
    assert len({text.split("·")[0].split("\n")[1] for text in page.locator("figcaption").all_inner_texts()}) == 1
    page.get_by_role("button", name="Scene 8: The kernel trick").click()
    captions = page.locator("figcaption").all_inner_texts()
    assert ["✓" in text for text in captions] == [False, True, True]


def test_the_page_is_small() -> None:
    """Everything that is served or exported, in bytes as it lies on the disk."""
    assert sum(path.stat().st_size for path in page_files().values()) < 150_000
