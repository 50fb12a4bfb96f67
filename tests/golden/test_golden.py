"""What was learned, saved and chosen before is still so, to the bit, but for what changed.py names."""

import changed
import grid
import pytest

from length import up_to


@pytest.fixture(scope="module")
def known():
    return grid.recorded()


@pytest.mark.long
@pytest.mark.parametrize("group", grid.groups())
def test_the_grid_is_as_recorded(group, known):
    said = grid.differences(group, known, every=up_to(1, short=4))
    assert not said, f"{len(said)} of {len(grid.groups()[group])} cases differ:\n" + "\n".join(said)


def test_every_intended_change_names_cases_and_says_why(known):
    for prefix, why in changed.CHANGED.items():
        assert any(name.startswith(prefix) for name in known), f"{prefix!r} is the beginning of no case"
        assert len(why) > 10, f"{prefix!r} has no reason"
    twice = [name for name, lines in known.items() if len(lines) > 1 and grid.reason_of(name) is None]
    assert not twice, f"changed, but without a reason: {twice}"
