"""One checked safetensors file for models and checkpoints: a tree of plain values, arrays and parts of models.

Invariant: a file on disk is always whole, the old one or the new one. Reading runs no code, and raises `ModelError` for
a truncated, altered or foreign file. A part that was read is checked, so that the engine never leaves its arrays.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import reduce
from operator import getitem
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.table import as_table, is_sparse
from rosenblatt.errors import ModelError
from rosenblatt.io.atomic import write_atomic

VERSION = 1
SEAL, CONTENT = "rosenblatt", "rosenblatt.content"  # two tensors of JSON
PLAIN = {str, int, float, bool, type(None)}
INVALID = LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError  # what bad content raises

Tensors = dict[str, NDArray[Any]]
Key = tuple[str, tuple[int, ...], str]


def write_container(path: str | os.PathLike[str], kind: str, content: dict[str, Any]) -> None:
    """Write a file, all or nothing: dicts and lists of plain values and arrays."""
    write_atomic(path, pack_container(kind, content, os.fspath(path)))


def pack_container(kind: str, content: dict[str, Any], name: str) -> bytes:
    """The bytes of a file, which errors call `name`."""
    from safetensors.numpy import save

    tensors: Tensors = {}
    names: dict[Key, str] = {}
    places: list[tuple[list[Any], str]] = []

    def without_arrays(value: Any, place: list[Any]) -> Any:
        if isinstance(value, np.ndarray):
            stored = names.setdefault(_key_of(value), ".".join(map(str, place)))  # equal arrays are stored once
            tensors[stored] = np.ascontiguousarray(value)
            places.append((place, stored))
            return None
        if isinstance(value, dict):
            return {key: without_arrays(each, [*place, key]) for key, each in sorted(value.items())}
        if isinstance(value, list | tuple) and not set(map(type, value)) <= PLAIN:
            return [without_arrays(each, [*place, at]) for at, each in enumerate(value)]
        return value

    tree = without_arrays(content, [])
    try:
        tensors[CONTENT] = _json_to([tree, places])
    except UnicodeEncodeError:
        raise ModelError(f"{name} cannot be written: a label or a name cannot be encoded as UTF-8") from None
    keys = {stored: key for key, stored in names.items()} | {CONTENT: _key_of(tensors[CONTENT])}
    tensors[SEAL] = _json_to({"kind": kind, "version": VERSION, "sha256": _digest_of(kind, keys)})
    return save(tensors)


def read_container(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """The content of a file of this kind.

    The file is read, not mapped into memory: if it is truncated meanwhile, reading raises and the process lives.
    """
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            data = file.read()
    except OSError as error:
        raise ModelError(f"{name} cannot be read: {error.strerror}") from None
    return unpack_container(data, kind, name)


def unpack_container(data: bytes, kind: str, name: str) -> dict[str, Any]:
    """The content in the bytes of a file of this kind, which errors call `name`."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        tensors = load(data)
    except (SafetensorError, TypeError, ValueError, KeyError, OverflowError):
        raise ModelError(f"{name} is not a rosenblatt {kind}, or it is truncated") from None
    if SEAL not in tensors:
        raise ModelError(f"{name} is a safetensors file, but not a rosenblatt {kind}")
    try:
        seal = _json_from(tensors.pop(SEAL))
        found, version, digest = (seal[key] for key in ("kind", "version", "sha256"))
        is_whole = digest == _digest_of(found, {each: _key_of(tensor) for each, tensor in tensors.items()})
    except INVALID:
        raise ModelError(f"{name} is damaged or was altered: its checksum cannot be read") from None
    if version != VERSION:
        raise ModelError(
            f"{name} has the file version {str(version)[:20]}, and this rosenblatt reads version {VERSION}: "
            "use the release that wrote it, or a newer one"
        )
    if found != kind:
        raise ModelError(f"{name} is a rosenblatt {str(found)[:20]}, not a {kind}")
    if not is_whole:
        raise ModelError(f"{name} is damaged or was altered: its checksum does not match")
    try:
        content, places = _json_from(tensors[CONTENT])
        for (*above, last), stored in places:
            reduce(getitem, above, content)[last] = tensors[stored]
        if not isinstance(content, dict):
            raise TypeError
        return content
    except INVALID:
        raise ModelError(f"{name} is not a valid {kind}: its content cannot be read") from None


def _digest_of(kind: str, keys: Mapping[str, Key]) -> str:
    """The checksum of a file: the SHA-256 of its kind and its tensors."""
    return hashlib.sha256(json.dumps([kind, VERSION, sorted(keys.items())]).encode()).hexdigest()


def _key_of(tensor: NDArray[Any]) -> Key:
    """The type, the shape and the SHA-256 of a tensor."""
    return tensor.dtype.str, tensor.shape, hashlib.sha256(np.ascontiguousarray(tensor).data).hexdigest()


def _json_to(value: Any) -> NDArray[np.uint8]:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return np.frombuffer(text.encode(), np.uint8)


def _json_from(tensor: NDArray[Any]) -> Any:
    """JSON of bounded depth, in which every string is text that can be written again."""
    text = tensor.tobytes().decode()
    found = json.loads(text)
    if "\\u" in text:
        json.dumps(found, ensure_ascii=False).encode()  # half a surrogate pair cannot be encoded
    return found


