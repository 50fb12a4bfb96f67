"""Parameters of learners: parameters with ranges, rules, keeps, and the parameters of each learner.

Invariant: a parameter is stated once, as a field of a dataclass with its default, its range and one sentence;
signatures, checks and the options of the command are made from it. `to_json` and `params_from_json` are total. Nothing
here needs NumPy or scikit-learn to be imported.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, Self, dataclass_transform, get_args

from rosenblatt.errors import ParameterError

# -- parameters as fields


@dataclass(frozen=True)
class About:
    """Type, range and description of a parameter."""

    kind: Literal["number", "count", "choice", "switch", "value"]
    text: str
    options: tuple[str, ...] = ()
    above: float | None = None
    least: float | None = None
    most: float = math.inf
    optional: bool = False  # None is a value of it

    @property
    def sentence(self) -> str:
        """The first sentence."""
        return self.text.split(". ")[0].removesuffix(".")

    def written_type(self, default: Any) -> str:
        """The type as text for a docstring."""
        words = "{" + ", ".join(f'"{each}"' for each in self.options) + "}"
        kinds = {"number": ["float"], "count": ["int"], "switch": ["bool"]}.get(self.kind, [])
        kinds = kinds + [words] * bool(self.options) + ["None"] * self.optional
        return ", ".join([" or ".join(kinds)] * bool(kinds) + [f"default={default!r}"])

    def check(self, name: str, value: Any) -> None:
        """Raise unless the value is valid."""
        if value is None and self.optional:
            return
        if self.kind in ("choice", "switch"):
            others = (True, False) if self.kind == "switch" else (None,) * self.optional
            is_flag = self.kind == "switch" and type(value).__name__ in ("bool", "bool_")  # NumPy's too
            if not is_flag and not (isinstance(value, str) and value in self.options):
                raise ParameterError(f"{name}={value!r}: must be {_listed((*others, *self.options))}")
        elif self.kind == "number":
            check_number(name, value, above=self.above, least=self.least, most=self.most)
        elif self.kind == "count":
            check_count(name, value, least=int(self.least or 1), most=self.most)


def _parameter(kind: Any, default: Any, text: str, **about: Any) -> Any:
    return field(default=default, metadata={"about": About(kind, text, **about)})


number, count, switch = partial(_parameter, "number"), partial(_parameter, "count"), partial(_parameter, "switch")
value = partial(_parameter, "value")  # anything else, checked where it is used


def choice(default: Any, options: tuple[str, ...], text: str, **about: Any) -> Any:
    """One of several words."""
    return _parameter("choice", default, text, options=options, **about)


def like(params: Any, name: str, default: Any) -> Any:
    """The parameter of other params, with another default."""
    return field(default=default, metadata=params.__dataclass_fields__[name].metadata)


def check_fields(params: Any) -> None:
    """Raise for a parameter that is not valid by itself."""
    for each in fields(params):
        if (value := getattr(params, each.name)) is not each.default:  # which is valid
            each.metadata["about"].check(each.name, value)


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


def check_count(name: str, value: Any, *, least: int = 1, most: float = math.inf) -> int:
    """`value` as an integer in its range."""
    found = check_number(name, value, least=least, most=most)
    if found != int(found):
        raise ParameterError(f"{name}={value!r}: must be a whole number")
    return int(found)


def weight_of_class(class_weight: Any, label: Any) -> float:
    """The weight of one class, from a dict; 1 if the dict does not name it."""
    given = 1.0 if class_weight is None else dict(class_weight).get(label, 1.0)
    try:
        weight = float(given)
    except (TypeError, ValueError):
        weight = math.nan
    if not (math.isfinite(weight) and weight >= 0):
        raise ParameterError(f"class_weight: the weight of {label!r} must be finite and at least 0, not {given!r}")
    return weight


def _listed(options: Iterable[Any]) -> str:
    *most, last = map(repr, options)
    return f"{', '.join(most)} or {last}" if most else last


# -- rules, penalties and keeps

PenaltyName = Literal["l2", "l1", "elasticnet"]


class Penalty(NamedTuple):
    """After every row ``|w_j|`` becomes ``shrink·|w_j| - cut``, or 0 if that is not above 0; the sign stays."""

    shrink: float = 1.0
    cut: float = 0.0


NO_PENALTY = Penalty()


def penalty_of(name: PenaltyName | None, alpha: float, l1_ratio: float, eta0: float = 1.0) -> Penalty:
    """The penalty by scikit-learn's names, for steps of `eta0`.

    >>> penalty_of("elasticnet", alpha=0.5, l1_ratio=0.5)
    Penalty(shrink=0.75, cut=0.25)
    >>> penalty_of(None, alpha=0.5, l1_ratio=0.5) == NO_PENALTY
    True
    """
    if name is None:
        return NO_PENALTY
    share, rate = {"l2": 0.0, "l1": 1.0}.get(name, float(l1_ratio)), eta0 * float(alpha)
    if not rate < math.inf:
        raise ParameterError(f"alpha={alpha!r}: must be finite, also times eta0={eta0!r}")
    return Penalty(max(0.0, 1.0 - (1.0 - share) * rate), share * rate)


RuleName = Literal["perceptron", "normalized", "PA", "PA-I", "PA-II", "AROW"]


FIRST_ORDER = tuple(name for name in get_args(RuleName) if name != "AROW")


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

    @property
    def second_order(self) -> bool:
        """True if it keeps a variance beside every weight."""
        return self.name == "AROW"

    @property
    def joint_share(self) -> float:
        """What each of two classes gets of a binary weight row when a third one appears: +share·w and -share·w.

        The joint perceptron would have taken the same steps with both rows; a joint step of the others is half as long.
        """
        return 1.0 if self.name == "perceptron" else 0.5

    @property
    def shrinks(self) -> bool:
        """True if weights change after every row, also after a right one."""
        return self.penalty != NO_PENALTY


KeepName = Literal["last", "average", "tail", "vote", "pocket"]


KEEPS = {
    "last": "the last",
    "average": "their mean over all examples (average)",
    "tail": "their mean over the latest examples (tail)",
    "vote": "a vote of all",
    "pocket": "the best checked on the training rows (pocket)",
}
KEEP_NAMES: tuple[KeepName, ...] = get_args(KeepName)
# With any other keep, weights may change by updates along rows, and by nothing else.
KEPT_BY_SECOND_ORDER: tuple[KeepName, ...] = ("last", "average")


# -- the params of every learner


@dataclass_transform(kw_only_default=True, eq_default=False)
class KeywordDataclass:
    """Makes a dataclass of every class of params; an estimator becomes one by `learner`."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__name__.endswith("Params"):
            dataclass(kw_only=True, eq=False, repr=False)(cls)
            cls.learner = cls.__name__.removesuffix("Params")  # type: ignore[attr-defined]


