"""What the service does, whatever the way in: predict, learn, take feedback, tell facts.

Invariant: everything here runs on the loop's thread. Learning is handed to the writer; predictions never wait for it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from rosenblatt import __version__
from rosenblatt.models.model import Model
from rosenblatt.service.admission import Admission
from rosenblatt.service.bodies import JSON, LINES, Bodies, decode
from rosenblatt.service.learning import Learning
from rosenblatt.service.limits import Limits
from rosenblatt.service.messages import Answer, Facts, Feedback, Health, LearnerFacts, Predict, Predicted, Ready
from rosenblatt.service.published import Published
from rosenblatt.service.refusals import Refused, busy, too_many_cells
from rosenblatt.service.rows import Form
from rosenblatt.service.writer import Writer

ENCODER = msgspec.json.Encoder()
FEEDBACK = msgspec.json.Decoder(Feedback)


class Service:
    """A model that answers, and may learn.

    Parameters
    ----------
    form : Form
        How rows are read.
    limits : Limits
    model : Model, optional
        That answers without learning.
    learning, writer : optional
        What learns, and the thread that it happens in.
    """

    def __init__(
        self,
        form: Form,
        limits: Limits,
        *,
        model: Model | None = None,
        learning: Learning | None = None,
        writer: Writer | None = None,
    ) -> None:
        self.form, self.limits, self.model = form, limits, model
        self.learning, self.writer = learning, writer
        self.bodies = Bodies(form.raw, limits)
        self.began = time.monotonic()
        self.predicted = 0
        self.admission = None
        if learning is not None and writer is not None:
            self.admission = Admission(form, learning.fold, writer, limits)
        self._fixed = None if model is None else fixed_answer(model, form)

    @property
    def published(self) -> Published:
        """What answers now."""
        if self._fixed is not None:
            return self._fixed
        assert self.learning is not None
        return self.learning.published

    # -- predictions

    async def predict(self, body: bytes, kind: str, query: bytes, packed: bool = False) -> bytes:
        """The answers to a request, as JSON, as JSON lines for lines, or packed as an Arrow stream."""
        asked, rows, single = self.bodies.predict(body, kind, query)
        if asked.after is not None:
            await self._wait_for(asked.after)
        published = self.published
        if (count := len(rows)) * published.scores_per_row > self.limits.cells and count > 1:
            raise too_many_cells("the answers would have", "scores", self.limits.cells)
        if packed:
            return self._packed(published, rows, asked)
        answers = self._answers(published, rows, asked)
        self.predicted += len(answers)
        if kind == LINES:
            return ENCODER.encode_lines(answers)
        if single:
            return ENCODER.encode(Predicted(published.seq, answer=answers[0]))
        return ENCODER.encode(Predicted(published.seq, answers=answers))

    def _answers(self, published: Published, rows: Any, asked: Predict[Any]) -> list[Answer]:
        values = None if asked.because else self._in_order(published, rows)
        if values is not None:
            answers = published.answers(published.scores_in_order(values), None, asked)
        else:
            rows = self._plain(rows)
            features = self.form.features_of(rows)
            if not published.parts:
                answers = [Answer(None) for _ in rows]
            else:
                answers = published.answers(published.scores(features), features, asked)
            if asked.remember:
                self._remember(answers, self.form.stored(rows, features))
            return answers
        if asked.remember:
            self._remember(answers, self._plain(rows))
        return answers

    def _packed(self, published: Published, rows: Any, asked: Predict[Any]) -> bytes:
        """Labels, and scores if they are asked for, as an Arrow stream."""
        from rosenblatt.service.arrow import answers_to

        if asked.probabilities or asked.top or asked.because or asked.remember:
            raise Refused(422, "an Arrow answer has labels and scores: ask for JSON to have more")
        values = self._in_order(published, rows)
        if not published.parts:
            raise Refused(409, "nothing was learned yet")
        if values is not None:
            scores = published.scores_in_order(values)
        else:
            scores = published.scores(self.form.features_of(self._plain(rows)))
        self.predicted += len(scores)
        return answers_to(published, scores, bool(asked.scores))

    def _plain(self, rows: Any) -> Sequence[Any]:
        """Rows as a list, whatever they came as."""
        if isinstance(rows, list):
            return rows
        from rosenblatt.service.arrow import dense, rows_of

        values = dense(rows) if self._by_place(rows) else None
        return rows_of(rows, self.form.raw) if values is None else values.tolist()

    def _by_place(self, table: Any) -> bool:
        """Do the columns of an Arrow table stand for numbered features?"""
        return bool(self.form.numbered) and not all(name.isdecimal() for name in table.schema.names)

    def _in_order(self, published: Published, rows: Any) -> Any:
        """Rows as one matrix, if that is what they are and the model has its columns in the same order."""
        width = published.features
        if not width or not published.parts or self.form.raw:
            return None
        if not isinstance(rows, list):
            names = rows.schema.names
            same = published.in_order and (names == [str(j) for j in range(width)] or self._by_place(rows))
            same = same or (not published.in_order and names == list(published.names))
            if not same or len(names) != width:
                return None
            from rosenblatt.service.arrow import dense

            return dense(rows)
        if not published.in_order or {*map(type, rows)} != {list} or {*map(len, rows)} != {width}:
            return None
        if len(rows) == 1:
            return np.array(rows, np.float64)
        return np.fromiter(chain.from_iterable(rows), np.float64, width * len(rows)).reshape(-1, width)

    def _remember(self, answers: list[Answer], rows: Sequence[Any]) -> None:
        if self.learning is None:
            raise Refused(422, "this server does not learn, so there is nothing to remember a prediction for")
        for answer, row in zip(answers, rows, strict=True):
            answer.id = self.learning.remembered.add(row)

    async def _wait_for(self, seq: int) -> None:
        """Until what answers has learned up to this number."""
        if self.published.seq >= seq:
            return
        learning, writer = self._learns()
        if learning.log.last < seq:
            raise Refused(422, f"after={seq}: the last example has the number {learning.log.last}")
        async with asyncio.timeout(self.limits.seconds):
            await writer.call(learning.publish)
        if self.published.seq < seq:
            raise busy("the examples are stored but not learned yet")

    # -- learning

    async def learn(self, body: bytes, kind: str, query: bytes, key: str | None) -> bytes:
        """The reply to examples that are on disk and learned."""
        self._learns()
        if query and kind == JSON:
            raise Refused(400, "options of a JSON request go into its body, not into the address")
        # Nothing of the rows is kept here while they wait.
        return await self._admitted(body, kind, query, key)

    def _admitted(self, body: bytes, kind: str, query: bytes, key: str | None) -> asyncio.Future[bytes]:
        assert self.admission is not None
        rows, labels, weights = self.bodies.learn(body, kind, query)
        return self.admission.admit(self._plain(rows), labels, weights, key)

    async def feedback(self, body: bytes) -> bytes:
        """Learn the label of an earlier prediction: once, however often it is told."""
        learning, _ = self._learns()
        assert self.admission is not None
        told = decode(FEEDBACK, body)
        row = learning.remembered.get(told.id)
        if row is None:
            raise Refused(404, f"there is no prediction {told.id!r}, or it was made too long ago")
        weights = None if told.weight == 1.0 else [told.weight]
        return await self.admission.admit([row], [told.label], weights, f"feedback:{told.id}")

    async def promote(self, name: str) -> None:
        """Let a shadow answer from now on."""
        learning, writer = self._learns()
        if name not in learning.fold.followers:
            known = ", ".join(learning.fold.followers)
            raise Refused(404, f"there is no learner {name!r}: there are {known}")
        await writer.call(lambda: learning.promote(name))

    def _learns(self) -> tuple[Learning, Writer]:
        if self.learning is None or self.writer is None:
            raise Refused(409, "this server does not learn: start it with --learn LOG")
        return self.learning, self.writer

    # -- facts

    def facts(self) -> Facts:
        """What is known of the model."""
        published, learning = self.published, self.learning
        if learning is None:
            assert self.model is not None
            name, told, learners = self.model.learner, dict(self.model.parameters), []
        else:
            learner = learning.fold.answering.learner
            name, told, learners = type(learner).__name__, learner.params().plain(), self.learners()
        encoder = self.form.encoder
        reads = "rows of features" if encoder is None else encoder.describe()
        seq = published.seq
        return Facts(name, told, published.labels, published.features, reads, seq, learning is not None, learners)

    def learners(self) -> list[LearnerFacts]:
        """How well each learner does."""
        if self.learning is None:
            return []
        fold = self.learning.fold
        found = []
        for name, each in fold.followers.items():
            p = each.progress
            found.append(LearnerFacts(name, name == fold.served, p.examples, p.mistakes, p.error, p.recent_error))
        return found

    async def file(self) -> bytes:
        """The model file of what was learned so far."""
        from rosenblatt.service.states import model_bytes

        if self.learning is None or self.writer is None:
            assert self.model is not None
            return model_bytes(self.model)
        learning = self.learning
        if not learning.fold.answering.learner.has_learned or not learning.form.names:
            raise Refused(409, "nothing was learned yet")
        packed: bytes = await self.writer.call(lambda: model_bytes(learning.model()))
        return packed

    def health(self) -> Health:
        return Health("ok", __version__)

    def ready(self) -> Ready:
        """Answers are possible; whether examples can be stored is told beside."""
        if self.writer is None:
            return Ready(True, "off", 0)
        return Ready(True, self.writer.broken or "on", self.published.seq)


def fixed_answer(model: Model, form: Form) -> Published:
    """What answers for a model that does not learn."""
    in_order = form.encoder is None and not model.names
    return Published(
        model.classes,
        model.parts,
        form.names,
        model.features,
        in_order=in_order,
        calibrator=model.calibrator,
        shown={column: str(name) for column, name in model.names.items()},
        is_multilabel=model.is_multilabel,
    )
