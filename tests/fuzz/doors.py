"""Throws mutated files at every door of the Python side, for so many seconds each, and counts what happens.

    python tests/fuzz/doors.py [SECONDS] [DOOR ...] [--seed N] [--keep FOLDER]

Held, for any bytes: the process lives, an input takes no longer than the limit, and what is wrong is an error of
rosenblatt in one short line. Each door works in a process of its own; an input that ends the process, or that hangs, is
found again by its number, since the same seed makes the same inputs. What fails is written to a folder.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

SLOW = 5.0  # seconds for one input, on a busy machine
Door = Callable[[Path], None]


def read_table(path: Path) -> None:
    from rosenblatt.data import scan

    reader = scan(path, skip_bad=bool(path.stat().st_size % 2))
    for batch in reader:
        batch.features  # noqa: B018


def predict_table(path: Path) -> None:
    from rosenblatt.data import scan
    from rosenblatt.data.columns import Column, ColumnEncoder

    kinds: list[Any] = [("a", "number"), ("b", "category"), ("when", "date"), ("note", "text")]
    encoder = ColumnEncoder(tuple(Column(name, kind) for name, kind in kinds), "y", 10)
    reader = scan(path, encoder=encoder, require_label=False, skip_bad=True)
    reader.gaps, reader.passing = True, ("a",)
    for batch in reader:
        batch.features  # noqa: B018


def load_model(path: Path) -> None:
    import numpy as np

    from rosenblatt.cli.inspect import _text
    from rosenblatt.models.file import load

    model = load(path)
    if model.features <= 1 << 20:
        model.predict(np.zeros((2, model.features)))
    model.top_features(3) if model.support_rows is None else None
    _text(
        {"history": model.history, "products": False, "classes": model.classes.tolist(), "learner": model.learner}
        | {"parameters": model.parameters, "features": model.features, "weighted": 0, "support_rows": None}
        | {"encoder": "", "top_features": {}}
    )


MODELS: list[tuple[dict[str, Any], dict[str, Any]]] = []
LEAVES: list[Any] = [
    0,
    1,
    -1,
    2,
    2**31,
    2**63,
    10**30,
    0.5,
    1e308,
    None,
    True,
    "",
    "x",
    "\u2028",
    [],
    {},
    [0],
    ["a"],
    [[]],
    {"a": 1},
]


def load_resealed(path: Path) -> None:
    """A model whose header and tensors are changed by what the bytes say, under a right checksum."""
    import numpy as np

    from rosenblatt.models.container import write_container

    random_ = random.Random(path.read_bytes())
    header, tensors = random_.choice(MODELS)
    header, tensors = json.loads(json.dumps(header)), dict(tensors)
    for _ in range(random_.choice((1, 1, 2, 3))):
        if random_.random() < 0.6:
            change_leaf(random_, header)
            continue
        name = random_.choice(sorted(tensors))
        array = tensors[name].copy()
        kind = random_.randrange(6)
        if kind == 0:
            tensors.pop(name)
        elif kind == 1:
            tensors[name] = array[: random_.randrange(len(array) + 1)] if array.ndim else array
        elif kind == 2:
            tensors[name] = array.astype(random_.choice(("f4", "f8", "i4", "i8", "u1", "i2")))
        elif kind == 3 and array.size:
            array.reshape(-1)[random_.randrange(array.size)] = random_.choice((0, -1, 1, 7, 10**6, 2**31 - 1))
            tensors[name] = array
        elif kind == 4:
            tensors[name] = np.concatenate([array, array]) if array.ndim else array
        else:
            tensors[name] = array.reshape((*array.shape, 1))
        if not tensors:
            return
    write_container(path, "model", header, tensors)
    load_model(path)


def change_leaf(random_: random.Random, value: Any) -> None:
    """Put something else somewhere in a JSON value, or take it away."""
    while isinstance(value, (dict, list)) and value:
        key = random_.choice(sorted(value) if isinstance(value, dict) else range(len(value)))
        if not isinstance(value[key], (dict, list)) or not value[key] or random_.random() < 0.2:
            if random_.random() < 0.2:
                del value[key]
            else:
                value[key] = json.loads(json.dumps(random_.choice(LEAVES)))
            return
        value = value[key]


def load_cache(path: Path) -> None:
    from rosenblatt.data.blocks import BlockStore

    folder = path.parent / f"cache-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    (folder / f"{FINGERPRINT[:32]}.blocks").write_bytes(path.read_bytes())
    store = BlockStore.find(folder, FINGERPRINT)
    if store is not None:
        with store:
            for k in range(len(store)):
                store.read(k)


def read_documents(path: Path) -> None:
    from rosenblatt.data import scan

    folder = path.parent / f"documents-{os.getpid()}"
    for label in ("a", "b"):
        (folder / label).mkdir(parents=True, exist_ok=True)
    data = path.read_bytes()
    (folder / "a" / "1").write_bytes(data)
    (folder / "b" / "1").write_bytes(data[::-1])
    for batch in scan(folder):
        batch.features  # noqa: B018


FINGERPRINT = "f" * 64
ROWS = [
    {"a": 1.5, "b": "red", "when": "2020-01-02T10:00:00Z", "note": "some words, here", "y": "p"},
    {"a": None, "b": 'say "x"', "when": "2021-03-04", "note": "", "y": "q"},
    {"a": -2e10, "b": "unknown", "when": None, "note": "line\nbreak and more words", "y": "p"},
]


def corpus(folder: Path) -> dict[str, tuple[str, Door, list[bytes]]]:
    """For each door: the ending of its files, what opens them, and sound files to begin with."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.ipc
    import pyarrow.parquet

    import rosenblatt
    from rosenblatt.data import scan
    from rosenblatt.data.blocks import BlockStore, iter_blocks
    from rosenblatt.learners.files.run import FileRun
    from rosenblatt.models.container import read_container
    from rosenblatt.models.file import save
    from rosenblatt.recipe import make_recipe

    frame = pd.DataFrame(ROWS * 4)
    table = pa.Table.from_pandas(frame)

    def packed(write: Callable[[Any], Any]) -> bytes:
        held = io.BytesIO()
        write(held)
        return held.getvalue()

    def ipc(codec: str | None) -> bytes:
        def write(held: Any) -> None:
            with pa.ipc.new_file(held, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
                writer.write_table(table)

        return packed(write)

    models = []
    (folder / "mixed.csv").write_bytes(frame.to_csv(index=False).encode())
    run = FileRun.begin(scan(folder / "mixed.csv", bits=10), make_recipe("averaged", max_iter=2))
    run.run()
    save(run.model(), folder / "m")
    MODELS.append(read_container(folder / "m", "model"))
    save(
        rosenblatt.AutoPerceptron().fit([[k % 5, k * k % 7] for k in range(60)], [k % 2 for k in range(60)]),
        folder / "m",
    )
    MODELS.append(read_container(folder / "m", "model"))
    for learner in (
        rosenblatt.Perceptron(),
        rosenblatt.VotedPerceptron(),
        rosenblatt.KernelPerceptron(),
        rosenblatt.AROW(),
    ):
        for labels in ([0, 1] * 6, ["a", "b", "c"] * 4):
            save(learner.fit([[k % 5, k * k % 7] for k in range(12)], labels), folder / "m")
            models.append((folder / "m").read_bytes())
            MODELS.append(read_container(folder / "m", "model"))
    (folder / "x.svm").write_text("".join(f"{k % 2} {1 + k % 3}:{k}\n" for k in range(50)))
    reader = scan(folder / "x.svm")
    with BlockStore(folder / "kept") as store:
        for block in iter_blocks(reader, reader.scan_classes(), rows=20):
            store.add(block)
        store.keep(FINGERPRINT)
    (blocks,) = (folder / "kept").iterdir()
    texts = [
        frame.to_csv().encode(),
        frame.to_csv(index=False, sep=";", decimal=",").encode(),
        b'a,b,y\n1,"x,p\n2,3,q\n' * 5,
        frame.to_csv(index=False, sep="\t").encode("utf-16"),
        "a,b,y\r1,é,p\r2,ö,q\r".encode("latin-1") * 3,
    ]
    lines = [
        frame.to_json(orient="records", lines=True).encode(),
        frame.to_json(orient="records").encode(),
        frame.to_json().encode(),
        json.dumps(ROWS, indent=1).encode(),
        b'{"a": [[[[1]]]], "y": 1}\n' * 4,
    ]
    arrow = [ipc(None), ipc("lz4"), ipc("zstd")]
    parquet = [
        packed(partial(put_parquet, table, codec, dictionary))
        for codec in ("none", "snappy", "zstd")
        for dictionary in (True, False)
    ]
    return {
        "csv": (".csv", read_table, texts),
        "csv predicted": (".csv", predict_table, texts),
        "json": (".json", read_table, lines),
        "json lines": (".jsonl", read_table, lines),
        "json predicted": (".jsonl", predict_table, lines),
        "arrow": (".feather", read_table, arrow),
        "parquet": (".parquet", read_table, parquet),
        "packed": (".csv.gz", read_table, [gz(text) for text in texts] + [b"PK\x03\x04" + texts[0]]),
        "documents": ("", read_documents, [*texts, *lines]),
        "any text": (
            "",
            read_table,
            [*texts, *lines, b"1 1:1 2:3\n-1 3:1\n", b"1 |a x:2\n", b"__label__a b c\n", b"a\tb c\n"],
        ),
        "models": (".model", load_model, models),
        "resealed": (".model", load_resealed, [bytes(range(32))]),
        "cache": (".blocks", load_cache, [blocks.read_bytes()]),
    }


def put_parquet(table: Any, codec: str, dictionary: bool, held: Any) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, held, compression=codec, use_dictionary=dictionary)


