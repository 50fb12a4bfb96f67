"""Rebuild the model from the log of a server, compare learners on it, or take care of it.

    rosenblatt replay spam.sqlite -o spam.model
    rosenblatt replay spam.sqlite -o then.model --until 5000
    rosenblatt replay spam.sqlite -o arow.model --learner arow
    rosenblatt replay spam.sqlite --compare averaged,arow,pa1
    rosenblatt replay spam.sqlite --rotate spam-2026.sqlite

A log may be read while its server runs; --shorten and --rotate need it stopped. Logs that were rotated are named in
their order: rosenblatt replay spam-2026.sqlite spam.sqlite -o spam.model
"""

from __future__ import annotations

import argparse
from typing import Any

HELP = "rebuild, compare or keep up the log of a server"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.parameters import add_params_arguments
    from rosenblatt.params.family import FAMILY

    parser.usage = "rosenblatt replay LOG [LOG ...] -o MODEL [options]"
    parser.add_argument("data", nargs="+", metavar="LOG", help="a log, or several that follow one another")
    parser.add_argument("-o", "--output", metavar="MODEL", help="write the model")
    parser.add_argument("--until", type=int, metavar="SEQ", help="the last example to take")
    parser.add_argument("--compare", metavar="A,B", help="how these learners would have done")
    parser.add_argument("--json", action="store_true", help="the comparison as JSON")
    parser.add_argument("--export", metavar="FILE", help="write the examples to a Parquet file")
    parser.add_argument("--rotate", metavar="FILE", help="move the examples to another log, and begin this one anew")
    parser.add_argument(
        "--shorten", action="store_true", help="take the examples out, and keep what was learned from them"
    )
    names = [name for name in FAMILY if name != "kernel"]
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
    wishes = [args.output, args.compare, args.export, args.rotate, args.shorten or None]
    if sum(wish is not None for wish in wishes) != 1:
        raise ParameterError("say one of -o, --compare, --export, --rotate and --shorten")
    if (args.rotate or args.shorten) and len(args.data) > 1:
        raise ParameterError("--rotate and --shorten take one log")
    if args.rotate and args.until is not None:
        raise ParameterError("--rotate moves all examples: leave --until out")
    if args.learner is None and given_parameters(args):
        raise ParameterError("the options of a learner need --learner")
    if args.rotate or args.shorten or args.export:
        return _keep_up(args)
    if args.compare:
        return _compare(args)
    from rosenblatt.models.file import save
    from rosenblatt.service.replay import replay

    params = None if args.learner is None else params_of(args)
    model = replay(args.data, params, args.until)
    save(model, args.output)
    print(f"Wrote {args.output}: {model.learner}, {len(model.classes)} classes, {model.features:,} features")
    return 0


def _keep_up(args: argparse.Namespace) -> int:
    from rosenblatt.service.upkeep import export, rotate, shorten

    if args.export:
        print(f"Wrote {export(args.data, args.export, args.until):,} examples to {args.export}")
    elif args.rotate:
        print(f"Moved {rotate(args.data[0], args.rotate):,} examples to {args.rotate}")
    else:
        print(f"Took {shorten(args.data[0], args.until):,} examples out of {args.data[0]}")
    return 0


def _compare(args: argparse.Namespace) -> int:
    import json

    from rosenblatt.params.family import make_params
    from rosenblatt.service.replay import compare

    names = [name.strip() for name in args.compare.split(",") if name.strip()]
    found = compare(args.data, [make_params(name) for name in names], args.until)
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
