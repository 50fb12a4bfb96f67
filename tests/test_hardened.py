"""The compiled engine resists what would still go wrong: what SECURITY.md says of it is read from the files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rosenblatt import engine

HERE = Path(engine._module.__file__ or "").parent
MODULES = sorted(HERE.glob("_engine_*.so"))
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the files are of another form"),
    pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf reads them"),
]


def read(module: Path, *options: str) -> str:
    return subprocess.run(["readelf", "-W", *options, module], check=True, capture_output=True, text=True).stdout


def test_there_are_modules() -> None:
    assert MODULES


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name.partition(".")[0])
class TestHardened:
    def test_tables_of_functions_are_read_only_after_loading(self, module: Path) -> None:
        dynamic = read(module, "--dynamic")
        assert "BIND_NOW" in dynamic
        assert "GNU_RELRO" in read(module, "--segments")
        assert "TEXTREL" not in dynamic

    def test_the_stack_holds_no_code(self, module: Path) -> None:
        (stack,) = (line for line in read(module, "--segments").splitlines() if "GNU_STACK" in line)
        assert " RW " in stack
        assert "RWE" not in stack

    def test_the_stack_is_guarded(self, module: Path) -> None:
        assert "__stack_chk_fail" in read(module, "--dyn-syms")

    def test_indices_are_checked_outside_of_the_loops(self, module: Path) -> None:
        """What std::vector says when it fails, by libstdc++."""
        if "libstdc++" not in read(module, "--dynamic"):
            pytest.skip("it is built on another library")
        assert b"__n < this->size()" in module.read_bytes()

    def test_no_folder_of_the_builder_is_searched(self, module: Path) -> None:
        assert "RPATH" not in read(module, "--dynamic")
        assert "RUNPATH" not in read(module, "--dynamic")
