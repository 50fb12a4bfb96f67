"""From bodies to rows, labels and weights, and from rows to features.

Invariant: a row becomes the same features whenever it is read, so that a replay of the log sees what the learner saw.
Values are counted before they take memory, and a body of another shape gets an example of the right one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, get_origin
from urllib.parse import parse_qsl

import msgspec
from msgspec import UNSET

from rosenblatt import engine
from rosenblatt.encode.table import TableEncoder
from rosenblatt.errors import DataError
from rosenblatt.models.rows import encode_raw
from rosenblatt.service.config import ServiceLimits
from rosenblatt.service.errors import HTTPError
from rosenblatt.service.schemas import NDJSON, Examples, LearnRequest, Line, PlainRow, PredictRequest, RawRow

_MESSAGES: dict[str, Any] = {"predict": PredictRequest, "learn": LearnRequest, "line": Line}
_DECODERS: dict[bool, dict[str, msgspec.json.Decoder[Any]]] = {
    raw: {name: msgspec.json.Decoder(message[row]) for name, message in _MESSAGES.items()}
    for raw, row in ((False, PlainRow), (True, RawRow))
}
_JSON_TYPES = {"str": str, "bool": bool, "null": type(None), "object": dict, "array": list}

Features = dict[Any, float]


@dataclass
class RowSchema:
    """How rows are read: by an encoder, or as features with names or positions.

    Parameters
    ----------
    names : dict
        The column of each feature; a learner adds to it.
    limits : ServiceLimits
    encoder : encoder of a model, optional
        Rows are then lines of text, or raw columns by name.
    hash_bits : int, optional
        Names are hashed to columns, for a model that does not learn.
    """

    names: Mapping[Any, int]
    limits: ServiceLimits
    encoder: Any = None
    hash_bits: int | None = None

    def __post_init__(self) -> None:
        # Are features known by position? None: nothing is known yet.
        self.positional = not isinstance(next(iter(self.names)), str) if self.names else None
        self.width: int | None = None  # of the first rows, as long as no column is known

    def features(self, rows: Sequence[Any], *, stored: bool = False) -> list[Features]:
        """The features of each row, checked; stored rows met the limits when they came."""
        if self.encoder is not None:
            return self._encoded(rows, stored)
        positional = self.positional and self.hash_bits is None
        if positional is None:
            positional = isinstance(rows[0], list)
        width = len(self.names) or self.width or (len(rows[0]) if positional else 0)
        return [self._row(at, row, positional, width, stored) for at, row in enumerate(rows)]

    def _row(self, at: int, row: Any, positional: bool, width: int, stored: bool) -> Features:
        if isinstance(row, list):  # all columns, in their order
            if len(row) != width and not stored:
                raise HTTPError(422, f"row {at} has {len(row)} values, but the model expects {width}{self.hint()}")
            row = dict(zip(self.names, row, strict=False) if self.names else enumerate(row))
        elif positional:
            row = _by_position(row, at)
        if not stored:
            try:
                engine.Stream.check(row)
            except (ValueError, TypeError) as error:
                raise HTTPError(422, f"row {at}: {error}") from None
        if self.hash_bits is None:
            return row
        columns, values = engine.Stream.hashed(row, self.hash_bits)
        return dict(zip(columns.tolist(), values.tolist(), strict=True))

    def stored_features(self, rows: Sequence[Any]) -> list[Features]:
        """The features of the rows of the log's next entry."""
        self.fix(rows)
        return self.features(rows, stored=True)

    def fix(self, rows: Sequence[Any]) -> None:
        """The first rows that are learned decide whether features have names or positions."""
        if self.positional is None:
            self.positional = isinstance(rows[0], list)
            self.width = len(rows[0]) if self.positional else None

    def _encoded(self, rows: Sequence[Any], stored: bool) -> list[Features]:
        try:
            batch = encode_raw(self.encoder, rows)
        except DataError as error:
            raise HTTPError(422, f"{error}{self.hint()}") from None
        if not stored and len(batch.values) > self.limits.cells:
            raise HTTPError(413, f"the rows have more than {self.limits.cells:,} features: send fewer rows per request")
        columns, values = batch.indices.tolist(), batch.values.tolist()
        return [dict(zip(columns[a:b], values[a:b], strict=True)) for a, b in pairwise(batch.starts.tolist())]

    def hint(self, body: bytes = b"", classes: Sequence[Any] | None = None) -> str:
        """One line with an example of a body that this model can read; with a label if there are classes to learn."""
        row: Any
        if isinstance(self.encoder, TableEncoder):
            used = self.encoder.used
            row = {column.name: 0 if column.kind == "number" else "text" for column in used[:3]}
            more = len(used) > 3
        elif self.encoder is not None:
            row, more = "a line of text", False
        elif self.positional and self.hash_bits is None:
            width = len(self.names) or self.width or 3
            row, more = [0.0] * min(width, 3), width > 3
        else:
            row, more = dict.fromkeys([*islice(self.names, 2)] or ["name"], 1.0), True
        text = json.dumps(row, ensure_ascii=False, default=str)
        if more:
            text = text[:-1] + ", ..." + text[-1]
        sent = {"row": text} if classes is None else {"row": text, "label": json.dumps([*classes, "spam"][0])}
        if b'"rows"' in body:
            sent = {f"{name}s": f"[{value}]" for name, value in sent.items()}
        return "; send for example {" + ", ".join(f'"{name}": {value}' for name, value in sent.items()) + "}"


