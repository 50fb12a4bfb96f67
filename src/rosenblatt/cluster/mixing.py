"""Mixing: from what all shards have changed to the weights that they start from next.

Invariant: one shard alone is not mixed at all: its state goes on, to the bit the plain learner's. Sums of an averaging
keep are exact whatever the mixing: the answer is the mean of the weights after every row of every shard.

``mean`` and ``mistakes`` are iterative parameter mixing (McDonald, Hall and Mann 2010): shares in proportion to a
shard's rows, or to its mistakes; the perceptron keeps its bound. ``momentum`` is a block momentum on the mean step
(Chen and Huo 2016): ``step = eta step + mean``, with ``eta = 1 - 1/shards``, so that in the long run a shard's step
counts in full instead of by its share. No bound is known for it: what is claimed is measured only. Weights with
variances are mixed as Gaussians are: by their precisions, which add up.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cluster.change import Change, Front, Tally, Values, size_of
from rosenblatt.errors import ParameterError
from rosenblatt.learners.state.state import State
from rosenblatt.recipe.recipe import LinearRecipe, Recipe
from rosenblatt.recipe.rules import NO_PENALTY

Mixing = Literal["momentum", "mean", "mistakes"]
MIXINGS: tuple[Mixing, ...] = get_args(Mixing)
MIXES = {"momentum": 10, "mean": 1, "mistakes": 1}  # per epoch


@dataclass(frozen=True)
class Mixer:
    """How shards are mixed."""

    mixing: Mixing
    shards: int
    precisions: Literal["sum", "mean"] = "sum"

    @property
    def eta(self) -> float:
        """How much of the last step is in the next one."""
        return 1.0 - 1.0 / self.shards if self.mixing == "momentum" else 0.0

    def share(self, rows: int, tally: Tally, *, by_updates: bool) -> float:
        """What a shard's pass counts in the mix, in proportion."""
        if self.mixing == "mistakes":
            return float(tally.updates if by_updates else tally.mistakes)
        return float(rows)


@dataclass(frozen=True)
class Mixed:
    """The state that all shards have made together, and the step that led to it."""

    state: State
    step: Values = field(default_factory=dict)  # of the weights and intercepts, for a momentum
    tally: Tally = field(default_factory=Tally)  # of the latest mix
    gain: float = 0.0  # how far the weights moved, squared

    def __sizeof__(self) -> int:
        return 1000 + size_of(self.state) + sum(values.nbytes for values in self.step.values())


def mix(mixed: Mixed, change: Change, mixer: Mixer) -> Mixed:
    """The state after one more mix."""
    if change.whole is not None:
        return Mixed(change.whole, {}, change.tally)
    state = mixed.state.settled().copy()
    tally = change.tally
    if change.share:
        tally = replace(tally, mixed_mistakes=tally.mixed_mistakes / change.share)
    else:
        tally = replace(tally, mixed_mistakes=0.0)
    step = _steps(state, change, mixer)
    moved = tally.updates > 0 or bool(state.penalty != NO_PENALTY)
    for name in ("weights", "intercept"):
        if mixer.eta and moved and name in mixed.step:
            step[name] = step[name] + mixer.eta * mixed.step[name]
    if not moved:  # nobody had anything to change: the weights stay, so that the next pass shows whether they separate
        step = {}
    _apply(state, change, step, tally)
    kept = {name: step[name] for name in ("weights", "intercept")} if mixer.eta and step else {}
    return Mixed(state, kept, replace(tally, finite=tally.finite and state.is_finite()))


def _steps(state: State, change: Change, mixer: Mixer) -> Values:
    """The mean step of the shards, before any momentum; float64."""
    share = change.share or 1.0
    packed, small = change.matrices, change.intercepts
    weights = packed.matrix("weights").astype(np.float64) / share
    intercept = small["weights"] / share
    if "precisions" not in packed.values:
        return {"weights": weights, "intercept": intercept}
    steps: Values = {}
    rows = (("weights", "variances", weights, packed.matrix("precisions").astype(np.float64) / share),)
    rows += (("intercept", "intercept_variances", intercept, small["precisions"] / share),)  # type: ignore[assignment]
    many = mixer.shards if mixer.precisions == "sum" else 1
    for name, variances, moved, gained in rows:
        before = 1.0 / state.arrays[variances].astype(np.float64)
        # Of the information q v and the precision q each shard adds its own part to what was known before.
        after = before + many * gained
        information = before * state.arrays[name] + many * moved
        steps[name] = np.where(after > 0, information / after, state.arrays[name]) - state.arrays[name]
        steps[variances] = 1.0 / after
    return steps


