"""Figures of the service: for Prometheus, and for the live page."""

from __future__ import annotations

import resource
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

if TYPE_CHECKING:
    from rosenblatt.service.service import Service

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


class Metrics:
    """Counts requests, and asks the service for the rest when it is asked itself."""

    def __init__(self, service: Service) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "rosenblatt_requests", "Requests by path and status", ["path", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "rosenblatt_request_seconds", "Time to answer", ["path"], registry=self.registry, buckets=BUCKETS
        )
        self.registry.register(_Facts(service))
        self.latest: dict[str, deque[float]] = {name: deque(maxlen=1000) for name in ("/predict", "/learn")}
        self._children: dict[Any, Any] = {}

    def count(self, path: str, status: int, seconds: float) -> None:
        """One request was answered."""
        children = self._children.get((path, status))
        if children is None:
            children = self._requests.labels(path, str(status)), self._seconds.labels(path), self.latest.get(path)
            self._children[path, status] = children
        children[0].inc()
        children[1].observe(seconds)
        if children[2] is not None:
            children[2].append(seconds)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)

    def latency(self, path: str) -> dict[str, float] | None:
        """Of the latest requests: the median and the 99th of a hundred, in milliseconds."""
        found = sorted(self.latest[path])
        if not found:
            return None
        return {"p50": 1000 * found[len(found) // 2], "p99": 1000 * found[int(len(found) * 0.99)]}


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
            alarms.add_metric([name], len(progress.drift.alarms))
        yield from (examples, mistakes, recent, alarms)
