"""What may be stored: examples that every learner can take, within the limits, counting those that still wait.

Invariant: an admitted example can be learned. The order of admission is the order of the log. All of this happens on
the loop's thread, so that no two requests are weighed at once.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from rosenblatt.errors import ParameterError
from rosenblatt.learners.spaces import SAFE
from rosenblatt.learners.targets import check_weight
from rosenblatt.service.fold import Fold
from rosenblatt.service.limits import Limits
from rosenblatt.service.messages import Examples
from rosenblatt.service.refusals import Refused, busy
from rosenblatt.service.rows import Features, Form, new_names
from rosenblatt.service.writer import Job, Writer

ENCODER = msgspec.json.Encoder()
LARGE = 64 << 10  # bytes
_KINDS = {str: "texts", bool: "truth values", int: "numbers"}


class Admission:
    """Weighs requests to learn, and hands them to the writer."""

    def __init__(self, form: Form, fold: Fold, writer: Writer, limits: Limits) -> None:
        self.form, self.fold, self.writer, self.limits = form, fold, writer, limits
        self._names: Counter[Any] = Counter()  # new ones that wait to be learned
        self._labels: Counter[Any] = Counter()
        self._steps = max(
            max(rule.eta0, rule.C) for rule in (each.learner.params().update_rule for each in fold.followers.values())
        )

    def admit(
        self, rows: Sequence[Any], labels: list[Any], weights: list[float] | None, key: str | None
    ) -> asyncio.Future[bytes]:
        """The reply to come, once the examples are on disk and learned."""
        if self.writer.waiting and self.writer.waiting + len(labels) > self.limits.waiting:
            raise busy("too many examples wait to be learned")
        features = self.form.features_of(rows)
        names = self._check_names(features)
        new_labels = self._check_labels(labels)
        if names or new_labels:
            self._check_size(names, new_labels)
        if weights is not None:
            self._check_weights(features, weights)
        if self.form.numbered is None and not self.form.raw:
            self.form.begin(isinstance(rows[0], list))
        stored = ENCODER.encode(Examples(list(self.form.stored(rows, features)), labels, weights))
        digest = hashlib.blake2b(stored, digest_size=16).digest()
        # A large request waits as what goes to disk: as features it would take ten times as much.
        waits = features if len(stored) <= LARGE else None
        job = Job(waits, labels, weights, stored, key, digest, self.writer.loop.create_future())
        if names or new_labels or not self.fold.seq:
            self._names.update(names)
            self._labels.update(new_labels)
            job.future.add_done_callback(lambda _: self._settle(names, new_labels))
        self.writer.submit(job)
        return job.future

    def _settle(self, names: set[Any], labels: set[Any]) -> None:
        """They are learned, or will never be."""
        self._names -= Counter(names)
        self._labels -= Counter(labels)
        if not self._names and not self.fold.seq:
            self.form.forget()

    def _check_names(self, rows: Sequence[Features]) -> set[Any]:
        limits, known = self.limits, self.form.names
        waiting = self._names
        new = new_names(rows, known)
        if not new:
            return new
        count = len(known) + len(waiting.keys() | new)
        if count > limits.features and not self.form.raw:
            raise Refused(
                422,
                f"the model may know {limits.features:,} features, and these rows would bring it to {count:,}; "
                f"{str(min(map(str, new)))[:100]!r} is new",
            )
        for name in new:
            if isinstance(name, str) and len(name) > limits.name // 4 and len(name.encode()) > limits.name:
                raise Refused(422, f"the feature {name[:50]!r}… has a name of more than {limits.name:,} bytes")
        return new

    def _check_labels(self, labels: list[Any]) -> set[Any]:
        asked = set(labels)
        if len({*map(type, labels)}) > 1:  # 1 and true are equal, but not the same
            raise Refused(422, "the labels of one request must be of one kind: texts, truth values or numbers")
        known = self.fold.classes()
        if not asked - set(known):
            if known and any(_kind(label) is not _kind(known[0]) for label in asked):
                raise Refused(422, f"the labels of this model are {_KINDS[_kind(known[0])]}")
            return set()
        every = [*known, *self._labels, *labels]
        kind = _kind(every[0])
        for label in asked:
            if _kind(label) is not kind:
                raise Refused(422, f"the label {label!r} is of another kind than the others, which are {_KINDS[kind]}")
            if isinstance(label, str) and len(label.encode()) > self.limits.name:
                raise Refused(422, f"the label {label[:50]!r}… has more than {self.limits.name:,} bytes")
            if isinstance(label, str) and "\0" in label:
                raise Refused(422, f"the label {label[:50]!r} holds a character that no label can hold")
            if isinstance(label, int) and abs(label) >= 2**63:
                raise Refused(422, f"the label {label} is too large")
        count = len(set(every))
        if count > self.limits.classes:
            new = min(map(str, asked - set(known)))[:100]
            raise Refused(422, f"the model may know {self.limits.classes:,} classes, and {new!r} is one too many")
        try:
            for each in self.fold.followers.values():
                each.learner.params().check_classes(count)
        except ParameterError as error:
            raise Refused(422, str(error)) from None
        return asked - set(known)

    def _check_size(self, names: set[Any], labels: set[Any]) -> None:
        """Raise if there would be more weights than there may be."""
        features = len(self.form.names) if self.form.raw else len(self.form.names) + len(self._names.keys() | names)
        classes = len(set(self.fold.classes()) | self._labels.keys() | labels)
        size = features * (1 if classes <= 2 else classes)
        if size > self.limits.weights:
            most = f"the model may have {self.limits.weights:,} weights"
            raise Refused(422, f"{most}, and {features:,} features for {classes:,} classes would need {size:,}")

    def _check_weights(self, rows: Sequence[Features], weights: list[float]) -> None:
        for at, (row, weight) in enumerate(zip(rows, weights, strict=True)):
            try:
                check_weight(weight)
            except ValueError as error:
                raise Refused(422, f"row {at}: {error}") from None
            if weight != 1.0 and weight * max(map(abs, row.values()), default=0.0) * self._steps > SAFE[8]:
                raise Refused(422, f"row {at}: its weight times its values is too large to learn from")


def _kind(label: Any) -> type:
    """Texts, truth values or numbers."""
    return str if isinstance(label, str) else bool if isinstance(label, bool) else int
