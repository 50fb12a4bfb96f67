"""Parameters as fields of a dataclass, each with its default, its range and one sentence.

Invariant: a parameter is stated once. Signatures, checks and the options of the command are made from its field.
"""

from __future__ import annotations

import math
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, Literal

from rosenblatt.errors import ParameterError


@dataclass(frozen=True)
class About:
    """What is known of a parameter beside its name and default."""

    kind: Literal["number", "count", "choice", "switch", "value"]
    sentence: str
    options: tuple[str, ...] = ()
    above: float | None = None
    least: float | None = None
    most: float = math.inf
    optional: bool = False  # None is a value of it
    needs_all_rows: bool = False  # it has no meaning where rows are learned as they are read

    def check(self, name: str, value: Any) -> None:
        """Raise unless the value means something."""
        if value is None and self.optional:
            return
        if self.kind == "choice":
            if not isinstance(value, str) or value not in self.options:
                raise ParameterError(f"{name}={value!r}: must be {_listed(self.options, self.optional)}")
        elif self.kind == "switch":
            if isinstance(value, str) and value not in self.options:
                words = ["True", "False", *map(repr, self.options)]
                raise ParameterError(f"{name}={value!r}: must be {', '.join(words[:-1])} or {words[-1]}")
        elif self.kind == "number":
            check_number(name, value, above=self.above, least=self.least, most=self.most)
        elif self.kind == "count":
            check_count(name, value, least=int(self.least or 1))


def number(default: Any, sentence: str, **about: Any) -> Any:
    """A real number."""
    return _parameter(default, About("number", sentence, **about))


def count(default: Any, sentence: str, **about: Any) -> Any:
    """A whole number."""
    return _parameter(default, About("count", sentence, **about))


def choice(default: Any, options: tuple[str, ...], sentence: str, **about: Any) -> Any:
    """One of several words."""
    return _parameter(default, About("choice", sentence, options, **about))


def switch(default: bool, sentence: str, **about: Any) -> Any:
    """On or off."""
    return _parameter(default, About("switch", sentence, **about))


def value(default: Any, sentence: str, **about: Any) -> Any:
    """Anything else, checked where it is used."""
    return _parameter(default, About("value", sentence, **about))


def about(parameter: Field[Any]) -> About:
    """What is known of a parameter."""
    known: About = parameter.metadata["about"]
    return known


def check_parameters(params: Any) -> None:
    """Raise for the first parameter with a value that means nothing; a default always means something."""
    for name, default, known in _parameters(type(params)):  # type: ignore[arg-type]
        if (value := getattr(params, name)) is not default:
            known.check(name, value)


@cache
def _parameters(params: Any) -> tuple[tuple[str, Any, About], ...]:
    return tuple((each.name, each.default, about(each)) for each in fields(params))


def check_number(
    name: str, value: object, *, above: float | None = None, least: float | None = None, most: float = math.inf
) -> float:
    """`value` as a float in its range, or a `ParameterError` that names it."""
    if isinstance(value, bool) or (not isinstance(value, (int, float)) and not hasattr(value, "__float__")):
        raise ParameterError(f"{name}={value!r}: must be a number")
    found = float(value)
    within = found <= most and (most == math.inf or found != -math.inf)
    if within and (above is None or found > above) and (least is None or found >= least):
        return found
    bound = f"above {above:g}" if above is not None else f"at least {least:g}"
    limit = f" and at most {most:g}" if most != math.inf else ""
    raise ParameterError(f"{name}={value!r}: must be {bound}{limit}")


def check_count(name: str, value: Any, *, least: int = 1, most: int | None = None) -> int:
    """`value` as an integer of at least `least`, and at most `most`."""
    found = check_number(name, value, least=least)
    if found != int(found):
        raise ParameterError(f"{name}={value!r}: must be a whole number")
    if most is not None and found > most:
        raise ParameterError(f"{name}={value!r}: must be at most {most}")
    return int(found)


def _parameter(default: Any, known: About) -> Any:
    return field(default=default, metadata={"about": known})


def _listed(options: tuple[str, ...], optional: bool) -> str:
    words = [*(["None"] if optional else []), *map(repr, options)]
    return f"{', '.join(words[:-1])} or {words[-1]}"
