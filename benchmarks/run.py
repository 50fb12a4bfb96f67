"""Runs every benchmark and renders what it found: ``python benchmarks/run.py [--quick] [NAME ...]``.

A benchmark is a script beside this one that takes ``--json FILE``. With ``--quick`` those that know ``--quick`` are
run, and the results go to benchmarks/.quick instead of benchmarks/results and benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import time
from pathlib import Path

from machine import facts
from render import render

HERE = Path(__file__).parent
#: What a reader asks first comes first; scripts that are not named here follow by name.
FIRST = (
    "linear",
    "accuracy",
    "files",
    "separate",
    "freund_schapire",
    "crammer",
    "support_vectors",
    "sweep",
    "growth",
    "frames",
    "startup",
    "instructions",
)


def find_scripts() -> list[Path]:
    """The benchmarks, in the order in which they are shown."""
    found = [path for path in HERE.glob("*.py") if path.name != Path(__file__).name and '"--json"' in path.read_text()]
    return sorted(found, key=lambda path: (FIRST.index(path.stem) if path.stem in FIRST else len(FIRST), path.stem))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="which benchmarks (default: all)")
    parser.add_argument("--quick", action="store_true", help="each in its quick form, together under 5 minutes")
    args = parser.parse_args()
    folder = HERE / (".quick" if args.quick else "results")
    folder.mkdir(exist_ok=True)
    scripts = find_scripts()
    unknown = set(args.names) - {script.stem for script in scripts}
    if unknown:
        parser.error(
            f"no benchmark is called {unknown.pop()}: there are {', '.join(script.stem for script in scripts)}"
        )
    failed = []
    for script in scripts:
        if args.names and script.stem not in args.names:
            continue
        if args.quick and '"--quick"' not in script.read_text():
            print(f"== {script.stem}: has no quick form, left out", flush=True)
            continue
        print(f"== {script.stem}", flush=True)
        target, fresh = folder / f"{script.stem}.json", folder / f"{script.stem}.json.new"
        fresh.unlink(missing_ok=True)
        about = {"machine": facts(), "date": datetime.date.today().isoformat(), "quick": args.quick}
        started = time.perf_counter()
        words = [sys.executable, str(script), "--json", str(fresh), *(["--quick"] if args.quick else [])]
        code = subprocess.run(words, check=False).returncode
        if code:
            failed.append(script.stem)
        if not fresh.exists():  # it has said why; what was found before stays
            continue
        found = json.loads(fresh.read_text())
        about["seconds"] = time.perf_counter() - started
        fresh.write_text(json.dumps({"about": about, "found": found}, indent=1) + "\n")
        fresh.replace(target)
    page = folder / "RESULTS.md" if args.quick else HERE / "RESULTS.md"
    text = render(folder, page, [script for script in scripts if (folder / f"{script.stem}.json").exists()])
    print(text)
    print(f"written to {page}")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
