"""Coverage-guided fuzzing of the Python targets: atheris follows the branches that a file takes.

    python tools/fuzz/guided.py [SECONDS] [TARGET ...] [--seed N]

Held, for any bytes, as in mutate.py: the process lives, an input takes no longer than a second, and what is wrong is an
error of rosenblatt. Each target works in a process of its own. What it finds is kept in build/fuzz, and begins the next
run. Without atheris (`pip install atheris`) it says so and does nothing: mutate.py changes files by chance.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

KEPT = Path("build/fuzz")
# Targets whose bytes are read as they are; the others make something by chance of them, which has no coverage.
DOORS = ("csv", "csv predicted", "json", "json lines", "json predicted", "arrow", "parquet", "any text", "models")


def fuzz_door(name: str, seconds: int, seed: int) -> None:
    """In a process of its own, which libFuzzer ends."""
    import atheris

    # An editable install has a loader of its own, which atheris cannot instrument.
    sys.meta_path[:] = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
    sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
    with atheris.instrument_imports(include=["rosenblatt"]):
        import rosenblatt

        rosenblatt.__path__ += [str(Path(folder) / "rosenblatt") for folder in sys.path]  # one has the engine
        from corpus import make_targets

        from rosenblatt.errors import RosenblattError

        folder = Path(tempfile.mkdtemp())
        ending, target, found = make_targets(folder)[name]
    kept = KEPT / f"guided-{name.replace(' ', '-')}"
    kept.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(found):
        (kept / f"sound-{number}").write_bytes(data)
    path = folder / f"input{ending}"

    def attempt(data: bytes) -> None:
        path.write_bytes(data)
        try:
            target(path)
        except RosenblattError as error:
            if "\n" in str(error) or len(str(error)) > 600:
                raise ValueError("a sentence is too long") from error

    options = [f"-max_total_time={seconds}", "-timeout=20", "-max_len=8192", "-print_final_stats=1", f"-seed={seed}"]
    atheris.Setup(["guided", *options, f"-artifact_prefix={KEPT}/found-", str(kept)], attempt)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=int, nargs="?", default=60)
    parser.add_argument("targets", nargs="*", default=DOORS)
    parser.add_argument("--seed", type=int, default=0, help="0 draws one")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        fuzz_door(args.inside, args.seconds, args.seed)
        return 0
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not there: no files by coverage")
        return 0
    print(f"{'target, by coverage':<28}{'tried':>14}{'crashed':>10}{'branches':>10}")
    failed = 0
    for name in args.targets:
        words = [sys.executable, "-W", "ignore", __file__, str(args.seconds), "--inside", name, f"--seed={args.seed}"]
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        tried = re.search(r"number_of_executed_units: (\d+)", done.stderr)
        covered = re.findall(r"cov: (\d+)", done.stderr)
        ended = done.returncode != 0
        failed += ended or not tried or not covered  # without branches nothing was guided
        print(
            f"{name:<28}{int(tried[1]) if tried else 0:>14,}{int(ended):>10}{covered[-1] if covered else 0:>10}",
            flush=True,
        )
        if ended:
            print(done.stderr[-3000:])
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
