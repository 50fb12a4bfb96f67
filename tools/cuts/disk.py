"""What a disk may hold after the power fails: only what was put there by fsync is sure.

Model: the names of a folder are sure once the folder is synced, the bytes of a file once the file is. Of the changes to
names since then, any may have reached the disk, and any may not; of the bytes since then all, none, or the first half.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Names = dict[str, int]  # path -> inode
_MOST = 8  # changes of names that are tried in every combination; of more, the first ones


@dataclass
class Disk:
    """Names and bytes, as programs see them and as they surely are."""

    seen: dict[int, bytes] = field(default_factory=dict)
    sure: dict[int, bytes] = field(default_factory=dict)
    names: Names = field(default_factory=dict)  # sure
    folders: dict[int, str] = field(default_factory=dict)
    waiting: list[tuple[str, ...]] = field(default_factory=list)  # changes of names that are not

    @classmethod
    def of(cls, folder: Path) -> Disk:
        """A folder as it lies there, all of it sure."""
        disk = cls(folders={folder.stat().st_ino: str(folder)})
        for path in folder.rglob("*"):
            number = path.stat().st_ino
            if path.is_dir():
                disk.folders[number] = str(path)
            else:
                disk.names[str(path)] = number
                disk.seen[number] = disk.sure[number] = path.read_bytes()
        return disk

    def apply(self, kind: str, words: list[str], data: bytes) -> None:
        """One call, as the log has it."""
        if kind == "create":
            number = int(words[0])
            self.seen[number] = self.sure[number] = b""
            self.waiting.append(("create", words[1], words[0]))
        elif kind == "mkdir":
            self.folders[int(words[0])] = words[1]
        elif kind == "write":
            held, begin = self.seen[int(words[0])], int(words[1])
            self.seen[int(words[0])] = held[:begin].ljust(begin, b"\0") + data + held[begin + len(data) :]
        elif kind == "truncate":
            self.seen[int(words[0])] = self.seen[int(words[0])][: int(words[1])]
        elif kind == "sync" and int(words[0]) in self.folders:
            folder = self.folders[int(words[0])]
            for change in self.waiting:
                if os.path.dirname(change[1]) == folder:
                    _change(self.names, change)
            self.waiting = [change for change in self.waiting if os.path.dirname(change[1]) != folder]
        elif kind == "sync":
            self.sure[int(words[0])] = self.seen[int(words[0])]
        elif kind in ("rename", "unlink"):
            self.waiting.append((kind, *words))
            self.folders = {
                number: words[1] if kind == "rename" and path == words[0] else path
                for number, path in self.folders.items()
            }

    def _leading_to(self, path: str) -> list[tuple[str, ...]]:
        """The changes that have to do with a path, or with one that it may come from."""
        wanted, found = {path}, []
        for change in reversed(self.waiting):
            if any(_touches(each, name) for each in change[1:] for name in wanted):
                found.append(change)
                if change[0] == "rename":
                    wanted |= {change[1] + name[len(change[2]) :] for name in wanted if _touches(change[2], name)}
        return found[::-1]

    def contents(self, path: str) -> set[bytes | None]:
        """What may be found at a path; None: nothing."""
        found: set[bytes | None] = set()
        waiting = self._leading_to(path)
        tried = waiting[-_MOST:]
        for chosen in itertools.product((False, True), repeat=len(tried)):
            names = dict(self.names)
            for change in waiting[:-_MOST]:
                _change(names, change)
            for change, happened in zip(tried, chosen, strict=True):
                if happened:
                    _change(names, change)
            if path not in names:
                found.add(None)
                continue
            seen = self.seen[names[path]]
            found |= {seen, self.sure[names[path]]}
            if seen != self.sure[names[path]]:
                found.add(seen[: len(seen) // 2])
        return found


def _touches(change: str, path: str) -> bool:
    return path == change or path.startswith(change + "/")


def _change(names: Names, change: tuple[str, ...]) -> None:
    kind, path, *more = change
    if kind == "create":
        names[path] = int(more[0])
    elif kind == "unlink":
        names.pop(path, None)
    else:  # a file, or a folder with all that is in it
        for name in [name for name in names if name == path or name.startswith(path + "/")]:
            names[more[0] + name[len(path) :]] = names.pop(name)


def iter_log(log: bytes) -> Iterator[tuple[str, list[str], bytes]]:
    """The calls that the shim has written down."""
    at = 0
    while at < len(log):
        end = log.index(b"\n", at)
        kind, _, rest = log[at:end].decode().partition(" ")
        at, data = end + 1, b""
        words = rest.split("\t") if kind in ("rename", "unlink") else rest.split(" ", 1)
        if kind == "write":
            words = rest.split(" ")
            data = log[at : at + int(words[2])]
            at += int(words[2])
        yield kind, words, data
