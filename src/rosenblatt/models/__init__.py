"""What a learner leaves behind: weights that score rows. Nothing here learns."""

from rosenblatt.models.file import load, save
from rosenblatt.models.model import Model
from rosenblatt.models.predictions import predict_codes
from rosenblatt.models.predictors import Dual, Kernel, Linear, Updates, Voted, VotedDual

__all__ = [
    "Dual",
    "Kernel",
    "Linear",
    "Model",
    "Updates",
    "Voted",
    "VotedDual",
    "load",
    "predict_codes",
    "save",
]
