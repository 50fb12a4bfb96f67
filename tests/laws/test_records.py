"""What was recorded stays: every parameter of every learner, selection, reading and models answer as they did.

`test_bits.py` has the bits of each rule and keep; here are digests of the facts beside them, numbers rounded to nine
digits where NumPy sums them. A change that is meant to change answers records them anew, and the changelog says so:
``PYTHONPATH=tests/helpers python tests/laws/test_records.py`` writes tests/laws/records.json.
"""

import copy
import hashlib
import json
import re
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, is_dataclass
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from batches import batch_of
from command import write_workbook
from registry import CONFIGURATIONS, HASHED, LEARNERS, NUMBERS, SEVERAL, dicts
from sklearn.exceptions import NotFittedError
from written import put, reloaded

import rosenblatt as rb
from rosenblatt import AROW, AutoPerceptron, AveragedPerceptron, Calibrated, KernelPerceptron, PassiveAggressive
from rosenblatt.data.labels import Classes, encode_labels
from rosenblatt.data.table import as_table
from rosenblatt.encode.lines import LineEncoder
from rosenblatt.errors import RosenblattError
from rosenblatt.io import open_dataset
from rosenblatt.io.atomic import write_folder
from rosenblatt.io.dataset import check_classes
from rosenblatt.io.source import Source
from rosenblatt.models.export import to_c, to_json
from rosenblatt.models.file import to_content
from rosenblatt.models.model import model_of
from rosenblatt.models.predictions import contributions
from rosenblatt.select.calibration import Calibration, fit_sigmoid, isotonic_thresholds
from rosenblatt.select.folds import make_folds, selection_folds
from rosenblatt.select.scaling import find_scaling
from rosenblatt.training.train import continue_training

pytestmark = pytest.mark.filterwarnings("ignore")
RECORDED = Path(__file__).with_name("records.json")
Facts = Iterator[tuple[str, Any]]  # by their names


def plain(fact: Any, digits: int | None = None) -> Any:
    """A fact as text can hold it; floats to the bit, or rounded."""
    if isinstance(fact, np.ndarray):
        return [fact.dtype.kind, fact.shape, plain(fact.tolist(), digits)]
    if sp.issparse(fact):
        return plain([fact.shape, fact.indices, fact.data], digits)
    if is_dataclass(fact) and not isinstance(fact, type):
        return plain(asdict(fact), digits)
    if isinstance(fact, dict):
        return {str(name): plain(each, digits) for name, each in fact.items()}
    if isinstance(fact, list | tuple):
        return [plain(each, digits) for each in fact]
    if isinstance(fact, float | np.floating):
        return float(fact).hex() if digits is None else round(float(fact), digits) + 0.0
    return fact if isinstance(fact, int | bool | type(None)) else str(fact)


def rounded(fact: Any) -> Any:
    return plain(fact, 9)


def told(call: Callable[[], Any]) -> Any:
    """What a call gives; of an error its code, and the numbers, names and values that it says, but for paths."""
    try:
        return call()
    except (RosenblattError, AttributeError, NotFittedError) as error:
        said = re.findall(r"\w+=\S+|'[^']*'|\d[\d,.]*", re.sub(r"\S*/\S*", "", str(error)))
        return " ".join([getattr(error, "code", type(error).__name__), *said])


def table(count: int, columns: int = 4, seed: int = 0) -> Any:
    """Rows of eighths between -2 and 2, by the generator of Python, which gives the same in every version."""
    random = Random(seed)
    return np.array([[int(random.random() * 33) / 8 - 2 for _ in range(columns)] for _ in range(count)])


def noise(count: int, seed: int = 1) -> Any:
    return table(count, 1, seed)[:, 0]


def three(X: Any, seed: int = 1) -> Any:
    """Three classes, of which a plane and noise decide."""
    return np.array(["high", "low", "middle"])[np.digitize(X[:, 0] - X[:, 1] + noise(len(X), seed), [-0.8, 0.8])]


def weights(count: int) -> Any:
    return np.resize([1.0, 0.0, 2.0, 0.5, 1.0], count)


# -- learners


def of_learner(learner: Any, X: Any) -> list[Any]:
    """What a fitted learner answers and what it counted."""
    scores = learner.decision_function(X) if hasattr(learner, "decision_function") else None
    probabilities = rounded(learner.predict_proba(X)) if hasattr(learner, "predict_proba") else None
    history = learner.history_
    counted = [history.mistakes, history.updates, rounded(history.validation_score), learner.stop_reason_]
    return [scores, learner.predict(X), probabilities, counted]


