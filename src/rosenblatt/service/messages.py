"""What goes over the wire, as types: requests are checked against them, and the OpenAPI description is made of them.

Invariant: a body is decoded straight into its type. What does not fit is refused with the path of the first misfit.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

Label = str | int | bool
Cell = str | int | float | bool | None
# A row is the values of all columns, or those of some features by name; for a model with an encoder it is a line of
# text or raw columns by name.
PlainRow = list[float] | dict[str, float]
RawRow = str | dict[str, Cell]
Row = TypeVar("Row")

Top = Annotated[int, Meta(ge=1, le=1000, description="the likeliest classes, so many")]
Because = Annotated[int, Meta(ge=1, le=1000, description="the features that spoke most for the answer, so many")]
Seq = Annotated[int, Meta(ge=0, le=2**62, description="a sequence number of the log")]
Weight = Annotated[float, Meta(ge=0.0, description="scales the step; 0 is as if absent")]


class Predict(Struct, Generic[Row], forbid_unknown_fields=True):
    """Rows to be labelled: `row` for one, `rows` for many."""

    row: Row | UnsetType = UNSET
    rows: list[Row] | UnsetType = UNSET
    scores: bool = False
    probabilities: bool = False
    top: Top | None = None
    because: Because | None = None
    remember: Annotated[bool, Meta(description="give each answer an id, for feedback later")] = False
    after: Annotated[Seq | None, Meta(description="answer by a model that has learned up to this number")] = None


class Ranked(Struct, gc=False):
    """A class and what speaks for it."""

    label: Label | float
    score: float
    probability: float | UnsetType = UNSET


class Reason(Struct, gc=False):
    """A feature that spoke for the answer, or against it if its share is negative."""

    feature: str
    value: float
    share: float


class Answer(Struct, omit_defaults=True, gc=False):
    """What is said of a row.

    The label is null before anything was learned, a number for a regression, and a list for a model that may give a
    row several labels.
    """

    label: Label | float | list[Label] | None
    scores: dict[str, float] | UnsetType = UNSET
    probabilities: dict[str, float] | UnsetType = UNSET
    top: list[Ranked] | UnsetType = UNSET
    because: list[Reason] | UnsetType = UNSET
    id: str | UnsetType = UNSET


class Predicted(Struct, omit_defaults=True):
    """The answer to `row` or the answers to `rows`, by a model that has learned up to `seq`."""

    seq: int
    answer: Answer | UnsetType = UNSET
    answers: list[Answer] | UnsetType = UNSET


class Learn(Struct, Generic[Row], forbid_unknown_fields=True):
    """Rows with their labels: `row`, `label`, `weight` for one; `rows`, `labels`, `weights` for many."""

    row: Row | UnsetType = UNSET
    label: Label | UnsetType = UNSET
    weight: Weight | UnsetType = UNSET
    rows: list[Row] | UnsetType = UNSET
    labels: list[Label] | UnsetType = UNSET
    weights: list[Weight] | UnsetType = UNSET


class Line(Struct, Generic[Row], forbid_unknown_fields=True):
    """A line of NDJSON: a row, and for learning its label and weight."""

    row: Row
    label: Label | UnsetType = UNSET
    weight: Weight = 1.0


class Feedback(Struct, forbid_unknown_fields=True):
    """The label of a row that was predicted before."""

    id: Annotated[str, Meta(max_length=64)]
    label: Label
    weight: Weight = 1.0


class Learnt(Struct):
    """Rows that are on disk and learned: their numbers, what was predicted before, and which were mistakes."""

    first: int
    last: int
    mistakes: int
    predicted: list[Label | float | None]
    mistaken: list[bool]


class Examples(Struct, omit_defaults=True):
    """Examples as the log holds them."""

    rows: list[Any]
    labels: list[Any]
    weights: list[float] | None = None


class Promote(Struct, forbid_unknown_fields=True):
    """A shadow that is to answer from now on."""

    learner: Annotated[str, Meta(max_length=64)]


class ErrorOf(Struct):
    """What went wrong, as a word and as a sentence."""

    code: str
    message: str


class Failure(Struct):
    """The one shape of every error."""

    error: ErrorOf


class LearnerFacts(Struct):
    """A learner that follows the log."""

    name: str
    served: bool
    examples: int
    mistakes: int
    progressive_error: float | None
    recent_error: float | None


class Facts(Struct):
    """What is known of the model."""

    learner: str
    parameters: dict[str, Any]
    classes: list[Label | float]
    features: int
    reads: str
    seq: int
    learns: bool
    learners: list[LearnerFacts]


class Health(Struct):
    """The process answers."""

    status: str
    version: str


class Ready(Struct):
    """Is there a model to answer by, and can examples be stored?"""

    ready: bool
    learning: str
    seq: int
