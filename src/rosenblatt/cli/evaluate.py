"""Judge a model on labelled data: accuracy with its interval, F1, area under the curve, confusions, probabilities.

A row counts with its weight. A regression is judged by how far off its numbers are.

    rosenblatt evaluate spam.model held-out.tsv
    rosenblatt evaluate spam.model held-out.tsv --report spam.html
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

HELP = "count a model's errors on labelled data"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.cluster import add_cluster_arguments
    from rosenblatt.cli.reading import DATA, add_data_arguments

    parser.usage = "rosenblatt evaluate MODEL DATA [DATA ...] [options]"
    parser.add_argument("model", metavar="MODEL", help="a model that train wrote")
    parser.add_argument("data", metavar="DATA", nargs="+", help=DATA)
    parser.add_argument("--label", metavar="COLUMN", help="the label column, for a model that was trained in Python")
    parser.add_argument("--json", action="store_true", help="the figures as one JSON object")
    parser.add_argument("--report", metavar="FILE.html", help="write a report that needs nothing else to be read")
    add_data_arguments(parser)
    add_cluster_arguments(parser, training=False)


def run(args: argparse.Namespace) -> int:
    from rosenblatt.cli.cluster import evaluate_on_cluster
    from rosenblatt.cli.page import write_page
    from rosenblatt.cli.predict import encoder_of
    from rosenblatt.cli.reading import open_data, say_bad, say_strange
    from rosenblatt.errors import ParameterError
    from rosenblatt.evaluation import evaluate_batches, evaluate_regression
    from rosenblatt.models.file import load
    from rosenblatt.report import render_html, render_text

    model = load(args.model)
    encoder = encoder_of(model, args, args.label)
    result: Any
    if args.cluster:
        if model.is_regression:
            raise ParameterError("--cluster counts classes, and this model predicts numbers: evaluate it without")
        result = evaluate_on_cluster(args, model, encoder)
    else:
        reader = open_data(args, encoder=encoder)
        result = (evaluate_regression if model.is_regression else evaluate_batches)(model, reader)
        say_bad(reader)
        say_strange(reader)
    if args.report:
        title = f"{', '.join(args.data)} by {args.model}"
        if model.is_regression:
            write_page(args.report, title, render_text(result))
        else:
            from rosenblatt.io.atomic import write_atomic

            write_atomic(args.report, render_html(title, result, model).encode())
        print(f"rosenblatt: wrote {args.report}", file=sys.stderr)
    print(json.dumps(result.to_json(), ensure_ascii=False) if args.json else render_text(result))
    return 0
