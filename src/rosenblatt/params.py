"""Everything a learner is told: parameters with ranges, rules, keeps, and the parameters of each learner.

Invariant: a parameter is stated once, as a field of a dataclass with its default, its range and one sentence;
signatures, checks and the options of the command are made from it. `to_json` and `params_from_json` are total. Nothing
here needs NumPy or scikit-learn to be imported.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache, partial
from typing import Any, ClassVar, Literal, Self, get_args

from rosenblatt.errors import ParameterError

# -- parameters as fields


@dataclass(frozen=True)
class About:
    """What is known of a parameter beside its name and default."""

    kind: Literal["number", "count", "choice", "switch", "value"]
    sentence: str
    options: tuple[str, ...] = ()
    above: float | None = None
    least: float | None = None
    most: float = math.inf
    optional: bool = False  # None is a value of it
    needs_all_rows: bool = False  # it has no meaning where rows are learned as they are read

    def check(self, name: str, value: Any) -> None:
        """Raise unless the value means something."""
        if value is None and self.optional:
            return
        if self.kind == "choice":
            if not isinstance(value, str) or value not in self.options:
                raise ParameterError(f"{name}={value!r}: must be {_listed(self.options, self.optional)}")
        elif self.kind == "switch":
            if isinstance(value, str) and value not in self.options:
                words = ["True", "False", *map(repr, self.options)]
                raise ParameterError(f"{name}={value!r}: must be {', '.join(words[:-1])} or {words[-1]}")
        elif self.kind == "number":
            check_number(name, value, above=self.above, least=self.least, most=self.most)
        elif self.kind == "count":
            check_count(name, value, least=int(self.least or 1))


def number(default: Any, sentence: str, **about: Any) -> Any:
    """A real number."""
    return _parameter(default, About("number", sentence, **about))


def count(default: Any, sentence: str, **about: Any) -> Any:
    """A whole number."""
    return _parameter(default, About("count", sentence, **about))


def choice(default: Any, options: tuple[str, ...], sentence: str, **about: Any) -> Any:
    """One of several words."""
    return _parameter(default, About("choice", sentence, options, **about))


def switch(default: bool, sentence: str, **about: Any) -> Any:
    """On or off."""
    return _parameter(default, About("switch", sentence, **about))


def value(default: Any, sentence: str, **about: Any) -> Any:
    """Anything else, checked where it is used."""
    return _parameter(default, About("value", sentence, **about))


def about(parameter: Field[Any]) -> About:
    """What is known of a parameter."""
    known: About = parameter.metadata["about"]
    return known


def check_parameters(params: Any) -> None:
    """Raise for the first parameter with a value that means nothing; a default always means something."""
    for name, default, known in _parameters(type(params)):  # type: ignore[arg-type]
        if (value := getattr(params, name)) is not default:
            known.check(name, value)


@cache
def _parameters(params: Any) -> tuple[tuple[str, Any, About], ...]:
    return tuple((each.name, each.default, about(each)) for each in fields(params))


def check_number(
    name: str, value: object, *, above: float | None = None, least: float | None = None, most: float = math.inf
) -> float:
    """`value` as a float in its range, or a `ParameterError` that names it."""
    if isinstance(value, bool) or (not isinstance(value, (int, float)) and not hasattr(value, "__float__")):
        raise ParameterError(f"{name}={value!r}: must be a number")
    found = float(value)
    within = found <= most and (most == math.inf or found != -math.inf)
    if within and (above is None or found > above) and (least is None or found >= least):
        return found
    bound = f"above {above:g}" if above is not None else f"at least {least:g}"
    limit = f" and at most {most:g}" if most != math.inf else ""
    raise ParameterError(f"{name}={value!r}: must be {bound}{limit}")


def check_count(name: str, value: Any, *, least: int = 1, most: int | None = None) -> int:
    """`value` as an integer of at least `least`, and at most `most`."""
    found = check_number(name, value, least=least)
    if found != int(found):
        raise ParameterError(f"{name}={value!r}: must be a whole number")
    if most is not None and found > most:
        raise ParameterError(f"{name}={value!r}: must be at most {most}")
    return int(found)


def _parameter(default: Any, known: About) -> Any:
    return field(default=default, metadata={"about": known})


def _listed(options: tuple[str, ...], optional: bool) -> str:
    words = [*(["None"] if optional else []), *map(repr, options)]
    return f"{', '.join(words[:-1])} or {words[-1]}"


# -- rules, penalties and keeps

PenaltyName = Literal["l2", "l1", "elasticnet"]


@dataclass(frozen=True)
class Penalty:
    """After every row ``|w_j|`` becomes ``shrink·|w_j| - cut``, or 0 where that is not above 0; the sign stays."""

    shrink: float = 1.0
    cut: float = 0.0


NO_PENALTY = Penalty()


def penalty_of(name: Any, alpha: Any, l1_ratio: Any, eta0: float = 1.0) -> Penalty:
    """The penalty by scikit-learn's names, for steps of `eta0`.

    >>> penalty_of("elasticnet", alpha=0.5, l1_ratio=0.5)
    Penalty(shrink=0.75, cut=0.25)
    >>> penalty_of(None, alpha=0.5, l1_ratio=0.5) == NO_PENALTY
    True
    """
    if name is None:
        return NO_PENALTY
    shares = {"l2": 0.0, "l1": 1.0, "elasticnet": l1_ratio}
    if not isinstance(name, str) or name not in shares:
        raise ParameterError(f"penalty={name!r}: must be None, 'l2', 'l1' or 'elasticnet'")
    rate = eta0 * check_number("alpha", alpha, least=0.0)
    if not rate < math.inf:
        raise ParameterError(f"alpha={alpha!r}: must be finite, also times eta0={eta0!r}")
    ratio = check_number("l1_ratio", l1_ratio, least=0.0, most=1.0)
    share = ratio if name == "elasticnet" else shares[name]
    return Penalty(max(0.0, 1.0 - (1.0 - share) * rate), share * rate)


RuleName = Literal["perceptron", "normalized", "PA", "PA-I", "PA-II", "AROW"]


@dataclass(frozen=True)
class RuleTraits:
    """What the rest of the library needs to know of a rule."""

    moves_without_mistake: bool = True  # may it update on a correct answer?
    second_order: bool = False  # does it keep a variance beside every weight?
    # What each of two classes gets of a binary weight row when a third one appears: +share·w and -share·w. The joint
    # perceptron would have taken the same steps with both rows; a joint step of the others is half as long.
    joint_share: float = 0.5


RULES: dict[str, RuleTraits] = {
    "perceptron": RuleTraits(moves_without_mistake=False, joint_share=1.0),
    "normalized": RuleTraits(moves_without_mistake=False),
    "PA": RuleTraits(),
    "PA-I": RuleTraits(),
    "PA-II": RuleTraits(),
    "AROW": RuleTraits(second_order=True),
}
FIRST_ORDER = tuple(name for name, traits in RULES.items() if not traits.second_order)


@dataclass(frozen=True)
class Rule:
    """The step ``tau(margin, q)`` of an update ``w += tau y x``.

    ``perceptron``: ``eta0`` where the margin is ``<= 0`` (``<= beta`` for the margin perceptron).
    ``normalized``: ``eta0/q`` where the margin is ``<= 0``.
    ``PA``, ``PA-I``, ``PA-II``, with ``l = max(0, 1 - margin)``: ``l/q``, ``min(C, l/q)``, ``l/(q + 1/(2C))``.
    ``AROW`` steps by the variance of each feature, ``r`` against noise.
    A `penalty` shrinks all weights after every row.
    """

    name: RuleName = "perceptron"
    eta0: float = 1.0
    beta: float = 0.0
    C: float = 1.0
    r: float = 1.0
    penalty: Penalty = field(default=NO_PENALTY)

    def __post_init__(self) -> None:
        if self.name not in RULES:
            *most, last = map(repr, RULES)
            raise ParameterError(f"rule={self.name!r}: must be {', '.join(most)} or {last}")
        if (self.eta0, self.beta, self.C, self.r) == (1.0, 0.0, 1.0, 1.0):
            return  # as most are, and small fits make many of them
        check_number("eta0", self.eta0, above=0.0, most=1e100)
        check_number("C", self.C, above=0.0)
        check_number("beta", self.beta, least=0.0)
        check_number("r", self.r, above=0.0)

    @property
    def traits(self) -> RuleTraits:
        return RULES[self.name]

    @property
    def moves_without_mistake(self) -> bool:
        """May it update on a correct answer?"""
        return self.traits.moves_without_mistake or self.beta > 0

    @property
    def shrinks(self) -> bool:
        """Do weights change after every row, whatever the answer was?"""
        return self.penalty != NO_PENALTY


KeepName = Literal["last", "average", "tail", "vote", "pocket"]


@dataclass(frozen=True)
class KeepTraits:
    """What the rest of the library needs to know of a keep."""

    needs_updates_alone: bool = False  # weights may change by updates along rows, and by nothing else
    votes: bool = False  # the answer is a vote, which has no single weight vector
    checks_all_rows: bool = False  # it has to see all rows at once


KEEPS: dict[str, KeepTraits] = {
    "last": KeepTraits(),
    "average": KeepTraits(),
    "tail": KeepTraits(needs_updates_alone=True),
    "vote": KeepTraits(needs_updates_alone=True, votes=True),
    "pocket": KeepTraits(needs_updates_alone=True, checks_all_rows=True),
}
KEEP_NAMES = tuple(KEEPS)
KEPT_BY_SECOND_ORDER = tuple(name for name in KEEPS if not KEEPS[name].needs_updates_alone)


def check_keep(keep: str, rule: Rule) -> None:
    """Refuse a keep that has no meaning with the rule."""
    if not KEEPS[keep].needs_updates_alone:
        return
    if rule.shrinks:
        raise ParameterError(
            f"keep={keep!r} needs weights that change by updates alone, and a penalty changes them after every row: "
            "use keep='last' or keep='average' with it"
        )
    if rule.traits.second_order:
        raise ParameterError(f"keep={keep!r}: {rule.name} keeps {' or '.join(map(repr, KEPT_BY_SECOND_ORDER))}")


# -- the params of every learner

MOST_HASH_BITS = 30


@dataclass(kw_only=True, eq=False, repr=False)
class Params:
    """What every learner is told."""

    learner: ClassVar[str] = ""  # the class in Python of these params
    is_regression: ClassVar[bool] = False  # is a label a number to come close to, not a class?

    fit_intercept: bool = switch(True, "learn an intercept")
    max_iter: int = count(1000, "the most epochs")
    tol: float | None = number(
        0.0, "how much better an epoch must be to count as better", least=-math.inf, optional=True
    )
    n_iter_no_change: int = count(5, "epochs without getting better before it stops")
    shuffle: bool | Literal["rows"] = switch(True, "another order in each epoch, by strips of rows", options=("rows",))
    random_state: Any = value(0, "the seed of the shuffles")
    tie: Literal["mistake", "positive"] = choice("mistake", ("mistake", "positive"), "what a score of 0 is")
    multiclass: Literal["joint", "ovr"] = choice(
        "joint", ("joint", "ovr"), "three classes or more: all together, or each against the rest", needs_all_rows=True
    )
    class_weight: Any = value(None, "how much the rows of a class weigh", needs_all_rows=True)
    early_stopping: bool = switch(False, "stop by the accuracy on held-out rows", needs_all_rows=True)
    validation_fraction: float = number(0.1, "held out for early stopping", above=0.0, needs_all_rows=True)
    warm_start: bool = switch(False, "a second fit goes on from the first", needs_all_rows=True)
    n_jobs: int | None = value(None, "threads", needs_all_rows=True)
    verbose: int = value(0, "1 shows a progress bar", needs_all_rows=True)

    @property
    def update_rule(self) -> Rule:
        """How far to step, checked."""
        raise NotImplementedError

    keep: ClassVar[Any]  # which weights are the answer: of the class, or a field

    @property
    def restarts(self) -> int:
        """How many runs there are, of which the best is taken."""
        return 1

    def params(self) -> Self:
        """Everything that a learner is told; an estimator by other names makes one of them."""
        return self

    @property
    def needs_all_rows(self) -> bool:
        """Must all rows be in memory to learn so?"""
        return any(about(each).needs_all_rows and getattr(self, each.name) != each.default for each in fields(self))

    @property
    def tie_positive(self) -> bool:
        return self.tie == "positive"

    def check(self) -> None:
        """Raise for a parameter with a value that means nothing, alone or beside the others."""
        check_parameters(self)
        if self.validation_fraction >= 1:
            raise ParameterError(f"validation_fraction={self.validation_fraction!r}: must be below 1")
        if self.keep not in KEEPS:
            raise ParameterError(f"keep={self.keep!r}: must be one of {', '.join(map(repr, KEEPS))}")
        check_keep(self.keep, self.update_rule)

    def check_classes(self, classes: int) -> None:
        """Raise if so many classes cannot be learned in this way."""
        if self.tie == "positive" and classes > 2 and self.multiclass == "joint":
            raise ParameterError(
                f"tie='positive' has a meaning for two classes only, and there are {classes}: "
                "write tie='mistake', or multiclass='ovr'"
            )

    def is_ovr(self, classes: int) -> bool:
        """Is each of so many classes learned against the rest?"""
        return self.multiclass == "ovr" and classes > 2

    def shape(self) -> dict[str, Any]:
        """What a state is made by, and what cannot change while it learns on."""
        return {
            "keep": self.keep,
            "fit_intercept": bool(self.fit_intercept),
            "multiclass": self.multiclass,
        }

    def written(self) -> str:
        """The learner as it is written in Python, without what is left at its default."""
        given = {each.name: getattr(self, each.name) for each in fields(self) if _differs(self, each)}
        return f"{self.learner}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def values(self) -> dict[str, Any]:
        """All parameters by name, in the order of their names."""
        return {name: getattr(self, name) for name in sorted(each.name for each in fields(self))}

    def to_json(self, arrays: dict[str, Any] | None = None) -> dict[str, Any]:
        """All parameters as JSON values, and the learner's name; see `values_to_json`."""
        return {"learner": self.learner, **values_to_json(self.values(), arrays)}


