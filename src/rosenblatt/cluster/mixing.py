"""Mixing: from what all shards have changed to the weights that they start from next.

Invariant: one shard alone is not mixed at all: its state goes on, to the bit the plain learner's. Sums of an averaging
keep are exact whatever the mixing: the answer is the mean of the weights after every row of every shard.

``mean`` is iterative parameter mixing (McDonald, Hall and Mann 2010): shares in proportion to a shard's rows; the
perceptron keeps its mistake bound. ``momentum`` is a block momentum on the mean step
(Chen and Huo 2016): ``step = eta step + mean``, with ``eta = 1 - 1/shards``, so that in the long run a shard's step
counts in full instead of by its share. No bound is known for it: what is claimed is measured only. Weights with
variances are mixed in proportion to their precisions, without a momentum: precisions say how far to step already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cluster.change import Change, Front, Packed, Tally, Values, size_of, total_of
from rosenblatt.errors import ParameterError
from rosenblatt.learners.weights import WeightState
from rosenblatt.params import NO_PENALTY, LinearParams, Params

Mixing = Literal["momentum", "mean"]
MIXINGS: tuple[Mixing, ...] = get_args(Mixing)
MIXES = {"momentum": 10, "mean": 1}  # per epoch


@dataclass(frozen=True)
class Mixer:
    """How shards are mixed."""

    mixing: Mixing
    shards: int
    second_order: bool = False

    @property
    def eta(self) -> float:
        """How much of the last step is in the next one."""
        return 1.0 - 1.0 / self.shards if self.mixing == "momentum" and not self.second_order else 0.0


@dataclass(frozen=True)
class Mixed:
    """The state that all shards have made together, and the step that led to it."""

    state: WeightState
    step: Packed | None = None  # of the weights, for a momentum
    intercept_step: NDArray[np.float64] | None = None
    tally: Tally = field(default_factory=Tally)  # of the latest mix

    def __sizeof__(self) -> int:
        return 1000 + size_of(self.state) + (0 if self.step is None else self.step.nbytes)


def mix(mixed: Mixed, changes: Sequence[Change], mixer: Mixer) -> Mixed:
    """The state after one more mix, of what is left at the top of the tree."""
    change = total_of(changes)
    if change.whole is not None:
        return Mixed(change.whole, tally=change.tally)
    state, tally = mixed.state.settled().copy(), change.tally
    if not tally.updates and state.penalty == NO_PENALTY:
        # Nobody had anything to change: the weights stay, so that the next passes show whether they separate.
        _count(state, change, tally, None, {})
        return Mixed(state, tally=tally)
    step, steps = _steps(state, change, mixer)
    if mixer.eta and mixed.step is not None and mixed.intercept_step is not None:
        slower = {name: mixer.eta * values for name, values in mixed.step.values.items()}
        step = step.plus(Packed(mixed.step.features, mixed.step.columns, slower))
        steps["intercept"] = steps["intercept"] + mixer.eta * mixed.intercept_step
    _count(state, change, tally, step, steps)
    tally = replace(tally, finite=tally.finite and state.is_finite())
    return Mixed(state, step, steps["intercept"], tally) if mixer.eta else Mixed(state, tally=tally)


def _steps(state: WeightState, change: Change, mixer: Mixer) -> tuple[Packed, Values]:
    """The mean step of the shards before any momentum; and of the intercepts, and new variances."""
    share, packed, small = change.share or 1.0, change.matrices, change.intercepts
    where = _where(packed)
    weights, intercept = packed.values["weights"].astype(np.float64) / share, small["weights"] / share
    if "precisions" not in packed.values:
        return Packed(packed.features, packed.columns, {"weights": weights}), {"intercept": intercept}
    gained, gained_small = packed.values["precisions"].astype(np.float64) / share, small["precisions"] / share
    before = state.weights[:, where].astype(np.float64)
    weights, variances = _gaussians(before, state.arrays["variances"][:, where], weights, gained)
    state.arrays["variances"][:, where] = variances
    known = state.arrays["intercept_variances"]
    intercept, state.arrays["intercept_variances"] = _gaussians(state.intercept, known, intercept, gained_small)
    return Packed(packed.features, packed.columns, {"weights": weights}), {"intercept": intercept}


def _gaussians(
    mean: NDArray[Any], variance: NDArray[Any], moved: NDArray[Any], gained: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The step of the mean, and the new variance, by the shards' mean gain of ``q v`` and of ``q``."""
    before = 1.0 / variance.astype(np.float64)
    step = (before * mean + moved) / (before + gained) - mean
    return step, 1.0 / (before + gained)


