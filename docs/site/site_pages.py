"""Generate the reference, and the playground at /play.

Invariant: every public name, verb and option is in the reference; only the modules are listed by hand.
"""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from sklearn.base import BaseEstimator
from sphinx_gallery.scrapers import figure_rst

from one_script import join_modules
from rosenblatt.cli.main import VERBS, verb_contexts
from rosenblatt.playground import export
from rosenblatt.playground.page import FOLDER

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "docs" / "reference" / "generated"
EXAMPLES = ROOT / "docs" / "reference" / "commands.txt"

# The modules of the reference, in the order of use, each with its purpose.
MODULES = {
    "rosenblatt": "Learners; read, save, load, train, tune and compare",
    "rosenblatt.theory": "Margins, bounds, certificates and ledgers",
    "rosenblatt.select": "Choosing, validating and calibrating",
    "rosenblatt.data": "Rows and labels",
    "rosenblatt.io": "Reading data of any size",
    "rosenblatt.models": "Models that predict, and their files",
    "rosenblatt.report": "Results as text and pages",
    "rosenblatt.plot": "Pictures",
    "rosenblatt.playground": "The playground's page",
    "rosenblatt.textbook": "Every algorithm in plain Python",
    "rosenblatt.datasets": "Small data sets of lessons and docs",
    "rosenblatt.errors": "Exceptions and their codes",
}
# The public names of modules that export more than users need.
ONLY = {
    "rosenblatt.data": ("RowBatch",),
    "rosenblatt.io": ("Dataset", "open_dataset"),
    "rosenblatt.models": ("Model",),
}
# Modules that need an extra; they are in the reference if it is installed.
EXTRAS = {
    "rosenblatt.service.client": "The client of the service",
    "rosenblatt.cluster": "More than one machine",
    "rosenblatt.river": "Learners for river",
}
# scikit-learn documents the members of its base classes.
FOREIGN = "BaseEstimator, RegressorMixin, TransformerMixin, object"
REQUESTS = ("fit", "partial_fit", "predict", "predict_proba", "decision_function", "score", "transform")
# Methods of learners that other modules of the library call; users need none of them.
INTERNAL = (
    "begin, calibrator, check, check_classes, check_online, close_stream, column_names, columns_by_name, "
    "finish_fit, fit_labels, from_model, has_learned, is_multilabel, is_ovr, is_regression, labels_of, lock, "
    "params, plan_fit, precomputed, predictors, saved_state, scaled, scores_one, shape, "
    "snapshot, states, to_json, update_rule, values, written"
)
ROUTING = ", ".join(["get_metadata_routing", *(f"set_{method}_request" for method in REQUESTS)])


def public_names(module: str) -> list[str]:
    """The classes and functions that a module shows to its users."""
    found = importlib.import_module(module)
    if module in ONLY:
        return list(ONLY[module])
    exported = getattr(found, "__all__", None)
    if exported is None:
        own = (name for name, value in vars(found).items() if getattr(value, "__module__", "") == module)
        exported = [name for name in own if not name.startswith("_")]
    objects = {name: getattr(found, name) for name in exported}
    return [name for name, value in objects.items() if inspect.isclass(value) or inspect.isroutine(value)]


def modules() -> dict[str, str]:
    """The modules of the reference that are there."""
    return MODULES | {name: line for name, line in EXTRAS.items() if _can_import(name)}


