"""Exported models as they run elsewhere: in an ONNX runtime, and as C."""

import subprocess
from pathlib import Path
from typing import Any

import onnxruntime

from rosenblatt.models.export import to_onnx


def onnx_session(model: Any) -> Any:
    return onnxruntime.InferenceSession(to_onnx(model), providers=["CPUExecutionProvider"])


def compile_c(folder: Path, header: str, body: str, flags: Any = ("-std=c99",)) -> Path:
    """A program of a model and of a `main` that asks it; a warning is an error."""
    (folder / "model.h").write_text(header)
    (folder / "main.c").write_text('#include <stdio.h>\n#include <stdlib.h>\n#include "model.h"\n' + body)
    words = ["cc", *flags, "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-ffp-contract=off", "-O1"]
    done = subprocess.run([*words, "-o", folder / "main", folder / "main.c", "-lm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "main"


def run_c(program: Path, text: str = "") -> str:
    return subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout
