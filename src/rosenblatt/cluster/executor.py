"""Executors: threads of this process, or the workers of a Dask cluster.

Invariant: the result of a task depends on its arguments alone, so it does not matter where and how often it runs. A
task may take the futures of earlier tasks as arguments, also inside a list.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from multiprocessing import resource_tracker
from typing import Any

from rosenblatt import __version__
from rosenblatt.errors import ClusterError, MissingExtraError, ParameterError, RosenblattError
from rosenblatt.learners.fit import count_threads

CONNECT_TIMEOUT = 30  # seconds until a scheduler must answer
POLL = 2.0  # seconds between two checks for workers
MOST_RETRIES = 3  # of tasks that Dask has given up, in a row, while no other task finishes
MOST_LOSSES = 10  # at least, in a row, without any progress
FAN_IN = 4  # results that one task of `reduce` combines


class WorkerLost(Exception):
    """Results are gone with their workers and cannot be computed again: restart from a known point."""


class Executor:
    """Threads of this process; `DaskExecutor` is the other kind."""

    worker_timeout = 0.0  # seconds without a worker, or without progress, until that is an error

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """The future of a call."""
        # Tasks begin in the order of their submission, so a task begins after those it waits for: no deadlock.
        return self._pool.submit(lambda: function(*map(_resolve, args)))

    def results(self, futures: Sequence[Any]) -> list[Any]:
        """The results in order; raises the error of a task."""
        return [future.result() for future in futures]

    def scatter(self, value: Any) -> Any:
        """A future of an existing value."""
        future: Future[Any] = Future()
        future.set_result(value)
        return future

    def compute(self, lazy: Sequence[Any]) -> list[Any]:
        """Futures of delayed objects; a future stays the same, so that no persisted data is copied."""
        return [each if is_future(each) else self.submit(_compute, each) for each in lazy]

    def is_unrecoverable(self, futures: Sequence[Any]) -> bool:
        """True if one of them is lost together with the data to compute it again."""
        return False

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """The result of a call."""
        return self.results([self.submit(function, *args)])[0]

    def reduce(self, function: Callable[[list[Any]], Any], futures: Sequence[Any]) -> Any:
        """The future of all results combined up a tree; the order depends on their number alone."""
        level = list(futures)
        while len(level) > 1:
            groups = [level[at : at + FAN_IN] for at in range(0, len(level), FAN_IN)]
            level = [self.submit(function, group) if len(group) > 1 else group[0] for group in groups]
        return level[0]


def _resolve(arg: Any) -> Any:
    if isinstance(arg, list):
        return [_resolve(each) for each in arg]
    return arg.result() if isinstance(arg, Future) else arg


def _compute(delayed: Any) -> Any:
    return delayed.compute(scheduler="synchronous") if hasattr(type(delayed), "__dask_graph__") else delayed


def is_future(value: Any) -> bool:
    """True for a future of Dask or of a thread. A Delayed has any attribute, so its class must have it."""
    return callable(getattr(type(value), "result", None))


class DaskExecutor(Executor):
    """The workers of a Dask cluster."""

    def __init__(self, client: Any, worker_timeout: float) -> None:
        self.client, self.worker_timeout = client, worker_timeout
        self._name = f"rosenblatt-{uuid.uuid4().hex[:12]}"
        self._count = 0

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        self._count += 1
        name = getattr(function, "func", function).__name__  # of the function of a partial
        with self._cluster_errors():
            key = f"{self._name}-{name}-{self._count}"  # no other run has used it
            return self.client.submit(call, function, *args, key=key, pure=False)

    def results(self, futures: Sequence[Any]) -> list[Any]:
        from distributed import wait

        waiting, retries, seen = list(futures), 0, time.monotonic()
        # `wait` uses the current client, which may be another one or none.
        with self._cluster_errors(), self.client.as_current():
            while waiting:
                failed: list[Any] = []
                with contextlib.suppress(TimeoutError):
                    done, waiting = wait(waiting, timeout=POLL, return_when="FIRST_COMPLETED")
                    failed = [future for future in done if future.status != "finished"]
                    retries = retries + 1 if failed else 0
                waiting = [*waiting, *failed]
                if waiting:
                    seen = self._last_worker(seen)
                if failed and (retries > MOST_RETRIES or not self._retry(failed)):
                    if failed[0].status in ("cancelled", "lost"):
                        raise WorkerLost(failed[0].key)
                    if failed[0].status == "error":  # else it is computed again
                        raise failed[0].exception()
            results: list[Any] = self.client.gather(list(futures))
        return results

    def scatter(self, value: Any) -> Any:
        started = time.monotonic()
        while self._last_worker(started) == started:
            time.sleep(0.1)
        with self._cluster_errors():
            return self.client.scatter(value, hash=False)

    def compute(self, lazy: Sequence[Any]) -> list[Any]:
        delayed = [each for each in lazy if not is_future(each)]
        computed = iter(self.client.compute(delayed) if delayed else [])
        return [each if is_future(each) else next(computed) for each in lazy]

    def is_unrecoverable(self, futures: Sequence[Any]) -> bool:
        # Dask computes a "lost" result again.
        return self.client.status == "running" and any(future.status == "cancelled" for future in futures)

    def _last_worker(self, before: float) -> float:
        """The time when the cluster last had a worker; raises if that is too long ago."""
        if self.client.status != "running":
            raise ClusterError("the scheduler of the cluster is gone: start another, and resume from a checkpoint")
        now = time.monotonic()
        if self.client.scheduler_info(n_workers=-1)["workers"]:
            return now
        if now - before > self.worker_timeout:
            raise ClusterError(
                f"the cluster has had no worker for {self.worker_timeout:g} s: start workers, and resume from a "
                "checkpoint if there is one"
            )
        return before

    def _retry(self, failed: Sequence[Any]) -> bool:
        """Run tasks again that failed with their workers; False if one of them failed for another reason.

        Dask gives up a task after the fourth worker that left with it, even if days passed in between.
        """
        from distributed import KilledWorker

        if any(future.status != "error" or not isinstance(future.exception(), KilledWorker) for future in failed):
            return False
        with contextlib.suppress(KeyError):  # the client need not know all dependencies of a task
            self.client.retry(list(failed))
        return True

    @contextlib.contextmanager
    def _cluster_errors(self) -> Iterator[None]:
        """Raise errors of Dask as `ClusterError` or `WorkerLost`."""
        from distributed import KilledWorker

        try:
            yield
        except (RosenblattError, WorkerLost):
            raise
        except Exception as error:
            self._last_worker(time.monotonic())  # raises if the scheduler is gone
            if isinstance(error, (KilledWorker, CancelledError, OSError, TimeoutError, KeyError)):
                raise WorkerLost(str(error)) from error
            raise


def call(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function; its error travels without the errors behind it, which need not be picklable."""
    try:
        return function(*args)
    except RosenblattError as error:
        error.__cause__ = error.__context__ = None
        raise


