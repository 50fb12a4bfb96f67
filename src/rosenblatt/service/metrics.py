"""Figures of the service: for Prometheus, and for the live page."""

from __future__ import annotations

import resource
import time
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from rosenblatt.encode.table import TableEncoder
from rosenblatt.service.predictor import FixedModel
from rosenblatt.service.trainer import Trainer

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
RECENT_ROWS = 1000


class InputDrift:
    """How far the recent values of each numeric column are from their mean in training, in standard deviations.

    An exponential mean over about a thousand predicted rows, for models that read tables.
    """

    def __init__(self) -> None:
        self._encoder: Any = None
        self._columns: list[Any] = []
        self.shifts: dict[str, list[float]] = {}  # of each column: the shift, and the rows that it is a mean of

    def update(self, encoder: Any, rows: list[Any]) -> None:
        """Rows that are predicted."""
        if encoder is not self._encoder:
            columns = encoder.numbers if isinstance(encoder, TableEncoder) else ()
            self._columns = [column for column in columns if (column.mean, column.scale) != (0.0, 1.0)]  # standardized
            self._encoder, self.shifts = encoder, {column.name: [0.0, 0.0] for column in self._columns}
        for column in self._columns:
            shift = self.shifts[column.name]
            for row in rows[:100]:
                cell = row.get(column.name)
                if isinstance(cell, int | float):
                    shift[1] = min(shift[1] + 1, RECENT_ROWS)
                    shift[0] += ((cell - column.mean) / (column.scale or 1.0) - shift[0]) / shift[1]


class Metrics:
    """Counts requests in plain lists: a counter of the library with its locks costs more than a prediction."""

    def __init__(self, source: Trainer | FixedModel) -> None:
        self.source = source
        self.began = time.monotonic()
        self.predicted = 0
        self.input_drift = InputDrift()
        self.requests: Counter[tuple[str, int]] = Counter()
        # Of each path: a count per bucket and the sum of all; the latest.
        self.seconds: defaultdict[str, list[float]] = defaultdict(lambda: [0.0] * (len(BUCKETS) + 2))
        self.latest: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=1000))
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def count(self, path: str, status: int, seconds: float) -> None:
        """One request was answered."""
        self.requests[path, status] += 1
        known = self.seconds[path]
        known[bisect_left(BUCKETS, seconds)] += 1
        known[-1] += seconds
        self.latest[path].append(seconds)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterable[Metric]:
        """For the registry of prometheus_client."""
        requests = CounterMetricFamily("rosenblatt_requests", "Requests answered", labels=["path", "status"])
        for (path, status), count in self.requests.items():
            requests.add_metric([path, str(status)], count)
        seconds = HistogramMetricFamily("rosenblatt_request_seconds", "Time to answer", labels=["path"])
        for path, known in self.seconds.items():
            buckets = list(zip([*map(str, BUCKETS), "+Inf"], accumulate(known[:-1]), strict=True))
            seconds.add_metric([path], buckets, known[-1])
        shift = GaugeMetricFamily(
            "rosenblatt_input_shift", "Recent mean of a column, in standard deviations of training", labels=["column"]
        )
        for column, (value, rows) in self.input_drift.shifts.items():
            if rows >= 30:
                shift.add_metric([column], value)
        yield from (requests, seconds, shift)
        predictor, memory = self.source.predictor, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        yield GaugeMetricFamily("rosenblatt_features", "Features of the model", predictor.features)
        yield GaugeMetricFamily("rosenblatt_classes", "Classes of the model", len(predictor.labels))
        yield GaugeMetricFamily("rosenblatt_memory_peak_bytes", "Peak memory", memory)
        yield CounterMetricFamily("rosenblatt_predictions", "Rows predicted", self.predicted)
        if isinstance(self.source, Trainer):
            yield from self._of_trainer(self.source)

    @staticmethod
    def _of_trainer(trainer: Trainer) -> Iterable[Metric]:
        model, tracker = trainer.model, trainer.model.tracker
        counters = {
            "commits": ("Commits to the log", trainer.commits),
            "commit_seconds": ("Time spent in commits", trainer.commit_seconds),
            "examples": ("Examples learned", tracker.examples),
            "mistakes": ("Mistakes before learning", tracker.mistakes),
            "skipped_examples": ("Stored examples that could not be learned", model.skipped),
            "drift_alarms": ("Alarms: the error has risen", tracker.drift_alarms),
        }
        gauges = {
            "log_writable": ("1 if examples can be stored", int(not trainer.storage_error)),
            "log_bytes": ("Size of the log", trainer.log.size),
            "log_seq": ("Number of the last example", model.seq),
            "snapshot_seq": ("Last example in a snapshot", trainer.snapshot_seq),
            "published_seq": ("Last example that predictions include", trainer.predictor.seq),
            "recent_error": ("Error of the latest thousand examples", tracker.recent_error or 0.0),
        }
        for name, (text, value) in counters.items():
            yield CounterMetricFamily(f"rosenblatt_{name}", text, value)
        for name, (text, value) in gauges.items():
            yield GaugeMetricFamily(f"rosenblatt_{name}", text, value)

    def live(self, info: Any) -> dict[str, Any]:
        """Everything on the live page, as of now."""
        found = {
            "seconds": time.monotonic() - self.began,
            "predicted": self.predicted,
            "latency": {path: _latency(sorted(self.latest[f"/{path}"])) for path in ("predict", "learn")},
            "model": info,
            "published": self.source.predictor.seq,
            "learning": "off",
        }
        trainer = self.source
        if not isinstance(trainer, Trainer):
            return found
        model = trainer.model
        return found | {
            "learning": trainer.storage_error or "on",
            "seq": model.seq,
            "commits": trainer.commits,
            "log_bytes": trainer.log.size,
            "snapshot": trainer.snapshot_seq,
            "snapshot_error": trainer.snapshot_error,
            "curve": list(model.tracker.curve),
            "alarms": list(model.tracker.alarms),
            "mistakes": list(model.newest_mistakes)[::-1],
            "spans": list(model.spans),
        }


def _latency(seconds: list[float]) -> dict[str, float] | None:
    """Median and 99th percentile, in milliseconds."""
    if not seconds:
        return None
    return {"p50": 1000 * seconds[len(seconds) // 2], "p99": 1000 * seconds[int(len(seconds) * 0.99)]}
