"""Training time of the linear perceptron beside scikit-learn's and mlxtend's, and of a stream beside river's.

    python benchmarks/linear.py [--quick] [--only PART ...] [--json FILE]

Both learn from the same arrays for the same number of epochs on one thread: `Perceptron(tol=None, max_iter=10)`,
which means the same to both. Loss is shown as the error on rows that neither has seen. A bar is what the project
promises. `--quick` takes fewer epochs and repeats.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as TheirPerceptron
from threadpoolctl import threadpool_limits

from measure import compare, save, show, take_turns
from rosenblatt import Perceptron
from rows import make_dense, make_dicts, make_text, read_a9a, read_mnist

Row = dict[str, Any]

#: The least ratio to scikit-learn (to river for dicts) that the project promises, by data and order.
BARS = {
    ("dense 1,000,000 x 20", "float64", "shuffled"): 9,
    ("dense 1,000,000 x 20", "float32", "shuffled"): 12,
    ("dense 60,000 x 784", "float64", "shuffled"): 2.8,
    ("dense 60,000 x 784", "float32", "shuffled"): 5.5,
    ("text 200,000 x 200,000", "float64", "shuffled"): 4,
    ("all-ones text 200,000 x 200,000", "float64", "shuffled"): 6,
    ("a9a", "float64", "shuffled"): 8,
    ("MNIST", "float64", "shuffled"): 10,
    ("MNIST", "uint8", "shuffled"): 20,
    ("dense 1,000,000 x 20", "float64", "in order"): 4,
    ("dense 60,000 x 784", "float64", "in order"): 3,
    ("text 200,000 x 200,000", "float64", "in order"): 2,
}
STREAM_BAR, PENALTY_BAR, BANDWIDTH_AIM = 15, 1.5, 70


def fit(kind: Any, X: Any, y: Any, epochs: int, shuffle: bool) -> Any:
    """A fit of exactly so many epochs."""
    learner = kind(tol=None, max_iter=epochs, shuffle=shuffle, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner.fit(X, y)
    assert learner.n_iter_ == epochs, "one of them stopped early: the times would not compare"
    return learner


def fit_theirs(X: Any, y: Any, epochs: int, shuffle: bool) -> Any:
    return fit(TheirPerceptron, X, y, epochs, shuffle)


def compare_fits(
    title: str,
    X: Any,
    y: Any,
    held: int,
    epochs: int,
    repeats: int,
    *,
    orders: tuple[str, ...] = ("shuffled", "in order"),
    peer: str = "scikit-learn",
    fit_peer: Callable[[Any, Any, int, bool], Any] = fit_theirs,
) -> list[Row]:
    """One line an order: both fitted by turns on all rows but the last `held`, which give the error."""
    train, test, y_train, y_test = X[:-held], X[-held:], y[:-held], y[-held:]
    lines = []
    for order in orders:
        shuffle = order == "shuffled"
        fitted: dict[str, Any] = {}

        def run_theirs(shuffle: bool = shuffle, fitted: dict[str, Any] = fitted) -> None:
            fitted["theirs"] = fit_peer(train, y_train, epochs, shuffle)

        def run_ours(shuffle: bool = shuffle, fitted: dict[str, Any] = fitted) -> None:
            fitted["ours"] = fit(Perceptron, train, y_train, epochs, shuffle)

        times = take_turns({"theirs": run_theirs, "ours": run_ours}, repeats)
        visits = train.shape[0] * epochs
        lines.append(
            {
                "data": title,
                "type": str(X.dtype),
                "order": order,
                "ours, best s": times["ours"].best,
                "median s": times["ours"].median,
                "ns a row": 1e9 * times["ours"].best / visits,
                f"{peer}, best s": times["theirs"].best,
                "their median s": times["theirs"].median,
                "their ns a row": 1e9 * times["theirs"].best / visits,
                **compare(times["ours"], times["theirs"]).columns(),
                "bar": BARS.get((title, str(X.dtype), order)),
                "our error %": 100 * float(np.mean(fitted["ours"].predict(test) != y_test)),
                "their error %": 100 * float(np.mean(fitted["theirs"].predict(test) != y_test)),
            }
        )
    return lines


def run_dense(rows: int, features: int, epochs: int, repeats: int) -> list[Row]:
    X, y = make_dense(rows + rows // 10, features)
    title = f"dense {rows:,} x {features}"
    lines = []
    for dtype in (np.float64, np.float32):
        table = X.astype(dtype, copy=False)
        lines += compare_fits(title, table, y, rows // 10, epochs, repeats)
    return lines


def run_text(rows: int, features: int, epochs: int, repeats: int) -> list[Row]:
    X, y = make_text(rows + rows // 10, features)
    print(f"text: {X.nnz / X.shape[0]:.1f} values a row, {X.indices.dtype} indices")
    lines = []
    for dtype in (np.float64, np.float32):
        title = f"text {rows:,} x {features:,}"
        lines += compare_fits(title, X.astype(dtype), y, rows // 10, epochs, repeats)
    ones = X.copy()
    ones.data[:] = 1.0
    return lines + compare_fits(f"all-ones {title}", ones, y, rows // 10, epochs, repeats, orders=("shuffled",))


def run_a9a(epochs: int, repeats: int) -> list[Row]:
    data = read_a9a()
    if data is None:
        print("a9a skipped: put its files into the folder libsvm_a9a of the folder named by ROSENBLATT_DATA")
        return []
    X, y, held = data
    return compare_fits("a9a", X, y, held, epochs, repeats, orders=("shuffled",))


def run_penalty(rows: int, features: int, epochs: int, repeats: int) -> list[Row]:
    """Penalized sparse rows beside plain ones: how many times as long they take."""
    X, y = make_text(rows, features)
    names = ("none", "l2", "l1", "elasticnet")

    def learn(name: str) -> None:
        penalty = None if name == "none" else name
        learner = Perceptron(tol=None, max_iter=epochs, alpha=1e-6, penalty=penalty)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            learner.fit(X, y)

    times = take_turns({name: partial(learn, name) for name in names}, repeats)
    return [
        {
            "data": f"text {rows:,} x {features:,}",
            "penalty": name,
            "best s": times[name].best,
            "median s": times[name].median,
            "ns a row": 1e9 * times[name].best / (rows * epochs),
            "times a plain row": times[name].median / times["none"].median,
            "at most": None if name == "none" else PENALTY_BAR,
        }
        for name in names
    ]


def run_mnist(epochs: int, repeats: int) -> list[Row]:
    data = read_mnist()
    if data is None:
        print("MNIST skipped: put its four files into the folder mnist of the folder named by ROSENBLATT_DATA")
        return []
    X, y, held = data
    lines = []
    for table in (X, X.astype(np.float32), np.round(255 * X).astype(np.uint8)):
        for line in compare_fits("MNIST", table, y, held, epochs, repeats, orders=("shuffled",)):
            an_epoch = {name: line[name] / epochs for name in line if name.endswith(" s")}
            lines.append({**line, **an_epoch})
    return lines


def run_plain(rows: int, epochs: int, repeats: int) -> list[Row]:
    """Beside mlxtend, the perceptron of many courses: a loop in Python."""
    from mlxtend.classifier import Perceptron as PlainPerceptron

    def fit_peer(X: Any, y: Any, epochs: int, shuffle: bool) -> Any:
        assert shuffle, "mlxtend always shuffles"
        return PlainPerceptron(eta=1.0, epochs=epochs, random_seed=0).fit(X, y)

    X, y = make_dense(rows + rows // 10, 20)
    title = f"dense {rows:,} x 20"
    return compare_fits(
        title, X, y, rows // 10, epochs, repeats, orders=("shuffled",), peer="mlxtend", fit_peer=fit_peer
    )


def run_stream(examples: int, repeats: int) -> list[Row]:
    """Predict, then learn, one example of 60 features after the other."""
    from river.linear_model import Perceptron as RiverPerceptron

    stream = make_dicts(examples, 60)
    wrong: dict[str, int] = {}

    def run(name: str, make: Callable[[], Any]) -> Callable[[], None]:
        def once() -> None:
            learner, mistakes = make(), 0
            learner.learn_one(*stream[0])  # both know two labels before the first question
            learner.learn_one(*next(pair for pair in stream if pair[1] != stream[0][1]))
            predict_one, learn_one = learner.predict_one, learner.learn_one
            for features, label in stream:
                mistakes += predict_one(features) != label
                learn_one(features, label)
            wrong[name] = mistakes

        return once

    def predict_again() -> None:
        predict_one = known.predict_one
        for features, _ in stream:
            predict_one(features)

    def learn_at_once() -> None:
        Perceptron().learn_many([features for features, _ in stream], [label for _, label in stream])

    jobs = {"theirs": run("theirs", RiverPerceptron), "ours": run("ours", Perceptron)}
    known = Perceptron().learn_many([features for features, _ in stream], [label for _, label in stream])
    times = take_turns({**jobs, "predict": predict_again, "many": learn_at_once}, repeats)
    ratio = compare(times["ours"], times["theirs"])
    return [
        {
            "data": f"{examples:,} dicts of 60 features",
            "ours, best us": 1e6 * times["ours"].best / examples,
            "median us": 1e6 * times["ours"].median / examples,
            "river, best us": 1e6 * times["theirs"].best / examples,
            "their median us": 1e6 * times["theirs"].median / examples,
            **ratio.columns(),
            "bar": STREAM_BAR,
            "predict_one us": 1e6 * times["predict"].best / examples,
            "learn_many us": 1e6 * times["many"].best / examples,
            "our errors on arrival %": 100 * wrong["ours"] / examples,
            "their errors on arrival %": 100 * wrong["theirs"] / examples,
        }
    ]


def run_bandwidth(rows: int, features: int, repeats: int) -> list[Row]:
    """An epoch in order beside a plain read of the same bytes: the quickest of three that NumPy has."""
    lines = []
    for dtype in (np.float64, np.float32):
        X, y = make_dense(rows, features)
        X = X.astype(dtype, copy=False)
        flat, whole = X.ravel(), X.ravel().view(np.uint64)
        epochs: list[float] = []

        def learn(X: Any = X, y: Any = y, epochs: list[float] = epochs) -> None:
            epochs.extend(fit(Perceptron, X, y, 5, shuffle=False).history_.seconds)

        reads = {
            "dot product with itself": lambda flat=flat: np.dot(flat, flat),
            "largest": lambda flat=flat: flat.max(),
            "sum of whole numbers": lambda whole=whole: whole.sum(),
        }
        with threadpool_limits(1):  # a dot product would take all cores
            times = take_turns({**reads, "learn": learn}, max(repeats, 5))
        name = min(reads, key=lambda read: times[read].best_wall)
        limit = X.nbytes / times[name].best_wall
        reached = X.nbytes / min(epochs)
        lines.append(
            {
                "data": f"dense {rows:,} x {features}",
                "type": str(X.dtype),
                "GB": X.nbytes / 1e9,
                "plain read GB/s": limit / 1e9,
                "the read": name,
                "epoch in order GB/s": reached / 1e9,
                "share %": 100 * reached / limit,
                "aim %": BANDWIDTH_AIM if features == 784 else None,
            }
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ("narrow", "wide", "text", "a9a", "penalty", "mnist", "plain", "stream", "bandwidth")
    parser.add_argument("--quick", action="store_true", help="3 epochs and 3 repeats instead of 10 and 5")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, metavar="PART", help=", ".join(parts))
    parser.add_argument("--repeats", type=int, help="turns of each contestant (default 5, quick 3)")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to this file")
    args = parser.parse_args()
    epochs = 3 if args.quick else 10
    repeats = args.repeats or (3 if args.quick else 5)
    found: dict[str, list[Row]] = {}

    def take(title: str, rows: list[Row]) -> None:
        if rows:
            found[title] = rows
            show(title, rows)

    fits: list[Row] = []
    if "narrow" in args.only:
        fits += run_dense(1_000_000, 20, epochs, repeats)
    if "wide" in args.only:
        fits += run_dense(60_000, 784, epochs, repeats)
    if "text" in args.only:
        fits += run_text(200_000, 200_000, epochs, repeats)
    if "a9a" in args.only:
        fits += run_a9a(epochs, repeats)
    take("Two classes", fits)
    if "penalty" in args.only:
        take("Penalized sparse rows beside plain ones", run_penalty(100_000, 200_000, epochs, repeats))
    if "mnist" in args.only:
        digits = run_mnist(min(epochs, 3), repeats)
        take("Ten classes, seconds an epoch, ours joint and theirs one against the rest", digits)
    if "plain" in args.only:
        take("Beside mlxtend", run_plain(10_000, epochs, repeats))
    if "stream" in args.only:
        take("One example at a time, predicted and then learned", run_stream(20_000, repeats))
    if "bandwidth" in args.only:
        rows = run_bandwidth(1_000_000, 20, repeats) + run_bandwidth(60_000, 784, repeats)
        take("Share of the memory bandwidth that an epoch in order reaches", rows)
    save(args.json, found)


if __name__ == "__main__":
    main()
