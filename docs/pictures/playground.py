"""Takes the pictures of docs/playground.md in Chromium: ``python docs/pictures/playground.py [FOLDER]``.

Every screen of the story in three sizes and both themes, on one sheet each, and some moments of the lab. With FOLDER,
every screen is also kept there by itself in its full size, to be looked at.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from rosenblatt.playground import make_server, page_address

HERE = Path(__file__).parent
SIZES = {"laptop": (1280, 720), "phone": (390, 844), "projector": (1920, 1080)}
# Screens in one line of a sheet, and the width of each.
SHEETS = {"laptop": (4, 600), "phone": (7, 250), "projector": (4, 600)}
COMPARE = (
    "#data=noise&n=100&noise=0.16&held=0.3&seed=2&learner=perceptron&learner=perceptron,keep:average"
    "&learner=perceptron,keep:vote&learner=perceptron,keep:pocket&epochs=8&step=300&speed=30"
)
KERNEL = "#data=moons&n=120&noise=0.1&seed=1&learner=perceptron,kernel:rbf,gamma:2&learner=PA-I&epochs=20&step=100"
# A link, a size, a theme, and a key to press.
LAB = {
    "proof": ("#data=and&learner=perceptron&epochs=100&step=24", "laptop", False, ""),
    "compare": (COMPARE, "laptop", False, ""),
    "kernel-dark": (KERNEL, "laptop", True, ""),
    "phone": ("#data=blobs&n=60&margin=0.3&seed=1&epochs=100&step=90", "phone", False, ""),
    "presentation": ("#data=and&learner=perceptron&epochs=100&step=24", "projector", False, "f"),
    "presentation-story": ("#scene=race", "projector", False, "f"),
}


def open_page(browser: Any, address: str, size: str, dark: bool) -> Any:
    width, height = SIZES[size]
    page = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    page.goto(address)
    return page


def take(page: Any) -> Image.Image:
    """What is seen now, once it rests."""
    page.wait_for_timeout(300)
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def keep(picture: Image.Image, name: str) -> None:
    path = HERE / f"playground-{name}.webp"
    picture.save(path, quality=72, method=6)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def take_story(page: Any) -> dict[str, Image.Image]:
    page.wait_for_selector(".screen .board")
    screens = page.locator(".screen").evaluate_all("(all) => all.map((one) => one.dataset.screen)")
    views = {}
    for screen in screens:
        page.evaluate("(name) => (location.hash = `#scene=${name}`)", screen)
        page.locator(f"#screen-{screen} .task").wait_for()
        views[screen] = take(page)
    return views


def make_sheet(views: list[Image.Image], columns: int, width: int) -> Image.Image:
    height = round(width * views[0].height / views[0].width)
    sheet = Image.new("RGB", (columns * width, -(-len(views) // columns) * height), "#808080")
    for j, view in enumerate(views):
        small = view.resize((width - 4, height - 4), Image.Resampling.LANCZOS)
        sheet.paste(small, (j % columns * width + 2, j // columns * height + 2))
    return sheet


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    server = make_server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for size in SIZES:
            for dark in (False, True):
                page = open_page(browser, page_address(server), size, dark)
                views = take_story(page)
                name = f"{size}{'-dark' if dark else ''}"
                keep(make_sheet(list(views.values()), *SHEETS[size]), f"story-{name}")
                for screen, view in views.items() if folder else ():
                    view.save(folder / f"{name}-{screen}.png")
                page.close()
        for name, (link, size, dark, key) in LAB.items():
            page = open_page(browser, page_address(server) + link, size, dark)
            page.wait_for_selector("#board .plane, .task")
            if key:
                page.keyboard.press(key)
            keep(take(page), name)
            page.close()
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()
