"""The mistake bound of iterative parameter mixing, checked on a run.

With shares that sum to 1 in each mix, ``M`` the sum over all mixes of each shard's mistakes times its share, ``R`` the
largest norm of a row (extended by 1 for an intercept), ``γ`` the margin of any separating plane and ``c`` 1 for two
classes, 2 for more (McDonald, Hall and Mann 2010, theorem 3; the joint update changes two weight rows):

    w·u >= M γ eta0 and ‖w‖² <= M c R² eta0², so that M <= c R²/γ².

The second inequality needs no margin, so it is checked for every run; the last one where a run has converged, by the
margin of the weights that it found. In all, shards make at most ``c R²/γ²`` over their least share mistakes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.cluster import shard
from rosenblatt.cluster.change import Front
from rosenblatt.cluster.hands import Hands
from rosenblatt.cluster.run import ClusterRun, tree
from rosenblatt.params import Params

ROUNDING = 1 + 1e-6  # of sums of many floats


@dataclass(frozen=True)
class Bound:
    """What the theorem says of a run, and whether it held."""

    mixed_mistakes: float  # M
    mistakes: int  # of all shards
    radius: float  # R
    norm: float  # ‖w‖, for steps of 1
    margin: float | None = None  # γ of the weights that were found, if they separate the rows
    factor: int = 1  # c

    @property
    def limit(self) -> float | None:
        """The most that M can be."""
        return None if self.margin is None else self.factor * (self.radius / self.margin) ** 2

    @property
    def holds(self) -> bool:
        """Are both inequalities met?"""
        by_norm = self.norm**2 <= self.factor * self.mixed_mistakes * self.radius**2 * ROUNDING
        return by_norm and (self.limit is None or self.mixed_mistakes <= self.limit * ROUNDING)

    def to_json(self) -> dict[str, Any]:
        return {
            "mixed_mistakes": self.mixed_mistakes,
            "mistakes": self.mistakes,
            "radius": self.radius,
            "norm": self.norm,
            "margin": self.margin,
            "limit": self.limit,
            "holds": self.holds,
        }


def is_bounded(params: Params, mixing: str) -> bool:
    """Does the theorem speak of such a run? It does of the perceptron from zero weights, by mean or mistakes."""
    rule = params.update_rule
    plain = rule.name == "perceptron" and rule.beta == 0 and not rule.shrinks
    zeros = isinstance(getattr(params, "init", None), str) and getattr(params, "init", None) == "zeros"
    unweighted = params.class_weight is None and params.tie == "mistake"
    return plain and zeros and unweighted and mixing != "momentum"


def find_bound(run: ClusterRun, hands: Hands, rows: Sequence[Any]) -> Bound:
    """By a look at all rows."""
    state = run.mixed.state
    front = hands.hold(Front.of(state, alone=False))
    told = [shard.Pass(run.params, run.mixer, generator) for generator in run.generators]
    converged = run.stopping.stop_reason == "converged"  # else the weights separate nothing
    looks = [hands.submit(shard.look_at, each, front, one, converged) for each, one in zip(rows, told, strict=True)]
    reach: shard.Reach = hands.results([tree(hands, shard.add_reach, looks)])[0]
    eta0 = run.params.update_rule.eta0
    intercept = float(np.square(state.intercept).sum()) if run.params.fit_intercept else 0.0
    norm = math.sqrt(float(np.square(state.weights.astype(np.float64)).sum()) + intercept)
    extended = 1.0 if run.params.fit_intercept else 0.0
    margin = reach.margin / norm if norm and reach.margin > 0 and converged else None
    factor = 1 if len(state.intercept) == 1 else 2
    mistakes = sum(run.stopping.history.mistakes)
    return Bound(run.mixed_mistakes, mistakes, math.sqrt(reach.radius + extended), norm / eta0, margin, factor)
