"""The live page and the page of the interface, as files in memory.

Invariant: nothing is fetched from another host, and no script runs but the files beside this one.
"""

from __future__ import annotations

from pathlib import Path

_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'"
)
PAGE_HEADERS = [
    (b"content-security-policy", _POLICY),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
]
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_PATHS = {"live.html": "/", "docs.html": "/docs"}
# The content type and the content of each path.
PAGES = {
    _PATHS.get(file.name, f"/page/{file.name}"): (f"{_TYPES[file.suffix]}; charset=utf-8", file.read_bytes())
    for file in Path(__file__).parent.iterdir()
    if file.suffix in _TYPES
}
