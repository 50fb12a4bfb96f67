"""From a file to a model: time beside Vowpal Wabbit and scikit-learn, and memory.

    python benchmarks/files.py [PART ...] [--quick] [--json FILE]

Makes its own data (200,000 rows, 323 MB of svmlight text) in benchmarks/.data, once. Every run is a process of its own,
alternately. `speed` leaves imports out, `whole process` is what a user waits for. VW runs with its defaults, an
adaptive, normalized, invariant step that is more work than a perceptron's, and with `--sgd`, which is not; it also
parses on a thread of its own, as `rosenblatt train` does, so that CPU seconds can exceed wall seconds.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from measure import Found, Row, Times, as_rows, count_turns, run_script

FOLDER = Path(__file__).parent / ".data"

OURS = """
import sys, time
from rosenblatt.cli.main import main
import rosenblatt.training.run, rosenblatt.training.checkpoint, rosenblatt.models.file
started, used = time.perf_counter(), time.process_time()
words = ["train", sys.argv[1], "-o", sys.argv[2], "--max-iter", sys.argv[3], *sys.argv[4:]]
code = main([*words, "--tol", "-1", "--quiet"])
print(time.perf_counter() - started, time.process_time() - used)
sys.exit(code)
"""

VW = """
import os, sys, time
from vowpalwabbit import Workspace
passes, more = int(sys.argv[3]), " ".join(sys.argv[4:])
cache = f" --passes {passes} --holdout_off -k --cache_file {sys.argv[2]}.cache" if passes > 1 else ""
os.path.exists(sys.argv[2] + ".cache") and os.unlink(sys.argv[2] + ".cache")
started, used = time.perf_counter(), time.process_time()
vw = Workspace(f"-d {sys.argv[1]} -f {sys.argv[2]} -b 18 --loss_function hinge --binary --quiet{cache} {more}")
vw.finish()
print(time.perf_counter() - started, time.process_time() - used)
"""

SKLEARN = """
import sys, time
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron
started, used = time.perf_counter(), time.process_time()
X, y = load_svmlight_file(sys.argv[1])
X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")
Perceptron(max_iter=int(sys.argv[3]), tol=None).fit(X, y)
print(time.perf_counter() - started, time.process_time() - used)
"""

# As a user starts it: the whole process.
COMMAND = """
import sys
from rosenblatt.__main__ import main
words = ["train", sys.argv[1], "-o", sys.argv[2], "--max-iter", sys.argv[3], *sys.argv[4:]]
sys.argv = ["rosenblatt", *words, "--tol", "-1", "--quiet"]
sys.exit(main())
"""

ONE_ORDER = ("--learner", "perceptron", "--no-shuffle")


def make_data(name: str, size: int) -> Path:
    """Rows of about 100 values, some features frequent and most rare, labels by a hidden plane."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.svm"
    if path.exists():
        return path
    rng = np.random.default_rng(0)
    features = 100_000
    plane = rng.standard_normal(features)
    written = 0
    with open(f"{path}.part", "wb") as file:
        while written < size:
            lines = []
            for _ in range(1000):
                columns = np.unique((features * rng.random(rng.integers(63, 168)) ** 3).astype(int))
                values = np.round(rng.standard_normal(len(columns)), 6)
                label = 1 if values @ plane[columns] > 0 else -1
                pairs = " ".join(f"{j + 1}:{v:g}" for j, v in zip(columns.tolist(), values.tolist(), strict=True))
                lines.append(f"{label:+d} {pairs}\n")
            written += file.write("".join(lines).encode())
    os.replace(f"{path}.part", path)
    return path


def copy_for_vw(path: Path) -> Path:
    """The same rows in VW's format."""
    copy = path.with_suffix(".vw")
    if not copy.exists():
        with open(path, "rb") as source, open(f"{copy}.part", "wb") as target:
            for line in source:
                target.write(line.replace(b" ", b" | ", 1))
        os.replace(f"{copy}.part", copy)
    return copy


