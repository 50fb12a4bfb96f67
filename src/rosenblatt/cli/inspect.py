"""Show what is in a model file, with the features that count most for each class.

A model of weights has top features; a vote or a kernel has support rows instead.

    rosenblatt inspect spam.model --top 20
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from rosenblatt.cli import options as o
from rosenblatt.cli.console import echo, print_json
from rosenblatt.errors import ModelError


@click.command("inspect", cls=o.Verb, help=__doc__)
@o.model_argument()
@o.option("--top N", "features per class", type=click.IntRange(0), default=10)
@o.json_option("print everything as one JSON object")
def command(model: str, top: int, as_json: bool) -> None:
    from rosenblatt.models.file import load, sha256_of
    from rosenblatt.models.predictions import labels_to_json
    from rosenblatt.models.predictors import Quadratic

    loaded = load(model)
    names = ("lineage", "learner", "parameters", "features", "support_rows", "history")
    facts: dict[str, Any] = {"sha256": sha256_of(model)} | {name: getattr(loaded, name) for name in names}
    facts["classes"] = labels_to_json(loaded.classes)
    facts["products"] = isinstance(loaded.parts[0], Quadratic)
    facts["encoder"] = None if loaded.encoder is None else loaded.encoder.describe()
    facts |= {"weighted": None, "top_features": {}}
    with suppress(ModelError):  # a vote and a kernel model have no weights
        facts["weighted"] = len(loaded.weights()[0].columns())
        facts["top_features"] = loaded.top_features(top)
    print_json(facts) if as_json else echo(render_facts(facts))


def render_facts(facts: dict[str, Any]) -> str:
    """A line per fact; parameters at their defaults are left out."""
    from rosenblatt.params import FAMILY

    history, names = facts["history"], list(map(str, facts["classes"]))
    features = f"{facts['features']:,}"
    if facts["weighted"] is not None:
        features += f", {facts['weighted']:,} {'columns and products ' if facts['products'] else ''}with a weight"
    elif facts["support_rows"] is not None:
        features += f", {facts['support_rows']:,} support rows"
    default = next((made for kind in FAMILY.values() if (made := kind()).learner == facts["learner"]), None)
    changed = {name: value for name, value in facts["parameters"].items() if value != getattr(default, name, value)}
    lines = {
        "learner": facts["learner"],
        "parameters": ", ".join(f"{name}={value}" for name, value in changed.items()) or "the defaults",
        **({"classes": f"{len(names)}: {', '.join(names[:20])}{', …' if len(names) > 20 else ''}"} if names else {}),
        "features": features,
        "reads": facts["encoder"] or "rows of features",
        "SHA-256": facts["sha256"] or "unknown (read from a pipe)",
        **facts["lineage"],
        **({"choice": history["choice"]} if history.get("choice") else {}),
    }
    if mistakes := history.get("mistakes"):
        last = " ".join(f"{count:,}" for count in mistakes[-10:])
        what = "mistakes" if names else "rows off by more than epsilon"
        what += " in the last 10" if len(mistakes) > 10 else " in each"
        lines["epochs"] = f"{len(mistakes)}, stopped by {history['stop_reason']}; {what}: {last}"
    text = [f"{name:<10}  {fact}" for name, fact in lines.items()]
    for label, tops in facts["top_features"].items():
        width = max((len(name) for name, _ in tops), default=0)
        text += [f"\n{label}"] * bool(tops) + [f"  {name:<{width}}  {weight:12.6g}" for name, weight in tops]
    return "\n".join(text)
