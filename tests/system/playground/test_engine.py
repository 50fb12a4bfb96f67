"""The page's engine against textbook.py: every preset by every learner, step by step."""

import csv
import io
import math
import random
from fractions import Fraction
from typing import Any

import pytest

from rosenblatt.textbook import Rule, kernel_score, learn, polynomial, rbf, scores_of, steps

EPOCHS = 5
SMALLER = {"moons": {"n": 40}, "circles": {"n": 40}, "noise": {"n": 40}, "drift": {"n": 60}, "blobs": {"margin": 0.1}}
LEARNERS: dict[str, dict[str, Any]] = {
    "perceptron": {},
    "rate": {"eta0": 0.1},
    "tie": {"tie": "positive"},
    "origin": {"intercept": False},
    "margin": {"rule": "margin", "beta": 0.7},
    "PA": {"rule": "PA"},
    "PA-I": {"rule": "PA-I", "C": 0.3},
    "PA-II": {"rule": "PA-II", "C": 0.3},
    "start": {"eta0": 0.5, "start": [0.4, -0.3, 0.2]},
}


def problem_of(data: dict[str, Any]) -> tuple[list[list[float]], list[int], int]:
    classes = len(data["names"])
    X = [[float(p["x"]), float(p["y"])] for p in data["points"]]
    y = [p["c"] if classes > 2 else (1 if p["c"] == 1 else -1) for p in data["points"]]
    return X, y, classes


def trace_of(data: dict[str, Any], learner: dict[str, Any], epochs: int) -> dict[str, Any]:
    """The run of textbook.py, as plain lists."""
    X, y, classes = problem_of(data)
    name = learner.get("rule", "perceptron")
    rule = Rule(
        "perceptron" if name == "margin" else name,
        eta0=learner.get("eta0", 1.0),
        beta=learner.get("beta", 0.0) if name == "margin" else 0.0,
        C=learner.get("C", 1.0),
    )
    options: dict[str, Any] = {
        "rule": rule,
        "classes": classes,
        "fit_intercept": learner.get("intercept", True),
        "tie": learner.get("tie", "mistake"),
        "start": [learner["start"]] if "start" in learner else None,
    }
    run = learn(X, y, orders=[range(len(X))] * epochs, **options)
    taken = steps(X, y, orders=[range(len(X))] * run.epochs, **options)

    def votes(x: list[float]) -> int:
        counts = [0] * classes
        for weights, count in run.lived:
            scores = scores_of(weights, x)
            counts[(1 if scores[0] >= 0 else 0) if classes == 2 else scores.index(max(scores))] += count
        # With two classes a tie of the votes goes to the larger class.
        return (1 if counts[1] >= counts[0] else 0) if classes == 2 else counts.index(max(counts))

    return {
        "steps": [[s.row, s.score, s.margin, s.mistake, s.tau, s.wrong, s.after] for s in taken],
        "average": run.average,
        "pocket": run.pocket,
        "pocketMistakes": run.pocket_mistakes,
        "lived": [count for _, count in run.lived],
        "epochMistakes": run.mistakes_per_epoch,
        "updates": run.updates,
        "converged": run.converged,
        "votes": [votes(x) for x in X],
    }


def test_every_preset_by_every_learner_equals_the_textbook(engine: Any) -> None:
    presets = engine("replay.js", "presets", SMALLER)
    assert sorted(presets) == ["and", "blobs", "circles", "drift", "moons", "noise", "or", "three", "xor"]
    cases = []
    for preset, data in presets.items():
        for name, learner in LEARNERS.items():
            if len(data["names"]) > 2 and ("tie" in learner or "start" in learner):
                continue
            epochs = 40 if len(data["points"]) == 4 else EPOCHS
            trace = trace_of(data, learner, epochs)
            cases.append(
                {"name": f"{preset} {name}", "data": data, "learner": learner, "epochs": epochs, "trace": trace}
            )
    found = engine("replay.js", "replay", cases)
    assert found["wrong"] == []
    assert found["steps"] == sum(len(case["trace"]["steps"]) for case in cases) > 10_000


