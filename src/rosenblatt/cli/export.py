"""Write a model for programs without rosenblatt: as ONNX, as JSON, or as C code without dependencies.

The model must have one weight per feature and class: votes, kernels and models of several labels per row cannot be
exported. json takes every other model. onnx takes numbers, categories and products of columns; not text, dates or
Vowpal Wabbit. c takes numbers, lines of text and Vowpal Wabbit without interactions; not products of columns, nor
tables with text, categories or dates.

    rosenblatt export spam.model --to json | less
    rosenblatt export sensor.model --to c -o model.h
"""

from __future__ import annotations

import click

from rosenblatt.cli import options as o

FORMATS = ("onnx", "json", "c")


@click.command("export", cls=o.Verb, help=__doc__)
@o.model_argument()
@o.option("--to", "onnx needs rosenblatt[export]; c is a header file", type=click.Choice(FORMATS), required=True)
@o.option("-o --output FILE", "output file (default: stdout)", type=o.OutputFile())
def command(model: str, to: str, output: str | None) -> None:
    from rosenblatt.io.atomic import write_atomic
    from rosenblatt.models import export
    from rosenblatt.models.file import load

    content = getattr(export, f"to_{to}")(load(model))
    write_atomic(output or "-", content if isinstance(content, bytes) else content.encode())
