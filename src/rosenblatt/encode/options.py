"""Options of reading text: requested by the user or inferred from the training data, and saved in the model."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from rosenblatt.errors import DataError, ParameterError

DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "space": " "}


@dataclass(frozen=True)
class ReadOptions:
    """How text is written; None: to be inferred.

    Attributes
    ----------
    delimiter : one character, or its name
    decimal : "." or ","
    missing : words for a missing value
    encoding : of the text; by default UTF-8, by its byte order mark UTF-16, else Windows-1252
    header : does the first line name the columns?
    """

    delimiter: str | None = None
    decimal: str | None = None
    missing: tuple[str, ...] | None = None
    encoding: str | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            one = DELIMITER_NAMES.get(self.delimiter.lower(), self.delimiter)
            if len(one.encode()) != 1 or one in '"\n\r\0':
                raise ParameterError(f"delimiter={self.delimiter!r}: must be one character, or tab")
            object.__setattr__(self, "delimiter", one)
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"decimal={self.decimal!r}: must be . or ,")
        if self.decimal is not None and self.decimal == self.delimiter:
            raise ParameterError(f"decimal and delimiter cannot both be {self.decimal!r}")
        if self.missing is not None:
            object.__setattr__(self, "missing", tuple(dict.fromkeys(("", *self.missing))))
        _check_encoding(self.encoding)

    def or_else(self, saved: ReadOptions) -> ReadOptions:
        """These options, and those of a model where these leave something open; dialects are confirmed by the file."""
        return replace(
            self,
            missing=saved.missing if self.missing is None else self.missing,
            encoding=saved.encoding if self.encoding is None else self.encoding,
        )

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, header: Any) -> ReadOptions:
        if not isinstance(header, dict) or not header.keys() <= cls.__dataclass_fields__.keys():
            raise DataError("the encoder has unknown options")
        words = [each for name, each in header.items() if name not in ("missing", "header")]
        missing = header.get("missing", [])
        if not isinstance(missing, list | tuple) or not isinstance(header.get("header", True), bool):
            raise DataError("the encoder has invalid options")
        if not all(isinstance(each, str) for each in [*words, *missing]):
            raise DataError("the encoder has invalid options")
        return cls(**header | ({"missing": tuple(missing)} if "missing" in header else {}))


def _check_encoding(name: str | None) -> None:
    try:
        if name is None or "x".encode(name).decode(name) == "x":
            return
    except (LookupError, UnicodeError, TypeError, ValueError):
        pass
    raise ParameterError(f"encoding={name!r}: there is no such encoding; write utf-8, latin-1, cp1252, utf-16, …")
