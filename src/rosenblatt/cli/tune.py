"""Try rules and their parameters by cross-validation, and say which one to take.

Prints a table of accuracies with standard errors, the best first. The last line is the command that learns the best
one; with -o it is learned at once.

    rosenblatt tune data.csv
    rosenblatt tune data.csv --folds 10 --json
    rosenblatt tune data.csv -o best.model
"""

from __future__ import annotations

import click

from rosenblatt.cli import options as o


@click.command("tune", cls=o.Verb, help=__doc__)
@o.data_argument()
@o.option("-o", "--output", metavar="MODEL", type=o.OutputFile(), help="learn the best one from all rows, and write it")
@o.fold_options("the folds and the shuffles")
@o.json_option("print the table as JSON")
@o.reading_options
@o.column_options()
@click.pass_context
def command(
    ctx: click.Context,
    data: o.Files,
    output: o.Text,
    folds: int,
    seed: int,
    as_json: bool,
    reading: o.Settings,
    columns: o.Settings,
) -> None:
    from rosenblatt.cli.console import print_json, say, waiting
    from rosenblatt.cli.load import open_labeled, report_skipped
    from rosenblatt.cli.reproduce import params_words, train_command
    from rosenblatt.models.file import save
    from rosenblatt.training import train_dataset
    from rosenblatt.training.tuned import tune_reader

    dataset = open_labeled(data, reading, columns)
    with waiting("trying rules and their parameters"):
        found = tune_reader(dataset, folds=folds, random_state=seed)
    report_skipped(dataset)
    best = found[0].params
    words = [*params_words(best), "--folds", str(folds)] + ([] if seed == 0 else ["--seed", str(seed)])
    command = train_command(ctx, words if output else ["-o", "MODEL", *words], without=("as_json", "folds", "seed"))
    if output:
        save(train_dataset(dataset, best, folds=folds).model, output)  # folds: with probabilities
        say(f"wrote {output}")
    if as_json:
        print_json({"tried": [tried.facts() for tried in found], "command": command})
        return
    width = max(len(tried.params.written()) for tried in found)
    print("\n".join(f"{tried.params.written():<{width}}  {tried}" for tried in found))
    print(f"\n{command}")
