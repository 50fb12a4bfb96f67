"""Which learner is taken where none is named: the one that `AutoPerceptron` chooses.

Invariant: the same data and seed give the same choice. It is made on rows that fit into bounded memory, in a process
of its own unless they are few: its memory is free again when the chosen learner begins to learn from all rows, as they
are read.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rosenblatt.training.held import Held
from rosenblatt.training.rows import Compact, sample_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rosenblatt.data.batch import Classes, RowBatch
    from rosenblatt.io.dataset import Dataset
    from rosenblatt.models.calibrator import Calibrator
    from rosenblatt.models.predictors import Products
    from rosenblatt.params import Params

SAMPLE_BYTES = 32 << 20
SMALL_BYTES = 1 << 20  # files up to this size, all together, are not worth a process
UNTRIED_EPOCHS = 5  # where learners could not be compared
MANY_WEIGHTS = 1 << 26  # of all classes, over all columns: half a gigabyte
CAUTION = 0.5  # r beside the median ‖x‖² + 1, where AROW is taken untried: it comes first on such rows
MOST_WEIGHTS = 1 << 19  # of a candidate, all classes together; some dozens of candidates and folds are held at once


@dataclass(frozen=True)
class Limits:
    """What may be held to choose."""

    sample_bytes: int
    weights: int


@dataclass(frozen=True)
class Choice:
    """Params, what columns are divided by or how they are multiplied, and why."""

    params: Params
    scale: NDArray[np.float64] | None
    products: Products | None
    why: str
    scores: dict[str, float]
    held: Held | None = None  # how the best one did on the rows that it was chosen by
    calibrator: Calibrator | None = None


def choose_learner(
    reader: Dataset, *, products: bool, max_iter: int | None, random_state: int, class_weight: Any = None
) -> Choice:
    """`choose`, in a process of its own unless the data are small."""
    limits = Limits(SAMPLE_BYTES, MOST_WEIGHTS)
    told: dict[str, Any] = {
        "products": products,
        "max_iter": max_iter,
        "random_state": random_state,
        "class_weight": class_weight,
    }
    if sum(source.size for source in reader.sources) <= SMALL_BYTES:
        return choose(reader, limits, **told)
    return _choose_apart(reader, limits, told)


def _choose_apart(reader: Dataset, limits: Limits, told: dict[str, Any]) -> Choice:
    from multiprocessing import get_context

    from rosenblatt.errors import DataError
    from rosenblatt.io.source import Source, Spooled

    sources = [Source(source.path) if isinstance(source, Spooled) else source for source in reader.sources]
    context = get_context("spawn")
    receive, send = context.Pipe(duplex=False)
    words = (send, replace(reader, sources=sources), limits, told)
    process = context.Process(target=_answer, args=words, daemon=True)
    process.start()
    send.close()
    try:
        found: Choice | Exception = receive.recv()
    except EOFError:
        raise DataError("choosing a learner needs more memory than there is: name one with --learner") from None
    finally:
        process.kill()  # an answer has been sent, or is no longer wanted
        process.join()
    if isinstance(found, Exception):
        raise found
    return found


def _answer(send: Any, reader: Dataset, limits: Limits, told: dict[str, Any]) -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that waits says that it was interrupted
    answer: Choice | Exception
    try:
        answer = choose(reader, limits, **told)
    except Exception as error:  # whatever it is, it is raised where somebody waits
        answer = error
    with contextlib.suppress(OSError):  # the process that waited may be gone
        send.send(answer)


def choose(
    reader: Dataset,
    limits: Limits,
    *,
    products: bool,
    max_iter: int | None,
    random_state: int,
    class_weight: Any = None,
) -> Choice:
    """Choose by rows from all over the data."""
    classes = reader.scan_classes()
    rows, step = sample_rows(reader, limits.sample_bytes)
    told: dict[str, Any] = {
        "products": products,
        "max_iter": max_iter,
        "random_state": random_state,
        "class_weight": class_weight,
    }
    return choose_by(rows, step, classes, reader.encoder.features, limits, **told)


def choose_by(
    rows: RowBatch,
    step: int,
    classes: Classes,
    features: int | None,
    limits: Limits,
    *,
    products: bool,
    max_iter: int | None,
    random_state: int,
    class_weight: Any = None,
) -> Choice:
    """Choose by every `step`-th row of some data with these classes."""
    import numpy as np

    from rosenblatt.data.labels import encode_labels
    from rosenblatt.learners.targets import row_weights, weight_rows
    from rosenblatt.params import AROWParams
    from rosenblatt.select.scaling import typical_squared_norm
    from rosenblatt.select.search import MOST_EPOCHS, Sample, select

    compact = Compact.of(rows, features, dense=False)
    weights = weight_rows(len(classes)) * len(compact.columns)
    codes = classes.codes(rows)
    if weights > limits.weights or len(codes) == 0 or codes.min() == codes.max():
        why = f"{len(classes)} classes and {len(compact.columns):,} columns are too many to try several side by side"
        if weights <= limits.weights:
            why = f"every {step:,}-th row is of one class, too few to compare learners"
        r = float(f"{CAUTION * (typical_squared_norm(compact.table) + 1.0):.2g}")
        epochs = UNTRIED_EPOCHS if max_iter is None else max_iter
        untried = AROWParams(r=r, max_iter=epochs, random_state=random_state)
        return Choice(untried, None, None, f"AROW(r={r:g}): {why}", {})
    labels = encode_labels(classes.values[codes])
    sample_weights = row_weights(rows.weights, None, labels)
    found = select(
        Sample(
            compact.table, labels, row_weights(rows.weights, class_weight, labels, more_to_come=True), sample_weights
        ),
        products=products,
        seed=random_state,
        max_iter=MOST_EPOCHS if max_iter is None else max_iter,
    )
    best, params = found.best, found.params
    if found.contest is None and max_iter is None and len(classes) * compact.features > MANY_WEIGHTS:
        params.max_iter = UNTRIED_EPOCHS  # each epoch would go over all weights
    scale = None
    if found.scaling is not None:
        scale = np.ones(compact.features)
        scale[compact.columns] = found.scaling.scale
    sample = "" if step == 1 else f" (on every {step:,}-th row)"
    multiplied = found.products
    if multiplied is not None:
        multiplied = replace(multiplied, columns=compact.columns[multiplied.columns])
    held = None
    if found.contest is not None:
        which = (f"{best.held:,} held-out rows", ", by which the learner was chosen")
        held = Held(best.score, best.effective, *which, baseline=found.held_baseline())
    calibration = found.calibrate() if len(labels.classes) == len(classes) else None
    calibrator = None if calibration is None else calibration.calibrator
    return Choice(params, scale, multiplied, found.sentence + sample, found.scores, held, calibrator)
