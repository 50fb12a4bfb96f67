"""The format of a file, from its first bytes and lines; its extension decides only if they are ambiguous."""

from __future__ import annotations

import csv
import re
from collections import Counter
from typing import TYPE_CHECKING

from rosenblatt.errors import DataError

if TYPE_CHECKING:
    from rosenblatt.io.source import Source

_SUFFIXES_OF = {
    "svmlight": ("svm", "svmlight", "libsvm"),
    "vw": ("vw",),
    "fasttext": (),
    "tabbed": ("documents",),
    "csv": ("csv",),
    "tsv": ("tsv",),
    "jsonl": ("jsonl", "ndjson"),
    "json": ("json",),
    "parquet": ("parquet",),
    "feather": ("feather", "arrow", "arrows", "ipc"),
    "npy": ("npy",),
}
SUFFIXES = {suffix: name for name, suffixes in _SUFFIXES_OF.items() for suffix in suffixes}
FORMATS = tuple(_SUFFIXES_OF)
# The functions that read tables, which load pyarrow.
READERS = {
    "arrow": "rosenblatt.io.arrow:read_frame",
    "parquet": "rosenblatt.io.arrow:read_parquet",
    "feather": "rosenblatt.io.arrow:read_feather",
    "npy": "rosenblatt.io.arrow:read_npy",
    "json": "rosenblatt.io.json:read_json",
    "jsonl": "rosenblatt.io.json:read_json_lines",
    "csv": "rosenblatt.io.csv:read_csv",
    "tsv": "rosenblatt.io.csv:read_csv",
}
_BY_SUFFIX = ("parquet", "feather", "npy", "svmlight", "vw", "tabbed")  # whatever their lines look like

_MAGIC = {b"PAR1": "parquet", b"ARROW1": "feather", b"\x93NUMPY": "npy"}
_SVMLIGHT = re.compile(rb"^([+-]?[\d.][\d.eE+-]*)?\s*(qid:\d+\s*)?((^|\s)\d+:[^\s:]+\s*)*(#.*)?$")
_VW = re.compile(rb"^[^|\n]{0,1000}\|([^\s|:]*(:[\d.eE+-]+)?)?(\s|$)")
_NUMBER = re.compile(r"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*")
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
    b"@relation": "an ARFF file: the lines after @data are a CSV without a header",
    b"<<<<<<<": "a file with merge conflicts",
    b"version https://git-lfs": "a pointer of Git LFS, not the file itself: git lfs pull fetches it",
} | dict.fromkeys(
    (
        b"-- mysql dump",
        b"-- mariadb dump",
        b"--\n-- postgresql",
        b"pragma foreign_keys",
        b"create table",
        b"insert into",
    ),
    "an SQL script: run it in a database, and read sqlite:///FILE?table=NAME or a CSV that the database exports",
)


def detect_format(source: Source, head: bytes) -> str:
    """The format of a source whose first bytes are `head`.

    Examples
    --------
    >>> from rosenblatt.io.source import Source
    >>> detect_format(Source("x"), b"+1 3:1 11:0.5\\n-1 5:1\\n"), detect_format(Source("x"), b"a,b\\n1,2\\n")
    ('svmlight', 'csv')
    """
    ending = SUFFIXES.get(source.suffix)
    for begin, name in _MAGIC.items():
        if head.startswith(begin):
            return name
    if ending in _BY_SUFFIX:
        return str(ending)
    for begin, what in _OTHERS.items():
        if head[:100].lstrip().lower().startswith(begin):
            raise DataError(f"{source.name} is {what}")
    head = next(source.decode([head]), b"")  # without a character that is cut
    if b"\0" in head:
        if head[257:262] == b"ustar":
            raise DataError(f"{source.name} is a tar archive: unpack it first")
        line = head[: head.index(0)].count(b"\n") + 1
        where = f" (there is a zero byte in line {line})" if line > 1 else ""
        raise DataError(f"{source.name} is neither text{where} nor a format that is known by its first bytes")
    lines = re.split(rb"\r?\n|\r", head)
    if len(lines) > 1:
        lines.pop()  # maybe cut
    lines = [line for line in lines if line.strip()][:100]
    if not lines:
        raise DataError(f"{source.name} is empty")
    found = _by_lines(lines, ending) or _by_delimiter(lines)
    if found is None:
        spaces = "; a table with spaces between cells is --format csv --delimiter ' '" if b" " in lines[0] else ""
        raise DataError(
            f"{source.name}: the format is not clear from its lines; set it with --format (format=){spaces}"
        )
    return found


