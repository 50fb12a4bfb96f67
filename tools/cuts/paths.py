"""Every way in which the project writes a file, each as something that can be run and cut off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Run = Callable[[Path, Path], int]  # data, outputs -> exit code
Whole = Callable[[Path, Path], bool]  # is the target whole? data, target


@dataclass(frozen=True)
class WritePath:
    """Something that writes files, and how one tells that they are whole.

    Attributes
    ----------
    targets : name of a file in the folder of outputs -> None, if the same run always writes the same bytes, or what
        tells that it is whole
    """

    name: str
    run: Run
    targets: dict[str, Whole | None]


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
    for name, more in (("model", []), ("two epochs", ["--max-iter", "2"])):
        assert main(["train", str(data / "x.csv"), "--learner", "pa1", "-o", str(data / name), "--quiet", *more]) == 0


def _resumes(data: Path, target: Path) -> bool:
    """A checkpoint is whole if the run that it holds ends as an undisturbed one does."""
    from rosenblatt.cli.main import main

    resumed = target.parent / "resumed"
    held = resumed.with_suffix(".c")
    held.write_bytes(target.read_bytes())
    again = ["--max-iter", "2", "--checkpoint", str(held), "--resume", "--quiet"]
    assert main(["train", str(data / "x.csv"), "--learner", "pa1", "-o", str(resumed), *again]) == 0
    held.unlink()
    same = resumed.read_bytes() == (data / "two epochs").read_bytes()
    resumed.unlink()
    return same


def _is_page(data: Path, target: Path) -> bool:
    return target.read_text().rstrip().endswith("</html>")


def _is_whole_folder(data: Path, target: Path) -> bool:
    from rosenblatt.playground.page import page_files

    wanted = {target / name for name in page_files()} | {target / "data.csv"}
    return {p for p in target.rglob("*") if p.is_file()} == wanted and all(p.stat().st_size for p in wanted)


TRAIN = ("train", "DATA/x.csv", "--learner", "pa1", "--quiet")
PATHS = [
    WritePath("model", command(*TRAIN, "-o", "OUT/m"), {"m": None}),
    WritePath(
        "checkpoint",
        command(*TRAIN, "-o", "OUT/m", "--checkpoint", "OUT/c", "--checkpoint-every", "0", "--max-iter", "2"),
        {"c": _resumes},
    ),
    WritePath("predictions", command("predict", "DATA/model", "DATA/x.csv", "-o", "OUT/p.csv"), {"p.csv": None}),
    WritePath("export", command("export", "DATA/model", "--to", "c", "-o", "OUT/e.c"), {"e.c": None}),
    WritePath("report", command("evaluate", "DATA/model", "DATA/x.csv", "--report", "OUT/r"), {"r": _is_page}),
    WritePath("folder", command("play", "DATA/two.csv", "--export", "OUT/page"), {"page": _is_whole_folder}),
]
