"""Learn a model: a file in, a model and a summary out.

Reads files of any size and format, compressed or not. Without options it detects what the columns are and chooses a
learner.

    rosenblatt train messages.tsv -o spam.model
    rosenblatt train flights.csv.gz --label late -o late.model --report late.html
    rosenblatt train big.svm --learner arow -o big.model --checkpoint big.checkpoint --checkpoint-every 5m
    rosenblatt train --resume big.checkpoint -o big.model
    rosenblatt train 'data/*.parquet' --cluster tcp://host:8786 -o big.model
"""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli import options as o
from rosenblatt.errors import ParameterError
from rosenblatt.params import FAMILY, parameters_of

_RUN = "Larger than memory, stop and resume"


@click.command("train", cls=o.Verb, help=__doc__)
@o.data_argument(required=False)
@o.option("-o", "--output", metavar="MODEL", type=o.OutputFile(), help="model file to write")
@o.option(
    "--learner",
    type=click.Choice(("auto", *FAMILY)),
    metavar="NAME",
    help=f"auto, which tries several (the default), {', '.join(FAMILY)}",
)
@o.option("--max-iter", type=click.IntRange(1), metavar="N", help="epochs at most (default 10; 100 for auto)")
@o.option("--no-products", "products", flag_value=False, default=True, help="keep auto from trying products of columns")
@o.option("--seed", type=o.SEED, default=0, metavar="N", help="seed of the shuffles (default 0)")
@o.option("--from", "start", metavar="MODEL", type=o.InputFile(), help="continue training this model, with new data")
@o.option(
    "--validation",
    multiple=True,
    metavar="FILE",
    type=o.InputFile(),
    help="measure the model, and fit its probabilities, on these rows (repeatable)",
)
@o.option(
    "--folds",
    type=click.IntRange(2),
    metavar="N",
    help="measure the model, and fit its probabilities, by N-fold cross-validation",
)
@o.json_option("print the result as one JSON object")
@o.option("--report", metavar="FILE.html", type=o.OutputFile(), help="also write a page with figures and top features")
@o.option("--quiet", is_flag=True, help="print nothing but errors")
@o.reading_options
@o.column_options()
@o.option("--block", type=int, metavar="ROWS", section=_RUN, help="rows that are shuffled together (default 8192)")
@o.option("--checkpoint", metavar="FILE", type=o.OutputFile(replaces=True), section=_RUN, help="save the run here")
@o.option("--checkpoint-every", type=o.TIME, default=30.0, section=_RUN, help="how often (default 30s)")
@o.option(
    "--resume",
    metavar="FILE",
    type=o.InputFile(replaceable=True),
    section=_RUN,
    help="continue a run from its checkpoint, which names the data",
)
@o.cluster_option
@o.option("--shards", type=click.IntRange(1), metavar="N", section=o.CLUSTER, help="parts that learn in parallel")
@o.option(
    "--mixing",
    type=click.Choice(("momentum", "mean")),
    section=o.CLUSTER,
    help="how weights are averaged (default momentum)",
)
@o.option(
    "--mixes",
    type=click.IntRange(1),
    metavar="N",
    section=o.CLUSTER,
    help="weight averages per epoch (default: 10 for momentum, otherwise 1)",
)
@o.params_options("Options of the learner, by their Python names")
@click.pass_context
def command(ctx: click.Context, /, data: tuple[str, ...], as_json: bool, given: dict[str, Any], **options: Any) -> None:
    if options["resume"] and data:
        raise ParameterError("--resume takes the data from the checkpoint; remove DATA")
    if not options["resume"] and not data:
        raise ParameterError("name the data: rosenblatt train DATA -o MODEL")
    if not options["resume"] and not options["output"]:
        raise ParameterError("name the model file: rosenblatt train DATA -o MODEL")
    if not options["cluster"]:
        for name in ("shards", "mixing", "mixes"):
            if options[name] is not None:
                raise ParameterError(f"--{name} needs --cluster: add --cluster local, or an address")
    from rosenblatt.cli.job import TrainJob, run_job

    learner, max_iter, seed = (options.pop(name) for name in ("learner", "max_iter", "seed"))
    params = auto = None
    if not options["resume"] and options["start"] is None:
        learner = resolve_learner(learner, given, options["products"])
        if learner == "auto":
            auto = {"max_iter": max_iter, "random_state": seed, "class_weight": given.get("class_weight")}
            auto["products"] = options["products"]
        else:
            params = o.make_params(learner, given, max_iter=max_iter or 10, random_state=seed)
    del options["products"]
    shuffle = bool(given.get("shuffle"))
    job = TrainJob(list(data), params=params, auto=auto, max_iter=max_iter, shuffle=shuffle, **options)
    run_job(job, ctx, as_json=as_json)


def resolve_learner(learner: str | None, given: dict[str, Any], products: bool) -> str:
    """The learner, if it is left open: auto, or averaged if one of its options is given."""
    own = [name for name in given if name != "class_weight"]  # auto has class weights too
    if learner == "auto" and own:
        raise ParameterError(
            f"{o.option_name(own[0])} cannot be combined with --learner auto; {o.learners_with(own[0])}"
        )
    if learner is None:
        for name in own:
            if name not in parameters_of("averaged"):
                raise ParameterError(f"{o.option_name(name)} needs a learner; {o.learners_with(name)}")
    learner = learner or ("averaged" if own else "auto")
    if learner != "auto" and not products:
        raise ParameterError(f"--no-products needs --learner auto: {learner} never multiplies columns")
    return learner
