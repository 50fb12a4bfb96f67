"""The command as a user runs it."""

import contextlib
import io
import json
import subprocess
import sys
import zipfile

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


def write_workbook(path, sheets):
    """An .xlsx file: name of a sheet -> rows of cells."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    names, links = "", ""
    with zipfile.ZipFile(path, "w") as file:
        for k, (name, rows) in enumerate(sheets.items(), 1):
            cells = "".join(
                "<row>" + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row) + "</row>"
                for row in rows
            )
            file.writestr(
                f"xl/worksheets/sheet{k}.xml", f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>'
            )
            names += f'<sheet name="{name}" sheetId="{k}" r:id="r{k}"/>'
            links += f'<Relationship Id="r{k}" Type="{office}/worksheet" Target="worksheets/sheet{k}.xml"/>'
        file.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{names}</sheets></workbook>',
        )
        root = f'<Relationship Id="r0" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
        file.writestr("_rels/.rels", f'<Relationships xmlns="{package}">{root}</Relationships>')
        file.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}">{links}</Relationships>')


def train(*words, **options):
    return json.loads(run("train", *words, "--json", "--quiet", **options).stdout)
