"""Show what is in a model file, with the features that speak most for each class.

rosenblatt inspect spam.model --top 20
"""

from __future__ import annotations

import argparse
import json
from typing import Any

HELP = "show what is in a model file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.counts import whole_number

    parser.add_argument("model", metavar="MODEL", help="a model that train wrote")
    parser.add_argument(
        "--top", type=whole_number(0), default=10, metavar="N", help="features for each class (default 10)"
    )
    parser.add_argument("--json", action="store_true", help="all of it, as one JSON object")


def run(args: argparse.Namespace) -> int:
    from rosenblatt.errors import ModelError
    from rosenblatt.models.file import load, sha256_of
    from rosenblatt.models.predictors import Quadratic

    model = load(args.model)
    try:
        tops = model.top_features(args.top)
    except ModelError:
        tops = {}
    facts = {
        "sha256": sha256_of(args.model),
        "learner": model.learner,
        "parameters": model.parameters,
        "classes": model.classes.tolist(),
        "features": model.features,
        "weighted": model.weighted,
        "products": isinstance(model.parts[0], Quadratic),
        "support_rows": model.support_rows,
        "encoder": None if model.encoder is None else model.encoder.describe(),
        "history": model.history,
        "top_features": tops,
    }
    print(json.dumps(facts, ensure_ascii=False) if args.json else _text(facts))
    return 0


def _text(facts: dict[str, Any]) -> str:
    history, products = facts["history"], "columns and products " if facts["products"] else ""
    classes = ", ".join(map(str, facts["classes"][:20])) + (", …" if len(facts["classes"]) > 20 else "")
    lines = [
        f"learner     {facts['learner']}",
        f"parameters  {', '.join(f'{name}={value}' for name, value in facts['parameters'].items())}",
        f"classes     {len(facts['classes'])}: {classes}",
        f"features    {facts['features']:,}"
        + (f", {facts['weighted']:,} {products}with a weight" if facts["weighted"] is not None else "")
        + (f"; {facts['support_rows']:,} support rows" if facts["support_rows"] is not None else ""),
        f"reads       {facts['encoder'] or 'rows of features'}",
        f"SHA-256     {facts['sha256'] or 'of a pipe: unknown'}",
    ]
    if history.get("mistakes"):
        shown = " ".join(f"{m:,}" for m in history["mistakes"][-10:])
        lines.append(f"epochs      {len(history['mistakes'])}, stopped by {history['stop_reason']}; mistakes: {shown}")
    if history.get("choice"):
        lines.append(f"chosen      {history['choice']}")
    for label, tops in facts["top_features"].items():
        if tops:
            lines.append(f"\n{label}")
            width = max(len(name) for name, _ in tops)
            lines += [f"  {name:<{width}}  {weight:12.6g}" for name, weight in tops]
    return "\n".join(lines)
