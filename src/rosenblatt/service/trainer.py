"""The one thread that validates, stores, learns and publishes: many requests per commit, then learned in log order.

Invariant: only stored examples are learned. After an error the log is read again, and its new examples are learned. A
client that hangs up does not affect this thread. `predictor` is all that other threads read. A start that fails leaves
no log.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import queue
import sqlite3
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import mul
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.data.table import free_memory
from rosenblatt.errors import DataError, ModelError, ParameterError, RosenblattError
from rosenblatt.learners.base import LinearLearner
from rosenblatt.learners.weights import SAFE
from rosenblatt.models.file import load, sha256_of
from rosenblatt.params import Params, weight_of_class
from rosenblatt.select.loading import revive
from rosenblatt.service.config import SNAPSHOT_EXAMPLES, ServerConfig, ServiceLimits
from rosenblatt.service.decoding import Features, RowSchema
from rosenblatt.service.errors import HTTPError, unavailable
from rosenblatt.service.event_log import EventLog, LearnerRecord
from rosenblatt.service.online_model import OnlineModel, first_model, load_snapshot, new_learner, save_snapshot
from rosenblatt.service.predictor import Predictor
from rosenblatt.service.schemas import ENCODER, Examples, LearnReply, read_examples

GROUP_JOBS, GROUP_BYTES = 1024, 1 << 20  # of requests per commit
GROUP_COMMIT_DELAY = 0.01  # seconds for which a commit waits for more requests, at most
PUBLISH_SECONDS, SNAPSHOT_SECONDS = 0.1, 60.0
STORAGE_ERRORS = (sqlite3.Error, OSError, RosenblattError)


@dataclass(eq=False, slots=True)
class Job:
    """A request: examples to learn (`decode` gives them), or a function to call."""

    future: asyncio.Future[Any]
    size: int = 0
    decode: Callable[[], Examples] | None = None
    key: str | None = None
    run: Callable[[], Any] | None = None
    examples: Any = None
    features: Sequence[Features] = ()
    stored: bytes = b""
    result: Any = None
    error: Exception | None = None


class Trainer(threading.Thread):
    """Validates, commits, learns and publishes.

    Parameters
    ----------
    log : EventLog
    model : OnlineModel
        Used by this thread only once it runs, as is the log.
    limits : ServiceLimits
    snapshot_every : int
        Examples from one snapshot to the next, at most.
    """

    loop: asyncio.AbstractEventLoop | None = None  # set before the thread is started

    def __init__(
        self, log: EventLog, model: OnlineModel, limits: ServiceLimits, snapshot_every: int = SNAPSHOT_EXAMPLES
    ) -> None:
        super().__init__(name="trainer", daemon=True)
        self.log, self.model, self.limits = log, model, limits
        self.schema = RowSchema(model.names, limits, model.encoder)
        self.storage_error = self.snapshot_error = ""
        self.lineage = {"log": log.id, **json.loads(log.record.lineage)}
        self.snapshot_seq, self._snapshot_every = model.progress.seq, snapshot_every
        self._snapshot_at, self._snapshot_cost = time.monotonic(), 0.0
        self._queue: queue.SimpleQueue[Job | str] = queue.SimpleQueue()
        self._published, self._awaited_seq = asyncio.Event(), 0
        self._stopping = False
        self._last_jobs, self._last_seconds = 1, 0.0  # of the latest commit
        self.catch_up()
        self.publish()

    @property
    def seq(self) -> int:
        """The number of the last example that is learned."""
        return self.model.progress.seq

    @property
    def learning(self) -> str:
        return self.storage_error or "on"

    # -- on the event loop's thread

    def submit(self, **job: Any) -> asyncio.Future[Any]:
        """Process a job; the future gets its result when it is on disk and learned."""
        assert self.loop is not None
        found = Job(self.loop.create_future(), **job)
        self._queue.put(found)
        return found.future

    async def wait_for(self, seq: int) -> None:
        """Wait until the predictor includes example `seq`. It is published at its own pace, however many wait."""
        if self.log.last < seq:
            raise HTTPError(422, f"min_seq={seq}: the last example has the number {self.log.last}")
        if self.predictor.seq < seq:
            self._awaited_seq = max(seq, self._awaited_seq)
            self._queue.put("publish")
        async with asyncio.timeout(self.limits.seconds):
            while self.predictor.seq < seq:
                await self._published.wait()

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
        self._published.set()
        self._published = asyncio.Event()

    # -- on this thread

    def run(self) -> None:
        try:
            while not self._stopping:
                if jobs := self._collect():
                    self._process(jobs)
                    self._on_loop(self._deliver, jobs)
                self._run_periodic()
            if self.snapshot_seq != self.seq:
                self.snapshot()
            left = [job for _ in range(self._queue.qsize()) if isinstance(job := self._queue.get_nowait(), Job)]
            for job in left:
                job.error = unavailable("the server is stopping")
            self._on_loop(self._deliver, left)
        except BaseException:  # the log is safe, the state is in doubt: the next start learns from the log again
            traceback.print_exc()
            os._exit(70)

    def _collect(self) -> list[Job]:
        """At least one job, unless something is due before.

        Clients that get replies together send again together. So a commit waits for as many requests as the last commit
        had, but never longer than that commit took: on a slow disk this doubles the rate.
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
                    if size >= GROUP_BYTES or len(jobs) >= GROUP_JOBS:
                        break
                now = time.perf_counter()
                until = until or now + min(GROUP_COMMIT_DELAY, self._last_seconds)
                wait = until - now if 0 < len(jobs) < self._last_jobs else 0.0
        return jobs

    def _process(self, jobs: list[Job]) -> None:
        """Validate, store and learn; then calls, which see all of it."""
        storing = [job for job in jobs if job.run is None]
        try:
            if storing and self.storage_error:
                self._reopen()
            self._commit(self._validated(storing))
        except STORAGE_ERRORS as error:
            self._fail(storing, error)
        for job in jobs:
            if job.run is not None:
                try:
                    job.result = job.run()
                except Exception as error:
                    job.error = error

    def _commit(self, jobs: list[Job]) -> None:
        """Store and learn new requests; a repeated Idempotency-Key gets the numbers of the first request."""
        used: set[str | None] = set()
        new: list[Job] = []
        repeated: list[Job] = []
        for job in jobs:
            is_used = job.key is not None and (job.key in used or self.log.entry_of(job.key))
            (repeated if is_used else new).append(job)
            used.add(job.key)
        if new:
            self._append(new)
        for job in repeated:
            entry = self.log.entry_of(str(job.key))
            if entry is not None and entry.examples == job.stored:
                job.result = ENCODER.encode(LearnReply(entry.seq, entry.last, repeated=True))
            else:
                job.error = HTTPError(409, f"the Idempotency-Key {job.key!r} has other examples: send a new key")

    def _append(self, jobs: list[Job]) -> None:
        begun = time.perf_counter()
        entries = self.log.append([(len(job.features), time.time(), job.key, job.stored) for job in jobs])
        self._last_jobs, self._last_seconds = len(jobs), time.perf_counter() - begun
        for job, entry in zip(jobs, entries, strict=True):
            predicted, mistaken = self.model.learn(entry, job.features, job.examples)
            job.result = ENCODER.encode(LearnReply(entry.seq, entry.last, sum(mistaken), predicted, mistaken))

    def _fail(self, jobs: list[Job], error: Exception) -> None:
        """Handle a failed commit: the log is read again before the next examples."""
        self.storage_error = str(error) or type(error).__name__
        for job in jobs:
            if job.result is None and job.error is None:
                job.error = unavailable(f"the examples cannot be stored: {error}", 5)
        if not self.seq:
            self.schema.positional = self.schema.width = None

    def _reopen(self) -> None:
        self.log.reopen()
        self.catch_up(verified=self.model.progress.hash_chain)
        self.storage_error = ""

    def catch_up(self, verified: bytes = b"") -> None:
        """Learn the new entries of the log; skip entries that do not fit into memory."""
        log, progress = self.log, self.model.progress
        if progress.seq and log.chain_at(progress.seq) != progress.hash_chain:
            raise DataError(
                f"{log.path} is damaged: it has {log.last:,} examples, and not the {progress.seq:,} that were learned "
                f"from it. Restore it from a backup; to continue with what it has, remove {log.path}.snapshots"
            )
        for entry in self.log.entries(self.seq, verified=verified):
            examples = read_examples(entry.examples)
            rows = self.schema.stored_features(examples.rows)
            try:
                self._check_memory(len(self._new_names(rows)), len(set(examples.labels).difference(self.model.classes)))
                self.model.learn(entry, rows, examples)
            except HTTPError as error:
                self.model.skip(entry, error.message)

    # -- validation

    def _validated(self, jobs: list[Job]) -> list[Job]:
        """The jobs that can be stored and learned; the others get their error."""
        names: set[Any] = set()  # new in this group
        labels: set[Any] = set()
        for job in jobs:
            try:
                assert job.decode is not None
                self._validate(job, job.decode(), names, labels)
            except HTTPError as error:
                job.error = error
        return [job for job in jobs if job.error is None]

    def _validate(self, job: Job, examples: Examples, group_names: set[Any], group_labels: set[Any]) -> None:
        limits, rows = self.limits, self.schema.features(examples.rows)
        names, classes = self._new_names(rows) - group_names, self.model.classes
        labels = set(examples.labels).difference(classes) - group_labels
        self._check_labels(examples.labels, classes, labels, group_labels)
        for name in (*names, *labels):
            if isinstance(name, str) and len(name.encode()) > limits.name:
                raise HTTPError(422, f"{name[:50]!r}… has more than {limits.name:,} bytes, the limit of a name")
        features = len(self.schema.names) + len(group_names) + len(names)
        if names and features > limits.features and self.schema.encoder is None:
            most = f"the model can have {limits.features:,} features"
            raise HTTPError(422, f"{most}, and these rows would bring it to {features:,}")
        self._check_memory(len(names) + len(group_names), len(labels) + len(group_labels))
        self._check_weights(rows, examples)
        self.schema.fix(examples.rows)
        if self.schema.encoder is None and not self.schema.positional:
            examples.rows = rows  # to be read alike whatever the model knows by then
        job.examples, job.features, job.stored = examples, rows, ENCODER.encode(examples)
        group_names |= names
        group_labels |= labels

    def _new_names(self, rows: Sequence[Features]) -> set[Any]:
        """The names that are new to the model: one look-up per value."""
        known = self.schema.names
        return {name for row in rows if not row.keys() <= known.keys() for name in row if name not in known}

    def _check_labels(self, labels: list[Any], classes: list[Any], new: set[Any], group: set[Any]) -> None:
        known, count = next(iter(classes or group or labels)), len(classes) + len(new) + len(group)
        for label in labels:
            if _kind(label) is not _kind(known):
                kinds = f"the label {repr(label)[:50]} has another type than {repr(known)[:50]}"
                raise HTTPError(422, f"{kinds}{self.schema.hint(classes=[known])}")
        for label in new:
            if "\0" in label or not label.strip() if isinstance(label, str) else abs(label) >= 2**63:
                raise HTTPError(422, f"{repr(label)[:200]} cannot be a label{self.schema.hint(classes=[known])}")
        if new and count > self.limits.classes:
            raise HTTPError(422, f"the model can have {self.limits.classes:,} classes; {str(min(new))[:100]!r} is new")
        if new:
            try:
                self.model.learner.params().check_classes(count)
            except ParameterError as error:
                raise HTTPError(422, str(error)) from None

    def _check_memory(self, names: int, labels: int) -> None:
        """Raise if new names and labels would bring the model to too many weights, or more than fit into memory."""
        if not names + labels:
            return
        classes = len(self.model.classes) + labels
        features = len(self.schema.names) + (0 if self.schema.encoder is not None else names)
        weights = features * (1 if classes <= 2 else classes)
        if weights > self.limits.weights:
            most = f"the model can have {self.limits.weights:,} weights"
            raise HTTPError(422, f"{most}, and {features:,} features for {classes:,} classes need {weights:,}")
        # A learner has up to three arrays, with room for twice the features when they grow, and is copied to publish.
        needed = 64 * weights
        if needed > 64 << 20 and 0 < free_memory() < needed:
            raise HTTPError(422, f"{weights:,} weights need {needed >> 20:,} MB of memory, and less is free")

    def _check_weights(self, rows: Sequence[Features], examples: Examples) -> None:
        params = self.model.learner.params()
        if not examples.weights and params.class_weight is None:
            return
        largest_step = max(params.update_rule.eta0, params.update_rule.C)
        by_class = [weight_of_class(params.class_weight, label) for label in examples.labels]
        given = examples.weights or [1.0] * len(rows)
        for at, (row, weight) in enumerate(zip(rows, map(mul, given, by_class), strict=True)):
            largest = max(map(abs, row.values()), default=0.0) * largest_step
            if not math.isfinite(weight) or (weight != 1.0 and weight * largest > SAFE[8]):
                raise HTTPError(422, f"row {at}: its weight times its values is too large to learn from")

    # -- from time to time

    def _seconds_until_due(self) -> tuple[float, float]:
        """Until the next copy is published and the next snapshot saved; nine tenths of the time are for learning."""
        now, unsaved, published = time.monotonic(), self.seq - self.snapshot_seq, self.predictor.seq
        pause = max(0.0 if self._awaited_seq > published else PUBLISH_SECONDS, 10 * self._publish_cost)
        publish = self._published_at + pause - now if published != self.seq else math.inf
        rest = 10 * self._snapshot_cost if unsaved >= self._snapshot_every else SNAPSHOT_SECONDS
        return publish, self._snapshot_at + rest - now if unsaved else math.inf

    def _run_periodic(self) -> None:
        publish, snapshot = self._seconds_until_due()
        if publish <= 0:
            self.publish()
        if snapshot <= 0:
            self.snapshot()

    def publish(self) -> None:
        """Publish a copy of the current state: it predicts from now on."""
        begun, learner, names = time.monotonic(), self.model.learner, self.schema.names
        classes, parts = np.empty(0, dtype="U1"), ()
        if learner.has_learned:
            snapshot = learner.snapshot()
            classes, parts = snapshot.classes, snapshot.predictors
        aligned = self.schema.encoder is None and all(name == column for name, column in names.items())
        shown = self.model.display_names or {}
        self.predictor = Predictor(
            self.schema,
            classes,
            parts,
            len(names),
            self.seq,
            columns_aligned=aligned,
            calibrator=self.model.calibrator,
            display_names=shown,
        )
        self._published_at = time.monotonic()
        self._publish_cost = self._published_at - begun
        self._on_loop(self._wake)

    def snapshot(self) -> None:
        """Save the current state. The log is flushed first, so that it is never older than the snapshot."""
        begun = time.monotonic()
        try:
            self.log.flush()
            save_snapshot(self.model, self.log)
            self.snapshot_seq, self.snapshot_error = self.seq, ""
        except STORAGE_ERRORS as error:  # tried again later; the log holds everything meanwhile
            self.snapshot_error = str(error)
        self._snapshot_at = time.monotonic()
        self._snapshot_cost = self._snapshot_at - begun

    def _on_loop(self, run: Callable[..., None], *arguments: Any) -> None:
        if self.loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits
                self.loop.call_soon_threadsafe(run, *arguments)


