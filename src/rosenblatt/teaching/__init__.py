"""The course: lessons, data and helpers that ``rosenblatt teach`` copies, and the grading of what comes back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from rosenblatt.errors import DataError
from rosenblatt.teaching.grade import Grade, grade
from rosenblatt.teaching.notebooks import to_notebook

__all__ = ["Grade", "copy_course", "copy_materials", "grade", "to_notebook"]

_HERE = Path(__file__).parent


def copy_course(folder: str | Path, *, solutions: bool = False) -> list[Path]:
    """Copy the course to an empty or new folder: notebooks, data, helpers, the page on history.

    With `solutions`, ``instructor/`` holds the same notebooks with solutions and hidden tests, and the rubric.

    Raises
    ------
    DataError
        If the folder is not empty.
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise DataError(f"{target} is not an empty folder: give a new one")
    copy_materials(target)
    for page in ("README.md", "history.md"):
        shutil.copyfile(_HERE / "pages" / page, target / page)
    _write_notebooks(target, solutions=False)
    if solutions:
        copy_materials(target / "instructor")
        shutil.copyfile(_HERE / "pages" / "instructor.md", target / "instructor" / "README.md")
        _write_notebooks(target / "instructor", solutions=True)
    return sorted(path for path in target.rglob("*") if path.is_file())


def copy_materials(folder: Path) -> None:
    """What a notebook needs beside itself: helpers and data."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(_HERE / "course.py", folder / "course.py")
    shutil.copytree(_HERE / "data", folder / "data", dirs_exist_ok=True)


def _write_notebooks(folder: Path, *, solutions: bool) -> None:
    for path in sorted((_HERE / "lessons").glob("*.py")):
        made = to_notebook(path.read_text(encoding="utf-8"), solutions=solutions)
        target = folder / f"{path.stem}.ipynb"
        target.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
