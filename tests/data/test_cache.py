"""The cache: whole or not there, of the same data or not used, and no bit of it changed."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from length import up_to
from rosenblatt.data.row_store import BlockStore, iter_blocks
from rosenblatt.errors import DataError
from rosenblatt.io import open_dataset
from rosenblatt.learners.files.run import FileRun
from rosenblatt.models.file import save
from rosenblatt.params import make_params


def write_rows(path: Path, count: int = 300, seed: int = 0) -> Path:
    rng = np.random.default_rng(seed)
    lines = [f"{rng.integers(2)} {1 + rng.integers(5)}:{rng.integers(10)} 9:{rng.integers(10)}\n" for _ in range(count)]
    path.write_text("".join(lines))
    return path


def train(path: Path, cache: Path | None, model: Path) -> bytes:
    run = FileRun.begin(open_dataset(path, format="svmlight"), make_params("averaged", max_iter=3), block=64)
    run.run(cache=None if cache is None else str(cache))
    save(run.model(), model)
    return model.read_bytes()


@pytest.mark.long
def test_no_changed_bit_is_learned_from(tmp_path: Path) -> None:
    """Every 97th byte, or every 295th, one bit each: refused, or made anew where the index itself cannot be read."""
    path = write_rows(tmp_path / "x")
    expected = train(path, tmp_path / "cache", tmp_path / "m")
    (blocks,) = (tmp_path / "cache").iterdir()
    whole = blocks.read_bytes()
    outcomes = {"refused": 0, "made anew": 0, "otherwise": 0}
    for at in range(0, len(whole), up_to(97, short=295)):
        changed = bytearray(whole)
        changed[at] ^= 1 << (at % 8)
        blocks.write_bytes(changed)
        try:
            assert train(path, tmp_path / "cache", tmp_path / "n") == expected
            outcomes["made anew"] += 1
        except DataError as error:
            outcomes["refused" if "the cache is broken" in str(error) else "otherwise"] += 1
    assert outcomes["refused"] > 20
    assert outcomes["made anew"] > 0
    assert outcomes["otherwise"] == 0


@pytest.mark.parametrize("cut", [0, 1, 19, 20, 100, -1, -20, -21])
def test_a_cut_cache_is_made_anew(tmp_path: Path, cut: int) -> None:
    path = write_rows(tmp_path / "x")
    expected = train(path, tmp_path / "cache", tmp_path / "m")
    (blocks,) = (tmp_path / "cache").iterdir()
    whole = blocks.read_bytes()
    blocks.write_bytes(whole[:cut])
    assert train(path, tmp_path / "cache", tmp_path / "n") == expected
    assert blocks.read_bytes() == whole


def test_a_cache_is_known_by_the_content_of_the_data(tmp_path: Path) -> None:
    """The same name, size and times, other bytes."""
    path = write_rows(tmp_path / "x")
    times = (1_600_000_000_000_000_000,) * 2
    os.utime(path, ns=times)
    train(path, tmp_path / "cache", tmp_path / "m")
    text = path.read_text()
    path.write_text(text.replace("0 ", "2 ", 40).replace("1 ", "0 ", 40).replace("2 ", "1 "))
    os.utime(path, ns=times)
    assert path.stat().st_size == len(text)
    assert train(path, tmp_path / "cache", tmp_path / "n") == train(path, None, tmp_path / "o")


# Loaded once, for all runs: each is a process of its own, and they begin together.
TOGETHER = f"""
import json, os, sys
from pathlib import Path
from rosenblatt.io import open_dataset
from rosenblatt.learners.files.run import FileRun
from rosenblatt.models.file import save
from rosenblatt.params import make_params

{inspect.getsource(train)}

for line in sys.stdin:
    words, runs = json.loads(line), []
    for at in range(0, len(words), 3):
        runs.append(os.fork())
        if runs[-1] == 0:
            try:
                train(*map(Path, words[at : at + 3]))
                os._exit(0)
            finally:
                os._exit(1)
    if any([os.waitpid(run, 0)[1] for run in runs]):
        sys.exit("a run failed")
"""


def test_runs_that_share_a_cache_do_not_disturb_one_another(tmp_path: Path) -> None:
    paths = [write_rows(tmp_path / f"x{k}", 2000, seed=k) for k in range(2)]
    expected = [train(path, None, tmp_path / "m") for path in paths]
    caches = [tmp_path / f"cache{turn}" for turn in range(4)]
    models = [[tmp_path / f"m{turn}{k}" for k in range(4)] for turn in range(4)]
    turns = [
        json.dumps([str(word) for k in range(4) for word in (paths[k % 2], cache, written[k])])
        for cache, written in zip(caches, models, strict=True)
    ]
    subprocess.run([sys.executable, "-c", TOGETHER], input="\n".join(turns), text=True, check=True)
    for cache, written in zip(caches, models, strict=True):
        assert [model.read_bytes() for model in written] == [expected[k % 2] for k in range(4)]
        assert sorted(p.suffix for p in cache.iterdir()) == [".blocks", ".blocks"]


def test_a_run_that_is_stopped_leaves_no_cache(tmp_path: Path) -> None:
    reader = open_dataset(write_rows(tmp_path / "x"), format="svmlight")
    blocks = list(iter_blocks(reader, reader.scan_classes(), rows=50))
    with pytest.raises(KeyboardInterrupt), BlockStore(tmp_path / "cache") as store:  # noqa: PT012
        store.add(blocks[0])
        store.flush()
        assert len(os.listdir(tmp_path / "cache")) == 1
        raise KeyboardInterrupt
    assert os.listdir(tmp_path / "cache") == []
    assert BlockStore.find(tmp_path / "cache", "0" * 64) is None


def test_data_that_change_while_they_are_read_are_refused(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "x")
    reader = open_dataset(path, format="svmlight")
    reader.chunk = 100

    def read_and_change() -> Any:
        for k, _ in enumerate(reader):
            if k == 1:
                with open(path, "a") as file:
                    file.write("1 1:1\n")

    with pytest.raises(DataError, match="x changed while it was read"):
        read_and_change()
