"""From bodies to rows, labels and weights, and from rows to features.

Invariant: a row becomes the same features whenever it is read, so that a replay of the log sees what the learner saw.
Values are counted before they take memory, and a body of another shape gets an example of the right one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from msgspec import UNSET

from rosenblatt import engine
from rosenblatt.encode.table import TableEncoder
from rosenblatt.errors import DataError
from rosenblatt.models.rows import encode_raw
from rosenblatt.service.config import ServiceLimits
from rosenblatt.service.errors import HTTPError
from rosenblatt.service.schemas import Examples, LearnRequest, Line, PlainRow, PredictRequest, RawRow

JSON, NDJSON = "application/json", "application/x-ndjson"
_MESSAGES: dict[str, Any] = {"predict": PredictRequest, "learn": LearnRequest, "line": Line}
_DECODERS: dict[bool, dict[str, msgspec.json.Decoder[Any]]] = {
    raw: {name: msgspec.json.Decoder(message[row]) for name, message in _MESSAGES.items()}
    for raw, row in ((False, PlainRow), (True, RawRow))
}

Features = dict[Any, float]


class RowSchema:
    """How rows are read: by an encoder, or as features with names or positions.

    Parameters
    ----------
    names : dict
        The column of each feature; a learner adds to it.
    limits : ServiceLimits
    encoder : encoder of a model, optional
        Rows are then lines of text, or raw columns by name.
    width : int, optional
        The features of a model that does not learn: an array must have exactly so many values.
    hash_bits : int, optional
        Names are hashed to columns, for a model that does not learn.
    """

    def __init__(
        self,
        names: Mapping[Any, int],
        limits: ServiceLimits,
        encoder: Any = None,
        width: int | None = None,
        hash_bits: int | None = None,
    ) -> None:
        self.names, self.limits, self.encoder, self.width, self.hash_bits = names, limits, encoder, width, hash_bits
        self.positional: bool | None = None  # are features known by position? None: nothing is known yet
        self.use(names)

    def use(self, names: Mapping[Any, int]) -> None:
        """Read rows by these columns from now on."""
        self.names = names
        if self.positional is None and names:
            self.positional = not isinstance(next(iter(names)), str)

    def features(self, rows: Sequence[Any], *, stored: bool = False) -> list[Features]:
        """The features of each row, checked; stored rows met the limits when they came."""
        if self.encoder is not None:
            return self._encoded(rows, stored)
        positional = self.positional and self.hash_bits is None
        if positional is None:
            positional = isinstance(rows[0], list)
        found = []
        for at, row in enumerate(rows):
            if isinstance(row, list):
                width = self.width if self.width is not None or positional else len(self.names)
                if width is not None and len(row) != width:
                    raise HTTPError(422, f"row {at} has {len(row)} values, but the model expects {width}{self.hint()}")
                row = dict(enumerate(row) if positional else zip(self.names, row, strict=True))
            elif positional:
                row = _by_position(row, at)
            if not stored:
                if len(row) > self.limits.values:
                    raise HTTPError(422, f"row {at} has {len(row):,} values; the limit is {self.limits.values:,}")
                try:
                    engine.Stream.check(row)
                except (ValueError, TypeError) as error:
                    raise HTTPError(422, f"row {at}: {error}") from None
            found.append(row if self.hash_bits is None else _hashed(row, self.hash_bits))
        return found

    def to_store(self, rows: list[Any], features: list[Features]) -> list[Any]:
        """The rows as the log stores them, to be read alike whatever the model knows by then."""
        return rows if self.encoder is not None or self.positional else features

    def _encoded(self, rows: Sequence[Any], stored: bool) -> list[Features]:
        try:
            batch = encode_raw(self.encoder, rows)
        except DataError as error:
            raise HTTPError(422, f"{error}{self.hint()}") from None
        if not stored and len(batch.values) > self.limits.cells:
            raise HTTPError(413, f"the rows have more than {self.limits.cells:,} features: send fewer rows per request")
        columns, values = batch.indices.tolist(), batch.values.tolist()
        return [dict(zip(columns[a:b], values[a:b], strict=True)) for a, b in pairwise(batch.starts.tolist())]

    def hint(self, label: Any = None) -> str:
        """One line with an example of a body that this model can read."""
        row: Any
        if isinstance(self.encoder, TableEncoder):
            used = self.encoder.used
            row = {column.name: 0 if column.kind == "number" else "text" for column in used[:3]}
            more = len(used) > 3
        elif self.encoder is not None:
            row, more = "a line of text", False
        elif self.positional and self.hash_bits is None:
            width = self.width or len(self.names)
            row, more = [0.0] * min(width, 3), width > 3
        else:
            row, more = dict.fromkeys([*islice(self.names, 2)] or ["name"], 1.0), True
        text = json.dumps(row, ensure_ascii=False, default=str)
        if more:
            text = text[:-1] + ", ..." + text[-1]
        example = f'{{"row": {text}' + ("" if label is None else f', "label": {json.dumps(label)}') + "}"
        return f"; send for example {example}"


def _by_position(row: Mapping[str, float], at: int) -> Features:
    found = {}
    for name, value in row.items():
        if not (name.isdecimal() and name.isascii() and len(name) < 10 and str(int(name)) == name):
            raise HTTPError(422, f"row {at} has the feature {name!r}, but this model knows features by position")
        found[int(name)] = value
    return found


def _hashed(row: Features, bits: int) -> Features:
    columns, values = engine.Stream.hashed(row, bits)
    return dict(zip(columns.tolist(), values.tolist(), strict=True))


# -- bodies


def decode_predict(body: bytes, kind: str, query: bytes, schema: RowSchema) -> tuple[PredictRequest[Any], list[Any]]:
    """The options and the rows of a request to predict."""
    decoders = _DECODERS[schema.encoder is not None]
    if kind == NDJSON:
        return _options(query), [line.row for line in _decode_lines(body, schema, None)]
    _check_values(body, schema)
    asked = decode(decoders["predict"], body, schema.hint)
    if query:
        raise HTTPError(400, "options of a JSON request go into its body, not into the address")
    if (asked.row is UNSET) == (asked.rows is UNSET):
        raise HTTPError(422, f"send either row or rows{schema.hint()}")
    rows = [asked.row] if asked.rows is UNSET else asked.rows
    _check_rows(body, rows, schema.limits)
    return asked, rows


def decode_learn(body: bytes, kind: str, query: bytes, schema: RowSchema, label: Any = "spam") -> Examples:
    """The examples of a request to learn."""
    if query:
        raise HTTPError(400, "/learn has no options in its address")
    if kind == NDJSON:
        lines = _decode_lines(body, schema, label)
        for at, line in enumerate(lines):
            if line.label is UNSET:
                raise HTTPError(422, f"line {at + 1} has no label{schema.hint(label)}")
        scales = _unless_all_one([line.weight for line in lines])
        return Examples([line.row for line in lines], [line.label for line in lines], scales)
    _check_values(body, schema)
    found = decode(_DECODERS[schema.encoder is not None]["learn"], body, lambda: schema.hint(label))
    one = found.row is not UNSET
    single, many = (found.label, found.weight), (found.labels, found.weights)
    mine, others = (single, many) if one else (many, single)
    if one == (found.rows is not UNSET) or mine[0] is UNSET or others != (UNSET, UNSET):
        raise HTTPError(422, f"send row, label and weight, or rows, labels and weights{schema.hint(label)}")
    rows: Any = [found.row] if one else found.rows
    labels: Any = [found.label] if one else found.labels
    weights: Any = mine[1] if not one or mine[1] is UNSET else [mine[1]]
    _check_rows(body, rows, schema.limits)
    for name, each in (("labels", labels), ("weights", weights)):
        if each is not UNSET and len(each) != len(rows):
            raise HTTPError(422, f"there are {len(rows)} rows, but {len(each)} {name}")
    return Examples(rows, labels, None if weights is UNSET else _unless_all_one(weights))


def decode(decoder: msgspec.json.Decoder[Any], body: bytes, hint: Callable[[], str], where: str = "") -> Any:
    """A body as its type; a body of another shape gets the hint."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise HTTPError(422, f"{where}{error}{hint()}") from None
    except msgspec.DecodeError as error:
        raise HTTPError(400, f"{where}{error}{hint()}") from None
    except RecursionError:
        raise HTTPError(400, f"{where}JSON is nested too deeply") from None
    except UnicodeDecodeError:
        raise HTTPError(400, f"{where}JSON must be UTF-8") from None


