"""Requests and replies as types: bodies are checked against them, and the OpenAPI description is made of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.json import Decoder, Encoder, schema_components

from rosenblatt import __version__

if TYPE_CHECKING:
    from rosenblatt.service.app import Route

JSON, NDJSON = "application/json", "application/x-ndjson"

Label = str | int | bool
Cell = str | int | float | bool | None
# A row is the values of all columns, or some features by name; for a model with an encoder it is a line of text or raw
# columns by name.
PlainRow = list[float] | dict[str, float]
RawRow = str | dict[str, Cell]
Row = TypeVar("Row")

Top = Annotated[int, Meta(ge=1, le=1000, description="return the K most likely classes")]
Contributions = Annotated[int, Meta(ge=1, le=1000, description="return the K features that contribute most")]
Seq = Annotated[int, Meta(ge=0, le=2**62, description="wait until the model includes example N")]
Weight = Annotated[float, Meta(ge=0.0, description="scales the step; 0 is ignored")]


class PredictRequest(Struct, Generic[Row], forbid_unknown_fields=True):
    """Rows to predict: `row` for one, `rows` for many."""

    row: Row | UnsetType = UNSET
    rows: list[Row] | UnsetType = UNSET
    scores: bool = False
    probabilities: bool = False
    top: Top | None = None
    contributions: Contributions | None = None
    min_seq: Seq | None = None


class RankedClass(Struct, gc=False):
    """A class with its score."""

    label: Label | float
    score: float
    probability: float | UnsetType = UNSET


class FeatureContribution(Struct, gc=False):
    """Weight times value of a feature: how much it adds to the score of the predicted class."""

    feature: str
    value: float
    share: float


class Prediction(Struct, omit_defaults=True, gc=False):
    """The prediction for one row.

    The label is null before anything is learned, a number for a regression, and a list for a model with several labels
    per row.
    """

    label: Label | float | list[Label] | None
    scores: dict[str, float] | UnsetType = UNSET
    probabilities: dict[str, float] | UnsetType = UNSET
    top: list[RankedClass] | UnsetType = UNSET
    contributions: list[FeatureContribution] | UnsetType = UNSET


class PredictReply(Struct, omit_defaults=True):
    """The prediction for `row`, or the predictions for `rows`, by a model that includes examples up to `seq`."""

    seq: int
    prediction: Prediction | UnsetType = UNSET
    predictions: list[Prediction] | UnsetType = UNSET


class LearnRequest(Struct, Generic[Row], forbid_unknown_fields=True):
    """Rows with labels: `row`, `label`, `weight` for one; `rows`, `labels`, `weights` for many."""

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


class LearnReply(Struct, omit_defaults=True):
    """Examples on disk and learned: their numbers, the predictions before learning, and which were mistakes.

    For a repeated Idempotency-Key only the numbers, and `repeated`.
    """

    first: int
    last: int
    mistakes: int | UnsetType = UNSET
    predicted: list[Label | float | None] | UnsetType = UNSET
    mistaken: list[bool] | UnsetType = UNSET
    repeated: bool = False


class Examples(Struct, omit_defaults=True):
    """Examples as the log stores them."""

    rows: list[Any]
    labels: list[Any]
    weights: list[float] | None = None


read_examples = Decoder(Examples).decode
ENCODER = Encoder()


class Error(Struct):
    """An error as a code and a sentence."""

    code: str
    message: str


class ErrorReply(Struct):
    """The shape of every error."""

    error: Error


class ModelInfo(Struct):
    """The model: its lineage, its input, and its error."""

    learner: str
    parameters: dict[str, Any]
    classes: list[Label | float]
    features: int
    reads: str
    seq: int
    learns: bool
    lineage: dict[str, Any]
    examples: int = 0
    mistakes: int = 0
    progressive_error: float | None = None
    recent_error: float | None = None
    drift_alarms: int = 0
    skipped: int = 0


# -- the OpenAPI description

_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "maxLength": 255, "pattern": "^[!-~]+$"},
    "description": "The same key with the same examples is learned once, however often it is sent.",
}


def describe(routes: Iterable[Route], raw: bool) -> dict[str, Any]:
    """The description of a server whose model reads plain rows, or raw ones."""
    row: Any = RawRow if raw else PlainRow
    generic: dict[Any, Any] = {PredictRequest: PredictRequest[row], LearnRequest: LearnRequest[row]}
    shown = [route for route in routes if route.summary]
    types = [ErrorReply, *(each for route in shown for each in (route.request, route.reply) if isinstance(each, type))]
    described, components = schema_components(
        [generic.get(each, each) for each in types], ref_template="#/components/schemas/{name}"
    )
    schema_of = dict(zip(types, described, strict=True))

    def content(kind: Any, bulk: bool) -> dict[str, Any]:
        if isinstance(kind, str):
            return {kind: {"schema": {"type": "object" if kind == JSON else "string"}}}
        lines = {NDJSON: {"schema": {"type": "string"}}} if bulk else {}
        return {JSON: {"schema": schema_of[kind]}, **lines}

    paths: dict[str, Any] = {}
    for route in shown:
        responses = {
            "200": {"description": "OK", "content": content(route.reply, route.bulk == "both")},
            "default": {"description": "Error: the code says which", "content": content(ErrorReply, False)},
        }
        operation = {"summary": route.summary, "responses": responses, "security": [{}, {"token": []}]}
        if route.request is not None:
            operation["requestBody"] = {"required": True, "content": content(route.request, bool(route.bulk))}
        if route.path == "/learn":
            operation["parameters"] = [_KEY]
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    about = "Predictions while it learns; no acknowledged example is lost."
    return {
        "openapi": "3.1.0",
        "info": {"title": "rosenblatt serve", "version": __version__, "description": about},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }
