"""Takes the pictures of docs/playground.md in Chromium."""

from __future__ import annotations

import io
import os
import shutil
import threading
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from rosenblatt.playground import make_server, page_address

HERE = Path(__file__).parent
SIZES = {"laptop": (1280, 720), "phone": (390, 844), "projector": (1920, 1080)}
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


def main() -> None:
    server = make_server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name, (link, size, dark, key) in LAB.items():
            page = open_page(browser, page_address(server) + link, size, dark)
            page.wait_for_selector("#board .plane, .task")
            if key:
                page.keyboard.press(key)
            page.wait_for_timeout(300)
            path = HERE / f"playground-{name}.webp"
            Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(path, quality=72, method=6)
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
            page.close()
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()
