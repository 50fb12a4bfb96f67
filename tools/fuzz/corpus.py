"""The fuzz targets in Python: a function that opens each kind of file, and valid files to start with."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import random
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

Target = Callable[[Path], None]


def read_table(path: Path) -> None:
    from rosenblatt.io import open_dataset

    reader = open_dataset(path, skip_bad=bool(path.stat().st_size % 2))
    for batch in reader:
        batch.features  # noqa: B018


def read_large(path: Path) -> None:
    """An Arrow file whose batches count as large, and are read in blocks."""
    from rosenblatt.io import arrow

    usual, arrow._BYTES = arrow._BYTES, 256
    try:
        read_table(path)
    finally:
        arrow._BYTES = usual


def read_invalid(path: Path) -> None:
    """An Arrow file that can be opened, but whose arrays break Arrow's own rules as the bytes say: all must fail."""
    from invalid import write_invalid

    what = write_invalid(random.Random(path.read_bytes()), path)
    read_table(path)
    raise AssertionError(f"was accepted: {what}")


def predict_table(path: Path) -> None:
    from rosenblatt.encode.table import Column, TableEncoder
    from rosenblatt.io import open_dataset

    kinds: list[Any] = [("a", "number"), ("b", "category"), ("when", "date"), ("note", "text")]
    encoder = TableEncoder(tuple(Column(name, kind) for name, kind in kinds), "y", bits=10)
    reader = open_dataset(path, encoder=encoder, require_label=False, skip_bad=True)
    reader.keep_blank, reader.passthrough = True, ("a",)
    for batch in reader:
        batch.features  # noqa: B018


def load_model(path: Path) -> None:
    import numpy as np

    from rosenblatt.cli.inspect import command
    from rosenblatt.models.file import load

    model = load(path)
    if model.features <= 1 << 20:
        model.predict(np.zeros((2, model.features)))
    with contextlib.redirect_stdout(io.StringIO()):
        command.callback(str(path), 3, False)
    if model.state is not None and model.encoder is None and model.features <= 1 << 20:
        labels = [0.0] if model.is_regression else model.classes_[-2:]
        model.partial_fit(np.eye(len(labels), max(model.features, 1)), labels)


MODELS: list[dict[str, Any]] = []
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
    """A model whose content is changed by what the bytes say, under a right checksum."""
    if reseal(path, "model", MODELS):
        load_model(path)


def reseal(path: Path, kind: str, sound: list[dict[str, Any]]) -> bool:
    """Write a changed file of this kind; False if nothing is left of it."""
    from rosenblatt.models.container import write_container

    random_ = random.Random(path.read_bytes())
    content = copy.deepcopy(random_.choice(sound))
    for _ in range(random_.choice((1, 1, 2, 3))):
        change_leaf(random_, content)
    if content:
        write_container(path, kind, content)
    return bool(content)


def change_leaf(random_: random.Random, value: Any) -> None:
    """Put something else somewhere in a tree of values and arrays, or take it away."""
    import numpy as np

    while isinstance(value, (dict, list)) and value:
        key = random_.choice(sorted(value) if isinstance(value, dict) else range(len(value)))
        inner = value[key]
        if not isinstance(inner, (dict, list)) or not len(inner) or random_.random() < 0.1:
            if random_.random() < 0.2:
                del value[key]
            elif isinstance(inner, np.ndarray) and random_.random() < 0.8:
                value[key] = change_array(random_, inner)
            else:
                value[key] = json.loads(json.dumps(random_.choice(LEAVES)))
            return
        value = inner


def change_array(random_: random.Random, array: Any) -> Any:
    """The array with another size, type, shape or value."""
    import numpy as np

    kind = random_.randrange(5)
    if kind == 0 and array.ndim:
        return array[: random_.randrange(len(array) + 1)]
    if kind == 1:
        return array.astype(random_.choice(("f4", "f8", "i4", "i8", "u1", "i2")))
    if kind == 2 and array.size:
        value = np.int64(random_.choice((0, -1, 1, 7, 10**6, 2**31 - 1)))
        changed = array.copy()
        changed.reshape(-1)[random_.randrange(array.size)] = value.astype(array.dtype)
        return changed
    if kind == 3 and array.ndim:
        return np.concatenate([array, array])
    return array.reshape((*array.shape, 1))


