"""Predict the label of every row: a line out for a line in, as the lines come.

A line that is blank, or that --skip-bad passes over, has an empty answer, so that answers and lines keep step.

    rosenblatt predict spam.model new.tsv
    rosenblatt predict spam.model new.csv -o answers.csv --probabilities --pass id
    tail -f messages | rosenblatt predict spam.model --scores
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.cli.answers import Columns

HELP = "predict the label of every row of a file or a pipe"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.answers import KINDS
    from rosenblatt.cli.cluster import add_cluster_arguments
    from rosenblatt.cli.counts import whole_number
    from rosenblatt.cli.reading import DATA, add_data_arguments

    parser.usage = "rosenblatt predict MODEL [DATA ...] [options]"
    parser.add_argument("model", metavar="MODEL", help="a model that train wrote")
    parser.add_argument("data", metavar="DATA", nargs="*", default=["-"], help=f"{DATA}, and the default")
    parser.add_argument("-o", "--output", metavar="FILE", help="where the answers go (default: standard output)")
    parser.add_argument("--to", choices=KINDS, help="the form of the answers; found out by FILE's ending, else text")
    parser.add_argument("--json", action="store_const", const="json", dest="to", help="the same as --to json --scores")
    parser.add_argument("--scores", action="store_true", help="the scores too")
    parser.add_argument("--probabilities", action="store_true", help="the probability of each class too")
    parser.add_argument("--top", type=whole_number(1), metavar="K", help="the K likeliest classes instead of one")
    parser.add_argument(
        "--threshold",
        type=float,
        metavar="X",
        help="two classes: the larger one from this score (or probability) on; more classes: no answer below it",
    )
    parser.add_argument(
        "--pass",
        action="append",
        default=[],
        dest="passing",
        metavar="COLUMN",
        help="put a column of the data before the answer; * is all of them, or the whole line; may be repeated",
    )
    add_data_arguments(parser)
    add_cluster_arguments(parser, training=False)


def run(args: argparse.Namespace) -> int:
    from rosenblatt.cli.answers import kind_of, open_writer, with_gaps
    from rosenblatt.cli.reading import open_data, say_bad, say_strange
    from rosenblatt.errors import ModelError, ParameterError
    from rosenblatt.io.atomic import writing
    from rosenblatt.models.file import load

    model = load(args.model)
    for name in ("top", "probabilities", "threshold"):
        given = getattr(args, name)
        if model.is_regression and given is not None and given is not False:
            raise ParameterError(f"--{name} is for classes, and {args.model} predicts numbers")
    if args.threshold is not None and args.threshold != args.threshold:
        raise ParameterError("--threshold nan: must be a number")
    if args.top is not None and args.threshold is not None:
        raise ParameterError("--top and --threshold: each says what is answered; leave one of them out")
    kind = kind_of(args.output, args.to)
    if args.probabilities:
        if model.calibrator is None:
            raise ModelError(
                f"{args.model} has scores but no probabilities: train it with --folds 5 or --valid FILE, "
                "or use --scores"
            )
        if args.threshold is not None and not 0 <= args.threshold <= 1:
            raise ParameterError(f"--threshold {args.threshold:g}: a probability lies between 0 and 1")
    if args.cluster:
        return _predict_on_cluster(args, model)
    reader = open_data(args, encoder=encoder_of(model, args), require_label=False, in_order=True)
    reader.gaps, reader.passing = True, tuple(args.passing)
    names = iter(reader.documents or ())
    with writing(args.output or "-") as out:
        writer = open_writer(kind, out)
        for batch in (part for whole in reader for part in whole.cut(len(model.classes))):
            columns = with_gaps(_answers(model, batch, args, kind), batch.gaps)
            writer.write(_with_names(columns, names) if reader.documents else columns)
        writer.close()
    say_bad(reader)
    say_strange(reader)
    return 0


def _predict_on_cluster(args: argparse.Namespace, model: Any) -> int:
    from rosenblatt.cli.answers import kind_of, open_writer
    from rosenblatt.cli.cluster import answers_on_cluster
    from rosenblatt.io.atomic import writing

    kind = kind_of(args.output, args.to)
    with writing(args.output or "-") as out:
        writer = open_writer(kind, out)
        for columns in answers_on_cluster(args, model, encoder_of(model, args), kind):
            writer.write(columns)
        writer.close()
    return 0


def encoder_of(model: Any, args: argparse.Namespace, label: str | None = None) -> Any:
    """The model's encoder; for one that was trained on plain rows, the columns of their names or svmlight's."""
    if model.encoder is not None:
        return model.encoder
    from rosenblatt.encode.lines import LineEncoder
    from rosenblatt.errors import ModelError
    from rosenblatt.io.dataset import format_of
    from rosenblatt.io.formats import LINE_FORMATS
    from rosenblatt.io.source import expand_sources

    form = args.format or format_of(expand_sources(args.data)[0], args.encoding)
    if form in LINE_FORMATS:
        return LineEncoder(form)
    from rosenblatt.encode.table import Column, ColumnEncoder

    names = [model.names.get(j) for j in range(model.features)]
    if None in names:
        raise ModelError("the model was trained on rows whose columns have no names: give it svmlight data")
    return ColumnEncoder(tuple(Column(str(name), "number") for name in names), label, complete=True)


def _answers(model: Any, batch: Any, args: argparse.Namespace, kind: str) -> Columns:
    """The columns of the answers, one cell for each row."""
    import numpy as np

    found = model.predictions(model.batch_scores(batch))
    if model.is_regression:
        return {**({} if not len(batch) else batch.passed or {}), "prediction": found.values()}
    classes = model.classes.tolist()
    columns: Columns = dict(batch.passed or {})
    if not len(batch):
        columns = {name: [] for name in columns}
    P = found.probabilities if args.probabilities else None
    measure, name = (found.class_scores, "score") if P is None else (P, "probability")
    if args.top is not None:
        order, best = found.top(args.top, by_probability=P is not None)
        for place in range(order.shape[1]):
            columns[f"label {place + 1}"] = [classes[code] for code in order[:, place]]
            columns[f"{name} {place + 1}"] = best[:, place].tolist()
        return columns
    codes = found.codes
    silent = np.zeros(len(codes), bool)
    if args.threshold is not None:
        if len(classes) == 2:
            codes = (measure[:, 1] >= args.threshold).astype(int)
        else:
            silent = measure.max(axis=1) < args.threshold
    columns["label"] = [None if quiet else classes[code] for code, quiet in zip(codes, silent, strict=True)]
    if args.scores or (kind == "json" and P is None):
        # Text has one score for two classes: that of the larger, as long as there has been text.
        shown = found.scores if kind == "text" else found.class_scores
        columns |= {f"score of {label}": shown[:, k].tolist() for k, label in enumerate(classes[-shown.shape[1] :])}
    if P is not None:
        columns |= {f"probability of {label}": P[:, k].tolist() for k, label in enumerate(classes)}
    return columns


def _with_names(columns: Columns, names: Iterator[str]) -> Columns:
    """With the name of each document."""
    count = len(next(iter(columns.values())))
    return {"document": [next(names) for _ in range(count)], **columns}