def _apply(state: State, change: Change, step: Values, tally: Tally) -> None:
    """On exit the state has taken the step, and counts every row of every shard."""
    seen = state.counter("seen")
    before = {name: state.arrays[name].astype(np.float64) for name in ("weights", "intercept")}
    for name in ("weights", "intercept"):
        if name in step:
            state.arrays[name] = (before[name] + step[name]).astype(state.arrays[name].dtype)
    for name in ("variances", "intercept_variances"):
        if name in step:
            state.arrays[name] = step[name].astype(state.arrays[name].dtype)
    if "sums" in state.arrays:
        after = {name: state.arrays[name].astype(np.float64) - before[name] for name in before}
        totals = {"sums": change.matrices.matrix("totals"), "intercept_sums": change.intercepts["totals"]}
        for name, sums in (("weights", "sums"), ("intercept", "intercept_sums")):
            if state.penalty != NO_PENALTY and name == "weights":  # the sums of the weights themselves
                state.arrays[sums] = state.arrays[sums] + tally.seen * before[name] + totals[sums]
            else:  # so that weights - sums/seen is the mean
                state.arrays[sums] = state.arrays[sums] + (seen + tally.seen) * after[name] - totals[sums]
    for name in ("seen", "survived"):
        state.set_counter(name, state.counter(name) + tally.seen)
    for name in ("mistakes", "updates"):
        state.set_counter(name, state.counter(name) + getattr(tally, name))
    state.arrays["mistake_weight"] = state.arrays["mistake_weight"] + tally.mistake_weight
    if "as_of" in state.arrays:
        state.arrays["as_of"] = np.full(state.features, state.counter("seen"))


def front_of(mixed: Mixed, alone: bool) -> Front:
    """What shards start from."""
    return Front.of(mixed.state, alone=alone)


def tally_of(mixed: Mixed, front: Front) -> tuple[Tally, int]:
    """What happened in the latest mix, and the bytes of what every worker gets."""
    return mixed.tally, front.nbytes


def check_recipe(recipe: Any, shards: int) -> LinearRecipe:
    """Raise, with the reason, for what cannot be mixed."""
    if not isinstance(recipe, Recipe):
        raise ParameterError(f"{recipe!r} is no recipe and no learner of rosenblatt")
    recipe.check()
    if not isinstance(recipe, LinearRecipe):
        raise ParameterError(
            f"{recipe.learner} cannot learn on a cluster: shards have different support rows, and their mean is none"
        )
    reasons = {
        "vote": "the answer is a sequence of weight vectors, and shards have no common sequence",
        "pocket": "a challenger is checked on all rows at once, and no shard has them all",
        "tail": "it counts back along one sequence of examples, and shards have no common sequence",
    }
    if recipe.used_keep in reasons and shards > 1:
        raise ParameterError(
            f"keep={recipe.used_keep!r} cannot be mixed: {reasons[recipe.used_keep]}; "
            "use keep='last' or keep='average', or shards=1"
        )
    told = {
        "early_stopping": (bool(recipe.early_stopping), "there are no held-out rows on a cluster"),
        "warm_start": (bool(recipe.warm_start), "write init=(weights, intercept) instead"),
        "n_init": (int(recipe.n_init) > 1, "restarts are separate runs"),
    }
    for name, (given, why) in told.items():
        if given:
            raise ParameterError(f"{name}={getattr(recipe, name)!r} has no meaning on a cluster: {why}")
    if recipe.used_keep in ("vote", "pocket"):
        raise ParameterError(f"keep={recipe.used_keep!r} on a cluster: {reasons[recipe.used_keep]}; use `fit`")
    return recipe


def check_mixing(mixing: Any, mixes: Any) -> tuple[Mixing, int]:
    """How to mix, and how often per epoch."""
    from rosenblatt.recipe.parameters import check_count

    if mixing not in MIXINGS:
        raise ParameterError(f"mixing={mixing!r}: must be {', '.join(map(repr, MIXINGS[:-1]))} or {MIXINGS[-1]!r}")
    return mixing, MIXES[mixing] if mixes is None else check_count("mixes", mixes)


def starting(state: State, generator: NDArray[np.uint64]) -> Mixed:
    """Before the first mix."""
    state.arrays["generator"] = generator.copy()
    return Mixed(state)
