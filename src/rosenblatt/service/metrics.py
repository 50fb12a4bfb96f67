"""Figures of the service: for Prometheus, and for the live page."""

from __future__ import annotations

import resource
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable
from itertools import accumulate
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

if TYPE_CHECKING:
    from rosenblatt.service.service import Service

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


class Metrics:
    """Counts requests, and asks the service for the rest when it is asked itself.

    Requests are counted in plain lists: a counter of the library with its locks costs more than a prediction.
    """

    def __init__(self, service: Service) -> None:
        self.registry = CollectorRegistry()
        self.requests: dict[tuple[str, int], int] = {}
        self.seconds: dict[str, list[float]] = {}  # of each path: a count per bucket, and the sum of all
        self.latest: dict[str, deque[float]] = {name: deque(maxlen=1000) for name in ("/predict", "/learn")}
        self.registry.register(_Requests(self))
        self.registry.register(_Facts(service))

    def count(self, path: str, status: int, seconds: float) -> None:
        """One request was answered."""
        requests = self.requests
        requests[path, status] = requests.get((path, status), 0) + 1
        kept = self.seconds.get(path)
        if kept is None:
            kept = self.seconds[path] = [0.0] * (len(BUCKETS) + 2)
        kept[bisect_left(BUCKETS, seconds)] += 1
        kept[-1] += seconds
        latest = self.latest.get(path)
        if latest is not None:
            latest.append(seconds)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)

    def latency(self, path: str) -> dict[str, float] | None:
        """Of the latest requests: the median and the 99th of a hundred, in milliseconds."""
        found = sorted(self.latest[path])
        if not found:
            return None
        return {"p50": 1000 * found[len(found) // 2], "p99": 1000 * found[int(len(found) * 0.99)]}


class _Requests:
    """What was counted, as Prometheus has it."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterable[Metric]:
        requests = CounterMetricFamily("rosenblatt_requests", "Requests answered", labels=["path", "status"])
        for (path, status), count in self.metrics.requests.items():
            requests.add_metric([path, str(status)], count)
        seconds = HistogramMetricFamily("rosenblatt_request_seconds", "Time to answer", labels=["path"])
        for path, kept in self.metrics.seconds.items():
            sums = list(accumulate(kept[:-1]))
            buckets = list(zip([*map(str, BUCKETS), "+Inf"], sums, strict=True))
            seconds.add_metric([path], buckets, kept[-1])
        yield from (requests, seconds)


class _Facts:
    """Figures that the service knows at any time."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterable[Metric]:
        service = self.service
        published = service.published
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        yield GaugeMetricFamily("rosenblatt_features", "Features of the model", published.features)
        yield GaugeMetricFamily("rosenblatt_classes", "Classes of the model", len(published.labels))
        yield GaugeMetricFamily("rosenblatt_memory_peak_bytes", "Most memory so far", memory)
        yield CounterMetricFamily("rosenblatt_predictions", "Rows predicted", service.predicted)
        learning, writer = service.learning, service.writer
        if learning is None or writer is None:
            return
        yield CounterMetricFamily("rosenblatt_commits", "Commits to the log", writer.commits)
        yield CounterMetricFamily("rosenblatt_commit_seconds", "Time spent in commits", writer.commit_seconds)
        yield GaugeMetricFamily("rosenblatt_waiting_examples", "Examples accepted, not learned yet", writer.waiting)
        yield GaugeMetricFamily("rosenblatt_log_writable", "1 if examples can be stored", int(not writer.broken))
        yield GaugeMetricFamily("rosenblatt_log_bytes", "Size of the log", learning.log.size)
        yield GaugeMetricFamily("rosenblatt_log_seq", "Number of the last example", learning.fold.seq)
        yield GaugeMetricFamily(
            "rosenblatt_snapshot_seq", "Number up to which a snapshot was saved", learning.snapshot_seq
        )
        yield GaugeMetricFamily("rosenblatt_published_seq", "Number up to which answers have learned", published.seq)
        examples = CounterMetricFamily("rosenblatt_examples", "Examples learned", labels=["learner"])
        mistakes = CounterMetricFamily("rosenblatt_mistakes", "Mistakes before learning", labels=["learner"])
        recent = GaugeMetricFamily("rosenblatt_recent_error", "Error of the latest thousand", labels=["learner"])
        alarms = CounterMetricFamily("rosenblatt_drift_alarms", "Alarms of drift", labels=["learner"])
        for name, each in learning.fold.followers.items():
            progress = each.progress
            examples.add_metric([name], progress.examples)
            mistakes.add_metric([name], progress.mistakes)
            recent.add_metric([name], progress.recent_error or 0.0)
            alarms.add_metric([name], progress.drift.raised)
        yield from (examples, mistakes, recent, alarms)
