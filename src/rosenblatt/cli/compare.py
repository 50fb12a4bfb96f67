"""Compare the learners of the family, and scikit-learn's linear classifiers, on your data.

Every classifier learns from the same folds of the same rows: accuracy with its standard error, smallest margin, time to
learn and to predict a row, size of the model, and what it offers.

    rosenblatt compare data.csv
    rosenblatt compare data.csv --folds 10 --html comparison.html
"""

from __future__ import annotations

import json

import click

from rosenblatt.cli import options as o


@click.command("compare", cls=o.Verb, help=__doc__)
@o.data_argument()
@o.fold_options("the folds")
@o.json_option("print the measurements as JSON")
@o.option("--html", metavar="FILE", type=o.OutputFile(), help="also write a page with the table")
@o.reading_options
@o.column_options()
def command(
    data: o.Files, folds: int, seed: int, as_json: bool, html: o.Text, reading: o.Settings, columns: o.Settings
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
