"""Links and downloads: what a person takes away from the page."""

import csv
import io
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hands import run_lines

FULL = (
    "#classes=red,blue%20sky&axes=a,b&points=0,0.5,0;1.25,-3,1;2,2,0&test=1,1,1&of=900&learner=PA-I,keep:vote,C:0.5"
    "&learner=perceptron,kernel:rbf,gamma:3&learner=margin,tie:positive,eta0:0.5,beta:2,intercept:no,start:1_-0.5_0"
    "&active=2&epochs=17&step=4&speed=30&axis=run&proof=yes&shade=yes"
)


def test_a_link_holds_everything(engine: Any) -> None:
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
            ("noise", "&n=80&noise=0.5&held=0.3&seed=1"),
            ("drift", "&n=200&seed=3"),
        ]
    ]
    for text, found in zip([FULL, *presets], engine("replay.js", "links", [FULL, *presets]), strict=True):
        assert found["again"] == text
    state = engine("replay.js", "links", [FULL])[0]["state"]
    assert state["names"] == ["red", "blue sky"]
    assert state["points"][1] == {"x": 1.25, "y": -3, "c": 1}
    assert (state["active"], state["epochs"], state["step"], state["of"]) == (1, 17, 4, 900)
    assert state["held"] == [{"x": 1, "y": 1, "c": 1}]
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
        ("#learner=PA,__proto__:1", 'a learner has no option "__proto__".'),
        ("#learner=PA,constructor:1", 'a learner has no option "constructor".'),
        ("#__proto__=1", '"__proto__" is not known.'),
        ("#data=__proto__", '"data" must be one of and, or, xor,'),
        ("#classes=a,a&points=1,2,0", '"classes" has the name "a" twice.'),
        ("#learner=margin,kernel:rbf", 'the rule "margin" goes with kernel:linear only, not with kernel:rbf.'),
        ("#learner=perceptron,kernel:poly,tie:positive", '"tie" goes with kernel:linear only'),
        ("#points=1e300,2,0", '"x of point 1" must be a number from -1000000000 to 1000000000'),
        ("#nonsense", '"nonsense" is not name=value.'),
        ("#step=1&color=red", '"color" is not known.'),
        ("#learner=PA&learner=PA&learner=PA&learner=PA&learner=PA", "it has 5 learners, and 4 is the most."),
    ],
)
def test_a_broken_link_is_told_in_a_sentence(engine: Any, link: str, sentence: str) -> None:
    assert sentence in engine("replay.js", "links", [link])[0]["error"]


def test_the_copied_link_opens_the_same_page(visit: Any) -> None:
    page = visit("#data=and&learner=perceptron&learner=PA&step=9", permissions=["clipboard-read", "clipboard-write"])
    box = page.locator(".plane").first.bounding_box()
    page.mouse.click(box["x"] + 90, box["y"] + 90)
    page.get_by_role("radio", name="Learner 2").check()
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("The link is copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    again = visit(link.removeprefix(visit.address))
    for part in ["#said", "#proof", "#verdict", "#transport", "#board figcaption"]:
        assert again.inner_text(part) == page.inner_text(part), part
    # A link that is followed while the page is open is opened too.
    again.evaluate("location.hash = '#data=xor&learner=perceptron&epochs=9&step=3'")
    again.get_by_text("Not separable.").wait_for()


def download(page: Any, name: str, tmp_path: Path) -> Path:
    page.locator("#save").click()
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
    colors = {node.get("fill") for node in root.iter() if node.get("fill", "none") != "none"}
    assert {"rgb(181, 77, 10)", "rgb(31, 102, 176)"} <= colors
    assert not any(node.get("class") for node in root.iter())
    image = download(page, "Picture (PNG)", tmp_path).read_bytes()
    assert image.startswith(b"\x89PNG")
    assert len(image) > 20_000
    rows = list(csv.DictReader(io.StringIO(download(page, "Trace (CSV)", tmp_path).read_text())))
    assert len(rows) == 9 * 80
    assert {row["mistake"] for row in rows} == {"0", "1"}
    page.locator("#save").click()
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
def test_the_python_lines_reproduce_the_run(engine: Any, preset: str) -> None:
    data = engine("replay.js", "presets", {})[preset]
    learners = [o for o in LEARNERS if preset != "three" or not {"tie", "start"} & set(o)]
    found = engine("replay.js", "script", data, learners, 30)
    names = run_lines(found["text"])
    for j, run in enumerate(found["runs"], start=1):
        model = names[f"model_{j}"]
        assert model.mistakes_ == run["mistakes"], learners[j - 1]
        assert model.converged_ == run["converged"], learners[j - 1]
        if learners[j - 1].get("keep") != "vote":
            here = np.array(run["weights"])
            assert np.allclose(model.coef_, here[:, :2], rtol=1e-9, atol=1e-12), learners[j - 1]
            assert np.allclose(model.intercept_, here[:, 2], rtol=1e-9, atol=1e-12), learners[j - 1]


@pytest.mark.parametrize(
    "classes",
    [
        ["007", "7"],
        ["7", "007"],
        ["b", "a"],
        ["10", "9"],
        ["1.0", "1"],
        ['say "x"', "#\nimport nothing"],
        ["x", "10", "9"],
    ],
)
def test_the_python_lines_take_any_names_of_classes(engine: Any, classes: list[str]) -> None:
    """However Python sorts the names, the run and its weights are those of the page."""
    data = engine("replay.js", "presets", {})["three" if len(classes) == 3 else "blobs"]
    data["names"] = classes
    found = engine("replay.js", "script", data, [{}], 30)
    names = run_lines(found["text"])
    model, (run,) = names["model"], found["runs"]
    assert model.mistakes_ == run["mistakes"]
    assert np.allclose(model.coef_, np.array(run["weights"])[:, :2])
