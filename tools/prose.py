"""Check the prose of Markdown pages, docstrings and messages against a list of phrases that readers stumble over.

    python tools/prose.py [FILE ...]

Prints one line per finding and exits with 1 if there is any. The rules behind the list: plain words of the field,
"not a number" instead of "is no number", "per row" instead of "a row", "if" instead of "where", American spelling.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

UNIT = "bytes|examples|features|lines|MB|mistakes|ms|ns|rows|seconds|times|twice|updates|us|values|weights"
PER = "batch|block|call|class|column|epoch|example|feature|file|fold|line|mistake|row|second|thread|update"
PHRASES = {
    rf"\b(?:{UNIT}) an? (?:{PER})\b(?! time)": "say 'per …'",
    r"\bis no (?:number|text|file|folder|model|date)\b": "say 'is not a …'",
    r"\bare none\b": "say 'are not …'",
    r"\bonce did harm\b": "say 'regression' or 'past crash'",
    r"\bis heard\b|\bare heard\b": "say 'stops at' or 'is handled'",
    r"\btold of\b": "say 'updated with'",
    r"\bis taken for\b|\bare taken for\b": "say 'is treated as'",
    r"\bnot yours\b": "say 'no permission'",
    r"\bgoes? on so\b|\bby turns\b|\bcome again\b|, so many\b": "say what happens",
    r"\ba (?:seventh|sixth|fifth|quarter|third) (?:quicker|faster|slower)\b": "say '14 %' or '1.2x'",
    r"\btruth values?\b": "say 'booleans'",
    r"\b(?:normal|standard|optim|recogn|penal|serial|initial|vector|summar)is(?:e|ed|es|ing|ation)\b": "spelling: -ize",
    r"\b(?:behaviour|colour|neighbour|favour|honour|labelled|labelling|licence|centre)\b": "American spelling",
}
PATTERN = re.compile("|".join(f"(?P<p{k}>{phrase})" for k, phrase in enumerate(PHRASES)), re.IGNORECASE)
ADVICE = list(PHRASES.values())


def iter_markdown(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines outside fenced and indented code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, re.sub(r"`[^`]*`", "", line)


def iter_strings(text: str) -> Iterator[tuple[int, str]]:
    """Numbered docstrings and messages: every string with a space in it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            for offset, line in enumerate(node.value.splitlines()):
                yield node.lineno + offset, re.sub(r"`[^`]*`", "", line)


def main(names: list[str]) -> int:
    """Print the findings."""
    if not names:
        listed = subprocess.run(["git", "ls-files", "*.md", "src/**/*.py"], capture_output=True, text=True, check=True)
        exempt = ("benchmarks/RESULTS.md", "docs/decisions/", "src/rosenblatt/textbook")
        names = [name for name in listed.stdout.split() if not name.startswith(exempt)]
    found = 0
    for name in names:
        text = Path(name).read_text(encoding="utf-8")
        for number, line in iter_markdown(text) if name.endswith(".md") else iter_strings(text):
            for match in PATTERN.finditer(line):
                advice = ADVICE[int(match.lastgroup[1:])] if match.lastgroup else ""
                print(f"{name}:{number}: {match.group()!r}: {advice}")
                found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
