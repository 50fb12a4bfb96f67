"""From a model with its learning state to the learner that continues.

Invariant: a revived learner learns with the bits of the learner that was saved.
"""

from __future__ import annotations

from typing import Any

from rosenblatt import select
from rosenblatt.errors import ModelError, first_line
from rosenblatt.learners.serialization import learner_from_tree
from rosenblatt.models.container import INVALID
from rosenblatt.models.model import Model


def revive(model: Model) -> Any:
    """The learner that continues from a model, checked."""
    if (saved := model.state) is None:
        raise ModelError("the model has no learning state: save it with state=True")
    try:
        kind = saved.get("wrapper")
        if kind is None:
            names = {} if model.encoder is not None else model.names
            return learner_from_tree(saved, model.classes, model.features, names)
        if kind not in ("Calibrated", "AutoPerceptron"):
            raise ModelError(f"it was learned by {str(kind)[:40]!r}, which is not a learner of rosenblatt")
        return getattr(select, kind).from_model(model, saved)
    except ModelError:
        raise
    except INVALID as error:
        raise ModelError(f"the learning state is not valid: {first_line(error)}") from None
    except MemoryError:
        raise ModelError("the learning state needs more memory than there is") from None
