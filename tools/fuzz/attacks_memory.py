"""Attacks on memory: small files that want much of it. Each must be refused, or done with at most a gigabyte."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

from running import Counts, new_counts, run

MOST = 1 << 30  # bytes held at any moment
Words = list[object]


def bombs(folder: Path) -> Counts:
    """What is refused or done within the bound; *wrong* is what takes more."""
    counts = new_counts()
    train: Words = ["-o", folder / "m", "--learner", "pa1", "--quiet", "--max-iter", "1"]
    for words in [*((["train", path, *more, *train]) for path, more in make_data(folder)), *make_models(folder)]:
        counts["tried"] += 1
        ended = run(*words)
        if ended.how in counts:
            counts[ended.how] += 1
        if ended.memory > MOST:
            counts["wrong"] += 1
            print(f"{ended.memory >> 20:,} MB: {' '.join(map(str, words))}", flush=True)
    return counts


def make_data(folder: Path) -> Iterator[tuple[Path, Words]]:
    """Files to learn from, with the options that they need."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet

    count = 100_000
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), ["x" * 200_000])
    pa.parquet.write_table(pa.table({"t": text, "y": [0, 1] * (count // 2)}), folder / "a.parquet", compression="zstd")
    yield folder / "a.parquet", []  # 20 GB of strings
    many = pa.table({"a": np.zeros(30_000_000), "y": np.zeros(30_000_000, np.int8)})
    pa.parquet.write_table(many, folder / "b.parquet", compression="zstd")
    yield folder / "b.parquet", []
    with gzip.open(folder / "c.csv.gz", "wb", 9) as file:
        file.write(b"a,y\n" + b"1" * (60 << 20) + b",p\n" * 10)
    yield folder / "c.csv.gz", []
    for label, size in (("p", 3 << 30), ("q", 5)):
        (folder / "d" / label).mkdir(parents=True)
        with open(folder / "d" / label / "document", "wb") as file:
            file.truncate(size)
    yield folder / "d", []
    (folder / "e.csv").write_text(",".join(f"c{k}" for k in range(200_000)) + "\n" + "1," * 199_999 + "p\n")
    yield folder / "e.csv", []
    (folder / "f.svm").write_text("1 2147483647:1\n0 1:1\n" * 20)
    yield folder / "f.svm", []
    (folder / "g.svm").write_text("".join(f"{k} 1:1\n" for k in range(70_000)))
    yield folder / "g.svm", []
    classes = "".join(f"{k % 7},c{k}\n" for k in range(20_000))
    (folder / "h.csv").write_text(f"a,y\n{classes}1,{'b' * 100_000}\n")
    yield folder / "h.csv", ["--bits", "10"]  # the longest label is room for each
    labels = " ".join(f"__label__{k}" for k in range(2000))
    (folder / "i.txt").write_text(f"{labels} {'word ' * 200_000}\n__label__1 a\n__label__2 b\n")
    yield folder / "i.txt", ["--format", "fasttext", "--bits", "10"]


def make_models(folder: Path) -> Iterator[Words]:
    """Models of a few kilobytes, and what is asked of them."""
    import numpy as np

    from rosenblatt.models.container import read_container, write_container

    (folder / "x.svm").write_text("".join(f"{k} 1:{k % 7}\n" for k in range(20_000)))
    assert (
        run(
            "train", folder / "x.svm", "-o", folder / "many", "--learner", "perceptron", "--max-iter", "1", "--quiet"
        ).how
        == "fine"
    )
    yield ["evaluate", folder / "many", folder / "x.svm", "--json"]
    (folder / "x.vw").write_text("1 |a b c\n-1 |a d e\n" * 20)
    words = ["--learner", "averaged", "--max-iter", "2", "--quiet"]
    assert run("train", folder / "x.vw", "-o", folder / "wide", "--bits", "26", *words).how == "fine"
    yield ["inspect", folder / "wide"]
    yield ["inspect", folder / "wide", "--json"]
    yield ["predict", folder / "wide", folder / "x.vw"]
    header, tensors = read_container(folder / "wide", "model")
    for name, features in (("n", 2**31), ("o", 2**31 - 1), ("p", 2**40)):
        write_container(folder / name, "model", header | {"features": features}, tensors)
        yield ["inspect", folder / name]
    longest = header | {"classes": {"kind": "U", "values": [*(f"a{k:05}" for k in range(5000)), "b" * 200_000]}}
    write_container(folder / "q", "model", longest, tensors)
    yield ["inspect", folder / "q"]
    huge = {name: np.zeros(0, array.dtype) for name, array in tensors.items()}
    write_container(folder / "r", "model", header | {"features": 2**30}, huge)
    yield ["inspect", folder / "r"]