def read_documents(path: Path) -> None:
    from rosenblatt.io import open_dataset

    folder = path.parent / f"documents-{os.getpid()}"
    for label in ("a", "b"):
        (folder / label).mkdir(parents=True, exist_ok=True)
    data = path.read_bytes()
    (folder / "a" / "1").write_bytes(data)
    (folder / "b" / "1").write_bytes(data[::-1])
    for batch in open_dataset(folder):
        batch.features  # noqa: B018


CHECKPOINTS: list[dict[str, Any]] = []
BEGUN: dict[str, tuple[str, str]] = {}  # the data and the learner of their runs, by what they must have in common


def resume(path: Path) -> None:
    from rosenblatt.io import open_dataset
    from rosenblatt.models.container import read_container
    from rosenblatt.params import make_params
    from rosenblatt.select.choice import Choice
    from rosenblatt.training.checkpoint import restore
    from rosenblatt.training.run import TrainingRun

    begun = BEGUN.get(repr(read_container(path, "checkpoint").get("about")))
    if begun is not None:
        data, learner = begun
        run = TrainingRun.begin(open_dataset(data, bits=10), Choice(make_params(learner, max_iter=2)))
        restore(run, path)
        run.run()
        run.model()


def resume_resealed(path: Path) -> None:
    """A checkpoint whose content is changed by what the bytes say, under a right checksum."""
    if reseal(path, "checkpoint", CHECKPOINTS):
        resume(path)


def call_binding(path: Path) -> None:
    """A function of the engine with arguments that the bytes say."""
    from bindings import call

    from rosenblatt.errors import RosenblattError

    if call(random.Random(path.read_bytes())) == "rejected":
        raise RosenblattError("rejected")


PIECES = [
    "??/",
    "*/",
    "/*",
    "//",
    "\\",
    '"',
    "%s",
    "\0",
    "\n",
    "\r",
    "é",
    "\u2028",
    "\t",
    "??>",
    "<%",
    "#",
    "0",
    "\x7f",
    "a",
]
DIALECTS = [
    ["-x", "c", "-std=c99"],
    ["-x", "c", "-std=c17"],
    ["-x", "c", "-std=c99", "-trigraphs"],
    ["-x", "c++", "-std=c++11", "-trigraphs"],
]


def compile_export(path: Path) -> None:
    """A model with odd labels and column names, as a C header: a compiler takes it, and gives back the labels."""
    import numpy as np

    from rosenblatt.encode.table import Column, TableEncoder
    from rosenblatt.models.export import to_c
    from rosenblatt.models.model import Model
    from rosenblatt.models.predictors import Linear

    random_ = random.Random(path.read_bytes())
    odd = ["".join(random_.choices(PIECES, k=random_.randrange(1, 9))) for _ in range(6)]
    labels = sorted({word.replace("\0", "") for word in odd[:3]} | {"a", "b"})
    columns = tuple(Column(f"{k}{word}", "number") for k, word in enumerate(odd[3:]))
    encoder = TableEncoder(columns, odd[0], bits=4)
    weights = np.ones((1 if len(labels) == 2 else len(labels), encoder.features))
    answer = Linear(weights, np.zeros(len(weights)))
    model = Model("Perceptron", {"note": odd[1]}, np.array(labels), (answer,), encoder.features, encoder, {0: odd[2]})
    body = "".join(f'puts(""); fputs(model_classes[{k}], stdout); ' for k in range(len(labels)))
    source = path.parent / "export.c"
    source.write_text(f"#include <stdio.h>\n{to_c(model)}\nint main(void) {{ {body} return 0; }}\n", encoding="utf-8")
    program = path.parent / "export"
    flags = ["-Wall", "-Werror", "-Wno-unused-function", "-Wno-unused-const-variable", "-Wno-trigraphs"]
    words = ["cc", *flags, *random_.choice(DIALECTS), str(source), "-o", str(program), "-lm"]
    subprocess.run(words, check=True, capture_output=True)
    said = subprocess.run([str(program)], check=True, capture_output=True).stdout
    assert said == "".join(f"\n{label}" for label in labels).encode()


FINGERPRINT = "f" * 64
ROWS = [
    {"a": 1.5, "b": "red", "when": "2020-01-02T10:00:00Z", "note": "some words, here", "y": "p"},
    {"a": None, "b": 'say "x"', "when": "2021-03-04", "note": "", "y": "q"},
    {"a": -2e10, "b": "unknown", "when": None, "note": "line\nbreak and more words", "y": "p"},
]