def learned(make: Callable[[], Any], name: str) -> Facts:
    """A learner after a fit with weights, after rows of other classes and precision, and after single examples."""
    several, classes = name in SEVERAL, 2 if "tie" in name else 3
    X = table(66, seed=classes)
    y = three(X) if classes == 3 else np.where(three(X) == "low", "low", "other")
    if name in NUMBERS:
        y = 10 * (X @ [1.0, -2.0, 0.5, 0.0] + noise(66))
    elif several:
        y = (np.column_stack([X[:, 0] + noise(66), X[:, 1], noise(66, 4)]) > 0).astype(int)
    learner = make()
    yield "fit", told(lambda: of_learner(learner.fit(X[:40], y[:40], sample_weight=weights(40)), X))
    if not hasattr(learner, "partial_fit"):
        return
    part, own = X[40:].astype(np.float32), y[40:]
    if y.dtype.kind == "U" and classes == 3:
        own = np.where(np.arange(26) % 5 == 0, "new", own)
    yield "partial_fit", told(lambda: of_learner(learner.partial_fit(part, own, sample_weight=weights(26)), X))
    if several or not hasattr(learner, "learn_one"):
        return
    answers = []
    examples: list[dict[Any, float]] = [*dicts(X[:8])]
    for at, (x, label) in enumerate(zip(examples, y[:8].tolist(), strict=True)):
        x |= {f"new {at % 3}": 1.0} if at > 4 and not isinstance(learner, AutoPerceptron) else {}
        told(partial(learner.learn_one, x, label, 1.0 + at % 2))
        answers += [learner.predict_one(x), learner.scores_one(x) if hasattr(learner, "scores_one") else None]
    yield "learn_one", [answers, learner.history_.mistakes, learner.n_features_in_]
    content = to_content(model_of(learner, state=True))
    yield "file", rounded({name: content[name] for name in sorted({*content} - {"library", "lineage"})})


def parameter(learner: Any, params: dict[str, Any]) -> Facts:
    """A learner with one parameter at another value, which has an effect or raises."""
    X = table(60, seed=5)
    margin = X @ [1.0, -2.0, 0.5, 0.0] + 0.25 + noise(60)
    y = margin * 100 if learner.regression else np.where(margin > 0, "yes", "no")
    fitted, stream = learner.make(**params), learner.make(**params)
    yield "fit", told(lambda: of_learner(fitted.fit(X, y), X))
    some = sp.csr_array(np.where(X > 0.5, X, 0.0))
    yield "sparse", told(lambda: of_learner(learner.make(**params).fit(some, y), some))
    if learner.streams:
        yield "stream", told(lambda: of_learner(stream.partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:]), X))


# -- selection

DENSE, RING, LARGE = table(110), table(150, 2, seed=3), table(620, 3, seed=4)
SPARSE = sp.csr_array(np.where(table(160, 50, seed=6) > 1.5, table(160, 50, seed=7), 0.0))
UNEVEN = DENSE * [1.0, 100.0, 1.0, 1.0]
ROWS: dict[str, tuple[Any, Any]] = {
    "plane": (DENSE, np.where(DENSE @ [1.0, -1.0, 0.5, 0.0] + noise(110) > 0, "yes", "no")),
    "three classes": (DENSE, three(DENSE)),
    "sparse": (SPARSE, np.where(SPARSE[:, [0]].toarray()[:, 0] + noise(160) > 0, "yes", "no")),
    "many rows": (LARGE, np.where(LARGE[:, 0] * LARGE[:, 1] + LARGE[:, 2] + noise(620) > 0, "b", "a")),
    "ring": (RING, ((RING**2).sum(axis=1) + noise(150) / 4 > 2.5).astype(int)),
    "far columns": (DENSE * [1, 1000, 1, 1e-3] + [0, 0, 90, 0], three(DENSE)),
    "flags": (np.column_stack([DENSE[:, :2] > 0, UNEVEN[:, 1]]), DENSE[:, 0] + DENSE[:, 1] + noise(110) > 0),
    "short rows": (DENSE * 1e-3, three(DENSE, seed=2)),
    "uneven": (sp.csr_array(SPARSE * np.r_[np.ones(49), 400.0]), noise(160, 9) + SPARSE[:, [49]].sum(axis=1) > 0),
    "a rare class": (LARGE[:400], np.where(np.arange(400) == 17, "rare", three(LARGE[:400]))),
    "a column that tells": (np.column_stack([DENSE, DENSE[:, 0] > 0]), DENSE[:, 0] > 0),
    "few rows": (DENSE[:4], np.array([0, 1, 1, 0])),
    "six rows": (DENSE[:6], np.array([0, 1, 1, 0, 1, 0])),
}  # fmt: skip
FEW: dict[str, Any] = {"max_iter": 3}
SPLIT = ("plane", "three classes", "sparse", "many rows")  # also by groups, time and weights
SCORES = ("balanced_accuracy", "roc_auc_ovr", "neg_log_loss", "f1_macro")
OPTIONS: list[dict[str, Any]] = [*({"scoring": scoring} for scoring in SCORES), {"class_weight": "balanced"}]
OPTIONS += [{"products": False}, {"calibrate": "isotonic"}, {"max_iter": 2}, {"random_state": 3}]


def selected(X: Any, y: Any, given: Any, **options: Any) -> Facts:
    """The choice, the numbers behind it, and the answers."""
    auto = AutoPerceptron(n_jobs=1, **options)
    if isinstance(code := told(lambda: auto.fit(X, y, **given)), str):
        yield "choice", code
        return
    parts = [None if part is None else vars(part) for part in (auto.scaling_, auto.products_)]
    yield "choice", rounded([auto.best_.get_params(), auto.scores_, parts, auto.n_iter_])
    yield "numbers of the reason", re.findall(r"\d[\d.,]*", auto.choice_)
    yield "answers", rounded([auto.decision_function(X), auto.predict_proba(X), auto.history_.mistakes])
    own = given.get("sample_weight", np.ones(len(y)))[:30]
    more = told(lambda: auto.partial_fit(X[:30], y[:30], sample_weight=own))
    yield "more", more if isinstance(more, str) else rounded([auto.decision_function(X), auto.predict_proba(X)])


