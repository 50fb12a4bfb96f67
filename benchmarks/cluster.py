"""A Dask cluster on one machine: what a second worker gains, and what a mix costs by weights and by shards.

    python benchmarks/cluster.py [PART ...] [--quick] [--json FILE]

Workers are processes with one thread. A mix is timed with weights that all shards have touched, so it is the most
expensive one; its growth with the shards is what the scheduler spends on tasks. docs/growth.md extrapolates from both.
"""

from __future__ import annotations

import statistics
import tempfile
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from scipy import sparse

from measure import Found, Row, run_script
from rosenblatt import AveragedPerceptron, Perceptron, cluster


def start(workers: int) -> Any:
    folder = tempfile.mkdtemp()
    how: dict[str, Any] = {"dashboard_address": ":0", "silence_logs": 50, "local_directory": folder}
    return LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, memory_limit="4GB", **how)


def make_blocks(rows: int, features: int) -> list[Any]:
    """Dask arrays whose blocks the workers make themselves, a tenth of the labels drawn anew."""
    X = da.random.default_rng(0).standard_normal((rows, features), chunks=(rows // 8, features), dtype=np.float32)
    direction = np.random.default_rng(1).standard_normal(features).astype(np.float32)
    noisy = da.random.default_rng(2).random(rows, chunks=rows // 8) < 0.1
    return [X, ((X @ direction > 0) ^ noisy).astype(np.int8)]


def measure_workers(quick: bool) -> Found:
    """Rows per second by workers, 8 shards; the rows are in the workers' memory already."""
    rows, features, epochs = (200_000, 100, 3) if quick else (2_000_000, 100, 10)
    lines: list[Row] = []
    for workers in (1, 2):
        with start(workers) as local, Client(local) as client:
            blocks = client.persist(make_blocks(rows, features))
            wait(blocks)
            cluster.train(client, tuple(blocks), AveragedPerceptron(max_iter=1, tol=None), shards=8)  # imports
            for mixing in ("mean", "momentum"):
                learner = AveragedPerceptron(max_iter=epochs, tol=None)
                trained = cluster.train(client, tuple(blocks), learner, shards=8, mixing=mixing)
                rate = rows / statistics.median(trained.history.seconds)
                alone = [line["rows/s"] for line in lines if line["mixing"] == mixing][:1] or [rate]
                line = {"mixing": mixing, "mixes per epoch": trained.mixes, "workers": workers, "rows/s": rate}
                lines.append({**line, "times one worker": rate / alone[0]})
    return {f"Epochs over {rows:,} x {features} float32 in 8 shards": lines}


def make_shard(weights: int, k: int) -> tuple[Any, Any]:
    """Two rows that cannot both be right, over all features, so that every pass changes all weights.

    One is twice the other: the steps of equal rows would cancel out, and no update would be sent.
    """
    columns = np.tile(np.arange(weights, dtype=np.int32), 2)
    starts = np.array([0, weights, 2 * weights], np.int32)
    return sparse.csr_array((np.repeat([1.0, 2.0], weights), columns, starts), shape=(2, weights)), np.array([0, 1])


def time_mix(client: Any, weights: int, shards: int) -> float:
    source = [client.submit(make_shard, weights, k, key=f"rows-{weights}-{shards}-{k}") for k in range(shards)]
    wait(source)
    learner = Perceptron(max_iter=8, tol=None)
    trained = cluster.train(client, source, learner, shards=shards, mixing="mean", mixes=1)
    return 1000 * float(np.median(trained.history.seconds[2:]))


def measure_mixes(quick: bool) -> Found:
    """Milliseconds per mix on two workers."""
    with start(2) as local, Client(local) as client:
        time_mix(client, 100, 2)  # imports
        sizes = (10_000, 1_000_000) if quick else (10_000, 100_000, 1_000_000, 3_000_000)
        by_weights = [
            {"weights": weights, "shards": 2, "ms per mix": time_mix(client, weights, 2)} for weights in sizes
        ]
        shards = (2, 8, 32) if quick else (2, 8, 32, 128)
        by_shards = [{"weights": 1_000, "shards": n, "ms per mix": time_mix(client, 1_000, n)} for n in shards]
    return {"A mix by weights": by_weights, "A mix by shards": by_shards}


if __name__ == "__main__":
    run_script(__doc__, {"workers": measure_workers, "mixes": measure_mixes})
