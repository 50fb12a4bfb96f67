"""Parameters as options of the command.

Invariant: no parameter is named here that is made from its field; only the few whose values need a parser of their own.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any

from rosenblatt.errors import ParameterError
from rosenblatt.params import FAMILY, About, Params, make_params, parameters_of

# The command has words of its own for these, or no use for them.
_ELSEWHERE = ("max_iter", "random_state", "warm_start", "n_jobs", "verbose", "cache_size", "hash_bits")
# Who keeps what is a parameter of `perceptron`; the others are named for what they keep.
_KEPT = ("averaged", "voted", "pocket")
# What a switch that is neither on nor off does.
_SAID = {"shuffle_rows": "another order in each epoch, each row drawn by itself; all rows are held in memory"}


class _None:
    """The word none, where it is the value of an option; an option that is not given is None."""

    def __str__(self) -> str:
        return "none"


NONE = _None()


def add_params_arguments(group: Any) -> None:
    """An option for each parameter of the family."""
    for name, known in _parameters().items():
        text = f"{known.sentence}{_default(name, known)}"
        if known.kind == "switch":
            group.add_argument(option(name), action=argparse.BooleanOptionalAction, default=None, help=text)
            for word in known.options:
                flag, text = option(f"{name}_{word}"), _SAID.get(f"{name}_{word}", f"{known.sentence}: {word}")
                group.add_argument(flag, action="store_const", const=word, dest=name, help=text)
        elif known.options:
            group.add_argument(option(name), choices=known.options, help=text)
        else:
            parse, shape = _parser_of(name, known)
            group.add_argument(option(name), type=parse, metavar=shape, help=text)


def given_parameters(args: argparse.Namespace) -> dict[str, Any]:
    """The parameters that the user has named."""
    given = {name: getattr(args, name) for name in _parameters() if getattr(args, name) is not None}
    return {name: None if value is NONE else value for name, value in given.items()}


def params_of(args: argparse.Namespace) -> Params:
    """The params that the arguments describe."""
    given = given_parameters(args)
    learner = "perceptron" if args.learner in _KEPT and "keep" in given else args.learner
    known = parameters_of(learner)
    for name in given:
        if name not in known:
            others = [other for other in FAMILY if name in parameters_of(other)]
            raise ParameterError(
                f"{option(name)} is not an option of --learner {args.learner}, but of {', '.join(others)}"
            )
    return make_params(learner, max_iter=args.max_iter, random_state=args.random_state, **given)


def option(name: str) -> str:
    """The option of a parameter."""
    return f"--{name.replace('_', '-')}"


def _parameters() -> dict[str, About]:
    """Those of all learners together."""
    found: dict[str, About] = {}
    for learner in FAMILY:
        found |= {name: known for name, known in parameters_of(learner).items() if name not in found}
    return {name: known for name, known in found.items() if name not in _ELSEWHERE}


def _default(name: str, known: About) -> str:
    for learner in FAMILY:
        if name in parameters_of(learner):
            default = getattr(FAMILY[learner](), name)
            words = {True: "on", False: "off"} if known.kind == "switch" else {}
            return f" ({'none' if default is None else words.get(default, default)})"
    return ""


def _parser_of(name: str, known: About) -> tuple[Callable[[str], Any], str]:
    special: dict[str, tuple[Callable[[str], Any], str]] = {
        "gamma": (_gamma, "auto|scale|X"),
        "class_weight": (_class_weight, "balanced|A=1,B=2"),
        "tol": (_number_or_none, "X|none"),
    }
    return special.get(name, (int, "N") if known.kind == "count" else (float, "X"))


def _number_or_none(text: str) -> Any:
    if text == "none":
        return NONE
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write a number, or none") from None


def _gamma(text: str) -> Any:
    if text in ("auto", "scale"):
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write auto, scale or a number") from None


def _class_weight(text: str) -> Any:
    if text == "balanced":
        return text
    try:
        pairs = [pair.rsplit("=", 1) for pair in text.split(",")]
        return {int(label) if re.fullmatch(r"-?\d+", label) else label: float(weight) for label, weight in pairs}
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write balanced, or label=weight,label=weight") from None