def splits(count: int) -> dict[str, dict[str, Any]]:
    groups, time = np.arange(count) * 7 % 23 // 2, np.arange(count) * 37 % count
    return {"": {}, "groups": {"groups": groups}, "time": {"time": time}, "weights": {"sample_weight": weights(count)}}


def tuned(X: Any, y: Any, **options: Any) -> Facts:
    found = told(lambda: rb.tune(X, y, folds=3, n_jobs=1, **options))
    if not isinstance(found, str):
        tried = [(type(each).__name__, each.get_params(), scores) for each, scores in found.tried]
        found = rounded([tried, found.scaling is None])
    yield "tried", found


def compared() -> Facts:
    classifiers = {"AROW": AROW(**FEW), "sigmoid": Calibrated(AROW(**FEW), n_jobs=1)}
    X, y = ROWS["three classes"]
    for name, how in splits(110).items():
        for scoring in (None, *SCORES[:3]):
            found = rb.compare(X, y, classifiers=classifiers, folds=3, scoring=scoring, **how)
            figures = [[each.name, each.accuracy, each.standard_error, each.score] for each in found.measured]
            yield f"{name} {scoring}", rounded([figures, found.rows, found.features, found.classes, found.folds])


def validated() -> Facts:
    X, y = ROWS["three classes"]
    learners = [AROW(**FEW, class_weight={"low": 3.0}), Calibrated(AROW(**FEW), n_jobs=1)]
    learners += [KernelPerceptron(**FEW), AutoPerceptron(n_jobs=1)]
    for learner in learners:
        for name, how in splits(110).items():
            call = partial(rb.cross_validate, X, y, learner, folds=3, n_jobs=1, **how)
            found = [told(partial(call, scoring=scoring)) for scoring in (None, *SCORES[:3])]
            yield f"{type(learner).__name__} {name}", rounded(found)
    numbers, regression = X @ [1.0, -2.0, 0.5, 0.0], rb.PassiveAggressiveRegression(**FEW)
    yield "numbers", rounded(rb.cross_validate(X, numbers, regression, sample_weight=weights(110), n_jobs=1))


def swept() -> Facts:
    learners = [
        AROW(max_iter=4),
        PassiveAggressive(max_iter=4, n_init=2, multiclass="ovr"),
        AveragedPerceptron(max_iter=4),
    ]
    for name in SPLIT[:3]:
        X, y = ROWS[name]
        for scoring in (None, *SCORES[:2]):
            for given in (None, weights(len(y))):
                sweep = told(partial(rb.Sweep(learners, scoring=scoring, n_jobs=1).fit, X, y, sample_weight=given))
                if not isinstance(sweep, str):
                    sweep = rounded([sweep.scores_, sweep.best_index_, [each.n_iter_ for each in sweep.learners_]])
                yield f"{name} {scoring} {given is None}", sweep


def folded() -> Facts:
    for count in (3, 4, 5, 6, 7, 124, 125, 126, 166, 167, 250, 251, 499, 500, 501, 520):
        labels = encode_labels(np.r_[[0, 1, 1], noise(count, 5)[3:] > 1.5])
        ways = [how for name, how in splits(count).items() if name != "weights"]
        ways.append({"groups": np.arange(count) % 2})
        yield f"selection {count}", [told(partial(selection_folds, labels, 3, **how)) for how in ways]
        yield f"{count}", [told(partial(make_folds, labels, weights(count), folds, 1)) for folds in (2, 3, 5)]


def scaled() -> Facts:
    """Columns and rows around each limit of the decision."""
    X = table(40, 3, seed=8)
    for factor in (1e-4, 0.01, 0.03, 0.05, 0.3, 1.0, 1.9, 2.1, 9.5, 10.5, 40.0, 1e3, 1e6):
        found = []
        for shift in (0.0, 0.6, 2.0, 2.9, 3.1, 4.0, 50.0):
            dense = X * [factor, 1.0, 1.0] + [0.0, shift, 0.0]
            lopsided = X * factor + np.where(X[:, [0]] > 0, shift, 0.0)
            for rows in (dense, lopsided, sp.csr_array(np.where(X > 0.5, dense, 0.0))):
                found.append(find_scaling(as_table(rows)))
        yield f"{factor}", rounded(found)


PROBE = np.linspace(-3, 3, 7)[:, None] * [1.0, -1.0, 0.5]


def calibrated() -> Facts:
    for count in (1, 2, 30, 399, 400, 401, 2500):
        scores, codes = noise(count, 6), np.arange(count, dtype=np.int32) % 3
        positive = scores + noise(count, 7) > 0
        for given in (None, weights(count)):
            curves = [fit_sigmoid(scores, positive, given), isotonic_thresholds(scores, positive, given)]
            yield f"{count} {given is None}", rounded([*curves, fit_sigmoid(-scores, positive, given)])
            for method in ("auto", "sigmoid", "isotonic"):
                one = Calibration.of(method, scores[:, None], positive.astype(np.int32), given)
                joint = Calibration.of(method, np.column_stack([scores, -scores, noise(count, 8)]), codes, given)
                wider = one.over(np.array([0, 2]), np.array([0, 1, 2]), 0.5)
                more = joint.extend(np.ones((3, 3)), np.zeros(3, np.int32), np.full(3, 2.0))
                said = [one.probabilities(PROBE[:, :1]), *(each.probabilities(PROBE) for each in (joint, wider, more))]
                yield f"{method} {count} {given is None}", rounded(said)


