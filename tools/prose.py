"""Check prose against a list of words and phrases that readers stumble over.

    python tools/prose.py [FILE ...]

Reads Markdown outside of code, and in source files the docstrings, comments and messages. Prints one line per finding
and exits with 1 if there is any. `prose.txt` has the list: words of the field, active voice, "not a number" instead of
"is no number", "per row" instead of "a row", "if" instead of "where" for conditions, American spelling.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

UNIT = "bits?|bytes?|features|lines|MB|mistakes?|ms|ns|numbers?|once|one|rows|scores?|seconds|times|us|values?|weights?"
PER = "batch|block|call|class|column|epoch|example|feature|file|fold|line|mistake|mistaken row|pass|row|second|thread"
ENTRIES = [
    line.replace("UNIT", UNIT).replace("PER", PER).partition(" -> ")
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    if " -> " in line
]
PATTERN = re.compile("|".join(f"(?P<p{k}>{phrase})" for k, (phrase, _, _) in enumerate(ENTRIES)), re.IGNORECASE)
ROOMS = ("src", "tools", "tests", "benchmarks", "examples")
SOURCES = ["*.md", "engine/**/*.[ch]pp", *(f"{room}/**.py" for room in ROOMS)]
# Results are written by programs, and the word list would find itself.
EXEMPT = ("benchmarks/RESULTS.md", "tools/prose.py")


def iter_markdown(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines outside fenced and indented code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def iter_python(text: str, *, messages: bool) -> Iterator[tuple[int, str]]:
    """Numbered lines of docstrings and comments, and of every other string with a space in it."""
    tree = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    described = [node for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node)]
    docstrings = {id(node.body[0].value) for node in described}  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (messages or id(node) in docstrings):
            for offset, line in enumerate(node.value.splitlines() if " " in node.value else []):
                if not line.lstrip().startswith((">>>", "...")):
                    yield node.lineno + offset, line
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def iter_cpp(text: str) -> Iterator[tuple[int, str]]:
    """Numbered comments and messages of C++."""
    for number, line in enumerate(text.splitlines(), start=1):
        yield from ((number, found) for found in re.findall(r"//.*|\"[^\"]* [^\"]*\"", line))


def iter_prose(name: str) -> Iterator[tuple[int, str]]:
    """Numbered lines of a file's prose, without the code in backquotes."""
    text = Path(name).read_text(encoding="utf-8")
    if name.endswith(".py"):
        lines = iter_python(text, messages=name.startswith(("src/", "tools/")))
    else:
        lines = iter_markdown(text) if name.endswith(".md") else iter_cpp(text)
    for number, line in lines:
        yield number, re.sub(r"``[^`]*``|`[^`]*`", "``", line)


def main(names: list[str]) -> int:
    """Print the findings."""
    if not names:
        listed = subprocess.run(["git", "ls-files", *SOURCES], capture_output=True, text=True, check=True)
        names = [name for name in listed.stdout.split() if not name.startswith(EXEMPT)]
    found = 0
    for name in names:
        for number, line in iter_prose(name):
            for match in PATTERN.finditer(line):
                advice = ENTRIES[int(match.lastgroup[1:])][2] if match.lastgroup else ""
                print(f"{name}:{number}: {match.group().strip()!r}: say {advice}")
                found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
