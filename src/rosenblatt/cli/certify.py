"""Decide whether data are linearly separable, with a proof that can be checked again.

Separable data come with weights, an interval for the best margin and the mistake bound; data that are not separable
with rows and weights that combine to exactly 0. Save the proof with --json; --check proves it again from the data.

    rosenblatt certify data.csv
    rosenblatt certify data.csv --json > proof.json
    rosenblatt certify data.csv --check proof.json
"""

from __future__ import annotations

import argparse
from typing import Any

HELP = "decide whether data are linearly separable, and prove it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.counts import not_negative
    from rosenblatt.cli.table import add_table_arguments

    add_table_arguments(parser)
    parser.add_argument("--no-intercept", action="store_true", help="only hyperplanes through the origin")
    parser.add_argument(
        "--budget", type=not_negative, default=60.0, metavar="SECONDS", help="give up after this long (60)"
    )
    parser.add_argument("--check", metavar="FILE", help="check a saved certificate against the data instead")
    parser.add_argument("--json", action="store_true", help="the whole certificate as JSON")
    parser.add_argument("--html", metavar="FILE", help="also write a page with the verdict")
    parser.add_argument("--plot", metavar="FILE", help="also draw the separating line (two features, two classes)")


def run(args: argparse.Namespace) -> int:
    """0: a verdict, or a check that passed; 1: no verdict, or a check that failed."""
    import json
    from pathlib import Path

    from rosenblatt.cli.picture import check_picture, save_picture
    from rosenblatt.cli.table import read_table
    from rosenblatt.errors import DataError
    from rosenblatt.theory import NotSeparable, Separable, certify, from_dict

    check_picture(args.plot)
    saved = from_dict(_read_json(Path(args.check))) if args.check else None
    X, y, names = read_table(args)
    if saved is not None:
        certificate = saved
        if not isinstance(certificate, Separable | NotSeparable):
            raise DataError(f"{args.check} claims nothing that could be checked: its verdict is unknown")
        fault = certificate.fault(X, y)
        print(f"proved: the rows are {certificate.kind}" if fault is None else f"not proved: {fault}")
        return int(fault is not None)
    certificate = certify(X, y, fit_intercept=not args.no_intercept, budget=args.budget)
    if args.plot:
        if not isinstance(certificate, Separable):
            raise DataError(f"--plot draws a separating line, and the rows are {certificate.kind}")
        from rosenblatt.plot import boundary

        save_picture(boundary(X, y, certificate.w.astype(float), float(certificate.b)), args.plot)
    text = _tell(certificate, y, names)
    if args.html:
        from rosenblatt.cli.page import write_page

        write_page(args.html, f"{', '.join(args.data)}: {certificate.kind}", text)
    print(json.dumps(certificate.as_dict(), ensure_ascii=False) if args.json else text)
    return int(certificate.kind == "unknown")


def _read_json(path: Any) -> dict[str, Any]:
    import json

    from rosenblatt.errors import DataError

    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise DataError(f"{path} is not a certificate")
    return values


def _tell(certificate: Any, y: Any, names: list[str]) -> str:
    """The certificate in words, with the columns and labels of the file."""
    from rosenblatt.theory import NotSeparable, Separable

    lines = [str(certificate)]
    if isinstance(certificate, NotSeparable):
        lines = [lines[0].partition("\n")[0]]
        classes = sorted(set(y.tolist()))
        for place, (row, weight) in enumerate(zip(certificate.rows, certificate.fractions, strict=True)):
            against = "" if certificate.wrong is None else f" against {classes[certificate.wrong[place]]}"
            exact = str(weight) if weight.denominator < 10**12 else f"{float(weight):.6g}"
            lines.append(f"  {exact} of row {row + 1} ({y[row]}{against})")
        if any(weight.denominator >= 10**12 for weight in certificate.fractions):
            lines.append("the weights are rounded here; --json has them exactly")
    elif isinstance(certificate, Separable) and certificate.wrong is None:
        weights = sorted(zip(certificate.w, names, strict=True), key=lambda pair: -abs(pair[0]))
        shown = ", ".join(f"{name} {float(weight):.6g}" for weight, name in weights[:10])
        more = f", and {len(weights) - 10} more" if len(weights) > 10 else ""
        lines.append(f"  weights             {shown}{more}")
        lines.append(f"  offset              {float(certificate.b):.6g}")
    return "\n".join(lines)
