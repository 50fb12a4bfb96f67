"""Kills runs in their middle by `kill -9`, resumes them, and compares the models with those of undisturbed runs.

    python tools/kills.py [KILLS] [--seed N]

A kill counts only if the run was still going, had written a checkpoint and had not written its model; so the count
cannot be reached by runs that were over, or had not begun. Every learner of the family meets every format in turn, and
a resumed run may be killed again. Children are forked, so that each begins within milliseconds.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROWS = 400
OPTIONS = ["--max-iter", "4", "--bits", "12", "--quiet"]


def words_of(i: int) -> str:
    return " ".join(f"w{(i * k) % 37}" for k in range(1, 8))


def make_formats(folder: Path) -> None:
    """The same rows in every format that can be learned from."""
    import gzip
    import json

    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    numbers = [[(i * 7) % 11, (i * i) % 13, (i * 31) % 17] for i in range(ROWS)]
    labels = ["abc"[(i * i + i // 7) % 3] for i in range(ROWS)]
    table = pa.table(
        {
            "u": [float(row[0]) for row in numbers],
            "v": [float(row[1]) for row in numbers],
            "kind": [f"k{row[2]}" for row in numbers],
            "note": [words_of(i) for i in range(ROWS)],
            "y": labels,
        }
    )
    rows = table.to_pylist()

    def separated(mark: str) -> str:
        return "\n".join([mark.join(table.column_names), *(mark.join(map(str, row.values())) for row in rows)]) + "\n"

    lines = "".join(json.dumps(row) + "\n" for row in rows)
    contents = {
        "x.svm": "".join(
            f"{'abc'.index(y)} " + " ".join(f"{k + 1}:{v}" for k, v in enumerate(row)) + "\n"
            for y, row in zip(labels, numbers, strict=True)
        ),
        "x.vw": "".join(
            f"{'abc'.index(y) + 1} {1 + i % 3} |n u:{row[0]} v:{row[1]} |t {words_of(i)}\n"
            for i, (y, row) in enumerate(zip(labels, numbers, strict=True))
        ),
        "x.ft": "".join(f"__label__{y} {words_of(i)}\n" for i, y in enumerate(labels)),
        "x.tab": "".join(f"{y}\t{words_of(i)}\n" for i, y in enumerate(labels)),
        "x.csv": separated(","),
        "x.tsv": separated("\t"),
        "x.jsonl": lines,
        "x.json": json.dumps(rows),
    }
    for name, text in contents.items():
        (folder / name).write_text(text)
    (folder / "x.csv.gz").write_bytes(gzip.compress(contents["x.csv"].encode()))
    pyarrow.parquet.write_table(table, folder / "x.parquet", row_group_size=100)
    pyarrow.feather.write_feather(table, folder / "x.feather")
    for i, y in enumerate(labels):
        (folder / "documents" / y).mkdir(parents=True, exist_ok=True)
        (folder / "documents" / y / f"{i:04}.txt").write_text(words_of(i))


def run_in_child(words: list[str], count: Path | None = None) -> int:
    """Start the command in a forked child; its number."""
    child = os.fork()
    if child:
        return child
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    code = 1
    try:
        if count is not None:
            _count_checkpoints(count)
        from rosenblatt.cli.main import main

        code = main(words)
        if count is not None:
            count.with_name("modules").write_text("\n".join(sys.modules))
    finally:
        os._exit(code)


def _count_checkpoints(path: Path) -> None:
    """Let every checkpoint leave a byte in a file."""
    from rosenblatt.training import checkpoint

    save = checkpoint.save_checkpoint

    def counted(*given: Any) -> None:
        save(*given)
        with open(path, "ab") as file:
            file.write(b".")

    checkpoint.save_checkpoint = counted


@dataclass
class Counts:
    killed: int = 0  # in the middle, with a checkpoint
    resumed: int = 0  # runs, each after one kill or several
    over: int = 0  # had ended before the kill came: not counted
    wrong: list[str] = field(default_factory=list)


@dataclass
class Case:
    """One learner on one format."""

    learner: str
    name: str
    train: list[str]
    expected: bytes = b""
    checkpoints: int = 0

    def measure(self, folder: Path) -> None:
        """An undisturbed run: its model, and how many checkpoints it writes."""
        count, model, held = folder / "count", folder / "m", folder / "c"
        count.write_bytes(b"")
        words = [*self.train, "-o", str(model), "--checkpoint", str(held), "--checkpoint-every", "0"]
        status = os.waitpid(run_in_child(words, count), 0)[1]
        if status != 0:
            raise SystemExit(f"{self.learner} on {self.name}: an undisturbed run failed")
        self.expected, self.checkpoints = model.read_bytes(), len(count.read_bytes())
        # Imported here, the children have them; to run it here would start threads.
        for name in (folder / "modules").read_text().splitlines():
            if name not in sys.modules and not name.startswith("__"):
                with contextlib.suppress(Exception):
                    importlib.import_module(name)

    def kill_once(self, folder: Path, random_: random.Random, counts: Counts) -> None:
        """Kill a run, perhaps kill it again while it is resumed, and let it end."""
        for path in folder.iterdir():
            path.unlink()
        count, model, held = folder / "count", folder / "m", folder / "c"
        words = first = [*self.train, "-o", str(model), "--checkpoint", str(held), "--checkpoint-every", "0"]
        kills, left = 0, 8
        while left and (kills == 0 or random_.random() < 0.7):
            left -= 1
            count.write_bytes(b"")
            goal = random_.randrange(1, max(2, self.checkpoints - 1 if kills == 0 else 4))
            child = run_in_child(words, count)
            ended = self._await(child, count, goal)
            if not ended:
                time.sleep(random_.random() * 0.004)
                os.kill(child, signal.SIGKILL)
                ended = not os.WIFSIGNALED(os.waitpid(child, 0)[1])
            if ended or model.exists() or not held.exists():
                counts.over += 1
                break
            kills += 1
            words = [*first, "--resume"]
        if not kills:
            return
        counts.killed += kills
        counts.resumed += 1
        if os.waitpid(run_in_child(words), 0)[1] != 0:
            counts.wrong.append(f"{self.learner} on {self.name}: could not be resumed")
        elif model.read_bytes() != self.expected:
            counts.wrong.append(f"{self.learner} on {self.name}: another model after {kills} kills")

    @staticmethod
    def _await(child: int, count: Path, goal: int) -> bool:
        """Wait for so many checkpoints; True if the run has ended meanwhile."""
        while count.stat().st_size < goal:
            if os.waitpid(child, os.WNOHANG)[0]:
                return True
            time.sleep(0.0005)
        return False


def kill_runs(kills: int, seed: int = 0, say: Any = lambda line: None) -> tuple[Counts, set[str], set[str]]:
    """Kill runs until so many kills count; the counts, and the learners and formats that were met."""
    from rosenblatt.params import FAMILY, make_params
    from rosenblatt.training.train import can_resume

    random_, counts, cases = random.Random(seed), Counts(), {}
    learners, formats = set(), set()
    with tempfile.TemporaryDirectory() as kept:
        data, folder = Path(kept) / "data", Path(kept) / "run"
        data.mkdir()
        folder.mkdir()
        child = os.fork()  # what starts threads is done in a child: one that has them must not be forked
        if child == 0:
            make_formats(data)
            os._exit(0)
        os.waitpid(child, 0)
        names = {path.name: path for path in data.iterdir()}
        given = {"x.ft": ["--format", "fasttext"], "x.tab": ["--format", "tabbed"]}
        # Others have no checkpoints.
        stoppable = ["auto", *(name for name in FAMILY if can_resume(make_params(name)))]
        pairs = [(learner, name) for learner in stoppable for name in sorted(names)]
        random_.shuffle(pairs)
        tries = 0
        while counts.killed < kills and tries < 10 * kills + 100:
            learner, name = pairs[tries % len(pairs)]
            tries += 1
            if (learner, name) not in cases:
                words = ["train", str(names[name]), *given.get(name, []), "--learner", learner, *OPTIONS]
                cases[learner, name] = Case(learner, name, words)
                cases[learner, name].measure(folder)
            before = counts.killed
            cases[learner, name].kill_once(folder, random_, counts)
            if counts.killed > before:
                learners.add(learner)
                formats.add(name)
            if tries % 20 == 0:
                say(f"{counts.killed:,} killed, {counts.resumed:,} resumed, {len(counts.wrong)} wrong")
    return counts, learners, formats


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    counts, learners, formats = kill_runs(args.kills, args.seed, lambda line: print(line, flush=True))
    for sentence in counts.wrong:
        print(sentence)
    print(
        f"{counts.killed:,} runs killed in their middle, {counts.resumed:,} resumed to their end, "
        f"{len(counts.wrong)} wrong; {counts.over:,} were over before the kill; "
        f"{len(learners)} learners, {len(formats)} formats"
    )
    return int(bool(counts.wrong) or counts.killed < args.kills)


if __name__ == "__main__":
    sys.exit(main())
