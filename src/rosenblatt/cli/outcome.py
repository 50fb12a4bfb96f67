"""What is said when a model has been learned: the verdict, the page, and the command to paste."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.training import Trained


def conclude(args: argparse.Namespace, trained: Trained, facts: dict[str, Any], reader: Any) -> None:
    """Say how it went, and write the report."""
    from rosenblatt.cli.reading import say_bad

    facts["verdict"] = verdict_of(facts, _meaning(trained))
    facts["command"] = command_of(args, trained)
    if not args.quiet:
        say_bad(reader)
        _say(facts, trained)
    if args.report and trained.model.is_regression:
        from rosenblatt.cli.page import write_page
        from rosenblatt.evaluation import evaluate_regression
        from rosenblatt.report import render_text

        found = render_text(evaluate_regression(trained.model, reader))
        write_page(args.report, facts["model"], f"{facts['verdict']}\n\nOn the training rows themselves: {found}")
    elif args.report:
        from rosenblatt.io.atomic import write_atomic

        write_atomic(args.report, _page(facts["model"], trained.model, facts, trained.held, reader).encode())
    if args.json:
        print(json.dumps(facts, ensure_ascii=False))


def verdict_of(facts: dict[str, Any], meaning: str) -> str:
    """How learning went and why it stopped, in a sentence or two."""
    last = facts["mistakes"][-1] / facts["rows"]
    first = f"{facts['progressive_error']:.2%} mistakes in the first pass, each row predicted before it was learned"
    if facts["stop_reason"] == "converged":
        return f"converged: an epoch without a mistake, so {meaning}. {first}."
    why = "no better for several epochs" if facts["stop_reason"] == "no_change" else "all epochs are done"
    then = "" if facts["epochs"] == 1 else "; none in the last" if last == 0 else f"; {last:.2%} in the last"
    return f"{first}{then}. Stopped because: {why}."


def _meaning(trained: Trained) -> str:
    """What an epoch without a mistake shows."""
    params: Any = trained.params
    if params.is_regression:
        return f"every training row is predicted within epsilon ({params.epsilon:g}) of its target"
    separator = "a hyperplane over products of columns" if trained.products else "a hyperplane"
    if hasattr(params, "kernel") and params.kernel != "linear":
        support = trained.model.support_rows
        separator = f"a curve of the {params.kernel} kernel over {support:,} support rows (not a hyperplane)"
    return f"{separator} separates the training rows"


def _say(facts: dict[str, Any], trained: Trained | None = None) -> None:
    speed = facts["rows"] * facts["epochs"] / max(facts["seconds"], 1e-9)
    epochs = f"{facts['epochs']} epoch{'s' if facts['epochs'] > 1 else ''}"
    classes = f"{len(facts['classes'])} classes, " if facts["classes"] else ""
    lines = [
        f"{facts['rows']:,} rows, {classes}{epochs} in {facts['seconds']:.2f} s ({speed:,.0f} rows/s)",
        facts["verdict"],
    ]
    if trained is not None and trained.held is not None and trained.held.found is not None:
        lines.append(trained.held.sentence())
    lines.append(f"wrote {facts['model']}" + (f" (SHA-256 {facts['sha256']})" if facts.get("sha256") else ""))
    if facts.get("command") is not None:
        lines.append(f"the same weights again: {facts['command']}")
    print("\n".join(f"rosenblatt: {line}" for line in lines), file=sys.stderr)


def command_of(args: argparse.Namespace, trained: Trained) -> str | None:
    """The command that learns the same without looking for it; None if nothing was looked for."""
    from rosenblatt.cli.pasted import command_to_paste, params_words

    searched = trained.choice is not None and args.start is None
    if args.resume or not (searched or args.folds or args.valid):
        return None
    aside = ("quiet", "json", "report", "checkpoint", "every")
    if not searched or trained.products or trained.scaled:  # no option says how columns were scaled or multiplied
        return command_to_paste(args, [], without=(*aside, *(["learner"] if searched else [])))
    return command_to_paste(args, params_words(trained.params), without=(*aside, "learner", "max_iter", "products"))


def _page(title: str, model: Any, facts: dict[str, Any], held: Any, reader: Any) -> str:
    """Held-out rows and the first pass come first; the training rows are a footnote."""
    from rosenblatt.evaluation import evaluate_batches, wilson_interval
    from rosenblatt.report import render_html

    right, rows = 1 - facts["progressive_error"], facts["rows"]
    low, high = wilson_interval(right, rows)
    first = (
        f"{right:.2%} of {rows:,} rows right in the first pass, each predicted before it was learned "
        f"(95 % interval {low:.2%} to {high:.2%})."
    )
    headline = [first] if held is None else [f"{held.sentence()}.", first]
    on_training = evaluate_batches(model, reader)
    footnote = (
        f"On the training rows themselves {on_training.accuracy:.2%} are right. That says how well they were learned, "
        "not how the model will do on new rows."
    )
    if held is not None and held.found is not None:
        return render_html(title, held.found, model, headline=headline, footnote=footnote)
    return render_html(title, on_training, model, headline=headline, footnote=footnote, on="training rows")