KERNELS = {
    "poly": ({"kernel": "poly", "degree": 2}, polynomial(2)),
    "cubic": ({"kernel": "poly", "degree": 3, "coef0": 0.5, "gamma": 0.7}, polynomial(3, 0.5, 0.7)),
    "rbf": ({"kernel": "rbf", "gamma": 1.5}, rbf(1.5)),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_make_the_textbook_s_mistakes(engine: Any, kernel: str) -> None:
    learner, function = KERNELS[kernel]
    presets = {name: data for name, data in engine("replay.js", "presets", SMALLER).items() if len(data["names"]) == 2}
    runs = engine("replay.js", "scoresOfAll", list(presets.values()), learner, 3)
    for (name, data), found in zip(presets.items(), runs, strict=True):
        X, y, _ = problem_of(data)
        alpha = [0] * len(X)
        for step, score in enumerate(found["scores"]):
            i = step % len(X)
            expected = kernel_score(alpha, X, y, X[i], function)
            assert score == pytest.approx(expected, rel=1e-12, abs=1e-12), (name, step)
            mistake = y[i] * expected <= 0
            assert found["mistakes"][step] == mistake, (name, step)
            alpha[i] += mistake
        if found["bound"] is not None:
            assert sum(found["mistakes"]) <= found["bound"]


def lifted(x: list[float]) -> list[float]:
    """The features whose products are the kernel (1 + x·z)²."""
    root = math.sqrt(2)
    return [1.0, root * x[0], root * x[1], x[0] ** 2, x[1] ** 2, root * x[0] * x[1]]


@pytest.mark.parametrize("step", [0, 1, 37, 120])
def test_the_picture_s_kernel_answers_are_those_of_the_features(engine: Any, step: int) -> None:
    data = engine("replay.js", "presets", SMALLER)["noise"]
    X, y, _ = problem_of(data)
    features = [lifted(x) for x in X]
    found = engine("replay.js", "answers", data, {"kernel": "poly"}, 20, step)
    if step == 0:
        assert all(value == 0 for value in found["last"][0])
        return
    orders = [range(len(X))] * (step // len(X)) + [range(step % len(X))]
    run = learn(features, y, orders=orders, fit_intercept=False)
    for i, x in enumerate(features):
        assert found["last"][0][i] == pytest.approx(scores_of(run.last, x)[0], rel=1e-9, abs=1e-9)
        assert found["average"][0][i] == pytest.approx(scores_of(run.average, x)[0], rel=1e-9, abs=1e-9)
        votes = sum(count if scores_of(w, x)[0] >= 0 else -count for w, count in run.lived)
        assert found["vote"][0][i] == votes


@pytest.mark.parametrize("lift", ["xor", "circles"])
def test_lifted_rows_of_three_features_equal_the_textbook(engine: Any, lift: str) -> None:
    """The figure in three dimensions is a perceptron on x, y and the height."""
    points = engine("replay.js", "presets", {"circles": {"n": 44, "noise": 0.1, "seed": 2}})[lift]["points"]
    if lift == "xor":
        X = [[2.0 * p["x"] - 1, 2.0 * p["y"] - 1] for p in points]
        X = [[x, y, x * y] for x, y in X]
    else:
        X = [[p["x"], p["y"], p["x"] * p["x"] + p["y"] * p["y"]] for p in points]
    y = [1 if p["c"] else -1 for p in points]
    found = engine("replay.js", "rowsOf", X, y, 500)
    run = learn(X, y, orders=[range(len(X))] * 500)
    assert found["converged"] is run.converged is True
    assert found["weights"] == run.last
    assert found["mistakes"] == sum(run.mistakes_per_epoch)


def gates(bits: int) -> dict[str, Any]:
    """The truth table of a gate, its outputs written as four bits."""
    corners = [(0, 0), (0, 1), (1, 0), (1, 1)]
    return {
        "points": [{"x": x, "y": y, "c": bits >> j & 1} for j, (x, y) in enumerate(corners)],
        "names": ["0", "1"],
        "intercept": True,
    }


def integer_sets() -> list[dict[str, Any]]:
    """Small sets of whole numbers, many of them just separable or just not."""
    draw = random.Random(58)
    sets = []
    for _ in range(300):
        classes = draw.choice([2, 2, 3])
        points = [
            {"x": draw.randint(-3, 3), "y": draw.randint(-3, 3), "c": draw.randrange(classes)}
            for _ in range(draw.randint(2, 9))
        ]
        sets.append({"points": points, "names": ["A", "B", "C"][:classes], "intercept": draw.random() < 0.7})
    return sets


def test_certificates_prove_their_verdicts_exactly(engine: Any) -> None:
    sets = [gates(bits) for bits in range(16)] + integer_sets()
    found = engine("replay.js", "certificates", sets)
    xor = {bits for bits in range(16) if found[bits]["verdict"] == "not separable"}
    assert xor == {0b0110, 0b1001}
    verdicts = {"separable": 0, "not separable": 0}
    for given, answer in zip(sets, found, strict=True):
        assert answer["verdict"] in verdicts, given
        verdicts[answer["verdict"]] += 1
        Z = [[Fraction(v) for v in z] for z in answer["Z"]]
        assert not answer["forged"]
        if answer["verdict"] == "separable":
            w = [Fraction(v) for v in answer["w"]]
            assert all(sum(a * b for a, b in zip(w, z, strict=True)) > 0 for z in Z)
            assert 0 < answer["low"] <= answer["high"] * (1 + 1e-12)
            assert answer["high"] - answer["low"] <= 1e-9 * answer["high"]
            mixed = [
                sum(p * Z[s][d] for p, s in zip(answer["weights"], answer["support"], strict=True))
                for d in range(len(Z[0]))
            ]
            assert math.hypot(*mixed) == pytest.approx(answer["high"])
        else:
            parts = [(index, int(weight)) for index, weight in answer["parts"]]
            assert all(weight > 0 for _, weight in parts)
            assert len(parts) <= len(Z[0]) + 1
            for d in range(len(Z[0])):
                assert sum(weight * Z[index][d] for index, weight in parts) == 0
    assert min(verdicts.values()) > 50


def test_the_trace_as_csv_is_the_textbook_s(engine: Any) -> None:
    data = engine("replay.js", "presets", {})["and"]
    rows = list(csv.DictReader(io.StringIO(engine("replay.js", "traceTable", data, {}, 40))))
    X, y, _ = problem_of(data)
    taken = list(steps(X, y, orders=[range(4)] * 9))
    assert len(rows) == len(taken) == 36
    for row, step in zip(rows, taken, strict=True):
        assert [float(row[k]) for k in ("w1", "w2", "b")] == step.after[0]
        assert (int(row["row"]), float(row["score"]), row["mistake"] == "1") == (step.row + 1, step.score, step.mistake)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_logistic_regression_and_svm_are_scikit_learns(engine: Any, C: float) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    X, y, _ = problem_of(engine("replay.js", "presets", SMALLER)["noise"])
    logistic, svm = engine("replay.js", "rivals", X, y, C)
    expected = LogisticRegression(C=C, tol=1e-10).fit(X, y)
    assert logistic == pytest.approx([*expected.coef_[0], expected.intercept_[0]], abs=1e-4)
    expected = LinearSVC(C=C, loss="hinge", tol=1e-8, max_iter=1_000_000, random_state=0).fit(X, y)
    assert svm == pytest.approx([*expected.coef_[0], expected.intercept_[0]], abs=1e-3)
