"""Test accuracy and time at defaults: AutoPerceptron beside six linear classifiers of scikit-learn.

    python benchmarks/accuracy.py [SET ...] [--quick] [--json FILE]

Every classifier gets the same rows, prepared in the same way: dense columns standardized on the training part, text
as tf-idf, sparse counts as they are. Sets with a published split use it; the others hold out a quarter, stratified.
Nothing is tuned: every classifier is made by its name, without options. The time is the median of three fits.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import lzma
import os
import statistics
import tarfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, PassiveAggressiveClassifier, Perceptron, SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from measure import save
from rosenblatt import AutoPerceptron

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ROSENBLATT_DATA", ROOT.parent / "shared" / "data"))

Split = tuple[Any, Any, Any, Any]  # X_train, X_test, y_train, y_test

RIVALS: dict[str, Callable[[], Any]] = {
    "Perceptron": Perceptron,
    "SGDClassifier": SGDClassifier,
    "SGDClassifier averaged": lambda: SGDClassifier(average=True),
    "PassiveAggressiveClassifier": PassiveAggressiveClassifier,
    "LogisticRegression": LogisticRegression,
    "LinearSVC": LinearSVC,
}


def a9a() -> Split:
    parts = []
    for name, opener in (("a9a.xz", lzma.open), ("a9a.t.gz", gzip.open)):
        with opener(DATA / "libsvm_a9a" / name) as file:
            parts.append(svmlight(file.read(), n_features=123))
    (X_train, y_train), (X_test, y_test) = parts
    return X_train, X_test, y_train, y_test


def mushrooms() -> Split:
    with gzip.open(DATA / "libsvm_mushrooms" / "mushrooms.gz") as file:
        X, y = svmlight(file.read().replace(b"\r", b""))
    return tuple(train_test_split(X, y, test_size=0.25, stratify=y, random_state=0))


def mnist() -> Split:
    def images(name: str) -> Any:
        with gzip.open(DATA / "mnist" / f"{name}-images-idx3-ubyte.gz") as file:
            return np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float32) / 255

    def labels(name: str) -> Any:
        with gzip.open(DATA / "mnist" / f"{name}-labels-idx1-ubyte.gz") as file:
            return np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)

    return images("train"), images("t10k"), labels("train"), labels("t10k")


def sms() -> Split:
    with gzip.open(DATA / "sms_spam" / "SMSSpamCollection.gz", "rt", encoding="utf-8") as file:
        labels, texts = zip(*(line.rstrip("\n").split("\t", 1) for line in file), strict=True)
    parts = train_test_split(texts, np.array(labels), test_size=0.25, stratify=labels, random_state=0)
    return as_tfidf(*parts)


def news() -> Split:
    found: dict[str, tuple[list[str], list[str]]] = {"train": ([], []), "test": ([], [])}
    with tarfile.open(DATA / "20newsgroups_bydate" / "20news-bydate.tar.xz") as archive:
        for member in archive:
            if member.isfile():
                part, group = member.name.split("/")[-3:-1]
                texts, labels = found["train" if part.endswith("train") else "test"]
                content = archive.extractfile(member)
                assert content is not None
                texts.append(content.read().decode("latin-1"))
                labels.append(group)
    return as_tfidf(found["train"][0], found["test"][0], np.array(found["train"][1]), np.array(found["test"][1]))


def spambase() -> Split:
    with gzip.open(DATA / "uci_spambase" / "spambase.data.gz") as file:
        table = np.loadtxt(file, delimiter=",")
    return standardized(table[:, :-1], table[:, -1])


def banknote() -> Split:
    with gzip.open(DATA / "uci_banknote" / "banknote_authentication.csv.gz", "rt") as file:
        rows = [row for row in csv.reader(file) if row]
    try:
        table = np.array(rows, float)
    except ValueError:
        table = np.array(rows[1:], float)
    return standardized(table[:, :-1], table[:, -1])


def sonar() -> Split:
    with gzip.open(DATA / "uci_sonar" / "sonar.csv.gz", "rt") as file:
        rows = [row for row in csv.reader(file) if row]
    return standardized(np.array([row[:-1] for row in rows], float), np.array([row[-1] for row in rows]))


def elec() -> Split:
    with lzma.open(DATA / "stream_elec" / "elec.csv.xz", "rt") as file:
        rows = [row for row in csv.reader(file) if row][1:]
    return standardized(np.array([row[:-1] for row in rows], float), np.array([row[-1] for row in rows]))


def covtype() -> Split:
    with lzma.open(DATA / "covtype" / "covtype.csv.xz", "rt") as file:
        first = file.readline()
        has_header = not first.split(",")[0].replace(".", "").replace("-", "").isdigit()
        table = np.loadtxt(file if has_header else io.StringIO(first + file.read()), delimiter=",", dtype=np.float32)
    return standardized(table[:, :-1], table[:, -1].astype(np.int64))


#: A classifier that has taken so long is not fitted again for a better median.
MOST_SECONDS = 3.0
SETS: dict[str, Callable[[], Split]] = {
    each.__name__: each for each in (a9a, news, sms, spambase, mnist, mushrooms, banknote, sonar, elec, covtype)
}


QUICK = ("sms", "spambase", "mushrooms", "banknote", "sonar")  # seconds in all


def svmlight(content: bytes, n_features: int | None = None) -> tuple[Any, Any]:
    X, y = load_svmlight_file(io.BytesIO(content), n_features=n_features)
    # Its 64-bit indices are refused by half of the classifiers.
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def as_tfidf(train: Any, test: Any, y_train: Any, y_test: Any) -> Split:
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    X_train = vectorizer.fit_transform(train)
    return X_train, vectorizer.transform(test), np.asarray(y_train), np.asarray(y_test)


def standardized(X: Any, y: Any) -> Split:
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test), y_train, y_test


def measure(make: Callable[[], Any], split: Split, repeats: int) -> tuple[float, float]:
    """Test accuracy in percent, and the median seconds of a fit."""
    X_train, X_test, y_train, y_test = split
    seconds: list[float] = []
    while len(seconds) < repeats and sum(seconds) < MOST_SECONDS:
        classifier = make()
        started = time.perf_counter()
        classifier.fit(X_train, y_train)
        seconds.append(time.perf_counter() - started)
    return 100 * float(np.mean(classifier.predict(X_test) == y_test)), statistics.median(seconds)


def run_set(name: str, repeats: int) -> dict[str, Any]:
    split = SETS[name]()
    figures = {"AutoPerceptron": measure(AutoPerceptron, split, repeats)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn says that a class is deprecated, or stopped at its last epoch
        for rival, make in RIVALS.items():
            figures[rival] = measure(make, split, repeats)
    ours = figures["AutoPerceptron"]
    best = max(figures[rival][0] for rival in RIVALS)
    fastest = min(figures[rival][1] for rival in RIVALS if figures[rival][0] >= best - 1.0)
    return {
        "set": name,
        "rows": int(split[0].shape[0]),
        "features": int(split[0].shape[1]),
        "figures": {each: {"accuracy": a, "seconds": s} for each, (a, s) in figures.items()},
        "accurate": ours[0] >= best - 0.3,
        "above": ours[0] > best,
        "faster": ours[1] < fastest,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", metavar="SET", nargs="*", help=f"of {', '.join(SETS)} (all)")
    parser.add_argument("--repeats", type=int, default=15, help="fits to take the median time of (15)")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}, a single fit each")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to this file")
    args = parser.parse_args()
    if not DATA.is_dir():
        print(f"left out: no data sets in {DATA}; set ROSENBLATT_DATA to their folder")
        return
    results = []
    for name in args.sets or (QUICK if args.quick else SETS):
        if name not in SETS:
            parser.error(f"there is no set {name!r}: choose from {', '.join(SETS)}")
        found = run_set(name, 1 if args.quick else args.repeats)
        results.append(found)
        print(f"\n{name}: {found['rows']:,} rows to learn from, {found['features']:,} features")
        for classifier, figures in found["figures"].items():
            print(f"  {classifier:<28} {figures['accuracy']:6.2f} %  {figures['seconds']:9.4f} s")
        words = ["within 0.3 points of the best" if found["accurate"] else "MORE than 0.3 points below the best"]
        words.append("above it" if found["above"] else "not above it")
        words.append(
            "faster than those within 1 point" if found["faster"] else "SLOWER than the fastest within 1 point"
        )
        print(f"  AutoPerceptron is {', '.join(words)}", flush=True)
    save(args.json, results)


if __name__ == "__main__":
    main()
