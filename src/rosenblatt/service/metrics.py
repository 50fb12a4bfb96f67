"""Figures of the service: for Prometheus, and for the live page."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from rosenblatt.encode.table import TableEncoder
from rosenblatt.service.predictor import FixedModel
from rosenblatt.service.schemas import ModelInfo
from rosenblatt.service.trainer import Trainer

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
RECENT_ROWS = 1000
disable_created_metrics()  # type: ignore[no-untyped-call]


class InputDrift:
    """How far the recent values of each numeric column are from their mean in training, in standard deviations.

    An exponential mean over about a thousand predicted rows, for models that read tables.
    """

    def __init__(self, encoder: Any) -> None:
        columns = encoder.numbers if isinstance(encoder, TableEncoder) else ()
        self.columns = [column for column in columns if (column.mean, column.scale) != (0.0, 1.0)]  # standardized
        self.shifts = {column.name: (0.0, 0) for column in self.columns}  # and the rows that it is a mean of

    def update(self, rows: list[Any]) -> None:
        """Rows that are predicted."""
        for column in self.columns:
            shift, count = self.shifts[column.name]
            for row in rows[:100]:
                cell = row.get(column.name)
                if isinstance(cell, int | float):
                    count = min(count + 1, RECENT_ROWS)
                    shift += ((cell - column.mean) / (column.scale or 1.0) - shift) / count
            self.shifts[column.name] = shift, count


class Metrics:
    """Counts requests, and collects the figures of the model for Prometheus."""

    def __init__(self, source: Trainer | FixedModel) -> None:
        self.source = source
        self.predicted = 0
        self.input_drift = InputDrift(source.predictor.schema.encoder)
        self._registry = CollectorRegistry()
        self._registry.register(self)
        requests = Counter("rosenblatt_requests", "Requests answered", ["path", "status"], registry=self._registry)
        seconds = Histogram(
            "rosenblatt_request_seconds", "Time to answer", ["path"], buckets=BUCKETS, registry=self._registry
        )
        self.requests, self.seconds = cache(requests.labels), cache(seconds.labels)  # a look-up there is slow

    def text(self) -> bytes:
        """All figures in the format of Prometheus."""
        return generate_latest(self._registry)

    def collect(self) -> Iterable[Metric]:
        """For the registry of prometheus_client."""
        text = "Recent mean of a column, in standard deviations of training"
        shift = GaugeMetricFamily("rosenblatt_input_shift", text, labels=["column"])
        for column, (value, rows) in self.input_drift.shifts.items():
            if rows >= 30:
                shift.add_metric([column], value)
        yield shift
        predictor = self.source.predictor
        yield GaugeMetricFamily("rosenblatt_features", "Features of the model", predictor.features)
        yield GaugeMetricFamily("rosenblatt_classes", "Classes of the model", len(predictor.labels))
        yield CounterMetricFamily("rosenblatt_predictions", "Rows predicted", self.predicted)
        if isinstance(self.source, Trainer):
            yield from self._of_trainer(self.source)

    @staticmethod
    def _of_trainer(trainer: Trainer) -> Iterable[Metric]:
        progress, count, gauge = trainer.model.progress, CounterMetricFamily, GaugeMetricFamily
        recent = progress.summary()["recent_error"] or 0.0
        for kind, name, text, value in (
            (count, "examples", "Examples learned", progress.examples),
            (count, "mistakes", "Mistakes before learning", progress.mistakes),
            (count, "skipped_examples", "Stored examples that could not be learned", progress.skipped),
            (count, "drift_alarms", "Alarms: the error has risen", progress.drift_alarms),
            (gauge, "log_writable", "1 if examples can be stored", int(not trainer.storage_error)),
            (gauge, "log_bytes", "Size of the log", trainer.log.size),
            (gauge, "log_seq", "Number of the last example", progress.seq),
            (gauge, "snapshot_seq", "Last example in a snapshot", trainer.snapshot_seq),
            (gauge, "published_seq", "Last example that predictions include", trainer.predictor.seq),
            (gauge, "recent_error", "Error of the latest thousand examples", recent),
        ):
            yield kind(f"rosenblatt_{name}", text, value)

    def live(self, info: ModelInfo) -> dict[str, Any]:
        """The data of the live page."""
        found = {"predicted": self.predicted, "model": info, "learning": self.source.learning}
        if not isinstance(self.source, Trainer):
            return found
        shown = ("seq", "curve", "alarms", "newest_mistakes")
        progress = {name: getattr(self.source.model.progress, name) for name in shown}
        return found | progress | {"log_bytes": self.source.log.size}