# -- models

X, Y = ROWS["three classes"]
FRAME = pa.table({"a": X[:, 0], "b": [None, *X[1:, 1]], "c": [["x", "y", None][k % 3] for k in range(110)]})
TEXTS = [f"word{int(4 * a)} other{int(b)} {'up' if c > 0 else 'down'}" for a, b, c, _ in X.tolist()]
NAMES = [dict(zip("abcd", row, strict=True)) for row in X.tolist()]
DATES = np.array(["2024-01-01", "2024-02-03"], "M8[D]")[np.arange(110) % 2]
MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "two classes": lambda: (AveragedPerceptron(**FEW).fit(*ROWS["plane"]), X),
    "three classes": lambda: (AROW(**FEW).fit(X, Y), X),
    "names": lambda: (rb.Perceptron().learn_many(NAMES, Y), NAMES),
    "hashed": lambda: (rb.Perceptron(hash_bits=3).learn_many(NAMES, Y), NAMES),
    "one class": lambda: (rb.Perceptron().partial_fit(X, np.zeros(110, int)), X),
    "vote": lambda: (rb.VotedPerceptron(multiclass="ovr", **FEW).fit(X, Y), X),
    "kernel": lambda: (KernelPerceptron(**FEW).fit(X, Y), X),
    "budget": lambda: (KernelPerceptron(budget=9, **FEW).fit(X, Y), X),
    "sigmoid": lambda: (Calibrated(AROW(**FEW), n_jobs=1).fit(X, Y), X),
    "isotonic": lambda: (Calibrated(AROW(**FEW), calibrate="isotonic", n_jobs=1).fit(X, Y), X),
    "products": lambda: (AutoPerceptron(n_jobs=1).fit(*ROWS["ring"]), RING),
    "several": lambda: (AROW(multiclass="ovr", **FEW).fit(X, (X[:, :2] > 0).astype(int)), X),
    "numbers": lambda: (rb.PassiveAggressiveRegression(**FEW).fit(X, X[:, 0] * 3 + 1), X),
    "frame": lambda: (AutoPerceptron(n_jobs=1).fit(FRAME, Y), FRAME.to_pylist()),
    "texts": lambda: (AutoPerceptron(n_jobs=1, **FEW).fit(TEXTS, Y), TEXTS),
    "dates": lambda: (rb.Perceptron(**FEW).fit(X, DATES), X),
}


def of_model(make: Callable[[], tuple[Any, Any]]) -> Facts:
    learner, rows = make()
    model, some = model_of(learner), rows[:20]
    one = rows[3] if isinstance(rows, list) else dicts(rows[3:4])[0]
    answers = [told(partial(call, some)) for call in (model.decision_function, model.predict, model.predict_proba)]
    yield "answers", rounded([*answers, model.predict_one(one), told(lambda: model.predict_proba_one(one))])
    found = model._predict(some)
    ranks = [] if model.is_regression else [found.top(2), told(lambda: found.top(2, by_probability=True))]
    yield "predictions", rounded([found.values(), found.one, found.class_scores, ranks])
    yield "explained", rounded(told(lambda: [model.explain(one, 3), model.top_features(3)]))
    columns = told(lambda: model.weights()[0].columns())
    tags = model.__sklearn_tags__()
    kinds = tags.estimator_type, tags.target_tags.required, told(lambda: model.classes_), repr(model)
    yield "facts", [columns, model.support_rows, model.n_features_in_, model.names, kinds]
    exported = told(lambda: json.loads(to_json(model)))
    yield "JSON", rounded(exported if isinstance(exported, str) else exported | {"rule": None})
    code = told(lambda: re.findall(r"^(?:MODEL_STATIC const|#define MODEL_\w+ \d).*", to_c(model), re.MULTILINE))
    yield "C", code


# -- reading

WORDS = ["red", "blue", "green", "a b", "x"]
SHAPES = (  # of rows: numbers, words, labels
    "{k};{h}.5;{y}", "{k};{w};{y}", "{w};{w} and {w};{l}", "0;{h};1", "{k},5;{h};{y}", "-;{h};{y}", "{k};;{y}",
    "{y};{w} {k}",
)  # fmt: skip
HEADS = (
    "", "a;b;y", "a;;y", "a;a;y", "1;2;3", "0;1;2", ";0;1", "1990;1991;y", "unknown;b;y", "p;1;q", "x;y", "#a;b;y",
    "label;b;c", "a;b;y\ncm;kg;-", "a;b;y\nx;1;q", "a;b;y\n;;", "title", "title;;", "title\n\na;b;y",
    "# note\na;b;y", "# n;o;t\n# e;;", "sep=;\na;b;y", "a;b;y;", "a;b", ' a; b ;"y"',
)  # fmt: skip
LINES = (
    "1 1:1 3:2\n-1 2:1\n", "1:1 2:2\n3:1\n", "1 |a x:2 y\n-1 |b z\n", "|f a\n|f b\n", "a,b\nc d\n" * 9,
    "__label__a x y\n__label__b z\n", "x __label__a\ny __label__b\n", "a\tb c\nd\te f\n", "a b\tc\nd\te\n",
    "label\ttext a b\nx\ty z\n", "a\t1\nb\t2\n", "a\tb\tc\nd\te\tf\n", "a b c\n1 2 3\n4 5 6\n",
    "a  b c\n1 2  3\n4 5 6\n", "one two\nthree four\n", "1 2\n3 4\n5\n6 7\n" * 9, "1,2\n" * 9 + "x\n",
    '{"a": 1, "y": 0}\n{"a": 2, "y": 1}\n', '{"a": 1,\n "y": 0}\n{"a": 2,\n "y": 1}', "[[1, 0], [2, 1]]",
    '[{"a": 1, "y": 0}, {"a": 2, "y": 1}]', '{"a": [1, 2], "y": [0, 1]}', "[1, 2]", '[{"a": 1}', "{}", "[\n1]", "[ {}]",
    '{"a": {"0": 1, "1": 2}, "y": {"0": 3, "1": 4}}', '{"0": {"a": 1, "y": 2}, "1": {"a": 3, "y": 4}}',
    '{"columns": ["a", "y"], "data": [[1, 0], [2, 1]]}', '{"n": 2, "rows": [{"a": 1, "y": 0}, {"a": 2, "y": 1}]}',
    '{"a": {"b": {"c": 1}, "d": "x"}, "y": 1}\n' * 3, '{"a": true, "y": "x"}\n{"a": null, "y": "z"}\n',
    '{"a": ["u", "v"], "y": "x"}\n{"a": "u", "y": "z"}\n{"a": null, "y": "z"}\n', '{"a": 1, "y": 0}\nnull\n\n{"a": 2',
)  # fmt: skip


