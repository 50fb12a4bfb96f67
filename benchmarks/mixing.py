"""How accurate shards are, by how they are mixed, beside one machine and dask-ml's ``Incremental(SGDClassifier)``.

Averaged weights, 10 epochs, test accuracy in percent; rows in a random order before they are cut into shards. The bits
do not depend on who does the work, so threads do it here.
"""

from __future__ import annotations

import argparse
import importlib.util
import warnings
from typing import Any

import numpy as np

from accuracy import a9a, covtype, mnist, news
from measure import save, show
from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, cluster

SETS = {"a9a": a9a, "covtype": covtype, "mnist": mnist, "20 newsgroups": news}
LEARNERS: dict[str, Any] = {
    "perceptron": lambda seed: AveragedPerceptron(max_iter=10, tol=None, random_state=seed),
    "PA-I": lambda seed: PassiveAggressive(max_iter=10, tol=None, keep="average", random_state=seed),
    "AROW": lambda seed: AROW(max_iter=10, tol=None, random_state=seed),
}
SHARDS = (2, 4, 10, 50)


def score(learner: Any, split: Any) -> float:
    """Test accuracy in percent."""
    _, _, X, y = split
    return 100 * float(np.mean(learner.predict(X) == y))


def in_any_order(split: Any) -> Any:
    """The training rows in a random order: what a shard sees should not depend on how a file was sorted."""
    X, X_test, y, y_test = split
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], X_test, y_test


def of_shards(make: Any, split: Any, seeds: range, **how: Any) -> float:
    """The mean over seeds of a run in shards."""
    X, y, *_ = split
    found = [cluster.train(None, (X, y), make(seed), n_jobs=2, **how).learner for seed in seeds]
    return float(np.mean([score(learner, split) for learner in found]))


def run_set(name: str, seeds: range, kinds: list[str]) -> list[dict[str, Any]]:
    """A row per learner and kind of mixing."""
    split = in_any_order(SETS[name]())
    rows = []
    for learner in kinds:
        make = LEARNERS[learner]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = float(np.mean([score(make(seed).fit(*split[:2]), split) for seed in seeds]))
        for mixing, mixes in (("mean", 1), ("momentum", 10)):
            row: dict[str, Any] = {"set": name, "learner": learner, "one machine": plain, "mixing": mixing}
            for shards in SHARDS:
                row[f"{shards} shards"] = of_shards(make, split, seeds, shards=shards, mixing=mixing, mixes=mixes)
            rows.append(row)
            show("test accuracy", [row])
    return rows


def run_peer(name: str, seeds: range) -> dict[str, Any]:
    """dask-ml's Incremental: the blocks go through one SGDClassifier, one after another; 10 epochs."""
    import dask.array as da
    from dask_ml.wrappers import Incremental
    from sklearn.linear_model import SGDClassifier

    X, y, X_test, y_test = in_any_order(SETS[name]())
    classes, found = np.unique(y), []
    for seed in seeds:
        inner = SGDClassifier(loss="perceptron", penalty=None, average=True, random_state=seed)
        learner = Incremental(inner, shuffle_blocks=False)
        size = -(-len(y) // 10)
        blocks = da.from_array(X, chunks=(size, X.shape[1]), asarray=False), da.from_array(y, chunks=size)
        for _ in range(10):
            learner.partial_fit(*blocks, classes=classes)
        found.append(100 * float(np.mean(learner.estimator_.predict(X_test) == y_test)))
    return {"set": name, "Incremental(SGDClassifier)": float(np.mean(found))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS))
    parser.add_argument("--learners", nargs="*", choices=list(LEARNERS), default=list(LEARNERS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--no-peer", action="store_true")
    args = parser.parse_args()
    if not args.no_peer and importlib.util.find_spec("dask_ml") is None:
        parser.error("the peer is missing: install dask-ml, or say --no-peer")
    rows = [row for name in args.sets for row in run_set(name, range(args.seeds), args.learners)]
    peers = [] if args.no_peer else [run_peer(name, range(args.seeds)) for name in args.sets]
    show("test accuracy after 10 epochs, %", rows)
    show("dask-ml, 10 blocks, one after another", peers)
    save(args.json, {"test accuracy after 10 epochs, %": rows, "dask-ml, 10 blocks, one after another": peers})


if __name__ == "__main__":
    main()
