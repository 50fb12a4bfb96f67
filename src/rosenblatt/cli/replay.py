"""Rebuild a model from a server's log, compare learners on it, or export its examples.

    rosenblatt replay spam.sqlite -o spam.model
    rosenblatt replay spam.sqlite -o then.model --until 5000
    rosenblatt replay spam.sqlite -o arow.model --learner arow
    rosenblatt replay spam.sqlite --compare averaged,arow,pa1
    rosenblatt replay spam.sqlite --export examples.parquet

The server may be running. To start a new log from an old one: replay OLD -o MODEL, then serve MODEL --learn NEW.
"""

from __future__ import annotations

import argparse
from typing import Any

HELP = "rebuild a model from a server log, or compare learners on it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.parameters import add_params_arguments
    from rosenblatt.params import FAMILY

    parser.usage = "rosenblatt replay LOG -o MODEL [options]"
    parser.add_argument("log", metavar="LOG", help="a log")
    parser.add_argument("-o", "--output", metavar="MODEL", help="write the model")
    parser.add_argument("--until", type=int, metavar="SEQ", help="stop after this example")
    parser.add_argument("--compare", metavar="A,B", help="progressive error of these learners")
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    parser.add_argument("--export", metavar="FILE", help="write the examples to a Parquet file")
    names = [name for name in FAMILY if name != "kernel" and "regression" not in name]
    parser.add_argument("--learner", choices=names, help="learn by another learner (default: that of the log)")
    group = parser.add_argument_group("of another learner")
    group.add_argument("--random-state", type=int, default=0, metavar="N", help="a seed (0)")
    add_params_arguments(group)
    parser.set_defaults(max_iter=1000)


def run(args: argparse.Namespace) -> int:
    """0: done."""
    from rosenblatt.cli.parameters import given_parameters, params_of
    from rosenblatt.cli.serve import check_extra
    from rosenblatt.errors import ParameterError

    check_extra()
    if sum(each is not None for each in (args.output, args.compare, args.export)) != 1:
        raise ParameterError("pass one of -o, --compare and --export")
    if args.learner is None and given_parameters(args):
        raise ParameterError("the options of a learner need --learner")
    if args.compare:
        return _compare(args)
    from rosenblatt.service.replay import export, save_replay

    if args.export:
        print(f"Wrote {export(args.log, args.export, args.until):,} examples to {args.export}")
        return 0
    model = save_replay(args.log, args.output, None if args.learner is None else params_of(args), args.until)
    print(f"Wrote {args.output}: {model.learner}, {len(model.classes)} classes, {model.features:,} features")
    return 0


def _compare(args: argparse.Namespace) -> int:
    import json

    from rosenblatt.params import make_params
    from rosenblatt.service.replay import compare

    names = [name.strip() for name in args.compare.split(",") if name.strip()]
    found = compare(args.log, [make_params(name) for name in names], args.until)
    if args.json:
        print(json.dumps(found))
        return 0
    print(f"{'learner':<14}{'examples':>12}{'mistakes':>12}{'error':>10}{'last 1,000':>12}{'drift':>7}")
    for each in found:
        print(_line(each))
    return 0


def _line(each: dict[str, Any]) -> str:
    error, recent = each["progressive_error"], each["recent_error"]
    shown = [
        f"{'-' if share is None else format(share, '.2%'):>{width}}" for share, width in ((error, 10), (recent, 12))
    ]
    figures = f"{each['examples']:>12,}{each['mistakes']:>12,}{shown[0]}{shown[1]}{each['drift_alarms']:>7}"
    return f"{each['learner']:<14}{figures}"
