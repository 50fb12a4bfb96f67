"""Certificates of published data: which are separable, and by what margin."""

import numpy as np
import pytest
from published import read_mnist, read_svmlight
from sklearn.datasets import load_iris

from rosenblatt.theory import NotSeparable, Separable, certify


def read_csv(path):
    table = np.loadtxt(path, delimiter=",", dtype=str)
    return table[:, :-1].astype(float), table[:, -1]


@pytest.mark.parametrize(
    ("read", "name", "separable"),
    [
        (read_csv, "uci_sonar/sonar.csv.gz", True),
        (read_svmlight, "libsvm_mushrooms/mushrooms.gz", True),
        (read_svmlight, "libsvm_a9a/a9a.xz", False),
        (read_csv, "uci_banknote/banknote_authentication.csv.gz", False),
    ],
)
def test_the_verdict_is_proved(real_data, read, name, separable):
    X, y = read(real_data / name)
    certificate = certify(X, y, budget=3600)
    assert isinstance(certificate, Separable if separable else NotSeparable)
    assert certificate.check(X, y)
    if isinstance(certificate, Separable):
        assert certificate.gamma.width < 1e-3
    else:
        assert len(certificate.rows) <= X.shape[1] + 2


def test_a9a_is_not_separable_even_without_its_contradicting_twins(real_data):
    X, y = read_svmlight(real_data / "libsvm_a9a/a9a.xz")
    labels: dict[bytes, set[str]] = {}
    keys = [X.indices[X.indptr[i] : X.indptr[i + 1]].tobytes() for i in range(X.shape[0])]
    for key, label in zip(keys, y, strict=True):
        labels.setdefault(key, set()).add(label)
    kept = [i for i, key in enumerate(keys) if len(labels[key]) == 1]
    X, y = X[kept], [y[i] for i in kept]
    certificate = certify(X, y, budget=3600)
    assert isinstance(certificate, NotSeparable)
    assert 2 < len(certificate.rows) <= X.shape[1] + 2
    assert certificate.check(X, y)


def test_iris_is_not_separable_but_setosa_from_the_others_is():
    X, y = load_iris(return_X_y=True)
    certificate = certify(X, y, budget=3600)
    assert isinstance(certificate, NotSeparable)
    assert certificate.check(X, y)
    assert certify(X, y == 0)


@pytest.mark.parametrize(
    "digits", [(0, 1), *(pytest.param(two, marks=pytest.mark.slow) for two in [(3, 5), range(10)])]
)
def test_of_digits_only_0_and_1_are_separable(real_data, digits):
    X, y = read_mnist(real_data)
    chosen = np.isin(y, digits)
    X, y = X[chosen], y[chosen]
    certificate = certify(X, y, budget=3600)
    assert isinstance(certificate, Separable if digits == (0, 1) else NotSeparable)
    assert certificate.check(X, y)
