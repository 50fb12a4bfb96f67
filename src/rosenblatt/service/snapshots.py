"""Snapshots of an online model, so that a restart need not begin at the first example.

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
from rosenblatt.service.event_log import EventLog
from rosenblatt.service.online_model import OnlineModel, learner_from_bytes, learner_to_bytes

NUMBER = 2  # of snapshots beside a log


def save_snapshot(model: OnlineModel, log: EventLog) -> None:
    """Write what is learned so far; remove the oldest snapshots."""
    folder = _folder(log)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    state = np.frombuffer(learner_to_bytes(model.learner), np.uint8)
    path = os.path.join(folder, f"{model.seq:016d}.snapshot")
    write_container(path, "snapshot", {"log": log.id, "model": model.dump()}, {"state": state})
    for old in _paths(log)[NUMBER:]:
        with suppress(OSError):
            os.remove(old)


def load_snapshot(log: EventLog, encoder: Any) -> OnlineModel | None:
    """The newest snapshot that belongs to this log."""
    for path in _paths(log):
        try:
            header, tensors = read_container(path, "snapshot")
            known = header["model"]
            if header["log"] != log.id or log.chain_at(known["seq"]) != bytes.fromhex(known["hash_chain"]):
                continue
            return OnlineModel.load(known, learner_from_bytes(tensors["state"].tobytes()), encoder)
        except (ModelError, OSError, KeyError, TypeError, ValueError):
            continue  # a snapshot only saves time: an older one, or the log alone, does as well
    return None


def _folder(log: EventLog) -> str:
    return f"{log.path}.snapshots"


def _paths(log: EventLog) -> list[str]:
    """The newest first."""
    with suppress(OSError):
        names = [name for name in os.listdir(_folder(log)) if re.fullmatch(r"\d{16}\.snapshot", name)]
        return [os.path.join(_folder(log), name) for name in sorted(names, reverse=True)]
    return []
