"""A plain page around text, without anything from elsewhere."""

from __future__ import annotations

import html

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem; }}
  pre {{ font: 14px/1.45 ui-monospace, monospace; overflow-x: auto; padding: .8rem; background: #f5f5f5; }}
</style>
<h1>{title}</h1>
<pre>{text}</pre>
</html>
"""


def write_page(path: str, title: str, text: str) -> None:
    """Write a page with a heading and preformatted text."""
    from rosenblatt.io.atomic import write_atomic

    write_atomic(path, _PAGE.format(title=html.escape(title), text=html.escape(text)).encode("utf-8", "replace"))
