"""From a file to a model: speed against Vowpal Wabbit, scikit-learn and LIBLINEAR; memory; a hundred kills.

    python benchmarks/files.py [--quick] [--only speed|memory|kill] [--json FILE] [--folder FOLDER]

Makes its own data (200,000 rows, 323 MB of svmlight text) in the folder, once. The peers are `vowpalwabbit` and
`scikit-learn` from PyPI and `liblinear-train` of Debian's `liblinear-tools`; those that are not there are left out.
Every figure is the best of several runs, taken in turns, each in a process of its own, imports not counted, by the
clock and in seconds of CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SIZE = 323_000_000
KILLED = ("averaged", "arow", "voted", "auto")

OURS = """
import sys, time
from rosenblatt.cli.main import main
import rosenblatt.training.run, rosenblatt.training.checkpoint, rosenblatt.models.file
started, used = time.perf_counter(), time.process_time()
words = ["train", sys.argv[1], "-o", sys.argv[2], "--max-iter", sys.argv[3], "--learner", sys.argv[4]]
code = main([*words, "--tol", "-1", "--quiet", *sys.argv[5:]])
print(time.perf_counter() - started, time.process_time() - used)
sys.exit(code)
"""

VW = """
import sys, time, os
from vowpalwabbit import Workspace
passes = int(sys.argv[3])
cache = f" --passes {passes} --holdout_off -k --cache_file {sys.argv[2]}.cache" if passes > 1 else ""
os.path.exists(sys.argv[2] + ".cache") and os.unlink(sys.argv[2] + ".cache")
started, used = time.perf_counter(), time.process_time()
vw = Workspace(f"-d {sys.argv[1]} -f {sys.argv[2]} -b 18 --loss_function hinge --binary --quiet{cache}")
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

LIBLINEAR = """
import resource, subprocess, sys, time
started = time.perf_counter()
subprocess.run(["liblinear-train", "-s", "1", "-q", sys.argv[1], sys.argv[2]], check=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.perf_counter() - started, usage.ru_utime + usage.ru_stime)
"""


def make_data(path: Path, size: int) -> None:
    """Rows of about 100 values, some features frequent and most rare, labels by a hidden plane."""
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


def vw_copy(path: Path) -> Path:
    """The same rows in VW's format."""
    copy = path.with_suffix(".vw")
    if not copy.exists():
        with open(path, "rb") as source, open(f"{copy}.part", "wb") as target:
            for line in source:
                label, rest = line.split(b" ", 1)
                target.write(label + b" | " + rest)
        os.replace(f"{copy}.part", copy)
    return copy


def seconds(code: str, *words: object) -> tuple[float, float] | None:
    """The seconds that a script says it took, by the clock and of all CPUs together; None if it cannot run."""
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        print(
            f"  left out: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'failed'}", file=sys.stderr
        )
        return None
    wall, cpu = map(float, done.stdout.split()[-2:])
    return wall, cpu


def measure_speed(folder: Path, size: int, turns: int) -> dict[str, object]:
    data = folder / f"rows-{size}.svm"
    if not data.exists():
        make_data(data, size)
    vw_data, model = vw_copy(data), folder / "model"
    runs = {
        "ours, one pass": (OURS, data, 1, "perceptron", "--no-shuffle"),
        "ours averaged, one pass": (OURS, data, 1, "averaged", "--no-shuffle"),
        "VW, one pass": (VW, vw_data, 1),
        "ours, five passes": (OURS, data, 5, "perceptron", "--no-shuffle"),
        "VW with its cache, five passes": (VW, vw_data, 5),
        "ours shuffled, one pass": (OURS, data, 1, "perceptron"),
        "ours shuffled, five passes": (OURS, data, 5, "perceptron"),
    }
    best: dict[str, tuple[float, float]] = {}

    def take(name: str, code: str, *words: object) -> None:
        took = seconds(code, *words)
        if took is not None:
            known = best.get(name, (np.inf, np.inf))
            best[name] = min(known[0], took[0]), min(known[1], took[1])
            print(f"{name}: {took[0]:.2f} s, {took[1]:.2f} s of CPU", file=sys.stderr)

    for _ in range(turns):
        for name, (code, path, *words) in runs.items():
            take(name, code, path, model, *words)
    take("scikit-learn's reader and Perceptron, one pass", SKLEARN, data, model, 1)
    take("LIBLINEAR -s 1", LIBLINEAR, data, model, 1)

    def ratios(kind: int) -> dict[str, float]:
        one, five = best["ours, one pass"][kind], best["ours, five passes"][kind]
        return {n: t[kind] / (five if "five" in n else one) for n, t in best.items() if not n.startswith("ours")}

    return {
        "bytes": data.stat().st_size,
        "seconds": {name: took[0] for name, took in best.items()},
        "cpu_seconds": {name: took[1] for name, took in best.items()},
        "times_faster": ratios(0),
        "times_less_cpu": ratios(1),
        "load": os.getloadavg()[0],
    }


# The whole process, imports included, as a user waits for it.
OURS_WHOLE = """
import sys
from rosenblatt.__main__ import main as start
words = ["train", sys.argv[1], "-o", sys.argv[2], "--max-iter", "1", "--learner", "perceptron"]
sys.argv = ["rosenblatt", *words, "--tol", "-1", "--quiet", "--no-shuffle"]
sys.exit(start())
"""
WHOLE_BARS = {"VW": 2.0, "scikit-learn": 12.0}