class Retries:
    """Counts losses of workers, and raises when the same work is lost again and again."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self.succeeded()

    def succeeded(self) -> None:
        self._failures, self._since = 0, time.monotonic()

    def failed(self, error: WorkerLost) -> None:
        self._failures += 1
        if self._failures >= MOST_LOSSES and time.monotonic() - self._since > self._timeout:
            raise _lost_again(error) from None
        time.sleep(min(0.1 * 2**self._failures, 1.0))


def _lost_again(error: WorkerLost) -> ClusterError:
    why = " ".join(str(error).split())[:300]
    return ClusterError(f"workers were lost again and again at the same work, the last time with: {why}")


class Sized:
    """Tells Dask the size of the arrays in an object."""

    def __sizeof__(self) -> int:
        return 1000 + _array_bytes(vars(self))


def _array_bytes(value: Any) -> int:
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    parts = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    return sum(map(_array_bytes, parts.values()))


@contextlib.contextmanager
def open_executor(client: Any, worker_timeout: float = 60.0) -> Iterator[Executor]:
    """Threads for None or ``threads:N``, else the workers of a client or an address."""
    threads = re.fullmatch(r"threads(?::(\d+))?", client or "threads") if isinstance(client, str | None) else None
    if threads:
        pool = ThreadPoolExecutor(count_threads(int(threads[1] or -1)))
        try:
            yield Executor(pool)
        finally:
            pool.shutdown(cancel_futures=True)
    elif isinstance(client, str):
        with connect(client) as connected, open_executor(connected, worker_timeout) as executor:
            yield executor
    elif isinstance(client, _distributed().Client):
        if client.status == "running":
            check_versions(client)
        try:
            yield DaskExecutor(client, worker_timeout)
        except WorkerLost as error:  # that the caller could not repeat
            raise _lost_again(error) from None
    else:
        raise ParameterError(f"client={client!r}: must be a Dask client, an address, or None for threads")


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("dask", "cluster") from None
    return distributed


def check_versions(client: Any) -> None:
    """Raise if a worker has another version of this library, or none: it would learn other bits, or fail."""
    for address, worker in sorted(client.get_versions(packages=["rosenblatt"])["workers"].items()):
        version = worker["packages"]["rosenblatt"]
        if version != __version__:
            raise ClusterError(
                f"the worker {address} has {f'rosenblatt {version}' if version else 'no rosenblatt'}, and this process "
                f"has {__version__}: install the same version on every machine"
            )


@contextlib.contextmanager
def connect(address: str) -> Iterator[Any]:
    """A Dask client of the cluster at an address.

    ``tcp://host:8786`` (``tls://``, ``ws://``, ...) is a scheduler, ``file:scheduler.json`` the file that one has
    written. ``local`` or ``local:N`` starts N worker processes that listen on this machine only, and ends them.

    >>> with connect("localhost"):  # doctest: +ELLIPSIS
    ...     pass
    Traceback (most recent call last):
        ...
    rosenblatt.errors.ParameterError: 'localhost' is not a cluster: use tcp://HOST:PORT, ...
    """
    local = re.fullmatch(r"local(?::([1-9]\d*))?", address)
    path = address.removeprefix("file:").removeprefix("//") if address.startswith("file:") else None
    if not local and path is None and not re.fullmatch(r"[a-z]+://.+", address):
        raise ParameterError(
            f"{address!r} is not a cluster: use tcp://HOST:PORT, file:SCHEDULER.json, local, local:N or threads:N"
        )
    distributed = _distributed()
    if local:
        import dask.config

        workers = int(local[1]) if local[1] else None
        options = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "silence_logs": 50}
        loopback = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
        with contextlib.ExitStack() as stack:
            # Dask ends a worker for good that is absent 15 s after it was lost, even if it was lost again meanwhile.
            stack.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}))
            # Ctrl-C waits until the workers have started. They inherit the mask, so that only this process gets it; a
            # resource tracker that starts with them would lift it.
            resource_tracker.ensure_running()
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                cluster = stack.enter_context(distributed.LocalCluster(**options, **loopback))
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            yield stack.enter_context(distributed.Client(cluster))
        return
    if path is not None and not os.path.isfile(path):  # Dask would wait for it
        raise ClusterError(f"there is no cluster at {address}: no such file")
    where = {"address": address} if path is None else {"scheduler_file": path}
    try:
        client = distributed.Client(**where, timeout=CONNECT_TIMEOUT)
    except (OSError, TimeoutError, ValueError) as error:
        why = (str(error).splitlines() or ["no answer"])[0]
        raise ClusterError(f"there is no cluster at {address}: {why}") from None
    with _silenced_logs(), client:  # Dask logs a lost scheduler while the client closes
        yield client


@contextlib.contextmanager
def _silenced_logs() -> Iterator[None]:
    """Without Dask's logs of a lost scheduler, which a `ClusterError` reports."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado.application")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
