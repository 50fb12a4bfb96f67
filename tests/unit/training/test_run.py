"""One training run: the rows in memory or mapped give the same model file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from written import put

from rosenblatt.io import open_dataset
from rosenblatt.models import save
from rosenblatt.models.predictors import Products
from rosenblatt.params import make_params
from rosenblatt.select.choice import Choice
from rosenblatt.select.scaling import Scaling
from rosenblatt.training.run import TrainingRun

SCALING = Scaling("mean-abs", np.zeros(4), np.array([1.0, 2.0, 1.0, 4.0])).spread(np.arange(4), 700_002)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = np.random.default_rng(0).normal(size=(150, 3)).round(2)
    labels = (rows @ [1.0, -2.0, 0.5] > 0).astype(int) + (rows[:, 0] > 1)
    lines = [f"{label} 1:{a} 3:{b} 700001:{c}" for label, (a, b, c) in zip(labels, rows, strict=True)]
    return put(tmp_path / "x.svm", "\n".join(lines) + "\n")


def bytes_of(run: TrainingRun, path: Path) -> bytes:
    run.run()
    save(run.model(), path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("learner", "params", "choice"),
    [
        ("perceptron", {"shuffle": False}, {}),
        ("averaged", {"class_weight": "balanced"}, {}),
        ("voted", {}, {}),
        ("pocket", {}, {}),
        ("arow", {"shuffle": "rows"}, {}),
        ("pa1", {}, {"scaling": SCALING}),
        ("averaged", {}, {"products": Products(np.array([1, 3]), np.zeros(2), np.ones(2))}),
    ],
    ids=str,
)
def test_mapped_rows_give_the_same_file(
    data: Path, tmp_path: Path, learner: str, params: dict[str, Any], choice: dict[str, Any]
) -> None:
    def begin(memory: int | None = None) -> TrainingRun:
        dataset = open_dataset(data)
        chosen = make_params(learner, max_iter=3, tol=None, random_state=3, **params)
        return TrainingRun.begin(dataset, Choice(chosen, **choice), dataset.load(memory=memory))

    assert bytes_of(begin(memory=0), tmp_path / "m") == bytes_of(begin(), tmp_path / "m")
