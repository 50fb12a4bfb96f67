"""How smoothly the playground plays 500 points: frames a second, and the time between two frames.

    python benchmarks/frames.py [--quick] [--json FILE]

Chromium without a window or a graphics processor, 1280 x 720; a screen shows at most 60 frames a second. Left out where
Playwright or Chromium is missing.
"""

from __future__ import annotations

import argparse
import shutil
import threading
from itertools import pairwise
from typing import Any

from measure import save, show
from rosenblatt.playground import make_server, page_address

NOISE = "data=noise&n=500&noise=0.3"
CASES = {
    "one perceptron, 300 steps a second": f"{NOISE}&learner=perceptron&epochs=40&speed=300",
    "RBF kernel, 300 steps a second": "data=moons&n=500&noise=0.2&learner=perceptron,kernel:rbf,gamma:2"
    "&epochs=40&speed=300",
    "vote, 300 steps a second": f"{NOISE}&learner=perceptron,keep:vote&epochs=40&speed=300",
    "four side by side, 100 steps a second": f"{NOISE}&learner=perceptron&learner=perceptron,keep:average"
    "&learner=perceptron,keep:vote&learner=perceptron,keep:pocket&epochs=40&speed=100",
}
PLAY = """async (milliseconds) => {
  document.getElementById("play").click();
  const times = [], start = performance.now();
  await new Promise(done => {
    const look = now => { times.push(now); now - start > milliseconds ? done() : requestAnimationFrame(look); };
    requestAnimationFrame(look);
  });
  return times;
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="2 seconds of each instead of 8")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to this file")
    args = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("left out: it needs Playwright (PyPI) and Chromium")
        return
    server = make_server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    rows: list[dict[str, Any]] = []
    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for title, link in CASES.items():
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(f"{page_address(server)}#{link}")
            page.wait_for_selector("#play")
            page.wait_for_timeout(500)
            times = page.evaluate(PLAY, 2000 if args.quick else 8000)
            between = sorted(late - early for early, late in pairwise(times))
            rows.append(
                {
                    "500 points": title,
                    "frames a second": 1000 * len(between) / (times[-1] - times[0]),
                    "median ms between": between[len(between) // 2],
                    "95 % within ms": between[int(0.95 * len(between))],
                }
            )
            page.close()
        browser.close()
    server.shutdown()
    show("The playground", rows)
    save(args.json, rows)


if __name__ == "__main__":
    main()
