"""Defects of the theory that use has found."""

import json
import re
import sys
import time

import numpy as np
import pytest

from rosenblatt.plot.animation import render_html
from rosenblatt.theory import Separable, certify, trace


@pytest.mark.parametrize("shift", [1e4, 1e6, 1e9])
@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_certify_closes_the_gap_of_large_rows(shift, scale):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 10))
    score = X @ rng.normal(size=10)
    X, y = X[abs(score) > 0.1] * np.where(np.arange(10) % 2, scale, 1.0) + shift, score[abs(score) > 0.1] > 0
    certificate = certify(X, y)
    assert isinstance(certificate, Separable)
    assert certificate.gamma.width <= 1e-9
    assert certificate.check(X, y)


@pytest.mark.parametrize("label", ["<!--<script>", "</script>", "<!--"])
def test_a_label_of_html_does_not_end_the_script_of_a_trace(label):
    run = trace([[0.0, 0.0], [1.0, 1.0]], ["a", label])
    page = render_html(run)
    script = re.search(r"<script[^>]*>(.*?)</script>", page, re.DOTALL).group(1)
    assert "<!--" not in script
    assert "<script" not in script
    names = json.loads(re.search(r'"names": (\[.*?\])', page).group(1))
    assert label in names


def test_certify_of_wide_rows_keeps_its_budget_without_flint(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5000)), rng.integers(0, 2, 200)
    started = time.monotonic()
    assert isinstance(certify(X, y, budget=10.0), Separable)
    assert time.monotonic() - started < 30
