"""What a learner needs to go on exactly, as bytes and back.

Invariant: ``from_bytes(to_bytes(learner))`` learns and answers with the same bits as the learner itself.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rosenblatt import engine, learners
from rosenblatt.data.labels import label_values, sorted_classes
from rosenblatt.errors import ParameterError
from rosenblatt.learners.epochs.history import History
from rosenblatt.learners.files.checkpoint import state_from, state_to
from rosenblatt.learners.learned import Learned
from rosenblatt.learners.spaces import LINEAR
from rosenblatt.learners.state.start import seed_of
from rosenblatt.learners.state.state import State
from rosenblatt.learners.stream import Stream
from rosenblatt.models.container import Tensors, pack_container, unpack_container
from rosenblatt.models.file import to_parts
from rosenblatt.models.model import Model
from rosenblatt.recipe.family import make_recipe, name_of
from rosenblatt.recipe.recipe import Recipe


def new_learner(recipe: Recipe, classes: list[Any] | None = None) -> Any:
    """A learner that has seen nothing, but may know the classes that will come."""
    told = {name: value for name, value in recipe.plain().items() if name not in ("rule",)}
    learner = getattr(learners, recipe.learner)(**told)
    if not hasattr(learner, "learn_one"):
        raise ParameterError(f"learner={name_of(recipe)!r}: it cannot learn example by example")
    if classes:
        begin(learner, classes)
    return learner


def begin(learner: Any, classes: list[Any], names: dict[Any, int] | None = None, states: Any = None) -> None:
    """From now on the learner is a stream over these classes, from these states or from nothing."""
    recipe = learner.recipe()
    known = sorted_classes(classes)
    recipe.check_classes(len(known))
    if states is None:
        generator = engine.seed_generator(seed_of(recipe.random_state))
        states = LINEAR.new_states(recipe, None, known, generator)  # type: ignore[arg-type]
    learned = Learned(known, states, LINEAR.make_answers, recipe.shape())
    learned.stream = Stream(states, known, {} if names is None else names, recipe)
    learner.history_ = History()
    learner.learned = learned
    learner.n_iter_, learner.converged_, learner.stop_reason_ = 1, False, "learn_one"


def recipe_to(recipe: Recipe) -> dict[str, Any]:
    """A recipe as plain values."""
    told = {name: value for name, value in recipe.plain().items() if name != "variant"}
    return {"learner": name_of(recipe), "parameters": told}


def recipe_from(known: dict[str, Any]) -> Recipe:
    return make_recipe(known["learner"], **known["parameters"])


def to_bytes(learner: Any) -> bytes:
    """A learner whole: recipe, classes, names, counters and every array."""
    header: dict[str, Any] = {"recipe": recipe_to(learner.recipe()), "classes": None}
    tensors: Tensors = {}
    if learner.has_learned:
        learned = learner.learned
        header |= {
            "classes": label_values(learned.classes),
            "names": list(learner._names()),
            "history": asdict(learner.history_),
            "states": [_state_to(state, tensors, f"{k}.") for k, state in enumerate(learned.trimmed())],
        }
    return pack_container("state", header, tensors, "the state")


def from_bytes(data: bytes) -> Any:
    """The learner of these bytes."""
    header, tensors = unpack_container(data, "state", "the state")
    learner = new_learner(recipe_from(header["recipe"]))
    if header["classes"] is None:
        return learner
    states = [_state_from(known, tensors, f"{k}.") for k, known in enumerate(header["states"])]
    names = {name: column for column, name in enumerate(header["names"])}
    begin(learner, header["classes"], names, states)
    learner.history_ = History(**header["history"])
    return learner


def _state_to(state: State, tensors: Tensors, prefix: str) -> dict[str, Any]:
    own: Tensors = {}
    header = state_to(state, own)
    tensors |= {prefix + name: values for name, values in own.items()}
    return header


def _state_from(header: dict[str, Any], tensors: Tensors, prefix: str) -> State:
    own = {name.removeprefix(prefix): values for name, values in tensors.items() if name.startswith(prefix)}
    return state_from(header, own)


def model_bytes(model: Model) -> bytes:
    """A model as `save` writes it."""
    header, tensors = to_parts(model)
    return pack_container("model", header, tensors, "the model")