def measure_whole(folder: Path, turns: int) -> list[dict[str, object]]:
    """44 MB of svmlight text, one pass, from the start of the process to its end, by turns."""
    data = folder / "rows-44.svm"
    if not data.exists():
        make_data(data, 44_000_000)
    jobs = {"ours": (OURS_WHOLE, data), "VW": (VW, vw_copy(data)), "scikit-learn": (SKLEARN, data)}
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(turns):
        for name, (code, path) in jobs.items():
            started = time.perf_counter()
            done = subprocess.run([sys.executable, "-c", code, path, folder / "model", "1"], capture_output=True)
            if done.returncode == 0:
                found[name].append(time.perf_counter() - started)
    ours = float(np.median(found["ours"]))
    return [
        {
            "": name,
            "seconds": float(np.median(took)),
            "best": min(took),
            "times faster": float(np.median(took)) / ours,
            "bar": WHOLE_BARS.get(name),
        }
        for name, took in found.items()
        if took
    ]


def measure_memory(folder: Path, size: int) -> dict[str, object]:
    """The largest resident size while training on 1 GB and 4 GB, two passes."""
    small = folder / f"rows-{size}.svm"
    if not small.exists():
        make_data(small, size)
    peaks = {}
    for gigabytes in (1, 4):
        big = folder / f"rows-{gigabytes}gb.svm"
        if not big.exists():
            with open(f"{big}.part", "wb") as target:
                while target.tell() < gigabytes * 10**9:
                    target.write(small.read_bytes())
            os.replace(f"{big}.part", big)
        words = [
            sys.executable,
            "-m",
            "rosenblatt",
            "train",
            str(big),
            "-o",
            str(folder / "model"),
            "--max-iter",
            "2",
        ]
        process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        peaks[f"{gigabytes} GB"] = usage.ru_maxrss / 1024
        print(f"{gigabytes} GB: {usage.ru_maxrss / 1024:.0f} MB resident at most", file=sys.stderr)
        big.unlink()
    return {"megabytes": peaks, "ratio": peaks["4 GB"] / peaks["1 GB"]}


def measure_kills(folder: Path, size: int, kills: int) -> dict[str, object]:
    """Kill -9 at random moments; the resumed model must have the same bytes, and a model on disk must be whole."""
    data = folder / "kill.svm"
    if not data.exists():
        make_data(data, size)
    train = [sys.executable, "-m", "rosenblatt", "train"]
    chance = random.Random(0)
    done: dict[str, dict[str, int]] = {}
    for learner in KILLED:
        words = [str(data), "--learner", learner, "--block", "500", "--quiet"]
        if learner != "auto":
            words += ["--max-iter", "4", "--tol", "-1"]
        done[learner] = kill_and_resume([*train, *words], train, folder, kills // len(KILLED), chance)
    return {"kills": sum(each["kills"] for each in done.values()), "learners": done}


def kill_and_resume(
    words: list[str], train: list[str], folder: Path, kills: int, chance: random.Random
) -> dict[str, int]:
    """One run after another, each killed and resumed until it comes to its end."""
    subprocess.run([*words, "-o", str(folder / "expected")], check=True)
    expected = (folder / "expected").read_bytes()
    count = {"runs": 0, "kills": 0, "resumed": 0, "same_bytes": 0}
    whole = 0.0
    while count["kills"] < kills:
        with tempfile.TemporaryDirectory(dir=folder) as inside:
            model, checkpoint = Path(inside) / "model", Path(inside) / "checkpoint"
            now = [*words, "-o", str(model), "--checkpoint", str(checkpoint), "--checkpoint-every", "0s"]
            while True:
                started = time.perf_counter()
                process = subprocess.Popen(now)
                try:
                    process.wait(chance.uniform(0.3, 1.05) * whole if whole else None)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                if model.exists() and model.read_bytes() != expected:
                    raise SystemExit(f"{' '.join(now)}: the model on disk is not whole")
                if process.returncode == 0:
                    break
                if process.returncode != -signal.SIGKILL:
                    raise SystemExit(f"{' '.join(now)}: ended by itself, with {process.returncode}")
                count["kills"] += 1
                if checkpoint.exists():
                    now = [*train, "--resume", str(checkpoint), "-o", str(model), "--quiet"]
                    count["resumed"] += 1
            whole = whole or time.perf_counter() - started  # the first run is not disturbed
            count["runs"] += 1
            count["same_bytes"] += model.read_bytes() == expected
    print(f"{' '.join(words)}: {count}", file=sys.stderr)
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("speed", "whole", "memory", "kill"))
    parser.add_argument("--quick", action="store_true", help="speed only, on a tenth of the text, one turn")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--size", type=int, default=SIZE, help="bytes of text (default 323 MB, 200,000 rows)")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / ".data")
    args = parser.parse_args()
    if args.quick:
        args.only, args.size, args.turns = args.only or "speed", SIZE // 10, 1
    args.folder.mkdir(parents=True, exist_ok=True)
    result: dict[str, object] = {}
    if args.only in (None, "speed"):
        result["speed"] = measure_speed(args.folder, args.size, args.turns)
    if args.only in (None, "whole"):
        result["whole process, 44 MB"] = measure_whole(args.folder, 2 * args.turns + 1)
    if args.only in (None, "memory"):
        result["memory"] = measure_memory(args.folder, args.size)
    if args.only in (None, "kill"):
        result["kill"] = measure_kills(args.folder, 5_000_000, args.kills)
    text = json.dumps(result, indent=2)
    print(text)
    if args.json:
        Path(args.json).write_text(text + "\n")


if __name__ == "__main__":
    main()
