"""The same kind of rows as files of every format that the command reads."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path

from cases.data import uniform

WORDS = [
    "sun",
    "moon",
    "star",
    "sea",
    "rock",
    "tree",
    "bird",
    "fish",
    "wind",
    "rain",
    "snow",
    "fire",
    "road",
    "door",
    "lamp",
    "bell",
]
TIME = 1_700_000_000_000_000_000  # when the files were last changed, as checkpoints remember it


def records(count, classes, seed=50):
    """Rows of numbers, a category with gaps, a short text and a label that depends on all of them."""
    a, b, c, d = (uniform(count, seed + k).tolist() for k in range(4))
    found = []
    for k in range(count):
        words = [WORDS[int((a[(k + j) % count] + 1) * 8)] for j in range(2 + k % 4)]
        score = a[k] + 0.5 * b[k] + (0.8 if k % 3 == 0 else -0.4) + 0.3 * ("sun" in words) + 0.5 * c[k]
        label = ["no", "yes"][score > 0] if classes == 2 else ["low", "middle", "high"][(score > -0.5) + (score > 0.6)]
        found.append(
            {
                "size": round(a[k] * 10, 4),
                "weight": None if k % 17 == 5 else round(b[k], 5),
                "count": int((d[k] + 1) * 6),
                "color": ["red", "green", "blue"][k % 3],
                "words": " ".join(words),
                "label": label,
            }
        )
    return found


def write_rows(folder, form, classes=2, count=200):
    """A file of this format in the folder, with a fixed time of its last change."""
    rows = records(count, classes)
    path = Path(folder) / f"rows.{'txt' if form in ('fasttext', 'tabbed') else form}"
    if form in ("parquet", "feather"):
        _write_arrow(path, rows, form)
    elif form == "documents":
        return _write_documents(Path(folder) / "documents", rows)
    else:
        write_whole(path, _TEXTS[form](rows).encode())
    return path


def write_whole(path, content):
    """Put a file in place, as old as all others; two tests may do so at once."""
    part = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    part.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    os.utime(part, ns=(TIME, TIME))
    os.replace(part, path)


def _svmlight(rows):
    codes = {label: code for code, label in enumerate(sorted({row["label"] for row in rows}))}
    if len(codes) == 2:
        codes = dict(zip(codes, (-1, 1), strict=True))
    lines = []
    for row in rows:
        extra = "".join(f" {20 + j}:1" for j in sorted({WORDS.index(word) for word in row["words"].split()}))
        weight = "" if row["weight"] is None else f" 2:{row['weight']!r}"
        lines.append(f"{codes[row['label']]} 1:{row['size']!r}{weight} 3:{row['count']}{extra}\n")
    return "".join(lines)


def _vw(rows):
    codes = {label: code for code, label in enumerate(sorted({row["label"] for row in rows}), start=1)}
    lines = []
    for k, row in enumerate(rows):
        importance = f" {0.5 + k % 4}" if k % 5 else " 0"
        numbers = f"size:{row['size']!r} count:{row['count']} {row['color']}"
        lines.append(f"{codes[row['label']]}{importance} |n {numbers} |t {row['words']}\n")
    return "".join(lines)


def _delimited(rows, mark):
    lines = [mark.join(rows[0])]
    lines += [mark.join("" if value is None else str(value) for value in row.values()) for row in rows]
    return "\n".join(lines) + "\n"


_TEXTS = {
    "svm": _svmlight,
    "svm.gz": _svmlight,
    "vw": _vw,
    "fasttext": lambda rows: "".join(f"__label__{row['label']} {row['words']} {row['color']}\n" for row in rows),
    "tabbed": lambda rows: "".join(f"{row['label']}\t{row['words']} {row['color']}\n" for row in rows),
    "csv": lambda rows: _delimited(rows, ","),
    "tsv": lambda rows: _delimited(rows, "\t"),
    "jsonl": lambda rows: "".join(json.dumps(row) + "\n" for row in rows),
}
FORMATS = ("svm", "svm.gz", "vw", "fasttext", "tabbed", "csv", "tsv", "jsonl", "parquet", "feather", "documents")


def _write_arrow(path, rows, form):
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    table = pa.Table.from_pylist(rows)
    if form == "parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, str(path))


def _write_documents(folder, rows):
    for k, row in enumerate(rows):
        (folder / row["label"]).mkdir(parents=True, exist_ok=True)
        (folder / row["label"] / f"{k:04}.txt").write_text(f"{row['words']}\n{row['color']}\n")
    return folder
