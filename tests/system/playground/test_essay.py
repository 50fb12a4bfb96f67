"""The story: every figure reaches what it is there to show, by the gesture that its text asks for."""

import re
from typing import Any

import pytest


@pytest.fixture
def open_screen(story: Any) -> Any:
    def open_one(name: str) -> Any:
        story.evaluate("(name) => (location.hash = `#scene=${name}`)", name)
        screen = story.locator(f"#screen-{name}")
        screen.locator(".task").wait_for()
        return story, screen

    return open_one


def point(screen: Any, row: int) -> tuple[float, float]:
    box = screen.locator(f'[data-row="{row}"]').bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Any, start: tuple[float, float], *way: tuple[float, float]) -> None:
    """Press, go by these steps, and let go."""
    page.mouse.move(*start)
    page.mouse.down()
    x, y = start
    for dx, dy in way:
        x, y = x + dx, y + dy
        page.mouse.move(x, y, steps=3)
    page.mouse.up()


def praised(screen: Any) -> str:
    """What the task says once it has noticed its success."""
    screen.locator(".task.done").wait_for()
    return str(screen.locator(".task span").inner_text())


def choose(screen: Any, name: str) -> None:
    screen.get_by_role("button", name=name).click()


@pytest.mark.slow
def test_the_page_opens_on_the_story_and_moves_by_itself(visit: Any) -> None:
    page = visit("", still=False, clock=True)
    screen = page.locator("#screen-learn")
    assert screen.locator("h2").inner_text() == "A machine that learns from its mistakes"
    # The first mistakes appear and the line is found within ten seconds, without a click.
    screen.get_by_text("Wrong: the line moves.").wait_for()
    page.clock.run_for(10_000)
    screen.get_by_text("A whole round is right: done, after 6 mistakes.").wait_for()
    assert screen.get_by_role("button", name="Play again").count() == 1


def test_guess_by_turning_and_shifting_the_line(open_screen: Any) -> None:
    page, screen = open_screen("guess")
    assert "wrong" in screen.locator(".said").inner_text()
    screen.get_by_role("slider", name="Turn the line").fill("56")
    assert "guesses are wrong" in screen.locator(".said").inner_text()
    screen.get_by_role("slider", name="Shift the line").fill("-0.3")
    assert praised(screen).startswith("Every guess is right.")
    grip = screen.locator(".grip").bounding_box()
    drag(page, (grip["x"] + 9, grip["y"] + 9), (-120, 10))
    assert "wrong" in screen.locator(".said").inner_text()
    assert float(screen.get_by_role("slider", name="Turn the line").input_value()) > 90, "the sliders follow the hand"
    page.mouse.move(*point(screen, 0))
    assert "Under the pointer the score is" in screen.locator(".said").inner_text()


def test_kernel_by_adding_a_point_among_the_others(open_screen: Any) -> None:
    page, screen = open_screen("kernel")
    row = next(j for j in range(60) if "class0" in screen.locator(f'[data-row="{j}"]').get_attribute("class"))
    x, y = point(screen, row)
    page.mouse.click(x + 24, y + 24)
    assert screen.locator(".points path").count() == 61
    assert praised(screen).startswith("It does: every point is right again")
    before = screen.locator(".boundary").get_attribute("d")
    screen.get_by_role("slider", name="Reach of a point").fill("0.2")
    assert screen.locator(".boundary").get_attribute("d") != before


def test_yours_by_drawing_and_on_to_the_lab(open_screen: Any) -> None:
    page, screen = open_screen("yours")
    box = screen.locator(".board").bounding_box()
    for kind, share in (("● blue", 0.7), ("■ orange", 0.3)):
        choose(screen, kind)
        for j in range(3):
            page.mouse.click(box["x"] + box["width"] * share, box["y"] + box["height"] * (0.3 + 0.2 * j))
    assert praised(screen) == "It learned what you drew."
    assert re.fullmatch(r"6 points, \d+ mistakes?, and now all are right\.", screen.locator(".said").inner_text())
    screen.get_by_role("link", name="Take it to the lab").click()
    page.locator("#board [data-row='5']").wait_for(state="attached")
    assert page.locator("#board .points path").count() == 6
    assert page.locator("#essay").is_hidden()


def test_a_link_to_a_screen_opens_that_screen_and_keys_go_on(visit: Any) -> None:
    page = visit("#scene=7")
    focused = "document.activeElement.textContent"
    assert page.evaluate(focused) == "How often can it be wrong?"
    page.wait_for_timeout(400)
    assert page.evaluate("location.hash") == "#scene=race"
    for key, title in (("PageDown", "What no line can do"), ("ArrowRight", "When the kinds overlap")):
        page.keyboard.press(key)
        assert page.evaluate(focused) == title
        page.wait_for_timeout(400)
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(focused) == "What no line can do"
    for wrong in ("none", "16", "%E0"):
        page.evaluate("(name) => (location.hash = `#scene=${name}`)", wrong)
        page.get_by_text(f'The story has no screen "{wrong}".').wait_for()


def test_keys_alone_go_through_the_story(visit: Any) -> None:
    """Every gesture has its key: points are picked and moved, corners changed, the figure turned."""
    page = visit("#scene=xor")
    screen = page.locator("#screen-xor")
    press = page.keyboard.press
    screen.locator(".board").focus()
    for _ in range(4):
        press("n")
    assert page.inner_text("#status").startswith("Row 4, class 0")
    for _ in range(12):
        press("ArrowLeft")
        press("ArrowDown")
    assert praised(screen).startswith("Nothing is on both sides now")
    press("Tab")
    assert "Play" in page.evaluate("document.activeElement.textContent")
    page.evaluate("location.hash = '#scene=and'")
    screen = page.locator("#screen-and")
    screen.locator(".board").focus()
    for keys in ("nn", "n"):
        for key in keys:
            press(key)
        press("Enter")
    assert screen.locator(".points .class1").count() == 3
    page.evaluate("location.hash = '#scene=lift'")
    screen = page.locator("#screen-lift")
    screen.locator(".board").focus()
    for _ in range(30):
        press("ArrowUp")
        if screen.locator(".task.done").count():
            break
    assert praised(screen)
    assert page.inner_text("#status") in ("You look along the sheet.", praised(screen))


def test_a_figure_in_a_page_of_one_s_own_with_other_values(visit: Any) -> None:
    page = visit("?embed#data=xor&step=5", width=640, height=480)
    assert page.locator("#board .plane").bounding_box()["height"] > 150
    assert page.locator("#data").is_hidden()
    assert page.get_by_role("button", name="Play").is_visible()
    page = visit("?embed=race")
    page.locator("#screen-race .board").wait_for()
    page.evaluate("location.hash = '#scene=race&margin=0.9'")
    page.get_by_text("of at most 12.").wait_for()
    assert page.locator(".top").is_hidden()
    assert page.locator(".screen:visible").count() == 1
    assert float(page.locator("#screen-race input[type=range]").input_value()) == 0.9
    page.wait_for_timeout(400)
    assert page.evaluate("location.hash") == "#scene=race&margin=0.9"
    page.evaluate("location.hash = '#scene=race&margin=99'")
    page.get_by_text("This link is broken").wait_for()
    page.evaluate("location.hash = '#scene=and&data=xor&epochs=3&step=12'")
    page.locator("#screen-and .said").get_by_text("XOR").wait_for()
    assert page.locator("#screen-race").is_hidden()
