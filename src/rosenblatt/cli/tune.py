"""Cross-validate rules and their parameters, and recommend the best one.

Prints a table of scores with standard errors, the best first. The last line has the options with which train trains
the best one; -o trains it at once.

    rosenblatt tune data.csv
    rosenblatt tune data.csv --folds 10 --json
    rosenblatt tune data.csv -o best.model
    rosenblatt tune houses.csv --label price --task regression
"""

from __future__ import annotations

import shlex
from dataclasses import fields
from typing import Any

import click

from rosenblatt.cli import options as o
from rosenblatt.params import make_params, name_of


@click.command("tune", cls=o.Verb, help=__doc__)
@o.data_argument(required=True)
@o.option("-o --output MODEL", "learn the best one from all rows, and write it", type=o.OutputFile())
@o.option("--folds N", "cross-validation folds", type=click.IntRange(2), default=5)
@o.option("--task", "predict classes, or numbers", type=click.Choice(("classification", "regression")))
@o.seed_option("seed of the folds and the shuffles")
@o.json_option("print the table as JSON")
@o.split_options("compare by this score", "hold out whole groups", "hold out the rows that come later")
@o.reading_options()
@o.column_options()
def command(data: Any, output: Any, folds: int, task: Any, seed: int, as_json: bool, split: Any, **how: Any) -> None:
    from rosenblatt.cli.console import echo, print_json, say
    from rosenblatt.cli.load import open_labeled, read_rows
    from rosenblatt.models.file import save
    from rosenblatt.select import AutoPerceptron, tune
    from rosenblatt.training import train_dataset

    dataset, is_regression = open_labeled(data, **how, split=split), task == "regression"
    X, y, _, rows = read_rows(dataset, split, is_regression=is_regression)
    found = tune(X, y, task=task or "classification", folds=folds, random_state=seed, scale=False, **rows)
    is_auto = isinstance(found.best, AutoPerceptron)
    folds = 0 if is_regression else folds  # which give probabilities
    options = ["--learner", "auto"] if is_auto else _options_of(found.best.params())
    options += ["--seed", str(seed)] * bool(seed) + ["--folds", str(folds)] * bool(folds)
    options += ["--scoring", str(split["scoring"])] * bool(split["scoring"] and is_auto)
    if output:
        chosen: dict[str, Any] = {"random_state": seed} if is_auto else {"params": found.best.params()}
        split = split | ({} if folds else {"scoring": None})  # nothing is left to compare
        save(train_dataset(dataset, **chosen, folds=folds, **split).model, output)
        say(f"wrote {output}")
    if as_json:
        print_json({"tried": found.to_json(), "options": options})
    else:
        echo(found, "", f"Options for train, after yours for the data: {shlex.join(options)}")


def _options_of(params: Any) -> list[str]:
    """The options of `train` for these parameters."""
    name = name_of(params)
    words, usual = ["--learner", name], make_params(name)
    for each in fields(params):
        value, option = getattr(params, each.name), o.option_name(each.name)
        if each.name in ("max_iter", "random_state", "variant", "class_weight") or value == getattr(usual, each.name):
            continue  # it has an option of its own, or is the default
        if isinstance(value, bool):
            words.append(option if value else f"--no-{option[2:]}")
        else:
            words += [option, "none" if value is None else str(value)]
    return [*words, "--max-iter", str(params.max_iter)]
