"""Which format a file has, by its ending and its first lines."""

from __future__ import annotations

import re
from typing import Literal, get_args

from rosenblatt.data.sources import Source
from rosenblatt.errors import DataError, ParameterError

Format = Literal["svmlight", "vw", "fasttext", "tabbed", "csv", "tsv", "jsonl", "parquet", "feather"]
FORMATS: tuple[Format, ...] = get_args(Format)
LINE_FORMATS = ("svmlight", "vw", "fasttext", "tabbed")

_ENDINGS: dict[str, Format] = {
    "svm": "svmlight",
    "svmlight": "svmlight",
    "libsvm": "svmlight",
    "vw": "vw",
    "csv": "csv",
    "tsv": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "feather": "feather",
    "arrow": "feather",
    "ipc": "feather",
    "documents": "tabbed",
}
_SVMLIGHT = re.compile(rb"^([+-]?[\d.][\d.eE+-]*)?\s*(qid:\d+\s*)?((^|\s)\d+:[^\s:]+\s*)*(#.*)?$")
_VW = re.compile(rb"^[^|\n]{0,1000}\|([^\s|:]*(:[\d.eE+-]+)?)?(\s|$)")


def check_format(name: str) -> Format:
    """`name` as a format that is known."""
    for known in FORMATS:
        if name == known:
            return known
    raise ParameterError(f"format={name!r}: must be one of {', '.join(FORMATS)}")


def guess_format(source: Source, head: bytes) -> Format:
    """The format of a source whose first bytes are `head`.

    Examples
    --------
    >>> guess_format(Source("x"), b"+1 3:1 11:0.5\\n-1 5:1\\n"), guess_format(Source("x"), b"a,b\\n1,2\\n")
    ('svmlight', 'csv')
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "feather"
    if source.ending in _ENDINGS:
        return _ENDINGS[source.ending]
    if b"\0" in head:
        raise DataError(f"{source.name} is neither text nor a format that is known by its first bytes")
    lines = [line.rstrip(b"\r") for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    if len(lines) > 1:
        lines.pop()  # maybe cut
    lines = [line for line in lines if line.strip()][:100]
    if not lines:
        raise DataError(f"{source.name} is empty")
    if all(line.lstrip().startswith(b"{") for line in lines):
        return "jsonl"
    if any(line.startswith(b"__label__") for line in lines):
        return "fasttext"
    if any(b":" in line for line in lines) and all(_SVMLIGHT.match(line.strip()) for line in lines):
        return "svmlight"
    if all(_VW.match(line) for line in lines):
        return "vw"
    tabs = {line.count(b"\t") for line in lines}
    if tabs == {1}:
        return "tabbed"
    if 0 not in tabs and len(tabs) == 1:
        return "tsv"
    if all(b"," in line for line in lines[:1]):
        return "csv"
    raise DataError(f"{source.name}: its format cannot be told from its lines; name it with --format (format=)")
