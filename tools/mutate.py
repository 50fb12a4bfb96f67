"""How many small faults in the source do the tests notice? ``python tools/mutate.py --count 60 --record mutants.json``

Draws mutants of the Python of learners, models, select and io, and of the engine's rules and keeps (an operator, a
constant, a dropped statement, two swapped arguments), runs the tests of the room in a child process, and prints which
mutants survived. With ``--again mutants.json`` the recorded mutants meet today's source and tests.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import coverage
import hypothesis  # noqa: F401 - what takes long to import is imported once
import pytest
import sklearn.utils.estimator_checks  # noqa: F401

ROOT = Path(__file__).resolve().parent.parent
INSTALLED = Path(sysconfig.get_path("platlib"), "rosenblatt")
TESTS = {  # the tests that meet the mutants of a room
    "learners": [
        "laws/test_bits.py",
        "unit/learners",
        "laws/test_laws.py",
        "laws/test_weights.py",
        "laws/test_interface.py",
        "laws/test_loading.py",
        "laws/test_interrupt.py",
        "regressions/test_learners.py",
    ],
    "models": [
        "unit/models",
        "laws/test_loading.py",
        "laws/test_machine.py",
        "unit/select",
        "regressions/test_models.py",
    ],
    "select": ["unit/select", "regressions/test_select.py", "laws/test_weights.py"],
    "io": ["unit/io", "unit/encode", "regressions/test_data.py"],
    "engine": [
        "laws/test_bits.py",
        "unit/learners",
        "laws/test_laws.py",
        "unit/test_engine.py",
        "regressions/test_learners.py",
    ],
}
HEADERS = ["rules.hpp", "averaging.hpp", "arow.hpp", "penalty.hpp", "budget.hpp"]  # of the engine: rules and keeps
SWAP = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip
SYMMETRIC = {"max", "min", "maximum", "minimum", "array_equal"}  # any order of arguments is right
FIRST = 40  # tests that are tried before the others are collected
HANGS = (-signal.SIGKILL, -signal.SIGXCPU, -signal.SIGALRM)


@dataclass(frozen=True)
class Mutant:
    path: str  # below src/rosenblatt, or of a header of the engine
    function: str
    before: str
    after: str


def variants(node: ast.AST) -> Iterator[str]:
    """The source of this node with one fault."""
    copy: ast.AST = deepcopy(node)
    match copy:
        case ast.Compare(ops=[op]) if type(op) in SWAP:
            copy.ops = [SWAP[type(op)]()]
        case ast.BoolOp(op=op):
            copy.op = SWAP[type(op)]()
        case ast.BinOp(op=op) if type(op) in SWAP:
            copy.op = SWAP[type(op)]()
        case ast.UnaryOp(op=ast.Not()):
            copy = copy.operand
        case ast.Constant(value=bool() as value):
            copy.value = not value
        case ast.Constant(value=int() | float() as value):
            copy.value = value + 1
        case ast.Call(func=function, args=[first, second, *rest]) if not (
            any(isinstance(each, ast.Starred) for each in copy.args)
            or ast.unparse(function).rpartition(".")[2] in SYMMETRIC
        ):
            copy.args = [second, first, *rest]
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
            copy = ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            copy = ast.Pass()
        case _:
            return
    yield ast.unparse(copy)


def walk(node: ast.AST, function: str = "", line: int = 0) -> Iterator[tuple[ast.AST, str, int]]:
    """Every node of the functions, with its function and the line of its statement; no annotations or messages."""
    for name, child in ((f, c) for f, v in ast.iter_fields(node) for c in (v if isinstance(v, list) else [v])):
        if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr):
            continue
        if name in ("annotation", "returns", "args", "decorator_list") and not isinstance(node, ast.Call):
            continue
        inner, line = function, child.lineno if isinstance(child, ast.stmt) else line
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{function}.{child.name}".strip(".")
        elif function:
            yield child, function, line
        yield from walk(child, inner, line)


def mutants(path: Path) -> Iterator[tuple[Mutant, int, str]]:
    """Each mutant of this file, with its line and the mutated text."""
    text = path.read_bytes()
    starts = [0]
    for each in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(each))
    for node, function, line in walk(ast.parse(text)):
        if not isinstance(node, ast.expr | ast.stmt):
            continue
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        for after in variants(node):
            mutated = (text[:start] + after.encode() + text[end:]).decode()
            try:
                compile(mutated, str(path), "exec")
            except SyntaxError:
                continue
            before = ast.unparse(node)
            yield Mutant(str(path.relative_to(ROOT / "src/rosenblatt")), function, before, after), line, mutated


CODE = [  # a fault in a line of C++
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r"[\w.]+ && ", ""), (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "),
    (r" / ", " * "), (r"\b0\.0\b", "1.0"), (r"\b1\.0\b", "2.0"), (r"\b[1-9]\d*\b", "0"), (r"\bmin\b", "max"),
    (r"^(\s+)(?!return|using|const|static|throw|else|case|break)[\w.\[\]>*-]+(\(| [-+*/]?= ).*;$", r"\1;"),
]  # fmt: skip


def engine_mutants(path: Path) -> Iterator[tuple[Mutant, int, str]]:
    """Each mutant of this header, with its line and the mutated text."""
    lines = path.read_text().split("\n")
    for number, line in enumerate(lines):
        code = line.split("//")[0].rstrip()
        if '"' in code or "#include" in code or "template" in code:
            continue
        for pattern, to in CODE:
            for found in re.finditer(pattern, code):
                after = code[: found.start()] + found.expand(to) + code[found.end() :]
                mutated = "\n".join([*lines[:number], after, *lines[number + 1 :]])
                yield Mutant(f"engine/{path.name}", str(number), code.strip(), after.strip()), number + 1, mutated


def compile_engine(folder: Path, path: str, text: str) -> Path | None:
    """The engine with this text in this header; nothing if it does not compile."""
    if not (folder / "b").exists():
        shutil.copytree(ROOT / "engine", folder / "engine")
        (folder / "CMakeLists.txt").write_text((ROOT / "CMakeLists.txt").read_text().replace("-O3", "-O1"))
        nanobind = subprocess.check_output([sys.executable, "-m", "nanobind", "--cmake_dir"], text=True).strip()
        words = ["-GNinja", "-S.", "-Bb", "-DCMAKE_BUILD_TYPE=Release", "-DROSENBLATT_NATIVE=ON"]
        words += [f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={nanobind}"]
        subprocess.run([CMAKE, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    header = folder / path
    header.write_text(text)
    words = ["--build", "b", "--target", "_engine_avx2" if "avx2" in Path("/proc/cpuinfo").read_text() else ENGINE]
    built = subprocess.run([CMAKE, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    shutil.copyfile(ROOT / path, header)
    return None if built.returncode else next((folder / "b").glob("_engine_*.so"))


CMAKE, ENGINE = str(Path(sys.executable).parent / "cmake"), "_engine_baseline"
PLAIN_IMPORTS = """import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__name__.startswith("ScikitBuild")]
"""  # without it an editable installation is imported instead of the mutant


def read_coverage(path: Path) -> Callable[[str, int], list[str]]:
    """The tests that run a line of a file, first the ones that run few lines; "" is an import."""
    data = coverage.CoverageData(str(path))
    data.read()
    found = {file.partition("src/rosenblatt/")[2]: data.contexts_by_lineno(file) for file in data.measured_files()}
    sizes = Counter(phase for lines in found.values() for phases in lines.values() for phase in phases)

    def tests_of(file: str, line: int) -> list[str]:
        phases = sorted(found.get(file, {}).get(line, []), key=lambda phase: (sizes[phase], phase))
        return list(dict.fromkeys(phase.split("|")[0] for phase in phases))

    return tests_of


def run_tests(source: Path, tests: list[str], seconds: int) -> str:
    """The first test that fails in a child that imports this source; nothing if the mutant survives."""
    order = {test: place for place, test in enumerate(tests) if "::" in test}
    files = list(dict.fromkeys(test.split("::")[0] for test in tests))
    read, write = os.pipe()
    (source / "sitecustomize.py").write_text(PLAIN_IMPORTS)  # for the processes that tests start
    child = os.fork()
    if child == 0:
        exec(PLAIN_IMPORTS)
        sys.path.insert(0, str(source))
        os.environ["PYTHONPATH"] = str(source)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        signal.alarm(10 * seconds)  # a mutant that waits forever
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

        class FirstFailure:
            def pytest_collection_modifyitems(self, items: list[Any]) -> None:
                if order:
                    items[:] = sorted((each for each in items if each.nodeid in order), key=lambda e: order[e.nodeid])

            def pytest_runtest_logreport(self, report: Any) -> None:
                if report.failed:
                    os.write(write, report.nodeid.encode())

        words = ["-q", "-x", "--tb=no", "-m", "not slow", "-W", "ignore::pytest.PytestAssertRewriteWarning", *files]
        status = pytest.main(words, plugins=[FirstFailure()])
        os._exit(int(status))
    os.close(write)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with os.fdopen(read) as said:
        return said.read() or ("" if status == 0 else "it hangs" if status in HANGS else f"exit status {status}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=60)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--record", type=Path, help="write the mutants that were judged")
    options.add_argument("--again", type=Path, help="read mutants that were recorded")
    options.add_argument("--seconds", type=int, default=240, help="of CPU per mutant, five times what its tests take")
    options.add_argument("--more-seconds", type=int, default=240, help="of CPU for the tests of a line after the first")
    options.add_argument("--minutes", type=float, default=60, help="draw no more mutants after so long")
    options.add_argument("--tests", nargs="*", help="these tests instead of those of the room")
    options.add_argument("--covered", type=Path, help="data of coverage.py, with the tests that run each line")
    given = options.parse_args()
    draw, source = random.Random(given.seed), ROOT / "src/rosenblatt"
    found = {room: [one for path in sorted((source / room).rglob("*.py")) for one in mutants(path)] for room in TESTS}
    found["engine"] = [one for name in HEADERS for one in engine_mutants(ROOT / "engine" / name)]
    if given.again:
        by_mutant = {one[0]: one for room in found.values() for one in room}
        recorded = [Mutant(**each) for each in json.loads(given.again.read_text())]
        chosen = [by_mutant[each] for each in recorded if each in by_mutant]
        print(f"{len(recorded) - len(chosen)} of {len(recorded)} mutants no longer exist")
    else:
        each = given.count // len(TESTS)
        chosen = [
            one for group in zip(*(draw.sample(found[room], each) for room in TESTS), strict=True) for one in group
        ]
    os.chdir(ROOT)
    tests_of = read_coverage(given.covered) if given.covered else None
    verdicts: Counter[str] = Counter()
    judged, begun = [], time.monotonic()
    with tempfile.TemporaryDirectory() as build:
        for mutant, line, text in chosen:
            if time.monotonic() - begun > 60 * given.minutes:
                break
            room = mutant.path.split("/")[0]
            tests = given.tests or [f"tests/{each}" for each in TESTS[room]]
            if room != "engine" and tests_of is not None:
                covering = tests_of(mutant.path, line)
                tests = tests if "" in covering else covering
            with tempfile.TemporaryDirectory() as folder:
                copy = Path(folder, "rosenblatt")
                shutil.copytree(source, copy)
                if room == "engine":
                    built = compile_engine(Path(build), mutant.path, text)
                    if built is None:
                        continue
                    shutil.copy(built, copy)
                else:
                    for built in INSTALLED.glob("_engine_*.so"):
                        (copy / built.name).symlink_to(built)
                    (copy / mutant.path).write_text(text)
                by = run_tests(Path(folder), tests[:FIRST], given.seconds) if tests else ""
                if not by and tests[FIRST:]:  # what hangs would have hung before: a test ran out of its time
                    by = run_tests(Path(folder), tests[FIRST:], given.more_seconds)
                    by = "" if by == "it hangs" else by
            verdict = "killed" if by else "SURVIVED"
            verdicts[verdict] += 1
            judged.append(asdict(mutant))
            print(f"{mutant.path}:{line}: {mutant.before!r} -> {mutant.after!r}: {verdict} {by}", flush=True)
            if given.record:
                given.record.write_text(json.dumps(judged, indent=1))
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()))


if __name__ == "__main__":
    main()