def gz(data: bytes) -> bytes:
    import gzip

    return gzip.compress(data, 1, mtime=0)


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


def work(door: Door, path: Path, found: list[bytes], begin: int, seed: int, until: float, send: Any) -> None:
    """Try inputs from number `begin` on; say the number before each and the outcome behind it."""
    import faulthandler

    from rosenblatt.errors import RosenblattError

    faulthandler.disable()
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    number = begin
    while time.monotonic() < until:
        random_ = random.Random(seed * 1_000_003 + number)
        path.write_bytes(mutate(random_, random_.choice(found), found))
        send.send(("begin", number, ""))
        outcome, why = "fine", ""
        try:
            door(path)
        except RosenblattError as error:
            outcome = "refused"
            if "\n" in str(error) or len(str(error)) > 600:
                outcome, why = "long", str(error)[:2000]
        except BaseException:
            outcome, why = "traceback", traceback.format_exc()[-2000:]
        send.send((outcome, number, why))
        number += 1


def fuzz(
    name: str, ending: str, door: Door, found: list[bytes], seconds: float, seed: int, keep: Path
) -> dict[str, int]:
    """Counts of the outcomes at one door."""
    counts = {"tried": 0, "refused": 0, "crashed": 0, "hung": 0, "traceback": 0, "long": 0}
    until = time.monotonic() + seconds
    begin, context = 0, multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"input{ending}"
        while time.monotonic() < until:
            receive, send = context.Pipe(duplex=False)
            process = context.Process(target=work, args=(door, path, found, begin, seed, until, send), daemon=True)
            process.start()
            send.close()
            current, why = begin, ""
            try:
                while receive.poll(SLOW + max(until - time.monotonic(), 0)):
                    outcome, current, why = receive.recv()
                    if outcome == "begin":
                        if not receive.poll(SLOW):
                            counts["hung"] += 1
                            keep_input(keep, name, path, "hung", "")
                            break
                        continue
                    counts["tried"] += 1
                    if outcome != "fine":
                        counts[outcome] += 1
                    if outcome in ("traceback", "long"):
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
    parser.add_argument("doors", nargs="*")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz-found"))
    args = parser.parse_args()
    import warnings

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        doors = corpus(Path(folder))
    unknown = set(args.doors) - set(doors)
    if unknown:
        parser.error(f"there is no door {sorted(unknown)[0]!r}; there are {', '.join(doors)}")
    failed = 0
    print(f"{'door':<15} {'tried':>8} {'refused':>8} {'crashed':>8} {'hung':>6} {'traceback':>10} {'long':>6}")
    for name in args.doors or doors:
        counts = fuzz(name, *doors[name], args.seconds, args.seed, args.keep)
        print(
            f"{name:<15} {counts['tried']:>8,} {counts['refused']:>8,} {counts['crashed']:>8,} {counts['hung']:>6,} "
            f"{counts['traceback']:>10,} {counts['long']:>6,}",
            flush=True,
        )
        failed += counts["crashed"] + counts["hung"] + counts["traceback"] + counts["long"]
    print(f"{failed} failed" + (f"; the inputs are in {args.keep}" if failed else ""))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
