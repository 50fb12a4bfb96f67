"""How smoothly the playground moves: frames a second, the time between two frames, and the work for each.

    python benchmarks/frames.py [--quick] [--json FILE]

500 points in the lab at its top speed, and the story scrolled from its first screen to its last while its figures play.
Chromium without a window or a graphics processor, 1280 x 720; a screen shows at most 60 frames a second. `work` is what
the page's main thread does for one frame, in CPU time, which a busy machine does not change: at 60 frames a second
there are 16.7 ms for it. Left out where Playwright or Chromium is missing.
"""

from __future__ import annotations

import argparse
import shutil
import threading
from itertools import pairwise
from typing import Any

from measure import save, show
from rosenblatt.playground import make_server, page_address

NOISE = "data=noise&n=500&noise=0.3&epochs=40&speed=300"
KEEPS = ("last", "average", "vote", "pocket")
CASES = {
    "one perceptron": f"{NOISE}&learner=perceptron",
    "RBF kernel": "data=moons&n=500&noise=0.2&epochs=40&speed=300&learner=perceptron,kernel:rbf,gamma:2",
    "vote": f"{NOISE}&learner=perceptron,keep:vote",
    "four answers side by side": NOISE + "".join(f"&learner=perceptron,keep:{keep}" for keep in KEEPS),
    "four rules side by side": f"{NOISE}&learner=perceptron&learner=margin&learner=PA&learner=PA-I",
    "the story, scrolled": "scene=1",
}
# The last case scrolls as long as the others play.
PLAY = """async ([milliseconds, scrolls]) => {
  const end = document.documentElement.scrollHeight - innerHeight;
  if (!scrolls) document.getElementById("play").click();
  const times = [], start = performance.now();
  await new Promise(done => {
    const look = now => {
      times.push(now);
      if (scrolls) scrollTo({ top: end * (now - start) / milliseconds, behavior: "instant" });
      now - start > milliseconds ? done() : requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  return times;
}"""


def work_of(session: Any) -> float:
    """CPU seconds of the page's main thread."""
    found = session.send("Performance.getMetrics")["metrics"]
    return float(next(entry["value"] for entry in found if entry["name"] == "TaskDuration"))


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
            page.wait_for_selector("#play, .task", state="attached")
            page.wait_for_timeout(500)
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            before = work_of(session)
            times = page.evaluate(PLAY, [2000 if args.quick else 8000, link.startswith("scene")])
            between = sorted(late - early for early, late in pairwise(times))
            rows.append(
                {
                    "what moves": title,
                    "frames a second": 1000 * len(between) / (times[-1] - times[0]),
                    "median ms between": between[len(between) // 2],
                    "95 % within ms": between[int(0.95 * len(between))],
                    "ms of work": 1000 * (work_of(session) - before) / len(between),
                }
            )
            page.close()
        browser.close()
    server.shutdown()
    show("The playground", rows)
    save(args.json, rows)


if __name__ == "__main__":
    main()
