"""Learn a model from files, and print a summary.

Reads files of any size and format, compressed or not. Without options it detects the types of the columns and chooses a
learner.

    rosenblatt train messages.tsv -o spam.model
    rosenblatt train flights.csv.gz --label late -o late.model --report late.html
    rosenblatt train big.svm --learner arow -o big.model --checkpoint big.checkpoint --checkpoint-every 300
    rosenblatt train big.svm --learner arow -o big.model --checkpoint big.checkpoint --resume
    rosenblatt train 'data/*.parquet' --cluster tcp://host:8786 -o big.model
"""

from __future__ import annotations

import functools
from typing import Any

import click

from rosenblatt.cli import options as o
from rosenblatt.params import FAMILY

_LEARNERS = f"auto, which scales columns if they need it and tries several (the default), {', '.join(FAMILY)}"
_MEASURE = "measure the model, and fit its probabilities,"
_run = functools.partial(o.option, section="Larger than memory, stop and resume")
_shard = functools.partial(o.option, section=o.CLUSTER, group="sharding", needs="cluster")


@click.command("train", cls=o.Verb, help=__doc__)
@o.data_argument(required=True)
@o.option("-o --output MODEL", "model file to write", type=o.OutputFile(), required=True)
@o.option("--learner NAME", _LEARNERS, type=click.Choice(("auto", *FAMILY)))
@o.option("--max-iter N", "epochs at most (default: 10; 100 for auto)", type=o.COUNT)
@o.option("--task", "predict classes, or numbers", type=click.Choice(("classification", "regression")))
@o.option("--no-products", "keep auto from trying products of columns", is_flag=True)
@o.seed_option("seed of the shuffles")
@o.option(
    "--from MODEL",
    "continue training this model, with new data",
    name="start",
    type=o.InputFile(),
    without="learner task no_products seed folds cluster split columns params",
)
@o.option("--validation FILE", f"{_MEASURE} on these rows (repeatable)", multiple=True, type=o.InputFile())
@o.option("--folds N", f"{_MEASURE} by N-fold cross-validation", type=click.IntRange(2))
@o.json_option("print the result as one JSON object")
@o.option("--report FILE.html", "also write a page with figures and top features", type=o.OutputFile())
@o.option("--quiet", "print nothing but errors", is_flag=True)
@o.split_options("choose by this score, and report it", "hold out whole groups", "hold out the rows that come later")
@o.reading_options()
@o.column_options()
@_run("--checkpoint FILE", "save the run here", type=o.OutputFile())
@_run("--checkpoint-every SECONDS", "how often", type=click.FloatRange(0), default=30.0, needs="checkpoint")
@_run("--resume", "continue from the checkpoint, if there is one", is_flag=True, needs="checkpoint")
@o.cluster_option(without="split folds validation task")
@_shard("--shards N", "parts that learn in parallel", type=o.COUNT)
@_shard("--mixing", "how weights are averaged", type=click.Choice(("momentum", "mean")), default="momentum")
@_shard("--mixes N", "weight averages per epoch (default: 10 for momentum, otherwise 1)", type=o.COUNT)
@o.params_options("Options of the learner, by their Python names")
def command(**options: Any) -> None:
    from rosenblatt.cli.job import TrainJob, run_job

    run_job(TrainJob(**options))
