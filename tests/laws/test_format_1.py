"""Files of format 1 stay readable: models written in 2026 answer as they did then.

After a new version of the format: keep these, and let ``python tests/laws/test_format_1.py`` write others beside them.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rosenblatt as rb

FOLDER = Path(__file__).with_name("format-1")
RECORDED = FOLDER / "labels.json"


def rows() -> tuple[Any, Any]:
    """A table made of whole numbers, so that it is the same everywhere."""
    i, j = np.arange(40)[:, None], np.arange(3)[None, :]
    X = ((i * i * 7919 + i * j * 104729 + j * 1299709) % 1009 % 33 - 16) / 8.0
    return X, np.array(["low", "middle", "high"])[(X[:, 0] > 0.5) + (X[:, 1] > 0).astype(int)]


def examples(name: str) -> list[dict[Any, Any]]:
    """The rows as a stream of dicts: of a table with a column of words, or of numbered columns."""
    X, _ = rows()
    if name != "table":
        return [dict(enumerate(row)) for row in X.tolist()]
    return [{"a": a, "b": b, "c": c, "word": "xy"[k % 2]} for k, (a, b, c) in enumerate(X.tolist())]


MAKE: dict[str, Any] = {
    "average": lambda X, y: rb.AveragedPerceptron(max_iter=3).fit(X, y),
    "kernel-vote": lambda X, y: rb.KernelPerceptron(kernel="poly", degree=2, keep="vote", max_iter=2).fit(X, y),
    "table": lambda _, y: rb.AutoPerceptron(n_jobs=1, max_iter=3).fit(examples("table"), y),
}


@pytest.mark.parametrize("name", MAKE)
def test_a_file_of_format_1_answers_as_it_did_and_learns_on(name: str) -> None:
    model, expected = rb.load(FOLDER / f"{name}.model"), json.loads(RECORDED.read_text())[name]
    assert [model.predict_one(x) for x in examples(name)] == expected
    model.learn_one(examples(name)[0], "new")
    assert "new" in model.classes.tolist()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    recorded = {}
    for each, make in MAKE.items():
        learner = make(*rows())
        rb.save(learner, FOLDER / f"{each}.model")
        recorded[each] = [learner.predict_one(x) for x in examples(each)]
    RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")
