"""The command over files of every format, with every learner, in several groups of rows, stopped and resumed."""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path

from cases.command import run, run_interrupted, run_piped
from cases.digest import checkpoint_file, digest, model_file
from cases.tables import FORMATS, write_rows

LEARNERS = ("perceptron", "averaged", "voted", "pocket", "pa", "pa1", "pa2", "arow", "kernel", "auto")
MANY_LEARNERS = ("svm", "vw", "tabbed", "csv", "parquet")
VOLATILE = ("command", "seconds", "epoch_seconds", "model", "sha256")
SMALL = ("--block", 64)  # rows in a group: 200 rows are four groups of blocks of two rows


def iter_cases():
    for form in FORMATS:
        for name in LEARNERS if form in MANY_LEARNERS else ("averaged", "voted", "arow", "auto"):
            for classes in (2, 3):
                words = ["--learner", name, "--max-iter", 3, *own_words(form), *(() if name == "kernel" else SMALL)]
                yield f"files/{form}/{name}/{classes}", partial(_trained, form, classes, words)
    yield from _options()
    yield from _checkpoints()


def own_words(form):
    """The options that a format needs to be small and unambiguous."""
    if form in ("csv", "tsv", "jsonl", "parquet", "feather"):
        return ["--label", "label", "--text", "words", "--bits", 8]
    return [] if form.startswith("svm") else ["--bits", 8]


def _options():
    told = {
        "one group": [],
        "one epoch": ["--max-iter", 1, *SMALL],
        "no shuffle": ["--no-shuffle", *SMALL],
        "no intercept": ["--no-fit-intercept", *SMALL],
        "blocks of a row": ["--block", 7],
        "seed": ["--seed", 9, *SMALL],
        "many epochs": ["--max-iter", 40, "--tol", 0.01, "--n-iter-no-change", 2, *SMALL],
    }
    for option, words in told.items():
        for name in ("averaged", "voted", "pocket", "arow", "pa1"):
            for classes in (2, 3):
                given = ["--learner", name, "--max-iter", 4, *words]
                yield f"files/options/{option}/{name}/{classes}", partial(_trained, "svm", classes, given)
    others = {
        "penalty l1": ["--learner", "perceptron", "--penalty", "l1", "--alpha", 0.002, *SMALL],
        "penalty l2": ["--learner", "averaged", "--penalty", "l2", "--alpha", 0.002, *SMALL],
        "penalty elasticnet": ["--learner", "pa1", "--penalty", "elasticnet", "--alpha", 0.002, "--C", 0.1, *SMALL],
        "margin": ["--learner", "averaged", "--beta", 0.5, "--eta0", 0.3, *SMALL],
        "arow average": ["--learner", "arow", "--r", 3, "--keep", "average", *SMALL],
        "pa vote": ["--learner", "pa", "--keep", "vote", *SMALL],
        "pa2 pocket": ["--learner", "pa2", "--C", 0.2, "--keep", "pocket", *SMALL],
        "ovr": ["--learner", "averaged", "--multiclass", "ovr"],
        "class_weight": ["--learner", "pa1", "--class-weight", "balanced"],
        "early_stopping": ["--learner", "arow", "--early-stopping", "--n-iter-no-change", 2],
        "n_init": ["--learner", "perceptron", "--n-init", 3],
        "init": ["--learner", "pa2", "--init", "random"],
        "kernel poly": ["--learner", "kernel", "--kernel", "poly", "--degree", 2, "--coef0", 1, "--keep", "average"],
        "kernel vote": ["--learner", "kernel", "--gamma", 0.1, "--keep", "vote"],
        "kernel budget": ["--learner", "kernel", "--budget", 9, "--policy", "forget-oldest", "--rule", "PA-I"],
        "auto no products": ["--no-products", *SMALL],
    }
    for option, words in others.items():
        for form in ("svm", "csv"):
            for classes in (2, 3):
                given = ["--max-iter", 4, *own_words(form), *words]
                yield f"files/options/{option}/{form}/{classes}", partial(_trained, form, classes, given)
    yield "files/options/tie", partial(_trained, "svm", 2, ["--learner", "perceptron", "--tie", "positive", *SMALL])
    yield "files/options/cache", _cached
    yield "files/options/pipe", _piped
    for grams in ("words", "pairs", "characters"):
        given = ["--learner", "averaged", "--grams", grams, "--bits", 9, *SMALL]
        yield f"files/options/grams/{grams}", partial(_trained, "tabbed", 3, given)
    for to in ("json", "c"):
        for classes in (2, 3):
            yield f"files/export/{to}/{classes}", partial(_exported, to, classes)


