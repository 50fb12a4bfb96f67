"""Test error and time at defaults: AutoPerceptron beside classifiers of scikit-learn and fastText.

    python benchmarks/accuracy.py [SET ...] [--quick] [--json FILE]

Every classifier gets the same rows, prepared in the same way: dense columns standardized on the training part, text as
tf-idf, sparse counts as they are; fastText alone gets the texts and its time includes splitting them. Sets with a
published split use it; the others hold out another quarter in each turn, stratified. Nothing is tuned: every classifier
is made by its name, on one thread, with the number of the turn as its seed. Ten turns, fewer for a classifier that
takes more than ten seconds in all. AutoPerceptron may choose products of columns and is then no longer linear: the
row `products=False` is. Covertype is learned from 100,000 of its rows, others in each turn. Left
out: trees with more than 100 columns or sparse ones, and LinearSVC on MNIST, which take minutes. `--quick` makes its
own data.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from fetch import SETS
from measure import SEEDS, Found, as_rows, count_turns, run_script, take_turns
from rosenblatt import AutoPerceptron
from rows import make_dense, make_text

MOST_SECONDS = 10.0  # of one classifier on one set
MOST_ROWS = {"covtype": 100_000}
MOST_COLUMNS = 100  # for the trees, which take minutes per class with more
TOO_SLOW = {("mnist", "scikit-learn LinearSVC")}  # minutes
CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "rosenblatt AutoPerceptron": lambda seed: AutoPerceptron(n_jobs=1, random_state=seed),
    "rosenblatt AutoPerceptron, products=False": lambda seed: AutoPerceptron(
        n_jobs=1, random_state=seed, products=False
    ),
    "scikit-learn Perceptron": lambda seed: Perceptron(random_state=seed),
    "scikit-learn SGD": lambda seed: SGDClassifier(random_state=seed),
    "scikit-learn SGD, averaged": lambda seed: SGDClassifier(random_state=seed, average=True),
    "scikit-learn SGD, pa1": lambda seed: SGDClassifier(random_state=seed, penalty=None, learning_rate="pa1", eta0=1.0),
    "scikit-learn LogisticRegression": lambda seed: LogisticRegression(random_state=seed),
    "scikit-learn LinearSVC": lambda seed: LinearSVC(random_state=seed),
    "scikit-learn HistGradientBoosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
}


class FastText:
    """fastText at its defaults, which reads its rows from a file of texts."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, file: Path) -> FastText:
        import fasttext

        self.model = fasttext.train_supervised(str(file), thread=1, verbose=0, seed=self.seed)
        return self

    def predict(self, texts: list[str]) -> Any:
        found, _ = self.model.f.multilinePredict([f"{text}\n" for text in texts], 1, 0.0, "strict")
        return np.array([labels[0].removeprefix("__label__") for labels in found])


class Split:
    """The prepared rows of a turn: training rows and test rows."""

    def __init__(self, data: tuple[Any, Any, int], most: int | None, folder: str, seed: int) -> None:
        X, y, held = data
        train, test = np.arange(len(y) - held), np.arange(len(y) - held, len(y))
        if not held:
            train, test = train_test_split(train, test_size=0.25, stratify=y, random_state=seed)
            train, test = train[:most], test[:most]
        self.y, self.expected = y[train], y[test]
        self.texts: tuple[Path, list[str]] | None = None
        if isinstance(X, list):
            vectorizer, lines = TfidfVectorizer(sublinear_tf=True), [" ".join(text.split()) for text in X]
            self.X = vectorizer.fit_transform([X[i] for i in train])
            self.test = vectorizer.transform([X[i] for i in test])
            file = Path(folder) / f"{seed}.txt"
            file.write_text("".join(f"__label__{y[i]} {lines[i]}\n" for i in train))
            self.texts = file, [lines[i] for i in test]
        elif sparse.issparse(X):
            self.X, self.test = X[train], X[test]
        elif X.dtype == np.uint8:
            self.X, self.test = X[train] / np.float32(255), X[test] / np.float32(255)
        else:
            scaler = StandardScaler().fit(X[train])
            self.X, self.test = scaler.transform(X[train]), scaler.transform(X[test])

    def fit(self, make: Callable[[int], Any], seed: int) -> tuple[Split, Any]:
        model = make(seed)
        return self, model.fit(self.texts[0]) if isinstance(model, FastText) else model.fit(self.X, self.y)

    def error(self, model: Any) -> float:
        """In percent of the test rows."""
        if isinstance(model, FastText):
            return 100 * float(np.mean(model.predict(self.texts[1]) != self.expected.astype(str)))
        return 100 * float(np.mean(model.predict(self.test) != self.expected))


def judge(name: str, read: Callable[[], tuple[Any, Any, int]], turns: int) -> Found:
    """Every classifier on one set."""
    data = read()
    with tempfile.TemporaryDirectory() as folder:
        splits = [
            Split(data, MOST_ROWS.get(name), folder, seed) for seed in range(1 if data[2] else count_turns(turns))
        ]
        first = splits[0]
        takes_trees = not sparse.issparse(first.X) and first.X.shape[1] <= MOST_COLUMNS
        classifiers = {
            who: make
            for who, make in CLASSIFIERS.items()
            if (takes_trees or "Boosting" not in who) and (name, who) not in TOO_SLOW
        }
        if first.texts:
            classifiers["fastText"] = FastText
        contestants = {
            who: lambda seed, make=make: splits[seed % len(splits)].fit(make, seed) for who, make in classifiers.items()
        }
        times = take_turns(contestants, turns, lambda found: found[0].error(found[1]), MOST_SECONDS)
    return {"Defaults": as_rows(times, {"set": name, "rows": first.X.shape[0], "features": first.X.shape[1]})}


def make_documents() -> tuple[list[str], Any, int]:
    """Texts of five classes, words by Zipf's law."""
    X, y = make_text(2_000, 5_000, values=40, classes=5)
    return [" ".join(f"w{word}" for word in X.indices[a:b]) for a, b in zip(X.indptr, X.indptr[1:], strict=False)], y, 0


MADE: dict[str, Callable[[], tuple[Any, Any, int]]] = {
    "made, dense": lambda: (*make_dense(4_000, 20), 0),
    "made, dense, ten classes": lambda: (*make_dense(4_000, 120, 10), 0),
    "made, documents": make_documents,
}

if __name__ == "__main__":
    run_script(
        __doc__,
        {
            name: lambda quick, name=name, read=read: {} if quick else judge(name, read, SEEDS)
            for name, read in SETS.items()
        }
        | {
            name: lambda quick, name=name, read=read: judge(name, read, 3) if quick else {}
            for name, read in MADE.items()
        },
    )