def _by_position(row: Mapping[str, float], at: int) -> Features:
    found = {}
    for name, value in row.items():
        if not (name.isdecimal() and name.isascii() and len(name) < 10 and str(int(name)) == name):
            raise HTTPError(422, f"row {at} has the feature {name!r}, but this model knows features by position")
        found[int(name)] = value
    return found


# -- bodies


def decode_predict(body: bytes, kind: str, query: bytes, schema: RowSchema) -> tuple[PredictRequest[Any], list[Any]]:
    """The options and the rows of a request to predict."""
    decoders = _DECODERS[schema.encoder is not None]
    if kind == NDJSON:
        return _options(query), [line.row for line in _decode_lines(body, schema, None)]
    _check_values(body, schema)
    asked = decode(decoders["predict"], body, lambda: schema.hint(body))
    if query:
        raise HTTPError(400, f'options of a JSON request go into its body{schema.hint(body)[:-1]}, "scores": true}}')
    if (asked.row is UNSET) == (asked.rows is UNSET):
        raise HTTPError(422, f"send either row or rows{schema.hint()}")
    rows = [asked.row] if asked.rows is UNSET else asked.rows
    _check_rows(rows, schema, body)
    return asked, rows


def decode_learn(body: bytes, kind: str, query: bytes, schema: RowSchema, classes: Sequence[Any] = ()) -> Examples:
    """The examples of a request to learn; the classes are for the hint of an error."""
    if query:
        raise HTTPError(400, "/learn has no options in its address")
    if kind == NDJSON:
        lines = _decode_lines(body, schema, classes)
        for at, line in enumerate(lines):
            if line.label is UNSET:
                raise HTTPError(422, f"line {at + 1} has no label{schema.hint(classes=classes)}")
        scales = _unless_all_one([line.weight for line in lines])
        return Examples([line.row for line in lines], [line.label for line in lines], scales)
    _check_values(body, schema)
    found = decode(_DECODERS[schema.encoder is not None]["learn"], body, lambda: schema.hint(body, classes))
    one, many = (found.row, found.label, found.weight), (found.rows, found.labels, found.weights)
    sent, other = (one, many) if found.rows is UNSET else (many, one)
    if UNSET in sent[:2] or other != (UNSET, UNSET, UNSET):
        shape = "send row and label, or rows and labels; weight or weights are optional"
        raise HTTPError(422, f"{shape}{schema.hint(body, classes)}")
    rows, labels, weights = sent if sent is many else ([each] if each is not UNSET else UNSET for each in one)
    _check_rows(rows, schema, body, classes)
    for name, each in (("labels", labels), ("weights", weights)):
        if each is not UNSET and len(each) != len(rows):
            raise HTTPError(422, f"there are {len(rows)} rows, but {len(each)} {name}{schema.hint(body, classes)}")
    return Examples(rows, labels, None if weights is UNSET else _unless_all_one(weights))


