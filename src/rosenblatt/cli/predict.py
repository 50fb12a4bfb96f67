"""Predict the label of every row: a line out for a row in, as the rows come.

rosenblatt predict spam.model new.tsv
tail -f messages | rosenblatt predict spam.model --scores
"""

from __future__ import annotations

import argparse
import json
from typing import Any

HELP = "predict the label of every row of a file or a pipe"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.reading import add_data_arguments

    parser.add_argument("model", metavar="MODEL", help="a model that train wrote")
    parser.add_argument(
        "data", metavar="DATA", nargs="*", default=["-"], help="files, globs, folders; - is a pipe (default)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where the labels go (default: standard output)")
    parser.add_argument("--scores", action="store_true", help="the scores too, behind a tab each")
    parser.add_argument("--json", action="store_true", help="an object a line: the label and the scores")
    add_data_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from rosenblatt.cli.reading import open_data, say_bad
    from rosenblatt.data.output import writing
    from rosenblatt.models.file import load

    model = load(args.model)
    reader = open_data(args, encoder=encoder_of(model, args), require_label=False)
    with writing(args.output or "-") as out:
        for batch in reader:
            out.write(_lines(model, batch, args).encode("utf-8", "replace"))
            out.flush()
    say_bad(reader)
    return 0


def encoder_of(model: Any, args: argparse.Namespace, label: str | None = None) -> Any:
    """The model's encoder; for one that was trained on plain rows, the columns of their names or svmlight's."""
    if model.encoder is not None:
        return model.encoder
    from rosenblatt.data.finding import find_sources
    from rosenblatt.data.formats import LINE_FORMATS
    from rosenblatt.data.lines import LineEncoder
    from rosenblatt.data.readers import format_of
    from rosenblatt.errors import ModelError

    form = args.format or format_of(find_sources(args.data)[0])
    if form in LINE_FORMATS:
        return LineEncoder(form)
    from rosenblatt.data.columns import Column, ColumnEncoder

    names = [model.names.get(j) for j in range(model.features)]
    if None in names:
        raise ModelError("the model was trained on rows whose columns have no names: give it svmlight data")
    return ColumnEncoder(tuple(Column(str(name), "number") for name in names), label, complete=True)


def _lines(model: Any, batch: Any, args: argparse.Namespace) -> str:
    from rosenblatt.models.linear import predict_codes

    scores = model.batch_scores(batch)
    labels = model.classes[predict_codes(scores)].tolist()
    if args.json:
        names = [str(label) for label in model.classes.tolist()][-scores.shape[1] :]
        objects = (
            {"label": label, "scores": dict(zip(names, row, strict=True))}
            for label, row in zip(labels, scores.tolist(), strict=True)
        )
        return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects)
    if args.scores:
        rows = scores.tolist()
        return "".join(
            f"{label}\t" + "\t".join(f"{s!r}" for s in row) + "\n" for label, row in zip(labels, rows, strict=True)
        )
    return "".join(f"{label}\n" for label in labels)
