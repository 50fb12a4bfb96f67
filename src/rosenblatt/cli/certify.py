"""Decide whether data is linearly separable, with a proof that can be checked again.

Separable data comes with weights, an interval for the best margin and the mistake bound; inseparable data with rows
and weights that combine to exactly 0. Save the proof with --json; --check verifies it against the data.

    rosenblatt certify data.csv
    rosenblatt certify data.csv --json > proof.json
    rosenblatt certify data.csv --check proof.json
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from rosenblatt.cli import options as o
from rosenblatt.errors import DataError


@click.command("certify", cls=o.Verb, help=__doc__)
@o.data_argument()
@o.option("--no-intercept", is_flag=True, help="only hyperplanes through the origin")
@o.option("--budget", type=click.FloatRange(0), default=60.0, metavar="SECONDS", help="give up after this long (60)")
@o.option("--check", metavar="FILE", type=o.InputFile(), help="check a saved certificate against the data instead")
@o.json_option("print the whole certificate as JSON")
@o.option("--html", metavar="FILE", type=o.OutputFile(), help="also write a page with the verdict")
@o.option("--plot", metavar="FILE", type=o.PictureFile(), help="also draw the separating line (2 features, 2 classes)")
@o.reading_options
@o.column_options(hashing=False)
def command(
    data: o.Files,
    no_intercept: bool,
    budget: float,
    check: o.Text,
    as_json: bool,
    html: o.Text,
    plot: o.Text,
    reading: o.Settings,
    columns: o.Settings,
) -> int:
    """0: a verdict, or a check that passed; 1: no verdict, or a check that failed."""
    from rosenblatt.cli.console import save_figure, write_page
    from rosenblatt.cli.load import read_matrix
    from rosenblatt.theory import NotSeparable, Separable, certify, from_dict

    saved: Any = from_dict(_read_json(check)) if check else None
    if check and not isinstance(saved, Separable | NotSeparable):
        raise DataError(f"{check} claims nothing that could be checked: its verdict is unknown")
    X, y, names = read_matrix(data, reading, columns, raw=True)
    if saved is not None:
        fault = saved.fault(X, y)
        print(f"proved: the rows are {saved.kind}" if fault is None else f"not proved: {fault}")
        return int(fault is not None)
    certificate = certify(X, y, fit_intercept=not no_intercept, budget=budget)
    if plot:
        if not isinstance(certificate, Separable):
            raise DataError(f"--plot draws a separating line, and the rows are {certificate.kind}")
        from rosenblatt.plot import boundary

        save_figure(boundary(X, y, certificate.w.astype(float), float(certificate.b)), plot)
    text = _describe(certificate, y, names)
    if html:
        write_page(html, f"{', '.join(data)}: {certificate.kind}", text)
    print(json.dumps(certificate.as_dict(), ensure_ascii=False) if as_json else text)
    return int(certificate.kind == "unknown")


def _read_json(path: str) -> dict[str, Any]:

    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise DataError(f"{path} is not a certificate")
    return values


def _describe(certificate: Any, y: Any, names: list[str]) -> str:
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