def decode(decoder: msgspec.json.Decoder[Any], body: bytes, hint: Callable[[], str], where: str = "") -> Any:
    """A body as its type; a body of another shape gets the hint."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        message = _name_feature(str(error), body)
        if "unknown field" in message:
            message += f" (known: {', '.join((get_origin(decoder.type) or decoder.type).__struct_fields__)})"
        raise HTTPError(422, f"{where}{message}{hint()}") from None
    except UnicodeDecodeError as error:
        raise HTTPError(400, f"{where}byte 0x{error.object[error.start]:02x} is not UTF-8{hint()}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        lines = ", or lines as application/x-ndjson" if not where and "trailing" in str(error) else ""
        raise HTTPError(400, f"{where}{error if body else 'the body is empty'}{hint()}{lines}") from None


def _name_feature(message: str, body: bytes) -> str:
    """The message of msgspec, which has ``$.rows[3][...]`` for a feature, with the feature's name."""
    place = re.search(r" - at `\$\.row(?:s\[(\d+)])?\[\.\.\.]`$", message)
    with suppress(Exception):  # a body that was cut off, is nested too deeply, or has a name twice
        if place is not None:
            sent, kind = json.loads(body), _JSON_TYPES[message[: place.start()].split("`")[-2]]
            row, at = (sent["row"], "") if place[1] is None else (sent["rows"][int(place[1])], f"row {place[1]}, ")
            name = next(name for name, value in row.items() if type(value) is kind)
            return f"{message[: place.start()]} - at {at}feature {name[:60]!r}"
    return message


def _decode_lines(body: bytes, schema: RowSchema, classes: Sequence[Any] | None) -> list[Line[Any]]:
    count = body.count(b"\n") + (not body.endswith(b"\n"))
    if count > 2 * schema.limits.rows:
        raise HTTPError(413, f"there are {count:,} lines; the limit is {schema.limits.rows:,} rows per request")
    _check_values(body, schema)
    decoder = _DECODERS[schema.encoder is not None]["line"]
    lines = [
        decode(decoder, line, lambda: schema.hint(classes=classes), f"line {number}: ")
        for number, line in enumerate(body.split(b"\n"), start=1)
        if line.strip()
    ]
    _check_rows(lines, schema, body, classes)
    return lines


def _check_values(body: bytes, schema: RowSchema) -> None:
    """Raise for too many values before any of them takes memory: commas stand between them."""
    limits = schema.limits
    if schema.encoder is None and len(body) > limits.cells and body.count(b",") > limits.cells + 3 * limits.rows:
        raise HTTPError(413, f"the rows have more than {limits.cells:,} values: send fewer rows per request")


def _check_rows(rows: list[Any], schema: RowSchema, body: bytes, classes: Sequence[Any] | None = None) -> None:
    if not rows:
        raise HTTPError(422, f"there are no rows{schema.hint(body, classes)}")
    if len(rows) > schema.limits.rows:
        raise HTTPError(413, f"there are {len(rows):,} rows; the limit is {schema.limits.rows:,} per request")


def _options(query: bytes) -> PredictRequest[Any]:
    try:
        options = dict(parse_qsl(query.decode("ascii"), keep_blank_values=True, max_num_fields=20))
        return msgspec.convert({**options, "rows": []}, PredictRequest[PlainRow], strict=False)
    except msgspec.ValidationError as error:
        raise HTTPError(422, f"the address: {error}; send for example /predict?scores=true&top=2") from None
    except ValueError:
        raise HTTPError(400, "the address is not valid") from None


def _unless_all_one(weights: list[float]) -> list[float] | None:
    return None if all(weight == 1.0 for weight in weights) else weights
