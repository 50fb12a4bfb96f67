"""Links and downloads: what a person takes away from the page."""

from __future__ import annotations

import csv
import io
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FULL = (
    "#classes=red,blue%20sky&axes=a,b&points=0,0.5,0;1.25,-3,1;2,2,0&learner=PA-I,keep:vote,C:0.5"
    "&learner=perceptron,kernel:rbf,gamma:3&learner=margin,tie:positive,eta0:0.5,beta:2,intercept:no,start:1_-0.5_0"
    "&active=2&epochs=17&step=4&speed=30&axis=run&proof=yes&scene=3"
)


def test_a_link_holds_everything(node: Any) -> None:
    presets = [
        f"#data={name}{options}&learner=perceptron&epochs=100&step=7&speed=5"
        for name, options in [
            ("and", ""),
            ("or", ""),
            ("xor", ""),
            ("blobs", "&n=60&margin=0.02&seed=9"),
            ("moons", "&n=500&noise=0.3&seed=2"),
            ("circles", "&n=4&noise=0&seed=99"),
            ("three", "&n=60&margin=1.5&seed=1"),
            ("noise", "&n=80&noise=0.5&seed=1"),
            ("drift", "&n=200&seed=3"),
        ]
    ]
    for text, found in zip([FULL, *presets], node("replay.js", "links", [FULL, *presets]), strict=True):
        assert found["again"] == text
    state = node("replay.js", "links", [FULL])[0]["state"]
    assert state["names"] == ["red", "blue sky"]
    assert state["points"][1] == {"x": 1.25, "y": -3, "c": 1}
    assert (state["active"], state["epochs"], state["step"], state["scene"]) == (1, 17, 4, 3)
    assert state["learners"][2]["start"] == [1, -0.5, 0]


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ("#data=spiral", '"data" must be one of and, or, xor,'),
        ("#data=blobs&n=9999", '"n" must be a number from 4 to 500, not "9999".'),
        ("#data=blobs&seed=1.5", '"seed" must be a whole number, not "1.5".'),
        ("#learner=magic", '"learner" must be one of perceptron, margin, PA, PA-I, PA-II, not "magic".'),
        ("#learner=PA,C:much", '"C" must be a number from 0.001 to 1000, not "much".'),
        ("#learner=PA,hat:1", 'a learner has no option "hat".'),
        ("#points=1,2;3", 'point 1, "1,2", must be two numbers and a class.'),
        ("#points=1,2,0;3,4,7", '"class of point 2" must be a number from 0 to 1, not "7".'),
        ("#points=1,2,0&classes=%E0%A4%A", "is not written as an address."),
        ("#nonsense", '"nonsense" is not name=value.'),
        ("#step=1&colour=red", '"colour" is not known.'),
        ("#learner=PA&learner=PA&learner=PA&learner=PA&learner=PA", "it has 5 learners, and 4 is the most."),
    ],
)
def test_a_broken_link_is_told_in_a_sentence(node: Any, link: str, sentence: str) -> None:
    assert sentence in node("replay.js", "links", [link])[0]["error"]


def test_a_broken_link_shows_the_start(visit: Any) -> None:
    page = visit("#data=blobs&n=many")
    said = page.inner_text("[role=alert]")
    assert 'This link is broken: "n" must be a number from 4 to 500, not "many". Showing the start instead.' in said
    assert page.locator(".plane .points path").count() == 30
    page.get_by_role("button", name="Close the message").click()
    assert page.locator("[role=alert]").is_hidden()