class Params(KeywordDataclass):
    """Parameters of every learner."""

    learner: ClassVar[str]  # the class in Python of these params
    is_regression: ClassVar[bool] = False  # is a label a number to come close to, not a class?
    n_init: ClassVar[int] = 1  # runs, of which the best is chosen
    hash_bits: ClassVar[int | None] = None  # names of features are not hashed
    unit: ClassVar[float] = 1.0  # of a regression's targets, by which C and epsilon were multiplied

    fit_intercept: bool = switch(True, "Learn an intercept. It is the weight of a constant feature 1.")
    max_iter: int = count(
        1000, "The maximum number of epochs. A fit that stops here warns, since it proves nothing about the data."
    )
    tol: float | None = number(
        0.0,
        "Stop when the best mistake rate (PA, AROW and `beta` > 0: the best share of updates) has not improved by more "
        "than this share of the rows for `n_iter_no_change` epochs. None continues until convergence or `max_iter`.",
        least=-math.inf,
        optional=True,
    )
    n_iter_no_change: int = count(
        5,
        "The number of epochs without improvement after which training stops, once they have had 100,000 rows or are "
        "half of `max_iter`.",
    )
    shuffle: bool | Literal["rows"] = switch(
        True,
        "Use a new order of the rows in every epoch. Strips of 32 consecutive rows come in random order, and the rows"
        " of up to 256 strips are shuffled again; this is faster than jumping from row to row, and the same for "
        'arrays and files. "rows" draws every row separately. Use False for data in a meaningful order, or to follow a'
        " calculation by hand.",
        options=("rows",),
    )
    random_state: Any = value(
        0,
        "The seed of shuffles and random starts: an int, a NumPy generator or None. The same seed gives the same bits"
        " on every machine.",
    )
    tie: Literal["mistake", "positive"] = choice(
        "mistake",
        ("mistake", "positive"),
        "How to read a score of exactly 0: as a mistake, or as a prediction of the larger class (the step function).",
    )
    multiclass: Literal["joint", "ovr"] = choice(
        "joint",
        ("joint", "ovr"),
        "How to learn three or more classes: one problem with a weight row per class, or one binary problem per class.",
    )
    class_weight: Any = value(
        None,
        "Weights of the classes, which scale the steps of their rows. A dict {label: weight} sets them; "
        '"balanced" gives every class the same total weight.',
    )
    early_stopping: bool = switch(
        False, "Hold rows out, stop by the score on them, and use the weights of the best epoch."
    )
    validation_fraction: float = number(
        0.1, "The share of the rows of each class to hold out for early stopping.", above=0.0
    )
    warm_start: bool = switch(
        False,
        "Continue from the state of the previous fit. Two fits of 5 epochs then equal one of 10, bit for bit.",
    )
    n_jobs: int | None = value(
        None,
        "The number of threads for independent work: the classes of one-vs-rest, and restarts. The result does not "
        "depend on it.",
    )
    verbose: int = value(0, "1 shows a progress bar with the number of mistakes.")

    @property
    def update_rule(self) -> Rule:
        """How far to step."""
        raise NotImplementedError

    keep: ClassVar[Any]  # which weights are the answer: of the class, or a field

    def params(self) -> Self:
        """The params of the family; an estimator with other parameter names converts them."""
        return self

    def check(self) -> None:
        """Raise for an invalid parameter, or for parameters that exclude each other."""
        check_fields(self)
        if self.validation_fraction >= 1:
            raise ParameterError(f"validation_fraction={self.validation_fraction!r}: must be below 1")
        if self.keep not in KEPT_BY_SECOND_ORDER and self.update_rule.shrinks:
            raise ParameterError(
                f"keep={self.keep!r} cannot be combined with a penalty, which changes the weights after every row: use "
                "keep='last' or keep='average'"
            )

    def check_online(self) -> None:
        """Raise also for a parameter that needs all rows at once, which `partial_fit` and `learn_one` lack."""
        self.check()
        for label in self.class_weight if isinstance(self.class_weight, dict) else ():
            weight_of_class(self.class_weight, label)
        if isinstance(self.class_weight, str):
            raise ParameterError(
                f"class_weight={self.class_weight!r} does not work with partial_fit, which lacks all labels: "
                "use class_weight={label: weight, ...}"
            )

    def check_classes(self, classes: int) -> None:
        """Raise if the parameters do not allow this number of classes."""
        if self.tie == "positive" and classes > 2 and self.multiclass == "joint":
            raise ParameterError(
                f"tie='positive' works with two classes only, and there are {classes}: use tie='mistake' or "
                "multiclass='ovr'"
            )

    def is_ovr(self, classes: int) -> bool:
        """True if this number of classes is learned one against the rest."""
        return self.multiclass == "ovr" and classes > 2

    def shape(self) -> dict[str, Any]:
        """The parameters that determine the arrays of a state; they cannot change after fitting."""
        return {name: getattr(self, name) for name in ("keep", "fit_intercept", "multiclass", "hash_bits")}

    def written(self) -> str:
        """The learner as Python code, without parameters at their defaults."""
        given = [(each.name, repr(getattr(self, each.name)), repr(each.default)) for each in fields(self)]
        return f"{self.learner}({', '.join(f'{name}={value}' for name, value, default in given if value != default)})"

    def values(self) -> dict[str, Any]:
        """All parameters by name, in the order of their names."""
        return {name: getattr(self, name) for name in sorted(each.name for each in fields(self))}

    def to_json(self) -> dict[str, Any]:
        """All parameters as JSON values, and the learner's name; see `values_to_json`."""
        return {"learner": self.learner, **values_to_json(self.values())}


