"""Params: everything that a learner is told, as plain values.

Invariant: nothing here needs NumPy or scikit-learn. Estimators are params that learn; the command, the model file, a
checkpoint and a worker on another machine speak params.
"""

from __future__ import annotations

import math
from dataclasses import Field, dataclass, fields
from typing import Any, ClassVar, Literal, Self

from rosenblatt.errors import ParameterError
from rosenblatt.params.parameters import about, check_parameters, choice, count, number, switch, value
from rosenblatt.params.rules import KEEPS, Rule, check_keep

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

    def plain(self) -> dict[str, Any]:
        """The parameters that are plain values, by name, for a file."""
        values = {each.name: getattr(self, each.name) for each in sorted(fields(self), key=lambda each: each.name)}
        return {name: found for name, found in values.items() if _is_plain(found)}

    def of_files(self) -> dict[str, Any]:
        """The parameters that have a meaning where rows are learned as they are read, and what is kept."""
        told = {each.name: getattr(self, each.name) for each in fields(self) if not about(each).needs_all_rows}
        return told | {"keep": self.keep}


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
    return found is not each.default and not (_is_plain(found) and found == each.default)


def _is_plain(found: Any) -> bool:
    return found is None or isinstance(found, (bool, int, str)) or (isinstance(found, float) and math.isfinite(found))
