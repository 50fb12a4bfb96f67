"""Which format a file has, by its first bytes and lines; its ending decides only where they leave it open."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from typing import Literal, get_args

from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.source import Source

Format = Literal["svmlight", "vw", "fasttext", "tabbed", "csv", "tsv", "jsonl", "json", "parquet", "feather", "npy"]
FORMATS: tuple[Format, ...] = get_args(Format)
NPY = b"\x93NUMPY"  # what such a file begins with
LINE_FORMATS = ("svmlight", "vw", "fasttext", "tabbed")

_SUFFIXES: dict[str, Format] = {
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
    "npy": "npy",
    "documents": "tabbed",
}
_SVMLIGHT = re.compile(rb"^([+-]?[\d.][\d.eE+-]*)?\s*(qid:\d+\s*)?((^|\s)\d+:[^\s:]+\s*)*(#.*)?$")
_VW = re.compile(rb"^[^|\n]{0,1000}\|([^\s|:]*(:[\d.eE+-]+)?)?(\s|$)")
_NUMBER = re.compile(rb"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*")
# Names of columns that no label and no text has.
_HEADINGS = (b"label", b"class", b"target", b"category", b"sentiment", b"text", b"message", b"sentence", b"review")


# What other files begin with, in small letters, and what they are.
_OTHERS = {
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save the sheet as CSV",
    b"sqlite format 3": "an SQLite database: name a table by sqlite:///FILE?table=NAME",
    b"\x89hdf": "an HDF5 file: write the table as CSV or Parquet first",
    b"%pdf": "a PDF document, not data",
    b"<!doctype html": "a web page, not data",
    b"<html": "a web page, not data",
    b"<?xml": "XML: write the table as CSV or JSON first",
    b"@relation": "an ARFF file: what stands behind @data is a CSV without a header",
    b"<<<<<<<": "a file with conflicts of a merge in it",
    b"version https://git-lfs": "a pointer of Git LFS, not the file itself: git lfs pull fetches it",
}


def check_format(name: str) -> Format:
    """`name` as a format that is known."""
    for known in FORMATS:
        if name == known:
            return known
    raise ParameterError(f"format={name!r}: must be one of {', '.join(FORMATS)}")


def detect_format(source: Source, head: bytes) -> Format:
    """The format of a source whose first bytes are `head`, as UTF-8 if it is text.

    Examples
    --------
    >>> detect_format(Source("x"), b"+1 3:1 11:0.5\\n-1 5:1\\n"), detect_format(Source("x"), b"a,b\\n1,2\\n")
    ('svmlight', 'csv')
    """
    head = head.removeprefix(b"\xef\xbb\xbf")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "feather"
    if head.startswith(NPY):
        return "npy"
    ending = _SUFFIXES.get(source.suffix)
    if ending in ("parquet", "feather", "npy", "svmlight", "vw") or source.suffix == "documents":
        return ending or "tabbed"
    for begin, what in _OTHERS.items():
        if head[:100].lstrip().lower().startswith(begin):
            raise DataError(f"{source.name} is {what}")
    if b"\0" in head:
        if head[257:262] == b"ustar":
            raise DataError(f"{source.name} is a tar archive: unpack it first")
        line = head[: head.index(0)].count(b"\n") + 1
        where = f" (there is a zero byte in line {line})" if line > 1 else ""
        raise DataError(f"{source.name} is neither text{where} nor a format that is known by its first bytes")
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
    for delimiter in "\t,;|":
        if _is_even(lines, delimiter):
            return "tsv" if delimiter == "\t" else "csv"
    if not any(b"__label__" in line for line in lines) and _is_even(lines, " ", numbers=True):
        return "csv"
    spaces = "; a table with spaces between cells is --format csv --delimiter ' '" if b" " in lines[0].strip() else ""
    raise DataError(f"{source.name}: its format cannot be told from its lines; name it with --format (format=){spaces}")


def _is_even(lines: list[bytes], mark: str, *, numbers: bool = False) -> bool:
    """Are nearly all records of as many cells, more than one? Quoted cells may hold line ends; some be `numbers`."""
    text = io.StringIO(b"\n".join(lines).decode("utf-8", "replace"))
    try:
        records = list(csv.reader(text, delimiter=mark, skipinitialspace=mark == " "))
    except csv.Error:
        return False
    if mark == " ":
        records = [[cell for cell in record if cell] for record in records]
    # The last record may be cut, and R's header lacks a cell.
    counts = Counter(len(record) for record in records[1:] or records)
    width, many = counts.most_common(1)[0]
    if width < 2 or many < 0.9 * (counts.total() - 1) or many < min(2, counts.total()):
        return False
    below = [record for record in records[1:] if len(record) == width]
    return not numbers or any(
        all(_NUMBER.fullmatch(record[j].encode()) for record in below) for j in range(width) if below
    )