def _trained(form, classes, words):
    with tempfile.TemporaryDirectory() as folder:
        data, model = write_rows(folder, form, classes), Path(folder) / "a.model"
        facts = json.loads(run("train", data, "-o", model, "--json", "--quiet", *words))
        for name in VOLATILE:
            facts.pop(name, None)
        said = run("predict", model, data, "--scores").replace(folder, "")  # documents are named
        named = [line.split("\t")[0] for line in said.splitlines()]
        shown = json.loads(run("inspect", model, "--json"))
        for name in ("model", "library", "bytes", "size", "sha256"):
            shown.pop(name, None)
        parts = {**model_file(model), "facts": digest(facts), "shown": digest(shown)}
        return {**parts, "predictions": digest(named), "scores": digest(said)}


def _cached():
    """A second run takes its blocks from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        data, parts = write_rows(folder, "svm", 3), {}
        for turn in ("first", "second"):
            model = Path(folder) / turn
            run("train", data, "-o", model, "--quiet", "--learner", "pa1", "--cache", Path(folder) / "cache", *SMALL)
            parts |= {f"{turn} {name}": value for name, value in model_file(model).items()}
        return parts


def _piped():
    """Standard input comes once and is learned from several times."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "a.model"
        lines = write_rows(folder, "svm", 3).read_bytes()
        run_piped("train", "-", "-o", model, "--quiet", "--learner", "voted", "--max-iter", 3, *SMALL, lines=lines)
        return {**model_file(model), "predictions": digest(run_piped("predict", model, "--scores", lines=lines))}


def _exported(to, classes):
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "a.model"
        run(
            "train",
            write_rows(folder, "csv", classes),
            "-o",
            model,
            "--quiet",
            "--learner",
            "averaged",
            *own_words("csv"),
        )
        return {"export": digest(run("export", model, "--to", to))}


# name: format, classes, words, checkpoints before the interruption. Epochs have four groups.
INTERRUPTED = {
    "perceptron": ("svm", 2, ["--learner", "perceptron"], 3),
    "averaged": ("csv", 3, ["--learner", "averaged"], 8),
    "voted": ("svm", 2, ["--learner", "voted"], 8),
    "voted three": ("tabbed", 3, ["--learner", "voted"], 8),
    "pocket": ("svm", 3, ["--learner", "pocket"], 4),
    "pa": ("vw", 2, ["--learner", "pa"], 9),
    "pa1 average": ("jsonl", 3, ["--learner", "pa1", "--keep", "average"], 7),
    "pa2": ("fasttext", 2, ["--learner", "pa2"], 12),
    "arow": ("svm", 3, ["--learner", "arow"], 8),
    "arow average": ("tsv", 2, ["--learner", "arow", "--keep", "average"], 2),
    "l1": ("svm", 3, ["--learner", "perceptron", "--penalty", "l1", "--alpha", 0.002], 8),
    "l2 average": ("parquet", 2, ["--learner", "pa1", "--penalty", "l2", "--alpha", 0.002, "--keep", "average"], 8),
    "elasticnet": ("svm", 2, ["--learner", "averaged", "--penalty", "elasticnet", "--alpha", 0.002], 3),
    "auto": ("svm", 3, ["--no-products"], 8),
    "auto csv": ("csv", 2, [], 8),
    "no shuffle": ("svm", 2, ["--learner", "averaged", "--no-shuffle"], 40),
    "gz": ("svm.gz", 2, ["--learner", "pa1"], 7),
}


def _checkpoints():
    for name in INTERRUPTED:
        yield f"checkpoints/{name}", partial(_interrupted, name)


def _interrupted(name):
    """The checkpoint that an interruption leaves, and the model that the resumed run ends with."""
    form, classes, words, after = INTERRUPTED[name]
    with tempfile.TemporaryDirectory() as folder:
        data, model, checkpoint = write_rows(folder, form, classes), Path(folder) / "m", Path(folder) / "c"
        words = [data, "-o", model, "--max-iter", 4, *SMALL, *own_words(form), *words]
        run_interrupted(*words, checkpoint=checkpoint, after=after)
        left = {f"left {part}": value for part, value in checkpoint_file(checkpoint).items()}
        facts = json.loads(run("train", "--resume", checkpoint, "-o", model, "--json", "--quiet"))
        ended = {f"ended {part}": value for part, value in checkpoint_file(checkpoint).items()}
        said = digest([facts[each] for each in ("mistakes", "updates", "stop_reason", "epochs", "rows")])
        return {**left, **ended, **model_file(model), "facts": said}
