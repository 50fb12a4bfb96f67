"""Start-up: how long an import and a command take before they can do anything.

    python benchmarks/startup.py [--quick] [--json FILE]

Every line is a new process, alternately, on a warm disk cache. `beyond Python` is CPU time less that of Python alone.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Found, Times, as_rows, count_turns, run_script

IMPORTS = {
    "Python alone": "pass",
    "import rosenblatt": "import rosenblatt",
    "from rosenblatt import Perceptron": "from rosenblatt import Perceptron",
    "import sklearn.linear_model": "import sklearn.linear_model",
    "import river.linear_model": "import river.linear_model",
    "import vowpalwabbit": "import vowpalwabbit",
}


def run_once(words: list[str], times: Times) -> None:
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    times.wall.append(time.perf_counter() - started)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    times.cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measure(quick: bool) -> Found:
    jobs = {name: [sys.executable, "-c", code] for name, code in IMPORTS.items()}
    command = str(Path(sys.executable).with_name("rosenblatt"))
    jobs |= {f"rosenblatt {option}": [command, option] for option in ("--version", "--help")}
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.svm"
        small.write_text("+1 1:1 2:0.5 4:1\n-1 1:-1 3:0.25\n" * 30)
        jobs["rosenblatt train, 1 kB"] = [command, "train", str(small), "-o", f"{folder}/model", "--quiet"]
        times = {name: Times() for name in jobs}
        for name in [*jobs, *list(jobs) * count_turns(1 if quick else 11)]:  # the first round warms the disk cache
            run_once(jobs[name], times[name])
    for runs in times.values():
        del runs.cpu[0], runs.wall[0]
    rows = as_rows(times, {})
    alone = rows[0]["CPU s"]
    keys = ("who", "CPU s", "wall s", "runs")
    return {"Start-up": [{**{key: row[key] for key in keys}, "beyond Python": row["CPU s"] - alone} for row in rows]}


if __name__ == "__main__":
    run_script(__doc__, {"startup": measure})
