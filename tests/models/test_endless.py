"""Models that come by a pipe, or from a device that never ends."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import rosenblatt
from rosenblatt.errors import ModelError


def test_a_model_comes_by_a_pipe(tmp_path: Path) -> None:
    learner = rosenblatt.Perceptron().fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["a", "b"] * 3)
    rosenblatt.save(learner, tmp_path / "m")
    whole = (tmp_path / "m").read_bytes()
    os.mkfifo(tmp_path / "pipe")
    for content, fine in ((whole, True), (whole[:-1], False), (whole + b"x", False), (whole[:40], False), (b"", False)):
        writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
        writer.start()
        if fine:
            assert rosenblatt.load(tmp_path / "pipe").predict([[0.0, 1.0]]).tolist() == ["a"]
        else:
            with pytest.raises(ModelError, match="is not a rosenblatt model, or it is truncated"):
                rosenblatt.load(tmp_path / "pipe")
        writer.join()


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/null"])
def test_a_device_is_refused_at_once(device: str) -> None:
    code = f"import rosenblatt\ntry: rosenblatt.load({device!r})\nexcept rosenblatt.errors.ModelError as e: print(e)"
    limit = (4 << 30, 4 << 30)
    words = [sys.executable, "-c", code]
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert f"{device} is not a rosenblatt model, or it is truncated" in done.stdout, done.stderr