def run(code: object, *words: object) -> tuple[list[float], float, resource.struct_rusage]:
    """The seconds that a process prints (wall, CPU), its wall seconds from start to end, and what it used."""
    started = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", code, *map(str, words)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = [float(word) for word in process.stdout.read().split()]
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {words}")
    return printed, time.perf_counter() - started, usage


def compare(data: str, jobs: dict[str, tuple[object, ...]], turns: int, whole: bool = False) -> list[Row]:
    """Every job in turn; scikit-learn, whose reader takes very long, three times at most."""
    times = {name: Times() for name in jobs}
    for turn in range(count_turns(turns)):
        for name, (code, path, *words) in list(jobs.items())[:: -1 if turn % 2 else 1]:
            if turn < 3 or "scikit-learn" not in name:
                printed, wall, usage = run(code, path, FOLDER / "model", *words)
                if whole:
                    printed = [wall, usage.ru_utime + usage.ru_stime]
                times[name].wall.append(printed[0])
                times[name].cpu.append(printed[1])
    return as_rows(times, {"data": data}, clock="wall")


def measure_speed(quick: bool) -> Found:
    data = make_data("quick" if quick else "large", 11_000_000 if quick else 323_000_000)
    text = copy_for_vw(data)
    jobs: dict[str, tuple[object, ...]] = {
        "rosenblatt, in order": (OURS, data, 1, *ONE_ORDER),
        "rosenblatt averaged, in order": (OURS, data, 1, "--learner", "averaged", "--no-shuffle"),
        "rosenblatt, shuffled": (OURS, data, 1, "--learner", "perceptron"),
        "VW": (VW, text, 1),
        "VW --sgd": (VW, text, 1, "--sgd"),
        "scikit-learn's reader and Perceptron": (SKLEARN, data, 1),
    }
    turns = 2 if quick else 7
    size = f"{data.stat().st_size / 1e6:.0f} MB of text"
    rows = compare(f"{size}, one pass", jobs, turns)
    jobs = {
        "rosenblatt, in order": (OURS, data, 5, *ONE_ORDER),
        "rosenblatt, shuffled": (OURS, data, 5, "--learner", "perceptron"),
        "VW with its cache": (VW, text, 5),
        "VW --sgd with its cache": (VW, text, 5, "--sgd"),
    }
    return {"From a file to a model, by wall time": rows + compare(f"{size}, five passes", jobs, turns)}


def measure_whole(quick: bool) -> Found:
    data = make_data("quick" if quick else "small", 11_000_000 if quick else 44_000_000)
    jobs: dict[str, tuple[object, ...]] = {
        "rosenblatt": (COMMAND, data, 1, *ONE_ORDER),
        "VW": (VW, copy_for_vw(data), 1),
        "VW --sgd": (VW, copy_for_vw(data), 1, "--sgd"),
        "scikit-learn": (SKLEARN, data, 1),
    }
    rows = compare(f"{data.stat().st_size / 1e6:.0f} MB of text, one pass", jobs, 2 if quick else 9, whole=True)
    return {"The whole process, by wall time": rows}


def measure_memory(quick: bool) -> Found:
    """The most memory in use while training two passes, on text and on several times as much."""
    small = make_data("quick" if quick else "large", 11_000_000 if quick else 323_000_000)
    rows = []
    for times in (3, 12):
        big = FOLDER / "big.svm"
        with open(big, "wb") as target:
            for _ in range(times):
                target.write(small.read_bytes())
        _, _, usage = run(COMMAND, big, FOLDER / "model", 2)
        rows.append({"MB of text": big.stat().st_size / 1e6, "most MB in memory": usage.ru_maxrss / 1024})
        big.unlink()
    return {"Memory": rows}


if __name__ == "__main__":
    run_script(__doc__, {"speed": measure_speed, "whole": measure_whole, "memory": measure_memory})
