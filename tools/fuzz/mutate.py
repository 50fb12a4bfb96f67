"""Throw mutated files at every fuzz target in Python, for SECONDS each, and count the outcomes.

    python tools/fuzz/mutate.py [SECONDS] [TARGET ...] [--seed N] [--keep FOLDER]

Held, for any bytes: the process lives, an input takes no longer than a second, and what is wrong is an error of
rosenblatt in one short line. Each target works in its own process; an input that ends the process, or that hangs, is
found again by its number, since the same seed makes the same inputs. What fails is written to a folder.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from corpus import Target, make_targets

SLOW = 1.0  # seconds of CPU for one input
STUCK = 20.0  # seconds of any kind, on a busy machine
MEMORY = 2 << 30  # bytes that an input may ask for beyond what is there already


ODD = [
    b'"',
    b",",
    b"\n",
    b"\r",
    b"\0",
    b"\xff",
    b"[",
    b"{",
    b"}",
    b"1e999",
    b"nan",
    b"\\ud800",
    b'""',
    b"\xef\xbb\xbf",
    b";",
    b"\t",
    b"-",
    b"9" * 30,
    b"[" * 200,
    b'"' * 7,
    b"\xff\xfe",
    b"9999-99-99",
    b"null",
    b":",
]


def mutate(random_: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """The bytes with a few things done to them."""
    held = bytearray(data)
    for _ in range(random_.choice((1, 1, 2, 4, 8))):
        at, kind = random_.randrange(len(held) + 1), random_.randrange(8)
        if kind == 0 and held:
            held[at % len(held)] ^= 1 << random_.randrange(8)
        elif kind == 1 and held:
            held[at % len(held)] = random_.randrange(256)
        elif kind == 2:
            held[at:at] = random_.choice(ODD)
        elif kind == 3:
            del held[at : at + random_.randrange(1, 40)]
        elif kind == 4:
            held[at:at] = held[at : at + random_.randrange(1, 200)]
        elif kind == 5:
            other = random_.choice(others)
            begin = random_.randrange(len(other) + 1)
            held[at : at + 20] = other[begin : begin + random_.randrange(60)]
        elif kind == 6 and len(held) >= 8:
            at %= len(held) - 7
            held[at : at + 4] = random_.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, len(held))).to_bytes(4, "little")
        else:
            del held[at:]
        del held[1 << 17 :]
    return bytes(held)


def work(
    target: Target, path: Path, found: list[bytes], begin: int, seed: int, until: float, most: int, send: Any
) -> None:
    """Try inputs from number `begin` on, up to `most`; say the number before each and the outcome behind it."""
    import faulthandler

    from rosenblatt.errors import RosenblattError

    faulthandler.disable()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    number = begin
    while time.monotonic() < until and number < most:
        random_ = random.Random(seed * 1_000_003 + number)
        path.write_bytes(mutate(random_, random_.choice(found), found))
        send.send(("begin", number, ""))
        outcome, why, started = "fine", "", time.process_time()
        try:
            target(path)
        except RosenblattError as error:
            outcome = "rejected"
            if "\n" in str(error) or len(str(error)) > 600:
                outcome, why = "long", str(error)[:2000]
        except BaseException:
            outcome, why = "traceback", traceback.format_exc()[-2000:]
        if time.process_time() - started > SLOW:
            outcome, why = "hung", f"{time.process_time() - started:.1f} s"
        send.send((outcome, number, why))
        number += 1


def fuzz(
    name: str,
    ending: str,
    target: Target,
    found: list[bytes],
    seconds: float,
    seed: int,
    keep: Path,
    most: int = 1 << 60,
) -> dict[str, int]:
    """Counts of the outcomes at one target."""
    counts = {"tried": 0, "rejected": 0, "crashed": 0, "hung": 0, "traceback": 0, "long": 0}
    until = time.monotonic() + seconds
    begin, context = 0, multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"input{ending}"
        while time.monotonic() < until and begin < most:
            receive, send = context.Pipe(duplex=False)
            process = context.Process(
                target=work, args=(target, path, found, begin, seed, until, most, send), daemon=True
            )
            process.start()
            send.close()
            current, why = begin, ""
            try:
                while receive.poll(STUCK + max(until - time.monotonic(), 0)):
                    outcome, current, why = receive.recv()
                    if outcome == "begin":
                        if not receive.poll(STUCK):
                            counts["hung"] += 1
                            keep_input(keep, name, path, "hung", "")
                            break
                        continue
                    counts["tried"] += 1
                    if outcome != "fine":
                        counts[outcome] += 1
                    if outcome in ("traceback", "long", "hung"):
                        random_ = random.Random(seed * 1_000_003 + current)
                        path.write_bytes(mutate(random_, random_.choice(found), found))
                        keep_input(keep, name, path, outcome, why)
            except EOFError:
                process.join()
                if process.exitcode:
                    counts["crashed"] += 1
                    keep_input(keep, name, path, f"signal {-process.exitcode}", "")
            if process.pid is not None and process.is_alive():
                os.kill(process.pid, signal.SIGKILL)
            process.join()
            receive.close()
            begin = current + 1
    return counts


def keep_input(folder: Path, name: str, path: Path, what: str, why: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    goal = folder / f"{name.replace(' ', '-')}-{what.replace(' ', '-')}-{len(list(folder.iterdir()))}{path.suffix}"
    goal.write_bytes(path.read_bytes() if path.exists() else b"")
    if why:
        goal.with_suffix(goal.suffix + ".txt").write_text(why)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=60.0)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz-found"))
    args = parser.parse_args()
    import warnings

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        targets = make_targets(Path(folder))
        unknown = set(args.targets) - set(targets)
        if unknown:
            parser.error(f"there is no target {sorted(unknown)[0]!r}; there are {', '.join(targets)}")
        return fuzz_all({name: targets[name] for name in args.targets or targets}, args.seconds, args.seed, args.keep)


def fuzz_all(targets: dict[str, Any], seconds: float, seed: int, keep: Path) -> int:
    """Prints the counts of all targets; 1 if anything failed."""
    kinds = ("tried", "rejected", "crashed", "hung", "traceback", "long")
    all_counts = dict.fromkeys(kinds, 0)
    print(f"{'target':<18}" + "".join(f"{kind:>11}" for kind in kinds))
    for name, target in targets.items():
        counts = fuzz(name, *target, seconds, seed, keep)
        print(f"{name:<18}" + "".join(f"{counts[kind]:>11,}" for kind in kinds), flush=True)
        for kind in kinds:
            all_counts[kind] += counts[kind]
    print(f"{'all':<18}" + "".join(f"{all_counts[kind]:>11,}" for kind in kinds))
    failed = sum(all_counts[kind] for kind in ("crashed", "hung", "traceback", "long"))
    print(f"{failed} failed" + (f"; the inputs are in {keep}" if failed else ""))
    return int(failed > 0 or not all_counts["tried"])


if __name__ == "__main__":
    sys.exit(main())
