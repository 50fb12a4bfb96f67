"""Show what is in a model file, with the features that count most for each class.

rosenblatt inspect spam.model --top 20
"""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli.console import print_json
from rosenblatt.cli.options import Verb, json_option, model_argument, option


@click.command("inspect", cls=Verb, help=__doc__)
@model_argument()
@option("--top", type=click.IntRange(0), default=10, metavar="N", help="features per class (default 10)")
@json_option("print everything as one JSON object")
def command(model: str, top: int, as_json: bool) -> None:
    from rosenblatt.errors import ModelError
    from rosenblatt.models.file import load, sha256_of
    from rosenblatt.models.predictions import labels_to_json
    from rosenblatt.models.predictors import Quadratic

    loaded = load(model)
    try:
        features = loaded.top_features(top)
    except ModelError:
        features = {}
    facts = {
        "sha256": sha256_of(model),
        "lineage": loaded.lineage,
        "learner": loaded.learner,
        "parameters": loaded.parameters,
        "classes": labels_to_json(loaded.classes),
        "features": loaded.features,
        "weighted": loaded.weighted,
        "products": isinstance(loaded.parts[0], Quadratic),
        "support_rows": loaded.support_rows,
        "encoder": None if loaded.encoder is None else loaded.encoder.describe(),
        "history": loaded.history,
        "top_features": features,
    }
    print_json(facts) if as_json else print(render_facts(facts))


def render_facts(facts: dict[str, Any]) -> str:
    """A line per fact."""
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
        f"SHA-256     {facts['sha256'] or 'unknown (read from a pipe)'}",
        *(f"{name:<10}  {fact}" for name, fact in facts["lineage"].items()),
    ]
    if history.get("mistakes"):
        last = " ".join(f"{m:,}" for m in history["mistakes"][-10:])
        lines.append(f"epochs      {len(history['mistakes'])}, stopped by {history['stop_reason']}; mistakes: {last}")
    if history.get("parent"):
        lines.append(f"parent      {history['parent']} (SHA-256 of the model that --from continued)")
    if history.get("choice"):
        lines.append(f"chosen      {history['choice']}")
    for label, tops in facts["top_features"].items():
        if tops:
            width = max(len(name) for name, _ in tops)
            lines += [f"\n{label}", *(f"  {name:<{width}}  {weight:12.6g}" for name, weight in tops)]
    return "\n".join(lines)
