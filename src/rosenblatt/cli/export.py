"""Write a model for programs without rosenblatt: as ONNX, as JSON, or as C code that needs no library.

rosenblatt export spam.model --to json | less
rosenblatt export sensor.model --to c -o model.h
"""

from __future__ import annotations

import argparse

HELP = "write a model as ONNX, JSON or a C header"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model that train wrote")
    parser.add_argument(
        "--to", choices=("onnx", "json", "c"), required=True, help="onnx needs rosenblatt[export]; c is a header file"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where it goes (default: standard output)")


def run(args: argparse.Namespace) -> int:
    from rosenblatt.io.atomic import write_atomic
    from rosenblatt.models.export import to_c, to_json, to_onnx
    from rosenblatt.models.file import load

    model = load(args.model)
    if args.to == "onnx":
        content = to_onnx(model)
    else:
        content = (to_json(model) if args.to == "json" else to_c(model)).encode()
    write_atomic(args.output or "-", content)
    return 0
