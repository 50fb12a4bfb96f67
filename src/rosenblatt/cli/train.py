"""Learn a model: a file in, a model and a verdict out.

Files of any size and format, compressed or not; without options it finds out what the columns are and which learner
to take.

    rosenblatt train messages.tsv -o spam.model
    rosenblatt train flights.csv.gz --label late -o late.model --report late.html
    rosenblatt train big.svm --learner arow -o big.model --checkpoint big.checkpoint --every 5m
    rosenblatt train --resume big.checkpoint -o big.model
    rosenblatt train 'data/*.parquet' --cluster tcp://host:8786 -o big.model
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.counts import seed, whole_number
from rosenblatt.cli.judging import check_judges, check_valid, judge_by_valid
from rosenblatt.cli.parameters import add_params_arguments, given_parameters, option, params_of
from rosenblatt.cli.pasted import given_options
from rosenblatt.cli.resume import MORE, resume, runner
from rosenblatt.params import FAMILY, parameters_of

if TYPE_CHECKING:
    from rosenblatt.training import Trained

HELP = "learn a model from files, of any size"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.cluster import add_cluster_arguments
    from rosenblatt.cli.reading import DATA, add_column_arguments, add_data_arguments

    parser.usage = "rosenblatt train DATA [DATA ...] -o MODEL [options]"
    parser.add_argument("data", metavar="DATA", nargs="*", help=DATA)
    parser.add_argument("-o", "--output", metavar="MODEL", help="where the model goes")
    parser.add_argument(
        "--learner",
        choices=("auto", *FAMILY),
        help="the algorithm (default: auto, which tries several; averaged if one of a learner's own options is given)",
    )
    epochs = "the most passes over the rows (default 10; 100 for auto)"
    parser.add_argument("--max-iter", type=whole_number(1), metavar="N", help=epochs)
    parser.add_argument(
        "--no-products",
        dest="products",
        action="store_false",
        help="keep auto from trying products of columns: every column has a weight of its own",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, dest="random_state", metavar="N", help="seed of the shuffles (default 0)"
    )
    parser.add_argument("--from", dest="start", metavar="MODEL", help="go on from this model, with new data")
    parser.add_argument(
        "--valid",
        action="append",
        default=[],
        metavar="FILE",
        help="judge the model by these rows, and fit probabilities on them; none is learned from; may be repeated",
    )
    parser.add_argument(
        "--folds",
        type=whole_number(2),
        default=0,
        metavar="N",
        help="judge each of N parts by what is learned from the others, and fit probabilities",
    )
    parser.add_argument("--json", action="store_true", help="the result as one JSON object on standard output")
    parser.add_argument(
        "--report",
        metavar="FILE.html",
        help="also write a page: how good it is, its mistakes by epoch, its top features",
    )
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")
    add_data_arguments(parser)
    add_column_arguments(parser)
    group = parser.add_argument_group("larger than memory, stop and resume")
    group.add_argument("--block", type=int, metavar="ROWS", help="rows that are shuffled together (default 8192)")
    group.add_argument("--cache", metavar="FOLDER", help="keep the parsed data here for later runs")
    group.add_argument("--checkpoint", metavar="FILE", help="save the run here now and then, for --resume")
    group.add_argument(
        "--every", type=_seconds, default=30.0, metavar="TIME", help="how often: 30s, 5m, 1h (default 30s)"
    )
    group.add_argument("--resume", metavar="FILE", help="go on from a checkpoint, with -o; it knows the data")
    add_cluster_arguments(parser, training=True)
    group = parser.add_argument_group("the learner's own options, by their Python names")
    add_params_arguments(group)


def run(args: argparse.Namespace) -> int:
    from rosenblatt.cli.cluster import check_no_cluster, train_on_cluster
    from rosenblatt.cli.outcome import conclude
    from rosenblatt.cli.reading import open_labelled
    from rosenblatt.errors import ParameterError
    from rosenblatt.models.file import save, sha256_of

    started = time.perf_counter()
    if args.resume and args.data:
        raise ParameterError("--resume knows its data: name no other")
    if args.cluster:
        for name, word in (("folds", "--folds"), ("valid", "--valid"), ("start", "--from")):
            if getattr(args, name):
                raise ParameterError(f"{word} and --cluster: learn without one of them")
        if not args.resume:
            _settle_learner(args)
        return train_on_cluster(args, conclude)
    check_no_cluster(args)
    if args.resume:
        trained, reader = resume(args)
    else:
        if not args.data:
            raise ParameterError("name the data: rosenblatt train DATA -o MODEL")
        if not args.output:
            raise ParameterError("name the model's file: rosenblatt train DATA -o MODEL")
        if args.start is not None:
            trained, reader = _go_on(args)
        else:
            _settle_learner(args)
            check_judges(args, args.learner != "auto" and params_of(args).is_regression)
            reader = open_labelled(args, quiet=args.quiet)
            check_valid(args, reader.encoder)
            trained = _train(args, reader)
    trained = judge_by_valid(args, trained)
    save(trained.model, args.output)
    facts = trained.facts()
    facts |= {
        "model": args.output,
        "sha256": sha256_of(args.output),
        "seconds": round(time.perf_counter() - started, 3),
        "bad_lines": reader.tally.bad,
    }
    conclude(args, trained, facts, reader)
    return 0


def _settle_learner(args: argparse.Namespace) -> None:
    """Which learner, and how many epochs, where that is left open."""
    from rosenblatt.errors import ParameterError

    given = given_parameters(args)
    given.pop("class_weight", None)  # auto has it as well
    if args.learner == "auto" and given:
        raise ParameterError(
            f"{option(next(iter(given)))}: auto finds that out by itself; {_of_whom(next(iter(given)))}"
        )
    if args.learner is None:
        for name in given:
            if name not in parameters_of("averaged"):
                raise ParameterError(f"{option(name)} needs to know the learner: {_of_whom(name)}")
    args.learner = args.learner or ("averaged" if given else "auto")
    if args.learner != "auto" and not args.products:
        raise ParameterError(f"--no-products is an option of --learner auto: {args.learner} never multiplies columns")
    if args.learner != "auto" and args.max_iter is None:
        from rosenblatt.training.trained import EPOCHS

        args.max_iter = EPOCHS


def _of_whom(name: str) -> str:
    """Whose option it is."""
    owners = [learner for learner in FAMILY if name in parameters_of(learner)]
    return f"add --learner {owners[0]}" if len(owners) == 1 else f"add --learner, one of {', '.join(owners)}"


def _train(args: argparse.Namespace, reader: Any) -> Trained:
    from rosenblatt.cli.bar import waiting
    from rosenblatt.cli.slow import warn_of_classes, warn_of_kernel
    from rosenblatt.errors import ParameterError
    from rosenblatt.io.dataset import check_classes
    from rosenblatt.learners.files.run import BLOCK
    from rosenblatt.training import train_reader
    from rosenblatt.training.trained import learns_as_read

    is_regression = args.learner != "auto" and params_of(args).is_regression
    with waiting("reading the labels", visible=not args.quiet):
        classes = check_classes(reader.likely_classes(is_regression=is_regression))
    warn_of_classes(args, 1 if is_regression else len(classes), reader.encoder.features or 0)
    told = {"block": BLOCK if args.block is None else args.block, "folds": args.folds}
    on_run = runner(args, args.checkpoint, args.every)
    if args.learner == "auto":
        told |= {"max_iter": args.max_iter, "random_state": args.random_state, "products": args.products}
        told |= {"class_weight": args.class_weight}
        with waiting("choosing a learner", visible=not args.quiet) as choosing:
            return train_reader(reader, on_choice=_sayer(args, choosing), on_run=on_run, **told)
    params = params_of(args)
    if learns_as_read(params):
        return train_reader(reader, params, on_run=on_run, **told)
    if args.checkpoint or args.cache:
        raise ParameterError("--checkpoint and --cache have no meaning for options that need all rows in memory")
    warn_of_kernel(args, reader)
    with waiting("learning", visible=not args.quiet):
        return train_reader(reader, params, **told)


def _go_on(args: argparse.Namespace) -> tuple[Trained, Any]:
    """From a model that was learned before."""
    from rosenblatt.cli.reading import open_data
    from rosenblatt.errors import ModelError, ParameterError
    from rosenblatt.learners.files.run import BLOCK
    from rosenblatt.models.file import load
    from rosenblatt.training.further import go_on

    model = load(args.start)
    if model.encoder is None:
        raise ModelError(f"{args.start} was trained on rows, not on files: go on with it in Python")
    known = [word for name, (word, *_) in given_options(args).items() if name not in MORE]
    if known:
        raise ParameterError(f"{known[0]}: --from goes on as {args.start} was learned; that option has no meaning")
    check_judges(args, model.is_regression)
    reader = open_data(args, encoder=model.encoder)
    check_valid(args, model.encoder)
    if not args.quiet:
        print(f"rosenblatt: goes on from {args.start}, {model.learner}", file=sys.stderr)
    on_run = runner(args, args.checkpoint, args.every)
    block = BLOCK if args.block is None else args.block
    told: dict[str, Any] = {"max_iter": args.max_iter or 1, "shuffle": bool(args.shuffle)}
    return go_on(model, reader, block=block, on_run=on_run, **told), reader


def _sayer(args: argparse.Namespace, choosing: Any) -> Callable[[str], None]:
    """Says what was chosen, when it is."""

    def say(why: str) -> None:
        if choosing is not None:
            choosing.stop()
        if not args.quiet:
            print(f"rosenblatt: chose {why}", file=sys.stderr)

    return say


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: write 30s, 5m or 1h")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2] or "s"]
