"""What was learned, saved and chosen before is still so, to the bit, but for what changed.py names."""

import json

import changed
import fixtures
import grid
import pytest

from length import up_to

INDEX = json.loads(fixtures.INDEX.read_text())


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


@pytest.mark.parametrize("name", INDEX["models"])
def test_a_model_of_then_answers_as_then(name):
    recorded = INDEX["models"][name]
    assert fixtures.asked(name, recorded["data"]) == recorded["answer"]


@pytest.mark.parametrize("name", INDEX["checkpoints"])
def test_a_checkpoint_of_then_is_resumed_to_the_same_model_or_refused(name, tmp_path):
    """Rows were shuffled in another way then: what began so cannot go on, but where nothing was shuffled."""
    recorded = INDEX["checkpoints"][name]
    if name == "no-shuffle":
        assert fixtures.resumed(name, tmp_path) == {part: recorded[part] for part in ("header", "tensors")}
    elif name == "start":  # nothing was learned yet
        assert fixtures.resumed(name, tmp_path).keys() == {"header", "tensors"}
    else:
        with pytest.raises(AssertionError, match="shuffled in another way: begin anew"):
            fixtures.resumed(name, tmp_path)


def test_files_and_index_belong_together():
    for kind, ending in (("models", "model"), ("checkpoints", "checkpoint")):
        assert {path.stem for path in fixtures.FOLDER.glob(f"*.{ending}")} == set(INDEX[kind])
