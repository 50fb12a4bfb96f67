"""Cuts every write path at its calls to the system, and counts the states of the files afterwards.

    python tools/cuts/law.py SHIM.so [NAME ...]
    python tools/cuts/law.py SHIM.so -    # names from standard input, one per line, each answered at once

Of each kind of cut it takes 3 of the calls, the first and the last among them; with ROSENBLATT_CUTS=all it takes every
call, which ROSENBLATT_CUTS=all does.

It runs under LD_PRELOAD=SHIM.so. For each path it forks once per call: the child is killed before the call, killed in
the middle of a write, or the call fails. Then the old file or the new one must be there, whole; a run that says that it
went well must have written the new one, and one that failed leaves nothing else behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import importlib
import json
import mmap
import os
import shutil
import signal
import sys
import tempfile
import warnings
from pathlib import Path

from disk import Disk, iter_log
from paths import PATHS, WritePath, make_data

MODES = {"killed": 1, "failed": 3, "torn": 4}
OLD = b"what was there before\n" * 40
MARK = ".rosenblatt-"
FEW = 3


class Cutter:
    """Runs a write path in a child that is cut off at a call."""

    def __init__(self, shim: str, data: Path) -> None:
        self._shim, self._data = ctypes.CDLL(shim), data
        self._shared = mmap.mmap(-1, 4)
        self._count = ctypes.c_int.from_buffer(self._shared)

    def run(self, path: WritePath, out: Path, mode: int, at: int, log: int = -1) -> tuple[int, int]:
        """The status of the child, and how many calls it made."""
        child = os.fork()
        if child == 0:
            self._silence()
            code = 99
            try:
                self._shim.cut_begin(str(out).encode(), mode, at, errno.ENOSPC, ctypes.byref(self._count), log)
                code = path.run(self._data, out)
            except BaseException as error:
                code = 0 if isinstance(error, SystemExit) and not error.code else 98
                if type(error).__module__.startswith("rosenblatt") or isinstance(error, OSError):
                    code = 97
            finally:
                os._exit(code)
        return os.waitpid(child, 0)[1], self._count.value

    def load(self, path: WritePath, out: Path) -> None:
        """Import here what a path needs, so that its children need not; to run it here would start threads."""
        names = out.parent / "names"
        child = os.fork()
        if child == 0:
            self._silence()
            try:
                path.run(self._data, out)
                for name, check in path.targets.items():
                    if check is not None:
                        check(self._data, out / name)
                names.write_text("\n".join(sys.modules))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        for name in names.read_text().splitlines():
            if name not in sys.modules and not name.startswith("__"):
                with contextlib.suppress(Exception):
                    importlib.import_module(name)

    def holds(self, check: object, target: Path) -> bool:
        """Does a check hold? It is run in a child, so that nothing here starts a thread."""
        child = os.fork()
        if child == 0:
            self._silence()
            fine = False
            try:
                fine = bool(check(self._data, target))  # type: ignore[operator]
            finally:
                os._exit(0 if fine else 1)
        return os.waitpid(child, 0)[1] == 0

    @staticmethod
    def _silence() -> None:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115


def chosen(calls: int) -> list[int]:
    """The calls at which to cut."""
    if os.environ.get("ROSENBLATT_CUTS") == "all" or calls <= FEW:
        return list(range(1, calls + 1))
    return sorted({1 + round(step * (calls - 1) / (FEW - 1)) for step in range(FEW)})


class Law:
    """One write path, cut everywhere."""

    def __init__(self, cutter: Cutter, path: WritePath, out: Path) -> None:
        self.cutter, self.path, self.out = cutter, path, out
        self.counts = {"cuts": 0, "old": 0, "new": 0, "states": 0}
        self.broken: list[str] = []
        self._whole: dict[bytes | None, bool] = {}  # what was looked at already

    def hold(self) -> None:
        for exists in (True, False) if self._files() else (False,):
            calls, writes = self._undisturbed(exists)
            for name, mode in MODES.items():
                for at in chosen(writes if name == "torn" else calls):
                    self._cut(name, mode, at, exists)

    def _files(self) -> list[str]:
        return [name for name in self.path.targets if not self._is_folder(name)]

    @staticmethod
    def _is_folder(name: str) -> bool:
        return name in ("k", "page")

    def _prepare(self, exists: bool) -> None:
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        for name in self._files() if exists else []:
            (self.out / name).write_bytes(OLD)
            (self.out / name).chmod(0o640)

    def _undisturbed(self, exists: bool) -> tuple[int, int]:
        """Run it to its end, and count its calls and writes; its log says what a power cut could have left."""
        self._prepare(exists)
        disk, log = Disk.of(self.out), self.out.parent / "log"
        handle = os.open(log, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        status, calls = self.cutter.run(self.path, self.out, 1, -1, handle)
        os.close(handle)
        if status != 0 or calls == 0:
            raise SystemExit(f"{self.path.name}: an undisturbed run ended with {status} after {calls} calls")
        self.new = {name: (self.out / name).read_bytes() for name in self._files()}
        finals: dict[str, set[bytes | None]] = {}
        for name in self.path.targets:
            if not self.cutter.holds(self.path.targets[name] or _any, self.out / name):
                self.broken.append(f"{name}: an undisturbed run did not write it whole")
            for file in [self.out / name] if (self.out / name).is_file() else (self.out / name).rglob("*"):
                if file.is_file():
                    before = OLD if exists and file == self.out / name else None
                    finals[str(file)] = {before, file.read_bytes()}
        for number, (kind, words, data) in enumerate(iter_log(log.read_bytes()), 1):
            disk.apply(kind, words, data)
            for file_name, allowed in finals.items():
                self.counts["states"] += 1
                # A checkpoint is replaced several times: whatever was whole before may be there.
                strange = {c for c in disk.contents(file_name) - allowed if not self._was_whole(file_name, c)}
                if strange:
                    sizes = sorted(len(content or b"") for content in strange)
                    self.broken.append(f"power lost after call {number} ({kind}): {file_name} of {sizes} bytes")
        if any(disk.contents(name) != {Path(name).read_bytes()} for name in finals):
            self.broken.append("a power cut may lose a file that the run reported as written")
        return calls, sum(kind == "write" for kind, _, _ in iter_log(log.read_bytes()))

    def _was_whole(self, name: str, content: bytes | None) -> bool:
        check = self.path.targets.get(os.path.basename(name))
        if check is None or content in (None, b"", OLD) or self._is_folder(os.path.basename(name)):
            return False
        if content in self._whole:
            return self._whole[content]
        copy = self.out.parent / ("copy" + Path(name).suffix)
        copy.write_bytes(content or b"")
        self._whole[content] = self.cutter.holds(check, copy)
        return self._whole[content]

    def _cut(self, name: str, mode: int, at: int, exists: bool) -> None:
        self._prepare(exists)
        status, calls = self.cutter.run(self.path, self.out, mode, at)
        where = f"{name} at call {at}{' over an old file' if exists else ''}"
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        if mode != MODES["failed"] and not killed:
            self.broken.append(f"{where}: it was not killed, but ended with {status} after {calls} calls")
        if os.WIFSIGNALED(status) and not killed:
            self.broken.append(f"{where}: ended by signal {os.WTERMSIG(status)}")
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) in (98, 99):
            self.broken.append(f"{where}: ended by an error of another kind")
        self.counts["cuts"] += 1
        said_well = os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0
        for target in self.path.targets:
            self._check(target, where, exists, said_well)
        left = [entry for entry in os.listdir(self.out) if MARK in entry]
        if left and not killed:
            self.broken.append(f"{where}: it left {left}")

    def _check(self, target: str, where: str, exists: bool, said_well: bool) -> None:
        at, check = self.out / target, self.path.targets[target]
        if self._is_folder(target):
            if target == "page" and not at.exists():
                self.counts["old"] += 1
            elif self.cutter.holds(check, at):
                self.counts["new"] += 1
            else:
                self.broken.append(f"{where}: {target} is not whole")
            return
        content = at.read_bytes() if at.exists() else None
        if content == (OLD if exists else None):
            self.counts["old"] += 1
            if said_well:
                self.broken.append(f"{where}: it said that all went well, and {target} is the old one")
        elif content == self.new[target] or (check and content and self.cutter.holds(check, at)):
            self.counts["new"] += 1
            if exists and at.stat().st_mode & 0o777 != 0o640:
                self.broken.append(f"{where}: {target} has another mode")
        else:
            what = "not there" if content is None else f"torn, of {len(content)} bytes"
            self.broken.append(f"{where}: {target} is {what}")


def _any(data: Path, target: Path) -> bool:
    return target.exists()


def main() -> int:
    import matplotlib

    matplotlib.use("Agg")
    warnings.simplefilter("ignore")
    shim, wanted = sys.argv[1], sys.argv[2:]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "data", Path(folder) / "out"
        data.mkdir()
        child = os.fork()
        if child == 0:
            make_data(data)
            os._exit(0)
        os.waitpid(child, 0)
        cutter = Cutter(shim, data)
        names = map(str.strip, sys.stdin) if wanted == ["-"] else wanted or [path.name for path in PATHS]
        known = {path.name: path for path in PATHS}
        for path in (known[name] for name in names):
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            cutter.load(path, out)
            law = Law(cutter, path, out)
            law.hold()
            print(json.dumps({"path": path.name, **law.counts, "broken": law.broken}), flush=True)
            failed += len(law.broken)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