class LinearParams(Params):
    """Parameters of every learner with one weight per feature."""

    init: Any = value(
        "zeros",
        'The starting weights. "zeros", "random" (uniform in [-1, 1)), an array of the shape of `coef_`, or a pair of'
        " such an array and intercepts.",
        options=("zeros", "random"),
    )
    n_init: int = count(  # type: ignore[misc]
        1,
        "The number of runs in different orders. The run with the fewest training mistakes, or the best validation "
        "score, is the answer.",
    )
    hash_bits: int | None = count(  # type: ignore[misc]
        None,
        "Hash the feature names of dict examples into this many bits of columns. None gives every name its own column.",
        optional=True,
        most=30,
    )

    def check(self) -> None:
        super().check()
        if self.n_init > 1 and not self.shuffle and not (isinstance(self.init, str) and self.init == "random"):
            raise ParameterError(
                f"n_init={self.n_init} with shuffle=False and the same start would repeat one run: "
                "use shuffle=True or init='random'"
            )


def keep_choice(options: tuple[str, ...] = KEEP_NAMES) -> Any:
    """The parameter `keep`."""
    *most, last = (KEEPS[name] for name in options)
    return choice("last", options, f"Which weights predict: {', '.join(most)}, or {last}.")


OF_NUMBERS: tuple[KeepName, ...] = ("last", "average", "tail")  # a vote and a pocket count mistakes of a class
Policy = Literal["forget-oldest", "forgetron", "projectron"]


