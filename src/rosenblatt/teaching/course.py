"""Helpers of the lessons: check an answer, show progress, show a scene of the playground.

`rosenblatt teach` copies this file beside the notebooks. It needs only the standard library, so it also runs in
Pyodide.

Invariant: `check` always returns. A wrong, slow or crashing answer is a line of text, never the end of the notebook.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import sys
import threading
from collections.abc import Callable, Mapping
from copy import deepcopy
from numbers import Real
from pathlib import Path
from typing import Any

Case = tuple[tuple[Any, ...], Any]

_PROGRESS = Path("progress.json")
RIGHT, WRONG, OPEN = "✓", "✗", "…"
_lesson: dict[str, Any] = {"name": "", "marks": {}}
_server: list[Any] = []


def begin(lesson: str, exercises: str) -> None:
    """Start a lesson: its name, and the names of its exercises. Marks of an earlier day stay."""
    names, saved = exercises.split(), _read().get(lesson, {})
    _lesson["name"], _lesson["marks"] = lesson, {name: saved.get(name, OPEN) for name in names}


def check(answer: Callable[..., Any], *cases: Case, seconds: float = 5.0) -> None:
    """Call `answer` with the arguments of each case, compare, print one line, and remember the mark.

    A case is ``((argument, …), expected)``. Numbers may differ by rounding, and arrays, lists and tuples of the same
    numbers are equal. If `expected` is a function, it decides, and its docstring describes the expected answer. Each
    call may take `seconds`.
    """
    # A lambda or a partial does not know the name that the notebook gave it.
    names = [name for name, value in sys._getframe(1).f_globals.items() if value is answer and name in _lesson["marks"]]
    name = names[0] if names else getattr(answer, "__name__", "answer")
    mark, line = judge(name, answer, *cases, seconds=seconds)
    print(mark, line)
    _lesson["marks"][name] = mark
    _save()
    if mark != RIGHT and os.environ.get("NBGRADER_EXECUTION"):
        raise AssertionError(line)  # nbgrader counts a test cell that raises as not passed


def judge(name: str, answer: Callable[..., Any], *cases: Case, seconds: float = 5.0) -> tuple[str, str]:
    """The mark of an answer, and the line that says why."""
    for number, (arguments, expected) in enumerate(cases):
        call = f"{name}({', '.join(map(_short, arguments))})"
        found, error = call_within(seconds, answer, *deepcopy(arguments))
        if isinstance(error, NotImplementedError) or (error is None and found is None and expected is not None):
            if number == 0:
                return OPEN, f"{name}: not written yet, it returns None"
            return WRONG, f"{call} returns None, and should be {_wanted(expected)}"
        if isinstance(error, TimeoutError):
            return WRONG, f"{call} took longer than {seconds:g} seconds"
        if error is not None:
            return WRONG, f"{call} raised {type(error).__name__}: {error}{_line_of(error)}"
        if not agrees(found, expected):
            return WRONG, f"{call} is {_short(found)}, and should be {_wanted(expected)}"
    return RIGHT, f"{name}: right in {len(cases)} case{'s' if len(cases) > 1 else ''}"


def progress() -> None:
    """Print every lesson begun so far with its exercises: right, wrong, open."""
    lessons = _read() | {_lesson["name"]: _lesson["marks"]}
    for name, marks in sorted(lessons.items()):
        right = sum(mark == RIGHT for mark in marks.values())
        print(f"{name:<16} {' '.join(marks.values())}   {right} of {len(marks)}")


def agrees(found: Any, expected: Any) -> bool:
    """Whether an answer is the expected one, or satisfies the expected function."""
    if not callable(expected):
        return same(found, expected)
    try:
        return bool(expected(_plain(found)))
    except Exception:  # an answer of another shape than the function reads
        return False


def same(found: Any, expected: Any) -> bool:
    """Equal up to rounding, also inside lists, tuples, arrays and dictionaries."""
    found, expected = _plain(found), _plain(expected)
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, Mapping):
        return (
            isinstance(found, Mapping)
            and found.keys() == expected.keys()
            and all(same(found[key], expected[key]) for key in expected)
        )
    if isinstance(expected, Real) and isinstance(found, Real):
        if isinstance(expected, bool):
            return found == expected
        if math.isnan(expected):
            return math.isnan(found)
        return math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-9)
    return type(found) is type(expected) and bool(found == expected)


def scene(link: str, height: int = 620) -> Any:
    """A scene of the playground: a name such as ``"and"``, or a link into the lab such as ``"#data=xor&proof=yes"``."""
    query = f"?embed{link}" if link.startswith("#") else f"?embed={link}"
    try:
        if any(name.startswith(("JUPYTERHUB_", "COLAB_")) for name in os.environ):
            raise RuntimeError("the kernel runs on another machine than the browser")
        if not _server:
            from rosenblatt.playground import make_server

            _server.append(make_server(0))
            threading.Thread(target=_server[0].serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{_server[0].server_address[1]}/{query}"
        from IPython.display import IFrame
    except (ImportError, OSError, RuntimeError):  # in Pyodide, without a notebook, or far from the browser
        print(f"Run `rosenblatt play` on your computer and add {query} to its address.")
        return None
    return IFrame(address, width="100%", height=height)


def call_within(seconds: float, function: Callable[..., Any], *arguments: Any) -> tuple[Any, BaseException | None]:
    """The value or the error of a call; a call that takes too long is interrupted and gives a TimeoutError."""
    result: list[Any] = [None, None]

    def run() -> None:
        try:
            result[0] = function(*arguments)
        except BaseException as error:  # SystemExit and KeyboardInterrupt too: nothing ends the lesson
            result[1] = error

    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # Pyodide has no threads, so no time limit either
        run()
        return result[0], result[1]
    thread.join(seconds)
    if thread.is_alive():
        # An endless loop in Python ends here; one inside C ends with the process.
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit))
        thread.join(0.5)
        return None, TimeoutError()
    return result[0], result[1]


def _wanted(expected: Any) -> str:
    return (expected.__doc__ or "something else").strip() if callable(expected) else _short(expected)


def _plain(value: Any) -> Any:
    """Arrays, frames and tensors as lists, their scalars as Python's numbers, tuples and ranges as lists."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, tuple | range) else value


def _short(value: Any) -> str:
    text = repr(_plain(value)) if not callable(value) else getattr(value, "__name__", "a function")
    return text if len(text) <= 60 else text[:57] + "..."


def _line_of(error: BaseException) -> str:
    """The line of the answer in which the error was raised."""
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename != __file__:
            line = trace.tb_lineno
        trace = trace.tb_next
    return "" if line is None else f" (line {line} of its cell)"


def _read() -> dict[str, dict[str, str]]:
    try:
        saved: dict[str, dict[str, str]] = json.loads(_PROGRESS.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return saved


def _save() -> None:
    if _lesson["name"]:
        with contextlib.suppress(OSError):  # a read-only folder: progress is only shown, never needed
            _PROGRESS.write_text(json.dumps(_read() | {_lesson["name"]: _lesson["marks"]}, ensure_ascii=False), "utf-8")