def _by_lines(lines: list[bytes], ending: str | None) -> str | None:
    """The format by the lines alone."""
    first = lines[0].lstrip()
    if first.startswith(b"[") and (ending in ("json", "jsonl") or re.match(rb"\[\s*([\[{]|$)", first)):
        return "json"
    if first.startswith(b"{"):
        return "jsonl" if _is_object_per_line(lines, ending) else "json"
    if any(line.startswith(b"__label__") for line in lines):
        return "fasttext"
    if _is_labeled_text(lines):
        return "tabbed"
    if ending is not None:
        return ending
    if any(b":" in line for line in lines) and all(_SVMLIGHT.match(line.strip()) for line in lines):
        return "svmlight"
    if all(_VW.match(line) for line in lines):
        return "vw"
    tabs = {line.count(b"\t") for line in lines}
    if tabs == {1} and not any(_NUMBER.fullmatch(line.split(b"\t")[1].decode("latin-1")) for line in lines):
        return "tabbed"
    return "tsv" if 0 not in tabs and len(tabs) == 1 else None


def _is_object_per_line(lines: list[bytes], ending: str | None) -> bool:
    """True if there is one object per line; a single one may also be a table by columns."""
    begin = sum(line.lstrip().startswith(b"{") for line in lines)
    if len(lines) == 1:
        return ending != "json" and (ending == "jsonl" or lines[0].rstrip().endswith(b"}"))
    return lines[1].lstrip().startswith(b"{") and 2 * begin >= len(lines)


def _is_labeled_text(lines: list[bytes]) -> bool:
    """True if every line is a label, a tab and words; with a header it is a table with a column of text."""
    if any(line.count(b"\t") != 1 for line in lines):
        return False
    labels, texts = zip(*(line.split(b"\t") for line in lines), strict=True)
    if labels[0].strip().lower() in _HEADINGS or texts[0].strip().lower() in _HEADINGS:
        return False
    spaces = [sum(cell.count(b" ") for cell in cells) for cells in (labels, texts)]
    return bool(spaces[0] < len(lines) <= spaces[1])


def _by_delimiter(lines: list[bytes]) -> str | None:
    """Of a table: its delimiter is in nearly all lines, or cuts nearly all records into as many cells."""
    if any(sum(mark in line for line in lines) >= 0.9 * len(lines) for mark in (b",", b";", b"|")):
        return "csv"
    for delimiter in "\t,;|":
        if _is_even(lines, delimiter):
            return "tsv" if delimiter == "\t" else "csv"
    words = any(b"__label__" in line for line in lines)
    return "csv" if not words and _is_even(lines, " ") else None


def _is_even(lines: list[bytes], delimiter: str) -> bool:
    """True if nearly all records have the same number of cells, more than one; between spaces, one must be a number."""
    text, spaces = [line.decode("utf-8", "replace") + "\n" for line in lines], delimiter == " "
    try:
        records = list(csv.reader(text, delimiter=delimiter, skipinitialspace=spaces))
    except csv.Error:
        return False
    if spaces:
        records = [[cell for cell in record if cell] for record in records]
    # The last record may be cut, and R's header lacks a cell.
    counts = Counter(len(record) for record in records[1:] or records)
    width, many = counts.most_common(1)[0]
    if width < 2 or many < 0.9 * (counts.total() - 1) or many < min(2, counts.total()):
        return False
    columns = zip(*(record for record in records[1:] if len(record) == width), strict=True)
    return not spaces or any(all(map(_NUMBER.fullmatch, column)) for column in columns)
