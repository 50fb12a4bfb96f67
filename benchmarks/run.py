"""Runs every benchmark and renders what it found: ``python benchmarks/run.py [--quick] [--render] [NAME ...]``.

A benchmark is a script beside this one that takes ``--json FILE``. Results go to benchmarks/results, RESULTS.md and the
marked figures of README.md and docs. With ``--quick`` the scripts that need no published data run in a small form,
about two minutes on a quiet machine, and everything goes to benchmarks/.quick. ``--render`` runs nothing.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from machine import facts
from measure import ONE_THREAD
from render import render

HERE = Path(__file__).parent
#: In the order in which they are shown.
SCRIPTS = (
    "linear",
    "accuracy",
    "files",
    "separate",
    "sweep",
    "growth",
    "cluster",
    "service",
    "startup",
    "freund_schapire",
    "crammer",
    "support_vectors",
    "instructions",
)
QUICK = ("linear", "accuracy", "files", "separate", "sweep", "growth", "startup")


def run(name: str, folder: Path, quick: bool, options: list[str]) -> bool:
    """Run one benchmark; a result of before stays if it writes none."""
    print(f"== {name}", flush=True)
    target, fresh = folder / f"{name}.json", folder / f"{name}.json.new"
    fresh.unlink(missing_ok=True)
    about = {"machine": facts(), "date": datetime.date.today().isoformat(), "quick": quick}
    started = time.perf_counter()
    words = [
        sys.executable,
        str(HERE / f"{name}.py"),
        "--json",
        str(fresh),
        *(options if name != "instructions" else []),
    ]
    code = subprocess.run(words, check=False, env=os.environ | ONE_THREAD).returncode
    if fresh.exists():
        about["seconds"] = time.perf_counter() - started
        found = json.loads(fresh.read_text())
        fresh.unlink()
        if found:
            target.write_text(json.dumps({"about": about, "found": found}, indent=1) + "\n")
    return code == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SCRIPTS)} (all)")
    parser.add_argument("--quick", action="store_true", help="small forms, together about two minutes")
    parser.add_argument("--turns", type=int, metavar="N", help="at most so many turns, to try a change")
    parser.add_argument("--render", action="store_true", help="only write the pages from the results that are there")
    args = parser.parse_args()
    if unknown := set(args.names) - set(SCRIPTS):
        parser.error(f"no benchmark is called {unknown.pop()!r}: there are {', '.join(SCRIPTS)}")
    folder = HERE / (".quick" if args.quick else "results")
    folder.mkdir(exist_ok=True)
    names = args.names or (QUICK if args.quick else SCRIPTS)
    options = [*(["--quick"] if args.quick else []), *([f"--turns={args.turns}"] if args.turns else [])]
    failed = [] if args.render else [name for name in names if not run(name, folder, args.quick, options)]
    done = [HERE / f"{name}.py" for name in SCRIPTS if (folder / f"{name}.json").exists()]
    page = render(folder, folder / "RESULTS.md" if args.quick else HERE / "RESULTS.md", done)
    print(f"written to {page}")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
