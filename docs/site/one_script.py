"""Joins the playground's modules into one plain script, since browsers load no modules from a folder without a server.

Invariant: it knows only what the playground's modules use: ``import { a, b as c } from "./file.js"`` at the start of a
line, and ``export`` before a function, class or constant. Anything else is an error, not a guess.
"""

from __future__ import annotations

import re
from pathlib import Path

IMPORT = re.compile(r"^import\s*\{([^}]*)\}\s*from\s*[\"']([^\"']+)[\"'];?", re.M)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.M)
LEFT_OVER = re.compile(r"^(?:import|export)\b.*", re.M)


def join_modules(entry: Path) -> str:
    """The script of `entry` with all that it imports: each module is a function called once, the needed ones first.

    The entry's function is asynchronous, since a module may wait at its top level.
    """
    done: dict[Path, str] = {}
    _add(entry.resolve(), done, [])
    return '"use strict";\n' + "\n".join(done.values())


def _add(path: Path, done: dict[Path, str], above: list[Path]) -> None:
    if path in done:
        return
    if path in above:
        raise ValueError(f"{path.name} is imported by what it imports: {[each.name for each in above]}")
    text = path.read_text(encoding="utf-8")
    for _, target in IMPORT.findall(text):
        _add((path.parent / target).resolve(), done, [*above, path])

    def taken(found: re.Match[str]) -> str:
        names = re.sub(r"(\w+)\s+as\s+(\w+)", r"\1: \2", " ".join(found[1].split()))
        return f"const {{ {names} }} = {_name((path.parent / found[2]).resolve(), done)};"

    exported = EXPORT.findall(text)
    body = EXPORT.sub("", IMPORT.sub(taken, text))
    if left := LEFT_OVER.search(body):
        raise ValueError(f"{path.name}: {left[0]!r} is more than this script understands")
    name = f"module{len(done)}"
    begin = "(() =>" if above else "(async () =>"
    done[path] = f"const {name} = {begin} {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"


def _name(path: Path, done: dict[Path, str]) -> str:
    return f"module{list(done).index(path)}"
