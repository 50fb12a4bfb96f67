"""The SHA-256 of a model is printed where it is written and where it is shown: the one that `sha256sum` says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from command import run, train


def test_train_and_inspect_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "x.svm").write_text("1 1:1\n0 2:1\n" * 20)
    model = tmp_path / "m"
    told = run("train", tmp_path / "x.svm", "-o", model).stderr
    expected = hashlib.sha256(model.read_bytes()).hexdigest()
    assert f"wrote {model} (SHA-256 {expected})" in told
    assert f"SHA-256     {expected}\n" in run("inspect", model).stdout
    assert json.loads(run("inspect", model, "--json").stdout)["sha256"] == expected
    facts = train(tmp_path / "x.svm", "-o", model)
    assert facts["sha256"] == expected


def test_what_is_no_file_has_none(tmp_path: Path) -> None:
    (tmp_path / "x.svm").write_text("1 1:1\n0 2:1\n" * 20)
    assert train(tmp_path / "x.svm", "-o", "/dev/null")["sha256"] is None
