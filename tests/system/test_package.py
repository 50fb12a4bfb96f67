"""The package as a user meets it: its names, imports, instruction sets, limits, and how its engine is hardened."""

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import registry
from command import python
from rejected import rejected
from sklearn.base import ClassifierMixin

import rosenblatt
from rosenblatt import engine
from rosenblatt.encode.options import Limits, parse_limits


def test_exported_names() -> None:
    for name in rosenblatt.__all__:
        assert getattr(rosenblatt, name) is not None
    assert set(rosenblatt._HOMES) < set(rosenblatt.__all__)
    assert set(rosenblatt.learners.LEARNERS) <= set(rosenblatt.__all__) - set(rosenblatt._HOMES)
    assert dir(rosenblatt) == sorted(rosenblatt.__all__)


def test_help_loads_neither_numpy_nor_a_verb() -> None:
    code = "import sys; from rosenblatt.cli.main import main; main(['--help']); print(*sys.modules)"
    loaded = python(code).stdout.splitlines()[-1].split()
    assert "numpy" not in loaded
    assert "rosenblatt.cli.train" not in loaded


def test_the_instruction_set_can_be_forced() -> None:
    code = "from rosenblatt import engine; print(engine.ISA)"
    assert python(code, ROSENBLATT_ISA="baseline").stdout.strip() == "baseline"
    assert "ROSENBLATT_ISA='mmx'" in python(code, check=1, ROSENBLATT_ISA="mmx").stderr


def test_small_commands_load_neither_scikit_learn_nor_scipy(tmp_path: Path) -> None:
    (tmp_path / "and.csv").write_text("a,b,c\n" + "0,0,no\n0,1,no\n1,0,no\n1,1,yes\n" * 3)
    plain = [
        "train and.csv -o and.model",
        "train and.csv -o kernel.model --learner kernel --max-iter 100",
        "train and.csv -o balanced.model --class-weight balanced --multiclass ovr",
        "predict and.model and.csv",
        "evaluate and.model and.csv",
        "inspect and.model",
        "export and.model --to c",
    ]
    expected = {words: [] for words in plain} | {"trace and.csv": ["rosenblatt.textbook"]}
    code = """
import os, sys
from rosenblatt.cli.main import main
for words in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        assert main(words.split()) == 0
        heavy = {"sklearn", "scipy.sparse", "pandas", "rosenblatt.textbook"}
        print(words, sorted(heavy & set(sys.modules)), sep=": ", file=sys.stderr, flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, words
"""
    said = python(code, *expected, cwd=tmp_path).stderr.splitlines()
    loaded = [f"{words}: {modules}" for words, modules in expected.items()]
    assert [line for line in said if line in loaded] == loaded


def test_every_class_that_learns_is_in_the_list_that_laws_are_tried_on() -> None:
    exported = (getattr(rosenblatt, name) for name in rosenblatt.__all__ if name[0].isupper() and name != "History")
    classifiers = {kind for kind in exported if issubclass(kind, ClassifierMixin)}
    assert len(classifiers) > 10
    assert classifiers - {each.cls for each in registry.LEARNERS.values()} == set()


ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["docs/files.md", "SECURITY.md"])
def test_the_tables_name_every_limit(page: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| (\d+[KMGT]?) \|$", (ROOT / page).read_text(), re.MULTILINE)
    assert [name for name, _ in rows] == [each.name for each in fields(Limits)]
    assert parse_limits(Limits(), [f"{name}={size}" for name, size in rows]) == Limits()


@pytest.mark.parametrize("word", ["line", "line=", "line=0", "line=-1", "line=1.5G", "line=1X", "=5", "width=5"])
def test_a_limit_that_means_nothing(word: str) -> None:
    with rejected("parameter", "line=", "expansion=", "classes="):
        parse_limits(Limits(), [word])


HERE = Path(engine._module.__file__ or "").parent
MODULES = sorted(HERE.glob("_engine_*.so"))


def read(module: Path, *options: str) -> str:
    return subprocess.run(["readelf", "-W", *options, module], check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="the files are of another form")
def test_the_modules_are_hardened_as_the_security_page_says() -> None:
    assert MODULES
    for module in MODULES:
        dynamic, segments = read(module, "--dynamic"), read(module, "--segments")
        assert "BIND_NOW" in dynamic  # tables of functions are read-only after loading
        assert "GNU_RELRO" in segments
        assert "TEXTREL" not in dynamic
        (stack,) = (line for line in segments.splitlines() if "GNU_STACK" in line)
        assert " RW " in stack  # and holds no code
        assert "RWE" not in stack
        assert "__stack_chk_fail" in read(module, "--dyn-syms")
        # Indices are checked outside of the loops: what std::vector says when it fails, by libstdc++.
        assert "libstdc++" not in dynamic or b"__n < this->size()" in module.read_bytes()
        assert "RPATH" not in dynamic  # no folder of the builder is searched
        assert "RUNPATH" not in dynamic