def make_targets(folder: Path) -> dict[str, tuple[str, Target, list[bytes]]]:
    """For each target: the extension of its files, the function that opens them, and valid files to start with."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import pyarrow.ipc
    import pyarrow.parquet

    import rosenblatt
    from rosenblatt.models.container import read_container
    from rosenblatt.models.file import save

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
    save(rosenblatt.train(folder / "mixed.csv", "averaged", max_iter=2, bits=10), folder / "m")
    MODELS.append(read_container(folder / "m", "model"))
    save(
        rosenblatt.AutoPerceptron().fit([[k % 5, k * k % 7] for k in range(60)], [k % 2 for k in range(60)]),
        folder / "m",
    )
    MODELS.append(read_container(folder / "m", "model"))
    for learner in (
        rosenblatt.Perceptron(max_iter=3),
        rosenblatt.VotedPerceptron(max_iter=3),
        rosenblatt.KernelPerceptron(max_iter=3),
        rosenblatt.AROW(max_iter=3),
    ):
        for labels in ([0, 1] * 6, ["a", "b", "c"] * 4):
            save(learner.fit([[k % 5, k * k % 7] for k in range(12)], labels), folder / "m")
            models.append((folder / "m").read_bytes())
            MODELS.append(read_container(folder / "m", "model"))
    (folder / "x.svm").write_text("".join(f"{k % 2} {1 + k % 3}:{k}\n" for k in range(50)))
    checkpoints = make_checkpoints(folder)
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
    numbers = frame[["a"]].fillna(0).assign(y=[0, 1] * (len(frame) // 2)).to_numpy()
    fields = np.zeros(12, [("a", "<f4"), ("b", "U3"), ("note", "S5"), ("y", ">i2")])
    arrays = [numbers, np.asfortranarray(numbers), numbers.astype(">f4"), numbers.astype("u1") % 2 == 1, fields]
    return {
        "npy": (".npy", read_table, [packed(partial(put_array, array)) for array in arrays]),
        "csv": (".csv", read_table, texts),
        "csv predicted": (".csv", predict_table, texts),
        "json": (".json", read_table, lines),
        "json lines": (".jsonl", read_table, lines),
        "json predicted": (".jsonl", predict_table, lines),
        "arrow": (".feather", read_table, arrow),
        "large arrow": (".feather", read_large, [ipc(None)]),
        "invalid arrow": (".feather", read_invalid, [bytes(range(32))]),
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
        "checkpoints": (".checkpoint", resume, checkpoints),
        "checkpoints again": (".checkpoint", resume_resealed, [bytes(range(32))]),
        "bindings": ("", call_binding, [bytes(range(32))]),
        "C export": ("", compile_export, [bytes(range(32))]),
    }


def make_checkpoints(folder: Path) -> list[bytes]:
    """Checkpoints of runs over lines and tables, by several learners, at their beginning and in their middle."""
    from rosenblatt.io import open_dataset
    from rosenblatt.models.container import read_container
    from rosenblatt.params import make_params
    from rosenblatt.select.choice import Choice
    from rosenblatt.training.checkpoint import save_checkpoint
    from rosenblatt.training.run import TrainingRun

    found = []

    def keep(run: TrainingRun) -> None:
        save_checkpoint(run, folder / "c")
        found.append((folder / "c").read_bytes())
        CHECKPOINTS.append(read_container(folder / "c", "checkpoint"))
        BEGUN[repr(CHECKPOINTS[-1]["about"])] = str(folder / name), learner

    for name in ("x.svm", "mixed.csv"):
        for learner in ("perceptron", "averaged", "voted", "pocket", "pa1", "arow"):
            run = TrainingRun.begin(open_dataset(folder / name, bits=10), Choice(make_params(learner, max_iter=2)))
            keep(run)
            run.run(on_epoch=keep)
    return found


def put_parquet(table: Any, codec: str, dictionary: bool, held: Any) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, held, compression=codec, use_dictionary=dictionary)


def put_array(array: Any, held: Any) -> None:
    import numpy as np

    np.save(held, array)


def gz(data: bytes) -> bytes:
    import gzip

    return gzip.compress(data, 1, mtime=0)
