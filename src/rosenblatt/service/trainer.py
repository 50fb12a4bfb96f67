"""The one thread that validates, stores, learns and publishes: many requests per commit, then learned in log order.

Invariant: what is learned is what is stored. After an error the log is read again, and what it holds is learned. A
client that hangs up does not reach this thread. `predictor` is all that other threads read.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import queue
import sqlite3
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec
import numpy as np

from rosenblatt.data.table import free_memory
from rosenblatt.errors import ParameterError, RosenblattError
from rosenblatt.learners.spaces import SAFE
from rosenblatt.learners.targets import check_weight
from rosenblatt.service.config import SNAPSHOT_EXAMPLES, ServiceLimits
from rosenblatt.service.decoding import Features, RowSchema
from rosenblatt.service.errors import HTTPError, unavailable
from rosenblatt.service.event_log import Entry, EventLog
from rosenblatt.service.online_model import OnlineModel
from rosenblatt.service.predictor import Predictor
from rosenblatt.service.schemas import Examples, FeedbackRequest, LearnReply
from rosenblatt.service.snapshots import save_snapshot

GROUP_JOBS, GROUP_BYTES = 1024, 1 << 20  # of requests per commit
GROUP_COMMIT_DELAY = 0.01  # seconds for which a commit waits for more requests, at most
PUBLISH_SECONDS, PUBLISH_EXAMPLES = 0.1, 10_000
SNAPSHOT_SECONDS = 60.0
MAX_WAITERS = 256  # requests that wait for min_seq
STORAGE_ERRORS = (sqlite3.Error, OSError, RosenblattError)
_ENCODER = msgspec.json.Encoder()
_EXAMPLES = msgspec.json.Decoder(Examples)
_KINDS = {str: "text", bool: "booleans", int: "whole numbers"}


@dataclass(eq=False, slots=True)
class Job:
    """A request: examples to learn (`decode` gives them), predictions to store, or a function to call."""

    future: asyncio.Future[Any]
    size: int = 0
    decode: Callable[[], Examples] | None = None
    key: str | None = None
    predictions: Sequence[tuple[str, float, bytes]] = ()
    run: Callable[[], Any] | None = None
    examples: Examples | None = None
    features: Sequence[Features] = ()
    stored: bytes = b""
    digest: bytes = b""
    result: Any = None
    error: Exception | None = None


class Trainer(threading.Thread):
    """Validates, commits, learns and publishes.

    Parameters
    ----------
    log : EventLog
    model : OnlineModel
        Used by this thread only once it runs, as is the log.
    schema : RowSchema
    limits : ServiceLimits
    snapshot_every : int
        Examples from one snapshot to the next, at most.
    """

    def __init__(
        self,
        log: EventLog,
        model: OnlineModel,
        schema: RowSchema,
        limits: ServiceLimits,
        snapshot_every: int = SNAPSHOT_EXAMPLES,
    ) -> None:
        super().__init__(name="trainer", daemon=True)
        self.log, self.model, self.schema, self.limits = log, model, schema, limits
        self.storage_error = self.snapshot_error = ""
        self.snapshot_seq, self._snapshot_every = model.seq, snapshot_every
        self.lineage = {"log": log.id, **json.loads(log.record.lineage)}
        self.commits, self.commit_seconds = 0, 0.0
        self.loop: asyncio.AbstractEventLoop | None = None
        self._queue: queue.SimpleQueue[Job | str] = queue.SimpleQueue()
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._stopping = False
        self._last_jobs, self._last_seconds = 1, 0.0  # of the latest commit
        self._aligned, self._aligned_columns = True, 0
        rule = model.learner.params().update_rule
        self._longest_step = max(rule.eta0, rule.C)
        self._snapshot_at, self._snapshot_cost = time.monotonic(), 0.0
        self.catch_up(verified=None)
        self.publish()

    # -- on the event loop's thread

    def submit(self, decode: Callable[[], Examples], size: int, key: str | None = None) -> asyncio.Future[bytes]:
        """Learn; the future gets the reply when the examples are on disk and learned."""
        return self._put(size=size, decode=decode, key=key)

    def store(self, predictions: Sequence[tuple[str, float, bytes]]) -> asyncio.Future[None]:
        """Store the ids, times and rows of predictions for feedback."""
        return self._put(size=sum(len(row) for _, _, row in predictions), predictions=predictions)

    def call(self, run: Callable[[], Any]) -> asyncio.Future[Any]:
        """Call a function in this thread, between two commits."""
        return self._put(run=run)

    def _put(self, **job: Any) -> asyncio.Future[Any]:
        assert self.loop is not None
        found = Job(self.loop.create_future(), **job)
        self._queue.put(found)
        return found.future

    async def wait_for(self, seq: int) -> None:
        """Wait until the predictor includes example `seq`. It is published at its own pace, however many wait."""
        if self.predictor.seq >= seq:
            return
        if self.log.last < seq:
            raise HTTPError(422, f"min_seq={seq}: the last example has the number {self.log.last}")
        if len(self._waiters) >= MAX_WAITERS:
            raise unavailable("too many requests wait for min_seq")
        assert self.loop is not None
        waiter = seq, self.loop.create_future()
        self._waiters.append(waiter)
        self._queue.put("publish")
        try:
            async with asyncio.timeout(self.limits.seconds):
                await waiter[1]
        finally:
            self._waiters.remove(waiter)

    def stop(self) -> None:
        """Learn everything that was accepted, save a snapshot and end."""
        self._queue.put("stop")

    def _deliver(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            if job.future.done():  # the client has gone; what it sent is learned all the same
                continue
            if job.error is not None:
                job.future.set_exception(job.error)
            else:
                job.future.set_result(job.result)

    def _wake(self) -> None:
        for seq, future in self._waiters:
            if seq <= self.predictor.seq and not future.done():
                future.set_result(None)

    # -- on this thread

    def run(self) -> None:
        try:
            while not self._stopping:
                jobs = self._collect()
                if jobs:
                    self._process(jobs)
                    self._on_loop(self._deliver, jobs)
                self._run_periodic()
            self._shutdown()
        except BaseException:  # what is stored is safe, what is learned is in doubt: the next start learns it again
            traceback.print_exc()
            os._exit(70)

    def _collect(self) -> list[Job]:
        """At least one job, unless something is due before.

        Clients that were answered together send again together. A commit waits for as many requests as the latest one
        had, but never longer than that one took: on a slow disk this doubles the rate.
        """
        jobs: list[Job] = []
        size, until = 0, None
        try:
            found = self._queue.get(timeout=self._seconds_until_due())
            while True:
                if found == "stop":
                    self._stopping = True
                elif isinstance(found, Job):
                    jobs.append(found)
                    size += found.size
                    if found.run is not None:
                        break  # it sees what came before it, and nothing of what comes after
                if size >= GROUP_BYTES or len(jobs) >= GROUP_JOBS or self._stopping:
                    break
                if not self._queue.empty() or len(jobs) >= self._last_jobs or not jobs:
                    found = self._queue.get_nowait()
                    continue
                now = time.perf_counter()
                until = now + min(GROUP_COMMIT_DELAY, self._last_seconds) if until is None else until
                found = self._queue.get(timeout=max(0.0, until - now))
        except queue.Empty:
            pass
        return jobs

    def _process(self, jobs: list[Job]) -> None:
        """Validate, store and learn; the last job may be a call."""
        last = jobs[-1] if jobs[-1].run is not None else None
        if requests := [job for job in jobs if job.run is None]:
            try:
                if self.storage_error:
                    self._reopen()
                self._commit(self._validated(requests))
            except STORAGE_ERRORS as error:
                self._fail(requests, error)
        if last is not None and last.run is not None:
            try:
                last.result = last.run()
            except (sqlite3.Error, OSError) as error:
                last.error = unavailable(f"cannot be stored: {self.storage_error or error}", 5)
            except Exception as error:
                last.error = error

    def _commit(self, jobs: list[Job]) -> None:
        keys = [job.key for job in jobs if job.key is not None]
        used = set(self.log.known_keys(keys)) if keys else set()
        new: list[Job] = []
        repeated: list[Job] = []
        for job in jobs:
            (repeated if job.key in used else new).append(job)
            if job.key is not None:
                used.add(job.key)
        if new:
            self._append(new)
        known = self.log.known_keys(keys) if repeated else {}
        for job in repeated:
            first, last, digest = known[job.key or ""]
            if digest != job.digest:
                job.error = HTTPError(409, f"the Idempotency-Key {job.key!r} was used with other examples")
            else:
                job.result = _ENCODER.encode(LearnReply(first, last, repeated=True))

    def _append(self, new: list[Job]) -> None:
        """Store, then learn."""
        begun = time.perf_counter()
        learning = [job for job in new if job.examples is not None]
        requests = [(len(j.examples.labels), time.time(), j.stored, j.key, j.digest) for j in learning]  # type: ignore[union-attr]
        entries = self.log.append(requests, [each for job in new for each in job.predictions])
        self._last_jobs, self._last_seconds = len(new), time.perf_counter() - begun
        self.commit_seconds += self._last_seconds
        self.commits += 1
        skipped = self.model.skipped
        for job, entry in zip(learning, entries, strict=True):
            assert job.examples is not None
            predicted, mistaken = self._learn(entry, job.features, job.examples)
            job.result = _ENCODER.encode(LearnReply(entry.seq, entry.last, sum(mistaken), predicted, mistaken))
        self.schema.use(self.model.names)  # a new class gives the learner a new dict
        if self.model.skipped > skipped:
            print(f"rosenblatt: not learned: {self.model.skip_reason}", file=sys.stderr, flush=True)

    def _learn(self, entry: Entry, rows: Sequence[Features], examples: Examples) -> tuple[list[Any], list[bool]]:
        found = self.model.learn(rows, examples.labels, examples.weights)
        self.model.hash_chain = entry.hash_chain
        return found

    def _fail(self, jobs: list[Job], error: Exception) -> None:
        """Nothing could be stored, or that is unknown: the log says."""
        self.storage_error = str(error) or type(error).__name__
        with contextlib.suppress(*STORAGE_ERRORS):
            self._reopen()
            self.storage_error = str(error)
        for job in jobs:
            if job.result is None and job.error is None:
                job.error = unavailable(f"the examples cannot be stored: {error}", 5)
        if not self.model.seq:
            self.schema.positional = None
            self.schema.use(self.model.names)

    def _reopen(self) -> None:
        self.log.reopen()
        self.catch_up(verified=self.model.hash_chain)
        self.storage_error = ""

    def catch_up(self, verified: bytes | None) -> None:
        """Learn what the log holds beyond what is learned; pass over what this machine cannot learn."""
        model = self.model
        for entry in self.log.entries(model.seq, verified=verified):
            rows, examples = read_entry(entry, self.schema)
            try:
                self._check_memory(len(self._new_names(rows)), len(model.new_labels(examples.labels)))
                self._learn(entry, rows, examples)
            except HTTPError as error:
                model.skip(entry.count, error.message)
                model.hash_chain = entry.hash_chain
            self.schema.use(model.names)
        if model.skipped:
            print(f"rosenblatt: {model.skipped} examples were not learned; {model.skip_reason}", file=sys.stderr)

    # -- validation

    def _validated(self, jobs: list[Job]) -> list[Job]:
        """The jobs that can be stored and learned; the others get their error."""
        names: set[Any] = set()  # new in this group
        labels: set[Any] = set()
        valid = []
        for job in jobs:
            try:
                if job.decode is not None:
                    self._validate(job, names, labels)
                valid.append(job)
            except HTTPError as error:
                job.error = error
        return valid

    def _validate(self, job: Job, group_names: set[Any], group_labels: set[Any]) -> None:
        assert job.decode is not None
        examples, limits = job.decode(), self.limits
        rows = self.schema.features(examples.rows)
        names = self._new_names(rows) - group_names
        labels = self.model.new_labels(examples.labels) - group_labels
        self._check_labels(examples.labels, labels, group_labels)
        if names or labels:
            features = len(self.schema.names) + len(group_names) + len(names)
            if features > limits.features and self.schema.encoder is None:
                most = f"the model can have {limits.features:,} features"
                raise HTTPError(422, f"{most}, and these rows would bring it to {features:,}")
            for name in names:
                if isinstance(name, str) and len(name) > limits.name // 4 and len(name.encode()) > limits.name:
                    raise HTTPError(422, f"the feature {name[:50]!r}… has a name of more than {limits.name:,} bytes")
            self._check_memory(len(group_names) + len(names), len(group_labels) + len(labels))
        if len(rows) * (limits.name + 10) > limits.reply:
            longest = max((len(str(label)) for label in self.model.classes), default=0)
            if len(rows) * (longest + 10) > limits.reply:
                raise HTTPError(413, f"the reply would have more than {limits.reply:,} bytes: send fewer rows")
        if examples.weights is not None:
            self._check_weights(rows, examples.weights)
        if self.schema.positional is None:
            self.schema.positional = isinstance(examples.rows[0], list)
        examples.rows = self.schema.to_store(examples.rows, rows)
        job.examples, job.features, job.stored = examples, rows, _ENCODER.encode(examples)
        if job.key is not None:
            job.digest = hashlib.blake2b(job.stored, digest_size=16).digest()
        group_names |= names
        group_labels |= labels

    def _new_names(self, rows: Sequence[Features]) -> set[Any]:
        """The names that the model does not know: one look-up per value, however many it knows."""
        known = self.schema.names
        return {name for row in rows if not row.keys() <= known.keys() for name in row if name not in known}

    def _check_labels(self, labels: list[Any], new: set[Any], group: set[Any]) -> None:
        if len({*map(type, labels)}) > 1:  # 1 == True, but they are different labels
            raise HTTPError(422, "the labels of one request must be of one type: text, booleans or whole numbers")
        classes = self.model.classes
        kind = _kind(next(iter(classes or group or labels)))
        if _kind(labels[0]) is not kind:
            raise HTTPError(422, f"the label {labels[0]!r} has another type than the classes, which are {_KINDS[kind]}")
        for label in new:
            if isinstance(label, str) and len(label.encode()) > self.limits.name:
                raise HTTPError(422, f"the label {label[:50]!r}… has more than {self.limits.name:,} bytes")
            if (isinstance(label, str) and "\0" in label) or (isinstance(label, int) and abs(label) >= 2**63):
                raise HTTPError(422, f"{label!r} cannot be a label"[:200])
        count = len(classes) + len(new) + len(group)
        if new and count > self.limits.classes:
            raise HTTPError(422, f"the model can have {self.limits.classes:,} classes; {str(min(new))[:100]!r} is new")
        try:
            if new:
                self.model.learner.params().check_classes(count)
        except ParameterError as error:
            raise HTTPError(422, str(error)) from None

    def _check_memory(self, names: int, labels: int) -> None:
        """Raise if the model would have too many weights, or more than fit into memory."""
        if not names and not labels:
            return
        features = len(self.schema.names) + (0 if self.schema.encoder is not None else names)
        classes = len(self.model.classes) + labels
        weights = features * (1 if classes <= 2 else classes)
        if weights > self.limits.weights:
            most = f"the model can have {self.limits.weights:,} weights"
            raise HTTPError(422, f"{most}, and {features:,} features for {classes:,} classes need {weights:,}")
        # A learner has up to three arrays, with room for twice the features when they grow, and is copied to publish.
        needed = 8 * weights * 8
        if needed > 64 << 20 and 0 < free_memory() < needed:
            raise HTTPError(422, f"{weights:,} weights need {needed >> 20:,} MB of memory, and less is free")

    def _check_weights(self, rows: Sequence[Features], weights: list[float]) -> None:
        for at, (row, weight) in enumerate(zip(rows, weights, strict=True)):
            try:
                check_weight(weight)
            except ValueError as error:
                raise HTTPError(422, f"row {at}: {error}") from None
            if weight != 1.0 and weight * max(map(abs, row.values()), default=0.0) * self._longest_step > SAFE[8]:
                raise HTTPError(422, f"row {at}: its weight times its values is too large to learn from")

    def feedback(self, request: FeedbackRequest) -> Examples:
        """The example of a stored prediction and its label."""
        row = self.log.prediction(request.id)
        if row is None:
            raise HTTPError(404, f"there is no prediction {request.id!r}, or it was made too long ago")
        weights = None if request.weight == 1.0 else [request.weight]
        return Examples([msgspec.json.decode(row)], [request.label], weights)

    # -- from time to time

    def _publish_pause(self) -> float:
        # A copy of very many weights takes time: nine tenths are left for learning.
        return 10 * self._publish_cost if self._waiters else max(PUBLISH_SECONDS, 10 * self._publish_cost)

    def _seconds_until_due(self) -> float:
        now = time.monotonic()
        if self.predictor.seq != self.model.seq:
            return max(0.0, self._published_at + self._publish_pause() - now)
        if self.snapshot_seq != self.model.seq:
            return max(0.05, self._snapshot_at + SNAPSHOT_SECONDS - now)
        return SNAPSHOT_SECONDS

    def _run_periodic(self) -> None:
        """Publish and save a snapshot, if it is time."""
        now = time.monotonic()
        unpublished = self.model.seq - self.predictor.seq
        if unpublished and (now - self._published_at >= self._publish_pause() or unpublished >= PUBLISH_EXAMPLES):
            self.publish()
        unsaved, since = self.model.seq - self.snapshot_seq, now - self._snapshot_at
        rested = since >= 10 * self._snapshot_cost
        if unsaved and (since >= SNAPSHOT_SECONDS or (unsaved >= self._snapshot_every and rested)):
            self.snapshot()

    def publish(self) -> None:
        """What is learned so far predicts from now on."""
        begun, learner, names = time.monotonic(), self.model.learner, self.schema.names
        if learner.has_learned:
            reading = learner.learned.reading()
            if self._aligned and len(names) > self._aligned_columns:  # only new features are looked at
                added = islice(names.items(), self._aligned_columns, None)
                self._aligned = all(type(name) is int and name == column for name, column in added)
                self._aligned_columns = len(names)
            aligned = self._aligned and self.schema.encoder is None
            parts, width = reading.predictors, len(names)
            self.predictor = Predictor(
                self.schema, reading.classes, parts, names, width, self.model.seq, columns_aligned=aligned
            )
        else:
            self.predictor = Predictor(self.schema, np.empty(0, dtype="U1"), (), {}, 0, self.model.seq)
        self._published_at = time.monotonic()
        self._publish_cost = self._published_at - begun
        self._on_loop(self._wake)

    def snapshot(self) -> None:
        """Save what is learned so far. The log is moved into its main file before, so that it never lags behind."""
        begun, limits = time.monotonic(), self.limits
        try:
            self.log.prune(limits.keys, limits.predictions, time.time() - limits.retention)
            save_snapshot(self.model, self.log)
            self.snapshot_seq, self.snapshot_error = self.model.seq, ""
        except STORAGE_ERRORS as error:  # tried again later; the log holds everything meanwhile
            self.snapshot_error = str(error)
        finally:
            self._snapshot_at = time.monotonic()
            self._snapshot_cost = self._snapshot_at - begun

    def _shutdown(self) -> None:
        if self.snapshot_seq != self.model.seq:
            self.snapshot()
        left = []
        while not self._queue.empty():
            if isinstance(job := self._queue.get_nowait(), Job):
                job.error = unavailable("the server is stopping")
                left.append(job)
        self._on_loop(self._deliver, left)

    def _on_loop(self, run: Callable[..., None], *arguments: Any) -> None:
        if self.loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits
                self.loop.call_soon_threadsafe(run, *arguments)


def read_entry(entry: Entry, schema: RowSchema) -> tuple[list[Features], Examples]:
    """The examples of a stored entry."""
    examples = _EXAMPLES.decode(entry.examples)
    if schema.positional is None and schema.encoder is None:
        schema.positional = isinstance(examples.rows[0], list)
    return schema.features(examples.rows, stored=True), examples


def _kind(label: Any) -> type:
    return str if isinstance(label, str) else bool if isinstance(label, bool) else int
