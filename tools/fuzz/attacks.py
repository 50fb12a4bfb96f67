"""What once did harm, repeated with the numbers of then: a line each of tried, refused, crashed, hung and wrong.

    python tools/fuzz/attacks.py [NAME ...]

Crashed: ended by a signal, or by a traceback. Hung: more than a second of CPU for one small input. Wrong: another
answer than the right one, without a word.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import attacks_files as files
from attacks_memory import bombs
from corpus import make_doors
from doors import fuzz
from running import KINDS, Counts, new_counts

SHOWN: dict[str, Callable[[Path], Counts]] = {
    "two runs with one cache": files.one_cache_for_two_runs,
    "changed bits of a cache": files.changed_bits_of_a_cache,
    "labels in the C export": files.labels_in_c,
    "nested JSON": files.nested_json,
    "stray quotes, ragged lines": files.stray_quotes,
    "models made by hand": files.models_made_by_hand,
    "models cut while read": files.models_cut_while_they_are_read,
    "bombs": bombs,
}
# As many changed files as once were tried.
MUTATED = {
    "changed CSV and JSON": (3_173, ("csv", "csv predicted", "json", "json lines", "json predicted")),
    "changed Arrow IPC": (1_757, ("arrow",)),
    "invalid Arrow IPC": (500, ("invalid arrow",)),
    "changed Parquet": (632, ("parquet",)),
    "changed models": (5_939, ("models",)),
    "models under a new seal": (9_750, ("resealed",)),
    "hostile calls of the engine": (9_500, ("bindings",)),
}


def mutated(name: str, folder: Path) -> Counts:
    doors, counts = make_doors(folder), new_counts()
    number, wanted = MUTATED[name]
    for door in wanted:
        most = -(-number // len(wanted))
        found = fuzz(door, *doors[door], 3600.0, 1, Path("build/fuzz-found"), most)
        for kind in ("tried", "refused", "hung"):
            counts[kind] += found[kind]
        counts["crashed"] += found["crashed"] + found["traceback"] + found["long"]
    return counts


def main() -> int:
    warnings.simplefilter("ignore")
    failed = 0
    print(f"{'attack':<28}" + "".join(f"{kind:>10}" for kind in KINDS), flush=True)
    for name in sys.argv[1:] or [*SHOWN, *MUTATED]:
        with tempfile.TemporaryDirectory() as folder:
            counts = SHOWN[name](Path(folder)) if name in SHOWN else mutated(name, Path(folder))
        print(f"{name:<28}" + "".join(f"{counts[kind]:>10,}" for kind in KINDS), flush=True)
        failed += sum(counts[kind] for kind in ("crashed", "hung", "wrong")) + (counts["tried"] == 0)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