class Spec(NamedTuple):
    """The type, the shape and the range of an array in a file; a size with a name is the same in all arrays."""

    dtype: str  # "float": of either precision
    shape: tuple[int | str, ...]
    least: float = -sys.float_info.max
    most: float = sys.float_info.max
    below: str = ""  # the name of a size that all values are below

    def check(self, name: str, values: Any, sizes: dict[str, int] | None = None) -> None:
        """Raise unless the values fit; sizes without a value yet are found."""
        sizes, types = {} if sizes is None else sizes, ("<f4", "<f8") if self.dtype == "float" else (self.dtype,)
        check_shapes(isinstance(values, np.ndarray) and values.dtype.str in types)
        check_shapes(values.ndim == len(self.shape))
        for size, found in zip(self.shape, values.shape, strict=True):
            check_shapes(found == (sizes.setdefault(size, found) if isinstance(size, str) else size))
        most = np.float64(sizes[self.below] - 1 if self.below else self.most)  # in float32 it would overflow
        if not ((values >= np.float64(self.least)) & (values <= most)).all():
            raise ModelError(f"its {name} are not finite or out of range")


class Part:
    """A dataclass that a file holds field by field, under the name of its class."""

    kinds: ClassVar[dict[str, type[Part]]] = {}
    specs: ClassVar[dict[str, Spec]] = {}  # of its arrays
    check: Callable[..., Any]  # raises unless a part of a file fits the sizes of the model

    def __init_subclass__(cls) -> None:
        Part.kinds[cls.__name__] = cls

    def __getstate__(self) -> dict[str, Any]:
        """The fields, without arrays that are cached."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    def to_tree(self) -> dict[str, Any]:
        """The fields, as the content of a file has them."""
        named: Any = fields(self)  # type: ignore[arg-type]
        return {"part": type(self).__name__, **{each.name: to_tree(getattr(self, each.name)) for each in named}}

    @classmethod
    def from_tree(cls, values: dict[str, Any]) -> Self:
        """The inverse of `to_tree`, not yet checked."""
        return cls(**values)

    @classmethod
    def read(cls, tree: Any, *sizes: int) -> Self:
        """The part that a file holds, checked."""
        return check_part(from_tree(tree), cls, *sizes)

    def check_arrays(self, **sizes: int) -> dict[str, int]:
        """Raise unless the arrays are as declared; returns the sizes."""
        for name, spec in self.specs.items():
            spec.check(name, getattr(self, name), sizes)
        return sizes


def to_tree(value: Any) -> Any:
    """Parts, tuples of them and rows as dicts, lists and arrays."""
    if isinstance(value, Part):
        return value.to_tree()
    if isinstance(value, tuple):
        return [to_tree(each) for each in value]
    if is_sparse(value):
        arrays = {name: getattr(value, name) for name in ("data", "indices", "indptr")}
        return {"part": "rows", "shape": [int(size) for size in value.shape], **arrays}
    return value


def from_tree(tree: Any) -> Any:
    """The inverse of `to_tree`, not yet checked."""
    if isinstance(tree, list):
        return tuple(map(from_tree, tree))
    if not isinstance(tree, dict):
        return tree
    values = {name: from_tree(each) for name, each in tree.items()}
    kind = values.pop("part", None)
    if kind == "rows":
        import scipy.sparse as sp

        return sp.csr_array((values["data"], values["indices"], values["indptr"]), shape=values["shape"])
    if kind not in Part.kinds:
        raise ModelError(f"it has a part of the unknown kind {str(kind)[:40]!r}")
    return Part.kinds[kind].from_tree(values)


def check_part(part: Any, kind: Any, *sizes: int) -> Any:
    """The part, if it is of this kind and fits these sizes."""
    check_shapes(isinstance(part, kind))
    part.check(*sizes)
    return part


def check_rows(rows: Any, features: int) -> int:
    """How many support rows there are, dense or sparse; None stands for none at all."""
    if rows is None:
        return 0
    check_shapes(rows.ndim == 2 and rows.shape[1] == features and rows.dtype in (np.float32, np.float64))
    if features:  # a stream without features yet has none
        as_table(rows, name="its support")
    return int(rows.shape[0])


def take(tensors: Tensors, **kinds: str) -> list[NDArray[Any]]:
    """The named tensors, each of the type given, all finite."""
    for name, kind in kinds.items():
        Spec(f"<{kind}", ("size",)).check(name, tensors[name])
    return [tensors[name] for name in kinds]


def check_shapes(fits: bool) -> None:
    """Raise unless types and shapes fit one another."""
    if not fits:
        raise ModelError("its tensors have other types or shapes than those of a model")


def check_columns(columns: NDArray[Any], features: int) -> None:
    """Raise unless the columns rise and are there."""
    if len(columns) and (columns[0] < 0 or columns[-1] >= features or (np.diff(columns) <= 0).any()):
        raise ModelError("its columns are out of order")


def places_from(tensors: Tensors, rows: int, features: int) -> NDArray[np.int64]:
    """The row and the column of each value of a matrix of which a file has some, column by column, checked."""
    columns, counts, row = take(tensors, columns="i8", counts="i4", rows="i4")
    check_shapes(len(columns) == len(counts) and len(row) == counts.sum() and counts.min(initial=0) >= 0)
    check_columns(columns, features)
    if len(row) and (row.min() < 0 or row.max() >= rows):
        raise ModelError("it has a weight for a class that is not there")
    return np.stack([row.astype(np.int64), np.repeat(columns, counts)])


def count_of(value: Any) -> int:
    """A count, checked."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**62:
        raise ModelError(f"invalid count in the file: {value!r}")
    return value
