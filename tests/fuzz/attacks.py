"""What once did harm, repeated with the numbers of then: a line each of tried, refused, crashed, hung and wrong.

    python tests/fuzz/attacks.py [NAME ...]

Crashed: ended by a signal, or by a traceback. Hung: more than a second of CPU for one small input. Wrong: another
answer than the right one, without a word.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from corpus import DIALECTS, make_doors
from doors import fuzz

COMMAND = [sys.executable, "-m", "rosenblatt.cli.start"]
KINDS = ("tried", "refused", "crashed", "hung", "wrong")
Counts = dict[str, int]


def new_counts() -> Counts:
    return dict.fromkeys(KINDS, 0)


def run(*words: object, seconds: float = 60.0, memory: int | None = None) -> tuple[str, str, float]:
    """How the command ended (fine, refused, crashed, hung), what it said, and its seconds of CPU."""

    def limit() -> None:
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        one = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            [*COMMAND, *map(str, words)], capture_output=True, timeout=20 * seconds, preexec_fn=limit, env=one
        )
    except subprocess.TimeoutExpired:
        return "hung", "", 20 * seconds
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode < 0 or "Traceback" in said:
        return "crashed", said, used
    if used > seconds:
        return "hung", said, used
    return ("fine" if done.returncode == 0 else "refused"), said, used


def one_cache_for_two_runs(folder: Path) -> Counts:
    """80 runs, two at a time, on two files with one folder for their caches."""
    counts, paths = new_counts(), []
    for k in range(2):
        path = folder / f"x{k}.svm"
        path.write_text(
            "".join(f"{(i * (k + 3)) % 2} {1 + i % 5}:{(i * 7 + k) % 11} 9:{i % 10}\n" for i in range(4000))
        )
        paths.append(path)
    words = ["--learner", "averaged", "--max-iter", "3", "--quiet", "--block", "512"]
    expected = []
    for path in paths:
        run("train", path, *words, "-o", folder / "expected")
        expected.append((folder / "expected").read_bytes())
    for turn in range(40):
        cache = folder / f"cache{turn // 2}"  # new in every other turn
        both = [
            subprocess.Popen([*COMMAND, "train", str(path), *words, "-o", str(folder / f"m{k}"), "--cache", str(cache)])
            for k, path in enumerate(paths)
        ]
        for k, process in enumerate(both):
            counts["tried"] += 1
            counts["crashed"] += process.wait() < 0
            counts["wrong"] += (folder / f"m{k}").read_bytes() != expected[k]
    return counts


def changed_bits_of_a_cache(folder: Path) -> Counts:
    """Every so many bytes of a cache one bit, in one process: the model is the expected one, or it is refused."""
    from rosenblatt.data import scan
    from rosenblatt.errors import RosenblattError
    from rosenblatt.learners.files.run import FileRun
    from rosenblatt.models.file import save
    from rosenblatt.recipe import make_recipe

    (folder / "x").write_text("".join(f"{i % 2} {1 + i % 5}:{i * 7 % 11} 9:{i % 10}\n" for i in range(300)))

    def train() -> bytes:
        one = FileRun.begin(scan(folder / "x", format="svmlight"), make_recipe("averaged", max_iter=2), block=64)
        one.run(cache=str(folder / "cache"))
        save(one.model(), folder / "m")
        return (folder / "m").read_bytes()

    expected, counts = train(), new_counts()
    (blocks,) = (folder / "cache").iterdir()
    whole = blocks.read_bytes()
    for at in range(0, len(whole), max(1, len(whole) // 700)):
        changed = bytearray(whole)
        changed[at] ^= 1 << (at % 8)
        blocks.write_bytes(changed)
        counts["tried"] += 1
        try:
            counts["wrong"] += train() != expected
        except RosenblattError:
            counts["refused"] += 1
    return counts


def labels_in_c(folder: Path) -> Counts:
    """Odd labels through every dialect of the compiler: it takes them, and they come back as they were."""
    import numpy as np

    from rosenblatt.models.export_c import to_c
    from rosenblatt.models.linear import Linear
    from rosenblatt.models.model import Model

    odd = ["??/", "*/", "??/*/", "/*", "//", "\\", '"', "%s", "\n", "\r\n", "é", "\u2028", "\t", "??>", "<%", "#", "0x"]
    odd += ["*/ int x; /*", '"; int y; "', '??/"', "\\x41", "\\101", "??=define", "a" * 5000, "\x7f", "??'", "$(id)"]
    labels = sorted(odd)
    weights = Linear(np.ones((len(labels), 2)), np.zeros(len(labels)))
    header = to_c(Model("Perceptron", {}, np.array(labels), (weights,), 2, None))
    body = "".join(f"fputs(model_classes[{k}], stdout); putchar(1); " for k in range(len(labels)))
    counts, source, program = new_counts(), folder / "x.c", folder / "x"
    source.write_text(f"#include <stdio.h>\n{header}\nint main(void) {{ {body} return 0; }}\n")
    more = [["-x", "c", "-std=gnu17", "-trigraphs"], ["-x", "c++", "-std=c++20"]]
    for flags in [*DIALECTS, *more]:
        counts["tried"] += len(labels)
        words = ["cc", *flags, "-Wall", "-Werror", "-Wno-unused-function", "-Wno-overlength-strings", str(source)]
        built = subprocess.run([*words, "-o", str(program), "-lm"], capture_output=True)
        if built.returncode:
            counts["wrong"] += len(labels)
            continue
        said = subprocess.run([str(program)], capture_output=True).stdout.decode().split("\x01")[:-1]
        counts["wrong"] += sum(a != b for a, b in zip(said, labels, strict=False)) + abs(len(said) - len(labels))
    return counts


def nested_json(folder: Path) -> Counts:
    """Lines nested 65 to a million deep, in all that reads JSON, to learn from and to predict."""
    counts, good = new_counts(), "".join(json.dumps({"a": i, "y": "pq"[i % 2]}) + "\n" for i in range(40))
    (folder / "good.jsonl").write_text(good)
    run("train", folder / "good.jsonl", "-o", folder / "m", "--learner", "pa1", "--quiet")
    for depth in (65, 1_000, 20_000, 50_000, 1_000_000):
        for mark, end in (("[", "]"), ('{"a":', "}")):
            for whole in (True, False):
                text = '{"a": ' + mark * depth + "1" + (end * depth if whole else "") + ', "y": "p"}\n'
                (folder / "x.jsonl").write_text(good + text)
                for words in (
                    ["train", folder / "x.jsonl", "-o", folder / "n", "--learner", "pa1", "--quiet"],
                    ["predict", folder / "m", folder / "x.jsonl"],
                ):
                    counts["tried"] += 1
                    outcome, _, _ = run(*words, seconds=10)
                    counts["wrong" if outcome == "fine" else outcome] += 1
    return counts


def stray_quotes(folder: Path) -> Counts:
    """Quotes that are never closed and ragged lines: as quick as sound text of the same size, within 5 seconds."""
    counts, line = new_counts(), "1,2,3,p\n2,1,3,q\n"
    texts = {
        "one quote": "a,b,c,y\n" + line * 5 + '1,"2,3,p\n' + line * 15_000,
        "many quotes": "a,b,c,y\n" + '1,"2,3,p\n' * 25_000,
        "odd quotes": "a,b,c,y\n" + '1,"2"x",3,p\n' * 20_000,
        "ragged": "a,b,c,y\n" + ("1,2,3,p\n" + "1,2\n" + "1,2,3,4,5,6,q\n") * 8_000,
        "ragged quotes": "a,b,c,y\n" + ('1,2,3,p\n1,"2\n' + '"1,2,3,4,5,6,q\n') * 8_000,
    }
    for text in texts.values():
        (folder / "x.csv").write_text(text)
        for more in ([], ["--skip-bad"]):
            counts["tried"] += 1
            outcome, _, _ = run(
                "train", folder / "x.csv", "-o", folder / "m", "--learner", "pa1", "--quiet", *more, seconds=8
            )
            if outcome in counts:
                counts[outcome] += 1
    return counts


def models_cut_while_they_are_read(folder: Path) -> Counts:
    """A model that another process truncates while it is read, again and again."""
    counts = new_counts()
    (folder / "x.svm").write_text("".join(f"{i % 2} {i % 900 + 1}:1 {900 + i}:2\n" for i in range(4000)))
    run("train", folder / "x.svm", "-o", folder / "m", "--learner", "voted", "--quiet")
    whole = (folder / "m").read_bytes()
    code = (
        "import sys, rosenblatt\nfrom rosenblatt.errors import ModelError\nprint('now', flush=True)\n"
        "for _ in range(200):\n"
        "    try: rosenblatt.load(sys.argv[1])\n"
        "    except ModelError: pass\n"
    )
    for _ in range(25):
        (folder / "m").write_bytes(whole)
        process = subprocess.Popen([sys.executable, "-c", code, str(folder / "m")], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        while process.poll() is None:
            os.truncate(folder / "m", 10)
            time.sleep(0.001)
            with open(folder / "m", "r+b") as file:
                file.write(whole)
            time.sleep(0.001)
        process.stdout.close()
        counts["tried"] += 1
        counts["crashed"] += process.returncode != 0
    return counts


def bombs(folder: Path) -> Counts:
    """Small files that want much memory: 4 GB of address space must do, whatever they say."""
    import gzip

    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet

    counts, count = new_counts(), 100_000
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), ["x" * 200_000])
    pa.parquet.write_table(pa.table({"t": text, "y": [0, 1] * (count // 2)}), folder / "a.parquet", compression="zstd")
    many = pa.table({"a": np.zeros(30_000_000), "y": np.zeros(30_000_000, np.int8)})
    pa.parquet.write_table(many, folder / "b.parquet", compression="zstd")
    with gzip.open(folder / "c.csv.gz", "wb", 9) as file:
        file.write(b"a,y\n")
        for _ in range(60):
            file.write(b"1" * (1 << 20))
        file.write(b",p\n" * 10)
    (folder / "d" / "p").mkdir(parents=True)
    (folder / "d" / "q").mkdir()
    with open(folder / "d" / "p" / "long", "wb") as file:
        file.truncate(3 << 30)
    (folder / "d" / "q" / "short").write_text("words")
    (folder / "e.csv").write_text(",".join(f"c{k}" for k in range(200_000)) + "\n" + "1," * 199_999 + "p\n")
    (folder / "f.svm").write_text("1 2147483647:1\n0 1:1\n" * 20)
    (folder / "g.svm").write_text("".join(f"{k} 1:1\n" for k in range(70_000)))
    for name in ("a.parquet", "b.parquet", "c.csv.gz", "d", "e.csv", "f.svm", "g.svm"):
        counts["tried"] += 1
        words = ["train", folder / name, "-o", folder / "m", "--learner", "pa1", "--quiet", "--max-iter", "1"]
        outcome, _, _ = run(*words, seconds=60, memory=6 << 30)
        if outcome in counts:
            counts[outcome] += 1
    return counts


SHOWN: dict[str, Callable[[Path], Counts]] = {
    "two runs with one cache": one_cache_for_two_runs,
    "changed bits of a cache": changed_bits_of_a_cache,
    "labels in the C export": labels_in_c,
    "nested JSON": nested_json,
    "stray quotes, ragged lines": stray_quotes,
    "models cut while read": models_cut_while_they_are_read,
    "bombs": bombs,
}
# As many changed files as once were tried.
MUTATED = {
    "changed CSV and JSON": (3_173, ("csv", "csv predicted", "json", "json lines", "json predicted")),
    "changed Arrow IPC": (1_757, ("arrow",)),
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
