"""Instructions of the inner loops, which noise cannot touch.

    python benchmarks/instructions.py [--guard] [--record] [--json FILE]

Each loop is compiled as the engine is, for AVX2 on x86-64, and run once under `valgrind --tool=callgrind`. The counts
are kept in benchmarks/instructions.json, by compiler, because another compiler writes other instructions. `--record`
keeps the counts of now; `--guard` fails if one has grown by more than 5 % since.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import save, show

HERE = Path(__file__).parent
ENGINE = HERE.parent / "engine"
KEPT = HERE / "instructions.json"
MOST_GROWTH = 5.0  # per cent
#: As in CMakeLists.txt.
FLAGS = [
    "-std=c++20",
    "-O3",
    "-ffp-contract=off",
    "-Wno-psabi",
    *(["-mavx2"] if platform.machine() == "x86_64" else []),
]


def count_loops() -> list[dict[str, Any]]:
    """The instructions of one pass of every loop."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "loops"
        sources = [HERE / "loops.cpp", *sorted(ENGINE.glob("train_*.cpp"))]
        subprocess.run(["c++", *FLAGS, f"-I{ENGINE}", *sources, "-o", program], check=True)
        listing = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        for line in listing.splitlines():
            values, name = line.split("\t")
            instructions = count_one(program, name, Path(folder))
            found.append({"loop": name, "instructions": instructions, "a value": instructions / int(values)})
    return found


def count_one(program: Path, name: str, folder: Path) -> int:
    words = ["valgrind", "--tool=callgrind", "--toggle-collect=counted", f"--callgrind-out-file={folder / 'out'}"]
    log = subprocess.run([*words, program, name], check=True, capture_output=True, text=True).stderr
    match = re.search(r"Collected : (\d+)", log)
    if not match or not int(match[1]):
        raise SystemExit(f"instructions: valgrind counted nothing in {name!r}:\n{log}")
    return int(match[1])


def judge(now: dict[str, int], before: dict[str, int]) -> list[str]:
    """A sentence for each loop that grew too much, is new or is gone."""
    complaints = []
    for loop, count in now.items():
        if loop not in before:
            complaints.append(f"{loop}: is counted but not kept; run with --record")
        elif count > before[loop] * (1 + MOST_GROWTH / 100):
            grown = 100 * (count / before[loop] - 1)
            complaints.append(f"{loop}: {grown:+.1f} %, more than {MOST_GROWTH:g} % is not allowed")
    complaints += [f"{loop}: is kept but no longer counted; run with --record" for loop in before if loop not in now]
    return complaints


def compiler() -> str:
    """The compiler's name and version, and the machine it compiles for."""
    text = subprocess.run(["c++", "--version"], check=True, capture_output=True, text=True).stdout.partition("\n")[0]
    return f"{text}, {platform.machine()}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--guard", action="store_true", help=f"fail if a loop grew by more than {MOST_GROWTH:g} %%")
    parser.add_argument("--record", action="store_true", help="keep the counts of now")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to this file")
    args = parser.parse_args()
    missing = [tool for tool in ("valgrind", "c++") if shutil.which(tool) is None]
    if missing:
        sentence = f"instructions were not counted: {' and '.join(missing)} is not installed"
        print(sentence, file=sys.stderr)
        return 1 if args.guard or args.record else 0
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    name = compiler()
    found = count_loops()
    if args.record:
        kept[name] = {line["loop"]: line["instructions"] for line in found}
        KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    before = kept.get(name)
    for line in found:
        was = (before or {}).get(line["loop"])
        line.update({"kept": was, "change %": None if was is None else 100 * (line["instructions"] / was - 1)})
    show(f"Instructions a pass, {name}", found)
    save(args.json, {f"Loops, {name}": found})
    if not args.guard:
        return 0
    if before is None:
        print(
            f"no counts are kept for {name}: go to the commit before yours and run this with --record", file=sys.stderr
        )
        return 1
    complaints = judge({line["loop"]: line["instructions"] for line in found}, before)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
