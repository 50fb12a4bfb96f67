"""What a learner leaves behind: weights that score rows. Nothing here learns."""

from rosenblatt.models.file import load, save
from rosenblatt.models.kernel import Dual, Kernel, VotedDual
from rosenblatt.models.linear import Linear, feature_major, predict_codes
from rosenblatt.models.model import Model
from rosenblatt.models.voted import Updates, Voted

__all__ = [
    "Dual",
    "Kernel",
    "Linear",
    "Model",
    "Updates",
    "Voted",
    "VotedDual",
    "feature_major",
    "load",
    "predict_codes",
    "save",
]
