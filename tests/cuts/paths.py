"""Every way in which the project writes a file, each as something that can be run and cut off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Run = Callable[[Path, Path], int]  # data, outputs -> exit code
Whole = Callable[[Path, Path], bool]  # is what lies there whole? data, target


@dataclass(frozen=True)
class WritePath:
    """Something that writes files, and how one tells that they are whole.

    Attributes
    ----------
    targets : name of a file in the folder of outputs -> None, if the same run always writes the same bytes, or what
        tells that it is whole
    options : the options of the command that it covers, as "verb --option"
    """

    name: str
    run: Run
    targets: dict[str, Whole | None]
    options: tuple[str, ...] = ()


def command(*words: str) -> Run:
    """The command; DATA and OUT stand for the two folders."""

    def run(data: Path, out: Path) -> int:
        from rosenblatt.cli.main import main

        given = [word.replace("DATA", str(data)).replace("OUT", str(out)) for word in words]
        return main(given)

    return run


def make_data(data: Path) -> None:
    """Files to read, and a model of them."""
    from rosenblatt.cli.main import main

    rows = [f"{i % 2},{(i * 7) % 11},{(i * i) % 13},{'ab'[(i * i // 3) % 2]}" for i in range(60)]
    (data / "x.csv").write_text("u,v,w,y\n" + "\n".join(rows) + "\n")
    (data / "few.csv").write_text("u,v,y\n0,0,a\n1,1,b\n")  # a picture is drawn for each step
    two = [f"{(i * 7) % 11},{(i * i) % 13},{'ab'[(i * 7) % 11 > 5]}" for i in range(30)]
    (data / "two.csv").write_text("u,v,y\n" + "\n".join(two) + "\n")
    for name, more in (("model", []), ("small blocks", ["--block", "32", "--max-iter", "2"])):
        assert main(["train", str(data / "x.csv"), "--learner", "pa1", "-o", str(data / name), "--quiet", *more]) == 0


def _resumes(data: Path, target: Path) -> bool:
    """A checkpoint is whole if the run that it holds ends as an undisturbed one does."""
    from rosenblatt.models.file import save
    from rosenblatt.training.checkpoint import load_checkpoint

    run, _ = load_checkpoint(target)
    run.run()
    resumed = target.parent / "resumed"
    save(run.model(), resumed)
    same = resumed.read_bytes() == (data / "small blocks").read_bytes()
    resumed.unlink()
    return same


def _is_page(data: Path, target: Path) -> bool:
    return target.read_text().rstrip().endswith("</html>")


def _is_whole_folder(data: Path, target: Path) -> bool:
    from rosenblatt.playground.page import page_files

    wanted = {target / name for name in page_files()} | {target / "data.csv"}
    return {p for p in target.rglob("*") if p.is_file()} == wanted and all(p.stat().st_size for p in wanted)


def _save_in_python(data: Path, out: Path) -> int:
    import rosenblatt

    learner = rosenblatt.AveragedPerceptron(max_iter=3, tol=None)
    rosenblatt.save(learner.fit([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5, ["a", "b", "b"] * 5), out / "saved")
    return 0


def _animate_in_python(kind: str) -> Run:
    def run(data: Path, out: Path) -> int:
        import rosenblatt
        from rosenblatt.plot import animate

        learner = rosenblatt.Perceptron(max_iter=1, tol=None, shuffle=False)
        trace = rosenblatt.theory.trace([[0.0, 1.0], [1.0, 0.0]], ["a", "b"], learner)
        animate(trace, out / f"steps.{kind}")
        return 0

    return run


TRAIN = ("train", "DATA/x.csv", "--learner", "pa1", "--quiet")
PATHS = [
    WritePath("model", command(*TRAIN, "-o", "OUT/m"), {"m": None}, ("train -o",)),
    WritePath(
        "report of training",
        command(*TRAIN, "-o", "OUT/m", "--report", "OUT/r.html"),
        {"m": None, "r.html": _is_page},
        ("train --report",),
    ),
    WritePath(
        "checkpoint",
        command(
            *TRAIN,
            "-o",
            "OUT/m",
            "--checkpoint",
            "OUT/c",
            "--checkpoint-every",
            "0s",
            "--block",
            "32",
            "--max-iter",
            "2",
        ),
        {"c": _resumes},
        ("train --checkpoint",),
    ),
    *(
        WritePath(
            f"predictions as {ending}",
            command("predict", "DATA/model", "DATA/x.csv", "--scores", "-o", f"OUT/p.{ending}"),
            {f"p.{ending}": None},
            ("predict -o",),
        )
        for ending in ("txt", "csv", "tsv", "jsonl", "parquet")
    ),
    *(
        WritePath(
            f"export to {to}",
            command("export", "DATA/model", "--to", to, "-o", f"OUT/e.{to}"),
            {f"e.{to}": None},
            ("export -o",),
        )
        for to in ("c", "json", "onnx")
    ),
    WritePath(
        "report of an evaluation",
        command("evaluate", "DATA/model", "DATA/x.csv", "--report", "OUT/r.html"),
        {"r.html": _is_page},
        ("evaluate --report",),
    ),
    WritePath(
        "tuned model",
        command("tune", "DATA/two.csv", "--folds", "2", "-o", "OUT/m"),
        {"m": None},
        ("tune -o",),
    ),
    WritePath(
        "comparison",
        command("compare", "DATA/two.csv", "--folds", "2", "--html", "OUT/c.html"),
        {"c.html": _is_page},
        ("compare --html",),
    ),
    WritePath(
        "certificate",
        command("certify", "DATA/two.csv", "--html", "OUT/c.html", "--plot", "OUT/c.svg"),
        {"c.html": _is_page, "c.svg": lambda data, target: target.read_text().rstrip().endswith("</svg>")},
        ("certify --html", "certify --plot"),
    ),
    WritePath(
        "trace",
        command("trace", "DATA/few.csv", "--max-iter", "1", "--html", "OUT/t.html", "--plot", "OUT/t.gif"),
        {"t.html": _is_page, "t.gif": None},
        ("trace --html", "trace --plot"),
    ),
    WritePath("save in Python", _save_in_python, {"saved": None}),
    WritePath("animation as a page", _animate_in_python("html"), {"steps.html": _is_page}),
    WritePath("animation as pictures", _animate_in_python("gif"), {"steps.gif": None}),
    WritePath(
        "copy of the playground",
        command("play", "DATA/two.csv", "--export", "OUT/page"),
        {"page": _is_whole_folder},
        ("play --export",),
    ),
]


def options_that_write() -> set[str]:
    """The options of all verbs that name something to be written."""
    from rosenblatt.cli.manual import options_of, verb_contexts
    from rosenblatt.cli.options import OutputFile

    verbs = {verb: options_of(ctx.command) for verb, ctx in verb_contexts().items()}
    return {
        f"{verb} {each.opts[0]}"
        for verb, options in verbs.items()
        for each in options
        if isinstance(each.type, OutputFile) and each.opts[0] not in ("--learn", "--rotate")
    }
