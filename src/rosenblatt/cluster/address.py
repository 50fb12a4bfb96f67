"""A cluster by its address."""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Iterator
from typing import Any

from rosenblatt.errors import ClusterError, MissingExtraError, ParameterError

WAIT = 30  # seconds for a scheduler to answer


@contextlib.contextmanager
def connect(address: str) -> Iterator[Any]:
    """A client of the cluster at an address, as long as it is needed.

    ``tcp://host:8786`` (``tls://``, ``ws://``, ...) is a scheduler; ``file:scheduler.json`` the file that one has
    written; ``local`` or ``local:N`` starts N worker processes on this machine, and ends them; ``threads:N`` is no
    cluster at all: None, for threads of this process.

    >>> with connect("threads:2") as client:
    ...     print(client)
    None
    """
    if address == "threads" or re.fullmatch(r"threads:\d+", address):
        yield None
        return
    try:
        import dask.config
        from distributed import Client, LocalCluster
    except ImportError:
        raise MissingExtraError("dask", "cluster") from None
    local = re.fullmatch(r"local(?::(\d+))?", address)
    if local:
        workers = int(local[1]) if local[1] else None
        if workers == 0:
            raise ParameterError(f"{address}: must be one worker or more")
        with (
            # Dask ends a worker for good that is absent 15 s after it was lost, also if it was lost again meanwhile.
            dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
            LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=50,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    told: dict[str, Any]
    if address.startswith("file:"):
        told = {"scheduler_file": address.removeprefix("file:").removeprefix("//")}
        if not os.path.isfile(told["scheduler_file"]):  # Dask would wait for it
            raise ClusterError(f"there is no cluster at {address}: no such file")
    elif re.fullmatch(r"[a-z]+://.+", address):
        told = {"address": address}
    else:
        raise ParameterError(
            f"{address!r} is no cluster: write tcp://HOST:PORT, file:SCHEDULER.json, local, local:N or threads:N"
        )
    try:
        client = Client(**told, timeout=WAIT)
    except (OSError, TimeoutError, ValueError) as error:
        why = (str(error).splitlines() or ["no answer"])[0]
        raise ClusterError(f"there is no cluster at {address}: {why}") from None
    with _in_one_voice(), client:  # closing the client is what Dask logs
        yield client


@contextlib.contextmanager
def _in_one_voice() -> Iterator[None]:
    """Without what Dask logs of a lost scheduler: what is raised says it in a sentence."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado.application")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def threads_of(address: str) -> int | None:
    """How many threads ``threads:N`` asks for; all CPUs without a number."""
    found = re.fullmatch(r"threads(?::(\d+))?", address)
    if not found:
        return None
    return int(found[1]) if found[1] else -1
