"""Files that want more memory, disk or time than they are worth, and files that only look like tables."""

import gzip
import io
import json
import lzma
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from command import python
from rejected import rejected
from written import put

from rosenblatt.data import batch as batches
from rosenblatt.encode.options import Limits
from rosenblatt.errors import DataError
from rosenblatt.io import open_dataset, read
from rosenblatt.io import source as sources


def error_within(room: int, path: Path) -> str:
    """What reading this file says in a process that may allocate so many bytes."""
    code = (
        "import resource, sys\nfrom rosenblatt.io import arrow, open_dataset\nfrom rosenblatt.errors import DataError\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize() + int(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used, used))\n"
        "try: list(open_dataset(sys.argv[2], jobs=1))\nexcept DataError as error: print(error)"
    )
    return python(code, room, path, OMP_NUM_THREADS="1").stdout


def test_a_short_parquet_file_of_long_strings_many_times(tmp_path: Path) -> None:
    """A few kilobytes that would be 20 GB as strings: 2 GB of address space must do."""
    count = 100_000
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), ["x" * 200_000])
    table = pa.table({"text": text, "y": pa.array([0, 1] * (count // 2))})
    pa.parquet.write_table(table, tmp_path / "x.parquet", compression="zstd")
    assert (tmp_path / "x.parquet").stat().st_size < 20_000
    assert "--read-limit expansion=N" in error_within(2 << 30, tmp_path / "x.parquet")


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_what_is_packed_grows_only_so_far(tmp_path: Path, pack: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "FREE_GROWTH", 1 << 20)
    text = b"1 1:1\n0 2:1\n" * 200_000
    (tmp_path / "x.svm.gz").write_bytes(pack(text))  # type: ignore[operator]
    assert sum(map(len, open_dataset(tmp_path / "x.svm.gz", limits=Limits(expansion=100_000)))) == 400_000
    with rejected("data", "10 times", "--read-limit", "expansion=N"):
        list(open_dataset(tmp_path / "x.svm.gz", limits=Limits(expansion=10)))


def test_arrow_batches_grow_only_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "FREE_GROWTH", 1 << 20)
    table = pa.table({"a": np.zeros(1_000_000), "y": np.zeros(1_000_000, np.int64)})
    with pa.OSFile(str(tmp_path / "x.feather"), "wb") as held:
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_file(held, table.schema, options=options) as writer:
            writer.write_table(table)
    with rejected("data", "10 times"):
        list(open_dataset(tmp_path / "x.feather", limits=Limits(expansion=10)))


@pytest.mark.parametrize("columns", [[], ["a", "y"]])
def test_rows_without_a_byte_are_bounded(tmp_path: Path, columns: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The file names 10^15 rows: of no columns, or of columns that need no memory."""
    monkeypatch.setattr(sources, "FREE_GROWTH", 1 << 20)
    table = pa.table({"a": pa.nulls(12347), "y": pa.nulls(12347)}).select(columns)
    held = io.BytesIO()
    with pa.ipc.new_file(held, table.schema) as writer:
        writer.write_table(table)
    data = held.getvalue().replace((12347).to_bytes(8, "little"), (10**15).to_bytes(8, "little"))
    (tmp_path / "x.feather").write_bytes(data)
    with rejected("data", "x.feather"):
        list(open_dataset(tmp_path / "x.feather", skip_bad=True))


def test_every_limit_is_held(tmp_path: Path) -> None:
    (tmp_path / "many.csv").write_text("a,y\n" + "".join(f"1,c{k}\n" for k in range(50)))
    with rejected("label", "20 different", "'c0'"):
        open_dataset(tmp_path / "many.csv", limits=Limits(classes=20)).load()
    assert len(open_dataset(tmp_path / "many.csv", limits=Limits(classes=50)).load()) == 50
    (tmp_path / "many.svm").write_text("".join(f"{k} 1:1\n" for k in range(50)))
    with rejected("label", "20 different"):
        open_dataset(tmp_path / "many.svm", limits=Limits(classes=20)).load()
    assert len(set(read(tmp_path / "many.svm", limits=Limits(classes=50)).y.tolist())) == 50
    for label in "ab":
        (tmp_path / "docs" / label).mkdir(parents=True)
        (tmp_path / "docs" / label / "1").write_text("word " * 300)
    with rejected("data", "1000 bytes", "--read-limit", "line=SIZE"):
        list(open_dataset(tmp_path / "docs", limits=Limits(line=1000)))


@pytest.mark.parametrize("end", ["", "\n", "\n-1 2:1\n", "\n-1 2:1"])
def test_a_line_that_is_too_long_is_refused_wherever_it_stands(tmp_path: Path, end: str) -> None:
    path = put(tmp_path / "x.svm", "+1 1:1\n" + "-1 " + " ".join(f"{j}:1" for j in range(1, 300)) + end)
    with rejected("data", "x.svm", "1000 bytes", "--read-limit", "line=SIZE"):
        list(open_dataset(path, format="svmlight", limits=Limits(line=1000)))
    assert sum(map(len, open_dataset(path, format="svmlight", limits=Limits(line=2000)))) >= 2


def test_arrow_files_are_validated_before_the_first_row(tmp_path: Path) -> None:
    """Offsets of strings that leave their buffer: a reader that believes them reads the memory beside it."""
    table = pa.table({"s": ["red", "green", "blue"] * 20, "y": [0, 1, 0] * 20})
    held = io.BytesIO()
    with pa.ipc.new_file(held, table.schema) as writer:
        writer.write_table(table)
    data = bytearray(held.getvalue())
    offsets = np.arange(0, 9, dtype=np.int32)
    offsets[1:3] = [3, 8]
    at = bytes(data).find(np.array([0, 3, 8, 12, 15], np.int32).tobytes())
    assert at > 0
    data[at + 8 : at + 12] = (2**31 - 1).to_bytes(4, "little")
    (tmp_path / "x.feather").write_bytes(data)
    with rejected("data", "column 's'"):
        list(open_dataset(tmp_path / "x.feather"))


@pytest.mark.parametrize(
    "name", ["x.csv", "x.jsonl", "x.json", "x.parquet", "x.feather", "x.svm", "x.vw", "x", "x.zip"]
)
@pytest.mark.parametrize(
    "content", [b"", b"\n", b"\0" * 100, bytes(range(256)), b"PAR1", b"ARROW1\0\0", b"PK\x03\x04", b'"', b"{", b"["]
)
def test_what_is_no_data_is_one_sentence(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    said = ""
    try:
        assert sum(map(len, open_dataset(tmp_path / name))) <= 1
    except DataError as error:
        said = str(error)
    assert "\n" not in said
    assert len(said) < 400


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_no_label_is_longer_than_256_bytes(tmp_path: Path, ending: str) -> None:
    """Classes are held with the room of the longest for each: one of 100 KB among 20,000 took 8 GB."""
    table = pa.table({"a": [1, 2, 3], "y": ["p", "é" * 128, "é" * 129]})
    path = tmp_path / f"x{ending}"
    if ending == ".csv":
        path.write_text("a,y\n" + "".join(f"{row['a']},{row['y']}\n" for row in table.to_pylist()))
    elif ending == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        pa.parquet.write_table(table, path)
    with rejected("data", {".csv": "line 4", ".jsonl": "line 3", ".parquet": "row 3"}[ending], "'y'", "256 bytes"):
        list(open_dataset(path))
    assert len(set(read(path, skip_bad=True).y.tolist())) == 2


def test_lines_with_many_labels_grow_only_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line is learned once for each of its labels: 2,000 of them and a megabyte of text took 4 GB."""
    many = " ".join(f"__label__{k}" for k in range(1001))
    (tmp_path / "x").write_text(f"__label__a __label__b one\n{many} two\n__label__a three\n")
    with rejected("data", "line 2", "1,000 labels"):
        list(open_dataset(tmp_path / "x", format="fasttext"))
    assert sum(map(len, open_dataset(tmp_path / "x", format="fasttext", skip_bad=True))) == 3
    monkeypatch.setattr(batches, "MOST_COPIED", 30)
    (tmp_path / "x").write_text("__label__a __label__b word\n" * 40)
    with rejected("data"):
        list(open_dataset(tmp_path / "x", format="fasttext"))


def test_an_arrow_stream_is_validated_too() -> None:
    offsets = pa.py_buffer(np.array([0, 1, 2**30, 3], np.int32))
    strings = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"abc")])
    with rejected("data", "column 's'"):
        list(open_dataset(pa.table({"s": strings, "y": [0, 1, 0]})))


def test_a_size_that_arrow_believes_is_a_sentence(tmp_path: Path) -> None:
    """The first size of a stream says 2 GB, and there is 1 GB."""
    (tmp_path / "x.feather").write_bytes(b"\xff\xff\xff\xff" + (2**31 - 8).to_bytes(4, "little") + b"\0" * 100)
    assert "x.feather" in error_within(1 << 30, tmp_path / "x.feather")
