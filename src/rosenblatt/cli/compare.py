"""Compare the learners of the family, and scikit-learn's linear classifiers, on your data.

Every classifier learns from the same folds of the same rows: accuracy with its standard error, smallest margin, time to
learn and to predict a row, size of the model, and what it offers.

    rosenblatt compare data.csv
    rosenblatt compare data.csv --folds 10 --html comparison.html
"""

from __future__ import annotations

import json
from typing import Any

import click

from rosenblatt.cli.options import (
    OutputFile,
    Verb,
    column_options,
    data_argument,
    fold_options,
    json_option,
    option,
    reading_options,
)


@click.command("compare", cls=Verb, help=__doc__)
@data_argument()
@fold_options("the folds")
@json_option("print the measurements as JSON")
@option("--html", metavar="FILE", type=OutputFile(), help="also write a page with the table")
@reading_options
@column_options()
def command(
    data: tuple[str, ...],
    folds: int,
    seed: int,
    as_json: bool,
    html: str | None,
    reading: dict[str, Any],
    columns: dict[str, Any],
) -> None:
    from rosenblatt.cli.load import read_matrix
    from rosenblatt.io.atomic import write_atomic
    from rosenblatt.report import render_comparison
    from rosenblatt.select import compare

    X, y, _ = read_matrix(data, reading, columns)
    found = compare(X, y, folds=folds, random_state=seed)
    if html:
        write_atomic(html, render_comparison(f"{', '.join(data)}: classifiers compared", found).encode())
    print(json.dumps(found.as_dict()) if as_json else found)
