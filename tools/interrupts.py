"""Sends Ctrl-C to every verb of the command at random moments, and counts how each one ended.

    python tools/interrupts.py [INTERRUPTS] [--seed N]

A good end is silence or the sentence "rosenblatt: interrupted", within seconds, with no file left but whole ones. What
had ended before the signal came is counted apart. Signals are sent from the command's first import on. Before it,
Python starts and looks for the package; Ctrl-C in these milliseconds is Python's own affair.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

# As pip writes it, but for the line that says that it is prepared.
SCRIPT = """import sys
from rosenblatt.__main__ import main as start
import os; os.write(3, b"!")
if __name__ == "__main__":
    sys.exit(start())
"""
PATIENCE = 20.0  # seconds from the signal to the end of the process
ENDLESS = ("serve", "play", "predict -")  # these wait for someone


def make_data(folder: Path) -> None:
    draw = random.Random(0)

    def line() -> str:
        a, b = draw.gauss(0, 1), draw.gauss(0, 1)
        noise = draw.gauss(0, 0.5)
        return f"{a:.3f},{b:.3f},{draw.choice('xyz')},{'yes' if a + 2 * b + noise > 0 else 'no'}\n"

    def number() -> str:
        a, b = draw.gauss(0, 1), draw.gauss(0, 1)
        return f"{a:.3f},{b:.3f},{'yes' if a + 2 * b > 0 else 'no'}\n"

    (folder / "mixed.csv").write_text("a,b,kind,late\n" + "".join(line() for _ in range(3_000)))
    (folder / "numbers.csv").write_text("a,b,late\n" + "".join(number() for _ in range(200)))


def commands() -> dict[str, list[str]]:
    """Every verb, on data that keep it busy for about a second; where it writes, to `out`."""
    return {
        "train": ["train", "mixed.csv", "-o", "out/m"],
        "train --learner arow": ["train", "mixed.csv", "-o", "out/m", "--learner", "arow", "--max-iter", "300"],
        "train --learner kernel": ["train", "numbers.csv", "-o", "out/m", "--learner", "kernel", "--max-iter", "300"],
        "train --learner voted": ["train", "mixed.csv", "-o", "out/m", "--learner", "voted", "--folds", "5"],
        "train --checkpoint": [
            "train", "mixed.csv", "-o", "out/m", "--learner", "averaged", "--max-iter", "60", "--checkpoint", "out/c",
            "--checkpoint-every", "0", "--report", "out/r.html",
        ],
        "predict": ["predict", "model", "mixed.csv", "-o", "out/p.csv", "--probabilities"],
        "predict -": ["predict", "model"],
        "evaluate": ["evaluate", "model", "mixed.csv", "--report", "out/r.html"],
        "inspect": ["inspect", "model"],
        "export": ["export", "model", "--to", "json", "-o", "out/m.json"],
        "compare": ["compare", "mixed.csv"],
        "tune": ["tune", "mixed.csv", "-o", "out/m"],
        "certify": ["certify", "numbers.csv"],
        "trace": ["trace", "mixed.csv", "--drop", "kind"],
        "trace --ledger": ["trace", "numbers.csv", "--ledger"],
        "serve": ["serve", "model", "--port", "0"],
        "play": ["play"],
        "demo": ["demo"],
    }  # fmt: skip


class Trial:
    """One run of a command, interrupted after some seconds."""

    def __init__(self, folder: Path, words: list[str]) -> None:
        out = folder / "out"
        out.mkdir(exist_ok=True)
        for path in sorted(out.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        environment = os.environ | {"PYTHONFAULTHANDLER": "1"}
        self.out = out
        begun, told = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec 3>&{told} {told}>&-; exec "$@"', "bash", sys.executable, "rosenblatt", *words],
            pass_fds=(told,),
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        os.close(told)
        os.read(begun, 1)
        os.close(begun)

    def ended_after(self, seconds: float) -> bool:
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def close(self) -> str:
        """The output of a process that has ended."""
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        self.process.stdin.close()
        with self.process.stderr:
            return self.process.stderr.read().decode(errors="replace")

    def interrupt(self) -> tuple[str, str]:
        """How it ended, and what it said."""
        self.process.send_signal(signal.SIGINT)
        if not self.ended_after(PATIENCE):
            self.process.send_signal(signal.SIGABRT)  # where it is, thread by thread
            self.process.wait()
            return "did not end", self.close()
        code, said = self.process.returncode, self.close()
        left = [path.name for path in self.out.rglob("*") if ".part" in path.name or path.name.startswith(".")]
        if left:
            return "left a part", f"{left}\n{said}"
        if "Traceback" in said or "Fatal Python error" in said or "Exception ignored" in said:
            return "a traceback", said
        if code in (0, 1) and "interrupted" not in said:
            return ("ended well" if code == 0 else "another end"), said
        return ("interrupted" if code in (130, -signal.SIGINT) else f"code {code}"), said


GOOD = ("interrupted", "ended well", "over before")


def interrupt_runs(count: int, seed: int = 0) -> tuple[Counter[str], list[str]]:
    """So many interrupts over all verbs in turn; how they ended, and what was wrong."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored, and so by the children
    draw, ends, wrong = random.Random(seed), Counter[str](), []
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        make_data(folder)
        (folder / "rosenblatt").write_text(SCRIPT)
        words = [sys.executable, "-m", "rosenblatt", "train", "mixed.csv", "-o", "model", "--quiet"]
        subprocess.run(words, cwd=folder, check=True)
        lasts: dict[str, float] = {}
        given = commands()
        for k in range(count):
            name = list(given)[k % len(given)]
            if name not in lasts:
                lasts[name] = 2.0 if name in ENDLESS else _seconds(folder, given[name])
            trial = Trial(folder, given[name])
            # A third of them fall into the time in which modules are loaded.
            most = min(0.4, lasts[name]) if draw.random() < 0.33 else lasts[name]
            wait = draw.uniform(0, most)
            if trial.ended_after(wait):
                end, said = "over before", trial.close()
            else:
                end, said = trial.interrupt()
            ends[end] += 1
            if end not in GOOD:
                wrong.append(f"{name}, {wait:.3f} s: {end}\n{said}")
                print(wrong[-1], flush=True)
    return ends, wrong


def _seconds(folder: Path, words: list[str]) -> float:
    trial, begun = Trial(folder, words), time.perf_counter()
    trial.process.wait()
    said = trial.close()
    if trial.process.returncode != 0:
        raise SystemExit(f"{words}: an undisturbed run failed: {said}")
    return time.perf_counter() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("interrupts", type=int, nargs="?", default=200)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    ends, wrong = interrupt_runs(args.interrupts, args.seed)
    print(f"{args.interrupts} interrupts over {len(commands())} commands, {len(wrong)} wrong: {dict(ends)}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