def _where(packed: Packed) -> Any:
    return slice(None) if packed.columns is None else packed.columns


def _count(state: WeightState, change: Change, tally: Tally, step: Packed | None, steps: Values) -> None:
    """On exit the state has taken the step, and counts every row of every shard."""
    seen, plain = state.counter("seen"), state.penalty == NO_PENALTY
    sums = state.arrays.get("sums")
    if sums is not None and not plain:  # the sums of the weights themselves
        sums += tally.seen * state.weights.astype(np.float64)
        sums[:, _where(change.matrices)] += change.matrices.values["totals"]
    elif sums is not None:  # so that weights - sums/seen is the mean
        sums[:, _where(change.matrices)] -= change.matrices.values["totals"]
    if step is not None:
        where = _where(step)
        before = state.weights[:, where].astype(np.float64)
        state.weights[:, where] = before + step.values["weights"]
        if sums is not None and plain:
            sums[:, where] += (seen + tally.seen) * (state.weights[:, where].astype(np.float64) - before)
    intercept = state.intercept.copy()
    if "intercept" in steps:
        state.arrays["intercept"] = intercept + steps["intercept"]
    if sums is not None:
        moved = (seen + tally.seen) * (state.intercept - intercept)
        state.arrays["intercept_sums"] = state.arrays["intercept_sums"] + moved - change.intercepts["totals"]
    for name in ("seen", "survived"):
        state.set_counter(name, state.counter(name) + tally.seen)
    for name in ("mistakes", "updates"):
        state.set_counter(name, state.counter(name) + getattr(tally, name))
    state.arrays["mistake_weight"] = state.arrays["mistake_weight"] + tally.mistake_weight
    state.mark_settled()


def front_of(mixed: Mixed, alone: bool) -> Front:
    """What shards start from."""
    return Front.of(mixed.state, alone=alone)


def tally_of(mixed: Mixed, front: Front) -> tuple[Tally, int]:
    """What happened in the latest mix, and the bytes of what every worker gets."""
    return mixed.tally, front.nbytes


def check_params(params: Any, shards: int) -> LinearParams:
    """Raise, with the reason, for what cannot be mixed."""
    if not isinstance(params, Params):
        raise ParameterError(f"{params!r} is no params and no learner of rosenblatt")
    params.check()
    if not isinstance(params, LinearParams):
        raise ParameterError(
            f"{params.learner} cannot learn on a cluster: shards have different support rows, and their mean is none"
        )
    reasons = {
        "vote": "the answer is a sequence of weight vectors, and shards have no common sequence",
        "pocket": "a challenger is checked on all rows at once, and no shard has them all",
        "tail": "it counts back along one sequence of examples, and shards have no common sequence",
    }
    keep = params.keep
    if keep in reasons and (shards > 1 or keep != "tail"):
        other = "or shards=1" if keep == "tail" else "or `fit` on one machine"
        raise ParameterError(
            f"keep={keep!r} cannot be mixed: {reasons[keep]}; use keep='last' or keep='average', {other}"
        )
    told = {
        "early_stopping": (bool(params.early_stopping), "there are no held-out rows on a cluster"),
        "warm_start": (bool(params.warm_start), "write init=(weights, intercept) instead"),
        "n_init": (int(params.n_init) > 1, "restarts are separate runs"),
        "scale_target": (bool(getattr(params, "scale_target", False)), "no worker sees all targets; write False"),
    }
    for name, (given, why) in told.items():
        if given:
            raise ParameterError(f"{name}={getattr(params, name)!r} has no meaning on a cluster: {why}")
    return params


def check_mixing(mixing: Any, mixes: Any) -> tuple[Mixing, int]:
    """How to mix, and how often per epoch."""
    from rosenblatt.params import check_count

    if mixing not in MIXINGS:
        raise ParameterError(f"mixing={mixing!r}: must be {', '.join(map(repr, MIXINGS[:-1]))} or {MIXINGS[-1]!r}")
    return mixing, MIXES[mixing] if mixes is None else check_count("mixes", mixes)
