"""Crash safety as a law: every write path, cut at every call to the system, leaves the old file or the new one."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from disk import Disk, iter_log
from paths import PATHS, options_that_write

import rosenblatt

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="LD_PRELOAD and a C compiler are needed"
)

# The only places that may write: the one writer, and files without a name that nobody else sees.
WRITERS = {"io/atomic.py", "io/source.py", "data/row_store.py"}
# The log of a server is SQLite's to write, and its lock is an empty file; tests/service kills that. What is made of a
# log goes through the one writer, as a model and as predictions do above.
OF_THE_SERVICE = {"service/event_log.py"}
# A course goes into a new folder; marks are written for one process and can be made again.
OF_TEACHING = {"teaching/__init__.py", "teaching/course.py", "teaching/grade.py"}
OF_CLOSED_FILES = {"cli/console.py"}  # /dev/null for closed standard files
REPLAYED = {"replay -o", "replay --export"}


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("shim") / "shim.so"
    words = ["cc", "-std=gnu17", "-shared", "-fPIC", "-O1", "-o", str(built), str(HERE / "shim.c"), "-ldl"]
    subprocess.run(words, check=True)
    return built


@pytest.fixture(scope="module")
def law(shim: Path) -> Iterator[subprocess.Popen[str]]:
    """One process for all paths: to start it takes longer than most of them."""
    environment = os.environ | {"LD_PRELOAD": str(shim), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    words = [sys.executable, str(HERE / "law.py"), str(shim), "-"]
    with subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process


# The same writer as of all others, behind pictures and proofs that take their time, or in one more format.
SLOW = {
    "save in Python",
    "predictions as parquet",
    "predictions as csv",
    "export to onnx",
    "trace",
    "certificate",
    "comparison",
    "animation as a page",
    "animation as pictures",
    "report of training",
    "copy of the playground",
    "tuned model",
    "predictions as tsv",
    "predictions as txt",
    "predictions as jsonl",
}


@pytest.mark.parametrize(
    "name", [pytest.param(path.name, marks=[pytest.mark.slow] * (path.name in SLOW)) for path in PATHS]
)
def test_old_or_new_wherever_it_is_cut(name: str, law: subprocess.Popen[str]) -> None:
    assert law.stdin is not None
    assert law.stdout is not None
    law.stdin.write(name + "\n")
    law.stdin.flush()
    found = json.loads(law.stdout.readline() or "{}")
    assert found["path"] == name
    assert found["broken"] == []
    # A law that cuts nothing, or always too early or too late, would hold for anything.
    assert found["cuts"] >= 8
    assert found["new"] > 0
    assert found["states"] > 5
    assert found["old"] > 0


def test_every_option_that_writes_is_on_the_list() -> None:
    assert {option for path in PATHS for option in path.options} == options_that_write() - REPLAYED


def test_nothing_else_in_the_project_writes() -> None:
    """By its source: a new place that opens a file to write must use the one writer, or be listed and cut here."""
    root, found = Path(rosenblatt.__file__).parent, set()
    paths = [Path(folder) / name for folder, _, names in os.walk(root, followlinks=True) for name in names]
    for path in (path for path in paths if path.suffix == ".py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and _writes(node):
                found.add(path.relative_to(root).as_posix())
    assert found == WRITERS | OF_THE_SERVICE | OF_TEACHING | OF_CLOSED_FILES


def _writes(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    of = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    if name in ("write_text", "write_bytes", "NamedTemporaryFile", "TemporaryFile", "mkstemp", "tofile", "fdopen"):
        return True
    if (of, name) in (("os", "open"), ("os", "replace"), ("os", "rename"), ("os", "truncate"), ("shutil", "move")):
        return True
    modes = [
        word.value
        for word in [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "mode")]
        if isinstance(word, ast.Constant)
    ]
    return name == "open" and of in ("", "io", "gzip", "bz2", "lzma") and any(set("wax+") & set(str(m)) for m in modes)


@pytest.mark.parametrize(
    ("calls", "wrong"),
    [
        (["write f", "rename", "sync folder"], True),  # a name on disk, and no bytes
        (["write f", "sync f", "unlink", "rename", "sync folder"], True),  # neither, for a moment
        (["write f", "sync f", "rename", "sync folder"], False),
        (["truncate", "write old", "sync old"], True),  # in place
    ],
)
def test_the_model_of_a_disk_finds_writers_that_are_wrong(tmp_path: Path, calls: list[str], wrong: bool) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"old")
    disk, part = Disk.of(tmp_path), str(tmp_path / "part")
    old, folder = target.stat().st_ino, tmp_path.stat().st_ino
    log = f"create 1 {part}\n".encode()
    for call in calls:
        log += {
            "write f": b"write 1 0 6\nnewnew",
            "write old": f"write {old} 0 6\nnewnew".encode(),
            "truncate": f"truncate {old} 0\n".encode(),
            "sync f": b"sync 1\n",
            "sync old": f"sync {old}\n".encode(),
            "sync folder": f"sync {folder}\n".encode(),
            "rename": f"rename {part}\t{target}\n".encode(),
            "unlink": f"unlink {target}\n".encode(),
        }[call]
    found: set[bytes | None] = set()
    for kind, words, data in iter_log(log):
        disk.apply(kind, words, data)
        found |= disk.contents(str(target))
    assert (found - {b"old", b"newnew"} != set()) == wrong
    assert b"newnew" in found
