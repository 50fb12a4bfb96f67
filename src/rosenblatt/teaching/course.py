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
import threading
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

Case = tuple[tuple[Any, ...], Any]

_PROGRESS = Path("progress.json")
_RIGHT, _WRONG, _OPEN = "✓", "✗", "…"
_lesson: dict[str, Any] = {"name": "", "marks": {}}
_server: list[Any] = []


def begin(lesson: str, exercises: str) -> None:
    """Start a lesson: its name, and the names of its exercises."""
    _lesson["name"], _lesson["marks"] = lesson, dict.fromkeys(exercises.split(), _OPEN)


def check(answer: Callable[..., Any], *cases: Case, seconds: float = 5.0) -> bool:
    """Call `answer` with the arguments of each case and compare; print one line; return whether all agree.

    A case is ``((argument, …), expected)``. Numbers may differ by rounding, and arrays, lists and tuples of the same
    numbers are equal. If `expected` is a function, it decides, and its docstring says what it wants. Each call may take
    `seconds`.
    """
    name = getattr(answer, "__name__", str(answer))
    mark, line = _OPEN, f"{name}: not written yet"
    for number, (arguments, expected) in enumerate(cases):
        call = f"{name}({', '.join(map(_short, arguments))})"
        found, error = _call(answer, deepcopy(arguments), seconds)
        if isinstance(error, NotImplementedError) or (error is None and found is None and expected is not None):
            mark, line = (_OPEN, line) if number == 0 else (_WRONG, f"{call} returns None, not {_short(expected)}")
        elif isinstance(error, TimeoutError):
            mark, line = _WRONG, f"{call} took longer than {seconds:g} seconds"
        elif error is not None:
            mark, line = _WRONG, f"{call} raised {type(error).__name__}: {error}{_line_of(error)}"
        elif not agrees(found, expected):
            wanted = (expected.__doc__ or "something else").strip() if callable(expected) else _short(expected)
            mark, line = _WRONG, f"{call} is {_short(found)}, and should be {wanted}"
        else:
            mark, line = _RIGHT, f"{name}: right in {number + 1} case{'s' if number else ''}"
            continue
        break
    print(mark, line)
    _lesson["marks"][name] = mark
    _save()
    if mark != _RIGHT and os.environ.get("NBGRADER_EXECUTION"):
        raise AssertionError(line)  # nbgrader counts a test cell that raises as not passed
    return mark == _RIGHT


def progress() -> None:
    """Print every lesson begun so far with its exercises: right, wrong, open."""
    lessons = _read() | {_lesson["name"]: _lesson["marks"]}
    for name, marks in sorted(lessons.items()):
        right = sum(mark == _RIGHT for mark in marks.values())
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
    if isinstance(expected, int | float) and isinstance(found, int | float):
        if isinstance(expected, bool) != isinstance(found, bool):
            return isinstance(expected, bool) and found in (0, 1) and bool(found) == expected
        if math.isnan(expected):
            return math.isnan(found)
        return math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-9)
    return type(found) is type(expected) and bool(found == expected)


def scene(link: str, height: int = 520) -> Any:
    """A scene of the playground: a name such as ``"and"``, or a link into the lab such as ``"#data=xor&proof=yes"``."""
    query = f"?embed{link}" if link.startswith("#") else f"?embed={link}"
    try:
        if not _server:
            from rosenblatt.playground import make_server

            _server.append(make_server(0))
            threading.Thread(target=_server[0].serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{_server[0].server_address[1]}/{query}"
        from IPython.display import IFrame
    except (ImportError, OSError, RuntimeError):  # in the browser, or without a notebook
        print(f"Run `rosenblatt play` and add {query} to its address.")
        return None
    return IFrame(address, width="100%", height=height)


def _call(answer: Callable[..., Any], arguments: tuple[Any, ...], seconds: float) -> tuple[Any, BaseException | None]:
    """The value or the error of a call; a call that takes too long is interrupted."""
    result: list[Any] = [None, None]

    def run() -> None:
        try:
            result[0] = answer(*arguments)
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
