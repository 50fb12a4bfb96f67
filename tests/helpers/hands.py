"""What a person does and sees in the lab, for the tests: places in the plane, captions, the state in the address."""

import warnings
from pathlib import Path
from typing import Any


def state(page: Any) -> dict[str, str]:
    """What the address says, once it has caught up."""
    page.wait_for_timeout(280)
    parts = [part.split("=", 1) for part in page.evaluate("location.hash.slice(1)").split("&")]
    return {key: value for key, value in parts if key != "learner"} | {
        "learners": " ".join(value for key, value in parts if key == "learner")
    }


def caption(page: Any, plane: int = 0) -> str:
    return str(page.locator("#board figcaption").nth(plane).inner_text()).replace("\n", " ")


def spot(page: Any, x: float, y: float) -> tuple[float, float]:
    """A place of the first plane, as shares of its width and height, on the screen."""
    box = page.locator("#board .plane").first.bounding_box()
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def where(page: Any, row: int) -> tuple[float, float]:
    """The middle of a point of the first plane."""
    box = page.locator(f'#board .plane >> nth=0 >> [data-row="{row}"]').bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def load(page: Any, path: Path, text: str | None = None) -> None:
    """Choose a table; with `text`, write it first."""
    if text is not None:
        path.write_text(text)
    page.get_by_label("A CSV file").set_input_files(path)


def run_lines(text: str) -> dict[str, Any]:
    """Execute the Python lines of a run; not converging is not an error."""
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*max_iter.*")
        exec(text, names)
    return names
