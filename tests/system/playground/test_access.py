"""Keyboard, screen reader, contrast, size: the page is for everyone, on every screen."""

import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
IDS = ["learn", "guess", "move", "arrow", "score", "and", "race", "xor", "noise"]
IDS += ["lift", "kernel", "many", "rivals", "history", "yours"]
COMPARE = (
    "#data=noise&n=100&noise=0.16&held=0.3&seed=2&learner=perceptron&learner=perceptron,keep:average"
    "&learner=perceptron,keep:vote&learner=perceptron,keep:pocket&epochs=8&step=300&speed=30"
)
DARK, PHONE = {"dark": True}, {"width": 390, "height": 844}
# The states of the lab: a link, a size, a theme.
STATES: dict[str, tuple[str, dict[str, Any]]] = {
    "proof": ("#data=and&learner=perceptron&epochs=100&step=24", {}),
    "mistake-dark": ("#data=blobs&n=60&margin=0.1&seed=1&learner=perceptron&epochs=100&step=7&shade=yes", DARK),
    "xor": ("#data=xor&learner=perceptron&epochs=12&step=46&proof=yes", {}),
    "compare": (COMPARE, {}),
    "kernel-dark": (
        "#data=moons&n=120&noise=0.1&seed=1&learner=perceptron,kernel:rbf,gamma:2&learner=PA-I&epochs=20&step=100",
        DARK,
    ),
    "classes": ("#data=three&n=60&margin=0.6&seed=1&learner=perceptron&epochs=100&step=4", {}),
    "phone": ("#data=blobs&n=60&margin=0.3&seed=1&learner=perceptron&epochs=100&step=90", PHONE),
    "phone-dark": (
        "#data=circles&n=80&noise=0.12&seed=1&learner=perceptron,kernel:rbf&epochs=100&step=90",
        PHONE | DARK,
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


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checker of WCAG by Deque, from npm."""
    folder = tmp_path_factory.mktemp("axe")
    npm = shutil.which("npm")
    if not npm or subprocess.run([npm, "pack", "--silent", "axe-core"], cwd=folder, capture_output=True).returncode:
        pytest.skip("npm or its package axe-core is not there")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        archive.extract("package/axe.min.js", folder, filter="data")
    return folder / "package" / "axe.min.js"


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", ["laptop", "phone"])
def test_wcag(visit: Any, axe: Path, size: str, dark: bool) -> None:
    """WCAG 2.2, levels A and AA, for all screens of the story, the lab with its code, and an embedded figure."""
    width, height = SIZES[size]
    for link in ("#scene=1", "#data=and&step=24&code=yes", "?embed#scene=race&margin=0.9"):
        page = visit(link, width=width, height=height, dark=dark, bypass_csp=True)
        for name in IDS if link == "#scene=1" else ():
            page.evaluate("(name) => (location.hash = `#scene=${name}`)", name)
            page.locator(f"#screen-{name} .task").wait_for()
        page.add_script_tag(path=axe)
        found = page.evaluate("axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })")
        assert found["passes"]
        assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []


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
