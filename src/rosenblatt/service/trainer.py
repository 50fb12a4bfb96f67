"""The one thread that validates, stores, learns and publishes: many requests per commit, then learned in log order.

Invariant: what is learned is what is stored. After an error the log is read again, and what it holds is learned. A
client that hangs up does not reach this thread. `predictor` is all that other threads read.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import math
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
from rosenblatt.learners.weights import SAFE
from rosenblatt.service.config import SNAPSHOT_EXAMPLES, ServiceLimits
from rosenblatt.service.decoding import Features, RowSchema
from rosenblatt.service.errors import HTTPError, unavailable
from rosenblatt.service.event_log import Entry, EventLog
from rosenblatt.service.online_model import OnlineModel, save_snapshot
from rosenblatt.service.predictor import Predictor
from rosenblatt.service.schemas import Examples, FeedbackRequest, LearnReply

GROUP_JOBS, GROUP_BYTES = 1024, 1 << 20  # of requests per commit
GROUP_COMMIT_DELAY = 0.01  # seconds for which a commit waits for more requests, at most
PUBLISH_SECONDS, SNAPSHOT_SECONDS = 0.1, 60.0
MAX_WAITERS = 256  # requests that wait for min_seq
STORAGE_ERRORS = (sqlite3.Error, OSError, RosenblattError)
_ENCODER, _EXAMPLES = msgspec.json.Encoder(), msgspec.json.Decoder(Examples)


@dataclass(eq=False, slots=True)
class Job:
    """A request: examples to learn (`decode` gives them), predictions to store, or a function to call."""

    future: asyncio.Future[Any]
    size: int = 0
    decode: Callable[[], Examples] | None = None
    key: str | None = None
    predictions: Sequence[tuple[str, float, bytes]] = ()
    run: Callable[[], Any] | None = None
    examples: Any = None
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

    loop: asyncio.AbstractEventLoop | None = None  # set before the thread is started

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
        self.lineage = {"log": log.id, **json.loads(log.record.lineage)}
        self.commits, self.commit_seconds = 0, 0.0
        self.snapshot_seq, self._snapshot_every = model.seq, snapshot_every
        self._snapshot_at, self._snapshot_cost = time.monotonic(), 0.0
        self._queue: queue.SimpleQueue[Job | str] = queue.SimpleQueue()
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._stopping = False
        self._last_jobs, self._last_seconds = 1, 0.0  # of the latest commit
        self._aligned, self._aligned_columns = True, 0
        self.catch_up(verified=None)
        self.publish()

    # -- on the event loop's thread

    def submit(self, **job: Any) -> asyncio.Future[Any]:
        """Process a job; the future gets its result when it is on disk and learned."""
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
        waiter = seq, asyncio.get_running_loop().create_future()
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

    @staticmethod
    def _deliver(jobs: Sequence[Job]) -> None:
        for job in jobs:
            if not job.future.done():  # else the client has gone; what it sent is learned all the same
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
                if jobs := self._collect():
                    self._process(jobs)
                    self._on_loop(self._deliver, jobs)
                self._run_periodic()
            if self.snapshot_seq != self.model.seq:
                self.snapshot()
            left = [job for _ in range(self._queue.qsize()) if isinstance(job := self._queue.get_nowait(), Job)]
            for job in left:
                job.error = unavailable("the server is stopping")
            self._on_loop(self._deliver, left)
        except BaseException:  # what is stored is safe, what is learned is in doubt: the next start learns it again
            traceback.print_exc()
            os._exit(70)

    def _collect(self) -> list[Job]:
        """At least one job, unless something is due before.

        Clients that were answered together send again together. A commit waits for as many requests as the latest one
        had, but never longer than that one took: on a slow disk this doubles the rate.
        """
        jobs: list[Job] = []
        size, until, wait = 0, 0.0, min(SNAPSHOT_SECONDS, *self._seconds_until_due())
        with contextlib.suppress(queue.Empty):
            while True:
                found = self._queue.get(timeout=max(0.0, wait))
                if found == "stop":
                    self._stopping = True
                    break
                if isinstance(found, Job):
                    jobs.append(found)
                    size += found.size
                    # A call sees what came before it, and nothing of what comes after.
                    if found.run is not None or size >= GROUP_BYTES or len(jobs) >= GROUP_JOBS:
                        break
                now = time.perf_counter()
                until = until or now + min(GROUP_COMMIT_DELAY, self._last_seconds)
                wait = until - now if 0 < len(jobs) < self._last_jobs else 0.0
        return jobs

    def _process(self, jobs: list[Job]) -> None:
        """Validate, store and learn; the last job may be a call."""
        call = jobs.pop() if jobs[-1].run is not None else None
        if jobs:
            try:
                if self.storage_error:
                    self._reopen()
                self._commit(self._validated(jobs))
            except STORAGE_ERRORS as error:
                self._fail(jobs, error)
        if call is not None and call.run is not None:
            try:
                call.result = call.run()
            except Exception as error:
                call.error = error
            jobs.append(call)

    def _commit(self, jobs: list[Job]) -> None:
        """Store and learn what is new; a repeated Idempotency-Key gets the numbers of the first request."""
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
            first, last, digest = known[str(job.key)]
            if digest == job.digest:
                job.result = _ENCODER.encode(LearnReply(first, last, repeated=True))
            else:
                job.error = HTTPError(409, f"the Idempotency-Key {job.key!r} was used with other examples")

    def _append(self, jobs: list[Job]) -> None:
        begun, skipped = time.perf_counter(), self.model.skipped
        learning = [job for job in jobs if job.examples is not None]
        requests = [(len(job.features), time.time(), job.stored, job.key, job.digest) for job in learning]
        entries = self.log.append(requests, [each for job in jobs for each in job.predictions])
        self._last_jobs, self._last_seconds = len(jobs), time.perf_counter() - begun
        self.commit_seconds += self._last_seconds
        self.commits += 1
        for job, entry in zip(learning, entries, strict=True):
            predicted, mistaken = self.model.learn(entry, job.features, job.examples)
            job.result = _ENCODER.encode(LearnReply(entry.seq, entry.last, sum(mistaken), predicted, mistaken))
        self.schema.use(self.model.names)
        self._report_skipped(skipped)

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
        model, skipped = self.model, self.model.skipped
        for entry in self.log.entries(model.seq, verified=verified):
            rows, examples = read_entry(entry, self.schema)
            try:
                self._check_memory(len(self._new_names(rows)), len(model.new_labels(examples.labels)))
                model.learn(entry, rows, examples)
            except HTTPError as error:
                model.skip(entry, error.message)
            self.schema.use(model.names)
        self._report_skipped(skipped)

    def _report_skipped(self, before: int) -> None:
        if count := self.model.skipped - before:
            print(
                f"rosenblatt: {count} examples were not learned; {self.model.skip_reason}", file=sys.stderr, flush=True
            )

    # -- validation

    def _validated(self, jobs: list[Job]) -> list[Job]:
        """The jobs that can be stored and learned; the others get their error."""
        names: set[Any] = set()  # new in this group
        labels: set[Any] = set()
        for job in jobs:
            try:
                if job.decode is not None:
                    self._validate(job, job.decode(), names, labels)
            except HTTPError as error:
                job.error = error
        return [job for job in jobs if job.error is None]

    def _validate(self, job: Job, examples: Examples, group_names: set[Any], group_labels: set[Any]) -> None:
        limits, rows = self.limits, self.schema.features(examples.rows)
        names = self._new_names(rows) - group_names
        labels = self.model.new_labels(examples.labels) - group_labels
        self._check_labels(examples.labels, labels, group_labels)
        features = len(self.schema.names) + len(group_names) + len(names)
        if names and features > limits.features and self.schema.encoder is None:
            most = f"the model can have {limits.features:,} features"
            raise HTTPError(422, f"{most}, and these rows would bring it to {features:,}")
        for name in names:
            if isinstance(name, str) and len(name) > limits.name // 4 and len(name.encode()) > limits.name:
                raise HTTPError(422, f"the feature {name[:50]!r}… has a name of more than {limits.name:,} bytes")
        if names or labels:
            self._check_memory(len(group_names) + len(names), len(group_labels) + len(labels))
        if len(rows) * (limits.name + 10) > limits.reply:
            longest = max((len(str(label)) for label in self.model.classes), default=0)
            if len(rows) * (longest + 10) > limits.reply:
                raise HTTPError(413, f"the reply would have more than {limits.reply:,} bytes: send fewer rows")
        self._check_weights(rows, examples.weights or ())
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
        classes, count = self.model.classes, len(self.model.classes) + len(new) + len(group)
        known = next(iter(classes or group or labels))
        for label in labels:
            if _kind(label) is not _kind(known):
                raise HTTPError(422, f"the label {label!r} has another type than {str(known)[:50]!r}")
        for label in new:
            if isinstance(label, str) and len(label.encode()) > self.limits.name:
                raise HTTPError(422, f"the label {label[:50]!r}… has more than {self.limits.name:,} bytes")
            if (isinstance(label, str) and "\0" in label) or (isinstance(label, int) and abs(label) >= 2**63):
                raise HTTPError(422, f"{label!r} cannot be a label"[:200])
        if new and count > self.limits.classes:
            raise HTTPError(422, f"the model can have {self.limits.classes:,} classes; {str(min(new))[:100]!r} is new")
        try:
            self.model.learner.params().check_classes(count)
        except ParameterError as error:
            raise HTTPError(422, str(error)) from None

    def _check_memory(self, names: int, labels: int) -> None:
        """Raise if the model would have too many weights, or more than fit into memory."""
        features = len(self.schema.names) + (0 if self.schema.encoder is not None else names)
        classes = len(self.model.classes) + labels
        weights = features * (1 if classes <= 2 else classes)
        if names + labels and weights > self.limits.weights:
            most = f"the model can have {self.limits.weights:,} weights"
            raise HTTPError(422, f"{most}, and {features:,} features for {classes:,} classes need {weights:,}")
        # A learner has up to three arrays, with room for twice the features when they grow, and is copied to publish.
        needed = 64 * weights
        if names + labels and needed > 64 << 20 and 0 < free_memory() < needed:
            raise HTTPError(422, f"{weights:,} weights need {needed >> 20:,} MB of memory, and less is free")

    def _check_weights(self, rows: Sequence[Features], weights: Sequence[float]) -> None:
        rule = self.model.learner.params().update_rule if weights else None
        for at, (row, weight) in enumerate(zip(rows, weights, strict=False)):
            largest = max(map(abs, row.values()), default=0.0) * max(rule.eta0, rule.C)  # type: ignore[union-attr]
            if not math.isfinite(weight) or (weight != 1.0 and weight * largest > SAFE[8]):
                raise HTTPError(422, f"row {at}: its weight times its values is too large to learn from")

    def feedback(self, request: FeedbackRequest) -> Examples:
        """The example of a stored prediction and its label."""
        row = self.log.prediction(request.id)
        if row is None:
            raise HTTPError(404, f"there is no prediction {request.id!r}, or it was made too long ago")
        return Examples(
            [msgspec.json.decode(row)], [request.label], None if request.weight == 1.0 else [request.weight]
        )

    # -- from time to time

    def _seconds_until_due(self) -> tuple[float, float]:
        """Until the next copy is published and the next snapshot saved; nine tenths of the time are for learning."""
        now, unsaved = time.monotonic(), self.model.seq - self.snapshot_seq
        pause = max(0.0 if self._waiters else PUBLISH_SECONDS, 10 * self._publish_cost)
        publish = self._published_at + pause - now if self.predictor.seq != self.model.seq else math.inf
        rest = 10 * self._snapshot_cost if unsaved >= self._snapshot_every else SNAPSHOT_SECONDS
        return publish, self._snapshot_at + rest - now if unsaved else math.inf

    def _run_periodic(self) -> None:
        publish, snapshot = self._seconds_until_due()
        if publish <= 0:
            self.publish()
        if snapshot <= 0:
            self.snapshot()

    def publish(self) -> None:
        """What is learned so far predicts from now on."""
        begun, learner, names, seq = time.monotonic(), self.model.learner, self.schema.names, self.model.seq
        classes, parts = np.empty(0, dtype="U1"), ()
        if learner.has_learned:
            reading = learner.learned.reading()
            classes, parts = reading.classes, reading.predictors
        if self._aligned and len(names) > self._aligned_columns:  # only new features are looked at
            added = islice(names.items(), self._aligned_columns, None)
            self._aligned = self.schema.encoder is None and all(name == column for name, column in added)
            self._aligned_columns = len(names)
        self.predictor = Predictor(self.schema, classes, parts, names, len(names), seq, columns_aligned=self._aligned)
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
        self._snapshot_at = time.monotonic()
        self._snapshot_cost = self._snapshot_at - begun

    def _on_loop(self, run: Callable[..., None], *arguments: Any) -> None:
        if self.loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits
                self.loop.call_soon_threadsafe(run, *arguments)


def read_entry(entry: Entry, schema: RowSchema) -> tuple[list[Features], Examples]:
    """The examples of a stored entry."""
    examples = _EXAMPLES.decode(entry.examples)
    if schema.positional is None:
        schema.positional = isinstance(examples.rows[0], list)
    return schema.features(examples.rows, stored=True), examples


def _kind(label: Any) -> type:
    """Text, booleans or numbers: 1 == True, but they are different labels."""
    return type(label) if isinstance(label, str | bool) else int
