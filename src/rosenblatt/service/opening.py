"""From a log, a model or nothing to a service that is ready.

Invariant: what the log says is what is learned; options that contradict it are refused, never taken over in silence.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rosenblatt.errors import DataError, ModelError, ParameterError
from rosenblatt.models.file import encoder_from
from rosenblatt.params.base import Params
from rosenblatt.params.rules import KEEPS
from rosenblatt.service.clock import Clock
from rosenblatt.service.fold import Fold, Follower
from rosenblatt.service.learning import SNAPSHOT_EXAMPLES, Learning, names_of, read_entry
from rosenblatt.service.limits import Limits
from rosenblatt.service.log import Log, Origin
from rosenblatt.service.predictions import Remembered
from rosenblatt.service.rows import Form
from rosenblatt.service.snapshots import Snapshots
from rosenblatt.service.states import from_bytes, new_learner, open_stream, params_from, params_to, to_bytes


@dataclass(frozen=True)
class Wanted:
    """A learner that is to follow a log: by its params, from nothing or from what it has learned."""

    params: Params
    learner: Any = None
    encoder: Any = None
    classes: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        return str(params_to(self.params)["learner"])

    def origin(self, served: bool) -> Origin:
        known = json.dumps(params_to(self.params), sort_keys=True)
        state = None
        if self.learner is not None:
            state = to_bytes(self.learner)
        elif self.classes:
            state = to_bytes(new_learner(self.params, list(self.classes)))
        return Origin(self.name, known, served, state)


def open_learning(
    path: str,
    limits: Limits,
    wanted: Wanted | None = None,
    shadows: Sequence[Params] = (),
    every: int = SNAPSHOT_EXAMPLES,
) -> tuple[Learning, Clock]:
    """What learns by this log, with everything learned that the log holds."""
    for params in (*([] if wanted is None else [wanted.params]), *shadows):
        check_bounded(params)
    log = Log(path)
    try:
        _agree(log, wanted, shadows)
        encoder = None if log.encoder is None else encoder_from(json.loads(log.encoder))
        newest = log.connection.execute("SELECT max(time) FROM entries").fetchone()[0]
        clock = Clock(newest or 0.0)
        form = Form({}, limits, encoder)
        fold = restore(log, form)
        form.names = names_of(fold)
        remembered = Remembered(limits, clock, log.remembered())
        learning = Learning(log, fold, form, limits.keys, remembered, every)
        learning.catch_up()
        form.names = names_of(fold)
        learning.publish()
    except sqlite3.Error as error:
        log.close()
        raise DataError(f"{path} cannot be used as a log: {error}") from None
    except BaseException:
        log.close()
        raise
    return learning, clock


def check_bounded(params: Params) -> None:
    """Raise for a learner that keeps rows: its memory would grow with every mistake."""
    if KEEPS[params.keep].votes:
        raise ParameterError("a vote keeps every mistaken row, so its memory has no bound: serve averaged instead")
    if getattr(params, "hash_bits", None):
        raise ParameterError("hash_bits: a server bounds its features by --limit features=N, and keeps their names")


def restore(log: Log, form: Form, until: int | None = None) -> Fold:
    """The learners as of the newest snapshot up to `until`, or of the log's beginning.

    One that is new learns what the others know.
    """
    origins = log.origins()
    served = next(origin.name for origin in origins if origin.served)
    facts, known = Snapshots(log).newest(log, until) or (None, {})
    known = {name: each for name, each in known.items() if _is_of(each, origins)}
    if facts is None or served not in known:
        facts, known = None, {}
    followers, late = [], []
    for origin in origins:
        follower = known.get(origin.name)
        if follower is None:
            follower = Follower(origin.name, begin_learner(origin))
            late.append(follower)
        followers.append(follower)
    fold = Fold(followers, served)
    fold.seq, fold.chain = log.base, log.base_chain
    if facts is None:
        if log.base_facts is not None:
            fold.restore(json.loads(log.base_facts))
        return fold
    fold.restore(facts)
    if late:
        form.names = names_of(fold)
        for entry in log.entries(log.base, fold.seq):
            rows, labels, weights = read_entry(entry, form)
            for at, (row, label) in enumerate(zip(rows, labels, strict=True)):
                for follower in late:
                    follower.take(row, label, 1.0 if weights is None else weights[at])
    return fold


def _is_of(follower: Follower, origins: Sequence[Origin]) -> bool:
    """Is this learner of a snapshot still told the same?"""
    told = json.dumps(params_to(follower.learner.params()), sort_keys=True)
    return any(origin.name == follower.name and origin.params == told for origin in origins)


def begin_learner(origin: Origin) -> Any:
    """A learner as it was before the first entry."""
    return new_learner(params_from(json.loads(origin.params))) if origin.state is None else from_bytes(origin.state)


def _agree(log: Log, wanted: Wanted | None, shadows: Sequence[Params]) -> None:
    """Begin a new log, or see that an old one is what is asked for; shadows may come and go."""
    origins = log.origins()
    if not origins:
        if wanted is None:
            raise ParameterError(f"{log.path} is a new log: name a MODEL or a --learner to begin with")
        encoder = None if wanted.encoder is None else json.dumps(wanted.encoder.to_json())
        log.set_origins([wanted.origin(True), *_shadows(shadows, wanted.name, wanted.classes)], encoder)
        return
    first = next(origin for origin in origins if origin.served)
    if wanted is not None:
        begun = origins[0]
        asked = wanted.origin(True)
        if asked.params != begun.params or (asked.state is not None and asked.state != begun.state):
            raise DataError(
                f"{log.path} was begun by another model or learner ({begun.name}): leave MODEL and --learner out to "
                "go on with it, or begin another log"
            )
    names = {origins[0].name, first.name}
    kept = [origin for origin in origins if origin.name in names]
    old = {origin.name: origin for origin in origins}
    for shadow in _shadows(shadows, ""):
        if shadow.name not in names:
            same = old.get(shadow.name)
            kept.append(same if same is not None and same.params == shadow.params else shadow)
            names.add(shadow.name)
    if kept != origins:
        log.set_origins(kept)


def _shadows(params_list: Sequence[Params], besides: str, classes: tuple[Any, ...] = ()) -> list[Origin]:
    found: list[Origin] = []
    for params in params_list:
        origin = Wanted(params, classes=classes).origin(False)
        if origin.name == besides or any(origin.name == other.name for other in found):
            raise ParameterError(f"--shadow {origin.name}: it follows the log already")
        found.append(origin)
    return found


def _why_fixed(learner: Any) -> str:
    """Why a model cannot learn on, one example at a time."""
    reasons = {
        "AutoPerceptron": "which prepares its columns by all rows",
        "Calibrated": "whose probabilities are fitted on rows that are held out",
        "KernelPerceptron": "which keeps rows and adds to them with its mistakes",
        "PassiveAggressiveRegression": "which predicts numbers instead of labels",
        "PassiveAggressiveRegressor": "which predicts numbers instead of labels",
    }
    return reasons.get(type(learner).__name__, "with several labels per row")


def wanted_from(path: str) -> Wanted:
    """A model that is to learn on, from the state that its file holds."""
    from rosenblatt.learners.linear import LinearLearner
    from rosenblatt.models.file import load
    from rosenblatt.select.kept import revive

    model = load(path)
    learner = revive(model)
    if not isinstance(learner, LinearLearner) or model.is_multilabel:
        raise ModelError(
            f"{path} is a model of {type(learner).__name__}, {_why_fixed(learner)}: it can be served without --learn; "
            "train one that learns on with --learner averaged, pa1, arow or another single learner"
        )
    if model.classes.dtype.kind in "mM":
        raise ModelError(f"{path} has classes that are dates: there is no such thing in JSON")
    open_stream(learner)
    return Wanted(learner.params(), learner, model.encoder)