@dataclass(kw_only=True, eq=False, repr=False)
class LinearParams(Params):
    """What every learner with a weight per feature is told."""

    init: Any = value("zeros", "the weights at the start", options=("zeros", "random"), needs_all_rows=True)
    n_init: int = count(1, "restarts, of which the best is kept", needs_all_rows=True)
    hash_bits: int | None = count(
        None, "features of examples that are dicts go into so many bits of columns", optional=True, needs_all_rows=True
    )

    @property
    def restarts(self) -> int:
        return int(self.n_init)

    def shape(self) -> dict[str, Any]:
        return super().shape() | {"hash_bits": self.hash_bits}

    def check(self) -> None:
        super().check()
        if self.hash_bits is not None and self.hash_bits > MOST_HASH_BITS:
            raise ParameterError(f"hash_bits={self.hash_bits!r}: must be at most {MOST_HASH_BITS}")
        if self.n_init > 1 and not self.shuffle and not (isinstance(self.init, str) and self.init == "random"):
            raise ParameterError(
                f"n_init={self.n_init} with shuffle=False and the same start would repeat one run: "
                "write shuffle=True or init='random'"
            )


def _differs(params: Params, each: Field[Any]) -> bool:
    found = getattr(params, each.name)
    is_plain = found is None or isinstance(found, (bool, int, float, str))
    return found is not each.default and not (is_plain and found == each.default)


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
    scale_target: bool = switch(
        True, "C and epsilon are in units of the target's spread, and learning starts at its median"
    )
    keep: KeepName = choice("last", OF_NUMBERS, "which weights are the answer")  # type: ignore[misc]

    # These are about classes, and there are none.
    tie: ClassVar[Literal["mistake"]] = "mistake"  # type: ignore[misc]
    multiclass: ClassVar[Literal["joint"]] = "joint"  # type: ignore[misc]
    class_weight: ClassVar[None] = None  # type: ignore[misc]

    def scaled(self, unit: float) -> PassiveAggressiveRegressionParams:
        """The same learning of targets in their own units, of which one of these params is so many.

        Steps of targets divided by `unit` are, times `unit`, the steps of the targets themselves with another C (not
        in PA-II, whose limit has no unit), epsilon and l1 penalty.
        """
        made = {each.name: getattr(self, each.name) for each in fields(PassiveAggressiveRegressionParams)}
        made |= {"scale_target": False, "epsilon": self.epsilon * unit}
        if self.variant == "PA-I":
            made["C"] = self.C * unit
        if self.penalty in ("l1", "elasticnet"):
            share = 1.0 if self.penalty == "l1" else self.l1_ratio
            made["alpha"] = self.alpha * (1.0 - share + share * unit)
            made["l1_ratio"] = share * unit / (1.0 - share + share * unit)
        return PassiveAggressiveRegressionParams(**made)