class PenalizedParams(LinearParams):
    """Weights that may shrink after every row."""

    penalty: PenaltyName | None = choice(
        None,
        get_args(PenaltyName),
        'Shrink every weight, but not the intercept, after every row. "l2" shrinks by a factor; "l1" by a fixed amount '
        'that ends at 0, so that the weights of useless features become exactly 0; "elasticnet" by both. It needs '
        'keep="last" or "average".',
        optional=True,
    )
    alpha: float = number(
        0.0001,
        "The strength of the penalty. ``|w_j|`` becomes ``(1 - (1 - l1_ratio) eta0 alpha) |w_j| - l1_ratio eta0 "
        "alpha``, or 0 if that is negative; eta0 is 1 for a learner without it.",
        least=0.0,
    )
    l1_ratio: float = number(0.15, 'The share of "l1" in "elasticnet".', least=0.0, most=1.0)


class PerceptronParams(PenalizedParams):
    """The perceptron with any keep."""

    eta0: float = number(
        1.0,
        "The learning rate: an update adds ``eta0 y x``. From zero weights, without `beta` and `penalty`, it scales "
        "the weights and changes no prediction.",
        above=0.0,
        most=1e100,
    )
    beta: float = number(
        0.0,
        "The margin to ask for: an example with ``y (w·x + b) <= beta`` also causes an update. A larger value finds a"
        " wider margin and takes longer.",
        least=0.0,
    )
    keep: KeepName = keep_choice()  # type: ignore[misc]

    @property
    def update_rule(self) -> Rule:
        penalty = penalty_of(self.penalty, self.alpha, self.l1_ratio, float(self.eta0))
        return Rule("perceptron", eta0=self.eta0, beta=self.beta, penalty=penalty)


class AveragedPerceptronParams(PerceptronParams):
    keep: ClassVar[KeepName] = "average"  # type: ignore[misc]


class VotedPerceptronParams(PerceptronParams):
    keep: ClassVar[KeepName] = "vote"  # type: ignore[misc]


class PocketPerceptronParams(PerceptronParams):
    keep: ClassVar[KeepName] = "pocket"  # type: ignore[misc]


class NormalizedPerceptronParams(LinearParams):
    """The perceptron with steps that do not depend on the length of the row."""

    eta0: float = like(PerceptronParams, "eta0", 1.0)
    keep: KeepName = keep_choice()  # type: ignore[misc]

    @property
    def update_rule(self) -> Rule:
        return Rule("normalized", eta0=self.eta0)


class LimitedParams(PenalizedParams):
    """The smallest step that removes the loss of a row, limited by C."""

    variant: Literal["PA", "PA-I", "PA-II"] = choice(
        "PA-I", ("PA", "PA-I", "PA-II"), "How the step is limited: not at all, by C, or by 1/(2C) in the denominator."
    )
    C: float = number(
        1.0,
        'The limit of a step: smaller is more cautious. "PA" does not use it. A sample weight s makes it ``s C``.',
        above=0.0,
    )
    keep: KeepName = keep_choice()  # type: ignore[misc]

    @property
    def update_rule(self) -> Rule:
        return Rule(self.variant, C=self.C, penalty=penalty_of(self.penalty, self.alpha, self.l1_ratio))


