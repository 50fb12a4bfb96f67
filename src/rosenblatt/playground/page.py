"""The page as files: served on loopback, or copied to a folder for any web server.

Invariant: only the files listed by :func:`page_files`, and the user's own table as ``data.csv``, ever leave this
process, and only to this machine.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.atomic import write_folder
from rosenblatt.playground.columns import Columns

FOLDER = Path(__file__).parent
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".csv": "text/csv; charset=utf-8",
}


def page_files() -> dict[str, Path]:
    """The files of the page by their address."""
    found = sorted(path for path in FOLDER.rglob("*") if path.suffix in KINDS)
    return {path.relative_to(FOLDER).as_posix(): path for path in found}


def slim(path: Path) -> bytes:
    """A file as it is served: without comments, indentation and other insignificant white space."""
    content = path.read_bytes()
    if path.suffix not in (".js", ".css", ".html"):
        return content
    lines = (line.strip() for line in content.decode().splitlines())
    text = "\n".join(line for line in lines if line and not line.startswith(("//", "/*")))
    if path.suffix == ".js":
        text = re.sub(r"([,({[])\n", r"\1", text)
    elif path.suffix == ".css":
        text = re.sub(r"\s*([{};,])\s*|(:) ", r"\1\2", text).replace(";}", "}")
    return text.encode()


def export(folder: Path, data: Columns | None = None) -> list[Path]:
    """Copy the page to a folder, which any web server can then give out; the user's table goes with it.

    Returns
    -------
    list of Path
        The files written. An existing folder must be empty, so that nothing of the user's is overwritten.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> written = export(Path(tempfile.mkdtemp()))
    >>> "index.html" in {path.name for path in written}
    True
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder}: it exists and is not an empty folder")
    files = {name: slim(path) for name, path in page_files().items()}
    if data is not None:
        files["data.csv"] = data.text.encode("utf-8")
    write_folder(folder, files)
    return [folder / name for name in files]


class Server(ThreadingHTTPServer):
    """A server of the page for this machine only; everything it gives out is in memory."""

    daemon_threads = True

    def __init__(self, port: int, data: Columns | None) -> None:
        self.files = {f"/{name}": (KINDS[path.suffix], slim(path)) for name, path in page_files().items()}
        self.files["/"] = self.files["/index.html"]
        if data is not None:
            self.files["/data.csv"] = (KINDS[".csv"], data.text.encode())
        super().__init__(("127.0.0.1", port), Answer)


class Answer(BaseHTTPRequestHandler):
    """Answers one request from the files in memory."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        # A page elsewhere could point its own name at this machine: only our own names may read the user's table.
        host = (self.headers.get("Host") or "").rsplit(":", 1)[0]
        if host not in ("127.0.0.1", "localhost"):
            self.send_error(HTTPStatus.FORBIDDEN, "Only this machine is served")
            return
        found = self.server.files.get(urlsplit(self.path).path)
        if found is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        kind, body = found
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet: the terminal belongs to the user."""


def make_server(port: int = 0, data: Columns | None = None) -> Server:
    """A server of the page on 127.0.0.1; port 0 takes a free one. Call ``serve_forever`` on it.

    >>> with make_server() as server:
    ...     print(page_address(server).startswith("http://127.0.0.1:"))
    True
    """
    if not 0 <= port <= 65535:
        raise ParameterError(f"port={port}: must be from 0 to 65535")
    try:
        return Server(port, data)
    except OSError as error:
        raise ParameterError(f"port={port}: {error.strerror or error}") from None


def page_address(server: Server, data: Columns | None = None) -> str:
    """Where a browser finds the page.

    >>> with make_server() as server:
    ...     print(page_address(server).endswith("/"))
    True
    """
    return f"http://127.0.0.1:{server.server_port}/{data.query if data else ''}"
