"""Snapshots of the fold, so that a restart need not begin at the first example.

Invariant: a snapshot is only used if the log holds the very examples that it has learned. It is whole or not there.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import Any

import numpy as np

from rosenblatt.errors import ModelError
from rosenblatt.models.container import read_container, write_container
from rosenblatt.service.fold import Fold, Follower
from rosenblatt.service.log import Log
from rosenblatt.service.progress import Progress
from rosenblatt.service.states import from_bytes, to_bytes

KEPT = 2


class Snapshots:
    """The snapshots beside a log."""

    def __init__(self, log: Log) -> None:
        self.folder = f"{log.path}.snapshots"

    def save(self, fold: Fold, log: Log) -> str:
        """Write what was learned so far; the oldest ones go."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        path = os.path.join(self.folder, f"{fold.seq:016d}.snapshot")
        header = {"log": log.id, "fold": fold.to_json(), "names": list(fold.followers)}
        tensors = {
            f"state.{at}": np.frombuffer(to_bytes(each.learner), np.uint8)
            for at, each in enumerate(fold.followers.values())
        }
        write_container(path, "snapshot", header, tensors)
        for old in self.paths()[KEPT:]:
            with suppress(OSError):
                os.remove(old)
        return path

    def paths(self) -> list[str]:
        """The newest first."""
        with suppress(OSError):
            names = [name for name in os.listdir(self.folder) if re.fullmatch(r"\d{16}\.snapshot", name)]
            return [os.path.join(self.folder, name) for name in sorted(names, reverse=True)]
        return []

    def newest(self, log: Log, until: int | None = None) -> tuple[dict[str, Any], dict[str, Follower]] | None:
        """The facts and learners of the newest snapshot, up to a number, that this log bears out, if there is one."""
        for path in self.paths():
            try:
                header, tensors = read_container(path, "snapshot")
                facts = header["fold"]
                if until is not None and facts["seq"] > until:
                    continue
                if header["log"] != log.id or log.chain_at(facts["seq"]) != bytes.fromhex(facts["chain"]):
                    continue
                found = {}
                for at, name in enumerate(header["names"]):
                    learner = from_bytes(tensors[f"state.{at}"].tobytes())
                    found[name] = Follower(name, learner, Progress.from_json(facts["progress"][name]))
                return facts, found
            except (ModelError, OSError, KeyError, TypeError, ValueError):
                continue  # a snapshot only saves time: an older one, or the log alone, does as well
        return None
