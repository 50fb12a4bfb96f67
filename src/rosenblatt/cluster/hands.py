"""Who does the work: threads of this process, or the workers of a Dask cluster.

Invariant: what a task returns depends on its arguments alone, so it does not matter where it runs, or how often. A task
may name the results of earlier tasks among its arguments, also inside a list.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from rosenblatt.cluster.versions import check_versions
from rosenblatt.errors import ClusterError, MissingExtraError, ParameterError, RosenblattError
from rosenblatt.learners.fit import count_threads

STEP = 2.0  # seconds between two looks at whether there are workers
MOST_RETRIES = 3  # of tasks that Dask has given up, in a row, without anything else being done


class Lost(Exception):
    """What was held by workers that are gone cannot be made again from what is left: begin anew from a known point."""


class Hands(Protocol):
    """Runs functions on results of other functions.

    It gives up when, for `patience` seconds, nothing that was begun has come to its end.
    """

    patience: float

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """A handle on what the function will return."""

    def results(self, handles: Sequence[Any]) -> list[Any]:
        """What the tasks returned, in their order; an error of a task is raised."""

    def are_lost(self, handles: Sequence[Any]) -> bool:
        """Is one of them gone for good, with what it was made from?"""

    def hold(self, value: Any) -> Any:
        """A handle on a value that exists already."""

    def traffic(self) -> int:
        """Bytes that have travelled between workers so far, as they count them."""

    def close(self) -> None:
        """Let go of what was made to do the work."""


class Threads:
    """Threads of this process; nothing travels, and nothing is lost."""

    patience = 0.0

    def __init__(self, n_jobs: int | None) -> None:
        self._pool = ThreadPoolExecutor(count_threads(n_jobs))

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        # Tasks begin in the order of their submission, so what a task waits for has begun before it: no deadlock.
        return self._pool.submit(lambda: function(*(_resolved(arg) for arg in args)))

    def results(self, handles: Sequence[Any]) -> list[Any]:
        return [handle.result() for handle in handles]

    def are_lost(self, handles: Sequence[Any]) -> bool:
        return False

    def hold(self, value: Any) -> Any:
        held: Future[Any] = Future()
        held.set_result(value)
        return held

    def traffic(self) -> int:
        return 0

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def _resolved(arg: Any) -> Any:
    if isinstance(arg, list):
        return [_resolved(each) for each in arg]
    return arg.result() if isinstance(arg, Future) else arg


class Workers:
    """The workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    patience : float
        Seconds to wait while there is no worker at all, or while workers are lost before they are through with
        anything, before that is an error.
    """

    def __init__(self, client: Any, patience: float) -> None:
        self.client, self.patience = client, patience
        self._name = f"rosenblatt-{uuid.uuid4().hex[:12]}"
        self._count = 0

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        self._count += 1
        name = getattr(function, "func", function).__name__  # of what a partial calls
        key = f"{self._name}-{name}-{self._count}"  # never one that another run has used
        try:
            return self.client.submit(plainly, function, *args, key=key, pure=False)
        except Exception as error:
            raise self._explained(error) from error

    def results(self, handles: Sequence[Any]) -> list[Any]:
        from distributed import wait

        handles = list(handles)
        alone_since, retries = time.monotonic(), 0
        waiting = [handle for handle in handles if hasattr(handle, "key")]
        while waiting:
            try:
                with self.client.as_current():  # `wait` asks the current client, which may be another one or none
                    done, undone = wait(waiting, timeout=STEP, return_when="FIRST_COMPLETED")
                failed = [each for each in done if each.status != "finished"]
                retries = retries + 1 if failed else 0
                if failed and (retries > MOST_RETRIES or not self._retry(failed)):
                    raise self._failure(failed[0])
                waiting = [*undone, *failed]
            except TimeoutError:
                pass
            except (Lost, RosenblattError):
                raise
            except Exception as error:
                raise self._explained(error) from error
            if waiting and self._has_workers():
                alone_since = time.monotonic()
            elif time.monotonic() - alone_since > self.patience:
                raise ClusterError(
                    f"the cluster has had no worker for {self.patience:g} s: start some, and resume from a checkpoint"
                )
        try:
            found: list[Any] = self.client.gather(handles)
            return found
        except RosenblattError:
            raise
        except Exception as error:
            raise self._explained(error) from error

    def are_lost(self, handles: Sequence[Any]) -> bool:
        # What is "lost" is being made again.
        running: bool = self.client.status == "running"
        return running and any(each.status == "cancelled" for each in handles)

    def hold(self, value: Any) -> Any:
        from dask.distributed import TimeoutError as NoWorkers

        self._await_workers()
        try:
            return self.client.scatter(value, hash=False)
        except (NoWorkers, TimeoutError, OSError, ValueError, KeyError) as error:
            raise self._explained(error) from error

    def traffic(self) -> int:
        try:
            counts = self.client.run(_sent)
        except Exception:  # a worker that has just left: figures are not worth a failure
            return 0
        return sum(count for count in counts.values() if isinstance(count, int))

    def close(self) -> None:
        """The cluster is the caller's."""

    def _await_workers(self) -> None:
        since = time.monotonic()
        while not self._has_workers():
            if time.monotonic() - since > self.patience:
                raise ClusterError(f"the cluster has had no worker for {self.patience:g} s: start workers")
            time.sleep(0.1)

    def _has_workers(self) -> bool:
        if self.client.status != "running":
            raise self._gone()
        return bool(self.client.scheduler_info(n_workers=-1)["workers"])

    def _retry(self, failed: Sequence[Any]) -> bool:
        """Have tasks run again that failed for want of workers; False if one of them has another reason.

        Dask gives a task up after the fourth worker that left while it had the task, were there days between them.
        """
        from distributed import KilledWorker

        if self.client.status != "running" or any(each.status != "error" for each in failed):
            return False
        if not all(isinstance(each.exception(), KilledWorker) for each in failed):
            return False
        with contextlib.suppress(KeyError):  # the client need not know all that a task is made from
            self.client.retry(list(failed))
        return True

    def _failure(self, future: Any) -> Exception:
        """Why a task has no result: its own error, or that of the cluster."""
        if self.client.status != "running":
            return self._gone()
        if future.status in ("cancelled", "lost"):
            return Lost(future.key)
        return self._explained(future.exception())

    def _explained(self, error: BaseException) -> Exception:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        if isinstance(error, RosenblattError):
            return error
        if self.client.status != "running":
            return self._gone()
        if isinstance(error, (KilledWorker, CancelledError, OSError, TimeoutError, KeyError)):
            return Lost(str(error))
        assert isinstance(error, Exception)
        return error

    def _gone(self) -> ClusterError:
        return ClusterError("the scheduler of the cluster is gone: start another, and resume from a checkpoint")


def plainly(function: Callable[..., Any], *args: Any) -> Any:
    """What the function returns; an error of this library without those of others behind it, which may not travel."""
    try:
        return function(*args)
    except RosenblattError as error:
        error.__cause__ = error.__context__ = None
        raise


def _sent(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


def hands_of(client: Any, n_jobs: int | None = None, patience: float = 60.0) -> Hands:
    """Threads for None, else the workers of a client; an address is connected to by `connect`."""
    if client is None:
        return Threads(n_jobs)
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("dask", "cluster") from None
    if not isinstance(client, distributed.Client):
        raise ParameterError(
            f"client={client!r}: must be a dask.distributed.Client, or None for threads of this process; "
            "rosenblatt.cluster.connect makes one from an address"
        )
    if client.status == "running":
        check_versions(client)
    return Workers(client, patience)
