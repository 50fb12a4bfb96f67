"""Certificates of published data: which are separable, and by what margin."""

from __future__ import annotations

import csv
import gzip
import lzma
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from rosenblatt.theory import NotSeparable, Separable, certify

DATA = Path(os.environ.get("ROSENBLATT_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the published data sets are not in {DATA}")


def read_csv(name):
    with gzip.open(DATA / name, "rt") as lines:
        table = [line for line in csv.reader(lines) if line]
    return np.array([line[:-1] for line in table], dtype=float), [line[-1] for line in table]


def read_svmlight(name):
    data, indices, starts, labels = [], [], [0], []
    with (lzma if name.endswith("xz") else gzip).open(DATA / name, "rt") as lines:
        for line in lines:
            label, *pairs = line.split()
            labels.append(label)
            for pair in pairs:
                index, value = pair.split(":")
                indices.append(int(index) - 1)
                data.append(float(value))
            starts.append(len(indices))
    return sparse.csr_array((data, indices, starts)), labels


def read_digits(*wanted):
    images, labels = (
        np.frombuffer(gzip.decompress((DATA / "mnist" / f"train-{name}-ubyte.gz").read_bytes()), np.uint8)[skip:]
        for name, skip in (("images-idx3", 16), ("labels-idx1", 8))
    )
    chosen = np.isin(labels, wanted)
    return images.reshape(-1, 784)[chosen], labels[chosen]


def test_sonar_is_separable_and_its_margin_is_enclosed():
    X, y = read_csv("uci_sonar/sonar.csv.gz")
    certificate = certify(X, y)
    assert isinstance(certificate, Separable)
    assert certificate.check(X, y)
    assert certificate.gamma.width < 1e-3


def test_mushrooms_are_separable_and_their_margin_is_enclosed():
    X, y = read_svmlight("libsvm_mushrooms/mushrooms.gz")
    certificate = certify(X, y)
    assert isinstance(certificate, Separable)
    assert certificate.check(X, y)
    assert certificate.gamma.width < 1e-3


def test_a9a_is_not_separable():
    X, y = read_svmlight("libsvm_a9a/a9a.xz")
    certificate = certify(X, y)
    assert isinstance(certificate, NotSeparable)
    assert certificate.check(X, y)


def test_a9a_is_not_separable_even_without_its_contradicting_twins():
    X, y = read_svmlight("libsvm_a9a/a9a.xz")
    labels: dict[bytes, set[str]] = {}
    keys = [X.indices[X.indptr[i] : X.indptr[i + 1]].tobytes() for i in range(X.shape[0])]
    for key, label in zip(keys, y, strict=True):
        labels.setdefault(key, set()).add(label)
    kept = [i for i, key in enumerate(keys) if len(labels[key]) == 1]
    X, y = X[kept], [y[i] for i in kept]
    certificate = certify(X, y)
    assert isinstance(certificate, NotSeparable)
    assert 2 < len(certificate.rows) <= X.shape[1] + 2
    assert certificate.check(X, y)


def test_banknotes_are_not_separable():
    X, y = read_csv("uci_banknote/banknote_authentication.csv.gz")
    certificate = certify(X, y)
    assert isinstance(certificate, NotSeparable)
    assert len(certificate.rows) <= X.shape[1] + 2
    assert certificate.check(X, y)


def test_iris_is_not_separable_but_setosa_from_the_others_is():
    X, y = read_csv("uci_iris/iris.csv.gz")
    certificate = certify(X, y)
    assert isinstance(certificate, NotSeparable)
    assert certificate.check(X, y)
    assert certify(X, [name == "Iris-setosa" for name in y])


@pytest.mark.parametrize(("pair", "separable"), [((0, 1), True), pytest.param((3, 5), False, marks=pytest.mark.slow)])
def test_one_digit_against_another(pair, separable):
    X, y = read_digits(*pair)
    certificate = certify(X, y)
    assert isinstance(certificate, Separable if separable else NotSeparable)
    assert certificate.check(X, y)


@pytest.mark.slow
def test_all_ten_digits_are_not_separable():
    X, y = read_digits(*range(10))
    certificate = certify(X, y)
    assert isinstance(certificate, NotSeparable)
    assert certificate.check(X, y)
