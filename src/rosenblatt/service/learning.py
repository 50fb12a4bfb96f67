"""Log, fold, snapshots and what is published, kept in step.

Invariant: only one thread calls this at a time. `published` is the only thing that others read.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

import msgspec

from rosenblatt.models.model import Model, model_of
from rosenblatt.service.fold import Fold
from rosenblatt.service.log import Entry, Log
from rosenblatt.service.messages import Examples, Learnt
from rosenblatt.service.predictions import Remembered
from rosenblatt.service.published import Published, nothing
from rosenblatt.service.rows import Features, Form
from rosenblatt.service.snapshots import Snapshots

EXAMPLES = msgspec.json.Decoder(Examples)
ENCODER = msgspec.json.Encoder()
PUBLISH_SECONDS = 0.1
REMEMBER_SECONDS = 1.0
PUBLISH_EXAMPLES = 10_000
SNAPSHOT_SECONDS = 60.0
SNAPSHOT_EXAMPLES = 200_000


class Learning:
    """What the writer works on.

    Parameters
    ----------
    log : Log
    fold : Fold
        That has learned what a snapshot held, or nothing.
    form : Form
        How rows are read.
    keys : int
        How many keys are remembered.
    remembered : Remembered
        The predictions that may get feedback.
    every : int
        Examples from one snapshot to the next, at the most.
    """

    def __init__(
        self, log: Log, fold: Fold, form: Form, keys: int, remembered: Remembered, every: int = SNAPSHOT_EXAMPLES
    ) -> None:
        self.log, self.fold, self.form, self._keys = log, fold, form, keys
        self.remembered, self._every = remembered, every
        self.snapshots = Snapshots(log)
        self.snapshot_seq = fold.seq
        self.complaint = ""  # why the last snapshot failed
        self.published: Published = nothing()
        self._replies: dict[int, bytes] = {}
        self._in_order, self._ordered = True, 0
        self._published_at = self._snapshot_at = self._remembered_at = time.monotonic()
        self._pause, self._rest = PUBLISH_SECONDS, 0.0

    # -- learning

    def take(
        self, entry: Entry, rows: Sequence[Features], labels: Sequence[Any], weights: Sequence[float] | None
    ) -> tuple[list[Any], list[bool]]:
        """Learn a stored entry."""
        found = self.fold.take(rows, labels, weights)
        self.fold.chain = entry.chain
        self.form.names = names_of(self.fold)  # a new class may have brought a learner other ones
        return found

    def rows_of(self, entry: Entry) -> list[Features]:
        """The features of an entry's examples, as they are stored."""
        return read_entry(entry, self.form)[0]

    def catch_up(self, until: int | None = None) -> None:
        """Learn what the log holds beyond what was learned."""
        keyed = self.log.keyed_after(self.fold.seq)
        for entry in self.log.entries(self.fold.seq, until):
            predicted, mistaken = self.take(entry, *read_entry(entry, self.form))
            if entry.seq in keyed:
                reply = Learnt(entry.seq, entry.last, sum(mistaken), predicted, mistaken)
                self.keep_reply(entry.seq, ENCODER.encode(reply))

    def keep_reply(self, seq: int, reply: bytes) -> None:
        """To be stored with the next commit."""
        self._replies[seq] = reply

    def reply_to(self, seq: int) -> bytes:
        """A reply that is not stored yet; without it, at least the numbers."""
        found = self._replies.get(seq)
        if found is None:
            entry = next(self.log.entries(seq - 1, seq), None)
            found = ENCODER.encode(Learnt(seq, seq if entry is None else entry.last, 0, [], []))
        return found

    def waiting_replies(self) -> list[tuple[int, bytes]]:
        """The replies to go with a commit; too many of them wait for a snapshot."""
        return list(self._replies.items()) if len(self._replies) <= 2000 else []

    def drop_replies(self, stored: Sequence[tuple[int, bytes]]) -> None:
        """These are on disk."""
        for seq, _ in stored:
            del self._replies[seq]

    # -- from time to time

    def due_in(self) -> float:
        """Seconds until something may have to be done even if nothing comes."""
        if self.published.seq != self.fold.seq:
            return max(0.0, self._published_at + self._pause - time.monotonic())
        if self.remembered.has_news:
            return max(0.05, self._remembered_at + REMEMBER_SECONDS - time.monotonic())
        if self.snapshot_seq != self.fold.seq:
            return max(0.05, self._snapshot_at + SNAPSHOT_SECONDS - time.monotonic())
        return REMEMBER_SECONDS

    def keep_up(self) -> None:
        """Publish and snapshot, if it is time."""
        now = time.monotonic()
        unread = self.fold.seq - self.published.seq
        if unread and (now - self._published_at >= self._pause or unread >= PUBLISH_EXAMPLES):
            self.publish()
        if self.remembered.has_news and now - self._remembered_at >= REMEMBER_SECONDS:
            self._remember()
        unsaved = self.fold.seq - self.snapshot_seq
        since = now - self._snapshot_at
        if unsaved and (since >= SNAPSHOT_SECONDS or (unsaved >= self._every and since >= self._rest)):
            self.snapshot()

    def publish(self) -> None:
        """What was learned so far is what answers."""
        begun = time.monotonic()
        learner = self.fold.answering.learner
        if learner.has_learned:
            reading, names = learner.learned.reading(), self.form.names
            self._check_order()
            self.published = Published(
                reading.classes,
                reading.predictors,
                names,
                len(names),
                self.fold.seq,
                in_order=self._in_order,
            )
        else:
            self.published = nothing()
        self._published_at = time.monotonic()
        # Of very many weights a copy takes its time: it is made so rarely that nine tenths are left for learning.
        self._pause = max(PUBLISH_SECONDS, 10 * (self._published_at - begun))

    def snapshot(self) -> None:
        """Save what was learned so far. The log is in its main file before, so that it never lags behind."""
        begun = time.monotonic()
        try:
            self.log.settle(list(self._replies.items()), self._keys)
            self._replies = {}
            self.snapshots.save(self.fold, self.log)
            self.snapshot_seq, self.complaint = self.fold.seq, ""
        finally:  # whether it could be saved or not, nine tenths of the time are left for learning
            self._snapshot_at = time.monotonic()
            self._rest = 10 * (self._snapshot_at - begun)

    def put_off(self, why: str) -> None:
        """A snapshot failed: it is tried again later, and the log holds everything meanwhile."""
        self.complaint = why

    def finish(self) -> None:
        """Before the end."""
        self._remember()
        if self.snapshot_seq != self.fold.seq or self._replies:
            self.snapshot()
        self.complaint = ""

    def _remember(self) -> None:
        """Store the predictions that may get feedback."""
        self._remembered_at = time.monotonic()
        new, gone = self.remembered.take_news()
        if not new and not gone:
            return
        try:
            self.log.remember(new, gone)
        except sqlite3.Error:
            self.remembered.put_back(new, gone)
            raise

    def promote(self, name: str) -> None:
        """From now on another learner answers."""
        self.snapshot()
        self.log.serve(name)
        self.fold.served = name
        self.form.names = names_of(self.fold)
        self._in_order, self._ordered = True, 0
        self.publish()

    def model(self) -> Model:
        """What was learned so far, as a model."""
        learner = self.fold.answering.learner
        return model_of(learner, encoder=self.form.encoder, state=True)

    def _check_order(self) -> None:
        """Are the features numbers in the order of their columns? Only new ones are looked at."""
        names = self.form.names
        if self._in_order and len(names) > self._ordered:
            new = islice(names.items(), self._ordered, None)
            self._in_order = all(type(name) is int and name == column for name, column in new)
            self._ordered = len(names)


def read_entry(entry: Entry, form: Form) -> tuple[list[Features], list[Any], list[float] | None]:
    """The examples of a stored entry."""
    found = EXAMPLES.decode(entry.examples)
    form.begin(bool(found.rows) and isinstance(found.rows[0], list))
    return form.features_of(found.rows, stored=True), found.labels, found.weights


def names_of(fold: Fold) -> dict[Any, int]:
    """The columns of the answering learner's features; it goes on adding to them."""
    learner = fold.answering.learner
    if not learner.has_learned:
        return {}
    names: dict[Any, int] = learner.columns_by_name()
    return names
