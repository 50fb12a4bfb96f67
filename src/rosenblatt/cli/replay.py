"""Rebuild a model from a server's log, compare learners on it, or export its examples.

    rosenblatt replay spam.sqlite -o spam.model
    rosenblatt replay spam.sqlite -o then.model --until 5000
    rosenblatt replay spam.sqlite -o arow.model --learner arow
    rosenblatt replay spam.sqlite --compare averaged,arow,pa1
    rosenblatt replay spam.sqlite --export examples.parquet

The server may be running. To start a new log from an old one: replay OLD -o MODEL, then serve MODEL --learn NEW.
"""

from __future__ import annotations

import json
from typing import Any

import click

from rosenblatt.cli.options import SEED, InputFile, OutputFile, Verb, json_option, make_params, option, params_options
from rosenblatt.cli.serve import check_extra
from rosenblatt.errors import ParameterError
from rosenblatt.params import FAMILY
from rosenblatt.params import make_params as params_by_name

LEARNERS = [name for name in FAMILY if name != "kernel" and "regression" not in name]


@click.command("replay", cls=Verb, help=__doc__)
@click.argument("log", metavar="LOG", type=InputFile())
@option("-o", "--output", metavar="MODEL", type=OutputFile(), help="write the model")
@option("--until", type=int, metavar="SEQ", help="stop after this example")
@option("--compare", metavar="A,B", help="progressive error of these learners")
@json_option("print the comparison as JSON")
@option("--export", metavar="FILE", type=OutputFile(), help="write the examples to a Parquet file")
@option("--learner", type=click.Choice(LEARNERS), metavar="NAME", help="use another learner (default: the log's)")
@option("--seed", type=SEED, default=0, metavar="N", section="Options of another learner", help="seed (default 0)")
@params_options("Options of another learner")
def command(
    log: str, output: Any, until: Any, compare: Any, as_json: bool, export: Any, learner: Any, seed: int, given: Any
) -> None:
    check_extra()
    from rosenblatt.service import replay

    if sum(each is not None for each in (output, compare, export)) != 1:
        raise ParameterError("pass one of -o, --compare and --export")
    if learner is None and given:
        raise ParameterError("the options of a learner need --learner")
    if export:
        print(f"Wrote {replay.export(log, export, until):,} examples to {export}")
    elif compare:
        names = [name.strip() for name in compare.split(",") if name.strip()]
        found = replay.compare(log, [params_by_name(name) for name in names], until)
        print(json.dumps(found) if as_json else _table(found))
    else:
        params = None if learner is None else make_params(learner, given, max_iter=1000, random_state=seed)
        model = replay.save_replay(log, output, params, until)
        print(f"Wrote {output}: {model.learner}, {len(model.classes)} classes, {model.features:,} features")


def _table(found: list[dict[str, Any]]) -> str:
    lines = [f"{'learner':<14}{'examples':>12}{'mistakes':>12}{'error':>10}{'last 1,000':>12}{'drift':>7}"]
    for each in found:
        error, recent = (
            "-" if share is None else f"{share:.2%}" for share in (each["progressive_error"], each["recent_error"])
        )
        counts = f"{each['examples']:>12,}{each['mistakes']:>12,}"
        lines.append(f"{each['learner']:<14}{counts}{error:>10}{recent:>12}{each['drift_alarms']:>7}")
    return "\n".join(lines)
