"""The live page and the page of the interface, as files in memory.

Invariant: nothing is fetched from another host, and no script runs but the files beside this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'"
)
_KINDS = {
    ".html": b"text/html; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
}


@dataclass(frozen=True)
class Page:
    """A file as it is given out."""

    kind: bytes
    content: bytes
    headers: tuple[tuple[bytes, bytes], ...] = (
        (b"content-security-policy", _POLICY),
        (b"referrer-policy", b"no-referrer"),
        (b"x-frame-options", b"DENY"),
    )


def _page(name: str) -> Page:
    path = FOLDER / name
    return Page(_KINDS[path.suffix], path.read_bytes())


PAGES = {
    "/": _page("live.html"),
    "/docs": _page("docs.html"),
    "/page/live.css": _page("live.css"),
    "/page/live.js": _page("live.js"),
    "/page/docs.js": _page("docs.js"),
    "/page/icon.svg": _page("icon.svg"),
}
