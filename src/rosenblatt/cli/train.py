"""Learn a model: a file in, a model and a verdict out.

Files of any size and format, compressed or not; without options it finds out what the columns are and which learner
to take.

    rosenblatt train messages.tsv -o spam.model
    rosenblatt train flights.csv.gz --label late -o late.model --report late.html
    rosenblatt train big.svm --learner arow -o big.model --checkpoint big.checkpoint --every 5m
    rosenblatt train --resume big.checkpoint
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Container, Iterable
from typing import Any

HELP = "learn a model from files, of any size"

# Options that need all rows at once: these runs go through the Python class, in memory.
_IN_MEMORY = ("multiclass", "class_weight", "early_stopping", "validation_fraction", "n_init", "init")
_KERNEL = ("kernel", "gamma", "degree", "coef0", "rule", "budget", "policy")
_OF_RULES = ("eta0", "beta", "C", "r", "penalty", "alpha", "l1_ratio")
_OWN = ("tol", *_OF_RULES, "n_iter_no_change", "keep", "tie", "shuffle", "fit_intercept")
_HELP_NUMBERS = {
    "tol": "how much better an epoch must be to count as better",
    "eta0": "the step of the perceptrons",
    "beta": "the margin below which they step",
    "C": "the longest step of pa1, and how bold pa2 is",
    "r": "how much noise arow expects",
    "alpha": "how strong the penalty is (0.0001)",
    "l1_ratio": "the share of l1 in elasticnet (0.15)",
    "coef0": "of the kernels poly and sigmoid",
    "validation_fraction": "held out for early stopping",
}
_HELP_COUNTS = {
    "n_iter_no_change": "epochs without getting better before it stops",
    "n_init": "restarts, of which the best is kept",
    "degree": "of the kernel poly",
    "budget": "the most support rows of the kernel learner",
}
_HELP_CHOICES = {
    "penalty": (("l2", "l1", "elasticnet"), "shrink the weights after every row; l1 makes most of them 0"),
    "keep": (("last", "average", "vote", "pocket"), "which weights are the answer"),
    "tie": (("mistake", "positive"), "what a score of 0 is"),
    "multiclass": (("joint", "ovr"), "three classes or more: all together, or each against the rest"),
    "init": (("zeros", "random"), "the weights at the start"),
    "kernel": (("linear", "poly", "rbf", "sigmoid"), "of the kernel learner (rbf)"),
    "rule": (("perceptron", "PA", "PA-I", "PA-II"), "of the kernel learner (perceptron)"),
    "policy": (("forget-oldest", "forgetron", "projectron"), "when the budget is used up (projectron)"),
}
_HELP_SWITCHES = {
    "shuffle": "another order of the rows each epoch (on)",
    "fit_intercept": "learn an intercept (on)",
    "early_stopping": "stop by the accuracy on held-out rows (off)",
}
_LEARNERS = ("auto", "perceptron", "averaged", "voted", "pocket", "pa", "pa1", "pa2", "kernel", "arow")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.reading import add_column_arguments, add_data_arguments

    parser.usage = "rosenblatt train DATA [DATA ...] -o MODEL [options]"
    parser.add_argument("data", metavar="DATA", nargs="*", help="files, globs, folders; - is a pipe")
    parser.add_argument("-o", "--output", metavar="MODEL", help="where the model goes")
    parser.add_argument(
        "--learner",
        choices=_LEARNERS,
        help="the algorithm (default auto, which tries several; averaged if one of a learner's own options is given)",
    )
    parser.add_argument("--max-iter", type=int, metavar="N", help="the most epochs (default 10; 100 for auto)")
    parser.add_argument(
        "--no-products",
        dest="products",
        action="store_false",
        help="keep auto from trying products of columns: every column has a weight of its own",
    )
    parser.add_argument(
        "--seed", type=int, default=0, dest="random_state", metavar="N", help="of the shuffles (default 0)"
    )
    parser.add_argument("--json", action="store_true", help="the result as one JSON object on standard output")
    parser.add_argument("--report", metavar="FILE.html", help="write a report that needs nothing else to be read")
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")
    add_data_arguments(parser)
    add_column_arguments(parser)
    group = parser.add_argument_group("larger than memory, stop and resume")
    group.add_argument("--block", type=int, metavar="ROWS", help="rows that are shuffled together (default 131072)")
    group.add_argument("--cache", metavar="FOLDER", help="keep the parsed data here for later runs")
    group.add_argument("--checkpoint", metavar="FILE", help="save the run here now and then")
    group.add_argument(
        "--every", type=_seconds, default=30.0, metavar="TIME", help="how often: 30s, 5m, 1h (default 30s)"
    )
    group.add_argument("--resume", metavar="FILE", help="go on from a checkpoint; it knows the data and the options")
    group = parser.add_argument_group("the learner's own options, by their Python names")
    for name, what in _HELP_NUMBERS.items():
        group.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="X", help=what)
    for name, what in _HELP_COUNTS.items():
        group.add_argument(f"--{name.replace('_', '-')}", type=int, metavar="N", help=what)
    for name, (choices, what) in _HELP_CHOICES.items():
        group.add_argument(f"--{name.replace('_', '-')}", choices=choices, help=what)
    group.add_argument("--gamma", type=_gamma, metavar="auto|scale|X", help="of the kernel")
    group.add_argument(
        "--class-weight", type=_class_weight, metavar="balanced|A=1,B=2", help="how much the rows of a class weigh"
    )
    for name, what in _HELP_SWITCHES.items():
        group.add_argument(
            f"--{name.replace('_', '-')}", action=argparse.BooleanOptionalAction, default=None, help=what
        )


def run(args: argparse.Namespace) -> int:
    from rosenblatt.cli.reading import open_labelled
    from rosenblatt.errors import ParameterError
    from rosenblatt.models.container import check_writable

    started = time.perf_counter()
    if args.resume:
        if args.data:
            raise ParameterError("--resume knows its data: name no other")
        model, facts, reader, output = _resume(args)
    else:
        if not args.data:
            raise ParameterError("name the data: rosenblatt train DATA -o MODEL")
        if not args.output:
            raise ParameterError("name the model's file: rosenblatt train DATA -o MODEL")
        output = args.output
        _settle_learner(args)
        for path in (output, args.checkpoint, args.report):
            if path:
                check_writable(path)
        reader = open_labelled(args, quiet=args.quiet)
        model, facts = _in_memory(args, reader) if _needs_memory(args) else _over_files(args, reader)
    from rosenblatt.models.file import save

    save(model, output)
    facts |= {"model": output, "seconds": round(time.perf_counter() - started, 3), "bad_lines": reader.tally.bad}
    _conclude(args, model, facts, reader)
    return 0


def _settle_learner(args: argparse.Namespace) -> None:
    """Which learner, and how many epochs, where that is left open."""
    from rosenblatt.errors import ParameterError

    given = [name for name in _OWN + _IN_MEMORY + _KERNEL if getattr(args, name) is not None]
    if args.learner == "auto" and given:
        raise ParameterError(
            f"--{given[0].replace('_', '-')} is an option of a learner with a name: add --learner NAME"
        )
    args.learner = args.learner or ("averaged" if given else "auto")
    if args.learner != "auto" and not args.products:
        raise ParameterError(f"--no-products is an option of --learner auto: {args.learner} never multiplies columns")
    if args.learner != "auto" and args.max_iter is None:
        args.max_iter = 10


def _needs_memory(args: argparse.Namespace) -> bool:
    if args.learner == "kernel":
        return True
    given = [name for name in _IN_MEMORY if getattr(args, name) not in (None, False)]
    return any(
        (name, getattr(args, name)) not in (("multiclass", "joint"), ("init", "zeros"), ("n_init", 1)) for name in given
    )


def _options(args: argparse.Namespace) -> Any:
    from rosenblatt.errors import ParameterError
    from rosenblatt.learners.files import Options

    for name in _KERNEL:
        if getattr(args, name) is not None:
            raise ParameterError(f"--{name} is an option of --learner kernel")
    names = (*_OWN, "block")
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    options = Options(args.learner, args.max_iter, random_state=args.random_state, **given)
    _check_known(given, {*names} - {*_OF_RULES} | {*options.own()}, args.learner)
    return options


def _check_known(given: Iterable[str], known: Container[str], learner: str) -> None:
    from rosenblatt.errors import ParameterError

    for name in given:
        if name not in known:
            raise ParameterError(f"--{name.replace('_', '-')} is not an option of --learner {learner}")


def _over_files(args: argparse.Namespace, reader: Any) -> tuple[Any, dict[str, Any]]:
    from rosenblatt.cli.bar import waiting
    from rosenblatt.data.readers import check_classes
    from rosenblatt.learners.files import FileRun

    scores: dict[str, float] = {}
    with waiting("reading the labels", visible=not args.quiet):
        check_classes(reader.scan_classes())
    if args.learner == "auto":
        from rosenblatt.cli.choice import choose_learner

        with waiting("choosing a learner", visible=not args.quiet):
            chosen = choose_learner(
                reader,
                products=args.products,
                max_iter=args.max_iter,
                random_state=args.random_state,
                block=args.block,
            )
        if not args.quiet:
            print(f"rosenblatt: chose {chosen.why}", file=sys.stderr)
        scores = chosen.scores
        run = FileRun.begin(reader, chosen.options, scale=chosen.scale, products=chosen.products, choice=chosen.why)
    else:
        run = FileRun.begin(reader, _options(args))
    model, facts = _finish(args, run, args.output, args.checkpoint, args.every)
    return model, facts | ({"tried": scores} if scores else {})


def _resume(args: argparse.Namespace) -> tuple[Any, dict[str, Any], Any, str]:
    from rosenblatt.learners.checkpoint import load_checkpoint

    run, extra = load_checkpoint(args.resume, jobs=args.jobs)
    output = args.output or extra["output"]
    model, facts = _finish(args, run, output, args.resume, extra["every"])
    return model, facts, run.reader, output


def _finish(
    args: argparse.Namespace, run: Any, output: str, checkpoint: str | None, every: float
) -> tuple[Any, dict[str, Any]]:
    """Go on with a run to its end."""
    from rosenblatt.cli.bar import Bar
    from rosenblatt.learners.checkpoint import Checkpoint, save_checkpoint

    extra = {"output": output, "every": every}
    save_now = Checkpoint(checkpoint, every, extra) if checkpoint else None
    with Bar(run, visible=not args.quiet) as bar:

        def on_group(run: Any) -> None:
            bar(run)
            if save_now is not None:
                save_now(run)

        if save_now is not None:
            save_now(run)
        run.run(cache=args.cache, on_group=on_group, on_epoch=on_group)
    if checkpoint:
        save_checkpoint(run, checkpoint, extra)
    facts = {
        "learner": run.options.learner,
        "parameters": run.options.parameters(),
        "choice": run.choice,
        "products": run.products is not None,
        "rows": run.rows,
        "classes": run.classes.values.tolist(),
        "epochs": len(run.history),
        "mistakes": run.history.mistakes,
        "updates": run.history.updates,
        "progressive_error": run.history.mistakes[0] / run.rows,
        "stop_reason": run.stop_reason,
        "epoch_seconds": [round(s, 4) for s in run.history.seconds],
    }
    return run.model(), facts


def _in_memory(args: argparse.Namespace, reader: Any) -> tuple[Any, dict[str, Any]]:
    """By the Python class of the learner, with all rows in memory."""
    import warnings

    import rosenblatt
    from rosenblatt.cli.bar import waiting
    from rosenblatt.cli.rows import read_rows
    from rosenblatt.errors import ParameterError
    from rosenblatt.learners.files import LEARNERS
    from rosenblatt.models.linear import Linear
    from rosenblatt.models.model import model_of

    if args.checkpoint or args.cache:
        raise ParameterError("--checkpoint and --cache have no meaning for options that need all rows in memory")
    name, variant, _ = (LEARNERS | {"kernel": ("KernelPerceptron", "", "last")})[args.learner]
    given = {o: getattr(args, o) for o in _OWN + _IN_MEMORY + _KERNEL if getattr(args, o) is not None}
    if name == "PassiveAggressive":
        given["variant"] = variant
    learner = getattr(rosenblatt, name)(max_iter=args.max_iter, random_state=args.random_state)
    _check_known(given, learner.get_params(), args.learner)
    rows = read_rows(reader)
    features = reader.encoder.features or rows.features
    with waiting("learning", visible=not args.quiet), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the verdict says how it stopped
        learner.set_params(**given).fit(rows.matrix(features), rows.y, sample_weight=rows.weights)
    model = model_of(learner, reader.encoder, {})
    part = model.parts[0]
    if isinstance(part, Linear):
        model.names.update(reader.find_names(part.columns()))
    facts = {
        "learner": args.learner,
        "parameters": model.parameters,
        "choice": None,
        "products": False,
        "rows": len(rows),
        "classes": model.classes.tolist(),
        "epochs": int(learner.n_iter_),
        "mistakes": model.history["mistakes"],
        "updates": model.history["updates"],
        "progressive_error": model.history["mistakes"][0] / len(rows),
        "stop_reason": model.history["stop_reason"],
    }
    return model, facts


def _conclude(args: argparse.Namespace, model: Any, facts: dict[str, Any], reader: Any) -> None:
    from rosenblatt.cli.reading import say_bad

    facts["verdict"] = _verdict(facts)
    if not args.quiet:
        say_bad(reader)
        speed = facts["rows"] * facts["epochs"] / max(facts["seconds"], 1e-9)
        epochs = f"{facts['epochs']} epoch{'s' if facts['epochs'] > 1 else ''}"
        print(
            f"rosenblatt: {facts['rows']:,} rows, {len(facts['classes'])} classes, {epochs} in "
            f"{facts['seconds']:.2f} s ({speed:,.0f} rows/s)\n"
            f"rosenblatt: {facts['verdict']}\nrosenblatt: wrote {facts['model']}",
            file=sys.stderr,
        )
    if args.report:
        from rosenblatt.models.container import write_whole
        from rosenblatt.report import evaluate_batches, render_html

        page = render_html(facts["model"], evaluate_batches(model, reader), model, on="On the training rows:")
        write_whole(args.report, page.encode())
    if args.json:
        print(json.dumps(facts, ensure_ascii=False))


def _verdict(facts: dict[str, Any]) -> str:
    last = facts["mistakes"][-1] / facts["rows"]
    first = f"{facts['progressive_error']:.2%} mistakes in the first pass, each row predicted before it was learned"
    if facts["stop_reason"] == "converged":
        over = " over products of columns" if facts["products"] else ""
        return f"converged: an epoch without a mistake, so a hyperplane{over} separates the training rows. {first}."
    why = "no better for several epochs" if facts["stop_reason"] == "no_change" else "all epochs are done"
    then = f"; {last:.2%} in the last" if facts["epochs"] > 1 else ""
    return f"{first}{then}. Stopped because: {why}."


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: write 30s, 5m or 1h")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2] or "s"]


def _gamma(text: str) -> Any:
    if text in ("auto", "scale"):
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write auto, scale or a number") from None


def _class_weight(text: str) -> Any:
    if text == "balanced":
        return text
    try:
        pairs = [pair.rsplit("=", 1) for pair in text.split(",")]
        return {int(label) if re.fullmatch(r"-?\d+", label) else label: float(weight) for label, weight in pairs}
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write balanced, or label=weight,label=weight") from None