def rows_of(cell: str, mark: str = ",", count: int = 9) -> str:
    """Rows of this shape."""
    cells = [{"k": k, "h": k * 3 % 5, "w": WORDS[k % 5], "y": "pq"[k % 2], "l": "yn"[k % 3 > 0]} for k in range(count)]
    return "".join(cell.format_map(each).replace(";", mark) + "\n" for each in cells)


def read(text: str, name: str = "x", **options: Any) -> list[Any]:
    """What reading a file with this text finds."""
    with TemporaryDirectory() as folder:
        dataset = told(partial(open_dataset, put(Path(folder, name), text), skip_bad=True, **options))
        if isinstance(dataset, str):
            return [dataset]
        found = told(lambda: [[each.starts, each.indices, rounded(each.values), each.y] for each in dataset])
    columns = [(each.name, each.kind) for each in getattr(dataset.encoder, "columns", ())]
    label, dialects, report = getattr(dataset.encoder, "label", None), [*dataset.dialects.values()], dataset.report
    return [dataset.format, dialects, columns, label, found, report.lines, report.bad, report.invalid]


def tables(head: str) -> Facts:
    """Rows of every shape below this head, between every delimiter, and as another file of known columns."""
    with TemporaryDirectory() as folder:
        encoder = open_dataset(put(Path(folder, "x.csv"), "a,b,y\n" + rows_of(SHAPES[0]))).fit().encoder
    known: dict[str, Any] = {"encoder": encoder, "require_label": False}
    for mark in (",", ";", "\t", "|", " "):
        above = (f"{head}\n" if head else "").replace(";", mark)
        yield mark, [read(above + rows_of(shape, mark)) for shape in SHAPES]
        text = above + rows_of(SHAPES[0], mark, 4)
        found = [read(text, header=header, **how) for header in (None, True, False) for how in ({}, known)]
        yield f"known, {mark}", found


class Live(Source):
    """A pipe that sends a line at a time."""

    live = True

    def iter_bytes(self, size: int = 0) -> Iterator[bytes]:
        yield from Path(self.name).read_bytes().splitlines(keepends=True)


def live(head: str) -> Facts:
    """How many rows are answered at once: a header, or a row, must have shown how the text is written."""
    with TemporaryDirectory() as folder:
        for kept in ("a,b,y\n", "a,b,y\ncm,kg,-\n"):
            path = put(Path(folder, "x.csv"), kept + rows_of(SHAPES[0]))
            encoder = open_dataset(path).fit().encoder
            put(path, (f"{head}\n" if head else "").replace(";", ",") + rows_of(SHAPES[0], ",", 27))
            for header in (None, False):
                dataset = told(partial(open_dataset, path, encoder=encoder, require_label=False, header=header))
                if not isinstance(dataset, str):
                    dataset.sources, dataset.skip_bad = [Live(str(path))], True
                    dataset = told(lambda dataset=dataset: [len(batch) for batch in dataset])
                yield f"{kept} {header}", dataset


def frames() -> Facts:
    """The same rows of many kinds, more than a chunk of them, in every format, and some columns of them."""
    rows = [
        [k % 7, k % 5 / 4, ["red", "blue", None][k % 3], k % 2 == 0, {"u": k % 3}, "pq"[k % 2]] for k in range(70_001)
    ]
    frame = pa.table(dict(zip("abcdsy", map(list, zip(*rows, strict=True)), strict=True)))
    frame = frame.set_column(2, "c", frame["c"].dictionary_encode())
    flat = frame.drop(["s"]).to_pandas()
    with TemporaryDirectory() as folder:
        path = Path(folder)
        pq.write_table(frame, path / "x.parquet")
        feather.write_feather(frame, path / "x.feather")
        for name, opened in (("x.arrow", pa.ipc.new_file), ("x.arrows", pa.ipc.new_stream)):
            with opened(str(path / name), frame.schema) as writer:
                writer.write_table(frame)
        np.save(path / "x.npy", np.array([[a, b, d] for a, b, _, d, _, _ in rows]))
        flat[:500].to_csv(path / "x.csv")
        flat[:500].to_json(path / "x.jsonl", orient="records", lines=True)
        for source in (*sorted(path.iterdir()), frame, frame.to_batches()[0], flat):
            dataset = open_dataset(source)
            facts = [[len(batch), batch.X.shape, round(float(batch.values.sum()), 6)] for batch in dataset]
            columns = [(each.name, each.kind) for each in dataset.encoder.columns]
            some = open_dataset(source, drop=[columns[0][0], "c"] if columns[0][0] == "a" else [columns[0][0]])
            facts += [[len(batch), batch.X.shape, round(float(batch.values.sum()), 6)] for batch in some.fit()]
            kept = open_dataset(source, encoder=some.encoder)  # of which only the columns of the model are read
            facts += [[len(batch), batch.X.shape, round(float(batch.values.sum()), 6)] for batch in kept]
            yield getattr(source, "name", type(source).__name__), [columns, facts]


