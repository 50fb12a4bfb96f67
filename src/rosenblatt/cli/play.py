"""Open the playground in the browser, or copy it to a folder.

A table of your own is shown if it has two columns of numbers and a column of labels; which columns are drawn can be
chosen here and changed in the page. The page is served on 127.0.0.1 only, until Ctrl-C.
"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "watch a perceptron learn, in the browser"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    from rosenblatt.cli.reading import add_data_arguments

    parser.usage = "rosenblatt play [DATA] [options]"
    parser.add_argument("data", nargs="?", metavar="DATA", help="a table of your own to show; - is a pipe")
    parser.add_argument(
        "--columns",
        nargs=2,
        metavar=("ACROSS", "UP"),
        help="the two columns to draw (default: the first two of numbers)",
    )
    parser.add_argument("--label", metavar="NAME", help="the column of labels (default: as for train)")
    parser.add_argument("--port", type=int, default=0, help="the port on 127.0.0.1 (default: a free one)")
    parser.add_argument(
        "--export", type=Path, metavar="FOLDER", help="copy the page to an empty folder instead, for any web server"
    )
    add_data_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C, or export and return."""
    import webbrowser

    from rosenblatt.cli.reading import data_options
    from rosenblatt.errors import ParameterError
    from rosenblatt.playground import choose_columns, export, make_server, page_address

    if args.data is None and (args.columns or args.label):
        raise ParameterError("--columns and --label choose columns of DATA, which is missing")
    columns = tuple(args.columns) if args.columns else None
    data = choose_columns(args.data, columns, args.label, **data_options(args)) if args.data else None
    if args.export is not None:
        written = export(args.export, data)
        print(f"Wrote {len(written)} files to {args.export}: give the folder to any web server", end="")
        print(f" and open index.html{data.query}" if data else "")
        return 0
    with make_server(args.port, data) as server:
        address = page_address(server, data)
        print(f"The playground is at {address}  (Ctrl-C stops it)", flush=True)
        webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0