def _can_import(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def documented() -> Iterator[tuple[str, str]]:
    """Module and name of everything in the Python reference, each object once."""
    seen: set[int] = set()
    for module in modules():
        for name in public_names(module):
            value = getattr(importlib.import_module(module), name)
            if id(value) not in seen:
                seen.add(id(value))
                yield module, name


def write_api() -> None:
    """One page per module, and on it one entry per class or function."""
    homes: dict[str, list[str]] = {}
    for module, name in documented():
        homes.setdefault(module, []).append(name)
    for module, names in homes.items():
        lines = [module, "=" * len(module), "", f"{modules()[module]}.", "", f".. currentmodule:: {module}", ""]
        for name in sorted(names, key=str.lower):
            value = getattr(importlib.import_module(module), name)
            lines += [name, "-" * len(name), ""]
            if inspect.isclass(value):
                hidden = f"{ROUTING}, {INTERNAL}" if issubclass(value, BaseEstimator) else ROUTING
                options = [f"   :inherited-members: {FOREIGN}", f"   :exclude-members: {hidden}"]
                if module == "rosenblatt.river":  # river documents the members of its classes
                    options = []
                lines += [f".. autoclass:: {name}", "   :members:", *options, ""]
            else:
                lines += [f".. autofunction:: {name}", ""]
        (GENERATED / f"{module}.rst").write_text("\n".join(lines), encoding="utf-8")


def examples() -> dict[str, list[str]]:
    """The commands of commands.txt by verb; all of them are run by the tests, in their order."""
    found: dict[str, list[str]] = {}
    for line in EXAMPLES.read_text(encoding="utf-8").splitlines():
        if line.startswith("rosenblatt "):
            found.setdefault(line.split()[1], []).append(line)
    return found


def options_of(verb: click.Command) -> list[Any]:
    """Its options."""
    return [param for param in verb.params if isinstance(param, click.Option)]


def example_of(verb: str, names: list[str]) -> str | None:
    """A command that has one of the option's names: of this verb, or of another that has the same option."""
    known = examples()
    lines = [*known.get(verb, []), *(line for each in known.values() for line in each)]
    return next((line for line in lines if any(name in line.split() for name in names)), None)


def write_verbs() -> None:
    """One page per verb: what it does, and every option with an example."""
    for verb, ctx in verb_contexts().items():
        lines = [f"# rosenblatt {verb}", "", "```text", inspect.cleandoc(ctx.command.help or ""), "```", ""]
        heading = None
        for param in options_of(ctx.command):
            if param.section != heading:
                heading = param.section
                lines += [f"## {heading}", ""]
            shown, text = param.get_help_record(ctx)
            lines += [f"`{shown}`", f":   {text}", ""]
            line = example_of(verb, [*param.opts, *param.secondary_opts])
            lines += ["    ```sh", f"    {line}", "    ```", ""] if line else []
        (GENERATED / f"{verb}.md").write_text("\n".join(lines), encoding="utf-8")


def write_pages(app: Any) -> None:
    """Before the sources are read: write the reference."""
    shutil.rmtree(GENERATED, ignore_errors=True)
    GENERATED.mkdir(parents=True)
    write_api()
    write_verbs()
    names = list(dict.fromkeys(module for module, _ in documented()))
    links = [f"- {{doc}}`{name} <{name}>`: {(MODULES | EXTRAS)[name]}" for name in names]
    index = ["# Python", "", *links, "", "```{toctree}", ":hidden:", "", *names, "```", ""]
    (GENERATED / "python.md").write_text("\n".join(index), encoding="utf-8")
    index = ["# Verbs", "", "```{toctree}", ":maxdepth: 1", "", *VERBS, "```", ""]
    (GENERATED / "verbs.md").write_text("\n".join(index), encoding="utf-8")


def trim_examples(app: Any, page: str, source: list[str]) -> None:
    """Drop the blank line that doctest needs at the end of an example."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def list_references(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Make an entry of a list of each reference, which begins with an initial or a word; a line may continue one."""
    if "References" in lines:
        at = lines.index("References") + 2
        while at < len(lines) and lines[at]:
            lines[at] = f"{'- ' if re.match(r'[A-Z]', lines[at]) else '  '}{lines[at]}"
            at += 1


def write_play(app: Any, failed: Exception | None) -> None:
    """After the pages are written: the playground at /play, and an entry at the root."""
    if failed or app.builder.name != "html":
        return
    site = Path(app.outdir)
    shutil.rmtree(site / "play", ignore_errors=True)
    export(site / "play")
    script = join_modules(FOLDER / "ui" / "app.js")
    (site / "play" / "app.js").write_text(script, encoding="utf-8")
    page = site / "play" / "index.html"
    before, after = '<script type="module" src="ui/app.js"></script>', '<script defer src="app.js"></script>'
    text = page.read_text(encoding="utf-8")
    if before not in text:
        raise ValueError(f"the playground's page does not load its script by {before}")
    page.write_text(text.replace(before, after), encoding="utf-8")
    entry = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=docs/index.html">'
    (site / "index.html").write_text(
        f'{entry}<title>rosenblatt</title><a href="docs/index.html">rosenblatt</a>\n', encoding="utf-8"
    )


def setup(app: Any) -> dict[str, Any]:
    app.extensions["sphinx-mathjax-offline"].parallel_read_safe = True  # it only copies files, and does not say so
    app.connect("builder-inited", write_pages)
    app.connect("source-read", trim_examples)
    app.connect("autodoc-process-docstring", list_references, priority=400)  # before napoleon
    app.connect("build-finished", write_play)
    return {"parallel_read_safe": True}


def save_figures(block: tuple[str, str, int], block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figures of rosenblatt.plot, which pyplot does not know."""
    found = block_vars["example_globals"].pop("picture", None)
    if found is None:
        return ""
    path = next(block_vars["image_path_iterator"])
    found.savefig(path)
    return figure_rst([path], gallery_conf["src_dir"])
