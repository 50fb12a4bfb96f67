"""What the live page shows, as one object."""

from __future__ import annotations

import time
from typing import Any

from rosenblatt.service.metrics import Metrics
from rosenblatt.service.service import Service


def live_facts(service: Service, metrics: Metrics) -> dict[str, Any]:
    """Everything on the page, as of now."""
    published = service.published
    facts: dict[str, Any] = {
        "seconds": time.monotonic() - service.began,
        "predicted": service.predicted,
        "latency": {path.strip("/"): metrics.latency(path) for path in metrics.latest},
        "model": service.facts(),
        "published": published.seq,
        "learning": "off",
    }
    learning, writer = service.learning, service.writer
    if learning is None or writer is None:
        return facts
    fold = learning.fold
    return facts | {
        "learning": writer.broken or "on",
        "seq": fold.seq,
        "waiting": writer.waiting,
        "commits": writer.commits,
        "log_bytes": learning.log.size,
        "snapshot": learning.snapshot_seq,
        "complaint": learning.complaint,
        "curves": {name: list(each.progress.curve) for name, each in list(fold.followers.items())},
        "alarms": list(fold.answering.progress.drift.alarms),
        "mistakes": list(fold.newest)[::-1],
        "spans": list(fold.spans),
    }