def _kind(label: Any) -> type:
    """Text, booleans or numbers: 1 == True, but they are different labels."""
    return type(label) if isinstance(label, str | bool) else int


# -- from a log, a model or nothing to a trainer; options that contradict the log are errors


def new_record(params: Params) -> LearnerRecord:
    """A new learner to start a log with; raises for one that cannot learn from a stream."""
    new_learner(params)
    _check_params(params)
    return LearnerRecord(json.dumps(params.to_json(), sort_keys=True), lineage=_lineage({}))


def model_record(path: str) -> LearnerRecord:
    """A model that learns on, from the state in its file."""
    model = load(path)
    learner = revive(model)
    is_linear = isinstance(learner, LinearLearner) and not learner.params().is_regression
    if not is_linear or model.is_multilabel or model.parameters.get("hash_bits") or model.classes.dtype.kind in "mM":
        raise ModelError(
            f"{path} is a model of {type(learner).__name__} and cannot learn here: only linear classifiers of named "
            "columns can. Serve it without --learn, or train one with --learner averaged, pa1 or arow"
        )
    _check_params(learner.params())
    facts = {**model.lineage, "file": os.path.basename(path), "parent": sha256_of(path)}
    return LearnerRecord(model=Path(path).read_bytes(), lineage=_lineage(facts))


def _check_params(params: Params) -> None:
    params.check_online()
    if params.keep == "vote":
        raise ParameterError("a vote stores every mistaken row, so its memory has no bound: serve averaged instead")


def _lineage(facts: dict[str, Any]) -> str:
    return json.dumps({"created": datetime.now(UTC).isoformat(timespec="seconds"), **facts})


def open_trainer(
    path: str, limits: ServiceLimits, record: LearnerRecord | None = None, snapshot_every: int = SNAPSHOT_EXAMPLES
) -> Trainer:
    """A trainer that has learned everything in the log; a new log starts with the record."""
    if record is None and not os.path.exists(path):
        raise ParameterError(f"{path} is a new log: pass a MODEL or a --learner to start it with")
    log = EventLog(path, create=record)
    try:
        return Trainer(log, load_snapshot(log) or first_model(log.record), limits, snapshot_every)
    except BaseException:
        log.close()
        raise


def trainer_of(config: ServerConfig) -> Trainer:
    """The trainer that the options of a server describe."""
    record = None
    if config.model is not None:
        record = model_record(config.model)
    elif config.params is not None:
        record = new_record(config.params)
    return open_trainer(str(config.log), config.limits, record, config.snapshot_every)
