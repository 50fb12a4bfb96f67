"""Crash safety as a law: every write path, cut at every call to the system, leaves the old file or the new one."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import PATHS

HERE = Path(__file__).parents[3] / "tools" / "cuts"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD is needed")


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


@pytest.mark.parametrize("name", [path.name for path in PATHS])
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
