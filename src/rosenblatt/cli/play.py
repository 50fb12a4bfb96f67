"""Open the playground in the browser, or copy it to a folder.

Shows DATA if it has two columns of numbers and a label column; which columns are drawn can be chosen here and changed
in the page. The page is served on 127.0.0.1 only, until Ctrl-C.
"""

from __future__ import annotations

from pathlib import Path

import click

from rosenblatt.cli import options as o
from rosenblatt.cli.options import InputFile, OutputFile, Verb, option, reading_options
from rosenblatt.errors import ParameterError


@click.command("play", cls=Verb, help=__doc__)
@click.argument("data", metavar="[DATA]", required=False, type=InputFile())
@option("--columns", nargs=2, metavar="X Y", help="the two columns to draw (default: the first two of numbers)")
@option("--label", metavar="COLUMN", help="label column (default: as for train)")
@option("--port", type=click.IntRange(0, 65535), default=0, help="port on 127.0.0.1 (default: a free one)")
@option("--export", metavar="FOLDER", type=OutputFile(folder=True), help="copy the page to an empty folder instead")
@reading_options
def command(
    data: o.Text, columns: tuple[str, str] | None, label: o.Text, port: int, export: o.Text, reading: o.Settings
) -> None:
    import webbrowser

    from rosenblatt import playground

    if data is None and (columns or label):
        raise ParameterError("--columns and --label need DATA")
    table = playground.choose_columns(data, columns, label, **reading) if data else None
    if export is not None:
        written = playground.export(Path(export), table)
        where = f"index.html{table.query}" if table else "index.html"
        print(f"Wrote {len(written)} files to {export}: serve the folder with any web server and open {where}")
        return
    with playground.make_server(port, table) as server:
        address = playground.page_address(server, table)
        print(f"The playground is at {address}  (Ctrl-C stops it)", flush=True)
        webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
