"""The one thread that writes and learns: many requests per commit, then into the learners in the order of the log.

Invariant: what was learned is what is stored. After an error the log is asked what it holds, and what it holds is
learned. Nothing that a client does, such as hanging up, reaches this thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sqlite3
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from rosenblatt.errors import RosenblattError
from rosenblatt.service.clock import Clock
from rosenblatt.service.learning import Learning
from rosenblatt.service.log import Entry
from rosenblatt.service.messages import Learnt
from rosenblatt.service.refusals import Refused, busy
from rosenblatt.service.rows import Features

GROUP = 4096  # examples per commit
PATIENCE = 0.01  # seconds for which a commit may wait for more requests, at the most
STORING = (sqlite3.Error, OSError, RosenblattError)  # what goes wrong with a disk or a log
ENCODER = msgspec.json.Encoder()


class Job:
    """A request to learn, and where its reply goes.

    `rows` is None for a large one: what waits is then only what goes to disk, and is read when its turn comes.
    """

    __slots__ = ("digest", "examples", "failure", "future", "key", "labels", "reply", "rows", "weights")

    def __init__(
        self,
        rows: list[Features] | None,
        labels: list[Any],
        weights: list[float] | None,
        examples: bytes,
        key: str | None,
        digest: bytes,
        future: asyncio.Future[bytes],
    ) -> None:
        self.rows, self.labels, self.weights, self.examples = rows, labels, weights, examples
        self.key, self.digest, self.future = key, digest, future
        self.reply: bytes | None = None
        self.failure: Exception | None = None


class Task:
    """Something else to be done between two groups."""

    __slots__ = ("failure", "future", "run", "value")

    def __init__(self, run: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        self.run, self.future = run, future
        self.value: Any = None
        self.failure: Exception | None = None


class Writer(threading.Thread):
    """Commits, learns and publishes.

    Parameters
    ----------
    learning : Learning
        The log, the fold and what is published of it; touched by this thread only from now on.
    clock : Clock
    """

    def __init__(self, learning: Learning, clock: Clock) -> None:
        super().__init__(name="writer", daemon=True)
        self.learning, self.clock = learning, clock
        self.queue: queue.SimpleQueue[Job | Task | None] = queue.SimpleQueue()
        self.loop = asyncio.get_running_loop()
        self.waiting = 0  # examples that were accepted and not answered; counted on the loop's thread
        self.broken = learning.log.unwritable  # why nothing can be stored
        self.groups = self.commits = 0
        self.commit_seconds = 0.0
        self._ending = False
        self._together, self._lasted = 1, 0.0  # requests of the latest commit, and the seconds that it took

    # -- on the loop's thread

    def submit(self, job: Job) -> None:
        """Take an accepted request; its future gets the reply."""
        self.waiting += len(job.labels)
        self.queue.put(job)

    async def call(self, run: Callable[[], Any]) -> Any:
        """Do something between two groups, in this thread."""
        future = self.loop.create_future()
        self.queue.put(Task(run, future))
        return await future

    def end(self) -> None:
        """After everything that was accepted: snapshot and stop."""
        self.queue.put(None)

    def _deliver(self, done: Sequence[Job | Task]) -> None:
        for each in done:
            if isinstance(each, Job):
                self.waiting -= len(each.labels)
            if each.future.done():  # the client has gone; what it sent is learned all the same
                continue
            if each.failure is not None:
                each.future.set_exception(each.failure)
            elif isinstance(each, Job):
                each.future.set_result(each.reply or b"")
            else:
                each.future.set_result(each.value)

    # -- on the writer's thread

    def run(self) -> None:
        try:
            self._run()
        except BaseException:  # what was stored is safe, what was learned is in doubt: the next start learns it again
            traceback.print_exc()
            os._exit(70)

    def _run(self) -> None:
        while not self._ending:
            jobs, tasks = self._collect()
            if jobs:
                self._learn(jobs)
            for task in tasks:
                try:
                    task.value = task.run()
                except (sqlite3.Error, OSError) as error:
                    task.failure = busy(f"it cannot be stored: {self.broken or error}", 5)
                except Exception as error:
                    task.failure = error
            done: list[Job | Task] = [*jobs, *tasks]
            if done:
                self._tell(done)
            self._keep_up()
        self._learn_nothing()

    def _collect(self) -> tuple[list[Job], list[Task]]:
        """What has come: at least one thing, unless something is due before.

        Clients that were answered together ask again together. A commit waits for as many requests as the latest one
        had, but never longer than that one took: on a slow disk it then serves twice as many.
        """
        jobs: list[Job] = []
        tasks: list[Task] = []
        count, until = 0, None
        try:
            found = self.queue.get(timeout=self.learning.due_in())
            while True:
                if found is None:
                    self._ending = True
                elif isinstance(found, Task):
                    tasks.append(found)
                    break  # it sees what came before it, and nothing of what comes after
                else:
                    jobs.append(found)
                    count += len(found.labels)
                if count >= GROUP or self._ending:
                    break
                if not self.queue.empty() or len(jobs) >= self._together:
                    found = self.queue.get_nowait()
                    continue
                now = time.perf_counter()
                until = now + min(PATIENCE, self._lasted) if until is None else until
                found = self.queue.get(timeout=max(0.0, until - now))
        except queue.Empty:
            pass
        return jobs, tasks

    def _learn(self, jobs: list[Job]) -> None:
        """Store and learn what is new, and answer what is not from before."""
        log = self.learning.log
        try:
            if self.broken:
                self._mend()
            new = self._without_known(jobs)
            if new:
                begun = time.perf_counter()
                stored = [(len(j.labels), self.clock(), j.examples, j.key, j.digest) for j in new]
                replies = self.learning.waiting_replies()
                entries = log.append(stored, replies)
                self.learning.drop_replies(replies)
                self._together, self._lasted = len(new), time.perf_counter() - begun
                self.commit_seconds += self._lasted
                self.commits += 1
                for job, entry in zip(new, entries, strict=True):
                    job.reply = self._fold(entry, job)
                self._answer_repeats(jobs, new)
        except STORING as error:
            self._fail(jobs, error)

    def _without_known(self, jobs: list[Job]) -> list[Job]:
        """The jobs that are to be stored; those with a key that was used before get the reply of that time."""
        keyed = [job for job in jobs if job.key is not None]
        if not keyed:
            return jobs
        known = self.learning.log.known_keys([job.key for job in keyed if job.key is not None])
        new, first = [], {}
        for job in jobs:
            if job.key is None:
                new.append(job)
            elif job.key in known:
                seq, digest, reply = known[job.key]
                self._repeat(job, digest, reply if reply is not None else self.learning.reply_to(seq))
            elif job.key not in first:
                first[job.key] = job
                new.append(job)
        return new

    def _answer_repeats(self, jobs: list[Job], new: list[Job]) -> None:
        """Jobs with the key of another one of the same group."""
        by_key = {job.key: job for job in new if job.key is not None}
        for job in jobs:
            if job.reply is None and job.failure is None and job.key in by_key:
                self._repeat(job, by_key[job.key].digest, by_key[job.key].reply)

    @staticmethod
    def _repeat(job: Job, digest: bytes, reply: bytes | None) -> None:
        if digest != job.digest:
            job.failure = Refused(409, f"the Idempotency-Key {job.key!r} was used with other examples")
        else:
            job.reply = reply

    def _fold(self, entry: Entry, job: Job) -> bytes:
        rows = self.learning.rows_of(entry) if job.rows is None else job.rows
        predicted, mistaken = self.learning.take(entry, rows, job.labels, job.weights)
        reply = ENCODER.encode(Learnt(entry.seq, entry.last, sum(mistaken), predicted, mistaken))
        if job.key is not None:
            self.learning.keep_reply(entry.seq, reply)
        return reply

    def _fail(self, jobs: list[Job], error: Exception) -> None:
        """Nothing could be stored, or it is not known: the log will tell."""
        self.broken = str(error) or type(error).__name__
        try:
            self._mend()
            self.broken = str(error)
        except STORING:
            pass
        for job in jobs:
            if job.reply is None and job.failure is None:
                job.failure = busy(f"the examples cannot be stored: {error}", 5)

    def _mend(self) -> None:
        """Open the log again, and learn what it holds beyond what was learned."""
        self.learning.log.reopen()
        self.learning.catch_up()
        self.broken = ""

    def _keep_up(self) -> None:
        """What is due from time to time."""
        try:
            self.learning.keep_up()
        except STORING as error:
            self.learning.put_off(str(error))

    def _learn_nothing(self) -> None:
        """The end: everything accepted is learned; a snapshot makes the next start quick."""
        try:
            self.learning.finish()
        except STORING as error:
            self.learning.put_off(str(error))
        left: list[Job | Task] = []
        while not self.queue.empty():
            found = self.queue.get_nowait()
            if found is not None:
                found.failure = busy("the server is stopping")
                left.append(found)
        if left:
            self._tell(left)

    def _tell(self, done: list[Job | Task]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits for these
            self.loop.call_soon_threadsafe(self._deliver, done)
