"""The course: lessons, data and helpers that ``rosenblatt teach`` copies, and the grading of submissions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from rosenblatt.errors import DataError
from rosenblatt.teaching.grade import Grade, grade, render_grades
from rosenblatt.teaching.notebooks import to_notebook

__all__ = ["Grade", "copy_course", "copy_materials", "grade", "render_grades", "to_notebook"]

_HERE = Path(__file__).parent


def copy_course(folder: str | Path, *, solutions: bool = False) -> list[Path]:
    """Copy the course to an empty or new folder: notebooks, data, helpers, the page on history.

    With `solutions`, ``instructor/`` is the folder of an nbgrader course: every lesson, with its solutions and hidden
    tests, is an assignment in ``source/``. The README there has the rubric.

    Raises
    ------
    DataError
        If the folder is not empty.
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise DataError(f"{target} is not an empty folder: pass a new one")
    copy_materials(target)
    for page in ("README.md", "history.md"):
        shutil.copyfile(_HERE / "pages" / page, target / page)
    for path in sorted((_HERE / "lessons").glob("*.py")):
        lesson = path.read_text(encoding="utf-8")
        _write(target / f"{path.stem}.ipynb", to_notebook(lesson))
        if solutions:
            source = target / "instructor" / "source" / path.stem
            copy_materials(source, data="data/" in lesson)
            _write(source / f"{path.stem}.ipynb", to_notebook(lesson, solutions=True))
    if solutions:
        shutil.copyfile(_HERE / "pages" / "instructor.md", target / "instructor" / "README.md")
    return sorted(path for path in target.rglob("*") if path.is_file())


def copy_materials(folder: Path, *, data: bool = True) -> None:
    """Copy what a notebook needs beside itself: helpers and data."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(_HERE / "course.py", folder / "course.py")
    if data:
        shutil.copytree(_HERE / "data", folder / "data", dirs_exist_ok=True)


def _write(path: Path, notebook: dict[str, Any]) -> None:
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
