"""Builds the course as a site that runs in the browser: ``python tools/course_site/build.py FOLDER``.

Prose, code and pictures are made here; exercises run in the reader's browser by Pyodide, with `course.py` and the
pure-Python `rosenblatt.textbook`. The site loads nothing from elsewhere. Serve the folder with any web server.

Needs npm (for the packages pyodide and katex), markdown-it-py and mdit-py-plugins (both come with the docs).
"""

from __future__ import annotations

import ast
import base64
import contextlib
import html
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from rosenblatt import playground, teaching, textbook
from rosenblatt.teaching.notebooks import Cell, parse, without_answers

HERE = Path(__file__).parent
COURSE = Path(teaching.__file__).parent
PACKAGES = {"pyodide": ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip")}
MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, renderer=lambda text, _: html.escape(text))
INSTALLED_ONLY = {"certify", "ledger"}  # names of the compiled library that a test may use


def build(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("pyodide", "katex"):
        unpack(name, folder / name)
    shutil.rmtree(folder / "playground", ignore_errors=True)
    playground.export(folder / "playground")
    for name in ("site.js", "worker.js", "site.css"):
        shutil.copyfile(HERE / name, folder / name)
    modules = {"rosenblatt/textbook.py": Path(textbook.__file__).read_text(), "rosenblatt/__init__.py": ""}
    modules |= {"course.py": (COURSE / "course.py").read_text()}
    (folder / "modules.json").write_text(json.dumps(modules))
    lessons = sorted((COURSE / "lessons").glob("*.py"))
    for path in lessons:
        print(path.stem, flush=True)
        (folder / f"{path.stem}.html").write_text(page(path.stem, render_lesson(path.read_text())), encoding="utf-8")
    (folder / "history.html").write_text(page("history", prose((COURSE / "pages/history.md").read_text())))
    items = "".join(f'<li><a href="{p.stem}.html">{p.stem}</a></li>' for p in lessons)
    index = f'<h1>The perceptron: a course</h1><ol>{items}</ol><p><a href="history.html">History</a></p>'
    (folder / "index.html").write_text(page("course", index), encoding="utf-8")


def unpack(name: str, folder: Path) -> None:
    """An npm package, as files."""
    if folder.exists():
        return
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["npm", "pack", "--silent", name], cwd=scratch, check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(next(Path(scratch).glob("*.tgz"))) as archive:
            archive.extractall(scratch, filter="data")
        source = Path(scratch) / "package" / ("dist" if name == "katex" else "")
        shutil.copytree(source, folder, ignore=None if name == "katex" else others_than(PACKAGES[name]))


def others_than(names: tuple[str, ...]) -> Any:
    return lambda _, found: [name for name in found if name not in names]


def page(title: str, body: str) -> str:
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title><link rel="icon" href="playground/icon.svg">
<link rel="stylesheet" href="katex/katex.min.css">
<link rel="stylesheet" href="site.css"><script defer src="katex/katex.min.js"></script>
<script type="module" src="site.js"></script></head>
<body><nav><a href="index.html">All lessons</a></nav><main>{body}</main></body></html>
"""


def prose(text: str) -> str:
    return str(MARKDOWN.render(text))


def render_lesson(lesson: str) -> str:
    cells = parse(lesson)
    exercises = {cell.name: cell for cell in cells if cell.kind == "exercise"}
    namespace: dict[str, Any] = {"__name__": "__main__"}
    setup, parts = ["from course import check"], []
    plt.close("all")
    with working_folder(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cell in cells:
            if cell.kind == "markdown":
                parts.append(prose(cell.text))
            elif cell.kind == "exercise":
                code = html.escape(without_answers(cell.text))
                rows = code.count("\n") + 3
                label = f'aria-label="Your answer: {cell.name}"'
                parts.append(
                    f'<textarea data-exercise="{cell.name}" rows="{rows}" spellcheck="false" {label}>{code}</textarea>'
                )
            elif cell.kind == "test":
                parts.append(render_test(cell, exercises[cell.name]))
            elif cell.text.startswith("scene("):
                link = ast.literal_eval(cell.text.removeprefix("scene"))
                query = f"?embed{link}" if link.startswith("#") else f"?embed={link}"
                parts.append(
                    f'<iframe src="playground/index.html{html.escape(query)}" title="A scene to play with"></iframe>'
                )
            elif cell.text != "progress()":
                setup += literals(cell.text)
                code = html.escape(cell.text)
                parts.append(f'<pre tabindex="0"><code>{code}</code></pre>{run(cell.text, namespace)}')
    return f'<script type="application/json" id="setup">{as_json(setup)}</script>' + "".join(parts)


def render_test(cell: Cell, exercise: Cell) -> str:
    code = without_answers(cell.text)
    names = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    if names & INSTALLED_ONLY:
        return '<p class="note">This check needs the installed library: solve it in the notebook.</p>'
    return (
        f'<p><button data-test="{exercise.name}">Check</button></p>'
        '<pre class="answer" role="status" tabindex="0"></pre>'
        f'<script type="application/json" data-test="{exercise.name}">{as_json(code)}</script>'
    )


def as_json(value: Any) -> str:
    return json.dumps(value).replace("<", "\\u003c")


def literals(code: str) -> list[str]:
    """The assignments of constants in a cell, which tests may use."""
    found = []
    for node in ast.parse(code).body:
        if isinstance(node, ast.Assign):
            with contextlib.suppress(ValueError):
                ast.literal_eval(node.value)
                found.append(ast.unparse(node))
    return found


def run(code: str, namespace: dict[str, Any]) -> str:
    """The output of a cell: its text, and its figures as pictures."""
    tree, value, shown = ast.parse(code), None, io.StringIO()
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(shown):
        exec(compile(tree, "lesson", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "lesson", "eval"), namespace)
    figures = [plt.figure(number) for number in plt.get_fignums()] + ([value] if hasattr(value, "savefig") else [])
    text = f'<pre class="output" tabindex="0">{html.escape(shown.getvalue())}</pre>' if shown.getvalue() else ""
    for figure in figures:
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=110)
        data = base64.b64encode(file.getvalue()).decode()
        text += f'<img alt="The figure that the code above draws" src="data:image/png;base64,{data}">'
    plt.close("all")
    return text


@contextlib.contextmanager
def working_folder() -> Any:
    """The helpers and the data, as a notebook has them."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as scratch:
        teaching.copy_materials(Path(scratch))
        sys.path.insert(0, scratch)
        os.chdir(scratch)
        try:
            yield
        finally:
            os.chdir(before)
            sys.path.remove(scratch)


if __name__ == "__main__":
    mpl.use("agg")
    build(Path(sys.argv[1]).resolve())
