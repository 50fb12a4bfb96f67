"""The hashes of what today's learners learn, over a grid of rules, keeps, rows, streams, files and choices.

python tests/golden/grid.py              compare, and name every case that differs
python tests/golden/grid.py --write      record cases that are new, and those that changed.py names
python tests/golden/grid.py --list       count the cases
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from functools import cache
from pathlib import Path

import changed
from cases import files, kernel, linear, models, select, streams, theory
from cases.digest import line_of

HASHES = Path(__file__).parent / "hashes.json"
ROOMS = (linear, streams, kernel, select, theory, models, files)


@cache
def groups():
    """The cases of each group, by name."""
    found = defaultdict(dict)
    for room in ROOMS:
        for name, make in room.iter_cases():
            group = found[name.split("/")[0]]
            assert name not in group, f"two cases are called {name}"
            group[name] = make
    return dict(found)


def recorded():
    """The lines that were written, a list of one, or of two where a change was intended, for each case."""
    if not HASHES.exists():
        return {}
    return {name: [line] if isinstance(line, str) else line for name, line in json.loads(HASHES.read_text()).items()}


def reason_of(name):
    """Why a case is meant to differ from its first line; None if it is not."""
    return next((why for prefix, why in changed.CHANGED.items() if name.startswith(prefix)), None)


def expected(name, lines):
    """The line that a case must have: the second one where a change was intended and recorded."""
    return lines[-1] if reason_of(name) is not None else lines[0]


def run_group(group, every=1):
    """The line of every case of a group, or of one out of `every` so many."""
    return {name: _line(make) for name, make in list(groups()[group].items())[::every]}


def _line(make):
    try:
        return line_of(make())
    except Exception as error:  # the other cases still have something to say
        return f"raised {type(error).__name__}: {error}"


def differences(group, known, every=1):
    """A sentence for each case of a group, or for one out of `every` so many, that is not what was recorded."""
    found, said = run_group(group, every), []
    for name, line in found.items():
        if name not in known:
            said.append(f"{name}: not recorded yet")
        elif line.startswith("raised"):
            said.append(f"{name}: {line}")
        elif line != (wanted := expected(name, known[name])):
            parts = [new.split("=")[0] for new in line.split()[1:] if new not in wanted.split()]
            said.append(f"{name}: {', '.join(parts)}")
    gone = (name for name in known if name.split("/")[0] == group and name not in groups()[group])
    return [*said, *(f"{name}: recorded, but no case of the grid any more" for name in gone)]


def write():
    """Record new cases, and a second line for those that changed.py names; all others stay as they are."""
    known = recorded()
    for group in groups():
        for name, line in run_group(group).items():
            assert not line.startswith("raised"), f"{name} {line}"
            if name not in known:
                known[name] = [line]
            elif reason_of(name) is not None:
                known[name] = [known[name][0]] if line == known[name][0] else [known[name][0], line]
    lines = [
        f"{json.dumps(name)}: {json.dumps(each if len(each) > 1 else each[0])}" for name, each in sorted(known.items())
    ]
    HASHES.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(known)} cases in {HASHES}")


def compare():
    known, bad = recorded(), []
    for group, cases in groups().items():
        started = time.perf_counter()
        said = differences(group, known)
        print(f"{group:12} {len(cases):5} cases  {len(said):4} differ  {time.perf_counter() - started:6.1f} s")
        bad += said
    print(*bad, sep="\n")
    return 1 if bad else 0


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    elif "--list" in sys.argv:
        print(*(f"{group:12} {len(cases):5}" for group, cases in groups().items()), sep="\n")
    else:
        sys.exit(compare())