def lines() -> Facts:
    for text in LINES:
        yield text, [read(text, name) for name in ("x", "x.json", "x.jsonl", "x.csv", "x.tsv", "x.svm")]


# -- calls of few users


def changed(learner: Any, change: Callable[[Any], object]) -> Any:
    """A loaded model whose state was altered, as a learner."""
    return reloaded(learner, lambda content: change(content["state"])).learner_


def continued(learner: Any, text: str = "1 1:1\n0 2:1\n", **how: Any) -> Any:
    """What a model says after it has learned from a file."""
    with TemporaryDirectory() as folder:
        path = put(Path(folder, "x.svm"), text * 3)
        model = rb.train(path, learner, **how) if isinstance(learner, str) else learner
        model = model_of(model) if not how else model
        found = continue_training(reloaded(model), open_dataset(path, encoder=model.encoder)).model
        return rounded([found.weights()[0].weights, found.history["mistakes"]])


def stored(**tables_: list[tuple[Any, ...]]) -> Callable[[str], Any]:
    """What a table of a database with these tables reads as, by the end of its address."""

    def find(address: str, **options: Any) -> Any:
        with TemporaryDirectory() as folder:
            with closing(sqlite3.connect(Path(folder, "x.db"))) as database, database:
                for name, rows in tables_.items():
                    database.execute(f"create table {name} (a, b, y)")
                    database.executemany(f"insert into {name} values (?, ?, ?)", rows)
            batch = rb.read(f"sqlite:///{folder}/{address}", **options)
        return [rounded(batch.X), batch.y]

    return find


