"""The family by its params: which parameters each algorithm has, its rule and its keep."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, Literal, get_args

from rosenblatt.errors import ParameterError
from rosenblatt.params.base import LinearParams, Params
from rosenblatt.params.parameters import About, about, choice, count, number, value
from rosenblatt.params.rules import FIRST_ORDER, KEEP_NAMES, KeepName, PenaltyName, Rule, RuleName, penalty_of

OF_NUMBERS: tuple[KeepName, ...] = ("last", "average", "tail")  # a vote and a pocket count mistakes of a class
Policy = Literal["forget-oldest", "forgetron", "projectron"]


@dataclass(kw_only=True, eq=False, repr=False)
class PenalizedParams(LinearParams):
    """Weights that may shrink after every row."""

    penalty: PenaltyName | None = choice(
        None, get_args(PenaltyName), "shrink the weights after every row; l1 makes most of them 0", optional=True
    )
    alpha: float = number(0.0001, "how strong the penalty is", least=0.0)
    l1_ratio: float = number(0.15, "the share of l1 in elasticnet", least=0.0, most=1.0)


@dataclass(kw_only=True, eq=False, repr=False)
class FixedKeepPerceptronParams(PenalizedParams):
    """The perceptron, with a keep that the class decides."""

    keep: ClassVar[KeepName] = "last"

    eta0: float = number(1.0, "the step of the perceptrons", above=0.0, most=1e100)
    beta: float = number(0.0, "the margin below which they step", least=0.0)

    @property
    def update_rule(self) -> Rule:
        penalty = penalty_of(self.penalty, self.alpha, self.l1_ratio, float(self.eta0))
        return Rule("perceptron", eta0=self.eta0, beta=self.beta, penalty=penalty)


@dataclass(kw_only=True, eq=False, repr=False)
class PerceptronParams(FixedKeepPerceptronParams):
    """The perceptron with any keep."""

    learner: ClassVar[str] = "Perceptron"

    keep: KeepName = choice("last", KEEP_NAMES, "which weights are the answer")  # type: ignore[misc]


class AveragedPerceptronParams(FixedKeepPerceptronParams):
    learner: ClassVar[str] = "AveragedPerceptron"
    keep: ClassVar[KeepName] = "average"


class VotedPerceptronParams(FixedKeepPerceptronParams):
    learner: ClassVar[str] = "VotedPerceptron"
    keep: ClassVar[KeepName] = "vote"


class PocketPerceptronParams(FixedKeepPerceptronParams):
    learner: ClassVar[str] = "PocketPerceptron"
    keep: ClassVar[KeepName] = "pocket"


@dataclass(kw_only=True, eq=False, repr=False)
class NormalizedPerceptronParams(LinearParams):
    """The perceptron with steps that do not depend on the length of the row."""

    learner: ClassVar[str] = "NormalizedPerceptron"

    eta0: float = number(1.0, "the step of the perceptrons", above=0.0, most=1e100)
    keep: KeepName = choice("last", KEEP_NAMES, "which weights are the answer")  # type: ignore[misc]

    @property
    def update_rule(self) -> Rule:
        return Rule("normalized", eta0=self.eta0)


@dataclass(kw_only=True, eq=False, repr=False)
class LimitedParams(PenalizedParams):
    """The smallest step that gives a row what it asks for, limited by C."""

    variant: Literal["PA", "PA-I", "PA-II"] = choice("PA-I", ("PA", "PA-I", "PA-II"), "how the step is limited")
    C: float = number(1.0, "the longest step of PA-I, and how bold PA-II is", above=0.0)
    keep: KeepName = choice("last", KEEP_NAMES, "which weights are the answer")  # type: ignore[misc]

    @property
    def update_rule(self) -> Rule:
        return Rule(self.variant, C=self.C, penalty=penalty_of(self.penalty, self.alpha, self.l1_ratio))


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveParams(LimitedParams):
    """A row asks for a margin of 1."""

    learner: ClassVar[str] = "PassiveAggressive"


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveRegressionParams(LimitedParams):
    """A row asks for a prediction within epsilon of its target."""

    learner: ClassVar[str] = "PassiveAggressiveRegression"
    is_regression: ClassVar[bool] = True

    epsilon: float = number(0.1, "how far from its target a prediction may be without a step", least=0.0)
    keep: KeepName = choice("last", OF_NUMBERS, "which weights are the answer")  # type: ignore[misc]

    # These are about classes, and there are none.
    tie: ClassVar[Literal["mistake"]] = "mistake"  # type: ignore[misc]
    multiclass: ClassVar[Literal["joint"]] = "joint"  # type: ignore[misc]
    class_weight: ClassVar[None] = None  # type: ignore[misc]


@dataclass(kw_only=True, eq=False, repr=False)
class AROWParams(LinearParams):
    """A variance beside every weight."""

    learner: ClassVar[str] = "AROW"

    r: float = number(1.0, "how much noise arow expects", above=0.0)
    keep: KeepName = choice("last", KEEP_NAMES, "which weights are the answer")  # type: ignore[misc]

    @property
    def update_rule(self) -> Rule:
        return Rule("AROW", r=self.r)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelPerceptronParams(Params):
    """A coefficient per mistaken row instead of a weight per feature."""

    learner: ClassVar[str] = "KernelPerceptron"

    kernel: Any = value("rbf", "of the kernel learner", options=("linear", "poly", "rbf", "sigmoid"))
    gamma: Any = value("auto", "of the kernel")
    degree: int = count(3, "of the kernel poly")
    coef0: float = number(0.0, "of the kernels poly and sigmoid", least=-math.inf)
    rule: RuleName = choice("perceptron", FIRST_ORDER, "of the kernel learner")
    C: float = number(1.0, "the longest step of PA-I, and how bold PA-II is", above=0.0)
    keep: KeepName = choice("last", KEEP_NAMES, "which weights are the answer")  # type: ignore[misc]
    budget: int | None = count(None, "the most support rows of the kernel learner", optional=True)
    policy: Policy = choice("projectron", get_args(Policy), "when the budget is used up")
    cache_size: float = number(200, "megabytes for kernel values", least=0.0)

    @property
    def update_rule(self) -> Rule:
        return Rule(self.rule, C=self.C)

    @property
    def needs_all_rows(self) -> bool:
        return True

    @property
    def precomputed(self) -> bool:
        """Are kernel values given instead of rows?"""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def check(self) -> None:
        super().check()
        if self.budget is None:
            return
        if self.keep != "last":
            raise ParameterError(
                f"keep={self.keep!r} with budget={self.budget}: it would need the rows that the budget drops; "
                "write keep='last'"
            )
        if self.policy != "forget-oldest" and self.rule != "perceptron":
            raise ParameterError(
                f"policy={self.policy!r} is made for rule='perceptron': with rule={self.rule!r} write "
                "policy='forget-oldest'"
            )
        if self.precomputed:
            raise ParameterError("budget is for rows that come and go: a precomputed matrix already holds all of them")

    def check_classes(self, classes: int) -> None:
        super().check_classes(classes)
        if self.budget is not None and self.policy == "forgetron" and classes > 2 and self.multiclass == "joint":
            raise ParameterError(
                f"policy='forgetron' has a meaning for two classes only, and there are {classes}: write "
                "multiclass='ovr', or another policy"
            )


# The names of the command.
FAMILY: dict[str, Callable[..., Params]] = {
    "perceptron": PerceptronParams,
    "averaged": AveragedPerceptronParams,
    "voted": VotedPerceptronParams,
    "pocket": PocketPerceptronParams,
    "normalized": NormalizedPerceptronParams,
    "pa": partial(PassiveAggressiveParams, variant="PA"),
    "pa1": partial(PassiveAggressiveParams, variant="PA-I"),
    "pa2": partial(PassiveAggressiveParams, variant="PA-II"),
    "pa-regression": partial(PassiveAggressiveRegressionParams, variant="PA"),
    "pa1-regression": partial(PassiveAggressiveRegressionParams, variant="PA-I"),
    "pa2-regression": partial(PassiveAggressiveRegressionParams, variant="PA-II"),
    "arow": AROWParams,
    "kernel": KernelPerceptronParams,
}


def make_params(name: str, **parameters: Any) -> Params:
    """The params of a learner by the command's name, with these parameters.

    >>> make_params("pa2", C=0.5).update_rule
    Rule(name='PA-II', eta0=1.0, beta=0.0, C=0.5, r=1.0, penalty=Penalty(shrink=1.0, cut=0.0))
    """
    if name not in FAMILY:
        raise ParameterError(f"learner={name!r}: must be one of {', '.join(FAMILY)}")
    known = parameters_of(name)
    for parameter in parameters:
        if parameter not in known:
            raise ParameterError(f"{parameter} is not a parameter of {name}: it has {', '.join(known)}")
    params = FAMILY[name](**parameters)
    params.check()
    return params


def parameters_of(name: str) -> dict[str, About]:
    """What is known of the parameters of a learner, by the command's name."""
    return {each.name: about(each) for each in fields(FAMILY[name]()) if each.name != "variant"}


def name_of(params: Params) -> str:
    """The command's name of the params' learner."""
    variants = {"PA": "pa", "PA-I": "pa1", "PA-II": "pa2"}
    if isinstance(params, PassiveAggressiveParams):
        return variants[params.variant]
    if isinstance(params, PassiveAggressiveRegressionParams):
        return f"{variants[params.variant]}-regression"
    return next(name for name in FAMILY if FAMILY[name]().learner == params.learner)
