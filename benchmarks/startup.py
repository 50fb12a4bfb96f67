"""Start-up: how long an import and a command take before they can do anything.

    python benchmarks/startup.py [--quick] [--json FILE]

Every line is a new process, by turns, on a warm disk cache. `beyond Python` is the best time less that of Python
alone.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import save, show

BARS = {"import rosenblatt": 0.25, "rosenblatt train, 1 kB": 0.3}  # seconds

IMPORTS = {
    "Python alone": "pass",
    "import rosenblatt": "import rosenblatt",
    "and rosenblatt.Perceptron": "import rosenblatt; rosenblatt.Perceptron",
    "import sklearn.linear_model": "import sklearn.linear_model",
    "import river.linear_model": "import river.linear_model",
    "import vowpalwabbit": "import vowpalwabbit",
}


def run_once(words: list[str]) -> tuple[float, float]:
    """Wall and CPU seconds of a process."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="2 turns instead of 15")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to this file")
    args = parser.parse_args()
    jobs = {name: [sys.executable, "-c", code] for name, code in IMPORTS.items()}
    command = str(Path(sys.executable).with_name("rosenblatt"))
    jobs |= {f"rosenblatt {option}": [command, option] for option in ("--version", "--help")}
    folder = Path(tempfile.mkdtemp())
    small = folder / "small.svm"
    small.write_text("+1 1:1 2:0.5 4:1\n-1 1:-1 3:0.25\n" * 30)
    jobs["rosenblatt train, 1 kB"] = [command, "train", str(small), "-o", str(folder / "model"), "--quiet"]
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    for words in jobs.values():  # the disk cache is warm from here on
        run_once(words)
    for _ in range(2 if args.quick else 15):
        for name, words in jobs.items():
            runs[name].append(run_once(words))
    alone = min(cpu for _, cpu in runs["Python alone"])
    lines = [
        {
            "what": name,
            "best CPU s": min(cpu for _, cpu in times),
            "median CPU s": statistics.median(cpu for _, cpu in times),
            "best wall s": min(wall for wall, _ in times),
            "beyond Python": min(cpu for _, cpu in times) - alone,
            "bar": BARS.get(name),
        }
        for name, times in runs.items()
    ]
    show("Start-up", lines)
    save(args.json, {"startup": lines})


if __name__ == "__main__":
    main()