CELLS = [(k, k / 2, "pq"[k % 2]) for k in range(8)]
ONE, TWO = stored(one=CELLS), stored(one=CELLS, two=[(k, "x" if k else 2**70 * 1.0, y) for k, _, y in CELLS])
FITTED, KERNEL = partial(AveragedPerceptron(**FEW).fit, X, Y), partial(KernelPerceptron().partial_fit, X, Y)
BUDGET = partial(KernelPerceptron(budget=5).partial_fit, X, Y)
SIGMOID = partial(Calibrated(AROW(**FEW)).fit, X, Y)
MIXED = [{"a": k, "b": [k, "x"][k % 2]} for k in range(40)]
RANDOM, HASHES = rb.Perceptron(init="random"), rb.Perceptron(hash_bits=10).learn_many(NAMES, Y)
WARM = KernelPerceptron(budget=9, warm_start=True, **FEW)
REFUSED: dict[str, Callable[[], Any]] = {
    "a database": lambda: ONE("x.db"),
    "a table": lambda: TWO("x.db?table=two"),
    "a query": lambda: TWO("x.db", query="select a, y from one where a > 1"),
    "a query of an address": lambda: TWO("x.db?query=select%20b,y%20from%20one"),
    "two tables": lambda: TWO("x.db"),
    "no such table": lambda: ONE("x.db?table=three"),
    "no such file": lambda: ONE("y.db"),
    "bad SQL": lambda: ONE("x.db", query="select"),
    "a query of a frame": lambda: rb.read(FRAME, query="select 1"),
    "not data": lambda: rb.read(7),
    "columns of lines": lambda: read("1 1:1\n0 2:1\n", label="a"),
    "interactions": lambda: read("a,y\n1,p\n2,q\n", interactions=["ab"]),
    "a table for a model of lines": lambda: read("a,y\n1,p\n2,q\n", encoder=LineEncoder("svmlight")),
    "no rows of a weight": lambda: read("a,w,y\n1,0,p\n2,0,q\n", label="y", weight="w"),
    "one class": lambda: check_classes(Classes.of([b"a"])),
    "no class": lambda: check_classes(Classes.of([])),
    "two classes": lambda: check_classes(Classes.of([b"a", b"b"])).values,
    "a strict encoding": lambda: read("a,y\nö,p\n2,q\n", encoding="ascii"),
    "a struct": lambda: rb.read(pa.table({"s": [{"a": {"b": k}} for k in range(9)], "y": [0, 1, 0] * 3})).X,
    "many groups": lambda: make_folds(encode_labels(Y), None, 5, 0, groups=np.arange(110) % 3),
    "groups and time": lambda: make_folds(encode_labels(Y), None, 2, 0, groups=Y, time=Y),
    "times of too few rows": lambda: make_folds(encode_labels([0, 1]), None, 2, 0, time=[1, 2]),
    "groups of other rows": lambda: make_folds(encode_labels(Y), None, 2, 0, groups=[1, 2]),
    "begin": lambda: begun(["b", "a", "c"], 3),
    "begin with two": lambda: begun([1, 0], 0, hash_bits=3),
    "begin with one": lambda: begun([1], 2, tie="positive"),
    "one class and then three": lambda: of_learner(RANDOM.partial_fit(X, ["a"] * 110).partial_fit(X, Y), X),
    "a score of other rows": lambda: rb.Perceptron().fit(X, DATES).score(X[:3], DATES),
    "one weight": lambda: of_learner(rb.Perceptron(**FEW).fit(X, Y, sample_weight=2.0), X),
    "weights of two columns": lambda: rb.Perceptron().fit(X, Y, sample_weight=np.ones((110, 2))),
    "infinite init": lambda: rb.Perceptron(init=[[np.inf] * 4]).fit(*ROWS["plane"]),
    "gamma of sparse rows": lambda: of_learner(KernelPerceptron(gamma="scale", **FEW).fit(*ROWS["sparse"]), SPARSE),
    "a warm budget": lambda: of_learner(WARM.fit(X, Y).fit(X[::-1], Y[::-1]), X),
    "a feature that is not there": lambda: AutoPerceptron(n_jobs=1).fit(X, Y).learn_one({9: 1.0}, "low"),
    "one before fit": lambda: AutoPerceptron().learn_one({0: 1.0}, "low"),
    "coef before fit": lambda: AutoPerceptron().coef_,
    "coef of products": lambda: AutoPerceptron(n_jobs=1).fit(*ROWS["ring"]).intercept_,
    "coef of columns": lambda: rounded(AutoPerceptron(products=False).fit(X, Y).coef_),
    "intercept of columns": lambda: rounded(AutoPerceptron(products=False).fit(X, Y).intercept_),
    "all absent": lambda: AutoPerceptron().fit(X, Y, sample_weight=np.zeros(110)),
    "names of features": lambda: reloaded(AutoPerceptron().fit(FRAME.select(["a"]), Y)).learner_.feature_names_in_,
    "another task": lambda: rb.tune(X, Y, task="ranking"),
    "few numbers": lambda: rb.train(pa.table({"a": [1, 2, 3], "y": [1, 3, 5]}), task="regression").parameters,
    "epochs of numbers": lambda: rb.train(FRAME.drop("c"), task="regression", label="a", max_iter=3).parameters,
    "a score of two classes": lambda: rb.Sweep([AROW(**FEW)], scoring="f1").fit(*ROWS["plane"]).scores_,
    "weights of classes to come": lambda: of_learner(Calibrated(AROW(class_weight={"new": 2.0})).partial_fit(X, Y), X),
    "a state without a model": lambda: reloaded(FITTED(), lambda content: content.update(state=None)).learner_,
    "an unknown wrapper": lambda: changed(SIGMOID(), lambda s: s.update(wrapper="x")),
    "an unknown method": lambda: changed(SIGMOID(), lambda s: s["calibration"].update(method="x")),
    "uneven counts": lambda: changed(FITTED(), lambda s: s["mistakes"].pop()),
    "a row twice": lambda: changed(KERNEL(), lambda s: np.copyto(s["states"]["support"][1], s["states"]["support"][0])),
    "too many rows": lambda: changed(BUDGET(), lambda s: s["states"]["each"][0].update(rows=np.ones((3, 4)))),
    "continued": lambda: continued("averaged", max_iter=2),
    "continued, many columns": lambda: continued("averaged", "1 1:1 9:1\n0 2:1\n", max_iter=2),
    "continued, one-vs-rest": lambda: continued(rb.Perceptron(multiclass="ovr").fit(X, Y)),
    "continued, without a state": lambda: continued(reloaded(FITTED(), lambda content: content.update(state=None))),
    "numbers as classes": lambda: model_of(MODELS["numbers"]()[0]).classes_,
    "an example of many hashes": lambda: copy.copy(HASHES).close_stream() or HASHES.scores_one({"a": 1.0, "x": 2.0}),
    "keys of several types": lambda: AutoPerceptron(n_jobs=1).fit(MIXED, [0, 1] * 20).scores_,
    "frames of other rows": lambda: AutoPerceptron().fit(FRAME, Y[:9]),
    "a row of a model of lines": lambda: model_of(MODELS["texts"]()[0]).predict([{"a": 1.0}]),
    "two lines of a model of lines": lambda: model_of(MODELS["texts"]()[0]).predict(["a", "b\nc"]),
    "a cell that is not a number": lambda: model_of(MODELS["frame"]()[0]).predict([{"a": [1], "b": 2.0, "c": "x"}]),
    "names of NumPy's types": lambda: model_of(rb.Perceptron().learn_one({np.str_("a"): 1.0, 2.5: 1.0}, "x")).names,
    "a name that is not one": lambda: model_of(rb.Perceptron().learn_one({("a",): 1.0}, "x")).names,
    "ranks of folds that lack a class": lambda: lacking(SCORES[1]),
    "likelihoods of folds that lack a class": lambda: lacking(SCORES[2]),
    **{f"few of many columns, {name}": partial(lambda name: wide(name), name) for name in ("voted", "pocket", "arow")},
    "a sheet": lambda: sheets("two"),
    "a sheet by its number": lambda: sheets("2"),
    "no such sheet": lambda: sheets("three"),
    "not a workbook": lambda: read("a,y\n", name="x.xlsx"),
    "a folder": lambda: folder_of({"a/x": b"1", "y": b"2"}),
    "a folder over a file": lambda: folder_of({"": b"1"}),
    "no such module": lambda: rb.learners.Pegasos,
    "no such tool": lambda: rb.select.pegasos,
    "printed": lambda: re.findall(r"\d+ rows|\d+ features|\d folds|AROW|f1_macro", str(rb.compare(
        X, Y, classifiers={"AROW": AROW(**FEW)}, folds=2, scoring="f1_macro"))),
    "printed scores": lambda: re.findall(r"[\d.]+", str(rb.cross_validate(X, Y, AROW(**FEW), scoring="f1_macro"))),
    "wide rows of a model": lambda: model_of(FITTED()).batch_scores(batch_of(np.hstack([X, X]), Y)),
    "labels of a file": lambda: to_content(model_of(rb.Perceptron().fit(X[:2], np.array([2**70, 1], object)))),
    "too wide": lambda: reloaded(FITTED(), lambda content: content.update(features=2**30)),
    "contributions of a vote": lambda: contributions(model_of(MODELS["vote"]()[0]).parts, [], 0),
}  # fmt: skip


