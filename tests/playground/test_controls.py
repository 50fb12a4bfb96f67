"""Every control of the page, used as a person would, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from hands import caption, spot, state, where

AND = "#data=and&learner=perceptron&epochs=100&step=0&speed=5"


def test_time_goes_by_hand(screen: Any) -> None:
    page = screen(AND)
    page.get_by_role("button", name="One step", exact=True).click()
    assert "step 1 / 36 · epoch 1" in page.inner_text("#transport")
    assert "a = 0·0 + 0·0 + 0 = 0" in page.inner_text("#said")
    assert page.inner_text("#badge") == "✗ mistake"
    page.get_by_role("button", name="To the next mistake").click()
    assert "step 4 / 36" in page.inner_text("#transport")
    assert "so w becomes (0, 0) + 1·(1, 1) = (1, 1), and b becomes −1 + 1 = 0." in page.inner_text("#said")
    assert page.locator("#board .arrows .push").count() > 0
    page.get_by_role("button", name="One step back").click()
    assert "step 3 / 36" in page.inner_text("#transport")
    assert page.inner_text("#badge") == "✓ right"
    page.get_by_role("button", name="To the end").click()
    assert caption(page) == "Perceptron 18 mistakes · 0 wrong · converged"
    assert "18 mistakes of at most 51 · 18 updates" in page.inner_text("#proof")
    page.get_by_role("button", name="To the start").click()
    assert "step 0 / 36" in page.inner_text("#transport")
    page.get_by_role("slider", name="Step").fill("20")
    assert "step 20 / 36 · epoch 5" in page.inner_text("#transport")
    box = page.locator("#scrub").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + box["height"] / 2)
    assert 25 <= int(page.input_value("#time")) <= 29


@pytest.mark.slow
def test_a_sliding_boundary_arrives_where_a_still_one_is(screen: Any) -> None:
    paths = []
    for motion in ("reduce", "no-preference"):
        page = screen(AND)
        page.emulate_media(reduced_motion=motion)
        for _ in range(4):
            page.get_by_role("button", name="One step", exact=True).click()
        page.wait_for_timeout(100 if motion == "reduce" else 1300)
        lines = [page.locator(f"#board path.{name}") for name in ("boundary", "ghost", "band-edge")]
        paths.append([line.get_attribute("d") for line in lines])
    assert paths[0][0]
    assert paths[0] == paths[1]


def test_playing_and_its_speed(screen: Any) -> None:
    page = screen(AND)
    page.get_by_label("Speed").select_option("100")
    page.get_by_role("button", name="Play").click()
    page.locator("#board .done").wait_for()
    assert caption(page) == "Perceptron 18 mistakes · 0 wrong · converged"
    assert page.get_by_role("button", name="Play").count() == 1
    page.get_by_label("Speed").select_option("1")
    page.get_by_role("button", name="Play").click()
    assert "step 0 / 36" in page.inner_text("#transport")
    page.get_by_role("button", name="Pause").click()
    assert state(page)["speed"] == "1"


@pytest.mark.slow
def test_presets_and_their_sliders(screen: Any) -> None:
    page = screen("#data=blobs")
    for name in ["and", "or", "xor", "blobs", "moons", "circles", "three", "noise", "drift"]:
        tile = page.locator(f"[data-preset={name}]")
        tile.click()
        assert tile.get_attribute("aria-pressed") == "true"
        assert page.locator("#board .points path").count() >= 4
    page.locator(".tile", has_text="Blobs").click()
    margins = []
    for margin in ["1.2", "0.1"]:
        page.get_by_role("slider", name="Gap").fill(margin)
        margins.append(float(page.locator("#verdict dd").first.inner_text()))
        assert "Separable. Checked exactly." in page.inner_text("#verdict")
    assert margins[0] > margins[1]
    box = page.get_by_role("slider", name="Gap").bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2, steps=5)
    half = float(page.get_by_role("slider", name="Gap").input_value())
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    assert 0.1 < half < float(page.get_by_role("slider", name="Gap").input_value())
    page.get_by_role("button", name="Undo").click()
    assert page.get_by_role("slider", name="Gap").input_value() == "0.1"
    page.get_by_role("slider", name="Points").fill("500")
    assert page.locator("#board .points path").count() == 500
    assert "80 epochs are run: 40000 steps are the most" in page.inner_text("#learners")
    page.get_by_role("slider", name="Random seed").fill("7")
    found = state(page)
    assert (found["n"], found["margin"], found["seed"]) == ("500", "0.1", "7")
    page.locator(".tile", has_text="Noise").click()
    page.get_by_role("slider", name="Noise").fill("0.4")
    assert "Not separable." in page.inner_text("#verdict")


def test_points_are_added_moved_deleted_and_undone(screen: Any) -> None:
    page = screen(AND)
    points = page.locator("#board .points path")
    page.mouse.click(*spot(page, 0.5, 0.5))
    assert points.count() == 5
    assert "class1" in (points.nth(4).get_attribute("class") or "")
    page.locator(".tool", has_text="0").click()
    page.mouse.click(*spot(page, 0.25, 0.5))
    assert "class0" in (points.nth(5).get_attribute("class") or "")
    page.keyboard.down("Shift")
    page.mouse.click(*spot(page, 0.3, 0.3))
    page.keyboard.up("Shift")
    assert "class1" in (points.nth(6).get_attribute("class") or "")
    before = where(page, 4)
    page.mouse.move(*before)
    page.mouse.down()
    page.mouse.move(before[0] + 60, before[1] - 40, steps=4)
    page.mouse.up()
    after = where(page, 4)
    assert after == pytest.approx((before[0] + 60, before[1] - 40), abs=4)
    page.mouse.click(*after, button="right")
    assert points.count() == 6
    page.locator(".tool", has_text="Erase").click()
    page.mouse.click(*where(page, 0))
    assert points.count() == 5
    for count in [6, 7]:
        page.get_by_role("button", name="Undo").click()
        assert points.count() == count
    page.get_by_role("button", name="Undo").click()
    assert where(page, 4) == pytest.approx(before, abs=1)
    page.get_by_role("button", name="Redo").click()
    assert where(page, 4) == pytest.approx(after, abs=1)
    page.get_by_role("button", name="Shuffle").click()
    page.get_by_role("button", name="Clear").click()
    assert points.count() == 0
    assert "No points yet." in page.inner_text("#verdict")
    for name, sentence in [("Trace (CSV)", "so there is no trace."), ("Python lines", "Class 0 has no points yet")]:
        page.locator("#save").click()
        page.get_by_role("button", name=name).click()
        assert sentence in page.inner_text("[role=alert]")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Undo").click()
    assert points.count() == 7
    page.get_by_role("button", name="Add a class").click()
    page.mouse.click(*spot(page, 0.8, 0.8))
    assert "class2" in (points.last.get_attribute("class") or "")
    page.get_by_role("button", name="To the end").click()
    assert page.locator("#board .regions path").count() == 3


@pytest.mark.slow
def test_a_finger_adds_and_moves_points(visit: Any) -> None:
    page = visit(AND, width=390, height=844, has_touch=True, is_mobile=True)
    points = page.locator("#board .points path")
    page.touchscreen.tap(*spot(page, 0.5, 0.3))
    assert points.count() == 5
    touch = "(n) => getComputedStyle(n).touchAction"
    assert points.first.evaluate(touch) == "none"
    assert page.locator("#board .plane").evaluate(touch) == "pan-y"
    page.touchscreen.tap(*where(page, 4))
    assert points.count() == 5
    assert page.inner_text("#status").startswith("Row 5, class 1")


@pytest.mark.slow
def test_every_option_of_a_learner(screen: Any) -> None:
    page = screen("#data=noise&n=40&noise=0.3&learner=perceptron&epochs=20&step=30")
    form = page.locator("#learners")
    for rule, extra in [("margin", "Margin β"), ("PA", None), ("PA-I", "Limit C"), ("PA-II", "Limit C")]:
        form.get_by_label("Rule").select_option(rule)
        if extra:
            form.get_by_label(extra).fill("0.5")
            form.get_by_label(extra).press("Enter")
        assert "learner" in page.url
        assert page.locator("#board .band-edge").get_attribute("d")
    assert state(page)["learners"] == "PA-II,beta:0.5,C:0.5"
    form.get_by_label("Rule").select_option("perceptron")
    assert form.get_by_label("Step size").is_hidden(), "few things at once"
    form.get_by_text("More options").click()
    form.get_by_label("Step size").fill("0.25")
    form.get_by_label("Step size").press("Enter")
    form.get_by_label("A score of 0").select_option("positive")
    form.get_by_label("Offset b").uncheck()
    assert "tie:positive,eta0:0.25" in state(page)["learners"]
    assert "intercept:no" in page.url
    for keep in ["average", "vote", "pocket", "last"]:
        form.get_by_label("Line used").select_option(keep)
        assert (page.locator("#board path.raw").get_attribute("d") != "") == (keep != "last")
        assert page.locator("#board path.boundary").get_attribute("d")
    form.get_by_label("Start from my own line").check()
    form.get_by_label("w₁").fill("-1")
    form.get_by_label("w₁").press("Enter")
    assert "start:-1_0.5_0" in state(page)["learners"]
    assert "nothing is promised" in page.inner_text("#proof")
    form.get_by_label("Start from my own line").uncheck()
    for space, extra in [("poly", ["Degree", "Constant", "Narrowness"]), ("rbf", ["Narrowness"])]:
        form.get_by_label("Boundary").select_option(space)
        for name in extra:
            form.get_by_label(name).fill("3")
            form.get_by_label(name).press("Enter")
        page.get_by_role("button", name="To the end").click()
        assert page.locator("#board .sums path").get_attribute("d")
    form.get_by_label("Most epochs").fill("7")
    form.get_by_label("Most epochs").press("Enter")
    assert state(page)["epochs"] == "7"
    form.get_by_label("Most epochs").fill("0")
    form.get_by_label("Most epochs").press("Enter")
    assert "Most epochs must be a whole number from 1 to 1000." in page.inner_text("[role=alert]")
    assert form.get_by_label("Most epochs").input_value() == "7"


def test_the_weight_vector_is_dragged_by_its_handle(screen: Any) -> None:
    page = screen("#data=and&learner=perceptron,start:1_0_0&step=0")
    box = page.locator("#board .grip").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 50, y - 80, steps=3)
    page.mouse.up()
    w1, w2, b = (float(v) for v in state(page)["learners"].split("start:")[1].split("_"))
    assert w1 < 1
    assert w2 > 0
    assert b == 0
    page.get_by_role("button", name="Undo").click()
    assert "start:1_0_0" in state(page)["learners"]


def test_four_learners_side_by_side(screen: Any) -> None:
    page = screen("#data=blobs")
    for count in [2, 3, 4]:
        page.get_by_role("button", name="+ compare").click()
        assert page.locator("#board figure").count() == count
    assert page.get_by_role("button", name="+ compare").count() == 0
    page.get_by_role("button", name="To the end").click()
    names = [caption(page, j).split(" ")[0] for j in range(4)]
    assert names == ["Perceptron", "Averaged", "PA-I", "RBF"]
    page.get_by_role("radio", name="Learner 3: PA-I").check()
    assert page.locator("#board figure.active figcaption strong").inner_text() == "PA-I"
    page.locator("#board figure").nth(1).locator("figcaption").click()
    assert page.locator("#board figure.active figcaption strong").inner_text() == "Averaged perceptron"
    page.get_by_role("button", name="Remove learner 2").click()
    assert page.locator("#board figure").count() == 3
    rows = [page.locator("#board figure").nth(j).locator(".point").count() for j in range(3)]
    assert rows == [30, 30, 30]


def test_the_proof_the_ledger_and_the_certificate(screen: Any) -> None:
    page = screen("#data=and&learner=perceptron&epochs=100&step=36")
    assert page.locator("#chart .meet").count() == 1
    page.get_by_role("button", name="Zoom to the run").click()
    assert page.locator("#chart .meet").count() == 0
    assert state(page)["axis"] == "run"
    page.get_by_role("button", name="Up to the bound").click()
    page.get_by_role("button", name="Ledger").click()
    assert page.locator("#ledger tbody tr").count() == 18
    assert "Every line holds" in page.inner_text("#ledger")
    page.keyboard.press("Escape")
    page.locator(".tile", has_text="XOR").click()
    verdict = page.inner_text("#verdict")
    assert "Not separable. Exact proof: 0.5·row 1 + 0.5·row 4 = 0.5·row 2 + 0.5·row 3" in verdict
    page.get_by_label("Show why").check()
    assert page.locator("#board path.hull").count() == 2
    page.mouse.move(*where(page, 3))
    page.mouse.down()
    page.mouse.move(*spot(page, 0.15, 0.6), steps=5)
    page.mouse.up()
    assert "Separable. Checked exactly." in page.inner_text("#verdict")
    assert page.locator("#board path.hull").count() == 0
