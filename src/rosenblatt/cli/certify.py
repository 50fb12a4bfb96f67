"""Decide whether data is linearly separable, with a proof that can be checked again.

Separable data comes with weights, an interval for the best margin and the mistake bound; inseparable data with rows
and weights that combine to exactly 0: a signed row is (x, 1) times its label, -1 or +1, and separating weights have a
positive product with each of them. Save the proof with --json; --check verifies it against the data.

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

MAX_WEIGHTS = 10  # that are printed


@click.command("certify", cls=o.Verb, help=__doc__)
@o.data_argument(required=True)
@o.option("--no-intercept", "only hyperplanes through the origin", is_flag=True)
@o.option("--budget SECONDS", "give up after this long", type=click.FloatRange(0), default=60.0)
@o.option(
    "--check FILE",
    "check a saved certificate against the data instead",
    type=o.InputFile(),
    without="no_intercept budget as_json",
)
@o.json_option("print the whole certificate as JSON")
@o.reading_options()
@o.column_options(hashing=False)
def command(data: Any, no_intercept: bool, budget: float, check: Any, as_json: bool, **how: Any) -> int:
    """0: a verdict, or a check that passed; 1: no verdict, or a check that failed."""
    import numpy as np

    from rosenblatt.cli.console import echo
    from rosenblatt.cli.load import open_labeled, read_rows
    from rosenblatt.theory import Separable, certify

    saved = _read_certificate(check) if check else None
    X, y, used, _ = read_rows(dataset := open_labeled(data, **how, raw=True))
    if saved is not None:
        fault = saved.fault(X, y)
        echo(f"proved: the rows are {saved.kind}" if fault is None else f"not proved: {fault}")
        return int(fault is not None)
    certificate = certify(X, y, fit_intercept=not no_intercept, budget=budget)
    echo(json.dumps(certificate.as_dict(), ensure_ascii=False) if as_json else certificate)
    if isinstance(certificate, Separable) and certificate.wrong is None and not as_json:
        names = dataset.find_names(used)
        w, b = certificate.w.astype(float), float(certificate.b)
        length = float(np.hypot(np.linalg.norm(w), b))  # the weights of length 1 are the theorem's
        weights = [(f"{weight:.6g}", at) for weight, at in zip(w / length, used.tolist(), strict=True)]
        weights.sort(key=lambda pair: -abs(float(pair[0])))  # as shown, so that ties keep the order of the columns
        shown = [f"{names.get(at, f'x{at}')} {weight}" for weight, at in weights[:MAX_WEIGHTS]]
        more = f", and {len(weights) - MAX_WEIGHTS} more" if len(weights) > MAX_WEIGHTS else ""
        echo(f"  weights             {', '.join(shown)}{more}\n  offset              {b / length:.6g}")
    return int(certificate.kind == "unknown")


def _read_certificate(path: str) -> Any:
    from rosenblatt.theory import NotSeparable, Separable, from_dict

    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}") from None
    saved = from_dict(values if isinstance(values, dict) else {})
    if not isinstance(saved, Separable | NotSeparable):
        raise DataError(f"{path} proves nothing: its verdict is {saved.kind}")
    return saved
