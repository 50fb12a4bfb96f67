"""Published data sets: where each comes from, the SHA-256 of every file, and how to read it.

    python benchmarks/fetch.py    says what is in the folder, what is missing and where to get it

The folder is named by ROSENBLATT_DATA, else it is ../shared/data beside the project; every set has a folder of its own
in it. A file may be compressed by gzip or xz or not at all: the checksum is that of its content. Nothing is committed.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import os
import sys
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
from sklearn.datasets import load_svmlight_file

from measure import MissingError

DATA = Path(os.environ.get("ROSENBLATT_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
MNIST = ("train", "t10k")
OPENERS: dict[str, Callable[[Path], Any]] = {"": Path.open, ".gz": gzip.open, ".xz": lzma.open}
#: The rows, the labels, and how many at the end are the published test set (0: there is none).
Rows = tuple[Any, Any, int]


@dataclass(frozen=True)
class Source:
    """A set: the page of its authors or of an archive, and the SHA-256 of the content of each file."""

    page: str
    files: dict[str, str]


SOURCES = {
    "mnist": Source(
        "https://ossci-datasets.s3.amazonaws.com/mnist/ (LeCun, Cortes and Burges; the four .gz files)",
        {
            "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        },
    ),
    "libsvm_a9a": Source(
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html",
        {
            "a9a": "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
            "a9a.t": "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
        },
    ),
    "libsvm_mushrooms": Source(
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html (the checksum is that of CRLF lines)",
        {"mushrooms": "eb26424a54203ca9e8956ff3e5b10e613dfc3587f65d21bdbdbc28020fd995e0"},
    ),
    "20newsgroups_bydate": Source(
        "http://qwone.com/~jason/20Newsgroups/ (20news-bydate; the checksum is that of another packing of the files)",
        {"20news-bydate.tar": "a1b4abbd26d8da7bf4ffa0b261c60a01b2ba02e4de14b2a62b21a9176f90bf58"},
    ),
    "sms_spam": Source(
        "https://archive.ics.uci.edu/dataset/228/sms+spam+collection",
        {"SMSSpamCollection": "edc1f2ca36319ca36c6f80fede2f6ae5f81335289352485f3924df077ec20266"},
    ),
    "uci_spambase": Source(
        "https://archive.ics.uci.edu/dataset/94/spambase",
        {"spambase.data": "73152697481767e4712e97663f5bfac69e5bc65585ba2e82510f14157bca0d40"},
    ),
    "uci_banknote": Source(
        "https://github.com/jbrownlee/Datasets (banknote_authentication.csv)",
        {"banknote_authentication.csv": "d0539aaed2139ba7a587b3e34fb345ce503ff7d5d33dbf9912d8e195ce425cb9"},
    ),
    "uci_sonar": Source(
        "https://github.com/jbrownlee/Datasets (sonar.csv)",
        {"sonar.csv": "3079c09b5d2789a0f96aff82c28e5164fafe2495c5f8da96c6c256c1bd25763f"},
    ),
    "stream_elec": Source(
        "https://github.com/scikit-multiflow/streaming-datasets (elec.csv)",
        {"elec.csv": "cdf901433885f29eca6911f70c0eeafb50d90596c879c30c5b99f5a2e8e734ff"},
    ),
    "covtype": Source(
        "PyPI: covtype.csv in skmultiflow/data/datasets of the wheels of scikit-multiflow 0.4.1",
        {"covtype.csv": "ea35ca6820fcbe0bdc6707e9ed31e11a9de84f07d88da73b511c737383c271a6"},
    ),
}


def read(folder: str, name: str) -> bytes:
    """The content of a file, whatever it is compressed by."""
    for ending, opener in OPENERS.items():
        path = DATA / folder / f"{name}{ending}"
        if path.is_file():
            with opener(path) as file:
                return bytes(file.read())
    raise MissingError(f"no {folder}/{name} in {DATA} (`python benchmarks/fetch.py` says where to get it)")


def read_csv(folder: str, name: str, header: bool = False) -> Rows:
    """Numbers, and the last column as labels."""
    options = pyarrow.csv.ReadOptions(autogenerate_column_names=not header)
    *columns, labels = pyarrow.csv.read_csv(io.BytesIO(read(folder, name)), options).columns
    return np.column_stack([column.to_numpy() for column in columns]).astype(float), labels.to_numpy(), 0


def read_svmlight(content: bytes, features: int | None = None) -> tuple[Any, Any]:
    """CSR with 32-bit indices, since many of the contestants reject others."""
    X, y = load_svmlight_file(io.BytesIO(content.replace(b"\r", b"")), n_features=features)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def read_mnist() -> Rows:
    """The 70,000 digits as bytes."""
    images = [np.frombuffer(read("mnist", f"{part}-images-idx3-ubyte"), np.uint8, offset=16) for part in MNIST]
    labels = [np.frombuffer(read("mnist", f"{part}-labels-idx1-ubyte"), np.uint8, offset=8) for part in MNIST]
    return np.concatenate(images).reshape(-1, 784), np.concatenate(labels), len(labels[1])


def read_a9a() -> Rows:
    from scipy import sparse

    (X, y), (X_test, y_test) = (read_svmlight(read("libsvm_a9a", name), 123) for name in ("a9a", "a9a.t"))
    rows = sparse.vstack([X, X_test], format="csr")
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return rows, np.concatenate([y, y_test]), len(y_test)


def read_news() -> Rows:
    parts: dict[str, list[tuple[str, str]]] = {"train": [], "test": []}
    with tarfile.open(fileobj=io.BytesIO(read("20newsgroups_bydate", "20news-bydate.tar"))) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content:
                part, group = member.name.split("/")[-3:-1]
                parts["train" if part.endswith("train") else "test"].append((content.read().decode("latin-1"), group))
    texts, labels = zip(*parts["train"], *parts["test"], strict=True)
    return list(texts), np.array(labels), len(parts["test"])


def read_sms() -> Rows:
    lines = read("sms_spam", "SMSSpamCollection").decode().splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return list(texts), np.array(labels), 0


SETS: dict[str, Callable[[], Rows]] = {
    "a9a": read_a9a,
    "news": read_news,
    "sms": read_sms,
    "spambase": lambda: read_csv("uci_spambase", "spambase.data"),
    "mnist": read_mnist,
    "mushrooms": lambda: (*read_svmlight(read("libsvm_mushrooms", "mushrooms")), 0),
    "banknote": lambda: read_csv("uci_banknote", "banknote_authentication.csv"),
    "sonar": lambda: read_csv("uci_sonar", "sonar.csv"),
    "elec": lambda: read_csv("stream_elec", "elec.csv", header=True),
    "covtype": lambda: read_csv("covtype", "covtype.csv", header=True),
}


def main() -> int:
    """Print the state of every file."""
    print(f"{DATA}:")
    bad = 0
    for folder, source in SOURCES.items():
        for name, digest in source.files.items():
            try:
                state = "ok" if hashlib.sha256(read(folder, name)).hexdigest() == digest else "another copy"
            except MissingError:
                state = "missing"
            bad += state != "ok"
            print(f"  {folder}/{name}: {state}{'' if state == 'ok' else f'; see {source.page}'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
