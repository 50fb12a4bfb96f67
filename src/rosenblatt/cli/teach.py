"""Copy the course to a folder, or grade the notebooks that came back.

The course is eleven notebooks with exercises that check themselves, their data, and a page on history. With --solutions
there is also a folder for instructors: solutions, hidden tests, a rubric. --grade runs the notebooks in
FOLDER/STUDENT/ with the hidden tests.

    rosenblatt teach my-course
    rosenblatt teach my-course --solutions
    rosenblatt teach --grade submissions
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rosenblatt.cli.options import OutputFile, Verb, option
from rosenblatt.errors import ParameterError

if TYPE_CHECKING:
    from rosenblatt.teaching import Grade


@click.command("teach", cls=Verb, help=__doc__)
@click.argument("folder", metavar="[FOLDER]", required=False, type=OutputFile(folder=True))
@option("--solutions", is_flag=True, help="also write the instructor's folder")
@option("--grade", metavar="SUBMISSIONS", help="grade the notebooks in SUBMISSIONS/STUDENT/ instead")
@option("--json", "as_json", is_flag=True, help="with --grade: one JSON object per exercise")
def command(folder: str | None, solutions: bool, grade: str | None, as_json: bool) -> None:
    import json
    from dataclasses import asdict

    from rosenblatt import teaching

    if (folder is None) == (grade is None):
        raise ParameterError("give either a folder for the course, or --grade SUBMISSIONS")
    if folder is not None:
        written = teaching.copy_course(folder, solutions=solutions)
        print(f"Wrote {len(written)} files to {folder}: start with README.md, then 01-neuron.ipynb")
        return
    grades = teaching.grade(grade or "")
    print("\n".join(json.dumps(asdict(g), ensure_ascii=False) for g in grades) if as_json else render_grades(grades))


def render_grades(grades: list[Grade]) -> str:
    """A line per student: points per lesson, and in all."""
    from rosenblatt.theory.trace import render_columns

    lessons = sorted({g.lesson for g in grades})
    lines: list[list[object]] = []
    for student in sorted({g.student for g in grades}):
        own = [g for g in grades if g.student == student]
        cells = [_points([g for g in own if g.lesson == lesson]) for lesson in lessons]
        lines.append([student, *cells, _points(own)])
    return render_columns(["student", *(lesson[:2] for lesson in lessons), "all"], lines)


def _points(grades: list[Grade]) -> str:
    return f"{sum(g.points for g in grades)}/{sum(g.most for g in grades)}" if grades else "-"
