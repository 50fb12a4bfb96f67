"""How far a test goes: `make test` runs the short form of what `make test-all` runs at its full length.

A test that has both forms is marked `long`, or `hypothesis`, which Hypothesis does by itself. What has no short form is
marked `slow`, and `make test` leaves it out.
"""

import os

from hypothesis import settings

LONG = os.environ.get("ROSENBLATT_PROOFS") == "1"


def up_to(most: int, *, short: int) -> int:
    """So many examples, runs or kills: `most` in a proof, else `short`."""
    return most if LONG else short


def examples(most: int) -> settings:
    """Hypothesis tries so many examples in a proof, else a quarter of them."""
    return settings(max_examples=up_to(most, short=most // 4))
