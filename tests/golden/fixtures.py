"""Model files and checkpoints that an earlier release wrote, and what they must still answer.

python tests/golden/fixtures.py --write     adds those that are not there yet; what is there stays as it is

Checkpoints remember the absolute path, size and time of their data, so the data is put where they expect it, under
/tmp/rosenblatt-golden, with the time that they remember.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from cases.command import run, run_interrupted
from cases.data import labels, ring, rows, stored
from cases.digest import digest, model_file, quiet
from cases.files import own_words
from cases.kernel import SHAPE, function
from cases.linear import learner
from cases.streams import examples
from cases.tables import write_atomic, write_rows

import rosenblatt

FOLDER = Path(__file__).parent / "files"
PLACE = Path("/tmp/rosenblatt-golden")
INDEX = FOLDER / "index.json"
COUNT, BLOCK = 96, 32  # rows of a file, and those of a group: an epoch has three groups

# name: rows, classes and the words of the command
COMMANDS = {
    "svmlight": ("svm", 2, ["--learner", "averaged"]),
    "vw": ("vw", 3, ["--learner", "pa1"]),
    "fasttext": ("fasttext", 2, ["--learner", "arow"]),
    "tabbed": ("tabbed", 3, ["--learner", "perceptron"]),
    "tabbed-characters": ("tabbed", 2, ["--learner", "perceptron", "--grams", "characters"]),
    "csv": ("csv", 3, ["--learner", "averaged"]),
    "csv-category": ("csv", 2, ["--learner", "pa2", "--category", "count", "--drop", "words"]),
    "tsv": ("tsv", 2, ["--learner", "pocket"]),
    "jsonl": ("jsonl", 3, ["--learner", "pa"]),
    "parquet": ("parquet", 2, ["--learner", "pa1", "--keep", "average"]),
    "feather": ("feather", 3, ["--learner", "arow"]),
    "documents": ("tabbed", 3, ["--learner", "averaged", "--grams", "words"]),
    "voted": ("svm", 2, ["--learner", "voted", "--max-iter", 2]),
    "voted-three": ("csv", 3, ["--learner", "voted", "--max-iter", 2]),
    "auto": ("svm", 3, ["--learner", "auto", "--no-products"]),
    "auto-csv": ("csv", 2, ["--learner", "auto"]),
    "ovr": ("svm", 3, ["--multiclass", "ovr"]),
    "kernel": ("svm", 2, ["--learner", "kernel", "--gamma", 0.05]),
    "kernel-vote": ("csv", 3, ["--learner", "kernel", "--keep", "vote", "--max-iter", 1, "--drop", "words"]),
    "l1": ("csv", 2, ["--learner", "perceptron", "--penalty", "l1", "--alpha", 0.01]),
}

# name: rows, classes, words, and how many checkpoints were written before the interruption
RUNS = {
    "perceptron": ("svm", 2, ["--learner", "perceptron"], 3),
    "averaged": ("csv", 3, ["--learner", "averaged"], 7),
    "voted": ("svm", 2, ["--learner", "voted"], 7),
    "voted-three": ("csv", 3, ["--learner", "voted", "--drop", "words"], 8),
    "pocket": ("svm", 3, ["--learner", "pocket"], 4),
    "pa": ("vw", 2, ["--learner", "pa"], 9),
    "pa1-average": ("jsonl", 3, ["--learner", "pa1", "--keep", "average"], 6),
    "pa2": ("fasttext", 2, ["--learner", "pa2"], 7),
    "arow": ("svm", 3, ["--learner", "arow"], 11),
    "arow-average": ("tsv", 2, ["--learner", "arow", "--keep", "average"], 2),
    "l1": ("svm", 3, ["--learner", "perceptron", "--penalty", "l1", "--alpha", 0.002], 7),
    "l2-average": ("csv", 2, ["--learner", "pa1", "--penalty", "l2", "--alpha", 0.002, "--keep", "average"], 7),
    "elasticnet": ("tabbed", 2, ["--learner", "averaged", "--penalty", "elasticnet", "--alpha", 0.002], 3),
    "auto": ("svm", 3, ["--learner", "auto", "--no-products"], 7),
    "products": ("ring", 2, ["--learner", "auto", "--label", "where"], 7),
    "no-shuffle": ("svm", 2, ["--learner", "averaged", "--no-shuffle"], 130),
    "start": ("svm", 2, ["--learner", "pa1"], 1),
    "finished": ("svm", 3, ["--learner", "averaged"], None),
}


def _learned():
    """Learners of Python with the rows that they learned from, by name."""
    two, three = (rows(), labels(2)), (rows(), labels(3))
    X, y = rows(*SHAPE), labels(3, *SHAPE)
    kernel = rosenblatt.KernelPerceptron
    return {
        "python-last": (learner("perceptron"), *two),
        "python-float32": (learner("PA-I", "average"), stored(rows(), "float32"), labels(3)),
        "python-pocket-ovr": (learner("margin", "pocket", multiclass="ovr"), *three),
        "python-vote": (learner("eta0", "vote", init="random"), *two),
        "python-vote-ovr": (learner("PA-II", "vote", multiclass="ovr", max_iter=2), rows()[:20], labels(3)[:20]),
        "python-vote-csr": (learner("perceptron", "vote"), stored(rows(), "float32", "csr"), labels(3)),
        "python-arow": (learner("AROW", "average"), rows(), labels(2) == "yes"),
        "python-numbers": (learner("PA"), rows(), [len(label) * 7 for label in labels(2)]),
        "python-floats": (learner("PA"), rows(), [float(len(label)) for label in labels(2)]),
        "python-l1": (learner("perceptron", penalty="l1", alpha=0.01), *three),
        "python-kernel": (kernel(max_iter=3), X, y),
        "python-kernel-csr": (kernel(kernel="poly", coef0=1.0, keep="average"), stored(X, "float32", "csr"), y),
        "python-kernel-ovr": (kernel(kernel="sigmoid", multiclass="ovr", keep="pocket", max_iter=2), X, y),
        "python-kernel-vote": (kernel(kernel="linear", keep="vote", max_iter=2), X, y),
        "python-kernel-vote-ovr": (kernel(keep="vote", multiclass="ovr", max_iter=2), X, y),
        "python-precomputed": (kernel(kernel="precomputed"), function(X, X), y),
        "python-budget": (kernel(budget=6), X, y),
        "python-auto": (rosenblatt.AutoPerceptron(), *three),
        "python-products": (rosenblatt.AutoPerceptron(), *ring()),
    }


def probes():
    """The rows that models of Python are asked about."""
    return {name: X for name, (_, X, _) in _learned().items()} | {"python-stream": rows(20, 95, 0.3, 41)}


def asked(name, data):
    """What a model answers: labels and scores, by the command about a file of rows, or in Python."""
    path = FOLDER / f"{name}.model"
    if data is not None:
        return digest(run("predict", path, FOLDER / data, "--scores"))
    model = rosenblatt.load(path)
    probe = probes()[name][:, : model.features]
    return digest(model.classes, model.predict(probe), model.decision_function(probe))


def resumed(name, folder):
    """What the run of a checkpoint ends with, its data put back where it was."""
    known = json.loads(INDEX.read_text())["checkpoints"][name]
    put_in_place(known["data"])
    shutil.copyfile(FOLDER / f"{name}.checkpoint", folder / "c")
    run("train", "--resume", folder / "c", "-o", folder / "m", "--quiet")
    return model_file(folder / "m")


def put_in_place(data):
    PLACE.mkdir(exist_ok=True)
    write_atomic(PLACE / data, (FOLDER / data).read_bytes())
    return PLACE / data


def write():
    index = json.loads(INDEX.read_text()) if INDEX.exists() else {"models": {}, "checkpoints": {}}
    for name, (form, classes, words) in COMMANDS.items():
        data = _rows_of(form, classes)
        given = [FOLDER / data, "--format", _format(form), *own_words(form), *words]
        if "kernel" not in name and name != "ovr":
            given += ["--block", BLOCK]
        given += [] if "--max-iter" in words else ["--max-iter", 3]
        _add_model(index, name, lambda path, given=given: run("train", *given, "-o", path, "--quiet"), data)
    for name, (made, X, y) in _learned().items():
        with quiet():
            _add_model(index, name, lambda path, made=made, X=X, y=y: rosenblatt.save(made.fit(X, y), path))
    _add_model(index, "python-stream", _save_stream)
    for name, each in RUNS.items():
        _add_checkpoint(index, name, *each)
    INDEX.write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")


def _rows_of(form, classes):
    """The name of a file of rows, which is made if it is not there."""
    path = FOLDER / f"{form}-{classes}.rows"
    if not path.exists():
        if form == "ring":
            path.write_text(_ring_text())
        else:
            with tempfile.TemporaryDirectory() as folder:
                shutil.copyfile(write_rows(folder, form, classes, COUNT), path)
    return path.name


def _add_model(index, name, save, data=None):
    path = FOLDER / f"{name}.model"
    if not path.exists():
        save(path)
        index["models"][name] = {"data": data, "answer": asked(name, data)}


def _add_checkpoint(index, name, form, classes, words, after):
    path = FOLDER / f"{name}.checkpoint"
    if path.exists():
        return
    data = _rows_of(form, classes)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint, straight = Path(folder) / "c", Path(folder) / "m"
        given = [put_in_place(data), "--format", _format(form), "--max-iter", 4, "--block", BLOCK]
        given += [*(own_words(form) if form != "ring" else []), *words]
        run("train", *given, "-o", straight, "--quiet")  # never stopped: what the resumed run must come to
        given += ["-o", PLACE / f"{name}.model"]
        if after is None:
            run("train", *given, "--checkpoint", checkpoint, "--quiet")
        else:
            run_interrupted(*given, checkpoint=checkpoint, after=after)
        shutil.copyfile(checkpoint, path)
        index["checkpoints"][name] = {"data": data, **model_file(straight)}


def _save_stream(path):
    made = learner("PA-I", "average")
    for features, label in examples(90):
        made.learn_one(features, label)
    rosenblatt.save(made, path)


def _ring_text():
    X, y = ring(COUNT)
    lines = [f"{a!r},{b!r},{label}" for (a, b), label in zip(X.round(4).tolist(), y.tolist(), strict=True)]
    return "\n".join(["across,up,where", *lines]) + "\n"


def _format(form):
    return {"svm": "svmlight", "ring": "csv"}.get(form, form)


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    else:
        print(__doc__)
