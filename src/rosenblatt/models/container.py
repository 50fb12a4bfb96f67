"""One safetensors file with a JSON header and a checksum: what models and checkpoints are written in.

Invariant: a file on disk is always whole, the old one or the new one. Reading runs no code, and refuses with a sentence
whatever is truncated, altered or foreign.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import stat
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.table import as_table, is_sparse
from rosenblatt.errors import DataError, ModelError
from rosenblatt.io.atomic import check_writable as check_writable
from rosenblatt.io.atomic import write_atomic as write_atomic

VERSION = 1
MOST_HEADER = 64 << 20  # bytes of JSON

STATE = "state."  # before the names of the tensors of a learning state

Tensors = dict[str, NDArray[Any]]


def write_container(path: str | os.PathLike[str], kind: str, header: dict[str, Any], tensors: Tensors) -> None:
    """Write a file, all or nothing."""
    write_atomic(path, pack_container(kind, header, tensors, os.fspath(path)))


def pack_container(kind: str, header: dict[str, Any], tensors: Tensors, name: str) -> bytes:
    """The bytes of a file, which errors call `name`."""
    from safetensors.numpy import save

    text = json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False)
    try:
        parse_json(text)
    except ValueError:
        raise ModelError(f"{name} cannot be written: a label or a name is no text that can be encoded") from None
    arrays = {key: np.ascontiguousarray(array) for key, array in sorted(tensors.items())}
    envelope = {"kind": kind, "version": VERSION, "sha256": _checksum(kind, text, arrays), "header": text}
    # One entry only: safetensors writes several in an order that changes from run to run.
    metadata = {"rosenblatt": json.dumps(envelope)}
    packed: bytes = save(arrays, metadata)
    if int.from_bytes(packed[:8], "little") > MOST_HEADER:
        raise ModelError(f"{name} cannot be written: its header is longer than {MOST_HEADER >> 20} MB")
    return packed


def read_container(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], Tensors]:
    """The header and the tensors of a file of this kind.

    The file is read, not mapped into memory: one that is cut off meanwhile is refused, and does not end the process.
    """
    name = os.fspath(path)
    if os.path.isdir(name):
        raise ModelError(f"{name} is a folder, not a rosenblatt {kind}")
    try:
        with open(name, "rb") as file:
            data = _read(file)
    except FileNotFoundError:
        raise ModelError(f"{name}: there is no such file") from None
    except OSError as error:
        raise ModelError(f"{name} cannot be read: {error.strerror}") from None
    return unpack_container(data, kind, name)


def unpack_container(data: bytes, kind: str, name: str) -> tuple[dict[str, Any], Tensors]:
    """The header and the tensors in the bytes of a file of this kind, which errors call `name`."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    metadata = _metadata(data, name, kind)
    try:
        tensors = load(data)
    except (SafetensorError, TypeError, ValueError, KeyError, OverflowError):
        raise ModelError(f"{name} is not a rosenblatt {kind}, or it is truncated") from None
    try:
        envelope = parse_json(metadata["rosenblatt"])
        found, version, digest, text = (envelope[key] for key in ("kind", "version", "sha256", "header"))
        sound = isinstance(text, str) and isinstance(digest, str)
        fits = sound and hmac.compare_digest(digest.encode(), _checksum(kind, text, tensors).encode())
    except (ValueError, KeyError, TypeError):
        raise ModelError(f"{name} was altered: its header cannot be read") from None
    if version != VERSION:
        raise ModelError(
            f"{name} has the file version {str(version)[:20]}, and this rosenblatt reads version {VERSION}: "
            "use the release that wrote it, or a newer one"
        )
    if found != kind:
        raise ModelError(f"{name} is a rosenblatt {str(found)[:20]}, not a {kind}")
    if not fits:
        raise ModelError(f"{name} was altered: its content does not fit its checksum")
    try:
        header = parse_json(text)
    except ValueError:
        raise ModelError(f"{name} was altered: its header cannot be read") from None
    if not isinstance(header, dict):
        raise ModelError(f"{name} is not a valid {kind}: its header is no object")
    return header, tensors


def _read(file: BinaryIO) -> bytes:
    """All bytes; of a pipe or a device, which may have no end, as many as its header says that there are."""
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file.read()
    head = file.read(8)
    head += file.read(min(int.from_bytes(head, "little"), MOST_HEADER))
    try:
        entries = parse_json(head[8:].decode())
        rest = max(entry["data_offsets"][1] for name, entry in entries.items() if name != "__metadata__")
        return head + file.read(max(0, int(rest)) + 1)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, MemoryError):
        return head


def _metadata(data: bytes, name: str, kind: str) -> dict[str, Any]:
    """What stands beside the tensors, by the file's own length."""
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8:
        raise ModelError(f"{name} is not a rosenblatt {kind}, or it is truncated")
    if size > MOST_HEADER:
        raise ModelError(f"{name} has a header longer than {MOST_HEADER >> 20} MB")
    try:
        header = parse_json(data[8 : 8 + size].decode())
        metadata = header.get("__metadata__", {})
    except (ValueError, AttributeError):
        raise ModelError(f"{name} is not a rosenblatt {kind}, or it is truncated") from None
    if not isinstance(metadata, dict) or "rosenblatt" not in metadata:
        raise ModelError(f"{name} is a safetensors file, but not a rosenblatt {kind}")
    return metadata