def _decode_lines(body: bytes, schema: RowSchema, label: Any) -> list[Line[Any]]:
    count = body.count(b"\n") + (not body.endswith(b"\n"))
    if count > 2 * schema.limits.rows:
        raise HTTPError(413, f"there are {count:,} lines; the limit is {schema.limits.rows:,} rows per request")
    _check_values(body, schema)
    decoder = _DECODERS[schema.encoder is not None]["line"]
    lines = [
        decode(decoder, line, lambda: schema.hint(label), f"line {number}: ")
        for number, line in enumerate(body.split(b"\n"), start=1)
        if line.strip()
    ]
    _check_rows(body, [line.row for line in lines], schema.limits)
    return lines


def _check_values(body: bytes, schema: RowSchema) -> None:
    """Raise for too many values before any of them takes memory: commas stand between them."""
    limits = schema.limits
    if schema.encoder is None and len(body) > limits.cells and body.count(b",") > limits.cells + 3 * limits.rows:
        raise HTTPError(413, f"the rows have more than {limits.cells:,} values: send fewer rows per request")


def _check_rows(body: bytes, rows: list[Any], limits: ServiceLimits) -> None:
    if not rows:
        raise HTTPError(422, "there are no rows")
    if len(rows) > limits.rows:
        raise HTTPError(413, f"there are {len(rows):,} rows; the limit is {limits.rows:,} per request")
    if len(body) > limits.cells and sum(len(row) for row in rows if not isinstance(row, str)) > limits.cells:
        raise HTTPError(413, f"the rows have more than {limits.cells:,} values: send fewer rows per request")


def _options(query: bytes) -> PredictRequest[Any]:
    try:
        options = dict(parse_qsl(query.decode("ascii"), keep_blank_values=True, max_num_fields=20))
        found: PredictRequest[Any] = msgspec.convert({**options, "rows": []}, PredictRequest[PlainRow], strict=False)
        return found
    except msgspec.ValidationError as error:
        raise HTTPError(422, f"the address: {error}") from None
    except ValueError:
        raise HTTPError(400, "the address is not valid") from None


def _unless_all_one(weights: list[float]) -> list[float] | None:
    return None if all(weight == 1.0 for weight in weights) else weights
