"""Copy the course to a folder, or grade submitted notebooks.

The course is eleven notebooks with exercises that check themselves, their data, and a page on history. With --solutions
there is also a folder for instructors: solutions, hidden tests, a rubric. --grade runs the notebooks in
FOLDER/STUDENT/ with the hidden tests.

    rosenblatt teach my-course
    rosenblatt teach my-course --solutions
    rosenblatt teach --grade submissions
"""

from __future__ import annotations

import click

from rosenblatt.cli import options as o
from rosenblatt.errors import ParameterError


@click.command("teach", cls=o.Verb, help=__doc__)
@click.argument("folder", metavar="[FOLDER]", required=False, type=o.OutputFile(folder=True))
@o.option("--solutions", "also write the instructor's folder", is_flag=True, needs="folder")
@o.option("--grade SUBMISSIONS", "grade the notebooks in SUBMISSIONS/STUDENT/ instead")
@o.json_option("with --grade: one JSON object per exercise", needs="grade")
def command(folder: str | None, solutions: bool, grade: str | None, as_json: bool) -> None:
    from dataclasses import asdict

    from rosenblatt import teaching
    from rosenblatt.cli.console import echo, print_json

    if (folder is None) == (grade is None):
        raise ParameterError("pass either a folder for the course, or --grade SUBMISSIONS")
    if folder is not None:
        written = teaching.copy_course(folder, solutions=solutions)
        echo(f"Wrote {len(written)} files to {folder}: start with README.md, then 01-neuron.ipynb")
        return
    grades = teaching.grade(grade or "")
    if not as_json:
        echo(teaching.render_grades(grades))
    for each in grades if as_json else ():
        print_json(asdict(each))
