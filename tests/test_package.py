"""The package as a user meets it: its names, its imports, its instruction sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from sklearn.base import ClassifierMixin

import family
import rosenblatt
from rosenblatt import errors


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_exported_names() -> None:
    for name in rosenblatt.__all__:
        assert getattr(rosenblatt, name) is not None
    assert set(rosenblatt._HOMES) < set(rosenblatt.__all__)
    assert set(rosenblatt.learners.__all__) == {name for name, home in rosenblatt._HOMES.items() if home == "learners"}
    assert dir(rosenblatt) == sorted(rosenblatt.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(rosenblatt, "Perceptrom")


def test_help_loads_neither_numpy_nor_a_verb() -> None:
    code = "import sys; from rosenblatt.cli.main import main; main(['--help']); print(*sys.modules)"
    loaded = run(code).stdout.splitlines()[-1].split()
    assert "numpy" not in loaded
    assert "rosenblatt.cli.train" not in loaded


def test_importing_the_package_does_not_import_scikit_learn() -> None:
    code = "import sys, rosenblatt, rosenblatt.models, rosenblatt.cli.main; print('sklearn' in sys.modules)"
    assert run(code).stdout.strip() == "False"


def test_the_instruction_set_can_be_forced() -> None:
    code = "from rosenblatt import engine; print(engine.ISA)"
    assert run(code, ROSENBLATT_ISA="baseline").stdout.strip() == "baseline"
    refused = run(code, ROSENBLATT_ISA="mmx")
    assert "ROSENBLATT_ISA='mmx': must be baseline or avx2" in refused.stderr


def test_every_error_is_one_of_ours() -> None:
    for name in ("DataError", "LabelError", "ParameterError", "MissingExtraError"):
        assert issubclass(getattr(errors, name), errors.RosenblattError)
        assert name in (errors.__doc__ or "")


def test_small_commands_load_neither_scikit_learn_nor_scipy(tmp_path: Path) -> None:
    (tmp_path / "and.csv").write_text("a,b,c\n" + "0,0,no\n0,1,no\n1,0,no\n1,1,yes\n" * 3)
    code = (
        "import sys; from rosenblatt.cli.main import main\n"
        "assert main(sys.argv[1:]) == 0\n"
        "heavy = {'sklearn', 'scipy.sparse', 'pandas', 'rosenblatt.textbook'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    for words, loaded in (
        ("train and.csv -o and.model", []),
        ("train and.csv -o kernel.model --learner kernel --max-iter 100", []),
        ("train and.csv -o balanced.model --class-weight balanced --multiclass ovr", []),
        ("predict and.model and.csv", []),
        ("evaluate and.model and.csv", []),
        ("inspect and.model", []),
        ("export and.model --to c", []),
        ("trace and.csv", ["rosenblatt.textbook"]),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *words.split()], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert done.stderr.splitlines()[-1] == str(loaded), words


def test_every_class_that_learns_is_in_the_list_that_laws_are_tried_on() -> None:
    exported = (getattr(rosenblatt, name) for name in rosenblatt.__all__ if name[0].isupper() and name != "History")
    classifiers = {kind for kind in exported if issubclass(kind, ClassifierMixin)}
    assert len(classifiers) > 10
    assert classifiers - {type(make()) for make in family.LEARNERS.values()} == set()