def lacking(scoring: str) -> Any:
    y = np.where(np.arange(200) % 70 == 17, "rare", three(LARGE[:200]))
    found = rb.compare(LARGE[:200], y, classifiers={"": Calibrated(AROW(**FEW))}, folds=4, scoring=scoring)
    return rounded([each.score for each in found.measured])


def wide(learner: str) -> Any:
    """The scores of a model of a file that uses few of its columns, as it was trained, loaded and continued."""
    with TemporaryDirectory() as folder:
        path = put(Path(folder, "x.svm"), "1 1:1 5000000:2\n-1 2:1 9:1\n1 9:2 7000000:1\n" * 4)
        model = rb.train(path, learner, max_iter=2)
        loaded = reloaded(model)
        more = continue_training(loaded, open_dataset(path, encoder=loaded.encoder)).model
        rows = sp.csr_array((np.ones(6), ([0, 0, 1, 1, 2, 2], [1, 5000000, 2, 9, 9, 7000000])), shape=(3, 7000001))
        return rounded([each.decision_function(rows) for each in (model, loaded, more)])


def sheets(name: str) -> Any:
    with TemporaryDirectory() as folder:
        rows = {each: [["a", "y"], [1.0, each], [2.5, "x"], [3.0, True]] for each in ("one", "two")}
        write_workbook(Path(folder, "x.xlsx"), rows)
        return rb.read(Path(folder, "x.xlsx"), sheet=name).y


def folder_of(files: dict[str, bytes]) -> Any:
    with TemporaryDirectory() as folder:
        code = told(partial(write_folder, Path(folder, "new", "made"), files))
        return code, sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*"))


def begun(classes: list[Any], features: int, **params: Any) -> Any:
    learner = rb.Perceptron(**params)
    learner.begin(classes, features)
    return [learner.classes_, learner.n_features_in_, learner.coef_, learner.learn_one({0: 1.0}, classes[0]).coef_]


def refused() -> Facts:
    for name, call in REFUSED.items():
        yield name, told(call)


def cases() -> Iterator[tuple[str, Callable[[], Facts]]]:
    for name, make in (CONFIGURATIONS | HASHED | NUMBERS | SEVERAL).items():
        if name != "kernel function":  # which no file holds
            yield f"learner, {name}", partial(learned, make, name)
    for learner in LEARNERS.values():
        for name, params in learner.cases():
            yield f"{learner.name}, {name}", partial(parameter, learner, params)
    for name, (X, y) in ROWS.items():
        for how, given in splits(len(y)).items() if name in SPLIT else [("", {})]:
            yield f"auto, {name}, {how}", partial(selected, X, y, given)
            if name in SPLIT[:2]:
                yield f"tune, {name}, {how}", partial(tuned, X, y, **given)
        for options in OPTIONS if name in SPLIT[:2] else ():
            yield f"auto, {name}, {options}", partial(selected, X, y, {}, **options)
            if "scoring" in options:
                yield f"tune, {name}, {options}", partial(tuned, X, y, **options)
    numbers = UNEVEN @ [1.0, -0.5, 0.5, 0.0]
    for scale in (True, False):
        yield f"tune, numbers, {scale}", partial(tuned, UNEVEN, numbers, task="regression", scale=scale)
    for law in (compared, validated, swept, folded, scaled, calibrated, lines, frames, refused):
        yield law.__name__, law
    for head in HEADS:
        yield f"table, {head!r}", partial(tables, head)
        yield f"live, {head!r}", partial(live, head)
    for name, made in MODELS.items():
        yield f"model, {name}", partial(of_model, made)


CASES = dict(cases())


def digests(case: str) -> dict[str, str]:
    return {name: hashlib.sha256(json.dumps(plain(fact)).encode()).hexdigest()[:10] for name, fact in CASES[case]()}


@pytest.mark.parametrize("case", CASES)
def test_facts_are_as_recorded(case: str) -> None:
    assert digests(case) == json.loads(RECORDED.read_text())[case]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    recorded = [f"{json.dumps(case)}: {json.dumps(digests(case))}" for case in CASES]
    RECORDED.write_text("{\n" + ",\n".join(recorded) + "\n}\n")
