"""The lab: every control, tables of one's own, points held out, words, and a picture that does not lie."""

import random
import re
from pathlib import Path
from typing import Any

import pytest
from hands import caption, load, spot, state, where

from rosenblatt import textbook


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


def test_the_code_of_a_step_shows_the_lines_that_ran(screen: Any) -> None:
    page = screen("#data=and&learner=perceptron&epochs=100&step=0")
    page.locator("#code").click()
    last = "last => [...document.querySelectorAll('#lines .runs')].at(-1)?.textContent.includes(last)"
    for line in ("b = 0.0", "b = b + y", "if margin <= 0:"):
        page.wait_for_function(last, arg=line)
        page.keyboard.press("ArrowRight")
    page.locator("#code").click()
    assert page.locator("#lines").is_hidden()


RULES = {
    "perceptron": {},
    "perceptron,eta0:0.5,intercept:no": {"eta0": 0.5, "fit_intercept": False},
    "perceptron,tie:positive,start:1_0_-1": {"tie": "positive", "start": [[1.0, 0.0, -1.0]]},
    "margin,beta:2": {"beta": 2.0},
    "PA": {"name": "PA"},
    "PA-I,C:0.25": {"name": "PA-I", "C": 0.25},
    "PA-II,C:2,intercept:no": {"name": "PA-II", "C": 2.0, "fit_intercept": False},
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", [*RULES, "perceptron,kernel:rbf,gamma:1", "PA-I,C:0.25,kernel:rbf,gamma:1"])
def test_the_code_is_the_textbook_s(screen: Any, learner: str, classes: int) -> None:
    """The lines that the page shows, executed, give the weights of the textbook."""
    rng = random.Random(4)
    X = [[round(rng.uniform(-2, 2), 2) for _ in range(2)] for _ in range(30)]
    colors = [rng.randrange(classes) for _ in X]
    Y = colors if classes > 2 else [2 * c - 1 for c in colors]
    points = ";".join(f"{x1},{x2},{c}" for (x1, x2), c in zip(X, colors, strict=True))
    page = screen(f"#classes={','.join('abc'[:classes])}&points={points}&learner={learner}&epochs=1&code=yes")
    code = "\n".join(line[2:] for line in page.locator("#lines").inner_text().splitlines())
    names = {name: getattr(textbook, name) for name in ("dot", "plus", "highest_wrong")}
    names |= {"X": X, "Y": Y, "d": 2, "classes": range(classes), "k": textbook.rbf(1.0)}
    exec(code, names)
    if "kernel" in learner:
        # The rows with a coefficient are the rows that the page marks as parts of the kernel's sum.
        used = [any(values) for values in zip(*(names["A"] if classes > 2 else [names["alpha"]]), strict=True)]
        page.keyboard.press("End")
        marked = "n => document.querySelector('#board .speaker').getAttribute('d').split('M').length - 1 === n"
        page.wait_for_function(marked, arg=sum(used))
        return
    told = dict(RULES[learner])
    options = {name: told.pop(name) for name in ("fit_intercept", "tie", "start") if name in told}
    if classes > 2:
        options = {name: value for name, value in options.items() if name == "fit_intercept"}
    run = textbook.learn(X, Y, rule=textbook.Rule(**told), orders=[range(len(X))], classes=classes, **options)
    W, B = (names["W"], names.get("B", [0.0] * classes)) if classes > 2 else ([names["w"]], [names.get("b", 0.0)])
    assert [[*w, b] for w, b in zip(W, B, strict=True)] == run.last


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