def parse_json(text: Any) -> Any:
    """JSON of bounded depth, in which every string is text that can be written again."""
    if not isinstance(text, str):
        raise ValueError("it is no text")
    try:
        found = json.loads(text)
        if "\\u" in text:
            json.dumps(found, ensure_ascii=False).encode()  # half a surrogate pair cannot be encoded
    except (RecursionError, UnicodeEncodeError):
        raise ValueError("it cannot be read") from None
    return found


def _checksum(kind: str, text: str, tensors: Tensors) -> str:
    digest = hashlib.sha256(f"{kind}\0{VERSION}\0{text}".encode())
    for name, array in sorted(tensors.items()):
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(_bytes(array).data)
    return digest.hexdigest()


@dataclass(frozen=True)
class SavedState:
    """The learning state in a model file, beside the predictors: `learners.serialization` writes and checks it."""

    header: dict[str, Any]
    tensors: Tensors = field(default_factory=dict)

    def to_file(self, tensors: Tensors) -> dict[str, Any]:
        """Add its tensors to those of the file, unless one of these has the same bytes; returns the header."""
        others = {_content_key(tensor): name for name, tensor in sorted(tensors.items(), reverse=True)}
        same = {name: others[key] for name, tensor in self.tensors.items() if (key := _content_key(tensor)) in others}
        tensors |= {f"{STATE}{name}": tensor for name, tensor in self.tensors.items() if name not in same}
        return {"header": self.header, "same": same}

    @classmethod
    def from_file(cls, header: dict[str, Any], tensors: Tensors) -> SavedState:
        own = {name.removeprefix(STATE): tensor for name, tensor in tensors.items() if name.startswith(STATE)}
        shared = {name: tensors[other] for name, other in header["same"].items()}
        if not isinstance(header["header"], dict):
            raise ModelError("its learning state cannot be read")
        return cls(header["header"], own | shared)


def _content_key(tensor: NDArray[Any]) -> tuple[str, tuple[int, ...], bytes]:
    return tensor.dtype.str, tensor.shape, hashlib.sha256(_bytes(tensor).data).digest()


def _bytes(tensor: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(tensor).reshape(-1).view(np.uint8)


def take(tensors: Tensors, prefix: str = "", **kinds: str) -> list[NDArray[Any]]:
    """The named tensors, each of the type and the number of dimensions given ("f8:2"; "f": any float), all finite."""
    found = []
    for name, kind in kinds.items():
        tensor, (kind, _, dimensions) = tensors[f"{prefix}{name}"], kind.partition(":")
        check_shapes(tensor.dtype.str in (("<f4", "<f8") if kind == "f" else (f"<{kind}",)))
        check_shapes(tensor.ndim == int(dimensions or 1))
        if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
            raise ModelError("its weights are not finite")
        found.append(tensor)
    return found


def check_shapes(fits: bool) -> None:
    """Raise unless types and shapes fit one another."""
    if not fits:
        raise ModelError("its tensors have other types or shapes than those of a model")


def check_columns(columns: NDArray[Any], features: int) -> None:
    """Raise unless the columns rise and are there."""
    if len(columns) and (columns[0] < 0 or columns[-1] >= features or (np.diff(columns) <= 0).any()):
        raise ModelError("its columns are out of order")


def count_of(value: Any) -> int:
    """A number of things."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**62:
        raise ModelError(f"invalid count in the file: {value!r}")
    return value


def rows_to(rows: Any, prefix: str, tensors: Tensors) -> dict[str, Any]:
    """Support rows, dense or sparse, as tensors."""
    if rows is None:
        return {"storage": "none", "rows": 0}
    if is_sparse(rows):
        for name in ("data", "indices", "indptr"):
            tensors[f"{prefix}support.{name}"] = getattr(rows, name)
        return {"storage": "sparse", "rows": int(rows.shape[0])}
    tensors[f"{prefix}support"] = np.asarray(rows)
    return {"storage": "dense", "rows": int(rows.shape[0])}


def rows_from(header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> tuple[Any, int]:
    """The support rows and their number."""
    storage, count = header["storage"], count_of(header["rows"])
    if storage == "none":
        return None, 0
    try:
        if storage == "sparse":
            import scipy.sparse as sp

            arrays = tuple(tensors[f"{prefix}support.{name}"] for name in ("data", "indices", "indptr"))

            support: Any = sp.csr_array(arrays, shape=(count, features))
        else:
            support = tensors[f"{prefix}support"]
            check_shapes(support.shape == (count, features))
        check_shapes(support.dtype in (np.float32, np.float64))
        if features:  # a stream without features yet has none
            as_table(support, name="its support")
    except (DataError, ValueError) as error:
        raise ModelError(str(error)) from None
    return support, count
