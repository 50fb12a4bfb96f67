"""What a cluster costs and gains on one machine: rows per second, the overhead of one shard, and a mix by its size.

Workers are processes of their own. A mix is timed with weights that all shards have touched, so it is the dearest one.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from typing import Any

import numpy as np

from measure import save, show
from rosenblatt import AveragedPerceptron, cluster


def start(workers: int) -> Any:
    from distributed import LocalCluster

    told = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "silence_logs": 50}
    return LocalCluster(n_workers=workers, memory_limit="4GB", **told)


def make_rows(rows: int, features: int) -> tuple[Any, Any]:
    """A Dask array whose blocks the workers make themselves, a tenth of the labels drawn anew."""
    import dask.array as da

    X = da.random.default_rng(0).standard_normal((rows, features), chunks=(rows // 8, features), dtype=np.float32)
    direction = np.random.default_rng(1).standard_normal(features).astype(np.float32)
    noisy = da.random.default_rng(2).random(rows, chunks=rows // 8) < 0.1
    return X, ((X @ direction > 0) ^ noisy).astype(np.int8)


def learner(epochs: int) -> Any:
    return AveragedPerceptron(max_iter=epochs, tol=None)


def speed(rows: int, features: int, epochs: int) -> list[dict[str, Any]]:
    """Rows per second by workers, with 8 shards; the rows are in the workers' memory already."""
    from distributed import Client, wait

    found: list[dict[str, Any]] = []
    alone: dict[str, float] = {}
    for workers in (1, 2):
        with start(workers) as local, Client(local) as client:
            X, y = client.persist(list(make_rows(rows, features)))
            wait([X, y])
            cluster.train(client, (X, y), learner(1), shards=8)  # imports, and the first look at the rows
            for mixing in ("mean", "momentum"):
                trained = cluster.train(client, (X, y), learner(epochs), shards=8, mixing=mixing)
                rate = rows * epochs / sum(trained.history.seconds)
                found.append(
                    {
                        "mixing": mixing,
                        "mixes per epoch": trained.mixes,
                        "workers": workers,
                        "rows/s": rate,
                        "ratio": rate / alone.setdefault(mixing, rate),
                        "bytes between workers per mix": trained.traffic.measured // trained.traffic.mixes,
                        "peak MB of a worker": max(client.run(peak).values()) / 2**20,
                        "of them rows, MB": X.nbytes // workers / 2**20,
                    }
                )
    return found


def peak() -> int:
    """The most memory that this process has had."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def overhead(rows: int, features: int, epochs: int) -> list[dict[str, Any]]:
    """One shard beside `fit` on the same rows: in this process's threads, and on one worker."""
    from distributed import Client, wait

    X, y = (np.asarray(each) for each in make_rows(rows, features))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.perf_counter()
        plain = learner(epochs).fit(X, y)
        fit = time.perf_counter() - started
    started = time.perf_counter()
    threads = cluster.train(None, (X, y), learner(epochs), shards=1)
    in_threads = time.perf_counter() - started
    with start(1) as local, Client(local) as client:
        blocks = client.persist(list(make_rows(rows, features)))
        wait(blocks)
        cluster.train(client, tuple(each[: rows // 8] for each in blocks), learner(1), shards=1)
        started = time.perf_counter()
        worker = cluster.train(client, tuple(blocks), learner(epochs), shards=1)
        on_worker = time.perf_counter() - started
    assert np.array_equal(plain.coef_, threads.learner.coef_)
    assert np.array_equal(plain.coef_, worker.learner.coef_)
    learning = sum(worker.history.seconds)
    return [
        {"who": "fit", "seconds": fit, "over fit, %": 0.0},
        {"who": "one shard, threads", "seconds": in_threads, "over fit, %": 100 * (in_threads / fit - 1)},
        {"who": "one shard, a worker, in all", "seconds": on_worker, "over fit, %": 100 * (on_worker / fit - 1)},
        {"who": "one shard, a worker, epochs", "seconds": learning, "over fit, %": 100 * (learning / fit - 1)},
    ]


def mixes(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Milliseconds and bytes per mix of two shards on two workers, by the number of weights."""
    from distributed import Client

    found = []
    with start(2) as local, Client(local) as client:
        for weights in sizes:
            for kind in ("dense", "1 % touched"):
                X, y = _touching(weights, kind)
                source = [client.submit(_rows, X, y, k, key=f"rows-{weights}-{kind}-{k}") for k in range(2)]
                told: dict[str, Any] = {"shards": 2, "mixing": "mean", "mixes": 1}
                from rosenblatt import Perceptron

                trained = cluster.train(client, source, Perceptron(max_iter=6, tol=None), **told)
                each = trained.traffic
                assert each.up >= each.mixes * touched_values(weights, kind), "a pass has changed nothing"
                found.append(
                    {
                        "weights": weights,
                        "kind": kind,
                        "ms per mix": 1000 * float(np.median(trained.history.seconds[1:])),
                        "bytes up": each.up // each.mixes,
                        "bytes down": each.down // each.mixes,
                        "bytes between workers": each.measured // each.mixes,
                    }
                )
    return found


def touched_values(weights: int, kind: str) -> int:
    """Values that a shard changes in each pass."""
    return _touching(weights, kind)[1]


def _touching(weights: int, kind: str) -> tuple[int, int]:
    return weights, weights if kind == "dense" else max(weights // 100, 10)


def _rows(weights: int, touched: int, k: int) -> tuple[Any, Any]:
    """Two rows that cannot both be right, over so many features, so that every pass changes all of them.

    One is twice the other: the steps of equal rows would cancel out, and nothing would be sent.
    """
    import scipy.sparse as sp

    rng = np.random.default_rng(k)
    columns = np.sort(rng.choice(weights, touched, replace=False)) if touched < weights else np.arange(weights)
    indices = np.concatenate([columns, columns]).astype(np.int32)
    values = np.repeat([1.0, 2.0], touched)
    starts = np.array([0, touched, 2 * touched], np.int32)
    return sp.csr_array((values, indices, starts), shape=(2, weights)), np.array([0, 1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=("speed", "overhead", "mixes"))
    parser.add_argument("--rows", type=int, help="instead of 2,500,000 (quick 200,000) of 100 features")
    args = parser.parse_args()
    os.chdir(tempfile.mkdtemp())
    size = (200_000, 100, 3) if args.quick else (2_500_000, 100, 5)  # 80 MB, 1 GB of float32
    size = (args.rows or size[0], *size[1:])
    sizes = (10**4, 10**6) if args.quick else (10**4, 10**6, 10**7)
    parts: dict[str, Any] = {
        "speed": ("rows per second, 8 shards", lambda: speed(*size)),
        "overhead": ("one shard beside fit", lambda: overhead(*size)),
        "mixes": ("a mix of two shards on two workers", lambda: mixes(sizes)),
    }
    result = {}
    for name, (title, run) in parts.items():
        if args.only in (None, name):
            result[title] = run()
            show(title, result[title])
    save(args.json, result)


if __name__ == "__main__":
    main()
