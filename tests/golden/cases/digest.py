"""SHA-256 of what a user can see: arrays by their bits, plain values by their text.

Invariant: nothing that changes from run to run, or with the BLAS library, goes into a digest.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from safetensors import safe_open

SHORT = 4  # hexadecimal digits that name a part of a case


def digest(*values):
    """The SHA-256 of arrays, sparse matrices and plain values, in this order."""
    found = hashlib.sha256()
    for value in values:
        for piece in _pieces(value):
            found.update(len(piece).to_bytes(8, "little") + piece)
    return found.hexdigest()


def line_of(parts):
    """A case as one line: the digest of all its parts, then a few digits of each, which say what differs."""
    whole = digest(sorted(parts.items()))
    return " ".join([whole, *(f"{name}={value[:SHORT]}" for name, value in sorted(parts.items()))])


def rounded(value, digits=9):
    """Numbers that went through BLAS, `exp` or a solver, to so many significant digits."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [rounded(each, digits) for each in value]
    return f"{float(value):.{digits}g}"


def fitted(learner, probe):
    """A fitted learner in two parts: its answer, and how it came to it."""
    return {"answer": answer(learner, probe), "history": history(learner)}


def answer(learner, probe):
    """Weights or support, scores and predictions on the probe."""
    held = [learner.classes_, int(learner.n_features_in_)]
    for name in ("coef_", "intercept_", "dual_coef_", "support_vectors_", "support_"):
        held.append(getattr(learner, name, None))
    return digest(held, learner.decision_function(probe), learner.predict(probe))


def history(learner):
    """Epoch by epoch, without the seconds."""
    book = learner.history_
    found = [list(map(int, book.mistakes)), list(map(int, book.updates)), list(map(float, book.validation_score))]
    for name in ("n_iter_", "converged_", "mistakes_", "updates_"):
        found.append(int(getattr(learner, name, -1)))
    return digest(found, learner.stop_reason_)


def container(path):
    """The header, as plain values, and the tensors of a model or checkpoint file."""
    with safe_open(str(path), framework="numpy") as file:
        envelope = json.loads(file.metadata()["rosenblatt"])
        tensors = {name: file.get_tensor(name) for name in sorted(file.keys())}
    return {"kind": envelope["kind"], "version": envelope["version"], **json.loads(envelope["header"])}, tensors


def model_file(path):
    """What a model answers with, in two parts: without the library's version, the checksum and the learning state."""
    header, tensors = container(path)
    header.pop("library", None)
    header.pop("kept", None)
    answer = {name: tensor for name, tensor in tensors.items() if not name.startswith("kept.")}
    return {"header": digest(header), "tensors": digest(answer)}


def checkpoint_file(path):
    """A checkpoint in two parts, without seconds, paths and the times of files."""
    header, tensors = container(path)
    for name in ("data", "stamps", "extra"):
        header.pop(name, None)
    header.get("history", {}).pop("seconds", None)
    header.get("progress", {}).pop("bytes", None)
    return {"header": digest(header), "tensors": digest(tensors)}


class quiet(warnings.catch_warnings):
    """Stopping at the last epoch warns; here it is wanted."""

    def __enter__(self):
        super().__enter__()
        warnings.simplefilter("ignore")


def _pieces(value) -> Iterator[bytes]:
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield f"{value.dtype.str}{value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif sp.issparse(value):
        yield f"{value.format}{value.shape}".encode()
        rows = value.tocsr()
        for array in (rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)):
            yield from _pieces(array)
    elif isinstance(value, dict):
        yield b"dict"
        yield from _pieces(sorted(value.items()))
    elif isinstance(value, (list, tuple, np.ndarray)):
        yield f"list{len(value)}".encode()
        for each in value:
            yield from _pieces(each)
    elif isinstance(value, bytes):
        yield value
    elif value is None or isinstance(value, (bool, int, float, str, np.generic)):
        plain = value.item() if isinstance(value, np.generic) else value
        yield f"{type(plain).__name__} {plain!r}".encode()
    else:
        raise TypeError(f"no bits to hash in {type(value).__name__}")
