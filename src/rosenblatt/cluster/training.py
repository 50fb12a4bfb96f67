"""`train`: a source and params in, a model out, learned in shards."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.cluster.checkpoint import restore, save_run
from rosenblatt.cluster.choice import choose_on, parameters_of
from rosenblatt.cluster.hands import Hands, Lost, hands_of
from rosenblatt.cluster.mixing import Mixed, Mixer, Mixing, check_mixing, check_params
from rosenblatt.cluster.parts import both_columns, used_columns
from rosenblatt.cluster.result import ClusterTrained, conclude
from rosenblatt.cluster.rows import Shape, assemble, cut_shards
from rosenblatt.cluster.run import ClusterRun, tree
from rosenblatt.cluster.shard import rows_and_weight
from rosenblatt.cluster.sources import Opened, open_source
from rosenblatt.errors import ClusterError, ParameterError
from rosenblatt.learners.stopping import StoppingCriterion
from rosenblatt.learners.targets import weight_rows
from rosenblatt.learners.weights import WeightState, seed_of, starting_weights
from rosenblatt.models.predictors import Products, count_terms
from rosenblatt.params import LinearParams, check_count, make_params
from rosenblatt.training.train import EPOCHS

MOST_SHARDS = 64  # where their number is left open
LEAST_ROWS = 10_000  # of a shard, then
WIDE = 4096  # features from which on it is worth to find those that are used
SHARD_SEED = 1 << 62  # generators of shards are those of restarts that nobody asks for


def train(
    client: Any,
    source: Any,
    params: Any = "auto",
    *,
    shards: int | None = None,
    mixing: Mixing = "momentum",
    mixes: int | None = None,
    n_jobs: int | None = None,
    reading: dict[str, Any] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 0.0,
    resume: bool = False,
    patience: float = 60.0,
    products: bool = True,
    on_choice: Callable[[str], None] = lambda why: None,
    on_run: Callable[[ClusterRun], None] = lambda run: None,
    on_shard: Callable[[], None] | None = None,
    extra: dict[str, Any] | None = None,
    **parameters: Any,
) -> ClusterTrained:
    """Learn a model in shards, on a Dask cluster or in threads of this process.

    The number of shards is a property of the data: the same shards give the same bits on any number of workers. One
    shard gives the bits of the plain learner.

    Parameters
    ----------
    client : distributed.Client or None
        Who does the work; None: `n_jobs` threads of this process.
    source : paths, Dask DataFrame, (X, y), (X, y, weights), or list of delayed batches
        Paths, globs and addresses are read by the workers. Dask arrays may have dense or sparse chunks. A delayed
        batch gives ``(X, y)``, ``(X, y, weights)`` or a frame. In threads, X and y may be plain arrays.
    params : Params, estimator or str, default="auto"
        As for `rosenblatt.train`; "auto" chooses on a sample of the rows.
    shards : int, optional
        By default as many as the source has parts, at most 64, with 10,000 rows each or more.
    mixing : {"momentum", "mean"}
        "momentum" is the most accurate, by measurement only; "mean" keeps the perceptron's mistake bound.
    mixes : int, optional
        Per epoch; by default 10 for "momentum", else 1.
    reading : dict, optional
        Options of `rosenblatt.io.open_dataset`, for files and frames.
    checkpoint : path, optional
        Where the run is saved after a mix, if `every` seconds have passed since the last time.
    resume : bool, default=False
        Go on from the checkpoint, if there is one.
    patience : float
        Seconds to wait while the cluster has no worker at all, or loses each before it is through with anything.
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
    >>> trained = cluster.train(None, (rows, labels), "averaged", shards=2, n_jobs=1)
    >>> trained.model.predict([[3.0]]).tolist()
    [1]
    """
    mixing, mixes = check_mixing(mixing, mixes)
    if shards is not None:
        shards = check_count("shards", shards)
    if type(params).__name__ == "AutoPerceptron":
        params, products, parameters = "auto", params.products, parameters_of(params)
    told = None  # what is refused is refused before anything is read
    if params != "auto" or not isinstance(params, str):
        told = check_params(_params_of(params, parameters), shards or 1)
    hands = hands_of(client, n_jobs, patience)
    try:
        opened = open_source(
            hands, source, reading or {}, shards, is_regression=told is not None and told.is_regression
        )
        shards = shards or max(1, min(len(opened.parts), MOST_SHARDS, opened.rows // LEAST_ROWS))
        shards = min(shards, opened.rows)
        chosen = None
        if told is None:
            chosen = choose_on(hands, opened, products=products, **parameters)
            on_choice(chosen.why)
        told = check_params(told if chosen is None else chosen.params, shards)
        told.check_classes(len(opened.values))
        if told.is_ovr(len(opened.values)):
            raise ParameterError(
                "multiclass='ovr' cannot be mixed: it is a separate run per class; write multiclass='joint'"
            )
        scale, terms = (None, None) if chosen is None else (chosen.scale, chosen.products)
        shape = _shape(hands, opened, told, scale, compact=shards > 1 and terms is None)
        cuts = cut_shards([facts.rows for facts in opened.facts], shards)
        rows = [
            hands.submit(assemble, [opened.parts[p] for p, _, _ in cut], [(a, b) for _, a, b in cut], shape)
            for cut in cuts
        ]
        counted = hands.results([hands.submit(rows_and_weight, each, checkpoint is not None) for each in rows])
        opened.parts = []  # the shards hold what is needed
        run = _begin(told, shape, mixing, mixes if shards > 1 else 1, counted, terms)
        keeper = None
        if checkpoint is not None:
            about: dict[str, Any] = {"checksums": [each[2] for each in counted], "extra": extra or {}}
            about |= {"source": opened.data, "reading": _plain(reading or {})}
            about["choice"] = None if chosen is None else chosen.why
            if resume and os.path.exists(checkpoint):
                restore(run, checkpoint, about)
            keeper = save_run(checkpoint, every, about)
        on_run(run)
        run.run(hands, rows, on_mix=keeper, on_epoch=on_run, on_shard=on_shard)
        if keeper is not None:
            keeper(run, now=True)
        run.mixed = replace(run.mixed, state=_widened(run.mixed.state, shape))
        return conclude(hands, run, opened, chosen, mixing)
    except Lost as error:  # while nothing was learned yet, or after the last epoch
        why = " ".join(str(error).split())[:300]
        raise ClusterError(f"workers were lost again and again at the same work: {why}") from None
    finally:
        hands.close()


def _params_of(params: Any, parameters: dict[str, Any]) -> Any:
    if isinstance(params, str):
        return make_params(params, **{"max_iter": EPOCHS, **parameters})
    if parameters:
        raise ParameterError(f"{next(iter(parameters))}: params have its parameters already")
    return params.params() if hasattr(params, "params") else params


def _plain(reading: dict[str, Any]) -> dict[str, Any]:
    """Options of reading that a file can hold; limits are as they are where the run is resumed."""
    return {name: value for name, value in reading.items() if name not in ("limits", "jobs", "encoder")}


def _shape(
    hands: Hands, opened: Opened, params: LinearParams, scale: NDArray[np.float64] | None, *, compact: bool
) -> Shape:
    columns = None
    by_class = None if params.class_weight is None else opened.class_weights(params.class_weight)
    zeros = isinstance(params.init, str) and params.init == "zeros"
    if compact and zeros and opened.features >= WIDE and opened.facts[0].sparse:
        # Hashed features leave most columns empty: those that no row has a value in need not be mixed.
        found = tree(hands, both_columns, [hands.submit(used_columns, part) for part in opened.parts])
        columns = hands.results([found])[0]
        columns = columns if len(columns) < opened.features else None
    apart = compact and not params.update_rule.shrinks  # a penalty shrinks the weights of all columns
    epsilon = float(getattr(params, "epsilon", 0.0))
    return Shape(opened.classes, opened.features, opened.dtype, by_class, scale, columns, apart, epsilon)


def _widened(state: WeightState, shape: Shape) -> WeightState:
    """The state over all features: those without a value in any row are as they began."""
    if shape.columns is None:
        return state
    wide = state.settled().copy()
    for array in wide.declared:
        if array.shape == "weights":
            wide.arrays[array.name] = array.with_features(state.arrays[array.name][:, :0], shape.features)
            wide.arrays[array.name][:, shape.columns] = state.arrays[array.name]
    return wide


def _begin(
    params: LinearParams, shape: Shape, mixing: Mixing, mixes: int, counted: list[Any], terms: Products | None
) -> ClusterRun:
    seed, K, shards = seed_of(params.random_state), weight_rows(len(shape.values)), len(counted)
    generator = engine.seed_generator(seed, 0)
    size = (K, shape.width if terms is None else count_terms(len(terms.columns)))
    dtype = shape.dtype if terms is None else np.dtype(np.float32)
    weights, intercept = starting_weights(params.init, size, dtype, generator, bool(params.fit_intercept))
    state = WeightState.of(params, np.asfortranarray(weights), intercept, generator)
    state.take_penalty(params.update_rule.penalty)
    generators = [generator.copy(), *(engine.seed_generator(seed, SHARD_SEED + k) for k in range(1, shards))]
    sizes, weight = [each[0] for each in counted], float(sum(each[1] for each in counted))
    mixer = Mixer(mixing, shards, params.update_rule.traits.second_order)
    stopping = StoppingCriterion.of(params)
    return ClusterRun(params, mixer, mixes, Mixed(state), stopping, generators, sizes, weight, products=terms)
