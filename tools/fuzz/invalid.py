"""Arrow files with arrays that break Arrow's own rules: invalid offsets, indices, lengths and strings."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

ROWS = 60
WORDS = [f"word{k % 7}" for k in range(ROWS)]
LARGE = [2**31 - 1, 2**30, -1, -(2**31), 10_000]


def offsets_of(random_: random.Random, kind: str, size: int) -> Any:
    """Rising offsets but for one, which leaves the data or falls."""
    offsets = np.linspace(0, size, ROWS + 1).astype(kind)
    at = random_.randrange(1, ROWS)
    falling = int(offsets[at - 1]) - 1 if offsets[at - 1] > 0 else -1
    offsets[at] = random_.choice([*LARGE, falling])
    return pa.py_buffer(offsets)


def strings(random_: random.Random) -> Any:
    large = random_.random() < 0.5
    data = "".join(WORDS).encode()
    buffers = [None, offsets_of(random_, "i8" if large else "i4", len(data)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string() if large else pa.string(), ROWS, buffers)


def no_text(random_: random.Random) -> Any:
    raw = [bytes([*word.encode()]) for word in WORDS]
    raw[random_.randrange(ROWS)] = random_.choice([b"\xff", b"ab\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\x80"])
    sound = pa.array(raw, pa.binary())
    return pa.Array.from_buffers(pa.string(), ROWS, sound.buffers())


def codes(random_: random.Random) -> Any:
    kind = random_.choice(("i1", "i2", "i4"))
    places = np.arange(ROWS).astype(kind) % 3
    places[random_.randrange(ROWS)] = random_.choice((3, 100, 127, -1))
    return pa.DictionaryArray.from_arrays(pa.array(places), ["a", "b", "c"], safe=False)


def lists(random_: random.Random) -> Any:
    values = pa.array(np.arange(200.0))
    return pa.Array.from_buffers(
        pa.list_(pa.float64()), ROWS, [None, offsets_of(random_, "i4", 200)], children=[values]
    )


def decimals(random_: random.Random) -> Any:
    raw = np.zeros((ROWS, 16), np.uint8)
    raw[random_.randrange(ROWS), 8] = 1  # 2**64 has more than 5 digits
    return pa.Array.from_buffers(pa.decimal128(5, 2), ROWS, [None, pa.py_buffer(raw)])


def structs(random_: random.Random) -> Any:
    child = strings(random_)
    return pa.Array.from_buffers(pa.struct([("s", child.type)]), ROWS, [None], children=[child])


KINDS: list[Callable[[random.Random], Any]] = [strings, no_text, codes, lists, decimals, structs]


def write_invalid(random_: random.Random, path: Path) -> str:
    """Write a file; what is wrong in it."""
    make = random_.choice(KINDS)
    columns = {"a": pa.array(np.arange(float(ROWS))), "x": make(random_), "y": pa.array(np.arange(ROWS) % 2)}
    if random_.random() < 0.3:
        columns = {"a": columns["a"], "b": columns["y"], "y": columns["x"]}  # as the label
    batch = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid:
        with pa.OSFile(str(path), "wb") as held:
            new = pa.ipc.new_file if random_.random() < 0.5 else pa.ipc.new_stream
            with new(held, batch.schema) as writer:
                writer.write_batch(batch)
        return make.__name__
    raise AssertionError(f"{make.__name__} made a sound array")
