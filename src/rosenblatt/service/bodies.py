"""Bodies of requests as rows, labels and weights: JSON, JSON lines and Arrow.

Invariant: whatever the form, what comes out is the same, and what cannot be read is refused with one sentence.
"""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import parse_qsl

import msgspec
from msgspec import UNSET

from rosenblatt.service.limits import Limits
from rosenblatt.service.messages import Learn, Line, PlainRow, Predict, RawRow
from rosenblatt.service.refusals import Refused, too_many_cells

JSON, LINES, ARROW = "application/json", "application/x-ndjson", "application/vnd.apache.arrow.stream"
TYPES = (JSON, LINES, ARROW)
_OPTIONS = ("scores", "probabilities", "top", "because", "remember", "after")


class Bodies:
    """The decoders for a model that reads plain rows, or raw ones."""

    def __init__(self, raw: bool, limits: Limits) -> None:
        self.limits, self.raw = limits, raw
        row: Any = RawRow if raw else PlainRow
        self._predict = msgspec.json.Decoder(Predict[row])
        self._learn = msgspec.json.Decoder(Learn[row])
        self._line = msgspec.json.Decoder(Line[row])

    def predict(self, body: bytes, kind: str, query: bytes) -> tuple[Predict[Any], Any, bool]:
        """What is asked, the rows (a list, or an Arrow table), and whether it was a single one."""
        if kind == JSON:
            self._check_size(body)
            asked = decode(self._predict, body)
            if query:
                raise Refused(400, "options of a JSON request go into its body, not into the address")
            if (asked.row is UNSET) == (asked.rows is UNSET):
                raise Refused(422, "send either row or rows")
            rows = [asked.row] if asked.rows is UNSET else asked.rows
            self.check_count(rows)
            self._check_cells(body, rows)
            return asked, rows, asked.rows is UNSET
        asked = self._options(query)
        if kind == LINES:
            return asked, [line.row for line in self._lines(body)], False
        from rosenblatt.service.arrow import read_table

        return asked, read_table(body, self.limits), False

    def learn(self, body: bytes, kind: str, query: bytes) -> tuple[list[Any], list[Any], list[float] | None]:
        """Rows, labels and weights."""
        if kind == JSON:
            self._check_size(body)
            rows, labels, told_weights = self._learned(decode(self._learn, body))
            self._check_cells(body, rows)
            return rows, labels, told_weights
        if kind == LINES:
            lines = self._lines(body)
            for at, line in enumerate(lines):
                if line.label is UNSET:
                    raise Refused(422, f"line {at + 1} has no label")
            weights = [line.weight for line in lines]
            return [line.row for line in lines], [line.label for line in lines], _unless_all_one(weights)
        from rosenblatt.service.arrow import examples_of, read_table

        told = _query(query)
        if unknown := told.keys() - {"label", "weight"}:
            raise Refused(422, f"there is no option {min(unknown)!r}: label and weight name columns")
        return examples_of(read_table(body, self.limits), told.get("label", "label"), told.get("weight"))

    def check_count(self, rows: Any) -> None:
        """Raise for no rows, or for too many."""
        if not len(rows):
            raise Refused(422, "there are no rows")
        if len(rows) > self.limits.rows:
            raise Refused(413, f"there are {len(rows):,} rows; the limit is {self.limits.rows:,} per request")

    def _check_size(self, body: bytes) -> None:
        """Raise for more values than there may be, before any of them takes memory: commas stand between them."""
        limits = self.limits
        if self.raw or len(body) <= limits.cells:
            return
        if body.count(b",") > limits.cells + 3 * limits.rows:
            raise too_many_cells("the rows have", "values", limits.cells)

    def _check_cells(self, body: bytes, rows: list[Any]) -> None:
        """Raise for more values than there may be; of a line of text they are counted when it is encoded."""
        if len(body) <= self.limits.cells:
            return
        if sum(len(row) for row in rows if not isinstance(row, str)) > self.limits.cells:
            raise too_many_cells("the rows have", "values", self.limits.cells)

    def _learned(self, found: Learn[Any]) -> tuple[list[Any], list[Any], list[float] | None]:
        one = found.row is not UNSET
        if one == (found.rows is not UNSET):
            raise Refused(422, "send either row and label, or rows and labels")
        if one:
            if found.label is UNSET or found.labels is not UNSET or found.weights is not UNSET:
                raise Refused(422, "a row goes with label and weight; rows go with labels and weights")
            return [found.row], [found.label], _unless_all_one([1.0 if found.weight is UNSET else found.weight])
        if found.labels is UNSET or found.label is not UNSET or found.weight is not UNSET:
            raise Refused(422, "a row goes with label and weight; rows go with labels and weights")
        rows, labels = cast("list[Any]", found.rows), found.labels
        self.check_count(rows)
        if len(labels) != len(rows):
            raise Refused(422, f"there are {len(rows)} rows, but {len(labels)} labels")
        if found.weights is UNSET:
            return rows, list(labels), None
        if len(found.weights) != len(rows):
            raise Refused(422, f"there are {len(rows)} rows, but {len(found.weights)} weights")
        return rows, list(labels), _unless_all_one(found.weights)

    def _lines(self, body: bytes) -> list[Line[Any]]:
        count = body.count(b"\n") + (not body.endswith(b"\n"))
        if count > 2 * self.limits.rows:
            raise Refused(413, f"there are {count:,} lines; the limit is {self.limits.rows:,} rows per request")
        self._check_size(body)
        found = []
        for number, line in enumerate(body.split(b"\n"), start=1):
            if line.strip():
                found.append(decode(self._line, line, f"line {number}: "))
        self.check_count(found)
        self._check_cells(body, [line.row for line in found])
        return found

    def _options(self, query: bytes) -> Predict[Any]:
        told: dict[str, Any] = _query(query)
        if unknown := told.keys() - set(_OPTIONS):
            raise Refused(422, f"there is no option {min(unknown)!r}: there are {', '.join(_OPTIONS)}")
        words = {"true": True, "1": True, "false": False, "0": False}
        for name in ("scores", "probabilities", "remember"):
            if name in told:
                told[name] = words.get(told[name], told[name])
        try:
            return cast("Predict[Any]", msgspec.convert({**told, "rows": []}, Predict[PlainRow], strict=False))
        except msgspec.ValidationError as error:
            raise Refused(422, f"the address: {error}") from None


def decode(decoder: msgspec.json.Decoder[Any], body: bytes, where: str = "") -> Any:
    """A body as its type."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise Refused(422, f"{where}{error}") from None
    except msgspec.DecodeError as error:
        raise Refused(400, f"{where}{error}") from None
    except RecursionError:
        raise Refused(400, f"{where}JSON is nested too deeply") from None
    except UnicodeDecodeError:
        raise Refused(400, f"{where}JSON must be UTF-8") from None


def _query(query: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(query.decode("ascii"), keep_blank_values=True, max_num_fields=20))
    except ValueError:
        raise Refused(400, "the address cannot be read") from None


def _unless_all_one(weights: list[float]) -> list[float] | None:
    return None if all(weight == 1.0 for weight in weights) else weights
