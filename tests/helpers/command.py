"""The command as a user runs it."""

import contextlib
import io
import json
import os
import subprocess
import sys
import zipfile

import click

from rosenblatt.cli.main import main

COMMAND = [sys.executable, "-m", "rosenblatt"]


def run(*words, check=0, input=None):
    """Run the command: in a process of its own where it reads standard input."""
    words = [str(word) for word in words]
    if input is not None:
        done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, input=input)
    else:
        out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(words)
            except SystemExit as stop:  # argparse
                code = stop.code
        texts = [stream.buffer.getvalue().decode() for stream in (out, err)]
        done = subprocess.CompletedProcess(words, code, *texts)
    assert done.returncode == check, done.stderr
    return done


def python(code, *words, check=0, cwd=None, **environment):
    """Run a program in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=os.environ | environment, timeout=600)
    assert done.returncode == check, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    return done


def hide(packages):
    """The lines of a program that hide packages from its imports.

    By a finder, not by None in sys.modules: SciPy and scikit-learn see by its keys which packages are loaded.
    """
    return f"""import sys
class Missing(list):
    def find_spec(self, name, *_):
        if name.partition(".")[0] in self:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing({packages}))
"""


def _cell(value):
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c t="b"><v>{value:d}</v></c>' if isinstance(value, bool) else f"<c><v>{value!r}</v></c>"


def write_workbook(path, sheets):
    """An .xlsx file: name of a sheet -> rows of cells."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    names, links = "", ""
    with zipfile.ZipFile(path, "w") as file:
        for k, (name, rows) in enumerate(sheets.items(), 1):
            cells = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
            sheet = f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>'
            file.writestr(f"xl/worksheets/sheet{k}.xml", sheet)
            names += f'<sheet name="{name}" sheetId="{k}" r:id="r{k}"/>'
            links += f'<Relationship Id="r{k}" Type="{office}/worksheet" Target="worksheets/sheet{k}.xml"/>'
        workbook = f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{names}</sheets></workbook>'
        file.writestr("xl/workbook.xml", workbook)
        root = f'<Relationship Id="r0" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
        file.writestr("_rels/.rels", f'<Relationships xmlns="{package}">{root}</Relationships>')
        file.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}">{links}</Relationships>')


def options_of(verb):
    """The options of a click command."""
    return [param for param in verb.params if isinstance(param, click.Option)]


def train(*words, **options):
    return json.loads(run("train", *words, "--json", "--quiet", **options).stdout)
