"""Arguments as the words that were typed, and as a command to paste."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import Any


def given_options(args: argparse.Namespace) -> dict[str, list[str]]:
    """The options that differ from their defaults: the words of each, by its name in the arguments."""
    from rosenblatt.cli.main import _build_parsers

    found: dict[str, list[str]] = {}
    for action in _build_parsers(args.verb)[1][args.verb]._actions:
        value = getattr(args, action.dest, None)
        if not action.option_strings or value == action.default or action.dest == "help":
            continue
        found[action.dest] = _words(action, value)
    return found


def command_to_paste(args: argparse.Namespace, changed: Sequence[str], *, without: Sequence[str] = ()) -> str:
    """``rosenblatt train DATA …`` with the options that were given but for those `without`, and with those `changed`.

    >>> from rosenblatt.cli.main import parse
    >>> args = parse(["train", "my data.csv", "-o", "m", "--quiet"])
    >>> command_to_paste(args, ["--learner", "arow"], without=["quiet"])
    "rosenblatt train 'my data.csv' -o m --learner arow"
    """
    words = ["rosenblatt", "train", *args.data]
    for name, option in given_options(args).items():
        if name not in without:
            words += option
    return shlex.join([*words, *changed])


def params_words(params: Any) -> list[str]:
    """The options that give these params."""
    from dataclasses import fields

    from rosenblatt.params import FAMILY, make_params, name_of

    name = name_of(params)
    words, usual = ["--learner", name], make_params(name)
    assert name in FAMILY
    for each in fields(params):
        value = getattr(params, each.name)
        if each.name not in ("max_iter", "random_state", "variant", "class_weight") and value != getattr(
            usual, each.name
        ):
            words += _option(each.name, value)
    return [*words, "--max-iter", str(params.max_iter)]


def _option(name: str, value: Any) -> list[str]:
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [option if value else f"--no-{option[2:]}"]
    return [option, "none" if value is None else f"{value}"]


def _words(action: argparse.Action, value: Any) -> list[str]:
    option = min(action.option_strings, key=len)
    if isinstance(action, argparse.BooleanOptionalAction):
        return [option if value else f"--no-{option[2:]}"]
    if action.nargs == 0:
        return [option]
    if isinstance(value, list):
        return [word for each in value for word in (option, str(each))]
    if isinstance(value, dict):
        value = ",".join(f"{label}={weight:g}" for label, weight in value.items())
    return [option, str(value)]
