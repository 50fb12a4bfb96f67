"""`train`: a source and params in, a model out, learned in shards."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from rosenblatt import engine
from rosenblatt.cluster.averaging import GlobalState
from rosenblatt.cluster.dataset import Partitions, first_sources
from rosenblatt.cluster.executor import Executor, open_executor
from rosenblatt.cluster.run import Checkpoint, ClusterRun
from rosenblatt.cluster.shard import (
    ShardSchema,
    cut_shards,
    join_columns,
    join_shard,
    sample_rows,
    shard_info,
    used_columns,
)
from rosenblatt.data.batch import join_batches
from rosenblatt.data.labels import Labels
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.dataset import Dataset
from rosenblatt.learners.streaming import Fitted
from rosenblatt.learners.targets import weight_rows
from rosenblatt.learners.weights import WeightState, seed_of, starting_weights
from rosenblatt.models.predictors import Products, Quadratic, count_terms
from rosenblatt.params import LinearParams, check_count
from rosenblatt.select.choice import Choice, Sample
from rosenblatt.select.search import sample_step, select
from rosenblatt.training.run import build_model, column_names
from rosenblatt.training.train import Trained, params_of

Mixing = Literal["momentum", "mean"]
MIXES = {"momentum": 10, "mean": 1}  # per epoch
MOST_SHARDS = 64  # by default
LEAST_ROWS = 10_000  # of a shard, by default
WIDE = 4096  # features from which on columns without values are left out


@dataclass(frozen=True)
class ClusterTrained(Trained):
    """A model, and how it was trained.

    >>> import numpy as np
    >>> from rosenblatt import cluster
    >>> rows, labels = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 10), np.array([0, 0, 1, 1] * 10)
    >>> trained = cluster.train(None, (rows, labels), "averaged", shards=2)
    >>> trained.shards, trained.mixing
    (2, 'momentum')
    """

    shards: int = 1
    mixing: str = "mean"
    mixes: int = 1  # averages per epoch
    retries: int = 0  # how often work was repeated because workers were lost
    bad_lines: int = 0

    def facts(self) -> dict[str, Any]:
        names = ("shards", "mixing", "mixes", "retries")
        return super().facts() | {"cluster": {name: getattr(self, name) for name in names}}

    @property
    def learner(self) -> Any:
        """The fitted learner, which can continue learning."""
        from rosenblatt.select.loading import revive

        return revive(self.model)


def train(
    client: Any,
    source: Any,
    params: Any = "auto",
    *,
    shards: int | None = None,
    mixing: Mixing = "momentum",
    mixes: int | None = None,
    reading: dict[str, Any] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 0.0,
    resume: bool = False,
    worker_timeout: float = 60.0,
    products: bool = True,
    on_choice: Callable[[str], None] = lambda why: None,
    on_run: Callable[[ClusterRun], None] = ClusterRun.run,
    **parameters: Any,
) -> ClusterTrained:
    """Learn a model in shards, on a Dask cluster or in threads of this process.

    The number of shards is a property of the data: the same shards give the same bits on any number of workers. One
    shard gives the bits of the plain learner.

    Parameters
    ----------
    client : distributed.Client, str or None
        The cluster, or its address as for `connect`. ``threads:N`` are threads of this process, None as many as CPUs.
    source : paths, Dask DataFrame, (X, y), (X, y, weights), or list of delayed batches
        Paths, globs and addresses are read by the workers. Dask arrays may have dense or sparse chunks. A delayed
        batch is ``(X, y)``, ``(X, y, weights)`` or a frame. In threads, X and y may be plain arrays.
    params : Params, estimator or str, default="auto"
        As for `rosenblatt.train`; "auto" chooses on a sample of the rows.
    shards : int, optional
        By default as many as the source has partitions, at most 64, with 10,000 rows each or more.
    mixing : {"momentum", "mean"}
        "momentum" is the most accurate, by measurement only; "mean" keeps the perceptron's mistake bound.
    mixes : int, optional
        Averages per epoch; by default 10 for "momentum", else 1.
    reading : dict, optional
        Options of `rosenblatt.io.open_dataset`, for files and frames.
    checkpoint : path, optional
        File to which the run is saved after an average, if `every` seconds have passed since the last time.
    resume : bool, default=False
        Continue from the checkpoint, if it exists.
    worker_timeout : float
        Seconds until it is an error that the cluster has no worker, or loses each before it finishes a task.
    products, **parameters
        As for `rosenblatt.train`.

    Returns
    -------
    ClusterTrained
        With `model`, `learner` (fitted, of the usual class) and `facts()`.

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt import cluster
    >>> rows, labels = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 10), np.array([0, 0, 1, 1] * 10)
    >>> trained = cluster.train(None, (rows, labels), "averaged", shards=2)
    >>> trained.model.predict([[3.0]]).tolist()
    [1]
    """
    if mixing not in get_args(Mixing):
        raise ParameterError(f"mixing={mixing!r}: must be 'momentum' or 'mean'")
    mixes = MIXES[mixing] if mixes is None else check_count("mixes", mixes)
    shards = None if shards is None else check_count("shards", shards)
    is_auto = isinstance(params, str) and params == "auto"
    if not is_auto:  # errors are raised before any data is read
        params = check_params(params_of(params, parameters), shards or 1)
    is_regression = not is_auto and params.is_regression
    with open_executor(client, worker_timeout) as executor:
        data = Partitions.load(executor, source, reading or {}, shards, is_regression)
        shards = min(data.rows, shards or max(1, min(len(data.infos), MOST_SHARDS, data.rows // LEAST_ROWS)))
        choice = Choice(params)
        if is_auto:
            choice = _choose(executor, data, products, parameters)
            on_choice(choice.why)
        params = check_params(choice.params, shards)
        params.check_classes(len(data.classes))
        if params.class_weight is not None:
            params = copy(params)
            params.class_weight = data.class_weights(params.class_weight)
            choice = replace(choice, params=params)
        if params.is_ovr(len(data.classes)):
            raise ParameterError(
                "multiclass='ovr' cannot be averaged: it is a separate run per class; use multiclass='joint'"
            )
        schema = _schema(executor, data, params, choice, may_compact=shards > 1 and choice.products is None)
        cuts = cut_shards([info.rows for info in data.infos], shards)
        rows = [
            executor.submit(join_shard, [data.futures[p] for p, _, _ in cut], [(a, b) for _, a, b in cut], schema)
            for cut in cuts
        ]
        data.futures = []  # the shards hold the rows
        infos = executor.results([executor.submit(shard_info, shard, checkpoint is not None) for shard in rows])
        sizes, checksums = zip(*infos, strict=True)
        seed, terms = seed_of(params.random_state), choice.products
        state = _start_state(schema, terms, seed)
        run = ClusterRun(executor, rows, params, mixing, mixes if shards > 1 else 1, sizes, seed, state, terms)
        if checkpoint is not None:
            run.checkpoint = Checkpoint(checkpoint, every, list(checksums))
            if resume and os.path.exists(checkpoint):
                run.checkpoint.restore(run)
        on_run(run)
        if run.checkpoint is not None:
            run.checkpoint.save(run)
        return _finish(run, data, schema, choice)


def check_params(params: Any, shards: int) -> LinearParams:
    """Raise, with the reason, for params that cannot be averaged."""
    params.check()
    if not isinstance(params, LinearParams):
        raise ParameterError(
            f"{params.learner} cannot learn on a cluster: shards have different support rows, which have no mean"
        )
    reasons = {
        "vote": "the answer is a sequence of weight vectors, and shards have no common sequence",
        "pocket": "a challenger is checked on all rows at once, and no shard has them all",
        "tail": "it counts back along one sequence of examples, and shards have no common sequence",
    }
    keep = params.keep
    if keep not in ("last", "average") and (shards > 1 or keep != "tail"):
        other = "shards=1" if keep == "tail" else "`fit` on one machine"
        why = reasons.get(keep, "its arrays have no mean")
        raise ParameterError(f"keep={keep!r} cannot be averaged: {why}; use keep='last', keep='average' or {other}")
    unsupported = {
        "early_stopping": (bool(params.early_stopping), "there are no held-out rows on a cluster"),
        "warm_start": (bool(params.warm_start), "use init=(weights, intercept)"),
        "n_init": (int(params.n_init) > 1, "restarts are separate runs"),
        "scale_target": (bool(getattr(params, "scale_target", False)), "no worker sees all targets; use False"),
    }
    for name, (given, why) in unsupported.items():
        if given:
            raise ParameterError(f"{name}={getattr(params, name)!r} does not work on a cluster: {why}")
    return params


def _choose(executor: Executor, data: Partitions, products: bool, parameters: dict[str, Any]) -> Choice:
    """The choice of `rosenblatt.train`, on rows from all partitions; only they come to the client."""
    step = sample_step(sum(info.stored for info in data.infos), sum(info.rows for info in data.infos))
    begins = np.cumsum([0] + [info.rows for info in data.infos]).tolist()
    samples = [
        executor.submit(sample_rows, partition, data.classes, step, -begin % step)
        for partition, begin in zip(data.futures, begins[:-1], strict=True)
    ]
    rows = join_batches([batch for batch in executor.results(samples) if len(batch)])
    options = parameters | {"random_state": seed_of(parameters.get("random_state", 0))}
    if options.get("class_weight") is not None:
        options["class_weight"] = data.class_weights(options["class_weight"])
    labels, class_weight = Labels(data.classes.values, rows.codes), options.pop("class_weight", None)
    table, seed = rows.csr(max(data.features, rows.features, 1)).table(), options.pop("random_state")
    sample = Sample(table, labels, seed=seed).weighed(rows.weights, class_weight)
    choice = select(sample, products=products, step=step, **options)
    choice.params.class_weight = class_weight
    return choice


def _schema(
    executor: Executor, data: Partitions, params: LinearParams, choice: Choice, *, may_compact: bool
) -> ShardSchema:
    weights = None if params.class_weight is None else np.array(list(params.class_weight.values()))
    dtype, columns = np.result_type(*(info.dtype for info in data.infos)), None
    zeros = isinstance(params.init, str) and params.init == "zeros"
    if may_compact and zeros and data.features >= WIDE and data.infos[0].sparse:
        # Hashed features leave most columns empty: columns without a value in any row need not be averaged.
        used = [executor.submit(used_columns, partition) for partition in data.futures]
        columns = executor.results([executor.reduce(join_columns, used)])[0]
        columns = columns if 0 < len(columns) < data.features else None
    return ShardSchema(
        data.classes,
        data.features,
        dtype,
        params,
        weights,
        None if choice.scaling is None else choice.scaling.scale,
        columns,
    )


def _start_state(schema: ShardSchema, products: Products | None, seed: int) -> GlobalState:
    params, width, dtype = schema.params, schema.width, schema.dtype
    if products is not None:
        width, dtype = count_terms(len(products.columns)), np.dtype(np.float32)
    generator, shape = engine.seed_generator(seed, 0), (weight_rows(len(schema.classes)), width)
    weights, intercept = starting_weights(params.init, shape, dtype, generator, bool(params.fit_intercept))
    state = WeightState.of(params, np.asfortranarray(weights), intercept, generator)
    state.take_penalty(params.update_rule.penalty)
    return GlobalState(state)


def _finish(run: ClusterRun, data: Partitions, schema: ShardSchema, choice: Choice) -> ClusterTrained:
    params, state, stopping, reader = run.params, run.current.state, run.stopping, data.reader
    if stopping.stop_reason == "converged":
        state.converged()
    history, reason, rows = stopping.history, stopping.stop_reason or "unfinished", sum(run.sizes)
    classes = np.empty(0) if params.is_regression else data.classes.values
    fitted = Fitted(
        [state], classes, params.shape(), data.features, history=history, n_iter=len(history), stop_reason=reason
    )
    model = build_model(fitted, rows, choice, schema.columns)
    if len(run.sizes) > 1:
        model.history.update(shards=len(run.sizes), mixing=run.mixing, mixes=run.mixes)
    if reader is None:
        names = dict(enumerate(next((info.names for info in data.infos if info.names is not None), ())))
    else:
        names = _find_names(run.executor, reader, model.parts[0])
    model = replace(model, encoder=None if reader is None else reader.encoder, names=names)
    return ClusterTrained(
        model,
        params,
        rows,
        history,
        reason,
        choice.why or None,
        choice.scores,
        choice.held,
        shards=len(run.sizes),
        mixing=run.mixing,
        mixes=run.mixes,
        retries=run.retries,
        bad_lines=sum(info.bad for info in data.infos),
    )


def _find_names(executor: Executor, reader: Dataset, predictor: Any) -> dict[int, str]:
    if reader.sources:
        with suppress(DataError):  # if a file is gone since it was learned from: a model needs no names
            return executor.run(names_in, reader, executor.scatter(predictor))
        return {}
    columns = predictor.products.columns if isinstance(predictor, Quadratic) else predictor.columns()
    plain = reader.encoder.plain_names()
    return {int(column): plain[int(column)] for column in columns if int(column) in plain}


def names_in(reader: Dataset, predictor: Any) -> dict[int, str]:
    """The names of the columns with the largest weights, as far as the beginning of the data has them."""
    return column_names(first_sources(reader), predictor)
