"""Rebuild a model from a server's log, compare learners on it, or export its examples.

    rosenblatt replay spam.sqlite -o spam.model
    rosenblatt replay spam.sqlite -o then.model --until 5000
    rosenblatt replay spam.sqlite -o arow.model --learner arow
    rosenblatt replay spam.sqlite --compare averaged,arow,pa1
    rosenblatt replay spam.sqlite --export examples.ndjson

The server may be running. To start a new log from an old one: replay OLD -o MODEL, then serve MODEL --learn NEW.
"""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli import options as o
from rosenblatt.cli.console import echo, print_json
from rosenblatt.errors import ParameterError
from rosenblatt.params import FAMILY, make_params

LEARNERS = [name for name in FAMILY if name != "kernel" and "regression" not in name]


@click.command("replay", cls=o.Verb, help=__doc__)
@click.argument("log", metavar="LOG", type=o.InputFile())
@o.option("-o --output MODEL", "write the model", type=o.OutputFile())
@o.option("--until SEQ", "stop after this example", type=int)
@o.option("--compare A,B", "progressive error of these learners")
@o.json_option("print the comparison as JSON", needs="compare")
@o.option("--export FILE", "write the examples as NDJSON, which /learn takes", type=o.OutputFile())
@o.online_learner_options("use another learner (default: the log's)", LEARNERS, without="compare export")
def command(log: str, output: Any, until: Any, compare: Any, as_json: bool, export: Any, **learner: Any) -> None:
    from rosenblatt.models.file import save

    with o.importing("serve"):
        from rosenblatt.service import replay

    if sum(each is not None for each in (output, compare, export)) != 1:
        raise ParameterError("pass one of -o, --compare and --export")
    params = o.online_params(**learner)
    if export:
        echo(f"Wrote {replay.export(log, export, until):,} examples to {export}")
    elif compare is not None:
        found = replay.compare(log, [make_params(name.strip()) for name in compare.split(",")], until)
        print_json(found) if as_json else echo(_table(found))
    else:
        model = replay.replay(log, params, until)
        save(model, output)
        echo(f"Wrote {output}: {model.learner}, {len(model.classes)} classes, {model.features:,} features")


def _table(found: list[dict[str, Any]]) -> str:
    from rosenblatt.theory.trace import render_columns

    names = ("learner", "examples", "mistakes", "progressive_error", "recent_error", "drift_alarms")
    rows = [[f"{cell:.2%}" if isinstance(cell := each[name], float) else cell for name in names] for each in found]
    return render_columns(names, rows)
