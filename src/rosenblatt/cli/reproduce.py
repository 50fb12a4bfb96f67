"""The command that repeats a result without searching for it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import click

from rosenblatt.cli.options import given_options
from rosenblatt.params import make_params, name_of


def train_command(ctx: click.Context, changed: Sequence[str], *, without: Sequence[str] = ()) -> str:
    """``rosenblatt train DATA …`` with the given options, except those `without`, and with those `changed`."""
    words = ["rosenblatt", "train", *ctx.params["data"]]
    for each in given_options(ctx):
        if each.name not in without:
            words += _words(each, ctx.params[each.name or ""])
    return shlex.join([*words, *changed])


def params_words(params: Any) -> list[str]:
    """The options that give these parameters."""
    name = name_of(params)
    words, usual = ["--learner", name], make_params(name)
    for each in fields(params):
        value = getattr(params, each.name)
        known = each.name in ("max_iter", "random_state", "variant", "class_weight")
        if not known and value != getattr(usual, each.name):
            option = f"--{each.name.replace('_', '-')}"
            if isinstance(value, bool):
                words.append(option if value else f"--no-{option[2:]}")
            else:
                words += [option, "none" if value is None else str(value)]
    return [*words, "--max-iter", str(params.max_iter)]


def _words(option: click.Option, value: Any) -> list[str]:
    name = min(option.opts, key=len)
    if option.is_flag:
        return [option.secondary_opts[0] if option.secondary_opts and not value else name]
    if isinstance(value, dict):
        value = ",".join(f"{label}={weight:g}" for label, weight in value.items())
    values = value if isinstance(value, tuple) else ["none" if value is None else value]
    return [word for each in values for word in (name, str(each))]
