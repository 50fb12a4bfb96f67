"""A plain fold of a log, written without the service: what every server must come to."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt import AveragedPerceptron


def stored(log: Path) -> list[tuple[int, dict[str, float], Any, float]]:
    """Every example of a log: its number, features, label and weight."""
    found = []
    with sqlite3.connect(f"file:{log}?mode=ro", uri=True) as connection:
        for seq, count, examples in connection.execute("SELECT seq, count, examples FROM entries ORDER BY seq"):
            entry = json.loads(examples)
            weights = entry.get("weights") or [1.0] * count
            assert len(entry["rows"]) == len(entry["labels"]) == len(weights) == count
            for at in range(count):
                found.append((seq + at, entry["rows"][at], entry["labels"][at], weights[at]))
    connection.close()
    return found


def plain_fold(log: Path, learner: Any = None) -> Any:
    """The learner that has learned these examples one by one."""
    learner = AveragedPerceptron() if learner is None else learner
    for _, row, label, weight in stored(log):
        learner.learn_one(row, label, weight)
    return learner


def same_bits(left: Any, right: Any) -> bool:
    """Are these the same features, classes and weights, to the bit? Either may be a model or a learner."""
    weights = [each.weights()[0] if hasattr(each, "weights") else each.predictors()[0] for each in (left, right)]
    return (
        left.classes_.tolist() == right.classes_.tolist()
        and left.feature_names_in_.tolist() == right.feature_names_in_.tolist()
        and np.ascontiguousarray(weights[0].weights).tobytes() == np.ascontiguousarray(weights[1].weights).tobytes()
        and weights[0].intercept.tobytes() == weights[1].intercept.tobytes()
    )