class PassiveAggressiveParams(LimitedParams):
    """Every row needs a margin of 1."""


class PassiveAggressiveRegressionParams(LimitedParams):
    """Every prediction must be within epsilon of its target."""

    is_regression: ClassVar[bool] = True

    epsilon: float = number(0.1, "The distance from its target within which a prediction causes no update.", least=0.0)
    scale_target: bool = switch(
        True,
        "Measure C and epsilon in units of the spread of the targets, and start at their median. The spread is the "
        "mean distance of the different targets from their median, so that C means the same for euros and millions; "
        "a stream that does not continue a `fit` does not know it, and learns as with False, the algorithm of the "
        "paper: C and epsilon are in the unit of y, and the start is 0. Predictions and `coef_` always are.",
    )
    keep: KeepName = keep_choice(OF_NUMBERS)  # type: ignore[misc]

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
        scaled = PassiveAggressiveRegressionParams(**made)
        scaled.unit = unit  # type: ignore[misc]
        return scaled


class AROWParams(LinearParams):
    """A variance beside every weight."""

    r: float = number(
        1.0, "The noise that AROW expects: larger is more cautious. A sample weight s makes it ``r/s``.", above=0.0
    )
    keep: KeepName = keep_choice(KEPT_BY_SECOND_ORDER)  # type: ignore[misc]

    @property
    def update_rule(self) -> Rule:
        return Rule("AROW", r=self.r)


class KernelPerceptronParams(Params):
    """One coefficient per mistaken row instead of one weight per feature."""

    kernel: Any = value(
        "rbf",
        'The kernel. "poly" is ``(coef0 + gamma x·z)^degree``, "rbf" ``exp(-gamma ‖x - z‖²)``, "sigmoid" '
        '``tanh(coef0 + gamma x·z)``. With "precomputed" X holds kernel values: all training rows with one another in '
        "`fit`, rows with all training rows in `predict`. A function takes two tables and returns the matrix of "
        "their kernel values.",
        options=("linear", "poly", "rbf", "sigmoid"),
    )
    gamma: Any = value(
        "auto",
        'The factor in the kernel: a number, "auto" or "scale". "auto" is 1 / n_features; "scale", for `fit` only, '
        'also divides by the variance of X. A larger value makes "rbf" more local.',
    )
    degree: int = count(3, 'The degree of the kernel "poly".')
    coef0: float = number(
        0.0,
        'The constant in the kernels "poly" and "sigmoid". With 0, "poly" uses products of exactly `degree` features;'
        " with 1, of up to `degree`.",
        least=-math.inf,
    )
    rule: RuleName = choice("perceptron", FIRST_ORDER, "The update rule. `PassiveAggressive` has the formulas.")
    C: float = like(LimitedParams, "C", 1.0)
    keep: KeepName = keep_choice()  # type: ignore[misc]
    budget: int | None = count(
        None,
        'The maximum number of support rows; with multiclass="ovr", of each class. None keeps all of them.',
        optional=True,
    )
    policy: Policy = choice(
        "projectron",
        get_args(Policy),
        "What happens when the budget is used up: drop the oldest row, shrink all coefficients and drop it (two "
        "classes or one-vs-rest), or project the new row on the others.",
    )
    cache_size: float = number(
        200,
        "Megabytes for the values of a kernel that is a function, which may be needed again. The result does not "
        "depend on it.",
        least=0.0,
    )

    @property
    def update_rule(self) -> Rule:
        return Rule(self.rule, C=self.C)

    @property
    def precomputed(self) -> bool:
        """True if X holds kernel values instead of rows."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def check(self) -> None:
        super().check()
        if self.budget is None:
            return
        if self.keep != "last":
            raise ParameterError(
                f"keep={self.keep!r} cannot be combined with budget={self.budget}, which drops rows that it needs: "
                "use keep='last'"
            )
        if self.policy != "forget-oldest" and self.rule != "perceptron":
            raise ParameterError(
                f"policy={self.policy!r} works with rule='perceptron' only: with rule={self.rule!r} use "
                "policy='forget-oldest'"
            )
        if self.precomputed:
            raise ParameterError("budget cannot be combined with kernel='precomputed', which holds all rows anyway")

    def check_online(self) -> None:
        super().check_online()
        if self.precomputed:
            raise ParameterError(
                "kernel='precomputed' does not work with partial_fit: X lacks the kernel values of these rows with the "
                "rows of other calls"
            )
        if isinstance(self.gamma, str) and self.gamma == "scale":
            raise ParameterError(
                "gamma='scale' does not work with partial_fit, which lacks all rows: use gamma='auto' or a number"
            )

    def check_classes(self, classes: int) -> None:
        super().check_classes(classes)
        if self.budget is not None and self.policy == "forgetron" and classes > 2 and self.multiclass == "joint":
            raise ParameterError(
                f"policy='forgetron' works with two classes only, and there are {classes}: use multiclass='ovr' or "
                "another policy"
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
    """The `About` of each parameter of a learner, by the command's name."""
    return {each.name: each.metadata["about"] for each in fields(FAMILY[name]()) if each.name != "variant"}


