"""Models: predictors that score rows, and the model file. Learners are imported only when a model learns on."""

from rosenblatt.models.file import load, save
from rosenblatt.models.model import Model

__all__ = ["Model", "load", "save"]
