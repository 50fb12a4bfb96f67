"""Open the playground in the browser, or copy it to a folder.

Shows DATA if it has two columns of numbers and a label column. Choose the columns to draw here, or in the page. The
page is served on 127.0.0.1 only, until Ctrl-C.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from rosenblatt.cli import options as o
from rosenblatt.cli.console import echo


@click.command("play", cls=o.Verb, help=__doc__)
@click.argument("data", metavar="[DATA]", required=False, type=o.InputFile())
@o.option("--columns X Y", "the two columns to draw (default: the first two of numbers)", nargs=2, needs="data")
@o.option("--label COLUMN", "label column (default: as for train)", needs="data")
@o.option("--port N", "port on 127.0.0.1; 0 takes a free one", type=o.PORT, default=0)
@o.option("--export FOLDER", "copy the page to an empty folder instead", type=o.OutputFile(folder=True), without="port")
@o.reading_options()
def command(data: Any, columns: Any, label: Any, port: int, export: Any, reading: dict[str, Any]) -> None:
    import webbrowser

    from rosenblatt import playground

    table = playground.choose_columns(data, columns, label, **reading) if data else None
    if export is not None:
        written = playground.export(Path(export), table)
        where = f"index.html{table.query}" if table else "index.html"
        echo(f"Wrote {len(written)} files to {export}: serve the folder with any web server and open {where}")
        return
    with playground.make_server(port, table) as server:
        address = playground.page_address(server, table)
        echo(f"The playground is at {address}  (Ctrl-C stops it)")
        webbrowser.open(address)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
