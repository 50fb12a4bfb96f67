"""Compare the learners of the family, and scikit-learn's linear classifiers, on your data.

Cross-validates every classifier on the same folds: accuracy with its standard error, training time, and prediction
time per row.

    rosenblatt compare data.csv
    rosenblatt compare data.csv --folds 10 --json
    rosenblatt compare visits.csv --group patient --scoring f1
"""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli import options as o


@click.command("compare", cls=o.Verb, help=__doc__)
@o.data_argument(required=True)
@o.option("--folds N", "cross-validation folds", type=click.IntRange(2), default=5)
@o.seed_option("seed of the folds")
@o.json_option("print the measurements as JSON")
@o.split_options("rank by this score", "hold out whole groups", "hold out the rows that come later")
@o.reading_options()
@o.column_options()
def command(data: tuple[str, ...], folds: int, seed: int, as_json: bool, split: dict[str, Any], **how: Any) -> None:
    from dataclasses import asdict

    from rosenblatt.cli.console import echo, print_json
    from rosenblatt.cli.load import open_labeled, read_rows
    from rosenblatt.select import compare

    X, y, _, options = read_rows(open_labeled(data, **how, split=split), split)
    found = compare(X, y, folds=folds, random_state=seed, **options)
    print_json(asdict(found)) if as_json else echo(found)