def name_of(params: Params) -> str:
    """The command's name of the params' learner."""
    return next(name for name, make in FAMILY.items() if _kind(make()) == _kind(params))


def _kind(params: Params) -> tuple[str, str | None]:
    return params.learner, getattr(params, "variant", None)


# -- as JSON


def params_from_json(written: Mapping[str, Any]) -> Params:
    """The params that `Params.to_json` wrote, checked.

    >>> params = make_params("pa2", C=0.5, class_weight={1: 2.0, 0: 1.0})
    >>> params_from_json(params.to_json()).class_weight
    {1: 2.0, 0: 1.0}
    """
    values = dict(written)
    learner = values.pop("learner", None)
    kinds = {made.learner: type(made) for made in (make() for make in FAMILY.values())}
    if not isinstance(learner, str) or learner not in kinds:
        raise ParameterError(f"learner={str(learner)[:40]!r}: must be one of {', '.join(kinds)}")
    try:
        params = kinds[learner](**values_from_json(values))
    except TypeError as error:
        raise ParameterError(str(error).replace("__init__() got", "got")) from None
    params.check()
    return params


def values_to_json(values: Mapping[str, Any], *, arrays: bool = False) -> dict[str, Any]:
    """Parameters as JSON values, exactly; a value that JSON lacks becomes an object of one or two entries.

    With `arrays`, NumPy arrays stay as they are. A value that a file cannot hold, such as a function, is an error.
    """
    return {name: _to_json(name, value, arrays) for name, value in sorted(values.items())}


def values_from_json(written: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that `values_to_json` wrote."""
    try:
        return {name: _from_json(value) for name, value in written.items()}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ParameterError(f"a parameter cannot be read: {error}") from None


def _to_json(name: str, value: Any, arrays: bool) -> Any:
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
    if hasattr(value, "dtype"):
        if value.dtype.kind in "mM" and value.shape == ():
            return {"numpy": value.dtype.str, "value": int(value.astype("i8"))}
        if value.dtype.kind in "biufU" and value.shape == ():
            return _to_json(name, value.item(), arrays)
        if value.dtype.kind in "biuf":
            return {"array": value if arrays else value.tolist(), "dtype": value.dtype.str}
    if isinstance(value, (int, float, str)):  # of a class of its own, such as an enumeration
        return _to_json(name, next(kind for kind in (bool, int, float, str) if isinstance(value, kind))(value), arrays)
    if type(value).__name__ == "RandomState":
        return {"random_state": _to_json(name, value.get_state(legacy=False), False)}
    if type(value).__name__ == "Generator":
        return {"generator": _to_json(name, value.bit_generator.state, False)}
    raise ParameterError(f"{name}={value!r}: a {type(value).__name__} cannot be written to a file")


def _from_json(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    found: Any
    kind, found = next(iter(value.items()), ("", None))
    if kind == "dict":
        return {_from_json(key): _from_json(each) for key, each in found}
    if kind in ("list", "tuple"):
        return (list if kind == "list" else tuple)(map(_from_json, found))
    if kind in ("date", "datetime"):
        return getattr(datetime, kind).fromisoformat(found)
    if kind == "float":
        return float(found)
    import numpy as np

    if kind == "array":
        return np.array(found, np.dtype(value["dtype"]))
    if kind == "numpy":
        return np.int64(value["value"]).astype(np.dtype(found))
    known = _from_json(found)
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
