"""What the lab promises: tables of one's own, points held out, light, words, and a picture that does not lie."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hands import caption, load, spot, state, where


def test_a_csv_of_one_s_own(screen: Any, tmp_path: Path) -> None:
    page = screen("#data=blobs")
    good = tmp_path / "flowers.csv"
    load(page, good, 'width;length;height;"kind of flower"\n1;10;0.5;rose\n2;12;0.25;tulip\n3;9;0.125;rose\n')
    page.get_by_text("flowers.csv: 3 points, of 2 classes.").wait_for()
    names = page.locator("#board .grid .name")
    assert page.locator("#board .points path").count() == 3
    assert [t.inner_text() for t in page.locator("#tools .tool").all()][:2] == ["rose", "tulip"]
    assert names.all_text_contents() == ["width (scaled)", "length (scaled)"]
    page.locator("[data-column=y]").select_option("height")
    assert state(page)["points"] == "-1.2247,1.3363,0;0,-0.2673,1;1.2247,-1.069,0"
    page.get_by_label("Scale both columns").uncheck()
    assert names.all_text_contents() == ["width", "height"]
    page.locator("[data-column=y]").select_option("width")
    assert "three different columns" in page.inner_text("[role=alert]")
    for text, sentence in [
        ("a,b,c\n1,2,x\n1,oops,y\n", 'bad.csv: Line 3, column "b": "oops" is not a number.'),
        ("1,2\n", "bad.csv: Line 1 has 2 columns: two numbers and a label are needed."),
        ("", "bad.csv: The file has no rows."),
        ("1,2,x\n3,4\n", "bad.csv: Line 2 has 2 columns, but line 1 has 3."),
        ("1,2,x\n3,4,x\n", 'bad.csv: Column "column 3" has one label only, "x": two to 6 are needed.'),
    ]:
        bad = tmp_path / "bad.csv"
        load(page, bad, text)
        page.get_by_text(sentence).wait_for()
        assert page.locator("#board .points path").count() == 3
    page.get_by_role("button", name="Close the message").click()
    # Undo takes away the names of the columns with their points.
    page.locator(".tile", has_text="Blobs").click()
    page.get_by_role("button", name="Undo").click()
    assert names.all_text_contents() == ["width", "height"]
    for _ in range(3):
        page.get_by_role("button", name="Undo").click()
    assert page.locator("#board .points path").count() == 30
    assert names.count() == 0


def test_a_long_table_is_sampled_by_class_and_the_verdict_says_so(screen: Any, tmp_path: Path) -> None:
    page = screen("#data=blobs")
    many = tmp_path / "many.csv"
    # Every 400th row is of the rare class, on the other side: taking every fourth row would lose it.
    rows = [
        f"{i % 37 + (100 if i % 400 == 7 else 0)},{i % 41},{'rare' if i % 400 == 7 else 'common'}\n"
        for i in range(2000)
    ]
    load(page, many, "".join(rows))
    page.get_by_text("many.csv: 500 of 2000 rows, evenly taken from each class, of 2 classes.").wait_for()
    assert page.locator("#board .points path").count() == 500
    assert page.locator("#board .points .class1").count() == 5
    assert "Separable. Checked exactly, for the 500 rows learned from of 2000." in page.inner_text("#verdict")
    assert state(page)["of"] == "2000"


def test_numbers_too_large_to_draw_are_scaled_or_refused(screen: Any, tmp_path: Path) -> None:
    page = screen("#data=blobs")
    huge = tmp_path / "huge.csv"
    load(page, huge, "1e300,1,a\n2e300,2,a\n-1e300,1,b\n-2e300,3,b\n")
    page.get_by_text("huge.csv: 4 points, of 2 classes.").wait_for()
    assert "Separable. Checked exactly." in page.inner_text("#verdict")
    assert "of at most" in page.inner_text("#tally")
    page.get_by_label("Scale both columns").click()
    sentence = (
        'huge.csv: Line 1, column "column 1": 1e300 is more than this page draws, 1000000000: scale both columns.'
    )
    page.get_by_text(sentence).wait_for()
    assert page.locator("#board .grid .name").all_text_contents() == ["column 1 (scaled)", "column 2 (scaled)"]
    page.get_by_role("button", name="Close the message").click()


def test_points_are_held_out_to_judge_by(screen: Any) -> None:
    page = screen("#data=noise&n=80&noise=0.2&held=0.25&seed=1&epochs=5&step=60")
    assert page.locator("#board .held .point").count() == 20
    assert page.locator("#board .points .point").count() == 60
    assert re.search(r"held out: \d+ of 20 wrong", caption(page))
    page.get_by_role("slider", name="Held out").fill("0.5")
    assert page.locator("#board .held .point").count() == 40
    # Points of one's own too, and back in their order.
    page.mouse.click(*spot(page, 0.1, 0.1))
    page.get_by_role("slider", name="Held out").fill("0")
    assert page.locator("#board .held .point").count() == 0
    assert page.locator("#board .points .point").count() == 81
    page.get_by_role("button", name="Undo").click()
    assert page.locator("#board .held .point").count() == 40


def test_the_score_shades_the_plane(screen: Any) -> None:
    page = screen("#data=and&step=36")
    page.get_by_label("Shade by score").check()
    assert page.locator("#board .shade").count() == 8
    assert state(page)["shade"] == "yes"
    page.locator("#form").get_by_label("Boundary").select_option("rbf")
    page.get_by_role("button", name="To the end").click()
    assert page.locator("#board .shade").count() == 8
    page.get_by_label("Shade by score").uncheck()
    assert page.locator("#board .shade").count() == 0


def test_what_belongs_together_lights_up(screen: Any) -> None:
    """A number in the sentence, its point, its ticks, its lines in the ledger, its arrow: on hover and on focus."""
    page = screen("#data=and&learner=perceptron&epochs=100&step=20")
    page.get_by_role("button", name="Ledger").click()
    lit = lambda where: page.locator(f"{where}.lit").count()  # noqa: E731
    page.locator("#said .word").first.focus()
    assert (lit("#board .point"), lit("#timeline .tick")) == (1, 1)
    assert lit("#ledger tr") > 1
    color = page.locator("#board .point.lit").evaluate("(n) => getComputedStyle(n).stroke")
    assert color == "rgb(179, 38, 30)", "it can be seen"
    assert lit("#board .shaft.push") == 1
    page.locator("#said .sum .word").first.hover()
    assert lit("#board .shaft.weight") == 1
    assert lit("#board .point") == 0
    page.locator("#said .sum .word").last.hover()
    assert lit("#board .point") == lit("#board .score") == 1
    page.locator("#ledger tbody tr").first.hover()
    assert lit("#board .point") == 1
    page.locator("#ledger tbody tr").nth(3).focus()
    assert lit("#timeline .tick") == 1
    page.keyboard.press("Escape")
    assert page.locator("#ledger").is_hidden()
    box = page.locator("#scrub").bounding_box()
    tick = page.locator("#timeline .tick").first.bounding_box()
    page.mouse.move(tick["x"], box["y"] + box["height"] - 8)
    assert lit("#board .point") == 1
    page.locator("#board").focus()
    page.keyboard.press("n")
    assert lit("#board .point") == 1
    page.keyboard.press("Escape")


def test_other_rows_in_a_sentence_light_up_too(screen: Any) -> None:
    page = screen("#data=xor&learner=perceptron,kernel:rbf&epochs=100&step=6")
    words = page.locator("#said .sum .word")
    assert words.all_text_contents() == ["x1", "x2", "x2", "x2", "x3", "x2", "x4", "x2", "0.4"]
    for word, row in ((0, 0), (1, 1), (4, 2)):
        words.nth(word).focus()
        assert page.locator("#board .point.lit").get_attribute("data-row") == str(row)
    page = screen("#data=xor&step=6")
    for word, row in ((0, 0), (1, 3)):
        page.locator("#verdict .word").nth(word).hover()
        assert page.locator("#board .point.lit").get_attribute("data-row") == str(row)


def test_after_a_click_the_arrow_keys_step(screen: Any) -> None:
    page = screen("#data=and&learner=perceptron&epochs=100&step=3")
    page.mouse.click(*where(page, 2))
    before = where(page, 2)
    page.keyboard.press("ArrowRight")
    assert "step 4 / 36" in page.inner_text("#transport")
    assert where(page, 2) == before


def test_the_end_is_told_where_it_never_converges(screen: Any) -> None:
    page = screen("#data=xor&learner=perceptron&epochs=10&step=6")
    assert page.locator("#board path.boundary").get_attribute("d")
    page.get_by_role("button", name="To the end").click()
    said = page.inner_text("[role=alert]")
    assert "Not converged: 10 epochs and 40 mistakes. No line can do it, so it would go on for ever." in said
    page.get_by_role("button", name="Close the message").click()
    page.locator(".tile", has_text="OR").first.click()
    page.locator(".tile", has_text="XOR").click()
    assert page.locator("#board path.hull").count() == 2, "XOR opens on its proof"
    page.locator(".tile", has_text="Drift").click()
    assert "/ 200" in page.inner_text("#transport"), "a stream is gone over once"


def test_a_stream_fades_wrong_points_too(screen: Any) -> None:
    page = screen("#data=drift&step=150")
    assert "step 150 / 200 · epoch 1" in page.inner_text("#transport"), "it is gone over once"
    assert page.locator("#board .wrongs .older").count() >= 1
    assert page.locator("#board .points .older").count() > 50


def test_a_single_trapped_point_is_marked(screen: Any) -> None:
    page = screen("#points=-1,-1,0;1,-1,0;0,1.5,0;0,0,1&proof=yes")
    assert "Not separable." in page.inner_text("#verdict")
    ring = page.locator("#board path.hull.class1").bounding_box()
    assert ring["width"] > 20
    x, _ = where(page, 3)
    assert ring["x"] < x < ring["x"] + ring["width"]
    assert page.locator("#board .meeting").get_attribute("d")


def test_without_a_mistake_none_is_told_and_the_transport_stays_where_it_is(screen: Any) -> None:
    page = screen("#data=and&learner=perceptron,start:2_2_-3&epochs=9&step=0")
    assert page.text_content("#timeline .most") == "0 mistakes"
    page = screen("#data=blobs&n=30&margin=0.3&seed=38&epochs=100&step=0")
    places = []
    for step in ("0", "9", "99", "270"):
        page.get_by_role("slider", name="Step").fill(step)
        places.append(page.locator("#scrub").bounding_box())
    assert places[1:] == places[:-1]


def test_the_mistakes_add_up_upwards_with_four_learners_on_a_phone(screen: Any) -> None:
    four = "&learner=perceptron" * 4
    page = screen(f"#data=noise&n=40&noise=0.2&seed=1{four}&epochs=5&step=9", width=390, height=844)
    for path in page.locator("#timeline .sum").all():
        heights = [float(v) for v in re.findall(r"V([\d.]+)", path.get_attribute("d"))]
        assert heights == sorted(heights, reverse=True)
        assert heights[0] - heights[-1] > 12


@pytest.mark.slow
def test_every_option_has_a_sentence(screen: Any) -> None:
    page = screen("#data=blobs&learner=margin&epochs=100&step=0")
    if not page.locator("#options[open]").count():
        page.get_by_text("More options").click()
    tip = page.locator("#tip")
    for field in page.locator("#learners label:not(.tool), #sliders label, #toolbar .check").all():
        field.hover()
        assert tip.inner_text().endswith("."), field.inner_text()
        assert field.locator("input, select").get_attribute("aria-description") == tip.inner_text()
    for option in page.locator("#learners option").all():
        assert (option.get_attribute("title") or "").endswith(".")
    for button in page.locator("#app button:visible, .top button:visible:not(#theme)").all():
        button.hover()
        assert tip.inner_text().endswith("."), button.inner_text()
    page.get_by_label("Rule").focus()
    assert "How far a row moves the weights." in tip.inner_text()


def test_w_is_drawn_to_the_scale_that_is_printed(screen: Any) -> None:
    for start, box in (("0.5_0_0", False), ("30_0_0", True)):
        page = screen(f"#points=0,0,0;1,0,1;0,1,1&learner=perceptron,start:{start}&epochs=5&step=0")
        unit = where(page, 1)[0] - where(page, 0)[0]
        assert page.locator("#board .arrows .inset").count() == box
        printed = page.locator("#board .arrows .scale").text_content() if box else "w, 1 : 1"
        down = float(re.fullmatch(r"w, 1 : (\d+)", printed)[1])
        origin, grip = (page.locator(f"#board .{name}").bounding_box() for name in ("origin", "grip"))
        length = grip["x"] + grip["width"] / 2 - origin["x"] - origin["width"] / 2
        assert length == pytest.approx(float(start.split("_")[0]) * unit / down, abs=1.5)


def test_the_code_of_a_step_shows_the_lines_that_ran(screen: Any) -> None:
    page = screen("#data=and&learner=perceptron&epochs=100&step=0")
    page.locator("#code").click()
    last = "last => [...document.querySelectorAll('#lines .runs')].at(-1)?.textContent.includes(last)"
    for line in ("w, b = [0.0] * d, 0.0", "b = b + y", "if y * (dot(w, x) + b) <= 0:"):
        page.wait_for_function(last, arg=line)
        page.keyboard.press("ArrowRight")
    page.locator("#code").click()
    assert page.locator("#lines").is_hidden()
