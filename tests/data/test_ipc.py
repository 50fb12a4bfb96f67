"""Arrow IPC files of large batches are read in blocks, with the rows that pyarrow would read."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest
from numpy.testing import assert_array_equal

from peaks import SCANNED
from rosenblatt.errors import DataError
from rosenblatt.io import arrow, open_dataset, read
from rosenblatt.io import arrow as ipc


def table_of(count=1000):
    rng = np.random.default_rng(0)
    gap = rng.random(count) < 0.1
    words = np.array(["red", "blue", "", "größer als groß"])[rng.integers(0, 4, count)]
    day = datetime.datetime(2024, 1, 1)
    return pa.table({
        "a": pa.array(rng.normal(size=count)),
        "b": pa.array(rng.integers(0, 9, count).astype(np.int16), mask=gap),
        "flag": pa.array(rng.random(count) < 0.5, mask=np.roll(gap, 3)),
        "word": pa.array(words.tolist(), pa.string(), mask=np.roll(gap, 5)),
        "more": pa.array(words.tolist(), pa.large_string()),
        "when": pa.array([day + datetime.timedelta(hours=k) for k in range(count)]),
        "label": pa.array(["p" if k % 3 else "q" for k in range(count)]),
    })  # fmt: skip


def write(path, table, **options):
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema, **options) as writer:
        writer.write_table(table)
    return path


def found_in(path, schema):
    with open(path, "rb") as stream:
        return ipc.find_large_batches(stream, schema, 1)


@pytest.mark.parametrize("most", [100, 5000, 1 << 30])
def test_blocks_hold_the_rows_of_the_batch(tmp_path, most):
    table = table_of()
    path = write(tmp_path / "x.arrow", table)
    (batch,) = found_in(path, table.schema).values()
    with open(path, "rb") as stream:
        blocks = list(batch.iter_blocks(stream, 65_536, most))
    assert len(blocks) == (1 if most == 1 << 30 else -(-1000 // max(8, most // batch.bytes_per_row // 8 * 8)))
    for block in blocks:
        block.validate(full=True)
    assert pa.Table.from_batches(blocks).combine_chunks().equals(table.combine_chunks())


def test_files_give_the_same_rows_in_blocks(tmp_path, monkeypatch):
    path = write(tmp_path / "x.arrow", table_of())
    whole = read(path, bits=10)
    monkeypatch.setattr(arrow, "_BYTES", 2000)
    blocks = read(path, bits=10)
    assert_array_equal(blocks.X.toarray(), whole.X.toarray())
    assert blocks.y.tolist() == whole.y.tolist()


def test_what_is_unusual_is_left_to_pyarrow(tmp_path, monkeypatch):
    table = table_of()
    nested = table.append_column("list", pa.array([[1, 2]] * 1000))
    coded = table.set_column(3, "word", table["word"].dictionary_encode())
    packed = write(tmp_path / "packed", table, options=pa.ipc.IpcWriteOptions(compression="zstd"))
    assert not found_in(packed, table.schema)
    assert not found_in(write(tmp_path / "nested", nested), nested.schema)
    assert not found_in(write(tmp_path / "coded", coded), coded.schema)
    expected = read(write(tmp_path / "plain.arrow", table), bits=10)
    monkeypatch.setattr(arrow, "_BYTES", 2000)
    for name in ("packed", "coded"):
        os.rename(tmp_path / name, tmp_path / f"{name}.arrow")
        assert_array_equal(read(tmp_path / f"{name}.arrow", bits=10).X.toarray(), expected.X.toarray())


def test_strings_outside_of_their_column_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow, "_BYTES", 256)
    offsets = np.arange(0, 8 * 101, 8, dtype=np.int32)
    path = write(tmp_path / "x.arrow", pa.table({"s": ["abcdefgh"] * 100, "y": [0, 1] * 50}))
    data = path.read_bytes()
    assert data.count(offsets.tobytes()) == 1
    for at, value in ((50, -3), (100, 10**6), (40, 700)):
        broken = offsets.copy()
        broken[at] = value
        path.write_bytes(data.replace(offsets.tobytes(), broken.tobytes()))
        with pytest.raises(DataError, match=r"x\.arrow is not a sound Feather"):
            open_dataset(path)


def test_a_file_that_is_cut_while_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow, "_BYTES", 1 << 16)
    table = pa.table({"a": np.arange(100_000.0), "y": np.arange(100_000) % 2})
    path = write(tmp_path / "x.arrow", table)
    batches = iter(open_dataset(path))
    next(batches)
    os.truncate(path, 500_000)
    with pytest.raises(DataError, match=r"x\.arrow is not a sound Feather .* it ends early"):
        list(batches)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc says what a process has held")
def test_memory_holds_blocks_not_the_batch(tmp_path):
    column = np.arange(600_000.0) % 7
    table = pa.table({f"c{j}": column + j for j in range(50)} | {"label": np.arange(600_000) % 2})
    path, small = write(tmp_path / "x.arrow", table), write(tmp_path / "small.arrow", table.slice(0, 100))
    words = [sys.executable, "-c", SCANNED, str(path), str(small)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    rows, more = map(int, done.stdout.split())
    assert rows == 600_000
    assert more < 150  # MB, and the file has 240
