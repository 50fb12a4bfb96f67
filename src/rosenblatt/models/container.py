"""One safetensors file with a JSON header and a checksum: what models and checkpoints are written in.

Invariant: a file on disk is always whole, the old one or the new one. Reading runs no code, and refuses with a sentence
whatever is truncated, altered or foreign.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.output import check_writable as check_writable
from rosenblatt.data.output import write_whole as write_whole
from rosenblatt.errors import ModelError

VERSION = 1
MOST_HEADER = 64 << 20  # bytes of JSON

Tensors = dict[str, NDArray[Any]]


def write_container(path: str | os.PathLike[str], kind: str, header: dict[str, Any], tensors: Tensors) -> None:
    """Write a file, all or nothing."""
    from safetensors.numpy import save

    text = json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False)
    arrays = {name: np.ascontiguousarray(array) for name, array in sorted(tensors.items())}
    envelope = {"kind": kind, "version": VERSION, "sha256": _checksum(kind, text, arrays), "header": text}
    # One entry only: safetensors writes several in an order that changes from run to run.
    metadata = {"rosenblatt": json.dumps(envelope)}
    write_whole(path, save(arrays, metadata))


def read_container(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], Tensors]:
    """The header and the tensors of a file of this kind."""
    from safetensors import SafetensorError, safe_open

    name = os.fspath(path)
    if os.path.isdir(name):
        raise ModelError(f"{name} is a folder, not a rosenblatt {kind}")
    if not os.path.isfile(name):
        raise ModelError(f"{name}: there is no such file")
    if not os.access(name, os.R_OK):
        raise ModelError(f"{name} cannot be read: Permission denied")
    try:
        with safe_open(name, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except (SafetensorError, TypeError, ValueError, OSError):
        raise ModelError(f"{name} is not a rosenblatt {kind}, or it is truncated") from None
    if "rosenblatt" not in metadata:
        raise ModelError(f"{name} is a safetensors file, but not a rosenblatt {kind}")
    if len(metadata["rosenblatt"]) > MOST_HEADER:
        raise ModelError(f"{name} has a header longer than {MOST_HEADER >> 20} MB")
    try:
        envelope = json.loads(metadata["rosenblatt"])
        found, version, digest, text = (envelope[key] for key in ("kind", "version", "sha256", "header"))
    except (ValueError, KeyError, TypeError):
        raise ModelError(f"{name} was altered: its header cannot be read") from None
    if version != VERSION:
        raise ModelError(
            f"{name} has the file version {version}, and this rosenblatt reads version {VERSION}: "
            "use the release that wrote it, or a newer one"
        )
    if found != kind:
        raise ModelError(f"{name} is a rosenblatt {found}, not a {kind}")
    if digest != _checksum(kind, str(text), dict(sorted(tensors.items()))):
        raise ModelError(f"{name} was altered: its content does not fit its checksum")
    header: dict[str, Any] = json.loads(text)
    return header, tensors


def _checksum(kind: str, text: str, tensors: Tensors) -> str:
    digest = hashlib.sha256(f"{kind}\0{VERSION}\0{text}".encode())
    for name, array in tensors.items():
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