@dataclass(kw_only=True, eq=False, repr=False)
class AROWParams(LinearParams):
    """A variance beside every weight."""

    learner: ClassVar[str] = "AROW"

    r: float = number(1.0, "how much noise arow expects", above=0.0)
    keep: KeepName = choice("last", KEPT_BY_SECOND_ORDER, "which weights are the answer")  # type: ignore[misc]

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


# -- as JSON


def params_from_json(written: Mapping[str, Any], arrays: Mapping[str, Any] | None = None) -> Params:
    """The params that `Params.to_json` wrote, checked.

    >>> params = make_params("pa2", C=0.5, class_weight={1: 2.0, 0: 1.0})
    >>> params_from_json(params.to_json()).class_weight
    {1: 2.0, 0: 1.0}
    """
    values = dict(written)
    learner = values.pop("learner", None)
    makers = {make().learner: make for make in FAMILY.values()}
    if not isinstance(learner, str) or learner not in makers:
        raise ParameterError(f"learner={str(learner)[:40]!r}: must be one of {', '.join(makers)}")
    maker = makers[learner]
    kind: Callable[..., Params] = maker.func if isinstance(maker, partial) else maker
    try:
        params = kind(**values_from_json(values, arrays))
    except TypeError as error:
        raise ParameterError(str(error).replace("__init__() got", "got")) from None
    params.check()
    return params


