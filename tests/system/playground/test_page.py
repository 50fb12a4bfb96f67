"""The server, the export and the command: the page from the terminal's side."""

import gzip
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from rejected import rejected
from written import put

from rosenblatt.cli.main import main
from rosenblatt.playground import choose_columns, export, make_server, page_address
from rosenblatt.playground.page import FOLDER, page_files, slim

FLOWERS = "long,wide,high,kind\n1,2,0.5,rose\n3,1,0.25,tulip\n2,2,0.75,rose\n"


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    return put(tmp_path / "flowers.csv", FLOWERS)


def test_columns_are_guessed_or_chosen(flowers: Path, tmp_path: Path) -> None:
    guess = choose_columns(flowers)
    assert (guess.across, guess.up, guess.label) == ("long", "wide", "kind")
    chosen = choose_columns(flowers, ("high", "long"), "kind")
    assert chosen.query == "?csv=data.csv&x=high&y=long&label=kind"
    bare = put(tmp_path / "bare.csv", "1;2;0\n3;4;1\n")
    assert choose_columns(bare).label == "3"
    packed = put(tmp_path / "more.csv.gz", gzip.compress("größe; breite; y\n1,5; 2; a\n3; $4; b\n".encode("latin-1")))
    assert choose_columns(packed).text == "größe,breite,y\n1.5,2,a\n3,4,b\n"


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("", "bad.csv"),
        ("a,b\n1,2\n", "1 columns"),
        ("a,b,c\n1,2,x\n1,2\n", "line 3: it has 2 cells"),
        ("a,b,c\n1,2,x\n1,oops,y\n", "line 3, column 'b'"),
        ("a,b,c\n1,2,x\n1,nan,y\n", "line 3, column 'b'"),
        ("a,b,c\n1,2,x\n1,3,\n", "line 3: the label 'c'"),
        ("a,b,c\n1,2,x\n1,3,x\n", "column 'c' has 1"),
    ],
)
def test_a_table_that_cannot_be_shown(tmp_path: Path, text: str, fact: str) -> None:
    path = put(tmp_path / "bad.csv", text)
    with rejected("data", fact):
        choose_columns(path)


def test_wrong_names_files_and_ports(flowers: Path, tmp_path: Path) -> None:
    with rejected("parameter", "'deep'", "long, wide, high, kind"):
        choose_columns(flowers, ("deep", "wide"))
    with rejected("parameter", "columns"):
        choose_columns(flowers, ("long", "long"))
    with rejected("data"):
        choose_columns(tmp_path / "none.csv")
    with rejected("parameter", "port=70000"):
        make_server(70000)
    with make_server() as taken, rejected("parameter", f"port={taken.server_port}: "):
        make_server(taken.server_port)
    assert main(["play", "--label", "kind"]) == 2


def test_the_export_is_the_page_and_nothing_is_overwritten(flowers: Path, tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / "site"
    assert main(["play", str(flowers), "--label", "kind", "--export", str(folder)]) == 0
    assert "index.html?csv=data.csv&x=long&y=wide&label=kind" in capsys.readouterr().out
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert names == {*page_files(), "data.csv"}
    assert (folder / "data.csv").read_text() == FLOWERS
    assert (folder / "icon.svg").read_bytes() == (FOLDER / "icon.svg").read_bytes()
    assert (folder / "ui" / "app.js").read_bytes() == slim(FOLDER / "ui" / "app.js")
    with rejected("data", "site"):
        export(folder)


def test_only_the_page_is_served_and_only_to_this_machine(flowers: Path) -> None:
    data = choose_columns(flowers)
    with make_server(data=data) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert server.server_address[0] == "127.0.0.1"
        base = f"http://127.0.0.1:{server.server_port}"
        with urllib.request.urlopen(page_address(server, data)) as answer:
            assert b"rosenblatt" in answer.read()
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        with urllib.request.urlopen(base + "/data.csv") as answer:
            assert answer.read().decode() == FLOWERS
        hidden = ["/page.py", "/../textbook.py", "/ui/../page.py", "/engine", "/etc/passwd"]
        for path, headers, status in [(path, {}, 404) for path in hidden] + [
            ("/data.csv", {"Host": "else.example"}, 403)
        ]:
            line = HTTPConnection("127.0.0.1", server.server_port)
            line.request("GET", path, headers=headers)
            assert line.getresponse().status == status, path
            line.close()
        server.shutdown()


def test_nothing_but_comments_and_spaces_stays_at_home() -> None:
    """Leaving out lines is safe: no text runs over several lines, and no comment shares its line with code."""
    for path in page_files().values():
        if path.suffix not in (".js", ".css"):
            continue
        lines = [line.strip() for line in path.read_text().splitlines()]
        code = "".join("".join(line for line in lines if not line.startswith(("//", "/*"))).split())
        assert "".join(slim(path).decode().split()) == (code if path.suffix == ".js" else code.replace(";}", "}"))
        for line in path.read_text().splitlines():
            assert line.count("`") % 2 == 0, (path, line)
            if line.strip().startswith("/*"):
                assert line.strip().endswith("*/"), (path, line)
                assert path.suffix == ".css", (path, line)


def test_the_command_serves_opens_the_browser_and_stops(flowers: Path, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    opener = put(tmp_path / "opener", f'#!/bin/sh\necho "$1" > {opened}\n')
    opener.chmod(0o755)
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from rosenblatt.cli.main import main; sys.exit(main(['play', *sys.argv[1:]]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(flowers), "--columns", "high", "wide"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "BROWSER": f"{opener} %s"},
    )
    assert process.stdout is not None
    said = process.stdout.readline()
    address = said.split()[4]
    with urllib.request.urlopen(address) as answer:
        assert answer.status == 200
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    process.stdout.close()
    assert address.endswith("/?csv=data.csv&x=high&y=wide&label=kind")
    assert opened.read_text().strip() == address


def test_the_user_s_table_is_shown(browser: Any, visit: Any, flowers: Path) -> None:
    data = choose_columns(flowers, ("high", "wide"), "kind")
    with make_server(data=data) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        visit.address = page_address(server)
        page = visit(data.query)
        page.get_by_text("data.csv: 3 points, of 2 classes.").wait_for()
        assert page.locator("#board .points path").count() == 3
        assert page.locator("#board .grid .name").all_text_contents() == ["high (scaled)", "wide (scaled)"]
        assert page.locator("[data-column=x]").input_value() == "2"
        server.shutdown()
