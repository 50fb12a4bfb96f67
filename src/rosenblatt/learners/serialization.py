"""Fitted learners and their states as a header of JSON values and tensors, for files, checkpoints and the service.

Invariant: learning A, saving, loading and learning B gives the bits of learning A and then B. Every value that is read
is checked: one loop over the declared arrays checks type, shape and range, so no file leads learning outside of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine, learners
from rosenblatt.data.table import as_table
from rosenblatt.errors import ModelError, ParameterError
from rosenblatt.learners.stopping import History
from rosenblatt.learners.support import BudgetState, Support, SupportState
from rosenblatt.learners.targets import weight_rows
from rosenblatt.learners.weights import (
    COUNTERS,
    KEEP_BY_NAME,
    NOTHING,
    Array,
    Arrays,
    UpdateLog,
    WeightState,
    declare,
    matrices,
)
from rosenblatt.models.container import (
    SavedState,
    Tensors,
    check_columns,
    check_shapes,
    count_of,
    rows_from,
    rows_to,
    take,
)
from rosenblatt.models.model import Model
from rosenblatt.models.predictors import Kernel, Products, Updates, count_terms
from rosenblatt.params import (
    NO_PENALTY,
    KernelPerceptronParams,
    LinearParams,
    Params,
    Penalty,
    Policy,
    check_number,
    params_from_json,
    values_from_json,
    values_to_json,
)

if TYPE_CHECKING:
    from rosenblatt.learners.base import Learner


INNER = "inner."  # before the names of the tensors of a wrapped learner
Scaled = tuple[str, NDArray[np.float64], NDArray[np.float64]]  # its kind; what is taken off, and what it is divided by


def wrap_state(
    header: dict[str, Any],
    tensors: Tensors,
    inner: SavedState,
    scaled: Scaled | None = None,
    products: Products | None = None,
) -> SavedState:
    """The state of an estimator that wraps a learner, of scaled columns or of products."""
    if scaled is not None:
        tensors = tensors | {"scaling.center": scaled[1], "scaling.scale": scaled[2]}
    if products is not None:
        products.to_tensors("products.", tensors)
    own = {f"{INNER}{name}": tensor for name, tensor in inner.tensors.items()}
    scaling = None if scaled is None else scaled[0]
    return SavedState({**header, "scaling": scaling, "inner": inner.header}, tensors | own)


def inner_state(saved: SavedState) -> SavedState:
    """The state of the wrapped learner."""
    own = {name.removeprefix(INNER): found for name, found in saved.tensors.items() if name.startswith(INNER)}
    return SavedState(saved.header["inner"], own)


MOST_COUNTED = 2**62


def state_to(state: WeightState, tensors: Tensors) -> dict[str, Any]:
    """The arrays of a state; of matrices only columns that are not to the bit what a new feature begins with."""
    wide = {array.name: array for array in matrices(state.declared)}
    for name, values in state.arrays.items():
        if name not in wide:
            tensors[name] = values
            continue
        bits = f"i{values.itemsize}"
        begun = np.array(_begin(wide[name]), values.dtype).view(bits)
        columns = np.flatnonzero((np.ascontiguousarray(values).view(bits) != begun).any(axis=0))
        tensors[f"{name}.columns"] = columns
        tensors[name] = np.ascontiguousarray(values[:, columns])
    header = {
        "keep": state.keep.name,
        "fit_intercept": state.fit_intercept,
        "features": state.features,
        "penalty": None if state.penalty == NO_PENALTY else asdict(state.penalty),
    }
    if state.stores_rows:
        state.remembered.updates.to_tensors("log.", tensors)
    return header


def state_from(header: dict[str, Any], tensors: Tensors, remembered: UpdateLog = NOTHING) -> WeightState:
    """The state of a header and tensors."""
    features, keep = header["features"], header["keep"]
    penalty = NO_PENALTY if header["penalty"] is None else Penalty(**header["penalty"])
    declared = declare(keep, "variances" in tensors, penalty != NO_PENALTY)
    arrays: Arrays = {}
    for array in declared:
        arrays[array.name] = tensors[array.name]
        if array.shape == "weights":
            stored, begin = tensors[array.name], _begin(array)
            arrays[array.name] = np.full((stored.shape[0], features), begin, stored.dtype, order="F")
            if begin == 0.0:  # whose pages stay untouched
                arrays[array.name] = np.zeros((stored.shape[0], features), stored.dtype, order="F")
            arrays[array.name][:, tensors[f"{array.name}.columns"]] = stored
    for name in ("counters", "generator"):
        arrays[name] = tensors[name]
    return WeightState(KEEP_BY_NAME[keep], declared, header["fit_intercept"], arrays, remembered, penalty)


def linear_to(state: WeightState, prefix: str, tensors: Tensors) -> dict[str, Any]:
    """A state for a model file: its arrays lie as those of an answer do, so that equal ones are stored once."""
    own: Tensors = {}
    header = state_to(state, own)
    for array in matrices(state.declared):
        own[array.name] = own[array.name].ravel(order="F")
    if state.stores_rows:
        header["support"] = rows_to(state.remembered.rows, prefix, tensors)
    tensors |= {f"{prefix}{name}": tensor for name, tensor in own.items()}
    return header


def linear_from(header: dict[str, Any], prefix: str, tensors: Tensors, features: int, K: int) -> WeightState:
    """The state of a model file, over so many features and weight rows, every value checked."""
    own = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    if (
        header["keep"] not in KEEP_BY_NAME
        or header["features"] != features
        or not isinstance(header["fit_intercept"], bool)
    ):
        raise ModelError("its learning state does not fit its answer")
    declared = declare(header["keep"], "variances" in own, header["penalty"] is not None)
    check_tally(own)
    for array in declared:
        _check_array(array, own, features, K)
        if array.shape == "weights":
            own[array.name] = own[array.name].reshape((K, -1), order="F")
    _check_penalty(header["penalty"], own)
    remembered = NOTHING
    if KEEP_BY_NAME[header["keep"]].stores_rows:
        rows, count = rows_from(header["support"], prefix, tensors, features)
        remembered = UpdateLog(rows, Updates.from_tensors("log.", own, count, K))
    state = state_from(header, own, remembered)
    return state.copy()  # what a file holds may be read-only


def check_tally(own: Tensors) -> None:
    """Raise unless counters and generator are some."""
    counters, generator, weight = take(own, counters="i8", generator="u8", mistake_weight="f8")
    check_shapes(counters.shape == (len(COUNTERS),) and weight.shape == (1,))
    check_shapes(generator.shape == engine.seed_generator(0).shape)
    if counters.min() < -1 or counters.max() >= MOST_COUNTED or not generator.any():
        raise ModelError("its counters are out of range")


def _check_array(array: Array, own: Tensors, features: int, K: int) -> None:
    if array.name == "pocket_mistakes":
        check_pocket(own)
        return
    found = take(own, **{array.name: "f" if array.as_rows else "f8"})[0]
    check_shapes(not array.as_rows or found.dtype == own["weights"].dtype)
    if array.shape == "weights":
        columns = take(own, **{f"{array.name}.columns": "i8"})[0]
        check_shapes(len(columns) <= features and found.shape == (K * len(columns),))
        check_columns(columns, features)
    else:
        check_shapes(found.shape == {"classes": (K,), "features": (features,), "one": (1,)}[array.shape])
    if array.inherits and len(found) and found.min() < 0:
        raise ModelError("its variances are negative")


def check_pocket(own: Tensors) -> None:
    """Raise unless the mistakes of the pocket are a number; infinity before the first."""
    mistakes = own["pocket_mistakes"]
    check_shapes(mistakes.shape == (1,) and mistakes.dtype.str == "<f8")
    if not mistakes[0] >= 0:
        raise ModelError("its counters are out of range")


def _check_penalty(header: Any, own: Tensors) -> None:
    if header is None:
        return
    shrink, cut = header["shrink"], header["cut"]
    if set(header) != {"shrink", "cut"} or not (isinstance(shrink, float) and isinstance(cut, float)):
        raise ModelError("its penalty cannot be read")
    if not (0.0 <= shrink <= 1.0 and 0.0 <= cut < np.inf):
        raise ModelError("its penalty is out of range")
    seen = count_of(int(own["counters"][COUNTERS.index("seen")]))
    check_moments(own, seen)


def check_moments(arrays: Arrays, seen: int) -> None:
    """Raise unless weights and sums are those of examples that were seen."""
    for name in ("settled_at", "summed_at"):
        moments = arrays.get(name)
        if moments is not None and moments.size and not (moments.min() >= 0 and moments.max() <= seen):
            raise ModelError("its counters are out of range")


def _begin(array: Array) -> float:
    """What a feature begins with that comes later."""
    return 0.0 if array.copy_of else array.begin


MOST_BUDGET = 1 << 15  # whose matrix is then 8 GB


def duals_to(states: list[SupportState], tensors: Tensors) -> dict[str, Any]:
    """The support that all problems share, and the updates of each."""
    first = states[0]
    for at, state in enumerate(states):
        tensors |= {f"{at}.{name}": values for name, values in state.arrays.items()}
        state.log.to_tensors(f"{at}.", tensors)
    return {
        "keep": first.keep,
        "kernel": first.kernel.to_json(),
        "fit_intercept": first.fit_intercept,
        "support": rows_to(first.support.rows, "", tensors),
        "pockets": [int(state.pocket) for state in states],
    }


def duals_from(
    header: dict[str, Any], tensors: Tensors, features: int, K: int, params: KernelPerceptronParams
) -> list[SupportState]:
    """The states of a header and tensors, checked."""
    kernel, pockets = Kernel.from_json(header["kernel"]), [count_of(each) for each in header["pockets"]]
    rows, count = kernel.support_from(header["support"], "", tensors, features)
    support = Support(precomputed=kernel.name == "precomputed")
    if rows is not None:
        stored = rows if support.precomputed else as_table(rows)
        places = support.add(stored, rows if support.precomputed else np.arange(count))
        if not np.array_equal(places, np.arange(count)):
            raise ModelError("one of its support rows is stored twice")
    if header["keep"] not in KEEP_BY_NAME or not isinstance(header["fit_intercept"], bool):
        raise ModelError("its learning state does not fit its answer")
    states = []
    for at, pocket in enumerate(pockets):
        own = _own(tensors, at)
        check_tally(own)
        log = Updates.from_tensors(f"{at}.", tensors, count, K)
        arrays = {name: own[name].copy() for name in ("counters", "generator", "mistake_weight")}
        if header["keep"] == "pocket":
            check_pocket(own)
            arrays["pocket_mistakes"] = own["pocket_mistakes"].copy()
        if pocket > len(log) or int(log.survived.sum()) > arrays["counters"].max(initial=0):
            raise ModelError("its counters are out of range")
        cache_bytes = int(float(params.cache_size) * 2**20 / len(pockets))
        states.append(
            SupportState(header["keep"], kernel, header["fit_intercept"], K, support, cache_bytes, arrays, log)
        )
        states[-1].pocket = pocket
    return states


def budgets_to(states: list[BudgetState], tensors: Tensors) -> dict[str, Any]:
    """The slots of each problem."""
    first = states[0]
    for at, state in enumerate(states):
        tensors |= {f"{at}.{name}": values for name, values in state.arrays.items()}
    return {
        "kernel": first.kernel.to_json(),
        "fit_intercept": first.fit_intercept,
        "policy": first.policy,
        "supports": [rows_to(state.rows, f"{at}.", tensors) for at, state in enumerate(states)],
    }


def budgets_from(header: dict[str, Any], tensors: Tensors, features: int, K: int) -> list[BudgetState]:
    """The states of a header and tensors, checked."""
    kernel, policy = Kernel.from_json(header["kernel"]), header["policy"]
    if policy not in get_args(Policy) or not isinstance(header["fit_intercept"], bool):
        raise ModelError("its learning state does not fit its answer")
    states = []
    for at, of_rows in enumerate(header["supports"]):
        own = _own(tensors, at)
        check_tally(own)
        kinds = {"members": "i8", "coefficients": "f8:2", "matrix": "f8:2", "ring": "i8", "numbers": "f8"}
        members, coefficients, matrix, ring, numbers = take(own, **kinds)
        budget = len(members)
        check_shapes(0 < budget <= MOST_BUDGET)
        side = 0 if policy == "forget-oldest" else budget
        check_shapes(coefficients.shape == (budget, K) and matrix.shape == (side, side))
        check_shapes(ring.shape == (2,) and numbers.shape == (4,))
        rows, count = rows_from(of_rows, f"{at}.", tensors, features)
        if not (ring[0] == count <= budget and 0 <= ring[1] < budget and (members == -1).all()):
            raise ModelError("its support rows do not fit its budget")
        arrays = {name: own[name].copy() for name in ("counters", "generator", "mistake_weight", *kinds)}
        states.append(BudgetState(kernel, header["fit_intercept"], K, policy, arrays, rows))
    return states


def _own(tensors: Tensors, at: int) -> Tensors:
    prefix = f"{at}."
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


MADE = tuple(name for name in learners.__all__ if name != "History")


def learner_to_tensors(learner: Learner) -> SavedState | None:
    """Everything that the learner needs to go on; None where it cannot: its class or its parameters are others."""
    told = learner.learned.told
    if type(learner).__name__ not in MADE or told != learner.params().shape():
        return None
    with learner.learned.lock:
        stream = learner.learned.stream
        return states_to_tensors(
            type(learner).__name__,
            learner.get_params(deep=False),
            learner.learned.states,
            learner.history_,
            epochs=learner.n_iter_,
            stop_reason=learner.stop_reason_,
            unrecorded=None if stream is None else list(stream.unrecorded()),
            is_multilabel=learner.learned.is_multilabel,
            target_scale=vars(learner).get("target_scale_"),
        )


def states_to_tensors(
    learner: str,
    told: dict[str, Any],
    states: list[Any],
    history: History,
    *,
    epochs: int,
    stop_reason: str,
    unrecorded: list[int] | None = None,
    is_multilabel: bool = False,
    target_scale: float | None = None,
) -> SavedState:
    """The states of a learner by its class and parameters; `unrecorded` counts what a stream has learned."""
    tensors: Tensors = {"validation": np.array(history.validation_score, np.float64)}
    header = {
        "learner": learner,
        "parameters": values_to_json(told, tensors),
        "states": states_to(states, tensors),
        "epochs": epochs,
        "stop_reason": stop_reason,
        "unrecorded": unrecorded,
        "mistakes": [int(count) for count in history.mistakes],
        "updates": [int(count) for count in history.updates],
        "is_multilabel": is_multilabel,
        "target_scale": target_scale,
    }
    return SavedState(header, {name: tensor.copy() for name, tensor in tensors.items()})


def learner_from_tensors(saved: SavedState, classes: NDArray[Any], features: int, names: Mapping[int, Any]) -> Any:
    """The learner of a file that tells these classes apart, by columns of these names, checked."""
    header, tensors = saved.header, saved.tensors
    if header["learner"] not in MADE:
        raise ModelError(f"it was learned by {str(header['learner'])[:40]!r}, which is not a learner of rosenblatt")
    made: Any = getattr(learners, header["learner"])
    try:
        learner = made(**values_from_json(header["parameters"], tensors))
        learner.params().check()
    except (ParameterError, TypeError) as error:
        raise ModelError(f"its parameters have no meaning: {error}") from None
    params = learner.params()
    is_multilabel = bool(header.get("is_multilabel", False))
    states = states_from_tensors(header["states"], tensors, classes, features, params, apart=is_multilabel)
    learner.history_ = _history_from(header, tensors)
    if header.get("target_scale") is not None:
        learner.target_scale_ = check_number("target_scale", header["target_scale"], above=0.0)
        params = learner.params()
    learner.install(classes, states)
    learner.learned.is_multilabel = is_multilabel
    learner.n_features_in_ = features
    learner.n_iter_, learner.stop_reason_ = count_of(header["epochs"]), str(header["stop_reason"])
    learner.converged_ = learner.stop_reason_ == "converged"
    if header["unrecorded"] is not None:
        hashed = bool(getattr(params, "hash_bits", None))
        columns = {} if hashed else {names.get(column, column): column for column in range(features)}
        if not hashed and len(columns) != features:
            raise ModelError("the names of its features do not fit them")
        stream = learner.learned.begin_stream(columns, params)
        stream.recorded_but(*(count_of(each) for each in header["unrecorded"]))
    elif len(names) == features and all(isinstance(name, str) for name in names.values()):
        learner.feature_names_in_ = np.array([names[column] for column in range(features)], dtype=object)
    elif len(names) == features:  # of a kernel's stream
        learner._stream_names = {names[column]: column for column in range(features)}
    return learner


def states_to(states: list[Any], tensors: Tensors) -> dict[str, Any]:
    """The states of one learner."""
    if isinstance(states[0], SupportState):
        return {"kind": "kernel", **duals_to(states, tensors)}
    if isinstance(states[0], BudgetState):
        return {"kind": "budget", **budgets_to(states, tensors)}
    return {"kind": "linear", "each": [linear_to(state, f"{at}.", tensors) for at, state in enumerate(states)]}


def states_from_tensors(
    header: dict[str, Any],
    tensors: Tensors,
    classes: NDArray[Any],
    features: int,
    params: Any,
    *,
    apart: bool = False,
) -> list[Any]:
    """The states of a header and tensors: as many as the params ask for, over these classes."""
    ovr = apart or params.is_ovr(len(classes))
    problems, K = (len(classes), 1) if ovr else (1, weight_rows(len(classes)))
    kernel = hasattr(params, "kernel")
    states: list[Any]
    if kernel and header["kind"] == ("kernel" if params.budget is None else "budget"):
        if header["kind"] == "kernel":
            states = list(duals_from(header, tensors, features, K, params))
        else:
            states = list(budgets_from(header, tensors, features, K))
    elif header["kind"] == "linear" and not kernel:
        states = [linear_from(each, f"{at}.", tensors, features, K) for at, each in enumerate(header["each"])]
        second_order = params.update_rule.traits.second_order
        fits = all(("variances" in state.arrays) == second_order for state in states)
        if not fits or any(state.keep.name != params.keep for state in states):
            raise ModelError("its learning state does not fit its parameters")
    else:
        raise ModelError("its learning state does not fit its learner")
    if len(states) != problems or any(state.fit_intercept != bool(params.fit_intercept) for state in states):
        raise ModelError("its learning state does not fit its parameters")
    return states


def _history_from(header: dict[str, Any], tensors: Tensors) -> History:
    mistakes, updates = ([count_of(count) for count in header[name]] for name in ("mistakes", "updates"))
    check_shapes(tensors["validation"].dtype.str == "<f8")
    if len(mistakes) != len(updates):
        raise ModelError("what it says of its training cannot be read")
    return History(mistakes, updates, [0.0] * len(mistakes), tensors["validation"].tolist())


def run_to_tensors(
    params: Params,
    state: WeightState,
    history: History,
    stop_reason: str,
    features: int,
    scale: NDArray[np.float64] | None,
    products: Products | None,
    choice: str | None,
) -> SavedState:
    """What a run has learned over so many features; `scale` or `products` make it an `AutoPerceptron`."""
    inner = states_to_tensors(
        params.learner, params.values(), [state], history, epochs=len(history), stop_reason=stop_reason
    )
    if scale is None and products is None:
        return inner
    scaled = None
    if scale is not None and products is None:
        divided = np.ones(features)
        divided[: len(scale)] = scale[:features]
        scaled = "mean-abs", np.zeros(features), divided
    header: dict[str, Any] = {
        "wrapper": "AutoPerceptron",
        "parameters": {},
        "choice": choice,
        "scores": {},
        "calibration": None,
    }
    return wrap_state(header, {}, inner, scaled, products)


@dataclass(frozen=True)
class ResumePoint:
    """What a run over more data begins with."""

    params: LinearParams
    state: WeightState
    scale: NDArray[np.float64] | None
    products: Products | None


def resume_point(model: Model) -> ResumePoint:
    """The state of a model with linear weights that all classes share, to go on from with more data."""
    saved = model.state
    if saved is None:
        raise ModelError("the model holds what it answers with, but no learning state: save it with its state")
    tensors, products, features, scale = saved.tensors, None, model.features, None
    try:
        inner = inner_state(saved) if "wrapper" in saved.header else saved
        written = {"learner": inner.header["learner"], **inner.header["parameters"]}
        params = params_from_json(written, inner.tensors)
        if not isinstance(params, LinearParams) or params.is_ovr(len(model.classes)):
            raise ModelError("only a linear model whose classes are learned together can go on with files")
        if "products.columns" in tensors:
            products = Products.from_tensors("products.", tensors, features)
            features = count_terms(len(products.columns))
        if saved.header.get("scaling") is not None:
            scale, center = take(tensors, "scaling.", scale="f8", center="f8")
            check_shapes(scale.shape == (features,))
            if center.any() or not (scale > 0).all():
                raise ModelError("a model of centered columns cannot go on with files: go on in Python")
        states = states_from_tensors(inner.header["states"], inner.tensors, model.classes, features, params)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"the learning state is not valid: {(str(error).splitlines() or ['it is none'])[0]}") from None
    return ResumePoint(params, states[0], scale, products)