def test_the_copied_link_opens_the_same_page(visit: Any) -> None:
    page = visit("#data=and&learner=perceptron&learner=PA&step=9", permissions=["clipboard-read", "clipboard-write"])
    box = page.locator(".plane").first.bounding_box()
    page.mouse.click(box["x"] + 90, box["y"] + 90)
    page.get_by_role("radio", name="Learner 2").check()
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("The link is copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    again = visit(link.removeprefix(visit.address))
    for part in ["#said", "#proof", "#verdict", "#transport", "#stage"]:
        assert again.inner_text(part) == page.inner_text(part), part
    # A link that is followed while the page is open is opened too.
    again.evaluate("location.hash = '#data=xor&learner=perceptron&epochs=9&step=3'")
    again.get_by_text("Not separable.").wait_for()


def download(page: Any, name: str, tmp_path: Path) -> Path:
    page.locator("#save summary").click()
    with page.expect_download() as caught:
        page.get_by_role("button", name=name).click()
    path = tmp_path / caught.value.suggested_filename
    caught.value.save_as(path)
    return path


def test_pictures_and_traces_are_downloaded(visit: Any, tmp_path: Path) -> None:
    page = visit("#data=moons&learner=perceptron&learner=perceptron,kernel:rbf&epochs=9&step=200")
    picture = download(page, "Picture (SVG)", tmp_path)
    root = ET.fromstring(picture.read_text())
    inner = root.findall("{http://www.w3.org/2000/svg}svg")
    assert len(inner) == 2
    colours = {node.get("fill") for node in root.iter() if node.get("fill", "none") != "none"}
    assert {"rgb(181, 77, 10)", "rgb(31, 102, 176)"} <= colours
    assert not any(node.get("class") for node in root.iter())
    image = download(page, "Picture (PNG)", tmp_path).read_bytes()
    assert image.startswith(b"\x89PNG")
    assert len(image) > 20_000
    rows = list(csv.DictReader(io.StringIO(download(page, "Trace (CSV)", tmp_path).read_text())))
    assert len(rows) == 9 * 80
    assert {row["mistake"] for row in rows} == {"0", "1"}
    page.locator("#save summary").click()
    page.get_by_role("button", name="Python lines").click()
    assert "from rosenblatt import KernelPerceptron, Perceptron" in page.inner_text("#script pre")
    with page.expect_download() as caught:
        page.get_by_role("button", name="Download").click()
    assert caught.value.suggested_filename == "perceptron.py"
    page.get_by_role("button", name="Close").click()


LEARNERS = [
    {},
    {"eta0": 0.1},
    {"tie": "positive"},
    {"intercept": False},
    {"rule": "margin", "beta": 0.7, "eta0": 0.5},
    {"rule": "PA"},
    {"rule": "PA-I", "C": 0.3, "keep": "average"},
    {"rule": "PA-II", "C": 0.3, "keep": "pocket"},
    {"eta0": 0.5, "start": [0.4, -0.3, 0.2]},
    {"keep": "average"},
    {"keep": "vote"},
    {"keep": "pocket"},
]


@pytest.mark.parametrize("preset", ["and", "xor", "blobs", "noise", "three"])
def test_the_python_lines_reproduce_the_run(node: Any, preset: str) -> None:
    data = node("replay.js", "presets", {})[preset]
    learners = [o for o in LEARNERS if preset != "three" or not {"tie", "start"} & set(o)]
    found = node("replay.js", "script", data, learners, 30)
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*max_iter.*")
        exec(found["text"], names)
    for j, run in enumerate(found["runs"], start=1):
        model = names[f"model_{j}"]
        assert model.mistakes_ == run["mistakes"], learners[j - 1]
        assert model.converged_ == run["converged"], learners[j - 1]
        if learners[j - 1].get("keep") != "vote":
            here = np.array(run["weights"])
            assert np.allclose(model.coef_, here[:, :2], rtol=1e-9, atol=1e-12), learners[j - 1]
            assert np.allclose(model.intercept_, here[:, 2], rtol=1e-9, atol=1e-12), learners[j - 1]


def test_the_python_lines_of_a_kernel_reproduce_the_run(node: Any) -> None:
    data = node("replay.js", "presets", {})["circles"]
    learners = [{"kernel": "poly"}, {"kernel": "rbf", "gamma": 2}]
    found = node("replay.js", "script", data, learners, 30)
    names: dict[str, Any] = {}
    exec(found["text"], names)
    for j, run in enumerate(found["runs"], start=1):
        assert names[f"model_{j}"].mistakes_ == run["mistakes"]
        assert names[f"model_{j}"].converged_ == run["converged"]
