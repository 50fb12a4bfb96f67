"""Write a model for programs without rosenblatt: as ONNX, as JSON, or as C code without dependencies.

rosenblatt export spam.model --to json | less
rosenblatt export sensor.model --to c -o model.h
"""

from __future__ import annotations

import click

from rosenblatt.cli.options import OutputFile, Verb, model_argument, option


@click.command("export", cls=Verb, help=__doc__)
@model_argument()
@option(
    "--to",
    type=click.Choice(("onnx", "json", "c")),
    required=True,
    help="onnx needs rosenblatt[export]; c is a header file",
)
@option("-o", "--output", metavar="FILE", type=OutputFile(), help="output file (default: stdout)")
def command(model: str, to: str, output: str | None) -> None:
    from rosenblatt.io.atomic import write_atomic
    from rosenblatt.models.export import to_c, to_json, to_onnx
    from rosenblatt.models.file import load

    loaded = load(model)
    if to == "onnx":
        content = to_onnx(loaded)
    else:
        content = (to_json(loaded) if to == "json" else to_c(loaded)).encode()
    write_atomic(output or "-", content)
