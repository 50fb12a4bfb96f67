"""An error as tests check it: its code, and the facts that its one line names."""

import contextlib
from collections.abc import Iterator

import pytest

from rosenblatt.errors import RosenblattError


@contextlib.contextmanager
def rejected(code: str, *facts: object) -> Iterator[pytest.ExceptionInfo[RosenblattError]]:
    """The call raises an error of this code that names each row, column, file or parameter."""
    with pytest.raises(RosenblattError) as caught:
        yield caught
    said = str(caught.value)
    assert caught.value.code == code, said
    assert "\n" not in said
    assert [fact for fact in facts if str(fact) not in said] == [], said