def values_to_json(values: Mapping[str, Any], arrays: dict[str, Any] | None = None) -> dict[str, Any]:
    """Parameters as JSON values, exactly: what JSON has no word for becomes an object of one or two entries.

    NumPy arrays go into `arrays` if it is given. A value that a file cannot hold, such as a function, is an error.
    """
    return {name: _to_json(name, value, arrays) for name, value in sorted(values.items())}


def values_from_json(written: Mapping[str, Any], arrays: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The parameters that `values_to_json` wrote."""
    try:
        return {name: _from_json(value, arrays or {}) for name, value in written.items()}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ParameterError(f"a parameter cannot be read: {error}") from None


def _to_json(name: str, value: Any, arrays: dict[str, Any] | None) -> Any:
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, Mapping):
        return {"dict": [[_to_json(name, key, arrays), _to_json(name, each, arrays)] for key, each in value.items()]}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [_to_json(f"{name}.{at}", each, arrays) for at, each in enumerate(value)]}
    if isinstance(value, datetime.date):
        return {"datetime" if isinstance(value, datetime.datetime) else "date": value.isoformat()}
    if type(value).__module__.split(".")[0] == "numpy":
        return _numpy_to_json(name, value, arrays)
    if isinstance(value, (int, float, str)):  # of a class of its own, such as an enumeration
        return _to_json(name, next(kind for kind in (bool, int, float, str) if isinstance(value, kind))(value), arrays)
    raise ParameterError(f"{name}={value!r}: a {type(value).__name__} cannot be written to a file")


def _numpy_to_json(name: str, value: Any, arrays: dict[str, Any] | None) -> Any:
    import numpy as np

    if isinstance(value, np.datetime64 | np.timedelta64):
        return {"numpy": value.dtype.str, "value": int(value.astype(np.int64))}
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        return _to_json(name, value.item(), arrays)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        if arrays is None:
            return {"array": value.tolist(), "dtype": value.dtype.str}
        arrays[f"params.{name}"] = value
        return {"tensor": f"params.{name}"}
    if isinstance(value, np.random.RandomState):
        return {"random_state": _to_json(name, value.get_state(legacy=False), None)}
    if isinstance(value, np.random.Generator):
        return {"generator": _to_json(name, value.bit_generator.state, None)}
    raise ParameterError(f"{name}={value!r}: a {type(value).__name__} cannot be written to a file")


def _from_json(value: Any, arrays: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict):
        return value
    kind, found = next(iter(value.items()))
    if kind == "dict":
        return {_from_json(key, arrays): _from_json(each, arrays) for key, each in found}
    if kind in ("list", "tuple"):
        listed = [_from_json(each, arrays) for each in found]
        return listed if kind == "list" else tuple(listed)
    if kind in ("date", "datetime"):
        return getattr(datetime, kind).fromisoformat(found)
    if kind == "float":
        return float(found)
    import numpy as np

    if kind == "tensor":
        return np.array(arrays[found])
    if kind == "array":
        return np.array(found, np.dtype(value["dtype"]))
    if kind == "numpy":
        return np.int64(value["value"]).astype(np.dtype(found))
    known = _from_json(found, arrays)
    if kind == "random_state":
        state = np.random.RandomState()
        state.set_state(known)
        return state
    if kind == "generator":
        if known["bit_generator"] not in ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"):
            raise ValueError("an unknown random generator")
        made = getattr(np.random, known["bit_generator"])()
        made.state = known
        return np.random.Generator(made)
    raise ValueError(f"a value of the unknown kind {str(kind)[:40]!r}")
