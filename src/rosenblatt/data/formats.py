"""Which format a file has, by its first bytes and lines; its ending decides only where they leave it open."""

from __future__ import annotations

import re
from typing import Literal, get_args

from rosenblatt.data.sources import Source
from rosenblatt.errors import DataError, ParameterError

Format = Literal["svmlight", "vw", "fasttext", "tabbed", "csv", "tsv", "jsonl", "json", "parquet", "feather"]
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
    "json": "json",
    "parquet": "parquet",
    "feather": "feather",
    "arrow": "feather",
    "arrows": "feather",
    "ipc": "feather",
    "documents": "tabbed",
}
_SVMLIGHT = re.compile(rb"^([+-]?[\d.][\d.eE+-]*)?\s*(qid:\d+\s*)?((^|\s)\d+:[^\s:]+\s*)*(#.*)?$")
_VW = re.compile(rb"^[^|\n]{0,1000}\|([^\s|:]*(:[\d.eE+-]+)?)?(\s|$)")
_NUMBER = re.compile(rb"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*")
# Names of columns that no label and no text has.
_HEADINGS = (b"label", b"class", b"target", b"category", b"sentiment", b"text", b"message", b"sentence", b"review")


def check_format(name: str) -> Format:
    """`name` as a format that is known."""
    for known in FORMATS:
        if name == known:
            return known
    raise ParameterError(f"format={name!r}: must be one of {', '.join(FORMATS)}")


def guess_format(source: Source, head: bytes) -> Format:
    """The format of a source whose first bytes are `head`, as UTF-8 if it is text.

    Examples
    --------
    >>> guess_format(Source("x"), b"+1 3:1 11:0.5\\n-1 5:1\\n"), guess_format(Source("x"), b"a,b\\n1,2\\n")
    ('svmlight', 'csv')
    """
    head = head.removeprefix(b"\xef\xbb\xbf")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "feather"
    ending = _ENDINGS.get(source.ending)
    if ending in ("parquet", "feather", "svmlight", "vw") or source.ending == "documents":
        return ending or "tabbed"
    if b"\0" in head:
        raise DataError(f"{source.name} is neither text nor a format that is known by its first bytes")
    lines = [line.rstrip(b"\r") for line in re.split(rb"\r?\n|\r", head)]
    if len(lines) > 1:
        lines.pop()  # maybe cut
    lines = [line for line in lines if line.strip()][:100]
    if not lines:
        raise DataError(f"{source.name} is empty")
    return _by_lines(lines, ending) or ending or _by_commas(source, lines)


def _by_lines(lines: list[bytes], ending: Format | None) -> Format | None:
    """What lines alone can tell."""
    first = lines[0].lstrip()
    if first.startswith(b"[") and (ending in ("json", "jsonl") or re.match(rb"\[\s*([\[{]|$)", first)):
        return "json"
    if first.startswith(b"{"):
        return "jsonl" if _is_object_a_line(lines, ending) else "json"
    if any(line.startswith(b"__label__") for line in lines):
        return "fasttext"
    if _is_labelled_text(lines):
        return "tabbed"
    if ending is not None:
        return ending
    if any(b":" in line for line in lines) and all(_SVMLIGHT.match(line.strip()) for line in lines):
        return "svmlight"
    if all(_VW.match(line) for line in lines):
        return "vw"
    tabs = {line.count(b"\t") for line in lines}
    if tabs == {1} and not any(_NUMBER.fullmatch(line.split(b"\t")[1]) for line in lines):
        return "tabbed"
    return "tsv" if 0 not in tabs and len(tabs) == 1 else None


def _is_object_a_line(lines: list[bytes], ending: Format | None) -> bool:
    """Are objects written a line each? One alone may as well be a table by columns."""
    begin = sum(line.lstrip().startswith(b"{") for line in lines)
    if len(lines) == 1:
        return ending != "json" and (ending == "jsonl" or lines[0].rstrip().endswith(b"}"))
    return lines[1].lstrip().startswith(b"{") and 2 * begin >= len(lines)


def _is_labelled_text(lines: list[bytes]) -> bool:
    """Is every line a label, a tab and some words? A header makes it a table with a column of text."""
    if any(line.count(b"\t") != 1 for line in lines):
        return False
    labels, texts = zip(*(line.split(b"\t") for line in lines), strict=True)
    if labels[0].strip().lower() in _HEADINGS or texts[0].strip().lower() in _HEADINGS:
        return False
    words: int = sum(text.count(b" ") for text in texts)
    return words >= len(lines) and bool(sum(label.count(b" ") for label in labels) < len(lines))


def _by_commas(source: Source, lines: list[bytes]) -> Format:
    for mark in (b",", b";", b"|"):
        if sum(mark in line for line in lines) >= 0.9 * len(lines):
            return "csv"
    if len(lines) == 1 and b"," in lines[0]:
        return "csv"
    spaces = "; a table with spaces between cells is --format csv --delimiter ' '" if b" " in lines[0].strip() else ""
    raise DataError(f"{source.name}: its format cannot be told from its lines; name it with --format (format=){spaces}")
